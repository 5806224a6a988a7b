"""Can a log support a metric at all? If so, its evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from iwreplay.checks import CheckRun, Evaluation, EventRun, EventRuns, Relations, run_selected
from iwreplay.errors import NotOpenedError
from iwreplay.events import EpisodeOpened, Event
from iwreplay.taskpack.model import TaskPack
from iwreplay.world.state import WorldState
from scorers.course import COURSE_KINDS, Course, course_of

__all__ = ["Examined", "Log", "examine"]

#: a whole log: events in order, (seq, event) pairs, or runs that build events on request
Log = Iterable[Event | tuple[int, Event]] | EventRuns

_MAX_GAPS = 20


@dataclass(frozen=True, slots=True)
class Examined:
    """A whole and valid log, as scorers look at it."""

    evaluation: Evaluation
    #: the one that judged
    task: TaskPack
    #: None unless a scorer asked for it
    course: Course | None


def examine(
    events: Log, *, task: TaskPack | None, relations: Relations | None = None, course: bool = False
) -> Examined | tuple[str, tuple[str, ...]]:
    """What scorers need of a whole log, with its course when that is asked for; or (reason, what is missing) when no
    metric can rest on it: no opening, events left out, no start of live interaction, no end, a fault or an
    interruption."""
    taken: list[tuple[int, Event]] | None = [] if course else None
    try:
        gaps: tuple[str, ...] = ()
        if isinstance(events, EventRuns):
            run = run_selected(events if taken is None else _Noting(events, taken), task=task, relations=relations)
        else:
            run, gaps = _fed(events, task=task, relations=relations, taken=taken)
    except NotOpenedError:
        return "the log does not open an episode", ("episode_opened",)
    if gaps:
        more = (f"{len(gaps) - _MAX_GAPS} more gaps",) if len(gaps) > _MAX_GAPS else ()
        return "events are missing", (*gaps[:_MAX_GAPS], *more)
    if run is None:
        return "the log is empty", ("episode_opened",)
    evaluation = run.evaluation()
    if evaluation.lacks:
        return "the episode is not whole and valid", evaluation.lacks
    return Examined(evaluation, run.task, None if taken is None else course_of(taken))


class _Noting:
    """A log that notes the events of its course while it is read for the checks: to read it again would be to verify
    all of it again."""

    def __init__(self, log: EventRuns, taken: list[tuple[int, Event]]) -> None:
        self._log, self._taken = log, taken

    def chunks(self) -> Iterator[EventRun]:
        return (_NotingRun(chunk, self._taken) for chunk in self._log.chunks())


class _NotingRun:
    def __init__(self, run: EventRun, taken: list[tuple[int, Event]]) -> None:
        self._run, self._taken = run, taken
        self.first, self.count = run.first, run.count

    def select(
        self, kinds: Collection[type[Event]], *, start: int = 0, stop: int | None = None
    ) -> list[tuple[int, Event]]:
        found = self._run.select({*kinds, *COURSE_KINDS}, start=start, stop=stop)
        self._taken += [pair for pair in found if type(pair[1]) in COURSE_KINDS]
        return found


def _fed(
    events: Iterable[Event | tuple[int, Event]],
    *,
    task: TaskPack | None,
    relations: Relations | None,
    taken: list[tuple[int, Event]] | None,
) -> tuple[CheckRun | None, tuple[str, ...]]:
    """The run over every event up to the first gap, and all gaps. `taken`: events of the course are added to it."""
    run: CheckRun | None = None
    state: WorldState | None = None
    gaps: list[str] = []
    expected = 0
    for position, item in enumerate(events):
        seq, event = item if isinstance(item, tuple) else (position, item)
        if seq != expected:
            gaps.append(f"events {expected}..{seq - 1}")
        expected = seq + 1
        if gaps:
            continue
        if run is None or state is None:
            if not isinstance(event, EpisodeOpened):
                raise NotOpenedError(type(event).__name__, seq=seq)
            state = WorldState(event.scene)
            run = CheckRun(task or event.task, event.scene, relations=relations)
        state.apply(event)
        run.feed(seq, event, state)
        if taken is not None and type(event) in COURSE_KINDS:
            taken.append((seq, event))
    return run, tuple(gaps)
