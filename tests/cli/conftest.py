"""Running commands in this process, on a store of made-up episodes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from iwreplay.cli.main import main
from iwreplay.store import Store
from tests.catalogue.conftest import write_episode

__all__ = ["Ran", "Run"]


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Its JSON answer."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `iwreplay ARGS` through the real entry point."""

    def go(*args: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["iwreplay", *map(str, args)])
        code = 0
        try:
            main()
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return go


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with a finished, an interrupted and a killed episode."""
    made = Store.open_or_make(tmp_path / "store", made_by="test")
    write_episode(made, events=150)
    write_episode(made, assistant="silent", end="interrupted")
    write_episode(made, seed=1, end=None)
    return made
