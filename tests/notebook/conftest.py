"""The sample episodes as a store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from iwreplay.app.importing import import_logs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store `samples`, imported once."""
    store = tmp_path_factory.mktemp("imported") / "samples"
    import_logs(store, tuple(str(p) for p in sorted((ROOT / "episodes" / "samples").glob("*.arrows"))))
    return store


@pytest.fixture
def samples(imported: Path, tmp_path: Path) -> Path:
    """A copy for one test."""
    return Path(shutil.copytree(imported, tmp_path / "samples"))
