"""The structure of a log file: which messages are where, and in what state the whole is.

Only message headers are read, never bodies: a sealed log gives its index at its end, an open one is walked message
by message. Bodies are verified when they are read (`load`). Where the structure breaks, the rest of the file is
searched for later messages, so that damage in the middle is told from a cut end, and can be salvaged.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO, Literal

import msgspec
import pyarrow as pa

from iwreplay.errors import FormatTooNewError, LogCorruptError
from iwreplay.log.format import (
    EOS,
    FORMAT_VERSION,
    META_KEY,
    RECOVERY_KEY,
    SCHEMA,
    SEAL_KEY,
    VERSION_KEY,
    BatchMeta,
    Recovered,
    SealMeta,
)
from iwreplay.log.messages import TRAILER_BYTES, TRAILER_MAGIC, trailer_digest
from iwreplay.log.wire import (
    BATCH,
    CONTINUATION,
    PREFIX_BYTES,
    SCHEMA_KIND,
    Header,
    WireError,
    digest_of,
    parse_header,
    parse_prefix,
)

__all__ = ["CutError", "Problem", "Span", "State", "Structure", "load", "salvageable", "scan", "seal_header"]

State = Literal["sealed", "open", "truncated", "corrupt"]

_CHUNK = 1024 * 1024


class CutError(WireError):
    """The file ends before the message does."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a log, where, and what it costs."""

    what: str
    #: first event that is affected, None when no event is
    seq: int | None
    #: byte of the file at which the damage was noticed
    offset: int | None
    #: what is lost, in words
    lost: str


@dataclass(frozen=True, slots=True)
class Span:
    """One batch: where it is and what it says of itself (verified once it is loaded)."""

    offset: int
    length: int
    first: int
    count: int
    snapshots: tuple[int, ...]
    #: digest that the seal's index or the message itself states
    digest: str
    #: None when the span comes from a seal's index: its digest is checked against the index instead
    prev: str | None = None


@dataclass(slots=True)
class Structure:
    """A file as found."""

    size: int
    version: int = 0
    schema: pa.Schema = SCHEMA
    schema_digest: str = ""
    recovered: Recovered | None = None
    spans: list[Span] = field(default_factory=list)
    seal: SealMeta | None = None
    #: what a seal that does not hold says; true when the events say the same
    claimed: SealMeta | None = None
    state: State = "open"
    problem: Problem | None = None
    #: where the structure broke, and salvage can begin
    broken_at: int | None = None

    @property
    def events(self) -> int:
        """Events before any damage of the structure."""
        return self.spans[-1].first + self.spans[-1].count if self.spans else 0


def scan(file: BinaryIO, *, newest: int, name: str = "") -> Structure:
    """Reads the structure of a log. Damage is described in the result; only a newer format raises
    (FormatTooNewError)."""
    size = file.seek(0, 2)
    found = Structure(size)
    after = _read_schema(file, found, newest=newest, name=name)
    if after is None:
        return found
    if not _read_index(file, found):
        _walk(file, found, after)
    return found


def load(file: BinaryIO, span: Span) -> tuple[bytes, Header]:
    """One whole message, verified against its digest. Raises LogCorruptError."""
    try:
        raw = _read(file, span.offset, span.length)
        header = parse_header(raw[PREFIX_BYTES : PREFIX_BYTES + parse_prefix(raw[:PREFIX_BYTES])])
        if header.kind != BATCH or header.length != span.length:
            raise WireError("the message changed its size or kind")
    except WireError as e:
        raise LogCorruptError(f"damaged batch: {e}", seq=span.first, offset=span.offset) from e
    if digest_of(raw, header.digest_at) != header.digest or header.digest != span.digest:
        raise LogCorruptError("a batch fails its checksum", seq=span.first, offset=span.offset)
    return raw, header


def salvageable(file: BinaryIO, found: Structure, *, start: int, expect: int) -> Iterator[Span]:
    """Batches from byte `start` on that are intact by their own digest and hold event `expect` or later ones, in
    file order. A seal found on the way is put into `found.seal`: it knows how many events there were."""
    offset = start
    while (hit := _next_message(file, offset, found.size)) is not None:
        at, header = hit
        offset = at + header.length
        try:
            meta = _meta(header)
        except WireError:
            continue
        if isinstance(meta, SealMeta):
            found.seal = meta
        elif meta is not None and meta.first >= expect:
            expect = meta.first + meta.count
            yield _span(at, header, meta)


