"""Where a benchmark run stands, in figures: pass by family, faults, what its models took. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import reduce

import msgspec

from iwreplay.vocabulary import Family
from recorder.benchmark import Cell, Ended, Limits, Plan, Progress
from recorder.models.metering import Spent
from recorder.models.unheard import Unheard
from scorers import Row, Score, Unscorable, by_family

__all__ = ["PairResult", "RunState", "state_of"]


class PairResult(msgspec.Struct, frozen=True, kw_only=True):
    """An Assistant with a Human, over the episodes of a run."""

    assistant: str
    human: str
    planned: int
    ended: int
    #: ended and valid; only these are scored
    valid: int
    passed: int
    #: family -> share passed of its valid episodes; None without any
    by_family: dict[Family, float | None]
    #: mean of the six families (rule 33); None while one has no valid episode
    average: float | None
    #: mean share of the objectives, over the valid episodes
    mcr: float | None
    #: of these episodes
    spent: Spent
    unheard: Unheard


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands."""

    run: str
    planned: int
    ended: int
    valid: int
    passed: int
    #: of all calls, those of episodes that were broken off included
    spent: Spent
    limits: Limits
    pairs: tuple[PairResult, ...]
    #: "<cell>: <reason>" of each episode that is not valid
    faults: tuple[str, ...]


def state_of(name: str, plan: Plan, at: Progress, spent: Spent, limits: Limits) -> RunState:
    """Where a run stands: its plan, what became of its episodes, and what its models took."""
    cells = list(plan.cells())
    ended = [at.ended[c.key] for c in cells if c.key in at.ended]
    families: dict[str, Family] = {t.id: t.family for t in plan.tasks}
    pairs = tuple(
        _pair(a, h, [c for c in cells if (c.assistant, c.human) == (a, h)], at, families)
        for a in plan.assistants
        for h in plan.humans
    )
    return RunState(
        run=name,
        planned=len(cells),
        ended=len(ended),
        valid=sum(e.valid for e in ended),
        passed=sum(e.passed is True for e in ended),
        spent=spent,
        limits=limits,
        pairs=pairs,
        faults=tuple(f"{e.cell}: {e.detail}" for e in ended if not e.valid),
    )


def _pair(assistant: str, human: str, cells: list[Cell], at: Progress, families: Mapping[str, Family]) -> PairResult:
    ended = [(c, at.ended[c.key]) for c in cells if c.key in at.ended]
    table = by_family(_rows(ended, families), metric="pass")
    mcrs = [e.mcr for _, e in ended if e.mcr is not None]
    return PairResult(
        assistant=assistant,
        human=human,
        planned=len(cells),
        ended=len(ended),
        valid=sum(e.valid for _, e in ended),
        passed=sum(e.passed is True for _, e in ended),
        by_family={f.family: f.mean for f in table.families},
        average=table.average,
        mcr=math.fsum(mcrs) / len(mcrs) if mcrs else None,
        spent=reduce(Spent.and_also, (e.took for _, e in ended), Spent()),
        unheard=reduce(Unheard.and_also, (e.unheard for _, e in ended), Unheard()),
    )


def _rows(ended: Iterable[tuple[Cell, Ended]], families: Mapping[str, Family]) -> Iterable[Row]:
    for cell, e in ended:
        score = (
            Unscorable(metric="pass", reason=e.detail)
            if e.passed is None
            else Score(metric="pass", value=float(e.passed), evidence=())
        )
        yield Row(family=families[cell.task], task=cell.task, score=score)
