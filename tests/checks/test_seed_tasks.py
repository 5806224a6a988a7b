"""Every task of the data package has formulas that are accepted, and no lint error."""

from __future__ import annotations

import pytest

from iwreplay.checks import CheckRun, lint_task
from iwreplay.taskpack.loader import compile_task, load_tasks
from iwreplay.taskpack.model import TaskPack


@pytest.mark.parametrize("task", load_tasks(), ids=lambda t: t.id)
def test_task(task: TaskPack) -> None:
    scene = compile_task(task)
    assert [f for f in lint_task(task, scene) if f.level == "error"] == []
    assert CheckRun(task, scene).live_seq is None
