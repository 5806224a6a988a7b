"""Messages as bytes: Arrow batches with our metadata and digest, the seal and the trailer."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from iwreplay.log.envelope import ENVELOPE
from iwreplay.log.format import (
    DIGEST_KEY,
    EOS,
    FORMAT_VERSION,
    META_KEY,
    PARITY_KEY,
    PLACEHOLDER,
    RECOVERY_KEY,
    SCHEMA,
    SEAL_KEY,
    VERSION_KEY,
    BatchMeta,
    ParityMeta,
    Recovered,
    SealMeta,
    schema_with,
)
from iwreplay.log.wire import PREFIX_BYTES, digest_of, parse_header, parse_prefix

__all__ = [
    "TRAILER_BYTES",
    "TRAILER_MAGIC",
    "MessageWriter",
    "build_batch",
    "schema_message",
    "trailer",
    "trailer_digest",
]

#: bytes that Arrow may write beside the batch itself
_ROOM = 64 * 1024
_PLAIN_SCHEMA_BYTES = len(SCHEMA.serialize())
TRAILER_MAGIC = b"IWSEAL\r\n"
#: magic, offset of the seal message, size of the file, SHA-256
TRAILER_BYTES = 8 + 8 + 8 + 32


def schema_message(recovered: Recovered | None = None) -> tuple[bytes, str]:
    """The first message of a log, and its digest."""
    meta = {VERSION_KEY: str(FORMAT_VERSION)}
    if recovered is not None:
        meta[RECOVERY_KEY] = msgspec.json.encode(recovered).decode()
    raw = bytearray(schema_with({**meta, DIGEST_KEY: PLACEHOLDER}).serialize().to_pybytes())
    digest = _put_digest(memoryview(raw))
    return bytes(raw), digest


class MessageWriter:
    """Encodes batches with Arrow. ``compress`` is for sealed logs; an open log is not compressed."""

    def __init__(self, *, compress: bool) -> None:
        codec = pa.Codec("zstd", compression_level=1) if compress else None
        self._options = pa.ipc.IpcWriteOptions(compression=codec, use_threads=False)
        #: messages are made in the same memory one after the other: fresh memory costs more than the making
        self._memory = bytearray()

    def batch(self, batch: pa.RecordBatch, meta: BatchMeta) -> tuple[memoryview, str]:
        """One data message, and its digest. Its bytes are good until the next message is made."""
        return self._encode(batch, {META_KEY: msgspec.json.encode(meta).decode()})

    def seal(self, meta: SealMeta, parity: ParityMeta) -> tuple[memoryview, str]:
        """The last message, which has no rows, and its digest."""
        words = {SEAL_KEY: msgspec.json.encode(meta).decode(), PARITY_KEY: msgspec.json.encode(parity).decode()}
        return self._encode(_EMPTY, words)

    def _encode(self, batch: pa.RecordBatch, words: dict[str, str]) -> tuple[memoryview, str]:
        size = pa.ipc.get_record_batch_size(batch)
        # what Arrow adds: our metadata, its own schema, and a few bytes for each buffer when it compresses
        room = size + size // 64 + sum(map(len, words.values())) + _ROOM
        if len(self._memory) < room:
            # never resized: the message before may still be in use
            self._memory = bytearray(room + room // 4)
        sink = pa.FixedSizeBufferWriter(pa.py_buffer(self._memory))
        writer = pa.ipc.new_stream(sink, SCHEMA, options=self._options)
        writer.write_batch(batch, custom_metadata={**words, DIGEST_KEY: PLACEHOLDER})
        # Arrow's schema comes first; ours carries other metadata and is written apart
        message = memoryview(self._memory)[_PLAIN_SCHEMA_BYTES : sink.tell()]
        return message, _put_digest(message)


_EMPTY = pa.RecordBatch.from_arrays([pa.array([], f.type) for f in SCHEMA], schema=SCHEMA)


_NAMES = SCHEMA.names
_VALUES = SCHEMA.field("values").type
#: derived columns by type: those of one type are made as one array and cut, because each array has its price
_TOGETHER = [
    (kind, [i for i, name in enumerate(ENVELOPE) if SCHEMA.field(name).type == kind])
    for kind in (pa.float64(), pa.int64(), pa.utf8())
]


def build_batch(
    *,
    first: int,
    wall_ns: list[int],
    cells: list[Any],
    lines: list[bytes],
    joined: bytes,
    packed: dict[int, bytes],
    links: list[int],
) -> pa.RecordBatch:
    """A batch of the log's schema, one event a line. ``lines`` end in a newline, ``joined`` are the same end to end;
    ``cells`` are the events' derived rows (`envelope.row_of`) end to end; ``packed`` are the arrays by index of the
    event."""
    n, width = len(lines), len(ENVELOPE)
    columns: dict[str, pa.Array] = {
        "seq": pa.array(np.arange(first, first + n, dtype=np.int64)),
        "wall_ns": pa.array(wall_ns, pa.int64()),
        "link": pa.array(np.fromiter(links, np.uint32, n)),
        "event": pa.StringArray.from_buffers(n, _offsets(map(len, lines), n), pa.py_buffer(joined)),
        "values": _values(packed, n),
    }
    for kind, places in _TOGETHER:
        flat = pa.array([*chain.from_iterable([cells[i::width] for i in places])], kind)
        columns.update((ENVELOPE[i], flat.slice(j * n, n)) for j, i in enumerate(places))
    return pa.RecordBatch.from_arrays([columns[name] for name in _NAMES], schema=SCHEMA)


def trailer(*, seal_digest: str, seal_offset: int, eos_end: int) -> bytes:
    """Bytes after the end of the Arrow stream: they seal the seal."""
    head = TRAILER_MAGIC + struct.pack("<QQ", seal_offset, eos_end + TRAILER_BYTES)
    return head + trailer_digest(seal_digest, EOS, head)


def trailer_digest(seal_digest: str, eos: bytes, head: bytes) -> bytes:
    """SHA-256 over the digest of the seal message, the end-of-stream bytes and the trailer before it."""
    return hashlib.sha256(bytes.fromhex(seal_digest) + eos + head).digest()


def _put_digest(message: memoryview) -> str:
    """Writes the digest of a message over its placeholder, and gives it."""
    metadata = bytes(message[PREFIX_BYTES : PREFIX_BYTES + parse_prefix(bytes(message[:PREFIX_BYTES]))])
    at = parse_header(metadata).digest_at
    digest = digest_of(message, at)
    message[at : at + len(digest)] = digest.encode()
    return digest


def _offsets(lengths: Iterable[int], n: int) -> pa.Buffer:
    """The n + 1 int32 offsets of a variable-length column."""
    offsets = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.fromiter(lengths, dtype=np.int32, count=n), out=offsets[1:])
    return pa.py_buffer(offsets)


def _values(packed: dict[int, bytes], n: int) -> pa.ListArray:
    if not packed:
        return pa.nulls(n, _VALUES)
    flat = np.frombuffer(b"".join(packed.values()), dtype="<f8").astype(np.float64, copy=False)
    counts = np.zeros(n, dtype=np.int32)
    valid = np.zeros(n, dtype=bool)
    for i, data in packed.items():
        counts[i], valid[i] = len(data) // 8, True
    bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(_VALUES, n, [bitmap, _offsets(counts, n)], children=[pa.array(flat)])
