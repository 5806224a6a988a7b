"""A journal: records appended to a file as lines of JSON, each with the hash of all before it.

    {"record":{...},"sha256":"..."}

`sha256` is over the hash of the line before (64 zeros for the first) and the record's canonical JSON. A record is kept
once `append` returns. A last line that a killed writer left half is not part of the journal, and is dropped when the
journal is opened again; any other damage is an error.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

import msgspec

from iwreplay.canonical import canonical_bytes, sha256_hex
from iwreplay.errors import LogWriteError, StoreDamagedError
from iwreplay.log.files import WriterLock, sync_directory

__all__ = ["Journal", "read_journal"]

R = TypeVar("R", bound=msgspec.Struct)

_BEGIN = "0" * 64


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    record: msgspec.Raw
    sha256: str


#: what to do about a damaged journal
_BEGIN_ANEW = "Move the file away to begin anew."


def read_journal(path: Path, kind: Any, *, way_out: str = _BEGIN_ANEW) -> tuple[Any, ...]:
    """The whole records of a journal, of a Struct or union of Structs. StoreDamagedError names the line that is damaged
    or forged, and the `way_out`; OSError as the file system says."""
    return tuple(r for r, _, _ in _lines(path, kind, way_out))


def _lines(path: Path, kind: Any, way_out: str) -> list[tuple[Any, str, int]]:
    """(record, hash, end in bytes) of every whole line."""
    found: list[tuple[Any, str, int]] = []
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
    before, end = _BEGIN, 0
    data = path.read_bytes()
    for number, raw in enumerate(data.splitlines(keepends=True), start=1):
        if not raw.endswith(b"\n"):
            break
        try:
            line = msgspec.json.decode(raw, type=_Line)
            record = decoder.decode(line.record)
        except (msgspec.MsgspecError, UnicodeError) as e:
            raise StoreDamagedError(f"{path}, line {number}: {e}. {way_out}") from None
        if line.sha256 != _chained(before, bytes(line.record)):
            raise StoreDamagedError(
                f"{path}, line {number} is not what was written there: its hash does not fit. {way_out}"
            )
        before, end = line.sha256, end + len(raw)
        found.append((record, before, end))
    return found


def _chained(before: str, record: bytes) -> str:
    return sha256_hex(before.encode() + record)


class Journal(Generic[R]):
    """A journal that is written, by one writer at a time. Use it as a context."""

    def __init__(self, path: Path, kind: Any, *, wait_s: float = 0.0, way_out: str = _BEGIN_ANEW) -> None:
        """Opens the journal, or begins it. LogLockedError when another process writes it, for longer than `wait_s`
        seconds; StoreDamagedError as of `read_journal`, LogWriteError when it can't be written.

        Those who wait share the lock's file, so it stays: removing it between two of them would let both in."""
        self.path = path
        self._lock = WriterLock(path)
        self._shared = wait_s > 0.0
        self._lock.acquire(wait_s=wait_s)
        try:
            lines = _lines(path, kind, way_out) if path.exists() else []
            end = lines[-1][2] if lines else 0
            # one attribute, so that Ctrl-C can't come between its parts
            self._at: tuple[tuple[R, ...], str, int] = (
                tuple(r for r, _, _ in lines),
                lines[-1][1] if lines else _BEGIN,
                end,
            )
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
            #: bytes of a line that a killed writer left half
            self.dropped_bytes = os.fstat(self._fd).st_size - end
            os.ftruncate(self._fd, end)
            sync_directory(path.parent)
        except OSError as e:
            self._lock.release()
            raise LogWriteError(f"{path} can't be written: {e.strerror or e}") from e
        except BaseException:
            self._lock.release()
            raise

    @property
    def records(self) -> tuple[R, ...]:
        """Everything that is kept."""
        return self._at[0]

    def append(self, record: R) -> None:
        """Returns once the record is on the disk. LogWriteError when it can't be; the journal is then as before, as it
        is after Ctrl-C."""
        records, before, end = self._at
        body = canonical_bytes(record)
        chained = _chained(before, body)
        data = b'{"record":' + body + b',"sha256":"' + chained.encode() + b'"}\n'
        try:
            # what an append that was broken off has left
            os.ftruncate(self._fd, end)
            os.lseek(self._fd, end, os.SEEK_SET)
            view = memoryview(data)
            while view:
                view = view[os.write(self._fd, view) :]
            os.fsync(self._fd)
        except OSError as e:
            os.ftruncate(self._fd, end)
            raise LogWriteError(f"{self.path} can't be written: {e.strerror or e}") from e
        self._at = ((*records, record), chained, end + len(data))

    def close(self) -> None:
        os.close(self._fd)
        self._lock.release(remove=not self._shared)

    def __enter__(self) -> Journal[R]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
