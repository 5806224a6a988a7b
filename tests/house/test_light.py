"""Importing the package and asking for help load nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("pyarrow", "pandas", "duckdb", "litellm", "mujoco", "numba", "numpy", "PIL", "prompt_toolkit", "pxr", "av")

_CODE = """
import io, json, sys, contextlib
{act}
print(json.dumps(sorted(sys.modules)))
"""
_HELP = """
from iwreplay.cli.main import app
with contextlib.redirect_stdout(io.StringIO()):
    try:
        app({args!r})
    except SystemExit as e:
        assert e.code == 0, e.code
"""


def _loaded(act: str) -> set[str]:
    code = _CODE.format(act=act)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_loads_nothing_heavy() -> None:
    loaded = _loaded("import iwreplay")
    assert "iwreplay" in loaded
    assert not loaded & {*HEAVY, "msgspec", "typer", "rich"}


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["run", "--help"], ["query", "--help"], ["log", "--help"]])
def test_help_loads_nothing_heavy(args: list[str]) -> None:
    loaded = _loaded(_HELP.format(args=args))
    assert "iwreplay.cli.main" in loaded
    assert not loaded & set(HEAVY)


def test_pure_packages_load_nothing_heavy() -> None:
    """The layers contract does not see what a package's __init__ drags in."""
    loaded = _loaded(
        "import iwreplay.events, iwreplay.ports, iwreplay.world.state, iwreplay.checks, iwreplay.store, scorers"
    )
    assert not loaded & set(HEAVY)
