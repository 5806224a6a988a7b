"""Re-execution of an episode against recording it, side by side in one run.

    python -m benchmarks.reexec_bench --task V06 --json reexec.json

Each round records the oracle's episode of the task (physics, frames, log, seal) and re-executes it (physics, frames,
comparison of every event), once with frames drawn and once without. Wall and processor seconds in this process, best of
the rounds; the kernels are compiled before the clock starts. State replay (the fold of the log without physics) and a
fold with every frame drawn again stand beside.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from iwreplay.app.drawing import FrameWish, draw_frames
from iwreplay.app.recording import Wish, record_task
from iwreplay.app.replaying import replay_episode
from iwreplay.app.tasks import find_task
from iwreplay.log import read_log
from iwreplay.store import Store
from iwreplay.world.state import fold

__all__ = ["run"]

T = TypeVar("T")


def _timed(work: Callable[[], T]) -> tuple[T, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def _fold(path: Path) -> int:
    with read_log(path) as log:
        return sum(1 for _ in fold(log))


def run(*, task: str, rounds: int) -> dict[str, Any]:
    """Best seconds of each kind of work, and the ratio of re-execution to recording."""
    pack = find_task(task)
    with tempfile.TemporaryDirectory(prefix="reexec-") as name:
        root = Path(name) / "store"
        record_task(pack, wish=Wish(store=root, assistant="oracle", human="literal"))
        store = Store.open(root)
        best: dict[str, tuple[float, float]] = {}
        facts: dict[str, Any] = {}

        def note(kind: str, wall: float, cpu: float) -> None:
            before = best.get(kind, (wall, cpu))
            best[kind] = (min(wall, before[0]), min(cpu, before[1]))

        for _ in range(rounds):
            for frames, suffix in ((True, ""), (False, " without frames")):
                wish = Wish(store=root, assistant="oracle", human="literal", frames=frames)
                recorded, wall, cpu = _timed(partial(record_task, pack, wish=wish))
                note(f"record{suffix}", wall, cpu)
                entry = store.find(recorded.episode)
                verdict, wall, cpu = _timed(partial(replay_episode, entry))
                note(f"re-execute{suffix}", wall, cpu)
                assert verdict.grade == "exact", f"{recorded.episode} is {verdict.grade}: {verdict.first_divergence}"
                facts = {"events": verdict.events, "steps": verdict.steps}
            entry = store.find(f"{pack.id}-oracle-literal-s0")
            _, wall, cpu = _timed(partial(_fold, entry.log))
            note("state replay", wall, cpu)
            drawing, wall, cpu = _timed(partial(draw_frames, root, entry.id, FrameWish(write=False)))
            note("state replay with frames", wall, cpu)
            assert all(f.verdict == "same" for f in drawing.frames), f"{entry.id}: frames differ from those recorded"
        return {
            "task": pack.id,
            "rounds": rounds,
            **facts,
            "wall_s": {k: v[0] for k, v in best.items()},
            "cpu_s": {k: v[1] for k, v in best.items()},
            "reexecute_over_record": best["re-execute"][0] / best["record"][0],
            "reexecute_over_record_without_frames": best["re-execute without frames"][0]
            / best["record without frames"][0],
        }


def main() -> None:
    """Command line of the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="V06")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    result = run(task=args.task, rounds=args.rounds)
    print(f"{result['task']}: {result['events']} events, {result['steps']} steps, best of {result['rounds']}")
    print(f"{'work':28}{'wall s':>9}{'cpu s':>9}{'events/s':>10}")
    for kind, wall in result["wall_s"].items():
        print(f"{kind:28}{wall:9.2f}{result['cpu_s'][kind]:9.2f}{result['events'] / wall:10.0f}")
    print(
        f"re-execute / record: {result['reexecute_over_record']:.2f}, "
        f"without frames {result['reexecute_over_record_without_frames']:.2f}"
    )
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
