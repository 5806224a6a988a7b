"""The writer of an episode's log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from iwreplay.errors import LogWriteError
from iwreplay.events import Event, WorldSnapshot
from iwreplay.log.admission import Gate, admit
from iwreplay.log.chain import Chain
from iwreplay.log.envelope import Row, row_of
from iwreplay.log.files import WritableFile, WriterLock, create_file, sync_directory
from iwreplay.log.format import COMMIT_EVENTS, COMMIT_JSON_BYTES, BatchMeta, Recovered
from iwreplay.log.messages import MessageWriter, build_batch, schema_message
from iwreplay.log.sealing import compact
from iwreplay.ports import Clock

__all__ = ["LogWriter"]


class LogWriter:
    """Appends events to one new log; the only writer that it has.

    `append` validates and buffers. `commit` writes the buffer as one batch and syncs: only then are its events
    acknowledged, and from then on no kill or power cut loses them. The buffer is bounded; when it is full, `append`
    commits by itself. `seal` ends the log. A log that is closed without a seal stays *open*: complete up to the last
    commit, and readable.
    """

    def __init__(
        self, path: Path, lock: WriterLock, file: WritableFile, *, clock: Clock | None, recovered: Recovered | None
    ) -> None:
        """Use `create`."""
        self.path = path
        self._lock, self._file, self._clock, self._recovered = lock, file, clock, recovered
        self._messages = MessageWriter(compress=False)
        self._gate, self._chain = Gate(), Chain()
        self._rows: list[Row] = []
        self._lines: list[bytes] = []
        self._packed: list[bytes | None] = []
        self._walls: list[int] = []
        self._snapshots: list[int] = []
        self._buffered_bytes = 0
        self._size = 0
        self._prev = ""
        self._failure: str | None = None
        self._closed = False
        self._sealed = False

    @classmethod
    def create(
        cls,
        path: Path | str,
        *,
        clock: Clock | None = None,
        recovered: Recovered | None = None,
        open_file: Callable[[Path], WritableFile] = create_file,
    ) -> LogWriter:
        """A new, empty log on disk.

        ``clock`` gives the wall time of events that come without one (0 when there is no clock). ``recovered`` marks
        a log made from a damaged one. Raises LogLockedError while another writer has this log, LogWriteError when
        something of that name exists or cannot be made.
        """
        path = Path(path)
        lock = WriterLock(path)
        lock.acquire()
        try:
            writer = cls(path, lock, open_file(path), clock=clock, recovered=recovered)
        except BaseException:
            lock.release()
            raise
        try:
            raw, writer._prev = schema_message(recovered)
            writer._put(raw)
            sync_directory(path.parent)
        except BaseException:
            writer._file.close()
            path.unlink(missing_ok=True)
            lock.release(remove=True)
            raise
        return writer

    @property
    def committed(self) -> int:
        """Number of acknowledged events: seqs below it are on disk."""
        return self._chain.count

    @property
    def root_hash(self) -> str:
        """Root hash of the acknowledged events."""
        return self._chain.root

    @property
    def next_seq(self) -> int:
        """The seq that the next event gets."""
        return self._chain.count + len(self._lines)

    def append(self, event: Event, *, wall_ns: int | None = None) -> int:
        """Takes one event and gives its seq; ``wall_ns`` (nanoseconds since 1970) is stored but never hashed.

        Raises EventError for an event that may not be logged (the log goes on without it), LogWriteError once a
        write has failed or after the end.
        """
        if self._failure is not None or self._closed:
            self._refuse()
        line, packed = admit(event)
        self._gate.check(event)
        row = row_of(event)
        seq = self._chain.count + len(self._lines)
        if wall_ns is None:
            wall_ns = 0 if self._clock is None else self._clock.now_ns()
        self._walls.append(wall_ns)
        self._rows.append(row)
        self._lines.append(line)
        self._packed.append(packed)
        self._buffered_bytes += len(line)
        if packed is not None:
            self._buffered_bytes += len(packed)
            if isinstance(event, WorldSnapshot):
                self._snapshots.append(seq)
        if len(self._lines) >= COMMIT_EVENTS or self._buffered_bytes >= COMMIT_JSON_BYTES:
            self.commit()
        return seq

    def commit(self) -> None:
        """Writes and syncs everything appended so far: acknowledged when this returns.

        Raises LogWriteError when it does not reach the disk; then the half-written batch is cut away if the disk
        still allows it, every event acknowledged before stays readable, and the writer takes nothing more.
        """
        if self._failure is not None or self._closed:
            self._refuse()
        if not self._lines:
            return
        first = self._chain.count
        chain = self._chain.copy()
        links = chain.add_linked(self._lines, self._packed)
        batch = build_batch(
            first=first, wall_ns=self._walls, rows=self._rows, lines=self._lines, packed=self._packed, links=links
        )
        meta = BatchMeta(
            first=first,
            count=len(self._lines),
            prev=self._prev,
            head=chain.root,
            snapshots=tuple(self._snapshots),
        )
        raw, digest = self._messages.batch(batch, meta)
        self._put(raw)
        self._prev, self._chain = digest, chain
        self._walls, self._rows, self._lines, self._packed, self._snapshots = [], [], [], [], []
        self._buffered_bytes = 0

    def seal(self) -> str:
        """Commits, compacts into large compressed batches, and marks the log as whole; gives the root hash.

        The sealed log is written beside and put in place in one step: a crash leaves the open log or the sealed
        one. Raises LogWriteError when the disk refuses; the open log is intact then. Nothing can be appended after.
        """
        if self._sealed:
            return self._chain.root
        self.commit()
        self._file.close()
        self._closed = True
        try:
            root = compact(self.path, recovered=self._recovered)
        except BaseException:
            self._lock.release()
            raise
        if root != self._chain.root:
            raise AssertionError(f"sealing {self.path} changed its root hash from {self._chain.root} to {root}")
        self._sealed = True
        self._lock.release(remove=True)
        return root

    def close(self) -> None:
        """Commits what is buffered (unless a write has failed) and lets go of the file; the log stays open."""
        if self._closed:
            return
        try:
            if self._failure is None:
                self.commit()
        finally:
            self._closed = True
            self._file.close()
            self._lock.release()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, raw: bytes) -> None:
        try:
            self._file.write(raw)
            self._file.sync()
        except (OSError, ValueError) as e:
            self._failure = str(e)
            kept = self._cut_back()
            raise LogWriteError(
                f"writing {self.path} failed with {self.committed} events safe on disk: {e}; {kept}"
            ) from e
        self._size += len(raw)

    def _cut_back(self) -> str:
        try:
            self._file.truncate(self._size)
        except (OSError, ValueError) as e:
            return f"the unfinished batch could not be cut away ({e}): the log reads as truncated, nothing acknowledged is lost"
        return "nothing acknowledged is lost; free the disk and record again"

    def _refuse(self) -> None:
        if self._failure is not None:
            raise LogWriteError(f"{self.path} takes no more events since a write failed: {self._failure}")
        raise LogWriteError(f"{self.path} is {'sealed' if self._sealed else 'closed'} and takes no more events")
