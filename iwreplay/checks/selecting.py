"""Checks over a log that builds events on request: only those are built that can change a verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol, runtime_checkable

from iwreplay.checks.derive import Relations
from iwreplay.checks.evaluation import CheckRun
from iwreplay.errors import LogError, NotOpenedError
from iwreplay.events import EVENT_TYPES, EpisodeOpened, Event
from iwreplay.taskpack.model import TaskPack
from iwreplay.world.state import WorldState

__all__ = ["EventRun", "EventRuns", "run_selected"]


class EventRun(Protocol):
    """Consecutive events of a log, verified."""

    first: int
    count: int

    def select(
        self, kinds: Collection[type[Event]], *, start: int = 0, stop: int | None = None
    ) -> list[tuple[int, Event]]:
        """(seq, event) of all events of these kinds from the `start`-th to the `stop`-th, and perhaps of others."""


@runtime_checkable
class EventRuns(Protocol):
    """A whole log as such runs, in order; `iwreplay.log.LogReader` is one."""

    def chunks(self) -> Iterable[EventRun]:
        """All of it. Raises LogCorruptError after what is intact."""


def run_selected(
    log: EventRuns, *, task: TaskPack | None = None, relations: Relations | None = None
) -> CheckRun | None:
    """The run of the task's checks at the end of a whole log, the same as feeding every event; None for an empty log.

    Raises LogError when the log does not open with `episode_opened`, or leaves events out; CheckError when the task
    does not fit the log's scene.
    """
    run: CheckRun | None = None
    state: WorldState | None = None
    expected = 0
    kinds: Collection[type[Event]] = ()
    for chunk in log.chunks():
        if chunk.first != expected:
            raise LogError(f"event {chunk.first} follows event {expected - 1}; checks need every event, in order")
        start = 0
        if run is None or state is None:
            [(_, opened)] = chunk.select(EVENT_TYPES, stop=1)
            if not isinstance(opened, EpisodeOpened):
                raise NotOpenedError(type(opened).__name__, seq=0)
            state = WorldState(opened.scene)
            run = CheckRun(task or opened.task, opened.scene, relations=relations)
            kinds = run.kinds
            state.apply(opened)
            run.feed(0, opened, state)
            start = expected = 1
        for seq, event in chunk.select(kinds, start=start):
            state.apply(event)
            run.feed_selected(seq, event, state)
            expected = seq + 1
        end = chunk.first + chunk.count
        if expected < end:
            run.skip(end - 1)
            expected = end
    return run
