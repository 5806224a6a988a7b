"""The shipped library and scenes, read once."""

from __future__ import annotations

import pytest

import taskpacks
from iwreplay.scene.library import Library, load_library
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.scene.model import CompiledScene


@pytest.fixture(scope="session")
def library() -> Library:
    return load_library(taskpacks.root() / "objects")


@pytest.fixture(scope="session", params=scene_ids())
def shipped_scene(request: pytest.FixtureRequest, library: Library) -> CompiledScene:
    return compile_scene(load_scene(request.param), library=library)
