"""Can a log support a metric at all? If so, its evaluation."""

from __future__ import annotations

from collections.abc import Iterable

from iwreplay.checks import CheckRun, Evaluation, EventRuns, Relations, run_selected
from iwreplay.errors import NotOpenedError
from iwreplay.events import EpisodeOpened, Event
from iwreplay.taskpack.model import TaskPack
from iwreplay.world.state import WorldState

__all__ = ["Log", "examine"]

#: a whole log: events in order, (seq, event) pairs, or runs that build events on request
Log = Iterable[Event | tuple[int, Event]] | EventRuns

_MAX_GAPS = 20


def examine(
    events: Log, *, task: TaskPack | None, relations: Relations | None = None
) -> Evaluation | tuple[str, tuple[str, ...]]:
    """The evaluation of a whole log, or (reason, what is missing) when no metric can rest on it: no opening, events
    left out, no start of live interaction, no end, a fault or an interruption."""
    try:
        gaps: tuple[str, ...] = ()
        if isinstance(events, EventRuns):
            run = run_selected(events, task=task, relations=relations)
        else:
            run, gaps = _fed(events, task=task, relations=relations)
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
    return evaluation


def _fed(
    events: Iterable[Event | tuple[int, Event]], *, task: TaskPack | None, relations: Relations | None
) -> tuple[CheckRun | None, tuple[str, ...]]:
    """The run over every event up to the first gap, and all gaps."""
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
    return run, tuple(gaps)
