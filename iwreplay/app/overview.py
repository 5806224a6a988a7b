"""The page about the benchmark: every task in a line, and what the families and capabilities come to."""

from __future__ import annotations

from collections.abc import Iterable

from iwreplay.app.tasks import all_or_none, list_tasks
from iwreplay.checks.lint import expected_by_lot
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import CAPABILITIES, FAMILIES

__all__ = ["overview"]

_HEAD = """# The benchmark

Written by `make docs` from the task files; `iwreplay tasks show ID` says what a task asks and how it is done, and
`iwreplay tasks check` proves all of them by running them. *Turns* and *actions* are the oracle's, which is the shortest
way that was found. *By lot* is how often choosing at random is right, where there is something to choose between.
*Near misses* are wrong ways that each fail exactly the checks that they name.
"""


def overview() -> str:
    """Markdown. TaskError when any task is malformed."""
    tasks, problems = list_tasks()
    all_or_none(problems)
    parts = [_HEAD, f"{len(tasks)} tasks in {len({t.scene for t in tasks})} scenes.\n"]
    for family in FAMILIES:
        mine = [t for t in tasks if t.family == family]
        parts.append(f"## {family.capitalize()}\n")
        parts.append(
            _table(
                ("task", "title", "scene", "tests", "turns", "actions", "by lot", "objectives", "near misses"),
                map(_row, mine),
            )
        )
        if mine:
            parts.append(_lengths(mine))
    parts.append("## Capabilities\n\nCapability points, by family.\n")
    parts.append(_table(("capability", *FAMILIES, "points", "tasks"), (_points(c, tasks) for c in CAPABILITIES)))
    return "\n".join(parts)


def _row(task: TaskPack) -> tuple[object, ...]:
    by_lot = expected_by_lot(task)
    return (
        task.id,
        task.title,
        task.scene,
        " ".join(task.tests),
        len(task.oracle),
        _actions(task),
        "-" if by_lot is None else f"{by_lot:.3g}",
        len(task.objectives),
        len(task.near_misses),
    )


def _actions(task: TaskPack) -> int:
    return sum(len(step.do) for step in task.oracle)


def _lengths(tasks: list[TaskPack]) -> str:
    lengths = sorted(map(_actions, tasks))
    misses = sum(len(t.near_misses) for t in tasks)
    different = len(set(lengths))
    return f"{different} different lengths, from {lengths[0]} to {lengths[-1]} actions; {misses} near misses.\n"


def _points(capability: str, tasks: tuple[TaskPack, ...]) -> tuple[object, ...]:
    counts = {t.id: sum(p.capability == capability for p in t.points) for t in tasks}
    by_family = [sum(counts[t.id] for t in tasks if t.family == family) for family in FAMILIES]
    name = f"{capability} {CAPABILITIES[capability]}"
    return (name, *by_family, sum(by_family), sum(n > 0 for n in counts.values()))


def _table(columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
