"""One simulator for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iwreplay.scene.loader import compile_scene, load_scene
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World


@pytest.fixture(scope="session")
def base() -> Base:
    """The proving ground at rest."""
    return Base(compile_scene(load_scene("proving_ground")), MujocoSimulator())


@pytest.fixture
def world(base: Base) -> World:
    """A fresh world in which everything has been seen."""
    return World(base)


@pytest.fixture
def make(base: Base) -> Callable[..., World]:
    """Makes worlds with other senses."""
    return lambda **options: World(base, **options)
