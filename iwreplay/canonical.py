"""One byte string per value: what is hashed, and what the log stores.

Canonical JSON is what msgspec writes with deterministic order: fields in the order of their Struct, keys of
dicts sorted, no spaces, UTF-8, floats as the shortest digits that read back to the same double (a float always
has a point or an exponent). The big arrays of poses are no JSON: they are little-endian float64.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from iwreplay.events import BodyPosed, Event, PosesSampled, WorldSnapshot

__all__ = [
    "VALUES_TYPES",
    "canonical_bytes",
    "frame",
    "pack_values",
    "sha256_hex",
    "struct_hash",
    "unpack_values",
    "values_reader",
    "without_values",
]

#: Kinds whose field `values` is stored as float64 beside the JSON.
VALUES_TYPES: frozenset[type[Event]] = frozenset((PosesSampled, BodyPosed, WorldSnapshot))

_ENCODER = msgspec.json.Encoder(order="deterministic")


def canonical_bytes(value: Any) -> bytes:
    """Canonical JSON of a Struct or of builtins, without a newline.

    Floats that are not finite have no JSON and come out as ``null``: validate before (the log does).
    Raises TypeError for a type that msgspec cannot write, UnicodeEncodeError for a lone surrogate.
    """
    return _ENCODER.encode(value)


def sha256_hex(data: bytes | bytearray | memoryview) -> str:
    """SHA-256 as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def struct_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, for example of a compiled scene or a task pack."""
    return sha256_hex(canonical_bytes(value))


def without_values(event: Event) -> Event:
    """The event as its JSON shows it: kinds with an array lose it."""
    if type(event) in VALUES_TYPES:
        return msgspec.structs.replace(event, values=())
    return event


def pack_values(values: Sequence[float]) -> bytes:
    """Little-endian float64 bytes, 8 a value."""
    packed = array("d", values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_values(data: bytes | memoryview) -> tuple[float, ...]:
    """Inverse of `pack_values`."""
    return values_reader(len(data) // 8)(data, 0)


@lru_cache(maxsize=4096)
def values_reader(count: int) -> Callable[[bytes | memoryview, int], tuple[float, ...]]:
    """Reads `count` numbers out of packed ones: (data, offset in bytes) -> numbers."""
    return struct.Struct(f"<{count}d").unpack_from


def frame(line: bytes, packed: bytes | None) -> bytes:
    """What one event adds to the stream that the root hash is taken over.

    ``line`` is its canonical JSON ended by one newline; ``packed`` its array, or None for a kind without one.
    """
    if packed is None:
        return line
    return line + struct.pack("<Q", len(packed) // 8) + packed
