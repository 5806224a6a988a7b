"""Executor agreement (rule 40): the same tasks and Assistants, played by several Humans."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec

from iwreplay.errors import StatisticsError
from iwreplay.statistics.results import check_same_length

__all__ = ["AssistantAgreement", "ExecutorAgreement", "GroupAgreement", "PairAgreement", "executor_agreement"]

#: outcome of each task with one executor, in the order of the tasks; None: not recorded
Outcomes = Sequence[bool | None]


class PairAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two executors."""

    first: str
    second: str
    #: tasks that both recorded (over all Assistants, when pooled), and how many came out the same
    tasks: int
    same: int
    #: None when there is no such task
    share: float | None


class AssistantAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """One Assistant over its executors."""

    assistant: str
    #: executor, passes, tasks recorded
    passes: tuple[tuple[str, int, int], ...]
    #: fewest and most passes of an executor; None without executors
    fewest: int | None
    most: int | None
    pairs: tuple[PairAgreement, ...]
    #: mean of the pairs' shares; None when no pair has one
    agreement: float | None


class GroupAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs with one executor of each group, such as model and person; within a group when both are the same."""

    first: str
    second: str
    pairs: int
    #: mean of the pooled pairs' shares; None when no pair has one
    agreement: float | None


class ExecutorAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Both definitions of rule 40. They are equal when every Assistant has the same executors and tasks."""

    assistants: tuple[AssistantAgreement, ...]
    #: pairs with the tasks of all Assistants taken together
    pairs: tuple[PairAgreement, ...]
    #: mean of `pairs`; None when no pair has a share
    pooled: float | None
    groups: tuple[GroupAgreement, ...]


def executor_agreement(
    outcomes: Mapping[str, Mapping[str, Outcomes]], *, groups: Mapping[str, str] | None = None
) -> ExecutorAgreement:
    """Shares of tasks with the same outcome between two executors, averaged over pairs.

    `outcomes` is by Assistant and executor; the rows of one Assistant tell of the same tasks in the same order.
    `groups` names the group of every executor. The executors are no independent task sets: no interval is made of them.
    """
    names = list(dict.fromkeys(e for by_executor in outcomes.values() for e in by_executor))
    for by_executor in outcomes.values():
        check_same_length(**{executor: len(row) for executor, row in by_executor.items()})
    lost = [name for name in names if groups is not None and name not in groups]
    if lost:
        raise StatisticsError(f"executors without a group: {', '.join(lost)}")
    pooled = tuple(_pair(a, b, outcomes.values()) for a, b in combinations(names, 2))
    return ExecutorAgreement(
        assistants=tuple(_assistant(name, by_executor) for name, by_executor in outcomes.items()),
        pairs=pooled,
        pooled=_mean(pooled),
        groups=_groups(pooled, groups) if groups is not None else (),
    )


def _assistant(name: str, by_executor: Mapping[str, Outcomes]) -> AssistantAgreement:
    passes = tuple(
        (executor, sum(o is True for o in row), sum(o is not None for o in row))
        for executor, row in by_executor.items()
    )
    counts = [passed for _, passed, _ in passes]
    pairs = tuple(_pair(a, b, [by_executor]) for a, b in combinations(by_executor, 2))
    return AssistantAgreement(
        assistant=name,
        passes=passes,
        fewest=min(counts, default=None),
        most=max(counts, default=None),
        pairs=pairs,
        agreement=_mean(pairs),
    )


def _pair(first: str, second: str, tables: Iterable[Mapping[str, Outcomes]]) -> PairAgreement:
    both = [
        (a, b)
        for table in tables
        if first in table and second in table
        for a, b in zip(table[first], table[second], strict=True)
        if a is not None and b is not None
    ]
    same = sum(a == b for a, b in both)
    share = same / len(both) if both else None
    return PairAgreement(first=first, second=second, tasks=len(both), same=same, share=share)


def _groups(pairs: tuple[PairAgreement, ...], groups: Mapping[str, str]) -> tuple[GroupAgreement, ...]:
    order = list(dict.fromkeys(groups.values()))
    found: dict[tuple[str, str], list[PairAgreement]] = {}
    for pair in pairs:
        first, second = sorted((groups[pair.first], groups[pair.second]), key=order.index)
        found.setdefault((first, second), []).append(pair)
    return tuple(GroupAgreement(first=a, second=b, pairs=len(of), agreement=_mean(of)) for (a, b), of in found.items())


def _mean(pairs: Iterable[PairAgreement]) -> float | None:
    shares = [p.share for p in pairs if p.share is not None]
    return math.fsum(shares) / len(shares) if shares else None
