"""What a terminal shows and what a pipe gets."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from iwreplay.store import Store

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "episodes" / "samples" / "V06-oracle.arrows"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")


def on_terminal(*args: object, columns: int = 80, **env: str) -> str:
    """What `iwreplay ARGS` writes on a terminal of that width."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "iwreplay", *map(str, args)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **env},
        stdout=follower,
        stderr=follower,
        stdin=subprocess.DEVNULL,
    )
    os.close(follower)
    read = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        read += piece
    os.close(leader)
    assert process.wait(timeout=60) == 0, read.decode()
    return read.decode().replace("\r\n", "\n")


def piped(*args: object) -> str:
    """What a program gets that reads the same command's output."""
    command = [sys.executable, "-m", "iwreplay", *map(str, args)]
    env = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("args", [("show", SAMPLE), ("show", SAMPLE, "--brief"), ("at", SAMPLE, "--seq", 60)])
def test_80_columns_hold_every_line_and_lose_no_word(args: tuple[object, ...]) -> None:
    shown, whole = on_terminal(*args), piped(*args)
    assert max(map(len, shown.splitlines())) <= 80
    if args[0] == "show":
        assert max(map(len, whole.splitlines())) > 100
        assert shown.split() == whole.split()
    assert "..." not in whole


def test_a_table_cuts_its_widest_column_on_a_terminal_only(store: Store) -> None:
    sql = "SELECT 'a' AS short, repeat('wide ', 40) AS long, 12345 AS number"
    shown, whole = (go("query", sql, "--store", store.root) for go in (on_terminal, piped))
    row = shown.splitlines()[-1]
    assert len(row) <= 80
    assert row.split()[0] == "a"
    assert row.endswith("...   12345")
    assert ("wide " * 40).strip() in whole


@pytest.mark.parametrize("args", [("--help",), ("scene", "list"), ("score", "--again")])
def test_no_colour_when_none_is_wanted(store: Store, args: tuple[str, ...]) -> None:
    where = () if args[0] != "score" else ("--store", store.root)
    assert not COLOUR.search(on_terminal(*args, *where, NO_COLOR="1"))
