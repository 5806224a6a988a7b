"""What an episode cost: action steps (rule 36), turns, and the tokens of hosted models.

Actions and turns are counted against the oracle's, which is the shortest legal way that was found, and only where the
episode passed: to give up early is cheap. What the Human does by itself (Prevention) is nobody's cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from iwreplay.taskpack.model import TaskPack
from scorers.course import Call, Course
from scorers.examine import Examined
from scorers.model import Score, Scorer, Unscorable

__all__ = ["ACTION_COST", "TOKEN_COST", "TURN_COST"]

_NOT_PASSED = "it did not pass: such a cost is that of an episode which passed"
_ROLES = ("assistant", "human")


def _action_cost(examined: Examined) -> Score | Unscorable:
    """Commands of the Human in live interaction, refused ones included, over the oracle's."""
    course, oracle = _course(examined), sum(len(step.do) for step in examined.task.oracle)
    if not examined.evaluation.passed:
        return Unscorable(metric="action_cost", reason=_NOT_PASSED, undefined=True)
    if oracle == 0:
        return Unscorable(metric="action_cost", reason="the oracle of the task does nothing", undefined=True)
    own = [c for c in course.commands if c.source == "human"]
    carried_out = sum(not c.refused for c in own)
    return Score(
        metric="action_cost",
        value=len(own) / oracle,
        evidence=tuple(c.seq for c in own),
        details={
            "actions": len(own),
            "refused": len(own) - carried_out,
            "by_itself": len(course.commands) - len(own),
            "oracle_actions": oracle,
            "without_refused": carried_out / oracle,
        },
    )


def _turn_cost(examined: Examined) -> Score | Unscorable:
    """Turns but for the closing `done`, over the oracle's, which never says it."""
    course, oracle = _course(examined), len(examined.task.oracle)
    if not examined.evaluation.passed:
        return Unscorable(metric="turn_cost", reason=_NOT_PASSED, undefined=True)
    if oracle == 0:
        return Unscorable(metric="turn_cost", reason="the oracle of the task has no turn", undefined=True)
    turns = [d for d in course.decisions if d.decision != "done"]
    return Score(
        metric="turn_cost",
        value=len(turns) / oracle,
        evidence=tuple(d.seq for d in turns),
        details={
            "turns": len(turns),
            "spoken": sum(d.decision == "interrupt" for d in turns),
            "oracle_turns": oracle,
            "oracle_spoken": _spoken(examined.task),
        },
    )


def _token_cost(examined: Examined) -> Score | Unscorable:
    """Tokens in and out of all calls to hosted models, whether the episode passed or not. Calls that got no answer
    (`failed`) are not billed as far as one can know, and are left out."""
    calls = _course(examined).calls
    if not calls:
        return Unscorable(metric="token_cost", reason="no hosted model was asked", undefined=True)
    silent = [c.seq for c in calls if c.input_tokens is None or c.output_tokens is None]
    if silent:
        return Unscorable(
            metric="token_cost",
            reason="a provider did not say what a call took",
            missing=tuple(f"tokens of the call at event {seq}" for seq in silent[:20]),
        )
    by_role = {role: _tokens([c for c in calls if c.role == role]) for role in _ROLES}
    return Score(
        metric="token_cost",
        value=float(sum(c["input_tokens"] + c["output_tokens"] for c in by_role.values())),
        evidence=tuple(c.seq for c in calls),
        details={**by_role, "cost_usd": _dollars(calls)},
    )


def _tokens(calls: Sequence[Call]) -> dict[str, Any]:
    return {
        "calls": len(calls),
        "input_tokens": sum(c.input_tokens or 0 for c in calls),
        "output_tokens": sum(c.output_tokens or 0 for c in calls),
        "cost_usd": _dollars(calls),
    }


def _dollars(calls: Sequence[Call]) -> float | None:
    """None when the price of some call is not known."""
    known = [c.cost_usd for c in calls if c.cost_usd is not None]
    return math.fsum(known) if len(known) == len(calls) else None


def _spoken(task: TaskPack) -> int:
    return sum(bool(step.say) for step in task.oracle)


def _course(examined: Examined) -> Course:
    assert examined.course is not None, "a scorer that reads the course says so"
    return examined.course


ACTION_COST = Scorer(name="action_cost", version=1, module=__name__, judge=_action_cost, reads_course=True)
TURN_COST = Scorer(name="turn_cost", version=1, module=__name__, judge=_turn_cost, reads_course=True)
TOKEN_COST = Scorer(name="token_cost", version=1, module=__name__, judge=_token_cost, reads_course=True)
