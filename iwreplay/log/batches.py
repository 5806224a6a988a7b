"""From a verified message to typed events."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, BinaryIO, cast

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import force_setattr

from iwreplay.canonical import VALUES_TYPES, canonical_bytes, unpack_values, values_reader
from iwreplay.errors import EventError, LogCorruptError
from iwreplay.events import EVENT_TYPES, AnyEvent, EpisodeOpened, Event
from iwreplay.log.admission import explain_bad_line
from iwreplay.log.chain import BatchFrames, Chain, first_broken
from iwreplay.log.format import META_KEY, BatchMeta
from iwreplay.log.scan import Span, load
from iwreplay.log.upcasts import Lineage
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import TaskPack

__all__ = ["LoadedBatch"]

_DECODER = msgspec.json.Decoder(AnyEvent)
#: columns that the events are read from; decompressing the others costs as much again
_CORE = ("seq", "wall_ns", "link", "event", "values")
#: how the line of each kind begins, cut to one length that tells all of them apart
_HEAD = 9 + max(len(str(t.__struct_config__.tag)) for t in EVENT_TYPES) + 1
_HEADS: dict[type[Event], bytes] = {
    t: f'{{"kind":"{t.__struct_config__.tag}","sim_time_s":'.encode()[:_HEAD] for t in EVENT_TYPES
}


class LoadedBatch:
    """One batch of a log, its bytes verified against the digest."""

    __slots__ = ("batch", "frames", "meta", "span")

    def __init__(self, span: Span, meta: BatchMeta, batch: pa.RecordBatch) -> None:
        self.span, self.meta, self.batch = span, meta, batch
        self.frames = BatchFrames.of(batch)

    @classmethod
    def load(cls, file: BinaryIO, span: Span, schema: pa.Schema, *, envelope: bool = False) -> LoadedBatch:
        """Reads and verifies one batch; all columns with ``envelope``, else those that events are read from.

        Raises LogCorruptError."""
        raw, header = load(file, span)
        try:
            meta = msgspec.json.decode(header.custom[META_KEY], type=BatchMeta)
            batch = _decode(raw, schema, tuple(schema.names) if envelope else _CORE)
        except (KeyError, msgspec.MsgspecError, pa.ArrowException, OSError) as e:
            raise LogCorruptError(f"unreadable batch: {e}", seq=span.first, offset=span.offset) from e
        if (meta.first, meta.count) != (span.first, span.count) or batch.num_rows != span.count:
            raise LogCorruptError("a batch holds other events than its index says", seq=span.first, offset=span.offset)
        loaded = cls(span, meta, batch)
        loaded._check_order()
        return loaded

    def _check_order(self) -> None:
        first, n = self.span.first, self.span.count
        if not np.array_equal(np.asarray(self.batch.column("seq")), np.arange(first, first + n)):
            raise LogCorruptError("seqs are not consecutive", seq=first, offset=self.span.offset)

    def verify(self, chain: Chain, *, link_before: int) -> int:
        """Takes the batch into the chain; gives how many of its events agree with it (all, if it is intact).

        After a break `chain` is useless. A break that no link shows (somebody mended the links, or changed the head
        itself) is blamed on the first event of the batch, because any of them may be the changed one."""
        chain.add_batch(self.frames)
        if chain.root == self.meta.head:
            return self.span.count
        return first_broken(self.frames, self.links(), before=link_before) or 0

    def links(self) -> list[int]:
        """Links of all events."""
        links: list[int] = self.batch.column("link").to_pylist()
        return links

    @property
    def last_link(self) -> int:
        """Link of the last event."""
        link: int = self.batch.column("link")[self.span.count - 1].as_py()
        return link

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
        passed = {head for kind, head in _HEADS.items() if kind not in kinds}
        lines, ends = bytes(self.frames.lines), self.frames.line_ends
        begins = ends[start:stop]
        heads = map(lines.__getitem__, map(slice, begins, [b + _HEAD for b in begins]))
        rows = [i for i, head in enumerate(heads, start) if head not in passed]
        events = self._typed(b"".join([lines[ends[i] : ends[i + 1]] for i in rows]), rows)
        first = self.span.first
        return [(first + i, e) for i, e in zip(rows, events, strict=True)]

    def _typed(self, lines: bytes | memoryview, rows: Sequence[int]) -> list[Event]:
        """Events from their lines end to end; ``rows`` are their places in the batch, in order."""
        try:
            events = cast("list[Event]", _DECODER.decode_lines(lines))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise self._culprit(rows) from None
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
            for row, event in zip(rows, events, strict=True):
                # its nested structs ignore unknown fields, so what was read must be all that was written
                if type(event) is EpisodeOpened and not _share(event, self.line(row)):
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


#: task and scene of the latest openings: many logs of one task are read one after the other, and what is worked out
#: for a scene is kept with the object
_SHARED: dict[tuple[str, str, int], tuple[TaskPack, CompiledScene]] = {}
_MOST_SHARED = 16


def _share(event: EpisodeOpened, line: bytes) -> bool:
    """Gives the opening the task and scene objects of an earlier one, when the line says that they are the same to
    the byte. False when the line is not what this event is written as."""
    key = (event.scene_hash, event.task.id, event.task.version)
    own = (event.task, event.scene)
    known = _SHARED.get(key)
    if known is not None:
        _put(event, known)
        if canonical_bytes(event) + b"\n" == line:
            return True
        _put(event, own)
    if canonical_bytes(event) + b"\n" != line:
        return False
    if len(_SHARED) >= _MOST_SHARED:
        _SHARED.clear()
    _SHARED[key] = own
    return True


def _put(event: EpisodeOpened, parts: tuple[TaskPack, CompiledScene]) -> None:
    force_setattr(event, "task", parts[0])
    force_setattr(event, "scene", parts[1])


def _decode(raw: bytes, schema: pa.Schema, names: tuple[str, ...]) -> pa.RecordBatch:
    """The batch in a message, with the named columns only. One thread: its batches are too small for more."""
    fields = [schema.get_field_index(n) for n in names]
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    with pa.ipc.open_stream(pa.BufferReader(schema.serialize().to_pybytes() + raw), options=options) as stream:
        return stream.read_next_batch()
