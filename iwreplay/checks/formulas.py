"""Which formulas a task has, and what each is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from iwreplay.taskpack.model import Formula, TaskPack

__all__ = ["CREDIT", "REACHED", "TaskFormula", "task_formulas"]

#: behind the id of an objective or a point: the name of its second formula
CREDIT, REACHED = "/credit_if", "/reached"


class TaskFormula(NamedTuple):
    """One formula of a task."""

    #: id of its objective, gate, keep, point or scripted event, with `CREDIT` or `REACHED` behind it
    name: str
    formula: Formula
    #: it triggers a scripted event while the episode runs, so that it can't look ahead
    live: bool


def task_formulas(task: TaskPack) -> Iterator[TaskFormula]:
    """Every formula of a task, in the order in which the task lists them."""
    for o in task.objectives:
        yield TaskFormula(o.id, o.formula, live=False)
        if o.credit_if is not None:
            yield TaskFormula(o.id + CREDIT, o.credit_if, live=False)
    for g in (*task.gates, *task.keeps):
        yield TaskFormula(g.id, g.formula, live=False)
    for p in task.points:
        yield TaskFormula(p.id, p.formula, live=False)
        if p.reached is not None:
            yield TaskFormula(p.id + REACHED, p.reached, live=False)
    for s in task.script:
        if s.when.formula is not None:
            yield TaskFormula(s.id, s.when.formula, live=True)
