"""Every task of the benchmark, validated by running it: a part each day, all with ``-m slow`` or ``make tasks``.

``--tasks-part 3`` repeats the part of another day.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from iwreplay.app.validation import check_task
from iwreplay.taskpack.loader import load_tasks
from iwreplay.taskpack.model import TaskPack
from tests.tasks.playing import SIX

#: the six that are always played have tests of their own
OTHERS = tuple(t for t in load_tasks() if t.id not in SIX)
PARTS = 114


def _problems(task: TaskPack) -> list[str]:
    return [f"{task.id}: {c.name}: {c.detail}" for c in check_task(task).checks if not c.ok]


def test_the_part_of_the_day(request: pytest.FixtureRequest) -> None:
    wanted = request.config.getoption("--tasks-part")
    part = datetime.now(UTC).toordinal() % PARTS if wanted is None else wanted
    problems = [p for task in OTHERS[part::PARTS] for p in _problems(task)]
    assert problems == [], f"again with --tasks-part {part}"


@pytest.mark.slow
@pytest.mark.parametrize("task", OTHERS, ids=lambda t: t.id)
def test_each(task: TaskPack) -> None:
    assert _problems(task) == []