def _read_schema(file: BinaryIO, found: Structure, *, newest: int, name: str) -> int | None:
    """Takes the first message in; gives the offset after it, or None when there is no reading on."""
    try:
        raw, header = _message(file, 0, found.size)
        if header.kind != SCHEMA_KIND:
            raise WireError("the file does not begin with a schema")
        if digest_of(raw, header.digest_at) != header.digest:
            raise WireError("the schema fails its checksum")
    except WireError as e:
        _break(file, found, 0, e)
        return None
    version = header.custom.get(VERSION_KEY, "")
    if not version.isdecimal():
        _break(file, found, 0, WireError(f"format version {version!r} is no number"))
        return None
    found.version = int(version)
    if found.version > newest:
        raise FormatTooNewError(found.version, newest, path=name)
    found.schema_digest = header.digest
    found.schema, as_now = _columns(raw)
    if found.version == FORMAT_VERSION and not as_now:
        _break(file, found, 0, WireError(f"its columns are not those of format version {FORMAT_VERSION}"))
        return None
    recovered = header.custom.get(RECOVERY_KEY)
    if recovered is not None:
        try:
            found.recovered = msgspec.json.decode(recovered, type=Recovered)
        except msgspec.MsgspecError as e:
            _break(file, found, 0, WireError(f"unreadable loss statement: {e}"))
            return None
    return header.length


@lru_cache(maxsize=8)
def _columns(raw: bytes) -> tuple[pa.Schema, bool]:
    """The schema in a message, and whether its columns are those of now. Logs begin with the same bytes."""
    schema = pa.ipc.read_schema(pa.py_buffer(raw))
    return schema, schema.equals(SCHEMA)


def _read_index(file: BinaryIO, found: Structure) -> bool:
    """Takes a whole seal in. False when the file does not end in one that holds together."""
    header = seal_header(file)
    try:
        seal = None if header is None else _meta(header)
    except WireError:
        return False
    if not isinstance(seal, SealMeta):
        return False
    found.seal, found.state = seal, "sealed"
    found.spans = [Span(b.offset, b.length, b.first, b.count, b.snapshots, b.digest) for b in seal.batches]
    return True


def seal_header(file: BinaryIO) -> Header | None:
    """Header of the seal message, found and verified from the end of the file; None when the file does not end in a
    trailer, an end of stream and a message that hold together."""
    size = file.seek(0, 2)
    at = size - TRAILER_BYTES
    if at < len(EOS):
        return None
    tail = _read(file, at - len(EOS), len(EOS) + TRAILER_BYTES)
    eos, head, digest = tail[: len(EOS)], tail[len(EOS) : -32], tail[-32:]
    if head[:8] != TRAILER_MAGIC:
        return None
    seal_offset, stated = struct.unpack("<QQ", head[8:])
    if stated != size or not seal_offset < at:
        return None
    try:
        raw, header = _message(file, seal_offset, size)
    except WireError:
        return None
    whole = (
        seal_offset + header.length == at - len(EOS)
        and digest_of(raw, header.digest_at) == header.digest
        and eos == EOS
        and trailer_digest(header.digest, eos, head) == digest
    )
    return header if whole else None


def _walk(file: BinaryIO, found: Structure, offset: int) -> None:
    """Goes from message to message; a file that ends between two of them is open."""
    prev = found.schema_digest
    while offset < found.size:
        try:
            header = _header(file, offset, found.size)
            meta = None if header is None else _meta(header)
            if isinstance(meta, BatchMeta) and (meta.first != found.events or meta.prev != prev):
                raise WireError(f"a batch of events {meta.first}... follows event {found.events - 1}")
        except WireError as e:
            _break(file, found, offset, e)
            return
        if header is None or isinstance(meta, SealMeta):
            found.claimed = meta if isinstance(meta, SealMeta) else None
            _break_seal(file, found, offset, sealed=found.claimed is not None)
            return
        assert meta is not None
        found.spans.append(_span(offset, header, meta))
        prev = header.digest
        offset += header.length


