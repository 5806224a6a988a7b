"""Events: the facts an episode consists of. One family a file, one frozen Struct a kind."""

from __future__ import annotations

from iwreplay.events.base import Event
from iwreplay.events.lifecycle import (
    EndReason,
    EpisodeConfig,
    EpisodeEnded,
    EpisodeOpened,
    Fault,
    Participant,
    PhaseChanged,
)
from iwreplay.events.observation import FrameCaptured, Observation
from iwreplay.events.participants import AssistantDecision, CommandIssued, HumanTurn, ModelCall, Utterance
from iwreplay.events.world import (
    BODY_VALUES,
    BodyPosed,
    Contact,
    Happened,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    WorldSnapshot,
)

__all__ = [
    "BODY_VALUES",
    "EVENT_TYPES",
    "AnyEvent",
    "AssistantDecision",
    "BodyPosed",
    "CommandIssued",
    "Contact",
    "EndReason",
    "EpisodeConfig",
    "EpisodeEnded",
    "EpisodeOpened",
    "Event",
    "Fault",
    "FrameCaptured",
    "Happened",
    "HumanTurn",
    "ModelCall",
    "Observation",
    "Participant",
    "PhaseChanged",
    "PosesSampled",
    "PrimitiveOutcome",
    "ScriptedEvent",
    "StateDelta",
    "Utterance",
    "WorldSnapshot",
]

AnyEvent = (
    EpisodeOpened
    | PhaseChanged
    | Fault
    | EpisodeEnded
    | FrameCaptured
    | Observation
    | AssistantDecision
    | HumanTurn
    | CommandIssued
    | Utterance
    | ModelCall
    | PrimitiveOutcome
    | StateDelta
    | Contact
    | Happened
    | ScriptedEvent
    | PosesSampled
    | BodyPosed
    | WorldSnapshot
)

#: Every kind, in the order of the union; a duplicate tag is refused by msgspec when the union is used.
EVENT_TYPES: tuple[type[Event], ...] = AnyEvent.__args__
