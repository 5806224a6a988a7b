"""Is this log whole? The full audit, and sealing an open log from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from iwreplay.canonical import VALUES_TYPES, canonical_bytes, without_values
from iwreplay.errors import EventError, LogCorruptError
from iwreplay.events import EpisodeEnded, Event
from iwreplay.log.admission import Gate, explain_bad_line
from iwreplay.log.batches import LoadedBatch
from iwreplay.log.envelope import ENVELOPE, row_of
from iwreplay.log.files import WriterLock
from iwreplay.log.format import Recovered
from iwreplay.log.reader import LogReader, read_log
from iwreplay.log.scan import Problem, State
from iwreplay.log.sealing import compact
from iwreplay.log.upcasts import CURRENT, Lineage

__all__ = ["LogCheck", "check", "seal"]


class LogCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What `check` found. `msgspec.json.encode` of it is the command line's answer."""

    state: State
    #: intact events, from the first one on
    events: int
    #: root hash of a sealed or open log, None for a damaged one
    root_hash: str | None
    problem: Problem | None
    #: version that the log was written in, 0 when that is not readable
    format_version: int
    #: the last event ends the episode
    ended: bool
    #: sealed, and nothing was lost on the way (not a recovered log with gaps)
    complete: bool
    recovered: Recovered | None


def check(path: Path | str, *, lineage: Lineage = CURRENT) -> LogCheck:
    """Reads the whole log and audits everything in it; damage is in the answer, never raised.

    On top of what every reader verifies (checksums, order, hash chain, types): that each event is in canonical form,
    that the typed columns say what the events say, and that simulated time never decreases. Raises LogError when
    there is no such file and FormatTooNewError for a newer format.
    """
    with read_log(path, strict=False, lineage=lineage) as log:
        good, ended, gate = 0, False, Gate()
        problem: Problem | None = None
        for loaded, count in log.verified_batches(envelope=True):
            try:
                for event in _audited(log, loaded, count, gate, lineage):
                    good, ended = good + 1, isinstance(event, EpisodeEnded)
            except (EventError, LogCorruptError) as e:
                lost = f"events 0 to {good - 1} are intact" if good else "no intact event comes before it"
                problem = Problem(what=str(e), seq=good, offset=loaded.span.offset, lost=lost)
                break
        state: State = "corrupt" if problem is not None else log.state
        problem = problem or log.problem
        return LogCheck(
            state=state,
            events=good,
            root_hash=None if problem is not None else log.root_hash,
            problem=problem,
            format_version=log.format_version,
            ended=ended,
            complete=problem is None and log.complete,
            recovered=log.recovered,
        )


def seal(path: Path | str) -> LogCheck:
    """Seals an open log that nobody is writing (a recorder that was killed leaves one); gives its check.

    A sealed log is left as it is. Raises LogCorruptError for a damaged one (recover it instead), LogLockedError
    while somebody writes it, LogWriteError when the disk refuses.
    """
    path = Path(path)
    found = check(path)
    if found.state == "open":
        lock = WriterLock(path)
        lock.acquire()
        try:
            compact(path, recovered=found.recovered)
        except BaseException:
            lock.release()
            raise
        lock.release(remove=True)
        return check(path)
    if found.problem is not None:
        raise LogCorruptError(
            f"a {found.state} log cannot be sealed ({found.problem.what}); recover it to a new one",
            path=str(path),
            seq=found.problem.seq,
            offset=found.problem.offset,
        )
    return found


def _audited(log: LogReader, loaded: LoadedBatch, count: int, gate: Gate, lineage: Lineage) -> Iterator[Event]:
    """Events of a batch; raises at the first one that fails the audit, after those before it."""
    version = log.format_version
    try:
        events: list[Event] | None = loaded.events(version=version, lineage=lineage, stop=count)
    except EventError:
        events = None
    columns = zip(*(loaded.batch.column(name).to_pylist() for name in ENVELOPE), strict=True)
    for i, row in zip(range(count), columns, strict=False):
        seq = loaded.span.first + i
        event = loaded.events(version=version, lineage=lineage, start=i, stop=i + 1)[0] if events is None else events[i]
        gate.check(event)
        if version == lineage.newest:
            if canonical_bytes(without_values(event)) + b"\n" != loaded.line(i):
                raise explain_bad_line(loaded.line(i), seq)
            if (type(event) in VALUES_TYPES) != loaded.batch.column("values")[i].is_valid:
                raise EventError(f"event {seq} lacks its array or has one that its kind does not have")
            if row_of(event) != row:
                name = next(n for n, a, b in zip(ENVELOPE, row_of(event), row, strict=True) if a != b)
                raise EventError(f"column {name} of event {seq} is not what the event says")
        yield event
