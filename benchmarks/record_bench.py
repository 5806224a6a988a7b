"""What recording costs beside what is recorded, in milliseconds a turn; and whether a thousand episodes fit in memory.

    python -m benchmarks.record_bench [--rounds 3] [--tasks F19 V06 G05 D03] [--episodes 1000 --jobs 2]

An episode of each task is played by its oracle and the literal Human, without drawing. Time is taken apart where the
parts meet, and each second counts for one part only: "world" is the action engine (planning, physics, processes) with
what the scripted events look at; "participants" what they take to answer; "seen" what is worked out of frames that
nobody draws (who sees what); "log" appending, hashing and writing events; "recorder" all that is left: views, the scan
for leaks, limits, folding. The recorder's own share is "log" and "recorder". Best round of each part.

`--episodes N`: N episodes of the first task with the same participants, in so many worker processes; memory of each
worker after its first tenth and at its end.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from iwreplay.actions import ActionEngine
from iwreplay.app.pool import each
from iwreplay.app.recording import Wish, record_task
from iwreplay.app.tasks import find_tasks
from iwreplay.checks import trigger
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import LogWriter
from iwreplay.loop import configured, environment_fingerprint, run_episode
from iwreplay.store import Store
from iwreplay.taskpack.loader import validate_task
from iwreplay.taskpack.model import TaskPack
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman
from recorder.record import SystemClock
from recorder.simulators.mujoco_backend import MujocoSimulator

PARTS = ("world", "participants", "seen", "log", "recorder")


class Stopwatch:
    """Where time goes: one part at a time, the innermost one."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._stack = ["recorder"]
        self._since = time.perf_counter()

    def _turn_over(self) -> None:
        now = time.perf_counter()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            self._turn_over()
            self._stack.append(part)
            try:
                return work(*args, **kwargs)
            finally:
                self._turn_over()
                self._stack.pop()

        return run

    def stop(self) -> dict[str, float]:
        self._turn_over()
        return dict(self.seconds)


class Timed:
    """Any object, with some of its methods timed."""

    def __init__(self, inner: Any, watch: Stopwatch, part: str, *methods: str) -> None:
        self.__dict__.update(_inner=inner, **{m: watch.timed(part, getattr(inner, m)) for m in methods})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._inner, name, value)


def play(task: TaskPack, folder: Path) -> tuple[dict[str, float], int]:
    """(seconds of each part, turns) of one episode."""
    scene = validate_task(task)
    config = configured(task, draw_frames=False)
    fingerprint = environment_fingerprint()
    simulator = MujocoSimulator()
    frames = FrameMaker(scene, config=config)
    watch = Stopwatch()
    writer = LogWriter.create(folder / f"{task.id}.arrows", clock=SystemClock())

    def engine(**parts: Any) -> Any:
        built = watch.timed("world", ActionEngine)(**parts)
        return Timed(built, watch, "world", "begin", "execute", "idle", "set_attr", "place")

    result = run_episode(
        task=task,
        scene=scene,
        config=config,
        assistant=Timed(OracleAssistant(task.oracle), watch, "participants", "decide"),
        human=Timed(LiteralHuman(), watch, "participants", "act", "report"),
        simulator=Timed(simulator, watch, "world", "load"),
        frames=Timed(frames, watch, "seen", "event"),
        log=Timed(writer, watch, "log", "append", "commit"),
        fingerprint=fingerprint,
        engine=engine,
        watch=trigger,
    )
    watch.timed("log", writer.seal)()
    simulator.close()
    assert result.reason == "done", result.detail
    return watch.stop(), result.turns


def measure(names: tuple[str, ...], *, rounds: int) -> str:
    lines = [f"{'task':6} {'turns':>5} {'total':>8} " + " ".join(f"{p:>12}" for p in PARTS) + "    own share"]
    for task in find_tasks(names):
        found = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                found.append(play(task, Path(folder)))
        turns = found[0][1]
        best = {p: min(seconds[p] for seconds, _ in found) * 1000.0 / turns for p in PARTS}
        total = sum(best.values())
        own = best["log"] + best["recorder"]
        cells = " ".join(f"{best[p]:9.2f} ms" for p in PARTS)
        lines.append(f"{task.id:6} {turns:5d} {total:5.0f} ms {cells}   {own:6.2f} ms = {own / total:5.1%}")
    return "\n".join(lines)


def _recorded(n: int, *, task: TaskPack, store: Path) -> tuple[int, float]:
    """(process, its memory in megabytes) after one more episode."""
    import os

    record_task(task, wish=Wish(store=store, assistant="oracle", human="literal", seed=n, frames=False, threads=1))
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return os.getpid(), pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(name: str, *, episodes: int, jobs: int) -> str:
    (task,) = find_tasks((name,))
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        Store.open_or_make(Path(folder) / "store", made_by="record_bench")
        work = partial(_recorded, task=task, store=Path(folder) / "store")
        seen: dict[int, list[float]] = {}
        for pid, megabytes in each(work, range(episodes), jobs=jobs, progress=lambda done, of: None):
            seen.setdefault(pid, []).append(megabytes)
    took = time.perf_counter() - begun
    lines = [f"{episodes} episodes of {task.id} with {jobs} jobs: {took:.0f} s, {1000 * took / episodes:.0f} ms each"]
    for worker in seen.values():
        early, late = worker[len(worker) // 10], statistics.median(worker[-10:])
        lines.append(f"  {len(worker)} in one process: {early:.1f} MB after a tenth, {late:.1f} MB at the end")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", default=["F19", "V06", "G05", "D03"])
    parser.add_argument("--episodes", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    print(measure(tuple(args.tasks), rounds=args.rounds))
    if args.episodes:
        print(memory(args.tasks[0], episodes=args.episodes, jobs=args.jobs))


if __name__ == "__main__":
    main()
