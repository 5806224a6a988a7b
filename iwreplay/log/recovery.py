"""A new log from a damaged one, with a statement of what is lost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from iwreplay.errors import EventError, LogCorruptError, LogError, LogIntactError, LogLockedError
from iwreplay.log.admission import Gate, admit
from iwreplay.log.audit import LogCheck, check
from iwreplay.log.batches import LoadedBatch, link_after
from iwreplay.log.chain import Chain
from iwreplay.log.files import WriterLock
from iwreplay.log.format import LostRange, Recovered
from iwreplay.log.parity import mended
from iwreplay.log.scan import Span, Structure, salvageable, scan
from iwreplay.log.upcasts import CURRENT, Lineage
from iwreplay.log.writer import LogWriter

__all__ = ["Recovery", "recover"]


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """What `recover` did."""

    #: the loss statement, as it is stored in the new log
    recovered: Recovered
    #: check of the new log
    check: LogCheck


def recover(path: Path | str, out: Path | str, *, lineage: Lineage = CURRENT) -> Recovery:
    """Writes every intact event of a damaged (or only unsealed) log to a new, sealed log.

    One damaged place of a sealed log is mended, and nothing is missing. Else kept are the intact events before the
    damage, and every later batch that is intact by its own checksum. Events are numbered from 0 again; the new log's
    loss statement (`LogReader.recovered`) gives the ranges kept and missing in the old numbers, and the damaged file's
    SHA-256. A log with missing ranges is never `complete`, and `state_at` refuses to fold across a gap. The damaged
    file is only read.

    Raises LogIntactError for a sealed log that is intact, LogError when no event is, LogLockedError while
    somebody writes the log, LogWriteError when ``out`` exists or the disk refuses; nothing is left behind then.
    """
    path, out = Path(path), Path(out)
    _refuse_while_written(path)
    before = check(path, lineage=lineage)
    if before.state == "sealed":
        raise LogIntactError(f"{path} is sealed and intact; there is nothing to recover, and nothing was written")
    with path.open("rb", buffering=0) as damaged:
        mend = mended(damaged)
        file = cast("BinaryIO", damaged if mend is None else mend)
        found = scan(file, newest=lineage.newest, name=str(path))
        version = found.version or lineage.newest
        kept = list(_survey(file, found, version, lineage))
        if not kept:
            raise LogError(f"{path} holds no intact event; nothing can be recovered from it")
        root = LoadedBatch.load(file, kept[-1].span, found.schema).meta.head
        statement = _statement(path, found, before, kept, root, mend=mend is not None)
        writer = LogWriter.create(out, recovered=statement)
        try:
            for piece in kept:
                loaded = LoadedBatch.load(file, piece.span, found.schema)
                events = loaded.events(version=version, lineage=lineage, stop=piece.count)
                walls = loaded.column("wall_ns").slice(0, piece.count).to_pylist()
                for event, wall in zip(events, walls, strict=True):
                    writer.append(event, wall_ns=wall)
            writer.seal()
        except BaseException:
            # half a recovery would pass for a whole one, and be in the way of the next
            writer.discard()
            raise
    return Recovery(recovered=statement, check=check(out))


@dataclass(frozen=True, slots=True)
class _Piece:
    """The first `count` events of a batch, which are kept."""

    span: Span
    count: int


def _survey(file: BinaryIO, found: Structure, version: int, lineage: Lineage) -> Iterator[_Piece]:
    """What can be kept, in order: under the hash chain as far as it holds, then batches that are intact by their
    own checksums."""
    chain, gate, before = Chain(), Gate(), None
    search_from = found.broken_at
    expect = 0
    for span in found.spans:
        try:
            loaded = LoadedBatch.load(file, span, found.schema)
        except LogCorruptError:
            # its length may be damaged too, so that the batches behind it are looked for from here
            search_from = span.offset + 8
            break
        intact = loaded.verify(chain, link_before=partial(link_after, file, before, found.schema))
        before = span
        count = _readable(loaded, intact, version, lineage, gate)
        if count:
            yield _Piece(span, count)
        expect = span.first + span.count
        if count < span.count:
            search_from = span.offset + span.length
            break
    if search_from is None:
        return
    for span in salvageable(file, found, start=search_from, expect=expect):
        try:
            loaded = LoadedBatch.load(file, span, found.schema)
        except LogCorruptError:
            continue
        count = _readable(loaded, span.count, version, lineage, gate)
        if count:
            yield _Piece(span, count)


def _readable(loaded: LoadedBatch, intact: int, version: int, lineage: Lineage, gate: Gate) -> int:
    """How many of the first `intact` events of a batch may enter a log, counted up to the first that may not."""
    for i in range(intact):
        try:
            (event,) = loaded.events(version=version, lineage=lineage, start=i, stop=i + 1)
            admit(event)
            gate.check(event)
        except EventError:
            return i
    return intact


def _statement(
    path: Path, found: Structure, before: LogCheck, kept: list[_Piece], root: str, *, mend: bool
) -> Recovered:
    """``root`` is the root hash after the last batch that is kept, as that says it."""
    runs: list[tuple[int, int]] = []
    gaps: list[int] = []
    # (seq in the damaged log, seq in the new log) at which each run begins
    starts: list[tuple[int, int]] = []
    new = 0
    for piece in kept:
        first, last = piece.span.first, piece.span.first + piece.count - 1
        if runs and runs[-1][1] + 1 == first:
            runs[-1] = (runs[-1][0], last)
        else:
            if first > 0:
                gaps.append(new)
            runs.append((first, last))
            starts.append((first, new))
        new += piece.count
    missing = list(_missing(found, runs, kept, root))
    earlier = found.recovered
    for gap in earlier.gaps if earlier is not None else ():
        gaps += _moved(gap, runs, starts)
    reason = before.problem.what if before.problem is not None else "never sealed"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Recovered(
        file_sha256=digest,
        name=path.name,
        size_bytes=found.size,
        state=before.state,
        reason=reason + ("; mended with the parity in its seal" if mend else ""),
        kept=tuple(runs),
        missing=tuple(missing),
        gaps=tuple(sorted(set(gaps))),
        lossless=not missing and (earlier is None or earlier.lossless),
        earlier=earlier,
    )


def _missing(found: Structure, runs: list[tuple[int, int]], kept: list[_Piece], root: str) -> Iterator[LostRange]:
    at = 0
    for first, last in runs:
        if first > at:
            yield LostRange(first=at, last=first - 1)
        at = last + 1
    # only a seal knows the number of events; what a damaged message says of itself is believed when it states the root
    # hash of the events that are there
    end, claimed = kept[-1], found.claimed
    if claimed is not None and len(runs) == 1 and (claimed.events, claimed.root) == (at, root):
        return
    if found.seal is not None:
        if found.seal.events > at:
            yield LostRange(first=at, last=found.seal.events - 1)
    elif end.count < end.span.count or end.span.offset + end.span.length < found.size:
        yield LostRange(first=at, last=None)


def _moved(gap: int, runs: list[tuple[int, int]], starts: list[tuple[int, int]]) -> list[int]:
    """Where a gap of the damaged log is in the new one: before the first kept event at or after it."""
    for (first, last), (_, new) in zip(runs, starts, strict=True):
        if gap <= last:
            return [new + max(0, gap - first)]
    return []


def _refuse_while_written(path: Path) -> None:
    """A log that is being written is not damaged. Looks at an existing lock only: nothing is made beside the log."""
    lock = WriterLock(path)
    if lock.path.exists():
        try:
            lock.acquire()
        except LogLockedError as e:
            raise LogLockedError(f"{path} is being written; recover it once its writer has ended") from e
        lock.release()
