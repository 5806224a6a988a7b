"""The frames of an Arrow IPC stream, read without Arrow.

Arrow's own reader trusts the bytes it is given, and cannot walk over a stream without reading every body. This
reads just enough of an encapsulated message (continuation marker, metadata length, flatbuffer) to know its kind,
its size and its key-value metadata, never follows an offset out of bounds, and checks our digest, so that Arrow
only ever sees bytes that have been verified.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

from iwreplay.log.format import DIGEST_KEY, MAX_MESSAGE_BYTES, MAX_METADATA_BYTES, PLACEHOLDER

__all__ = [
    "BATCH",
    "CONTINUATION",
    "PREFIX_BYTES",
    "SCHEMA_KIND",
    "Header",
    "WireError",
    "digest_of",
    "parse_header",
    "parse_prefix",
]

CONTINUATION = b"\xff\xff\xff\xff"
PREFIX_BYTES = 8
#: values of MessageHeader in Arrow's Message.fbs
SCHEMA_KIND = 1
BATCH = 3

_ZEROS = PLACEHOLDER.encode()


class WireError(Exception):
    """Bytes that are no message of ours. Internal: readers turn it into a stated problem."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the metadata of one message says."""

    kind: int
    #: whole message: prefix, metadata and body
    length: int
    #: key-value metadata
    custom: dict[str, str]
    #: the digest that it claims, and where its 64 digits begin within the message
    digest: str
    digest_at: int


def parse_prefix(prefix: bytes) -> int:
    """Length of the metadata that follows the 8 bytes. 0 is the end of the stream."""
    if len(prefix) < PREFIX_BYTES or prefix[:4] != CONTINUATION:
        raise WireError("no message begins here")
    length = int.from_bytes(prefix[4:8], "little", signed=True)
    if length < 0 or length > MAX_METADATA_BYTES or length % 8:
        raise WireError(f"impossible metadata length {length}")
    return length


def parse_header(metadata: bytes) -> Header:
    """Reads the flatbuffer of a Message. Raises WireError for anything that is not one of our messages."""
    try:
        return _parse(metadata)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as e:
        raise WireError(f"unreadable message metadata ({e})") from e


def digest_of(message: bytes | memoryview, at: int) -> str:
    """SHA-256 of a whole message with the 64 digits at ``at`` taken as zeros."""
    view = memoryview(message)
    h = hashlib.sha256(view[:at])
    h.update(_ZEROS)
    h.update(view[at + len(_ZEROS) :])
    return h.hexdigest()


def _parse(buf: bytes) -> Header:
    table = _u32(buf, 0)
    kind_at, header_at, body_at, custom_at = (_field(buf, table, i) for i in (1, 2, 3, 4))
    if not kind_at or not header_at:
        raise WireError("a message without a header")
    kind = buf[kind_at]
    body: int = struct.unpack_from("<q", buf, body_at)[0] if body_at else 0
    if body < 0 or body > MAX_MESSAGE_BYTES or body % 8:
        raise WireError(f"impossible body length {body}")
    if kind == SCHEMA_KIND:
        schema = header_at + _u32(buf, header_at)
        custom_at = _field(buf, schema, 2)
    elif kind != BATCH:
        raise WireError(f"a message of kind {kind}, which this format never writes")
    custom: dict[str, str] = {}
    digest_at = 0
    for key, value_at, value in _key_values(buf, custom_at):
        custom[key] = value
        if key == DIGEST_KEY:
            digest_at = PREFIX_BYTES + value_at
    digest = custom.get(DIGEST_KEY, "")
    if len(digest) != len(_ZEROS):
        raise WireError("a message without a digest")
    return Header(kind, PREFIX_BYTES + len(buf) + body, custom, digest, digest_at)


def _u32(buf: bytes, at: int) -> int:
    value: int = struct.unpack_from("<I", buf, at)[0]
    return value


def _field(buf: bytes, table: int, index: int) -> int:
    """Position of a table's field, or 0 when it is absent."""
    vtable = table - struct.unpack_from("<i", buf, table)[0]
    if vtable < 0:
        raise WireError("a table outside its message")
    size: int = struct.unpack_from("<H", buf, vtable)[0]
    slot = 4 + 2 * index
    if slot + 2 > size:
        return 0
    offset: int = struct.unpack_from("<H", buf, vtable + slot)[0]
    return table + offset if offset else 0


def _string(buf: bytes, at: int) -> tuple[int, str]:
    """Where a string's bytes begin, and the string."""
    start = at + _u32(buf, at)
    n = _u32(buf, start)
    start += 4
    if start + n > len(buf):
        raise WireError("a string outside its message")
    return start, buf[start : start + n].decode()


def _key_values(buf: bytes, at: int) -> list[tuple[str, int, str]]:
    if not at:
        return []
    vector = at + _u32(buf, at)
    n = _u32(buf, vector)
    if n > 64:
        raise WireError(f"{n} metadata entries")
    out = []
    for i in range(n):
        slot = vector + 4 + 4 * i
        entry = slot + _u32(buf, slot)
        key_at, value_at = _field(buf, entry, 0), _field(buf, entry, 1)
        if key_at and value_at:
            _, key = _string(buf, key_at)
            start, value = _string(buf, value_at)
            out.append((key, start, value))
    return out
