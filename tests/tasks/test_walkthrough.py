"""docs/tasks.md: its blocks are a task, and the task does what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from iwreplay.app.validation import check_task
from iwreplay.taskpack.loader import load_task, validate_task
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import CAPABILITIES

ROOT = Path(__file__).parents[2]
#: the test above checks the task; releasing and generating have tests of their own
ELSEWHERE = [["tasks", "check"], ["tasks", "pack"], ["tasks", "release"], ["tasks", "generate"]]
PAGE = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The blocks of the page, one after the other, in the file that the page names."""
    path = tmp_path_factory.mktemp("walkthrough") / "g90_guest_mug.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.S)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def task(file: Path) -> TaskPack:
    return load_task(file)


def test_every_check_of_the_task_holds(task: TaskPack) -> None:
    report = check_task(task)
    assert report.ok, [c for c in report.checks if not c.ok]
    assert {c.name for c in report.checks} >= {"oracle passes", "near miss red_mug", "near miss guessed"}
    assert next(c for c in report.checks if c.name == "loads").detail == "", "no warning either"


def test_the_task_shows_everything_that_a_task_has(task: TaskPack) -> None:
    shown = (task.things, task.warmup, task.no_help, task.oracle, task.objectives, task.gates, task.keeps, task.points)
    assert all(shown)
    assert task.limits is not None
    assert len(task.near_misses) == 2
    validate_task(task)


@pytest.mark.slow
def test_what_is_shown_can_be_typed(file: Path) -> None:
    """Every command of the page, in its order and in one folder."""
    commands = [line.strip() for line in PAGE.splitlines() if line.startswith("    iwreplay ")]
    assert len(commands) >= 7
    for command in commands:
        if command.split()[1:3] in ELSEWHERE:
            continue
        line = command.replace("iwreplay", f'"{sys.executable}" -m iwreplay', 1)
        done = subprocess.run(
            line,
            shell=True,
            cwd=file.parent,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout, command


def test_the_capabilities_are_those_there_are() -> None:
    rows = re.findall(r"^\| (C\d) \| ([^|]+) \|", PAGE, re.M)
    assert dict(rows) == CAPABILITIES


def test_what_it_points_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
