"""Names and numbers of the log format. FORMAT.md is the specification; this is its vocabulary in code."""

from __future__ import annotations

import msgspec
import pyarrow as pa

__all__ = [
    "COMMIT_EVENTS",
    "COMMIT_JSON_BYTES",
    "DIGEST_KEY",
    "EOS",
    "FORMAT_VERSION",
    "MAX_EVENT_BYTES",
    "MAX_MESSAGE_BYTES",
    "MAX_METADATA_BYTES",
    "MAX_VALUES",
    "META_KEY",
    "PARITY_KEY",
    "PLACEHOLDER",
    "RECOVERY_KEY",
    "SCHEMA",
    "SEAL_BYTES",
    "SEAL_EVENTS",
    "SEAL_KEY",
    "VERSION_KEY",
    "BatchMeta",
    "IndexEntry",
    "LostRange",
    "ParityMeta",
    "Recovered",
    "SealMeta",
    "schema_with",
]

#: Raised by one whenever a kind, a field or the layout changes; each step up has an upcast.
FORMAT_VERSION = 1

VERSION_KEY = "iwreplay.format_version"
#: SHA-256 of the message that carries it, taken with these 64 bytes as zeros
DIGEST_KEY = "iwreplay.digest"
META_KEY = "iwreplay.batch"
SEAL_KEY = "iwreplay.seal"
PARITY_KEY = "iwreplay.parity"
RECOVERY_KEY = "iwreplay.recovered"
PLACEHOLDER = "0" * 64

#: end of an Arrow IPC stream
EOS = b"\xff\xff\xff\xff\x00\x00\x00\x00"

#: canonical JSON of one event, the newline included
MAX_EVENT_BYTES = 4 * 1024 * 1024
#: doubles in one event's array
MAX_VALUES = 512 * 1024
#: a writer writes out by itself when it holds so many events, or so many bytes of JSON and arrays
COMMIT_EVENTS = 1024
COMMIT_JSON_BYTES = 8 * 1024 * 1024
#: a sealed batch ends at so many events, or after so many bytes of JSON and arrays
SEAL_EVENTS = 1024
SEAL_BYTES = 4 * 1024 * 1024
#: a reader refuses larger messages as damage instead of allocating what a flipped length asks for
MAX_METADATA_BYTES = 64 * 1024 * 1024
MAX_MESSAGE_BYTES = 256 * 1024 * 1024

_FIELDS: tuple[pa.Field, ...] = (
    pa.field("seq", pa.int64(), nullable=False),
    pa.field("sim_time_s", pa.float64(), nullable=False),
    pa.field("wall_ns", pa.int64(), nullable=False),
    pa.field("turn", pa.int64(), nullable=False),
    pa.field("phase", pa.utf8(), nullable=False),
    pa.field("kind", pa.utf8(), nullable=False),
    pa.field("actor", pa.utf8()),
    pa.field("verb", pa.utf8()),
    pa.field("object", pa.utf8()),
    pa.field("target", pa.utf8()),
    pa.field("attribute", pa.utf8()),
    pa.field("code", pa.utf8()),
    pa.field("decision", pa.utf8()),
    pa.field("action", pa.int64()),
    pa.field("link", pa.uint32(), nullable=False),
    pa.field("event", pa.utf8(), nullable=False),
    pa.field("values", pa.list_(pa.field("item", pa.float64(), nullable=False))),
)

#: The columns of version 1, without metadata.
SCHEMA: pa.Schema = pa.schema(_FIELDS)


class BatchMeta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """JSON under META_KEY in every batch."""

    #: seq of its first event
    first: int
    #: number of events
    count: int
    #: digest of the previous message of the file (the schema message for the first batch)
    prev: str
    #: root hash of all events up to and with the last one of this batch
    head: str
    #: seqs of its world snapshots
    snapshots: tuple[int, ...] = ()


class IndexEntry(msgspec.Struct, frozen=True, array_like=True):
    """Where one batch of a sealed log is."""

    offset: int
    length: int
    first: int
    count: int
    digest: str
    snapshots: tuple[int, ...] = ()


class SealMeta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """JSON under SEAL_KEY in the last message of a sealed log, which has no rows."""

    #: events in the whole log
    events: int
    #: root hash of the whole log
    root: str
    #: digest of the previous message
    prev: str
    batches: tuple[IndexEntry, ...]


class ParityMeta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """JSON under PARITY_KEY in the seal message: what mends one damaged place."""

    #: bytes that it covers, from the start of the file: all before the seal message
    size: int
    #: bytes of a block; the last one may be shorter
    block: int
    #: CRC-32 of each block
    sums: tuple[int, ...]
    #: base64 of the exclusive or of blocks 0, 2, 4 ..., and of blocks 1, 3, 5 ..., shorter ones filled up with zeros
    even: str
    odd: str


class LostRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Events that a recovery could not keep, by their seq in the damaged log."""

    first: int
    #: None: from `first` on, nobody knows how many
    last: int | None


class Recovered(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """JSON under RECOVERY_KEY in the schema of a log that was recovered from another one."""

    #: SHA-256 of the damaged file as it was found
    file_sha256: str
    #: its name, without directories
    name: str
    size_bytes: int
    #: what the damaged log said of itself: open, truncated or corrupt
    state: str
    reason: str
    #: first and last seq, in the damaged log, of each run of events that was kept
    kept: tuple[tuple[int, int], ...]
    missing: tuple[LostRange, ...]
    #: seqs in the new log before which events are missing, those of an earlier recovery included
    gaps: tuple[int, ...]
    #: nothing is known to be missing, here or in an earlier recovery
    lossless: bool
    #: statement of the damaged log, when that was itself a recovered one
    earlier: Recovered | None = None


def schema_with(metadata: dict[str, str]) -> pa.Schema:
    """The version 1 schema with metadata."""
    return SCHEMA.with_metadata(metadata)
