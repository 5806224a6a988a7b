"""The state of the world at any event, without folding from the start."""

from __future__ import annotations

import bisect
from operator import itemgetter
from pathlib import Path

from iwreplay.errors import LogCorruptError, LogError
from iwreplay.events import WorldSnapshot
from iwreplay.log.reader import LogReader, read_log
from iwreplay.world.state import FOLDED_KINDS, LATEST_COUNTS, WorldState

__all__ = ["state_at"]


def state_at(log: LogReader | Path | str, seq: int) -> WorldState:
    """The world just after event ``seq``: the same as folding every event from 0 to ``seq``.

    Starts from the last world snapshot at or before it and folds what follows; reads the batches that hold those
    events and no others. They are verified by checksum, not by the hash chain (`check` does that). Give an open
    reader when asking more than once. Raises IndexError when there is no such event, LogCorruptError for a damaged
    batch, LogError when the log opens no episode or when events are missing between the last snapshot and ``seq``
    (a recovered log), because then nobody knows the state.
    """
    if not isinstance(log, LogReader):
        with read_log(log) as reader:
            return state_at(reader, seq)
    start = log.snapshot_before(seq)
    gap = log.gap_before(seq)
    if gap is not None and (start is None or start < gap):
        raise LogError(
            f"the state at event {seq} is unknown: events are missing before event {gap} of this recovered log and no "
            f"world snapshot follows them up to there: {log.name}"
        )
    state = WorldState(log.opened().scene)
    first = 0 if start is None else start
    events = log.select_between(FOLDED_KINDS.difference(LATEST_COUNTS), first, seq)
    if start is not None and not (events and events[0][0] == start and isinstance(events[0][1], WorldSnapshot)):
        raise LogCorruptError("batch metadata names a snapshot where there is none", path=log.name, seq=start)
    for kind in LATEST_COUNTS:
        latest = log.last_between(kind, first, seq)
        if latest is not None:
            bisect.insort(events, latest, key=itemgetter(0))
    for _, event in events:
        state.apply(event)
    if not events or events[-1][0] < seq:
        # a kind that is not folded, but time, turn and phase are those of the last event
        state.apply(log.at_seq(seq))
    return state
