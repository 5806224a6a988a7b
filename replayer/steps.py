"""A log as a sequence of steps: from one mark of the loop to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from iwreplay.canonical import VALUES_TYPES, canonical_bytes, frame, pack_values, without_values
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EpisodeOpened,
    Event,
    HumanTurn,
    Observation,
    PhaseChanged,
)
from iwreplay.vocabulary import PHASES

__all__ = ["Step", "StepKey", "Taken", "key_of", "steps_of", "taken"]

#: (phase, turn, place in the turn, action): rises along a log
StepKey = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Taken:
    """An event with its sequence number and the bytes that are hashed for it."""

    seq: int
    event: Event
    data: bytes


@dataclass(slots=True)
class Step:
    """The events of one step; the first is the mark."""

    key: StepKey
    taken: list[Taken] = field(default_factory=list)
    #: the log has no event after this step
    last: bool = False

    @property
    def events(self) -> list[Event]:
        return [t.event for t in self.taken]


def taken(seq: int, event: Event) -> Taken:
    """The event with its bytes in the chain of the root hash."""
    line = canonical_bytes(without_values(event)) + b"\n"
    packed = pack_values(event.values) if type(event) in VALUES_TYPES else None  # type: ignore[attr-defined]
    return Taken(seq, event, frame(line, packed))


def key_of(event: Event) -> StepKey | None:
    """The key of the step that an event begins, or None when it begins none."""
    phase = PHASES.index(event.phase)
    if isinstance(event, EpisodeOpened):
        return (-1, 0, 0, 0)
    if isinstance(event, PhaseChanged):
        return (phase, event.turn, 0, 0)
    if isinstance(event, Observation):
        return (phase, event.turn, 1 if event.role == "assistant" else 3, 0)
    if isinstance(event, AssistantDecision):
        return (phase, event.turn, 2, 0)
    if isinstance(event, HumanTurn):
        return (phase, event.turn, 4, 0)
    if isinstance(event, CommandIssued):
        return (phase, event.turn, 5, event.action)
    return None


def steps_of(log: Iterable[tuple[int, Event]]) -> Iterator[Step]:
    """The steps of a log, in order; memory is bounded by one step and the mark of the next."""
    step: Step | None = None
    for seq, event in log:
        key = key_of(event)
        if key is not None:
            if step is not None:
                yield step
            step = Step(key)
        if step is None:
            step = Step((-1, 0, 0, 0))
        step.taken.append(taken(seq, event))
    if step is not None:
        step.last = True
        yield step
