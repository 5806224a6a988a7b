"""The dialogue as a pure function of events."""

from __future__ import annotations

from collections.abc import Iterable

from iwreplay.events import AssistantDecision, Event, HumanTurn, Utterance
from iwreplay.ports import Said

__all__ = ["ASSISTANT", "HUMAN", "dialogue_of", "line_of"]

ASSISTANT = "assistant"
HUMAN = "human"


def line_of(event: Event) -> Said | None:
    """The line of dialogue that an event adds, or None."""
    if isinstance(event, AssistantDecision) and event.text:
        return Said(turn=event.turn, speaker=ASSISTANT, text=event.text)
    if isinstance(event, HumanTurn) and event.reply:
        return Said(turn=event.turn, speaker=HUMAN, text=event.reply)
    if isinstance(event, Utterance):
        return Said(turn=event.turn, speaker=event.speaker, text=event.text)
    return None


def dialogue_of(events: Iterable[Event]) -> tuple[Said, ...]:
    """Everything that both participants heard, in order. The public request is not part of it."""
    return tuple(line for line in map(line_of, events) if line is not None)
