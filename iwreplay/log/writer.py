"""The writer of an episode's log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from iwreplay.canonical import frame
from iwreplay.errors import LogWriteError
from iwreplay.events import Event, WorldSnapshot
from iwreplay.log.admission import LINE, Gate, admit_row, refuse_odd_wall
from iwreplay.log.chain import Chain, links_of
from iwreplay.log.envelope import ENVELOPE, Cell
from iwreplay.log.fastcheck import PLAIN_ROWS
from iwreplay.log.files import WritableFile, WriterLock, create_file, refuse_existing, sync_directory
from iwreplay.log.format import COMMIT_EVENTS, COMMIT_JSON_BYTES, MAX_EVENT_BYTES, BatchMeta, Recovered
from iwreplay.log.messages import MessageWriter, build_batch, schema_message
from iwreplay.log.sealing import compact
from iwreplay.ports import Clock

__all__ = ["LogWriter"]

#: place of the event with which a batch is full
_LAST = COMMIT_EVENTS - 1
_KIND = ENVELOPE.index("kind")
_SNAPSHOT = str(WorldSnapshot.__struct_config__.tag)


@dataclass(frozen=True, slots=True)
class _Tail:
    """Where the file ends, and what the next batch goes on from."""

    size: int
    #: of the last message
    digest: str
    chain: Chain
    #: of the last event
    link: int


class _Held:
    """Events that are not written yet, and where they belong: one object, so that both change in one step."""

    __slots__ = ("cells", "first", "lines", "packed", "size", "tail", "walls")

    def __init__(self, tail: _Tail) -> None:
        #: the end of the file as it is
        self.tail = tail
        #: seq of the first one
        self.first = tail.chain.count
        #: JSON lines; there are as many events as lines
        self.lines: list[bytes] = []
        self.walls: list[int] = []
        #: derived rows end to end
        self.cells: list[Cell] = []
        #: index among the lines -> array
        self.packed: dict[int, bytes] = {}
        #: bytes of lines and arrays
        self.size = 0

    def forget_half_an_event(self) -> None:
        """After an interrupt: what belongs to no line."""
        n = len(self.lines)
        del self.walls[n:], self.cells[n * len(ENVELOPE) :]
        self.packed.pop(n, None)


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
        self._gate = Gate()
        #: the end of the file as far as it is synced
        self._synced = _Tail(size=0, digest="", chain=Chain(), link=0)
        self._held = _Held(self._synced)
        #: False while a write is under way
        self._settled = True
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
            raw, digest = schema_message(recovered)
            writer._write(raw, _Tail(size=len(raw), digest=digest, chain=Chain(), link=0))
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
        return self._synced.chain.count

    @property
    def root_hash(self) -> str:
        """Root hash of the events written so far (of all of them after `commit`)."""
        return self._held.tail.chain.root

    @property
    def next_seq(self) -> int:
        """The seq that the next event gets."""
        return self._held.first + len(self._held.lines)

    def append(self, event: Event, *, wall_ns: int | None = None) -> int:
        """Takes one event and gives its seq; ``wall_ns`` (nanoseconds since 1970) is stored but never hashed.

        Raises EventError for an event that may not be logged (the log goes on without it), LogWriteError once a
        write has failed or after the end.
        """
        if self._ended:
            self._refuse()
        line, packed = b"", None
        try:
            row = PLAIN_ROWS[type(event)](event)
            if row is not None:
                line = LINE((event,))
        except (KeyError, TypeError, ValueError):
            row = None
        if row is None or len(line) > MAX_EVENT_BYTES:
            # the gate looks closer, and says what is wrong if anything is
            line, packed, row = admit_row(event)
        held, gate = self._held, self._gate
        if row[0] < gate.last_s:
            gate.check(event)
        if wall_ns is None:
            wall_ns = 0 if self._clock is None else self._clock.now_ns()
        if wall_ns:
            refuse_odd_wall(wall_ns)
        lines = held.lines
        n = len(lines)
        try:
            held.size = size = held.size + len(line)
            if packed is not None:
                held.packed[n] = packed
                held.size = size = size + len(packed)
            held.cells += row
            held.walls.append(wall_ns)
            gate.last_s = row[0]
            # the last step: with its line the event is taken
            lines.append(line)
        except BaseException:
            held.forget_half_an_event()
            raise
        if n >= _LAST or size >= COMMIT_JSON_BYTES:
            self._flush()
        return held.first + n

    def commit(self) -> None:
        """Writes and syncs everything appended so far: acknowledged when this returns.

        Raises LogWriteError when it does not reach the disk; then what was written by halves is cut away if the disk
        still allows it, every event acknowledged before stays readable, and the writer takes nothing more.
        """
        if self._ended:
            self._refuse()
        self._flush()
        tail = self._held.tail
        if self._synced is tail:
            return
        try:
            self._file.sync()
        except (OSError, ValueError) as e:
            raise self._failed(e, keep=self._synced.size) from e
        self._synced = tail

    def _flush(self) -> None:
        """Writes what is held as one batch, so that memory is bounded; durable only with the next commit."""
        self._settle()
        held = self._held
        lines, packed, first, tail = held.lines, held.packed, held.first, held.tail
        if not lines:
            return
        frames, joined = lines, b"".join(lines)
        if packed:
            frames = [frame(line, packed.get(i)) for i, line in enumerate(lines)]
        chain = tail.chain.copy()
        chain.add_stream(b"".join(frames) if packed else joined, len(frames))
        links = links_of(frames, before=tail.link)
        batch = build_batch(
            first=first,
            wall_ns=held.walls,
            cells=held.cells,
            lines=lines,
            joined=joined,
            packed=packed,
            links=links,
        )
        kinds = held.cells[_KIND :: len(ENVELOPE)]
        snapshots = tuple(first + i for i in packed if kinds[i] == _SNAPSHOT)
        meta = BatchMeta(first=first, count=len(lines), prev=tail.digest, head=chain.root, snapshots=snapshots)
        raw, digest = self._messages.batch(batch, meta)
        self._write(raw, _Tail(size=tail.size + len(raw), digest=digest, chain=chain, link=links[-1]))

    def _write(self, raw: bytes | memoryview, then: _Tail) -> None:
        """Adds a message at the end of the file, which is then `then`; nothing is held any more."""
        self._settled = False
        try:
            self._file.write(raw)
        except (OSError, ValueError) as e:
            raise self._failed(e, keep=self._held.tail.size) from e
        self._held = _Held(then)
        self._settled = True

    def _settle(self) -> None:
        """After an interrupt (Ctrl-C) within a write: the file ends again where what is held goes on."""
        if self._settled:
            return
        try:
            self._file.truncate(self._held.tail.size)
        except (OSError, ValueError) as e:
            raise self._failed(e, keep=self._held.tail.size) from e
        self._settled = True

    def seal(self) -> str:
        """Commits, compacts into large compressed batches, and marks the log as whole; gives the root hash.

        The sealed log is written beside and put in place in one step: a crash leaves the open log or the sealed
        one. Raises LogWriteError when the disk refuses; the open log is intact then. Nothing can be appended after.
        """
        if self._sealed:
            return self._held.tail.chain.root
        self.commit()
        self._ended = True
        self._file.close()
        try:
            root = compact(self.path, recovered=self._recovered)
        except BaseException:
            self._lock.release()
            raise
        if root != self._held.tail.chain.root:
            raise AssertionError(
                f"sealing {self.path} changed its root hash from {self._held.tail.chain.root} to {root}"
            )
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

    def _failed(self, error: BaseException, *, keep: int) -> LogWriteError:
        """Ends the writer, cuts the file back to its first `keep` bytes, and gives the error to raise."""
        self._failure, self._ended = str(error), True
        way_out = "the log is readable up to there; make room and record again"
        try:
            self._file.truncate(keep)
        except (OSError, ValueError) as e:
            way_out = f"what was written by halves could not be cut away ({e}), so the log will read as truncated"
        return LogWriteError(f"writing {self.path} failed, {self.committed} events are safe: {error}; {way_out}")

    def _refuse(self) -> None:
        if self._failure is not None:
            raise LogWriteError(f"{self.path} takes no more events since a write failed: {self._failure}")
        raise LogWriteError(f"{self.path} is {'sealed' if self._sealed else 'closed'} and takes no more events")
