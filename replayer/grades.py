"""How faithfully a step was reproduced: five grades, each with a definition that can be checked.

A step is everything from one mark of the loop (a phase, an observation, a decision, a turn of the Human, a command)
up to the next. Graded is what the step did, and the world that it left:

- exact: every event of it is the same, byte for byte, frame hashes included;
- state-equal: the same outcomes, facts and words, and a world that is equal to the last bit; something else differs
  (pixels of a frame, what is visible, intermediate samples, the environment in the opening);
- within-tolerance: the same outcomes, facts and words; no attribute differs, and every pose, joint and body value is
  within the tolerances below;
- outcome-equal: the same outcomes and words, but another world;
- diverged: another outcome or another word, or an event that the other side has no counterpart for.

The world is compared as it is after the step, not as a change: what drifted before still counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from iwreplay.body import root_of
from iwreplay.canonical import canonical_bytes
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    Contact,
    EpisodeEnded,
    Event,
    Fault,
    Happened,
    HumanTurn,
    Observation,
    PhaseChanged,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
)
from iwreplay.pose import poses_agree
from iwreplay.trig import sin_cos
from iwreplay.world.state import WorldState

__all__ = ["ANGLE_TOLERANCE_RAD", "DISTANCE_TOLERANCE_M", "GRADES", "TIME_TOLERANCE_S", "Grade", "grade_step", "worst"]

Grade = Literal["exact", "state-equal", "within-tolerance", "outcome-equal", "diverged"]
#: from best to worst
GRADES: tuple[Grade, ...] = ("exact", "state-equal", "within-tolerance", "outcome-equal", "diverged")

#: a position (metres), or a sliding joint
DISTANCE_TOLERANCE_M = 0.01
#: an orientation, a hinge, an angle of the body
ANGLE_TOLERANCE_RAD = math.radians(1.0)
TIME_TOLERANCE_S = 0.1
_WITHIN = {"distance_m": DISTANCE_TOLERANCE_M, "cos_half_angle": sin_cos(ANGLE_TOLERANCE_RAD / 2.0)[1]}


def worst(grades: Sequence[Grade]) -> Grade:
    """The worst of them; "exact" when there is none."""
    return GRADES[max((GRADES.index(g) for g in grades), default=0)]


def grade_step(
    expected: Sequence[Event], got: Sequence[Event], *, equal: bool, state: WorldState, got_state: WorldState
) -> Grade:
    """Grade of one step. `equal`: all events are the same bytes. The states have the step folded in."""
    if equal:
        return "exact"
    if _words(expected) != _words(got):
        return "diverged"
    if _facts(expected) == _facts(got):
        if _same_world(state, got_state):
            return "state-equal"
        if _near_world(state, got_state):
            return "within-tolerance"
    return "outcome-equal"


def _words(events: Sequence[Event]) -> list[tuple[Any, ...]]:
    """Outcomes and words: what decides how an episode goes on."""
    out: list[tuple[Any, ...]] = []
    for e in events:
        if isinstance(e, PrimitiveOutcome):
            out.append(("outcome", e.action, e.command, e.primitive, e.obj, e.dest, e.tool, e.ok, e.code, e.refused))
        elif isinstance(e, CommandIssued):
            out.append(("command", e.action, e.text, e.source))
        elif isinstance(e, Observation):
            out.append(("observation", e.role, e.frames, e.available, tuple(sorted(e.proprioception.items()))))
        elif isinstance(e, AssistantDecision):
            out.append(("decision", e.decision, e.text, e.memory))
        elif isinstance(e, HumanTurn):
            out.append(("human", e.commands, e.reply))
        elif isinstance(e, Utterance):
            out.append(("said", e.speaker, e.text))
        elif isinstance(e, ScriptedEvent):
            out.append(("script", e.script))
        elif isinstance(e, PhaseChanged):
            out.append(("phase", e.phase, e.previous))
        elif isinstance(e, Fault):
            out.append(("fault", e.source, e.code))
        elif isinstance(e, EpisodeEnded):
            out.append(("ended", e.reason, e.valid, e.turns, e.actions))
    return out


def _facts(events: Sequence[Event]) -> list[bytes]:
    """Changes of attributes, happenings and contacts, without their instants and in any order."""
    out = []
    for e in events:
        if isinstance(e, StateDelta):
            out.append(canonical_bytes([e.thing, e.attr, _rounded(e.new), e.cause]))
        elif isinstance(e, Happened):
            out.append(canonical_bytes([e.what, e.obj, e.dest, e.tool]))
        elif isinstance(e, Contact):
            out.append(canonical_bytes([e.a, e.b]))
    return sorted(out)


def _rounded(value: Any) -> Any:
    """Amounts and seconds of heat to a hundredth."""
    if isinstance(value, float):
        return round(value, 2)
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return value


def _same_world(a: WorldState, b: WorldState) -> bool:
    return (
        a.step == b.step
        and a.sim_time_s == b.sim_time_s
        and a.poses == b.poses
        and a.joints == b.joints
        and a.body == b.body
        and a.attrs == b.attrs
    )


def _near_world(a: WorldState, b: WorldState) -> bool:
    if abs(a.sim_time_s - b.sim_time_s) > TIME_TOLERANCE_S or a.poses.keys() != b.poses.keys():
        return False
    if _rounded(a.attrs) != _rounded(b.attrs):
        return False
    if any(not poses_agree(a.poses[t], b.poses[t], **_WITHIN) for t in a.poses):
        return False
    # a joint is a hinge (rad) or a slide (m); one hundredth is inside both tolerances
    if any(abs(v - b.joints.get(j, math.inf)) > DISTANCE_TOLERANCE_M for j, v in a.joints.items()):
        return False
    if not poses_agree(root_of(a.body), root_of(b.body), **_WITHIN):
        return False
    return all(abs(p - q) <= ANGLE_TOLERANCE_RAD for p, q in zip(a.body[7:], b.body[7:], strict=True))
