"""The examples in the help: each can be typed as it stands, in the order in which the help gives them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from iwreplay.cli.main import app
from iwreplay.cli.reference import examples

ROOT = Path(__file__).parents[2]
EXAMPLES = examples(app)


def test_every_command_has_its_example() -> None:
    assert all(text.startswith(f"iwreplay {' '.join(path)} ") for path, text in EXAMPLES)
    assert len(EXAMPLES) == 44
    assert EXAMPLES[0][0] == ("run",), "the others look at what it records"


def test_every_command_takes_a_store() -> None:
    for path, _ in EXAMPLES:
        command: Any = typer.main.get_command(app)
        for name in path:
            command = command.commands[name]
        options = {o for p in command.params for o in p.opts}
        assert {"--store", "--json"} <= options, path


@pytest.mark.parametrize("example", [text for _, text in EXAMPLES])
def test_an_example_is_right_use(example: str) -> None:
    """Parsed by the command itself: names of options, their types, the number of arguments."""
    command: Any = typer.main.get_command(app)
    context = None
    args = shlex.split(example)[1:]
    while hasattr(command, "commands"):
        context = command.make_context(command.name or "iwreplay", args[:1], parent=context)
        name, command, _ = command.resolve_command(context, args)
        args = args[1:]
    parsed = command.make_context(name, args, parent=context)
    assert not parsed.args, "nothing is left over"


@pytest.mark.slow
def test_every_example_runs_after_those_before_it(tmp_path: Path) -> None:
    """In a fresh folder of the source: only `log import` names files that come with it."""
    (tmp_path / "episodes").symlink_to(ROOT / "episodes")
    for _, example in EXAMPLES:
        line = example.replace("iwreplay", f'"{sys.executable}" -m iwreplay', 1)
        done = subprocess.run(
            line,
            shell=True,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT), "AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if "log recover" in example:
            # no example damages a log first
            assert "is sealed and intact; there is nothing to recover" in done.stderr
            continue
        if "tasks release" in example:
            # everything is as it was released
            assert "nothing changed since release" in done.stderr
            continue
        if "tasks generate" in example or "model:" in example:
            # nobody has a key here
            assert "can't be used" in done.stderr
            continue
        if "s3://" in example:
            # there is no object store at that port
            assert "Is the address right, and the network there?" in done.stderr
            continue
        if "person" in example:
            # nobody is there
            assert (done.returncode, "INTERRUPTED" in done.stderr) == (130, True)
            continue
        assert done.returncode == 0, f"{example}\n{done.stderr}"
        assert done.stdout, example
