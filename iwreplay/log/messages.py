"""Messages as bytes: Arrow batches with our metadata and digest, the seal and the trailer."""

from __future__ import annotations

import hashlib
import io
import struct
from array import array
from itertools import accumulate

import msgspec
import numpy as np
import pyarrow as pa

from iwreplay.log.envelope import ENVELOPE, Row
from iwreplay.log.format import (
    DIGEST_KEY,
    EOS,
    FORMAT_VERSION,
    META_KEY,
    PLACEHOLDER,
    RECOVERY_KEY,
    SCHEMA,
    SEAL_KEY,
    VERSION_KEY,
    BatchMeta,
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

TRAILER_MAGIC = b"IWSEAL\r\n"
#: magic, offset of the seal message, size of the file, SHA-256
TRAILER_BYTES = 8 + 8 + 8 + 32


def schema_message(recovered: Recovered | None = None) -> tuple[bytes, str]:
    """The first message of a log, and its digest."""
    meta = {VERSION_KEY: str(FORMAT_VERSION)}
    if recovered is not None:
        meta[RECOVERY_KEY] = msgspec.json.encode(recovered).decode()
    raw = schema_with({**meta, DIGEST_KEY: PLACEHOLDER}).serialize().to_pybytes()
    return _with_digest(raw)


class MessageWriter:
    """Encodes batches with Arrow. ``compress`` is for sealed logs; an open log is not compressed."""

    def __init__(self, *, compress: bool) -> None:
        self._sink = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=3) if compress else None)
        self._writer = pa.ipc.new_stream(self._sink, SCHEMA, options=options)
        self._primed = False

    def batch(self, batch: pa.RecordBatch, meta: BatchMeta) -> tuple[bytes, str]:
        """One data message, and its digest."""
        return self._encode(batch, META_KEY, msgspec.json.encode(meta).decode())

    def seal(self, meta: SealMeta) -> tuple[bytes, str]:
        """The last message, which has no rows, and its digest."""
        return self._encode(_EMPTY, SEAL_KEY, msgspec.json.encode(meta).decode())

    def _encode(self, batch: pa.RecordBatch, key: str, value: str) -> tuple[bytes, str]:
        self._writer.write_batch(batch, custom_metadata={key: value, DIGEST_KEY: PLACEHOLDER})
        raw = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        if not self._primed:
            # Arrow writes its schema with the first batch; ours carries other metadata and is written apart
            raw = raw[PREFIX_BYTES + parse_prefix(raw[:PREFIX_BYTES]) :]
            self._primed = True
        return _with_digest(raw)


_EMPTY = pa.RecordBatch.from_arrays([pa.array([], f.type) for f in SCHEMA], schema=SCHEMA)


def build_batch(
    *, first: int, wall_ns: list[int], rows: list[Row], lines: list[bytes], packed: list[bytes | None], links: bytes
) -> pa.RecordBatch:
    """A batch of the log's schema. ``lines`` end in a newline; all lists have one item an event."""
    n = len(lines)
    columns: dict[str, pa.Array] = {
        "seq": pa.array(np.arange(first, first + n, dtype=np.int64)),
        "wall_ns": pa.array(wall_ns, pa.int64()),
        "link": pa.FixedSizeBinaryArray.from_buffers(pa.binary(8), n, [None, pa.py_buffer(links)]),
        "event": pa.StringArray.from_buffers(n, _offsets(map(len, lines)), pa.py_buffer(b"".join(lines))),
        "values": _values(packed),
    }
    for name, column in zip(ENVELOPE, zip(*rows, strict=True), strict=True):
        columns[name] = pa.array(column, SCHEMA.field(name).type)
    return pa.RecordBatch.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def trailer(*, seal_digest: str, seal_offset: int, eos_end: int) -> bytes:
    """Bytes after the end of the Arrow stream: they seal the seal."""
    head = TRAILER_MAGIC + struct.pack("<QQ", seal_offset, eos_end + TRAILER_BYTES)
    return head + trailer_digest(seal_digest, EOS, head)


def trailer_digest(seal_digest: str, eos: bytes, head: bytes) -> bytes:
    """SHA-256 over the digest of the seal message, the end-of-stream bytes and the trailer before it."""
    return hashlib.sha256(bytes.fromhex(seal_digest) + eos + head).digest()


def _with_digest(raw: bytes) -> tuple[bytes, str]:
    at = parse_header(raw[PREFIX_BYTES : PREFIX_BYTES + parse_prefix(raw[:PREFIX_BYTES])]).digest_at
    digest = digest_of(raw, at)
    return b"".join((raw[:at], digest.encode(), raw[at + len(digest) :])), digest


def _offsets(lengths: map[int]) -> pa.Buffer:
    return pa.py_buffer(array("i", accumulate(lengths, initial=0)))


def _values(packed: list[bytes | None]) -> pa.ListArray:
    arrays = [p for p in packed if p is not None]
    kind = SCHEMA.field("values").type
    if not arrays:
        return pa.nulls(len(packed), kind)
    flat = np.frombuffer(b"".join(arrays), dtype="<f8").astype(np.float64, copy=False)
    offsets = np.frombuffer(
        array("i", accumulate((0 if p is None else len(p) // 8 for p in packed), initial=0)), dtype=np.int32
    )
    valid = np.fromiter((p is not None for p in packed), dtype=bool, count=len(packed))
    bitmap = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, len(packed), [bitmap, pa.py_buffer(offsets)], children=[pa.array(flat)])
