"""What the sections of a report work with: the selection, the tallies of it, and seeded chance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from iwreplay.reports.document import Number, Unit
from iwreplay.reports.instances import Arm, Instance, Selection, TaskFacts
from iwreplay.statistics.figures import ratio
from iwreplay.statistics.passes import TaskPasses
from iwreplay.statistics.proportions import Share, share_of
from iwreplay.statistics.resampling import Statistic, bootstrap
from iwreplay.statistics.results import Estimate
from iwreplay.vocabulary import FAMILIES, Family

__all__ = ["LEAST_TASKS", "Workings", "by_task", "enough", "ids", "shared"]


#: tasks, of families with two at least, from which on a resampling of them says something
LEAST_TASKS = 5


class Workings:
    """A selection, with how it is resampled."""

    def __init__(self, selection: Selection, *, seed: int, resamples: int) -> None:
        """seed: of all chance. resamples: of tasks, and permutations."""
        self.selection, self.seed, self.resamples = selection, seed, resamples
        self.tasks: dict[str, TaskFacts] = {t.id: t for t in selection.tasks}
        #: in the order in which every table has them: who passes most comes first
        self.arms: tuple[Arm, ...] = tuple(sorted(selection.arms, key=lambda a: (-self._average(a), a)))

    def _average(self, arm: Arm) -> float:
        """Mean of the families' shares, for the order."""
        per_family: dict[str, int] = {f: sum(t.family == f for t in self.selection.tasks) or 1 for f in FAMILIES}
        return math.fsum(t.passed / t.tried / per_family[t.family] for t in self.passes(arm))

    def rng(self, name: str) -> np.random.Generator:
        """The generator for a number, which does not depend on what else is reported."""
        digest = hashlib.sha256(f"{self.seed}/{name}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))

    def passes(self, arm: Arm, *, families: Sequence[Family] = FAMILIES) -> list[TaskPasses]:
        """What became of each recorded task."""
        return [
            TaskPasses(family=mine[0].family, task=task, passed=sum(bool(i.passed) for i in mine), tried=len(mine))
            for task, mine in by_task(self.selection.of(arm, families=families)).items()
        ]

    def mean(
        self,
        name: str,
        instances: Iterable[Instance],
        *,
        of: Callable[[Instance], float],
        per: Callable[[Instance], float] = lambda i: 1.0,
        unit: Unit = "percent",
    ) -> Number:
        """The sum of `of` over the sum of `per`, with its task-bootstrap interval where there are tasks enough."""
        mine = tuple(instances)
        tasks = by_task(mine)
        if not tasks:
            return Number(id="", value=None, unit=unit, note="not recorded")
        above = [math.fsum(map(of, group)) for group in tasks.values()]
        below = [math.fsum(map(per, group)) for group in tasks.values()]
        (found,) = self.resampled(name, ratio(above, denominators=below), tasks)
        return self.estimated(name, found, mine, unit=unit)

    def share(
        self, name: str, instances: Iterable[Instance], *, k: Callable[[Instance], int], n: Callable[[Instance], int]
    ) -> Number:
        """The sum of `k` of the sum of `n`. Wilson's interval where every task has one episode, else the bootstrap's:
        seeds of one task are not independent."""
        mine = tuple(i for i in instances if n(i))
        if not mine:
            return Number(id="", value=None, note="none")
        hits, all_ = sum(map(k, mine)), sum(map(n, mine))
        if all(len(group) == 1 for group in by_task(mine).values()):
            return shared(name, share_of(hits, n=all_), mine)
        return msgspec.structs.replace(self.mean(name, mine, of=k, per=n), k=hits, n=all_)

    def resampled(self, name: str, statistic: Statistic, tasks: Mapping[str, Sequence[Any]]) -> tuple[Estimate, ...]:
        """A statistic over the tasks of some episodes, in the order of `tasks`."""
        return bootstrap(
            statistic,
            families=[self.tasks[t].family for t in tasks],
            rng=self.rng(name),
            resamples=self.resamples,
        )

    def estimated(self, name: str, estimate: Estimate, instances: Iterable[Instance], *, unit: Unit) -> Number:
        """A figure with the interval of its resamples, unless there are too few tasks to draw from."""
        mine = tuple(instances)
        number = Number(
            id=name,
            value=estimate.value,
            unit=unit,
            n=len(mine),
            low=None if estimate.interval is None else estimate.interval.low,
            high=None if estimate.interval is None else estimate.interval.high,
            note=estimate.reason or "",
            episodes=ids(mine),
        )
        if number.value is None or enough(mine):
            return number
        n = len({i.task for i in mine})
        return msgspec.structs.replace(number, low=None, high=None, note="1 task only" if n == 1 else f"{n} tasks only")


def enough(instances: Iterable[Instance]) -> bool:
    """Whether a resampling of the tasks says something: a family of one task is always drawn whole."""
    per_family: dict[str, set[str]] = {}
    for i in instances:
        per_family.setdefault(i.family, set()).add(i.task)
    return sum(len(tasks) for tasks in per_family.values() if len(tasks) > 1) >= LEAST_TASKS


def by_task(instances: Iterable[Instance]) -> dict[str, list[Instance]]:
    """Episodes of each task, in the order in which tasks come."""
    found: dict[str, list[Instance]] = {}
    for i in instances:
        found.setdefault(i.task, []).append(i)
    return found


def ids(instances: Iterable[Instance]) -> tuple[str, ...]:
    """Of their episodes."""
    return tuple(i.episode for i in instances)


def shared(name: str, share: Share, instances: Iterable[Instance]) -> Number:
    """k of n with its Wilson interval."""
    if share.n == 0:
        return Number(id="", value=None, note="none")
    return Number(
        id=name,
        value=share.share,
        k=share.k,
        n=share.n,
        low=None if share.interval is None else share.interval.low,
        high=None if share.interval is None else share.interval.high,
        episodes=ids(instances),
    )
