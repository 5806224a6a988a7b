"""docs/scorers.md: its files are written, its commands are run, and they say what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from iwreplay.app.scorer_purity import ALLOWED

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scorers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)
BRIEF, HASTY, ONE_THING, CHANGE = BLOCKS


def _shown() -> list[tuple[str, str]]:
    """(command, what it prints) in the order of the page."""
    found: list[tuple[str, list[str]]] = []
    for line in PAGE.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif found and line.startswith("    "):
            found[-1][1].append(line[4:])
        elif line.startswith("```"):
            found.append(("", []))
    return [(command, "\n".join(lines) + "\n") for command, lines in found if command]


def test_the_example_is_the_file_that_comes_with_the_source() -> None:
    assert (ROOT / "docs" / "scorers" / "brief.py").read_text(encoding="utf-8") == BRIEF


def test_the_modules_that_it_names_are_those_that_may_be_imported() -> None:
    paragraph = PAGE.partition("A scorer may import ")[2].partition("NumPy")[0]
    assert set(re.findall(r"`([a-z_.]+)`", paragraph)) == {*ALLOWED} - {"__future__"}


def test_every_command_does_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "episodes").symlink_to(ROOT / "episodes")
    for name, text in (("brief", BRIEF), ("hasty", HASTY), ("one_thing", ONE_THING)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    env = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
    shown = _shown()
    assert len(shown) == 8
    for command, expected in shown:
        done = subprocess.run(
            command.replace("iwreplay", f'"{sys.executable}" -m iwreplay', 1),
            shell=True, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == (2 if "hasty" in command else 0), done.stdout
        loosely = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        same = doctest.OutputChecker().check_output(expected, done.stdout, loosely)
        assert same, f"$ {command}\npage:\n{expected}\nreally:\n{done.stdout}"
        if command.startswith("cp "):
            version, said = CHANGE.split("\n", 1)
            changed = re.sub(r"VERSION = 1", version, BRIEF)
            (tmp_path / "brief.py").write_text(re.sub(r"    said = .*\n", said, changed), encoding="utf-8")


@pytest.mark.parametrize("name", ["scorers.md"])
def test_the_readme_points_to_it(name: str) -> None:
    assert f"docs/{name}" in (ROOT / "README.md").read_text(encoding="utf-8")
