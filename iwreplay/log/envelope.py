"""The typed columns of an event: what queries ask for, derived from the event alone.

A column is null where it says nothing about a kind. The envelope is convenience: the event's JSON is the truth,
and `check` derives the envelope again and compares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iwreplay.events import (
    EVENT_TYPES,
    AssistantDecision,
    BodyPosed,
    CommandIssued,
    Contact,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    FrameCaptured,
    Happened,
    HumanTurn,
    ModelCall,
    Observation,
    PhaseChanged,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
    WorldSnapshot,
)

__all__ = ["ENVELOPE", "ROWS", "Cell", "Row", "row_of"]

#: Names of the derived columns, in the order of a row.
ENVELOPE: tuple[str, ...] = (
    "sim_time_s",
    "turn",
    "phase",
    "kind",
    "actor",
    "verb",
    "object",
    "target",
    "attribute",
    "code",
    "decision",
    "action",
)

#: what one column of one event can hold
Cell = float | int | str | None
_Text = str | None
Row = tuple[float, int, str, str, _Text, _Text, _Text, _Text, _Text, _Text, _Text, int | None]

#: Derives the columns of each kind:
#   sim_time_s, turn, phase, kind, actor, verb, object, target, attribute, code, decision, action
ROWS: dict[type[Event], Callable[[Any], Row]] = {
    EpisodeOpened: lambda e: (
        e.sim_time_s, e.turn, e.phase, "episode_opened", None, None, e.task.id, e.scene.id, None, None, None, None,
    ),
    PhaseChanged: lambda e: (
        e.sim_time_s, e.turn, e.phase, "phase_changed", None, None, None, None, None, None, None, None,
    ),
    Fault: lambda e: (
        e.sim_time_s, e.turn, e.phase, "fault", e.source, None, None, None, None, e.code, None, None,
    ),
    EpisodeEnded: lambda e: (
        e.sim_time_s, e.turn, e.phase, "episode_ended", None, None, None, None, None, e.reason, None, None,
    ),
    FrameCaptured: lambda e: (
        e.sim_time_s, e.turn, e.phase, "frame_captured", None, None, e.frame_id, None, None, e.cause, None, e.action,
    ),
    Observation: lambda e: (
        e.sim_time_s, e.turn, e.phase, "observation", e.role, None, None, None, None, None, None, None,
    ),
    AssistantDecision: lambda e: (
        e.sim_time_s, e.turn, e.phase, "assistant_decision", "assistant", None, None, None, None, None, e.decision,
        None,
    ),
    HumanTurn: lambda e: (
        e.sim_time_s, e.turn, e.phase, "human_turn", "human", None, None, None, None, None, None, None,
    ),
    CommandIssued: lambda e: (
        e.sim_time_s, e.turn, e.phase, "command_issued", e.source, None, None, None, None, None, None, e.action,
    ),
    Utterance: lambda e: (
        e.sim_time_s, e.turn, e.phase, "utterance", e.speaker, None, None, None, None, None, None, None,
    ),
    ModelCall: lambda e: (
        e.sim_time_s, e.turn, e.phase, "model_call", e.role, None, e.model, None, None, None, None, None,
    ),
    PrimitiveOutcome: lambda e: (
        e.sim_time_s, e.turn, e.phase, "primitive_outcome", "human", e.primitive or e.verb or None, e.obj or None,
        e.dest or None, None, e.code, None, e.action,
    ),
    StateDelta: lambda e: (
        e.sim_time_s, e.turn, e.phase, "state_delta", e.cause, None, e.thing, None, e.attr, None, None, None,
    ),
    Contact: lambda e: (
        e.sim_time_s, e.turn, e.phase, "contact", None, None, e.a, e.b, None, None, None, None,
    ),
    Happened: lambda e: (
        e.sim_time_s, e.turn, e.phase, "happened", None, e.what, e.obj or None, e.dest or None, None, None, None, None,
    ),
    ScriptedEvent: lambda e: (
        e.sim_time_s, e.turn, e.phase, "scripted_event", "script", None, e.script, None, None, None, None, None,
    ),
    PosesSampled: lambda e: (
        e.sim_time_s, e.turn, e.phase, "poses_sampled", None, None, None, None, None, None, None, None,
    ),
    BodyPosed: lambda e: (
        e.sim_time_s, e.turn, e.phase, "body_posed", None, None, None, None, None, None, None, None,
    ),
    WorldSnapshot: lambda e: (
        e.sim_time_s, e.turn, e.phase, "world_snapshot", None, None, None, None, None, e.reason, None, None,
    ),
}  # fmt: skip

assert set(ROWS) == set(EVENT_TYPES), "every kind has a row"


def row_of(event: Event) -> Row:
    """The derived columns of an event, in the order of `ENVELOPE`."""
    return ROWS[type(event)](event)
