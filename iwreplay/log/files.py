"""Durable files: append and sync, replace in one step, one writer at a time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from iwreplay.errors import LogLockedError, LogWriteError

__all__ = [
    "AppendFile",
    "WritableFile",
    "WriterLock",
    "create_file",
    "refuse_existing",
    "replace_file",
    "sync_directory",
]


class WritableFile(Protocol):
    """What a writer needs of a file. Tests give one that fails."""

    def write(self, data: bytes | memoryview) -> None:
        """Writes all of it at the end, or raises OSError."""
        ...

    def sync(self) -> None:
        """Returns once everything written is on stable storage, or raises OSError."""
        ...

    def truncate(self, size: int) -> None: ...

    def close(self) -> None: ...


class AppendFile:
    """A new file on a disk."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._fd: int | None = os.open(path, flags, 0o644)

    @property
    def _open_fd(self) -> int:
        if self._fd is None:
            raise OSError("the file is closed")
        return self._fd

    def write(self, data: bytes | memoryview) -> None:
        """Writes all of it; the kernel may take it in pieces."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._open_fd, view) :]

    def sync(self) -> None:
        """fsync; on macOS the stronger F_FULLFSYNC, because fsync leaves data in the drive's cache there."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(self._open_fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(self._open_fd)

    def truncate(self, size: int) -> None:
        """Cuts a failed write away and goes on from there."""
        os.ftruncate(self._open_fd, size)
        os.lseek(self._open_fd, size, os.SEEK_SET)

    def close(self) -> None:
        """Closes; again is harmless."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)


class WriterLock:
    """The right to write one log, held until released or until the process dies.

    It lives in ``<log>.lock`` beside the log, which stays while the log is open: removing it between two writers
    would let both in. It is removed with the seal, because nobody can write a sealed log.
    """

    def __init__(self, log: Path) -> None:
        self.path = log.with_name(log.name + ".lock")
        self._log = log
        self._lock = FileLock(self.path, thread_local=False)

    @property
    def held(self) -> bool:
        """By this object, now."""
        return self._lock.is_locked

    def acquire(self, *, wait_s: float = 0.0) -> None:
        """Raises LogLockedError when another writer holds it, for longer than `wait_s` seconds; LogWriteError when it
        cannot be made."""
        if not self.path.parent.is_dir():
            raise LogWriteError(f"there is no folder {self.path.parent} to write {self._log.name} in; make it first")
        try:
            self._lock.acquire(timeout=wait_s)
        except Timeout:
            raise LogLockedError(f"another process is writing {self._log}; wait for it or stop it") from None
        except (OSError, NotImplementedError) as e:
            raise LogWriteError(f"cannot lock {self.path}: {e}") from e

    def release(self, *, remove: bool = False) -> None:
        """Lets go; ``remove`` after a seal."""
        if remove and self._lock.is_locked and os.name == "posix":
            self.path.unlink(missing_ok=True)
        self._lock.release()
        if remove and os.name != "posix":
            self.path.unlink(missing_ok=True)


def refuse_existing(path: Path) -> None:
    """LogWriteError when something of that name is there: nothing is ever overwritten."""
    if os.path.lexists(path):
        raise LogWriteError(f"{path} exists; a log is never overwritten: choose another name")


def create_file(path: Path) -> AppendFile:
    """A new file; LogWriteError when something is there already (nothing is ever overwritten)."""
    try:
        return AppendFile(path)
    except FileExistsError:
        refuse_existing(path)
        raise
    except OSError as e:
        raise LogWriteError(f"cannot create {path}: {e}") from e


def replace_file(source: Path, target: Path) -> None:
    """Puts ``source`` in the place of ``target`` in one step that a crash cannot divide."""
    source.replace(target)
    sync_directory(target.parent)


def sync_directory(directory: Path) -> None:
    """Makes names in a directory durable. Windows has no such call and needs none for our guarantees."""
    if os.name != "posix":
        return
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
