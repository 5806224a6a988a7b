"""A store of the sample episodes, with a fresh folder for annotations."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from iwreplay.app.importing import import_logs
from iwreplay.log import read_log
from iwreplay.store import Store
from tests.cli.conftest import run

__all__ = ["FAILED", "root_of", "run"]

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "episodes" / "samples").glob("*.arrows"))
FAILED = ("A18-wet-chair-first", "D03-one-too-many", "F10-silent", "P04-no-help", "V06-silent")


@pytest.fixture(scope="session")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples in a store, scored once; it is copied, not changed."""
    root = tmp_path_factory.mktemp("samples") / "store"
    import_logs(root, tuple(map(str, SAMPLES)))
    return root


@pytest.fixture
def store(scored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scored, tmp_path / "store"))


def root_of(store: Path, episode: str) -> str:
    with read_log(Store.open(store).find(episode).log) as log:
        root = log.root_hash
    assert root is not None
    return root