def _break(file: BinaryIO, found: Structure, offset: int, error: WireError) -> None:
    """Says what the broken structure at `offset` is: a cut end, or damage with intact batches behind it."""
    found.broken_at = offset
    later = _next_message(file, offset + 8, found.size)
    kept = f"events 0 to {found.events - 1} are intact" if found.events else "no event comes before it"
    if later is None and (isinstance(error, CutError) or _only_zeros(file, offset, found.size)):
        found.state = "truncated"
        what = "the file is empty" if found.size == 0 else f"the file ends inside a message ({error})"
        lost = f"{kept}; the last {found.size - offset} bytes are a batch that was cut or never finished"
    else:
        found.state = "corrupt"
        what = str(error)
        if offset == 0 and later is None:
            what = f"this does not begin as the log of an episode does ({what})"
        behind = "; intact batches follow, `recover` keeps them" if later else ""
        lost = f"{kept}; what follows is damaged{behind}"
    found.problem = Problem(what=what, seq=found.events, offset=offset, lost=lost)


def _break_seal(file: BinaryIO, found: Structure, offset: int, *, sealed: bool) -> None:
    """A seal or an end of stream whose trailer does not hold: no event is lost, but the file is not whole."""
    found.broken_at = offset
    lost = f"nothing: all {found.events} events are intact"
    tail = _read(file, offset, found.size - offset)
    complete = len(EOS) + TRAILER_BYTES
    header = _header(file, offset, found.size)
    cut = sealed and header is not None and len(tail) < header.length + complete
    found.state = "truncated" if cut else "corrupt"
    what = "the file ends inside its seal" if cut else "the seal does not hold"
    found.problem = Problem(what=what, seq=None, offset=offset, lost=lost)


def _only_zeros(file: BinaryIO, offset: int, size: int) -> bool:
    """True when the rest of the file is blocks that a power cut left unwritten."""
    while offset < size:
        chunk = _read(file, offset, min(_CHUNK, size - offset))
        if chunk.strip(b"\0"):
            return False
        offset += len(chunk)
    return True


def _next_message(file: BinaryIO, offset: int, size: int) -> tuple[int, Header] | None:
    """The first message at or after `offset` that is intact by its digest."""
    at = offset + -offset % 8
    while at + PREFIX_BYTES <= size:
        chunk = _read(file, at, min(_CHUNK, size - at))
        i = chunk.find(CONTINUATION)
        while i >= 0:
            if i % 8 == 0:
                try:
                    raw, header = _message(file, at + i, size)
                except WireError:
                    header = None
                if header is not None and digest_of(raw, header.digest_at) == header.digest:
                    return at + i, header
            i = chunk.find(CONTINUATION, i + 1)
        at += _CHUNK
    return None


def _read(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    data = file.read(length)
    while len(data) < length:
        more = file.read(length - len(data))
        if not more:
            raise CutError("the file ends here")
        data += more
    return data


def _header(file: BinaryIO, offset: int, size: int) -> Header | None:
    """Header of the message at `offset`, whose whole length is within the file; None at the end of the stream."""
    if offset + PREFIX_BYTES > size:
        raise CutError("its length is cut")
    length = parse_prefix(_read(file, offset, PREFIX_BYTES))
    if length == 0:
        return None
    if offset + PREFIX_BYTES + length > size:
        raise CutError("its metadata runs past the end")
    header = parse_header(_read(file, offset + PREFIX_BYTES, length))
    if offset + header.length > size:
        raise CutError("its body runs past the end")
    return header


def _message(file: BinaryIO, offset: int, size: int) -> tuple[bytes, Header]:
    header = _header(file, offset, size)
    if header is None:
        raise WireError("the stream ends here")
    return _read(file, offset, header.length), header


def _meta(header: Header) -> BatchMeta | SealMeta | None:
    """What the message says of itself. WireError when it has no such words."""
    try:
        if META_KEY in header.custom:
            return msgspec.json.decode(header.custom[META_KEY], type=BatchMeta)
        if SEAL_KEY in header.custom:
            return msgspec.json.decode(header.custom[SEAL_KEY], type=SealMeta)
    except msgspec.MsgspecError as e:
        raise WireError(f"unreadable batch metadata: {e}") from e
    if header.kind == SCHEMA_KIND:
        return None
    raise WireError("a batch without our metadata")


def _span(offset: int, header: Header, meta: BatchMeta) -> Span:
    return Span(offset, header.length, meta.first, meta.count, meta.snapshots, header.digest, meta.prev)
