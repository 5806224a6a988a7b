"""Where in a log an error begins: an event of live interaction, and the turn that it belongs to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from iwreplay.errors import AnnotationError
from iwreplay.events import AssistantDecision, Event

__all__ = ["EventLog", "seq_of_turn", "turn_at"]


class EventLog(Protocol):
    """A log whose events are read by their numbers."""

    def __len__(self) -> int: ...

    def at_seq(self, seq: int) -> Event: ...

    def select_between(self, kinds: Collection[type[Event]], first: int, last: int) -> list[tuple[int, Event]]: ...


def turn_at(log: EventLog, *, seq: int) -> int:
    """The turn of event `seq`, from 1. AnnotationError when the log has no such event, or it is not in live
    interaction."""
    if not 0 <= seq < len(log):
        raise AnnotationError(f"onset {seq} is no event of the log, which has events 0 to {len(log) - 1}")
    event = log.at_seq(seq)
    if event.phase != "closed_loop" or event.turn < 1:
        raise AnnotationError(f"onset {seq} is not in live interaction: it is in {event.phase}, turn {event.turn}")
    return event.turn


def seq_of_turn(log: EventLog, *, turn: int) -> int:
    """The event of the Assistant's decision in that turn: what is meant by an error "in turn 3". AnnotationError when
    the log has no such turn."""
    turns = _decisions(log)
    if turn not in turns:
        has = f"turns 1 to {max(turns)}" if turns else "no turn"
        raise AnnotationError(f"onset: the log has no turn {turn}, it has {has}")
    return turns[turn]


def _decisions(log: EventLog) -> dict[int, int]:
    if not len(log):
        return {}
    return {event.turn: seq for seq, event in log.select_between((AssistantDecision,), 0, len(log) - 1)}
