"""Reading a log: streaming from the start, or from any event."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import pyarrow as pa

from iwreplay.errors import LogCorruptError, LogError
from iwreplay.events import EpisodeOpened, Event
from iwreplay.log.batches import LoadedBatch, link_after
from iwreplay.log.chain import Chain
from iwreplay.log.format import Recovered
from iwreplay.log.scan import Problem, Span, State, Structure, load, scan
from iwreplay.log.upcasts import CURRENT, Lineage
from iwreplay.log.wire import Header

__all__ = ["Chunk", "LogReader", "read_log"]

#: bytes of verified messages that a reader keeps until they are decoded: a whole episode, as a rule
_MOST_KEPT = 4 * 1024 * 1024


def read_log(path: Path | str, *, strict: bool = True, lineage: Lineage = CURRENT) -> LogReader:
    """Opens a log for reading; closes with `LogReader.close` or a ``with`` block.

    Opening reads message headers only. Everything that is read later is verified: checksums always, the hash chain
    when reading from the start. ``strict``: reading past damage raises LogCorruptError after the last intact event;
    otherwise it stops there. Raises LogError when there is no such file, FormatTooNewError for a newer format.
    """
    path = Path(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # opening a pipe would wait for somebody to write into it
            raise LogError(f"{path} is no file, so it is no log")
        file: BinaryIO = path.open("rb", buffering=0)
    except FileNotFoundError as e:
        raise LogError(
            f"cannot open log {path}: there is no such file; its recorder ended before any event was safe"
        ) from e
    except (OSError, ValueError) as e:
        raise LogError(f"cannot open log {path}: {getattr(e, 'strerror', None) or e}") from e
    try:
        return LogReader(file, name=str(path), strict=strict, lineage=lineage)
    except BaseException:
        file.close()
        raise


class Chunk:
    """A verified run of consecutive events."""

    __slots__ = ("_lineage", "_loaded", "_version", "count", "first")

    def __init__(self, loaded: LoadedBatch, count: int, *, version: int, lineage: Lineage) -> None:
        self._loaded, self._version, self._lineage = loaded, version, lineage
        #: seq of its first event, and number of its events
        self.first, self.count = loaded.span.first, count

    def select(
        self, kinds: Collection[type[Event]], *, start: int = 0, stop: int | None = None
    ) -> list[tuple[int, Event]]:
        """(seq, event) of every event of these kinds from the `start`-th of the run to the `stop`-th (its end).
        Raises EventError for one that can't be read."""
        stop = self.count if stop is None else min(stop, self.count)
        return self._loaded.select(kinds, version=self._version, lineage=self._lineage, start=start, stop=stop)


