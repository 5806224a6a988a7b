"""What the README shows is what happens: its commands are run, and their output is compared."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _shown() -> list[tuple[str, str]]:
    """(command, expected output) of each "$ iwreplay ..." in an indented block; "..." stands for anything."""
    found: list[tuple[str, list[str]]] = []
    for line in README.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif found and line.startswith("    "):
            found[-1][1].append(line[4:])
        elif line.strip():
            found.append(("", []))
    return [(command, "\n".join(lines) + "\n") for command, lines in found if command]


def test_every_shown_command_does_what_it_shows(tmp_path: Path) -> None:
    shown = _shown()
    assert len(shown) >= 6
    env = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
    for command, expected in shown:
        assert command.startswith("iwreplay ")
        line = command.replace("iwreplay", f'"{sys.executable}" -m iwreplay', 1)
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        loosely = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        same = doctest.OutputChecker().check_output(expected, done.stdout, loosely)
        assert same, f"$ {command}\nREADME:\n{expected}\nreally:\n{done.stdout}"


def test_make_targets_and_files_that_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    assert set(re.findall(r"make ([a-z-]+)", README)) <= targets
    for link in re.findall(r"\]\(([A-Za-z./-]+)\)", README):
        assert (ROOT / link).exists(), link


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test" in README
    assert script.rstrip().splitlines()[-1] == "make test"
    assert "set -euo pipefail" in script


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "FORMAT.md", "LICENSE"])
def test_pages_are_there_and_finished(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert len(text) > 500
    assert not re.search(r"TO" r"DO|FIX" r"ME|XX" r"X|lorem", text)
