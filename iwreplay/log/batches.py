"""From a verified message to typed events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, BinaryIO, cast

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import force_setattr

from iwreplay.canonical import VALUES_TYPES, unpack_values, values_reader
from iwreplay.errors import EventError, LogCorruptError
from iwreplay.events import AnyEvent, EpisodeOpened, Event
from iwreplay.log.admission import explain_bad_line
from iwreplay.log.chain import BatchFrames, Chain, first_broken
from iwreplay.log.format import META_KEY, BatchMeta
from iwreplay.log.heads import rows_of
from iwreplay.log.openings import read_shared, share
from iwreplay.log.scan import Span, load
from iwreplay.log.upcasts import Lineage
from iwreplay.log.wire import Header

__all__ = ["LoadedBatch", "link_after"]

_DECODER = msgspec.json.Decoder(AnyEvent)
#: columns that the events are read from; decompressing another one takes as long as ten events
_CORE = ("event", "values")


class LoadedBatch:
    """One batch of a log, its bytes verified against the digest."""

    __slots__ = ("_raw", "_schema", "batch", "frames", "meta", "span")

    def __init__(self, span: Span, meta: BatchMeta, batch: pa.RecordBatch, raw: bytes, schema: pa.Schema) -> None:
        self.span, self.meta, self.batch = span, meta, batch
        self._raw, self._schema = raw, schema
        self.frames = BatchFrames.of(batch)

    @classmethod
    def load(
        cls,
        file: BinaryIO,
        span: Span,
        schema: pa.Schema,
        *,
        envelope: bool = False,
        message: tuple[bytes, Header] | None = None,
    ) -> LoadedBatch:
        """Reads and verifies one batch; all columns with ``envelope``, else those that events are read from.

        ``message`` is the span's message when it was read and verified already. Raises LogCorruptError."""
        raw, header = message or load(file, span)
        try:
            meta = msgspec.json.decode(header.custom[META_KEY], type=BatchMeta)
            batch = _decode(raw, schema, tuple(schema.names) if envelope else _CORE)
        except (KeyError, msgspec.MsgspecError, pa.ArrowException, OSError) as e:
            raise LogCorruptError(f"unreadable batch: {e}", seq=span.first, offset=span.offset) from e
        if (meta.first, meta.count) != (span.first, span.count) or batch.num_rows != span.count:
            raise LogCorruptError("a batch holds other events than its index says", seq=span.first, offset=span.offset)
        if envelope:
            seqs = np.arange(span.first, span.first + span.count)
            if not np.array_equal(np.asarray(batch.column("seq")), seqs):
                raise LogCorruptError("seqs are not consecutive", seq=span.first, offset=span.offset)
        return cls(span, meta, batch, raw, schema)

    def column(self, name: str) -> pa.Array:
        """A column of the batch, decoded now if it was not loaded."""
        if name in self.batch.schema.names:
            return self.batch.column(name)
        return _decode(self._raw, self._schema, (name,)).column(0)

    def verify(self, chain: Chain, *, link_before: Callable[[], int]) -> int:
        """Takes the batch into the chain; gives how many of its events agree with it (all, if it is intact).

        ``link_before`` gives the link of the event before, and is asked only when something is wrong. After a break
        `chain` is useless. A break that no link shows (somebody mended the links, or changed the head itself) is
        blamed on the first event of the batch, because any of them may be the changed one."""
        chain.add_batch(self.frames)
        if chain.root == self.meta.head:
            return self.span.count
        return first_broken(self.frames, self.links(), before=link_before()) or 0

    def links(self) -> list[int]:
        """Links of all events."""
        links: list[int] = self.column("link").to_pylist()
        return links

    def line(self, i: int) -> bytes:
        """Canonical JSON line of the i-th event of the batch."""
        f = self.frames
        return bytes(f.lines[f.line_ends[i] : f.line_ends[i + 1]])

    def events(self, *, version: int, lineage: Lineage, start: int = 0, stop: int | None = None) -> list[Event]:
        """Typed events `start` to `stop` of the batch. Raises EventError that names seq and kind."""
        stop = self.span.count if stop is None else stop
        if version != lineage.newest:
            return self._upcast(version, lineage, range(start, stop))
        f = self.frames
        return self._typed(f.lines[f.line_ends[start] : f.line_ends[stop]], range(start, stop))

    def select(
        self, kinds: Collection[type[Event]], *, version: int, lineage: Lineage, start: int, stop: int
    ) -> list[tuple[int, Event]]:
        """Events `start` to `stop` of some kinds, with their seqs. Events that are not asked for are not decoded; one
        whose line does not begin with its kind as canonical JSON does is. Raises as `events` does."""
        if version != lineage.newest:
            every = self._upcast(version, lineage, range(start, stop))
            return [(self.span.first + start + i, e) for i, e in enumerate(every) if type(e) in kinds]
        lines, ends = bytes(self.frames.lines), self.frames.line_ends
        rows = [start + i for i in rows_of(kinds, lines, ends[start:stop])]
        events = self._typed(b"".join([lines[ends[i] : ends[i + 1]] for i in rows]), rows)
        first = self.span.first
        return [(first + i, e) for i, e in zip(rows, events, strict=True)]

    def last(self, kind: type[Event], *, version: int, lineage: Lineage, start: int, stop: int) -> int | None:
        """Place of the last event of a kind among events `start` to `stop`, or None."""
        if version != lineage.newest:
            found = self.select((kind,), version=version, lineage=lineage, start=start, stop=stop)
            return found[-1][0] - self.span.first if found else None
        f = self.frames
        rows = rows_of((kind,), bytes(f.lines), f.line_ends[start:stop])
        # a line that does not begin as canonical JSON does may be of any kind
        for i in reversed(rows):
            if type(self.events(version=version, lineage=lineage, start=start + i, stop=start + i + 1)[0]) is kind:
                return start + i
        return None

    def _typed(self, lines: bytes | memoryview, rows: Sequence[int]) -> list[Event]:
        """Events from their lines end to end; ``rows`` are their places in the batch, in order."""
        shared = read_shared(self.line(0)) if self.span.first == 0 and rows and rows[0] == 0 else None
        if shared is not None:
            lines = lines[self.frames.line_ends[1] :]
        try:
            events = cast("list[Event]", _DECODER.decode_lines(lines))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise self._culprit(rows) from None
        if shared is not None:
            events.insert(0, shared)
        if len(events) != len(rows):
            raise self._culprit(rows)
        f = self.frames
        if f.rows:
            packed, ends, place = f.packed, f.value_ends, dict(zip(f.rows, range(len(f.rows)), strict=True))
            for row, event in zip(rows, events, strict=True):
                j = place.get(row)
                if j is None:
                    continue
                if type(event) not in VALUES_TYPES or cast("Any", event).values:
                    raise EventError(f"event {self.span.first + row} has an array that its kind does not have")
                a = ends[j]
                force_setattr(event, "values", values_reader(ends[j + 1] - a)(packed, 8 * a))
        if self.span.first == 0:
            for row, opening in [(r, e) for r, e in zip(rows, events, strict=True) if type(e) is EpisodeOpened]:
                # its nested structs ignore unknown fields, so what was read must be all that was written
                if opening is not shared and not share(opening, self.line(row)):
                    raise explain_bad_line(self.line(row), row)
        return events

    def _array(self, j: int) -> tuple[float, ...]:
        a, b = self.frames.value_ends[j], self.frames.value_ends[j + 1]
        return unpack_values(self.frames.packed[8 * a : 8 * b])

    def _culprit(self, rows: Sequence[int]) -> EventError:
        for i in rows:
            line = self.line(i)
            try:
                _DECODER.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                return explain_bad_line(line, self.span.first + i)
            if line.count(b"\n") != 1 or not line.endswith(b"\n"):
                return EventError(f"event {self.span.first + i} is not exactly one line of JSON")
        raise AssertionError("every line alone is an event")

    def _upcast(self, version: int, lineage: Lineage, rows: Sequence[int]) -> list[Event]:
        arrays = {row: j for j, row in enumerate(self.frames.rows)}
        events: list[Event] = []
        for i in rows:
            line = self.line(i)
            try:
                raw = msgspec.json.decode(line, type=dict[str, Any])
                if i in arrays:
                    raw["values"] = list(self._array(arrays[i]))
                event = msgspec.convert(lineage.upcast(raw, version=version), AnyEvent)
            except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as e:
                seq = self.span.first + i
                raise EventError(f"event {seq} of log format {version} cannot be read as {lineage.newest}: {e}") from e
            events.append(cast("Event", event))
        return events


def link_after(file: BinaryIO, span: Span | None, schema: pa.Schema) -> int:
    """Link of the last event of a batch, 0 when there is none. Raises as `LoadedBatch.load`."""
    return 0 if span is None else LoadedBatch.load(file, span, schema).links()[-1]


def _decode(raw: bytes, schema: pa.Schema, names: tuple[str, ...]) -> pa.RecordBatch:
    """The batch in a message, with the named columns only. One thread: its batches are too small for more."""
    fields = [schema.get_field_index(n) for n in names]
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    with pa.ipc.open_stream(pa.BufferReader(schema.serialize().to_pybytes() + raw), options=options) as stream:
        return stream.read_next_batch()
