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


def _listed() -> list[str]:
    """Commands that are shown without their output, with their remarks."""
    return [line.strip() for line in README.splitlines() if line.startswith("    iwreplay ")]


def _block(begins: str) -> str:
    """The indented block whose first line begins so."""
    lines = README.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"    {begins}"))
    block = []
    for line in lines[first:]:
        if line and not line.startswith("    "):
            break
        block.append(line[4:])
    return "\n".join(block)


@pytest.mark.slow
def test_every_listed_command_runs_after_the_shown_ones(tmp_path: Path) -> None:
    (tmp_path / "episodes").symlink_to(ROOT / "episodes")
    (tmp_path / "my_help.txt").write_text(_block("# my_help.txt"))
    scripted = re.search(r"`(iwreplay run \S+ --assistant scripted:my_help\.txt)`", README)
    assert scripted is not None
    listed = _listed()
    assert len(listed) >= 10
    recorded = next(c for c, _ in _shown() if c.startswith("iwreplay run "))
    # `tasks check` runs for a minute; the tests of the tasks do what it does
    for command in (f"{recorded} --no-frames", *(c for c in listed if "tasks check" not in c), scripted[1]):
        line = command.replace("iwreplay", f'"{sys.executable}" -m iwreplay', 1)
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=600, check=False,
        )  # fmt: skip
        # nobody is there to play
        ended = 130 if re.search(r"--(assistant|human) person", command) else 0
        assert done.returncode == ended, f"{command}\n{done.stderr}"
    code = _block("import iwreplay")
    assert '"demo-store"' in code, "`make demo` records that"
    here = code.replace("demo-store", "iw-store")
    read = subprocess.run(
        [sys.executable, "-c", here], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    shown = read.stdout.splitlines()
    assert "V06-oracle-literal-s0 ended 1.0" in shown, read.stderr
    assert shown[-1] == str(len(shown) - 1)


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
