"""Work on a Ray cluster: every episode is a task of it, of a benchmark run or of scoring.

A worker records into a folder of its own and sends the episode's files back; the store is written here only, so that
the machines of the cluster share nothing, and one that goes away leaves nothing half done. What models take is counted
by an actor; what it counted is fetched while the run waits, so that a run that is killed may forget the last half
second of it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from iwreplay.app.engines import Done, Job, LostError, StoppedError
from iwreplay.app.recording import RecordedEpisode, record_into
from iwreplay.errors import IwreplayError, WorkerError
from iwreplay.store import Episode, write_whole
from recorder.benchmark import Charged, RunMeter
from recorder.benchmark.meter import RemoteMeter

__all__ = ["RayEngine", "RayMissingError", "ray_each"]

Item = TypeVar("Item")
Packed = TypeVar("Packed")
Result = TypeVar("Result")

#: times that an item is begun whose worker goes away
_MAX_TRIES = 3


class RayMissingError(IwreplayError):
    """Ray is not installed, or its cluster can't be reached."""


class RayEngine:
    """Episodes as tasks of a Ray cluster; one is started on this machine when no address is given."""

    def __init__(self, meter: RunMeter, *, address: str | None, jobs: int) -> None:
        """jobs: at a time; the cluster may do fewer. RayMissingError."""
        self.capacity = jobs
        self._meter = meter
        self._ray = _started(address, cpus=jobs)
        # on this machine: one that goes away must not take it along
        here = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            self._ray.get_runtime_context().get_node_id(), soft=False
        )
        actor = self._ray.remote(num_cpus=0, scheduling_strategy=here)(_CountingActor)
        self._counter = actor.remote(meter.limits(), meter.spent)
        #: charges that were fetched
        self._fetched = 0
        self._record = self._ray.remote(num_cpus=1, max_retries=0)(_record)
        self._flying: dict[Any, Job] = {}

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # ends what is under way too. To cancel a task by force in the moment in which it ends kills this process: Ray
        # 2.60 takes that for a state that can't be
        self._ray.shutdown()

    def submit(self, job: Job) -> None:
        alone = msgspec.structs.replace(job.wish, meter=RemoteMeter(_ActorCounter(self._counter)), threads=1)
        self._flying[self._record.remote(msgspec.structs.replace(job, wish=alone))] = job

    def wait(self, seconds: float) -> list[Done]:
        done, _ = self._ray.wait(list(self._flying), num_returns=1, timeout=seconds)
        self._fetch_charges()
        return [self._done(task) for task in done]

    def stop(self) -> list[Done]:
        """What is being played is broken off: it is begun again when the run goes on."""
        jobs, self._flying = list(self._flying.values()), {}
        self._fetch_charges()
        return [Done(job=job, error=StoppedError()) for job in jobs]

    def _fetch_charges(self) -> None:
        for charged in self._ray.get(self._counter.since.remote(self._fetched)):
            self._meter.charge(charged)
            self._fetched += 1

    def _done(self, task: Any) -> Done:
        job = self._flying.pop(task)
        try:
            recorded, files = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as e:
            return Done(job=job, error=e.cause if isinstance(e.cause, Exception) else e)
        except self._ray.exceptions.RayError:
            # its process, its memory, its machine, or what it had sent
            return Done(job=job, error=LostError(alone=True))
        self._fetch_charges()
        _put(files, job.episode)
        return Done(job=job, recorded=msgspec.structs.replace(recorded, log=str(job.episode.log)))


def ray_each(
    work: Callable[[Packed], Result],
    items: Sequence[Item],
    *,
    pack: Callable[[Item], Packed],
    name: Callable[[Item], str],
    address: str | None,
    jobs: int,
) -> Iterator[tuple[Item, Result]]:
    """`work` of every packed item, as tasks of a Ray cluster (one with `jobs` processes is started on this machine when
    no address is given), in the order in which they are done. What is packed is packed when there is room for it.

    An item whose worker goes away is begun again; WorkerError when that happens three times. RayMissingError. What
    `work` raises is raised. When this is left early, what is under way is broken off.
    """
    ray = _started(address, cpus=jobs)
    flying: dict[Any, tuple[Item, int]] = {}
    try:
        room = max(1, 2 * int(ray.cluster_resources().get("CPU", 1)))
        task = ray.remote(num_cpus=1, max_retries=0)(_carry_out)
        left = [(item, 1) for item in reversed(items)]
        while left or flying:
            while left and len(flying) < room:
                item, attempt = left.pop()
                flying[task.remote(work, pack(item))] = item, attempt
            done, _ = ray.wait(list(flying), num_returns=1)
            item, attempt = flying.pop(done[0])
            try:
                result = ray.get(done[0])
            except ray.exceptions.RayTaskError as e:
                raise e.cause if isinstance(e.cause, Exception) else e from None
            except ray.exceptions.RayError as e:
                if attempt == _MAX_TRIES:
                    raise WorkerError(
                        f"the worker of {name(item)} on the Ray cluster went away {_MAX_TRIES} times; what was "
                        "finished is kept"
                    ) from e
                left.append((item, attempt + 1))
                continue
            yield item, result
    finally:
        # ends what is under way too
        ray.shutdown()


def _carry_out(work: Callable[[Packed], Result], packed: Packed) -> Result:
    """Runs in a worker of the cluster."""
    return work(packed)


def _put(files: dict[str, bytes], episode: Episode) -> None:
    """The files of an episode where they belong; its log comes last, so that an episode that has one is whole."""
    assert episode.folder is not None, "an episode of a run is in a store"
    for name in sorted(files, key=lambda n: (n == episode.log.name, n)):
        path = episode.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, files[name])


def _record(job: Job) -> tuple[RecordedEpisode, dict[str, bytes]]:
    """Runs in a worker of the cluster."""
    with tempfile.TemporaryDirectory(prefix="iwreplay-") as there:
        folder = Path(there) / job.episode.id
        folder.mkdir()
        here = Episode(id=job.episode.id, log=folder / job.episode.log.name, folder=folder)
        recorded = record_into(here, job.task, wish=job.wish)
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    return recorded, files


class _CountingActor:
    """Counts for all workers of a cluster."""

    def __init__(self, limits: Any, spent: Any) -> None:
        self._all: list[Charged] = []
        budget, per_minute = limits
        self._meter = RunMeter(budget, per_minute=per_minute, spent=spent, keep=self._all.append)

    def reserve(self, model: str) -> tuple[float, str | None]:
        return self._meter.reserve(model)

    def charge(self, charged: Charged) -> None:
        self._meter.charge(charged)

    def since(self, n: int) -> list[Charged]:
        """The charges behind the first n."""
        return self._all[n:]


class _ActorCounter:
    """The actor as a worker sees it."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def reserve(self, model: str) -> tuple[float, str | None]:
        seconds, used = _ray().get(self._actor.reserve.remote(model))
        return float(seconds), used

    def charge(self, charged: Charged) -> None:
        _ray().get(self._actor.charge.remote(charged))


def _started(address: str | None, *, cpus: int) -> Any:
    """Ray, connected to a cluster; RayMissingError."""
    ray = _ray()
    try:
        ray.init(
            address=address,
            num_cpus=None if address else cpus,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
        )
    except (ConnectionError, RuntimeError, ValueError) as e:
        raise RayMissingError(f"the Ray cluster {address or 'on this machine'} can't be used: {e}") from e
    return ray


def _ray() -> Any:
    # it tells its makers otherwise how it is used
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # noqa: TID251
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError:
        raise RayMissingError("Ray is not installed. Install it with: pip install 'iwreplay[ray]'") from None
    return ray
