"""What is asked of whole families of tasks: lengths that differ, near misses, points for every capability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from iwreplay.app.proofs import Finding
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import CAPABILITIES, FAMILIES

__all__ = ["FAMILY_TASKS", "NEAR_MISSES", "family_findings", "whole_families"]

#: tasks of a whole family
FAMILY_TASKS = 20
_DIFFERENT_LENGTHS = 6
_LONGEST_TO_SHORTEST = 3
NEAR_MISSES = 2


def whole_families(checked: Iterable[TaskPack]) -> tuple[tuple[str, tuple[TaskPack, ...]], ...]:
    """The families of which `FAMILY_TASKS` tasks or more were checked, in the usual order."""
    tasks = sorted(checked, key=lambda t: t.id)
    groups = ((family, tuple(t for t in tasks if t.family == family)) for family in FAMILIES)
    return tuple((family, group) for family, group in groups if len(group) >= FAMILY_TASKS)


def family_findings(checked: Sequence[TaskPack]) -> Iterator[tuple[str, Finding]]:
    """(family, finding) for every whole family; ("all", finding) when all of them are whole."""
    whole = whole_families(checked)
    for family, tasks in whole:
        yield family, _lengths(tasks)
        yield family, _near_misses(tasks)
    if len(whole) == len(FAMILIES):
        yield "all", _capabilities(whole)


def _actions(task: TaskPack) -> int:
    return sum(len(step.do) for step in task.oracle)


def _lengths(tasks: tuple[TaskPack, ...]) -> Finding:
    counts = Counter(map(_actions, tasks))
    shortest, longest = min(counts), max(counts)
    said = f"{len(counts)} lengths of {shortest} to {longest} actions: {', '.join(map(str, sorted(counts)))}"
    problems = []
    if len(counts) < _DIFFERENT_LENGTHS:
        problems.append(f"at least {_DIFFERENT_LENGTHS} are asked for")
    if longest < _LONGEST_TO_SHORTEST * shortest:
        names = [t.id for t in tasks if _actions(t) in (shortest, longest)]
        problems.append(
            f"the longest must be at least {_LONGEST_TO_SHORTEST} times the shortest (they are {', '.join(names)})"
        )
    return Finding(name="oracle lengths differ", ok=not problems, detail="; ".join([said, *problems]))


def _near_misses(tasks: tuple[TaskPack, ...]) -> Finding:
    few = [f"{t.id} has {len(t.near_misses)}" for t in tasks if len(t.near_misses) < NEAR_MISSES]
    said = f"{sum(len(t.near_misses) for t in tasks)} in {len(tasks)} tasks"
    if few:
        said += f"; at least {NEAR_MISSES} a task are asked for: {', '.join(few)}"
    return Finding(name="near misses", ok=not few, detail=said)


def _capabilities(whole: tuple[tuple[str, tuple[TaskPack, ...]], ...]) -> Finding:
    """Points per capability, and in how many tasks."""
    said, missing = [], []
    for capability in CAPABILITIES:
        per_task = [sum(p.capability == capability for p in t.points) for _, tasks in whole for t in tasks]
        points = sum(per_task)
        said.append(f"{capability} {points} points in {sum(n > 0 for n in per_task)} tasks")
        if not points:
            missing.append(capability)
    text = "; ".join(said)
    if missing:
        text += f"; no point measures {', '.join(missing)}"
    return Finding(name="points cover the capabilities", ok=not missing, detail=text)