class LogReader:
    """An episode's log. Iterating gives ``(seq, event)``; memory is bounded by one batch
    and 4 MiB. For one thread at a time."""

    def __init__(self, file: BinaryIO, *, name: str = "", strict: bool = True, lineage: Lineage = CURRENT) -> None:
        """``file`` is any seekable binary file; use `read_log` for a path."""
        self.name, self.strict = name, strict
        self._file, self._lineage = file, lineage
        self._found: Structure = scan(file, newest=lineage.newest, name=name)
        if self._found.problem is None and self._found.version < lineage.oldest:
            raise LogError(f"log format {self._found.version} is older than {lineage.oldest}, the oldest read: {name}")
        self._verified = self._found.problem is not None
        self._opened: EpisodeOpened | None = None
        self._last: LoadedBatch | None = None
        #: messages that were verified and not decoded yet, by offset
        self._messages: dict[int, tuple[bytes, Header]] = {}

    @property
    def state(self) -> State:
        """sealed, open, truncated or corrupt. The first use verifies the checksum of every batch."""
        self._verify_bytes()
        return self._found.state

    @property
    def problem(self) -> Problem | None:
        """What is wrong, where and what is lost; None for a sealed or open log. Verifies as `state` does."""
        self._verify_bytes()
        return self._found.problem

    @property
    def format_version(self) -> int:
        """Version that the log was written in, 0 when that is not readable."""
        return self._found.version

    @property
    def recovered(self) -> Recovered | None:
        """What a recovery could and could not keep; None for a log that was recorded as it is."""
        return self._found.recovered

    @property
    def complete(self) -> bool:
        """Sealed, and nothing was lost on the way: metrics over a whole episode may rest on it."""
        return self.state == "sealed" and (self.recovered is None or self.recovered.lossless)

    @property
    def root_hash(self) -> str | None:
        """Root hash of a sealed or open log, None for a damaged one.

        Of a sealed log it is the one in its seal, which reading from the start verifies."""
        if self.state not in ("sealed", "open"):
            return None
        if self._found.seal is not None:
            return self._found.seal.root
        if not self._found.spans:
            return Chain().root
        return self._load(self._found.spans[-1]).meta.head

    @property
    def sealed_root(self) -> str | None:
        """Root hash that the seal states, None without a seal. Read from the end of the file: nothing is verified."""
        return None if self._found.seal is None else self._found.seal.root

    def __len__(self) -> int:
        """Events that the structure holds (before any damage of it)."""
        return self._found.events

    def __iter__(self) -> Iterator[tuple[int, Event]]:
        for loaded, count in self.verified_batches():
            events = loaded.events(version=self._found.version, lineage=self._lineage, stop=count)
            yield from zip(range(loaded.span.first, loaded.span.first + count), events, strict=True)

    def events(self) -> Iterator[Event]:
        """All events in order."""
        for loaded, count in self.verified_batches():
            yield from loaded.events(version=self._found.version, lineage=self._lineage, stop=count)

    def chunks(self) -> Iterator[Chunk]:
        """All events in order, in runs whose events are built on request. Each run is verified as `events` are, whole,
        before it is given; an event that is never asked for is verified, but not read as an event of its kind."""
        for loaded, count in self.verified_batches():
            yield Chunk(loaded, count, version=self._found.version, lineage=self._lineage)

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """The columns of all events in order, verified as events are: for projections and queries."""
        for loaded, count in self.verified_batches(envelope=True):
            yield loaded.batch.slice(0, count)

    def table(self) -> pa.Table:
        """`record_batches` as one table. LogCorruptError for a damaged log, LogError for one without events."""
        batches = list(self.record_batches())
        if not batches:
            raise LogError(f"there is no event in {self.name}, so it is no table")
        return pa.Table.from_batches(batches).replace_schema_metadata(None)

    def verified_batches(self, *, envelope: bool = False) -> Iterator[tuple[LoadedBatch, int]]:
        """Batches in order with the number of their events that are intact, verified by checksum and hash chain.

        ``envelope`` loads the derived columns too. A strict reader raises LogCorruptError after what is intact."""
        chain, before = Chain(), None
        for span in self._found.spans:
            try:
                loaded = self._loaded(span, envelope=envelope)
            except LogCorruptError as e:
                self._damage(e.problem, span, seq=span.first)
                break
            intact = loaded.verify(chain, link_before=partial(link_after, self._file, before, self._found.schema))
            if intact < span.count:
                seq = span.first + intact
                self._damage("an event is not the one that was written (hash chain)", span, seq=seq)
                if intact:
                    yield loaded, intact
                break
            before = span
            yield loaded, intact
        else:
            seal = self._found.seal
            if seal is not None and (seal.root != chain.root or seal.events != chain.count):
                self._damage("the seal states another root hash or count than its events have", None, seq=None)
            self._verified = True
        problem = self._found.problem
        if problem is not None and self.strict:
            raise LogCorruptError(
                f"log is {self._found.state}: {problem.what} ({problem.lost}); recover what is intact to a new log",
                path=self.name,
                seq=problem.seq,
                offset=problem.offset,
            )

    def seek(self, seq: int) -> Iterator[tuple[int, Event]]:
        """Events from ``seq`` on, reading only the batches that hold them.

        Each batch is verified by its checksum (in a sealed log against the seal's index); the hash chain is verified
        only when reading from the start. IndexError when there is no such event, LogCorruptError for a damaged batch.
        """
        at = self._span_at(seq)
        for span in self._found.spans[at:]:
            start = max(0, seq - span.first)
            events = self._load(span).events(version=self._found.version, lineage=self._lineage, start=start)
            yield from zip(range(span.first + start, span.first + span.count), events, strict=True)

    def between(self, first: int, last: int) -> list[Event]:
        """Events ``first`` to ``last``, both included; decodes no others. Raises as `seek` does."""
        if not 0 <= first <= last < len(self):
            raise IndexError(f"events {first} to {last} of a log with {len(self)}")
        out: list[Event] = []
        for span in self._found.spans[self._span_at(first) :]:
            if span.first > last:
                break
            out += self._load(span).events(
                version=self._found.version,
                lineage=self._lineage,
                start=max(0, first - span.first),
                stop=min(span.count, last + 1 - span.first),
            )
        return out

    def select_between(self, kinds: Collection[type[Event]], first: int, last: int) -> list[tuple[int, Event]]:
        """(seq, event) of every event of these kinds from ``first`` to ``last``, both included; decodes no others.
        Raises as `seek` does."""
        if not 0 <= first <= last < len(self):
            raise IndexError(f"events {first} to {last} of a log with {len(self)}")
        out: list[tuple[int, Event]] = []
        for span in self._found.spans[self._span_at(first) :]:
            if span.first > last:
                break
            out += self._load(span).select(
                kinds,
                version=self._found.version,
                lineage=self._lineage,
                start=max(0, first - span.first),
                stop=min(span.count, last + 1 - span.first),
            )
        return out

    def last_between(self, kind: type[Event], first: int, last: int) -> tuple[int, Event] | None:
        """(seq, event) of the last event of a kind from ``first`` to ``last``, or None. Raises as `seek` does."""
        if not 0 <= first <= last < len(self):
            raise IndexError(f"events {first} to {last} of a log with {len(self)}")
        for span in reversed(self._found.spans[self._span_at(first) : self._span_at(last) + 1]):
            start, stop = max(0, first - span.first), min(span.count, last + 1 - span.first)
            i = self._load(span).last(kind, version=self._found.version, lineage=self._lineage, start=start, stop=stop)
            if i is not None:
                return span.first + i, self.at_seq(span.first + i)
        return None

    def at_seq(self, seq: int) -> Event:
        """One event. Raises as `seek` does."""
        span = self._found.spans[self._span_at(seq)]
        i = seq - span.first
        return self._load(span).events(version=self._found.version, lineage=self._lineage, start=i, stop=i + 1)[0]

    def wall_ns(self, seq: int) -> int:
        """Wall time at which an event was appended, nanoseconds since 1970; 0 when it was not known."""
        span = self._found.spans[self._span_at(seq)]
        wall: int = self._load(span).column("wall_ns")[seq - span.first].as_py()
        return wall

    def opened(self) -> EpisodeOpened:
        """The first event. Raises LogError when the log does not begin with one that opens an episode."""
        if self._opened is None:
            first = self.at_seq(0) if len(self) else None
            if not isinstance(first, EpisodeOpened):
                raise LogError(f"the log does not begin with episode_opened: {self.name}")
            self._opened = first
        return self._opened

    def snapshot_before(self, seq: int) -> int | None:
        """Seq of the last world snapshot at or before an event, or None. Read from batch metadata."""
        for span in reversed(self._found.spans[: self._span_at(seq) + 1]):
            at = max((s for s in span.snapshots if s <= seq), default=None)
            if at is not None:
                return at
        return None

    def gap_before(self, seq: int) -> int | None:
        """Seq of the last event at or before ``seq`` that follows a gap of a recovered log, or None."""
        gaps = () if self.recovered is None else self.recovered.gaps
        return max((g for g in gaps if g <= seq), default=None)

    def close(self) -> None:
        """Closes the file; again is harmless."""
        self._messages.clear()
        self._file.close()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _span_at(self, seq: int) -> int:
        spans = self._found.spans
        if not 0 <= seq < len(self):
            raise IndexError(f"event {seq} of a log with {len(self)}")
        lo, hi = 0, len(spans) - 1
        while lo < hi:
            mid = (lo + hi + 1) // 2
            lo, hi = (mid, hi) if spans[mid].first <= seq else (lo, mid - 1)
        return lo

    def _load(self, span: Span) -> LoadedBatch:
        """The batch, or the one that was used last."""
        if self._last is None or self._last.span is not span:
            self._last = self._loaded(span)
        return self._last

    def _loaded(self, span: Span, *, envelope: bool = False) -> LoadedBatch:
        message = self._messages.pop(span.offset, None)
        return LoadedBatch.load(self._file, span, self._found.schema, envelope=envelope, message=message)

    def _verify_bytes(self) -> None:
        if self._verified:
            return
        self._verified = True
        room = _MOST_KEPT
        for span in self._found.spans:
            try:
                message = load(self._file, span)
                if span.length <= room:
                    self._messages[span.offset] = message
                    room -= span.length
            except LogCorruptError as e:
                self._damage(e.problem, span, seq=span.first)
                return

    def _damage(self, what: str, span: Span | None, *, seq: int | None) -> None:
        """Remembers damage that the structure did not show; an earlier place of damage wins."""
        known = self._found.problem
        if known is not None and known.seq is not None and seq is not None and known.seq <= seq:
            return
        if seq is None:
            lost = f"all {len(self)} events agree with each other; which seal belongs to them is unknown"
        else:
            lost = f"events 0 to {seq - 1} are intact" if seq else "no intact event comes before it"
            if span is not None and span.offset + span.length < self._found.size:
                lost += "; batches behind the damage may be intact, `recover` keeps those that are"
        self._found.state, self._verified = "corrupt", True
        offset = None if span is None else span.offset
        self._found.problem = Problem(what=what, seq=seq, offset=offset, lost=lost)
