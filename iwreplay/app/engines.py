"""What plays the episodes of a benchmark run: this process, a few processes of its own, or a Ray cluster.

An engine is handed one episode after the other and says which are done. It knows nothing of plans and journals.
"""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Client, Connection, Listener
from types import TracebackType
from typing import Protocol

import msgspec

from iwreplay.app.pool import Workers, was_stopped
from iwreplay.app.recording import RecordedEpisode, Wish, record_into
from iwreplay.store import Episode
from iwreplay.taskpack.model import TaskPack
from recorder.benchmark import Charged, RunMeter
from recorder.benchmark.meter import RemoteMeter

__all__ = ["Done", "Engine", "Job", "LocalEngine", "LostError", "SequentialEngine", "StoppedError"]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One episode to be recorded. Pickles."""

    episode: Episode
    task: TaskPack
    wish: Wish


class LostError(Exception):
    """The worker of an episode was killed, or its machine went away. `alone`: no other episode was lost with it."""

    def __init__(self, *, alone: bool = False) -> None:
        self.alone = alone
        super().__init__("the worker was lost")


class StoppedError(Exception):
    """The episode was not begun, because the run was stopped."""


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A job that is done, and its episode or what was raised."""

    job: Job
    recorded: RecordedEpisode | None = None
    error: BaseException | None = None


class Engine(Protocol):
    """A context. `capacity` jobs are worked on at a time."""

    capacity: int

    def __enter__(self) -> Engine: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def submit(self, job: Job) -> None: ...

    def wait(self, seconds: float) -> list[Done]:
        """Jobs that were done meanwhile, at least one unless the time is up first. KeyboardInterrupt at Ctrl-C."""
        ...

    def stop(self) -> list[Done]:
        """Begins nothing more; returns what was begun once it is done, with StoppedError for what was not."""
        ...


class SequentialEngine:
    """One episode after the other, in this process."""

    capacity = 1

    def __init__(self, meter: RunMeter) -> None:
        self._meter = RemoteMeter(meter)
        self._next: list[Job] = []

    def __enter__(self) -> SequentialEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._next.clear()

    def submit(self, job: Job) -> None:
        self._next.append(job)

    def wait(self, seconds: float) -> list[Done]:
        """Plays what was submitted."""
        jobs, self._next = self._next, []
        return [self._play(job) for job in jobs]

    def _play(self, job: Job) -> Done:
        wish = msgspec.structs.replace(job.wish, meter=self._meter)
        try:
            return Done(job=job, recorded=record_into(job.episode, job.task, wish=wish))
        except Exception as e:  # noqa: BLE001  told to whoever leads the run
            return Done(job=job, error=e)

    def stop(self) -> list[Done]:
        jobs, self._next = self._next, []
        return [Done(job=job, error=StoppedError()) for job in jobs]


class LocalEngine:
    """Several episodes at a time, in processes of their own. They count what they take in this one."""

    def __init__(self, meter: RunMeter, *, jobs: int) -> None:
        self.capacity = jobs
        self._meter = MeterServer(meter)
        self._workers = Workers(jobs)
        self._flying: dict[Future[RecordedEpisode], Job] = {}

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.stop()
        self._meter.close()

    def submit(self, job: Job) -> None:
        counted = msgspec.structs.replace(job, wish=msgspec.structs.replace(job.wish, meter=self._meter.remote))
        try:
            (future,) = self._workers.submit(_record, counted)
        except BrokenProcessPool:
            # a worker died before anybody heard of it
            future = Future()
            future.set_exception(BrokenProcessPool())
        self._flying[future] = job

    def wait(self, seconds: float) -> list[Done]:
        done, _ = wait(self._flying, timeout=seconds, return_when=FIRST_COMPLETED)
        # in the order in which they were submitted: sets have none
        found = [self._done(f) for f in list(self._flying) if f in done]
        if any(isinstance(d.error, LostError) for d in found):
            # one that dies takes the others with it: what is left of them is told now, and there are new ones
            self._workers.stop()
            found += [self._done(f) for f in list(self._flying)]
            self._workers = Workers(self.capacity)
        return found

    def stop(self) -> list[Done]:
        self._workers.stop()
        return [self._done(f) for f in list(self._flying)]

    def _done(self, future: Future[RecordedEpisode]) -> Done:
        job = self._flying.pop(future)
        if future.cancelled():
            return Done(job=job, error=StoppedError())
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            return Done(job=job, error=LostError())
        if was_stopped(future):
            return Done(job=job, error=StoppedError())
        return Done(job=job, error=error) if error is not None else Done(job=job, recorded=future.result())


def _record(job: Job) -> RecordedEpisode:
    """Runs in a worker."""
    return record_into(job.episode, job.task, wish=job.wish)


class MeterServer:
    """The run's meter, for the worker processes of this machine: they ask it over a local connection, with the key that
    this process gave them when it started them."""

    def __init__(self, meter: RunMeter) -> None:
        self._meter = meter
        self._listener = Listener(authkey=_key())
        self._closed = False
        self.remote = RemoteMeter(_Counter(self._listener.address))
        threading.Thread(target=self._serve, name="meter", daemon=True).start()

    def close(self) -> None:
        self._closed = True
        self._listener.close()

    def _serve(self) -> None:
        while not self._closed:
            try:
                connection = self._listener.accept()
            except (OSError, EOFError, multiprocessing.AuthenticationError):
                # closed, or somebody else knocked
                continue
            threading.Thread(target=self._answer, args=(connection,), name="meter", daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with connection:
            try:
                asked = connection.recv()
                if isinstance(asked, Charged):
                    self._meter.charge(asked)
                    connection.send(None)
                else:
                    connection.send(self._meter.reserve(asked))
            except Exception as e:  # noqa: BLE001  the worker that asked is told, and raises it
                connection.send(e)


class _Counter:
    """The meter as a worker sees it. Pickles."""

    def __init__(self, address: str | tuple[str, int]) -> None:
        self._address = address

    def reserve(self, model: str) -> tuple[float, str | None]:
        seconds, used = self._ask(model)
        return float(seconds), used

    def charge(self, charged: Charged) -> None:
        self._ask(charged)

    def _ask(self, what: object) -> tuple[float, str | None]:
        with Client(self._address, authkey=_key()) as connection:
            connection.send(what)
            answer = connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer or (0.0, None)


def _key() -> bytes:
    return bytes(multiprocessing.current_process().authkey)
