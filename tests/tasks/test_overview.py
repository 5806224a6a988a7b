"""The page about the benchmark says what the tasks are."""

from __future__ import annotations

from pathlib import Path

from iwreplay.app.overview import overview
from iwreplay.taskpack.loader import load_tasks
from iwreplay.vocabulary import CAPABILITIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmark.md"


def test_the_page_is_of_today() -> None:
    assert PAGE.read_text(encoding="utf-8") == overview(), "make docs"


def test_every_task_has_a_line_and_every_capability_its_points() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for task in load_tasks():
        (line,) = (x for x in lines if x.startswith(f"| {task.id} | "))
        assert f"| {task.title} | {task.scene} |" in line
    for capability in CAPABILITIES:
        (line,) = (x for x in lines if x.startswith(f"| {capability} "))
        *by_family, points, tasks = (int(cell) for cell in line.strip("| ").split(" | ")[1:])
        assert sum(by_family) == points > 0
        assert 0 < tasks <= points
