"""The hash chain over events.

The root hash after event k is SHA-256 over the frames (see `canonical.frame`) of events 0..k in order. It is a
chain: each event's hash rests on every event before it, in SHA-256's own chaining. It depends on the events alone:
not on batches, compression, wall time or derived columns, so it is the same before and after compaction. Hashing
a batch takes one pass over a contiguous buffer, which is why the whole chain is verified on every read.

Beside it each event stores its *link*, the running CRC-32 of the same frames. It proves nothing, but it leads from
each event to the next, so that when the hash of a batch is wrong the change is found at the event that was changed.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from zlib import crc32

import numpy as np
import pyarrow as pa

from iwreplay.canonical import frame

__all__ = ["BatchFrames", "Chain", "first_broken", "links_of"]

#: number of values before an array, as it is hashed
_COUNT = struct.Struct("<Q").pack


@dataclass(frozen=True, slots=True)
class BatchFrames:
    """Views of the two hashed columns of a batch, without copies.

    ``lines`` are the canonical JSON lines end to end, ``line_ends[i]:line_ends[i+1]`` is event i. ``packed`` are the
    float64 bytes of all arrays end to end; event ``rows[j]`` has those from ``value_ends[j]`` to ``value_ends[j+1]``
    (counted in values).
    """

    lines: memoryview
    line_ends: list[int]
    packed: memoryview
    rows: list[int]
    value_ends: list[int]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> BatchFrames:
        """Views into a batch of our schema."""
        n = batch.num_rows
        events = batch.column("event")
        _, offsets_buf, data_buf = events.buffers()
        offsets = _int32s(offsets_buf, events.offset, n)
        lo, hi = (offsets[0], offsets[-1]) if n else (0, 0)
        lines = memoryview(data_buf)[lo:hi] if data_buf is not None and hi > lo else memoryview(b"")
        values = batch.column("values")
        rows: list[int] = []
        value_ends = [0]
        packed = memoryview(b"")
        if values.null_count < n:
            rows = _valid(values.buffers()[0], values.offset, n)
            ends = np.frombuffer(values.buffers()[1], dtype=np.int32)[values.offset : values.offset + n + 1]
            first, last = int(ends[0]), int(ends[-1])
            value_ends = [*(ends[rows] - first).tolist(), last - first]
            flat = values.values.slice(first, last - first).to_numpy()
            packed = memoryview(flat.byteswap() if sys.byteorder == "big" else flat).cast("B")
        return cls(lines, [o - lo for o in offsets] if lo else offsets, packed, rows, value_ends)

    def __len__(self) -> int:
        return len(self.line_ends) - 1

    def each(self) -> Iterator[bytes]:
        """Frame of every event in order."""
        arrays = dict(zip(self.rows, zip(self.value_ends, self.value_ends[1:], strict=False), strict=True))
        for i in range(len(self)):
            line = bytes(self.lines[self.line_ends[i] : self.line_ends[i + 1]])
            if i in arrays:
                a, b = arrays[i]
                yield frame(line, bytes(self.packed[8 * a : 8 * b]))
            else:
                yield line


class Chain:
    """Running root hash."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.count = 0

    def copy(self) -> Chain:
        """An independent chain that goes on from here."""
        new = Chain()
        new._hash, new.count = self._hash.copy(), self.count
        return new

    @property
    def root(self) -> str:
        """Root hash of all events so far, as 64 hexadecimal digits."""
        return self._hash.hexdigest()

    def add(self, line: bytes, packed: bytes | None) -> None:
        """One event."""
        self._hash.update(line)
        if packed is not None:
            self._hash.update(_COUNT(len(packed) // 8))
            self._hash.update(packed)
        self.count += 1

    def add_batch(self, frames: BatchFrames) -> None:
        """All events of a batch, in one pass: between the arrays, lines are taken as they lie."""
        lines, packed, rows, ends = frames.lines, frames.packed, frames.rows, frames.value_ends
        cuts = [frames.line_ends[row + 1] for row in rows]
        at = [8 * end for end in ends]
        pieces: list[bytes | memoryview] = [b""] * (3 * len(rows) + 1)
        pieces[:-1:3] = map(lines.__getitem__, map(slice, chain((0,), cuts), cuts))
        pieces[1::3] = [_COUNT(b - a) for a, b in pairwise(ends)]
        pieces[2::3] = map(packed.__getitem__, map(slice, at, at[1:]))
        pieces[-1] = lines[cuts[-1] :] if cuts else lines
        self._hash.update(b"".join(pieces))
        self.count += len(frames)

    def add_stream(self, frames: bytes, count: int) -> None:
        """Events, their frames end to end."""
        self._hash.update(frames)
        self.count += count


def links_of(frames: Iterable[bytes | memoryview], *, before: int) -> list[int]:
    """Running CRC-32 after each frame, going on from the link of the event before (0 at the start of a log)."""
    links = [before]
    # each link is made from the one before it, which the map reads out of the list that it fills
    links.extend(map(crc32, frames, links))
    del links[0]
    return links


def first_broken(frames: BatchFrames, links: Sequence[int], *, before: int) -> int | None:
    """Index of the first event of a batch to which the link before it does not lead, or None when all do."""
    for i, data in enumerate(frames.each()):
        if crc32(data, links[i - 1] if i else before) != links[i]:
            return i
    return None


def _valid(bitmap: pa.Buffer | None, offset: int, n: int) -> list[int]:
    """Rows that are not null. Read from the bitmap: Arrow's own answer imports its compute functions, a tenth of a
    second."""
    if bitmap is None:
        return list(range(n))
    bits = np.unpackbits(np.frombuffer(bitmap, dtype=np.uint8), bitorder="little")[offset : offset + n]
    rows: list[int] = np.flatnonzero(bits).tolist()
    return rows


def _int32s(buffer: pa.Buffer, offset: int, n: int) -> list[int]:
    """The n + 1 offsets of a variable-length column."""
    if n == 0 or buffer is None:
        return [0]
    offsets: list[int] = np.frombuffer(buffer, dtype=np.int32)[offset : offset + n + 1].tolist()
    return offsets
