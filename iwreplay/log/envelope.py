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

__all__ = ["ENVELOPE", "ROW_SOURCES", "Cell", "Row", "row_of"]

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

#: The columns of each kind behind `kind`, as expressions over the event `e`:
#:  actor, verb, object, target, attribute, code, decision, action
_COLUMNS: dict[type[Event], str] = {
    EpisodeOpened: "None, None, e.task.id, e.scene.id, None, None, None, None",
    PhaseChanged: "None, None, None, None, None, None, None, None",
    Fault: "e.source, None, None, None, None, e.code, None, None",
    EpisodeEnded: "None, None, None, None, None, e.reason, None, None",
    FrameCaptured: "None, None, e.frame_id, None, None, e.cause, None, e.action",
    Observation: "e.role, None, None, None, None, None, None, None",
    AssistantDecision: "'assistant', None, None, None, None, None, e.decision, None",
    HumanTurn: "'human', None, None, None, None, None, None, None",
    CommandIssued: "e.source, None, None, None, None, None, None, e.action",
    Utterance: "e.speaker, None, None, None, None, None, None, None",
    ModelCall: "e.role, None, e.model, None, None, None, None, None",
    PrimitiveOutcome: (
        "'human', e.primitive or e.verb or None, e.obj or None, e.dest or None, None, e.code, None, e.action"
    ),
    StateDelta: "e.cause, None, e.thing, None, e.attr, None, None, None",
    Contact: "None, None, e.a, e.b, None, None, None, None",
    Happened: "None, e.what, e.obj or None, e.dest or None, None, None, None, None",
    ScriptedEvent: "'script', None, e.script, None, None, None, None, None",
    PosesSampled: "None, None, None, None, None, None, None, None",
    BodyPosed: "None, None, None, None, None, None, None, None",
    WorldSnapshot: "None, None, None, None, None, e.reason, None, None",
}

assert set(_COLUMNS) == set(EVENT_TYPES), "every kind has columns"

#: Row of each kind, the source of a tuple over the event `e`.
ROW_SOURCES: dict[type[Event], str] = {
    kind: f"(e.sim_time_s, e.turn, e.phase, {kind.__struct_config__.tag!r}, {columns})"
    for kind, columns in _COLUMNS.items()
}
# compiled from this module's own text, like a namedtuple: the writer builds rows within its checks from the same text
_ROWS: dict[type[Event], Callable[[Any], Row]] = {
    kind: eval(f"lambda e: {source}") for kind, source in ROW_SOURCES.items()
}


def row_of(event: Event) -> Row:
    """The derived columns of an event, in the order of `ENVELOPE`."""
    return _ROWS[type(event)](event)
