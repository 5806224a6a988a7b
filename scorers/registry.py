"""The scorers of this build, in the order in which they are reported."""

from __future__ import annotations

from collections.abc import Sequence

from iwreplay.checks import Relations
from iwreplay.errors import UnknownNameError
from iwreplay.taskpack.model import TaskPack
from scorers.capability import CAPABILITY
from scorers.cost import ACTION_COST, TOKEN_COST, TURN_COST
from scorers.examine import Log, examine
from scorers.interventions import INTERVENTIONS
from scorers.model import Score, Scorer, Unscorable
from scorers.outcome import MCR, PASS_RATE

__all__ = ["SCORERS", "score_all", "scorer_named"]


def _distinct(scorers: tuple[Scorer, ...]) -> tuple[Scorer, ...]:
    names = [s.name for s in scorers]
    twice = sorted({n for n in names if names.count(n) > 1})
    assert not twice, f"two scorers are called {twice[0]!r}"
    return scorers


SCORERS: tuple[Scorer, ...] = _distinct((PASS_RATE, MCR, CAPABILITY, ACTION_COST, TURN_COST, TOKEN_COST, INTERVENTIONS))


def scorer_named(name: str) -> Scorer:
    """The scorer of that name. UnknownNameError lists the ones there are."""
    for scorer in SCORERS:
        if scorer.name == name:
            return scorer
    raise UnknownNameError("scorer", name, known=tuple(s.name for s in SCORERS))


def score_all(
    events: Log,
    task: TaskPack | None = None,
    *,
    scorers: Sequence[Scorer] = SCORERS,
    relations: Relations | None = None,
) -> tuple[Score | Unscorable, ...]:
    """One log under several scorers, read once; in the order of `scorers`."""
    course = any(s.reads_course for s in scorers)
    found = examine(events, task=task, relations=relations, course=course)
    return tuple(s.of(found) for s in scorers)
