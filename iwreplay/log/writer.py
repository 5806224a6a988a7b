"""The writer of an episode's log."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain as chained
from pathlib import Path
from types import TracebackType

from iwreplay.canonical import VALUES_TYPES, frame
from iwreplay.errors import LogWriteError
from iwreplay.events import Event, WorldSnapshot
from iwreplay.log.admission import Gate, admit, line_of
from iwreplay.log.chain import Chain, links_of
from iwreplay.log.envelope import ROWS, Cell
from iwreplay.log.files import WritableFile, WriterLock, create_file, refuse_existing, sync_directory
from iwreplay.log.format import COMMIT_EVENTS, COMMIT_JSON_BYTES, BatchMeta, Recovered
from iwreplay.log.messages import MessageWriter, build_batch, schema_message
from iwreplay.log.sealing import compact
from iwreplay.ports import Clock

__all__ = ["LogWriter"]


class LogWriter:
    """Appends events to one new log; the only writer that it has.

    `append` validates and holds; `commit` writes what is held as one batch and syncs: only then are its events
    acknowledged, and from then on no kill or power cut loses them. What is held is bounded; when it is full, `append`
    writes it out (without acknowledging it). `seal` ends the log. A log that is closed without a seal stays *open*:
    complete up to the last commit, and readable.
    """

    def __init__(
        self, path: Path, lock: WriterLock, file: WritableFile, *, clock: Clock | None, recovered: Recovered | None
    ) -> None:
        """Use `create`."""
        self.path = path
        self._lock, self._file, self._clock, self._recovered = lock, file, clock, recovered
        self._messages = MessageWriter(compress=False)
        self._gate, self._chain, self._link = Gate(), Chain(), 0
        self._hold_nothing()
        self._size = self._synced_size = self._committed = self._next = self._held_bytes = 0
        self._prev = ""
        self._failure: str | None = None
        #: failed, closed or sealed: takes nothing more
        self._ended = False
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
        if not lock.path.exists():
            # nobody writes it; no lock is left beside what is no log
            refuse_existing(path)
        lock.acquire()
        try:
            writer = cls(path, lock, open_file(path), clock=clock, recovered=recovered)
        except BaseException:
            lock.release()
            raise
        try:
            raw, writer._prev = schema_message(recovered)
            writer._write(raw)
            writer.commit()
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
        return self._committed

    @property
    def root_hash(self) -> str:
        """Root hash of the events written so far (of all of them after `commit`)."""
        return self._chain.root

    @property
    def next_seq(self) -> int:
        """The seq that the next event gets."""
        return self._next

    def append(self, event: Event, *, wall_ns: int | None = None) -> int:
        """Takes one event and gives its seq; ``wall_ns`` (nanoseconds since 1970) is stored but never hashed.

        Raises EventError for an event that may not be logged (the log goes on without it), LogWriteError once a
        write has failed or after the end.
        """
        if self._ended:
            self._refuse()
        if type(event) in VALUES_TYPES:
            line, packed = admit(event)
        else:
            line, packed = line_of(event), None
        gate, now_s = self._gate, event.sim_time_s
        if now_s < gate.last_s:
            gate.check(event)
        gate.last_s = now_s
        if wall_ns is None:
            wall_ns = 0 if self._clock is None else self._clock.now_ns()
        seq, lines = self._next, self._lines
        self._events.append(event)
        lines.append(line)
        self._walls.append(wall_ns)
        held = self._held_bytes + len(line)
        if packed is not None:
            self._packed[len(lines) - 1] = packed
            held += len(packed)
            if type(event) is WorldSnapshot:
                self._snapshots.append(seq)
        self._held_bytes, self._next = held, seq + 1
        if held >= COMMIT_JSON_BYTES or len(lines) >= COMMIT_EVENTS:
            self._flush()
        return seq

    def commit(self) -> None:
        """Writes and syncs everything appended so far: acknowledged when this returns.

        Raises LogWriteError when it does not reach the disk; then what was written by halves is cut away if the disk
        still allows it, every event acknowledged before stays readable, and the writer takes nothing more.
        """
        if self._ended:
            self._refuse()
        self._flush()
        if self._synced_size == self._size:
            return
        try:
            self._file.sync()
        except (OSError, ValueError) as e:
            raise self._failed(e, keep=self._synced_size) from e
        self._synced_size, self._committed = self._size, self._chain.count

    def _flush(self) -> None:
        """Writes what is held as one batch, so that memory is bounded; durable only with the next commit."""
        if not self._lines:
            return
        lines, packed = self._lines, self._packed
        frames = lines
        if packed:
            frames = [frame(line, packed.get(i)) for i, line in enumerate(lines)]
        first, chain = self._chain.count, self._chain.copy()
        chain.add_frames(frames)
        links = links_of(frames, before=self._link)
        # derived from fields that are no containers, so it does not matter what became of those since the append
        cells: list[Cell] = list(chained.from_iterable([ROWS[type(event)](event) for event in self._events]))
        batch = build_batch(first=first, wall_ns=self._walls, cells=cells, lines=lines, packed=packed, links=links)
        snapshots = tuple(self._snapshots)
        meta = BatchMeta(first=first, count=len(lines), prev=self._prev, head=chain.root, snapshots=snapshots)
        raw, digest = self._messages.batch(batch, meta)
        self._write(raw)
        self._prev, self._chain, self._link = digest, chain, links[-1]
        self._hold_nothing()

    def _hold_nothing(self) -> None:
        self._lines: list[bytes] = []
        #: index among the lines -> array
        self._packed: dict[int, bytes] = {}
        self._walls: list[int] = []
        self._events: list[Event] = []
        self._snapshots: list[int] = []
        self._held_bytes = 0

    def seal(self) -> str:
        """Commits, compacts into large compressed batches, and marks the log as whole; gives the root hash.

        The sealed log is written beside and put in place in one step: a crash leaves the open log or the sealed
        one. Raises LogWriteError when the disk refuses; the open log is intact then. Nothing can be appended after.
        """
        if self._sealed:
            return self._chain.root
        self.commit()
        self._ended = True
        self._file.close()
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
        try:
            if not self._ended:
                self.commit()
        finally:
            self._ended = True
            self._file.close()
            self._lock.release()

    def discard(self) -> None:
        """Takes the log away, sealed or not: for one that is no use by halves."""
        self._ended = True
        self._file.close()
        if not self._lock.held:
            self._lock.acquire()
        self.path.unlink(missing_ok=True)
        self._lock.release(remove=True)

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, raw: bytes | memoryview) -> None:
        try:
            self._file.write(raw)
        except (OSError, ValueError) as e:
            raise self._failed(e, keep=self._size) from e
        except BaseException as e:
            # interrupted between two pieces: what is held is written again by the next commit
            try:
                self._file.truncate(self._size)
            except (OSError, ValueError):
                self._failed(e, keep=self._size)
            raise
        self._size += len(raw)

    def _failed(self, error: BaseException, *, keep: int) -> LogWriteError:
        """Ends the writer, cuts the file back to its first `keep` bytes, and gives the error to raise."""
        self._failure, self._ended = str(error), True
        way_out = "the log is readable up to there; make room and record again"
        try:
            self._file.truncate(keep)
        except (OSError, ValueError) as e:
            way_out = f"what was written by halves could not be cut away ({e}), so the log will read as truncated"
        return LogWriteError(f"writing {self.path} failed, {self._committed} events are safe: {error}; {way_out}")

    def _refuse(self) -> None:
        if self._failure is not None:
            raise LogWriteError(f"{self.path} takes no more events since a write failed: {self._failure}")
        raise LogWriteError(f"{self.path} is {'sealed' if self._sealed else 'closed'} and takes no more events")
