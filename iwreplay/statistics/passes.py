"""Pass by family and its average, over denominators that do not depend on what was recorded (rules 26, 33)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from iwreplay.errors import StatisticsError
from iwreplay.statistics.arrays import Floats
from iwreplay.statistics.figures import difference, family_mean, ratio
from iwreplay.statistics.proportions import wilson
from iwreplay.statistics.resampling import Statistic, bootstrap
from iwreplay.statistics.results import Estimate, Interval
from iwreplay.vocabulary import FAMILIES

__all__ = ["TASKS_PER_FAMILY", "FamilyPasses", "PassTable", "TaskPasses", "pass_difference", "pass_table"]

TASKS_PER_FAMILY = 20


class TaskPasses(msgspec.Struct, frozen=True, kw_only=True):
    """What one Assistant's valid episodes of one task came to."""

    family: str
    task: str
    passed: int
    #: 0: not recorded, the same as a task that is left out
    tried: int

    @property
    def share(self) -> float:
        """Of a task that was tried."""
        return self.passed / self.tried


class FamilyPasses(msgspec.Struct, frozen=True, kw_only=True):
    """One family."""

    family: str
    #: sum over tasks of the share of their episodes that passed; a whole number with one episode a task
    passed: float
    #: tasks of the family; one that is missing counts as not passed
    denominator: int
    missing: int
    #: passed / denominator
    share: float
    #: None when a task has several episodes: they are not independent, the bootstrap is for them
    wilson: Interval | None
    bootstrap: Interval | None


class PassTable(msgspec.Struct, frozen=True, kw_only=True):
    """All families, and the mean of their shares with its task-bootstrap interval."""

    families: tuple[FamilyPasses, ...]
    average: Estimate
    missing: int


def pass_table(
    tasks: Iterable[TaskPasses],
    *,
    rng: np.random.Generator,
    denominator: int = TASKS_PER_FAMILY,
    families: Sequence[str] = FAMILIES,
    resamples: int = 10_000,
    level: float = 0.95,
) -> PassTable:
    """Shares of each of `families` over `denominator` tasks. A table with missing tasks says how many."""
    found = _by_family(tasks, denominator=denominator, families=families)
    rows = [f for f in families for _ in range(denominator)]
    values = _padded({f: [t.share for t in found[f].values()] for f in families}, denominator=denominator)
    each = [
        ratio([v * (r == f) for v, r in zip(values, rows, strict=True)], denominators=[float(r == f) for r in rows])
        for f in families
    ]
    average = family_mean(values, denominators=[1.0] * len(rows), families=rows)
    *parts, mean = bootstrap(_all([*each, average]), families=rows, rng=rng, resamples=resamples, level=level)
    lines = tuple(
        _family(f, list(found[f].values()), denominator=denominator, estimate=e, level=level)
        for f, e in zip(families, parts, strict=True)
    )
    return PassTable(families=lines, average=mean, missing=sum(line.missing for line in lines))


def pass_difference(
    first: Iterable[TaskPasses],
    *,
    second: Iterable[TaskPasses],
    rng: np.random.Generator,
    denominator: int = TASKS_PER_FAMILY,
    families: Sequence[str] = FAMILIES,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Estimate:
    """The first average less the second, tasks resampled for both at once.

    A task that one of them lacks is not passed there.
    """
    arms = [_by_family(arm, denominator=denominator, families=families) for arm in (first, second)]
    names = {f: list(dict.fromkeys(t for arm in arms for t in arm[f])) for f in families}
    for f in families:
        _check_room(f, len(names[f]), denominator=denominator)
    rows = [f for f in families for _ in range(denominator)]
    figures = []
    for arm in arms:
        shares = {f: [arm[f][t].share if t in arm[f] else 0.0 for t in names[f]] for f in families}
        values = _padded(shares, denominator=denominator)
        figures.append(family_mean(values, denominators=[1.0] * len(rows), families=rows))
    (found,) = bootstrap(difference(*figures), families=rows, rng=rng, resamples=resamples, level=level)
    return found


def _by_family(
    tasks: Iterable[TaskPasses], *, denominator: int, families: Sequence[str]
) -> dict[str, dict[str, TaskPasses]]:
    """The recorded tasks of each family, by name."""
    if denominator < 1 or not families or len(set(families)) < len(families):
        raise StatisticsError(f"families are named once each and have tasks: {list(families)}, {denominator} each")
    found: dict[str, dict[str, TaskPasses]] = {f: {} for f in families}
    for t in tasks:
        if t.family not in found:
            raise StatisticsError(f"task {t.task}: family {t.family!r} is not in {', '.join(families)}")
        if not 0 <= t.passed <= t.tried:
            raise StatisticsError(f"task {t.task}: {t.passed} of {t.tried} episodes passed")
        if t.task in found[t.family]:
            raise StatisticsError(f"task {t.task} is there twice: add up its episodes")
        if t.tried:
            found[t.family][t.task] = t
    for f, of in found.items():
        _check_room(f, len(of), denominator=denominator)
    return found


def _check_room(family: str, tasks: int, *, denominator: int) -> None:
    if tasks > denominator:
        raise StatisticsError(f"{family} has {tasks} tasks, more than its denominator of {denominator}")


def _padded(shares: Mapping[str, Sequence[float]], *, denominator: int) -> list[float]:
    """`denominator` shares for each family, 0 for what is missing."""
    return [v for of in shares.values() for v in [*of, *[0.0] * (denominator - len(of))]]


def _all(parts: Sequence[Statistic]) -> Statistic:
    def figures(weights: Floats) -> Floats:
        return np.concatenate([part(weights) for part in parts], axis=1)

    return figures


def _family(
    family: str, tasks: Sequence[TaskPasses], *, denominator: int, estimate: Estimate, level: float
) -> FamilyPasses:
    passed = math.fsum(t.share for t in tasks)
    single = all(t.tried == 1 for t in tasks)
    return FamilyPasses(
        family=family,
        passed=passed,
        denominator=denominator,
        missing=denominator - len(tasks),
        share=passed / denominator,
        wilson=wilson(round(passed), n=denominator, level=level) if single else None,
        bootstrap=estimate.interval,
    )
