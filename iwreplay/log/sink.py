"""Where the episode loop puts its events, and a log that lives in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from iwreplay.events import Event
from iwreplay.log.admission import Gate, admit
from iwreplay.log.chain import Chain

__all__ = ["EventSink", "MemoryLog"]


class EventSink(Protocol):
    """What the episode loop needs of a log."""

    def append(self, event: Event) -> int:
        """Takes an event and gives its seq. EventError if it may not be logged; nothing is changed then."""
        ...

    def commit(self) -> None:
        """Returns once everything appended is safe. LogWriteError otherwise."""
        ...


class MemoryLog:
    """The events of one episode in a list: same validation and same root hash as a log on disk."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._gate = Gate()
        self._chain = Chain()

    def append(self, event: Event) -> int:
        """Validates, and gives the event's seq."""
        line, packed = admit(event)
        self._gate.check(event)
        self._chain.add(line, packed)
        self._events.append(event)
        return len(self._events) - 1

    def commit(self) -> None:
        """Memory is as safe as it gets."""

    @property
    def root_hash(self) -> str:
        """Root hash of the events so far."""
        return self._chain.root

    def events(self) -> Iterator[Event]:
        """All events in order."""
        return iter(self._events)

    def at_seq(self, seq: int) -> Event:
        """One event. IndexError outside the log."""
        if not 0 <= seq < len(self._events):
            raise IndexError(f"event {seq} of a log with {len(self._events)}")
        return self._events[seq]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[tuple[int, Event]]:
        return enumerate(self._events)
