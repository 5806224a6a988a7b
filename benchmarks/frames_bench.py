"""What `iwreplay frames` costs beside drawing alone, in processor time.

    python -m benchmarks.frames_bench [--rounds 5] [--log episodes/samples/V06-oracle.arrows] [--memory 1000]

"bare": the renderer draws the states of the log's frames, folded before, and does nothing else. "verified": what
`iwreplay frames --verify` does: read and decode the log, fold it, draw, hash, compare. "files": also PNG files. The
three take turns in every round, each on a renderer of its own that has drawn once; best round of each, and the median
of the rounds' own ratios. "packing": the pixels of a frame as PNG, beside zlib's quickest level on the same rows.
`--memory N`: memory that N frames take more than N/5, measured in processes of their own.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from iwreplay.events import EpisodeConfig, EpisodeOpened, FrameCaptured
from iwreplay.frames import png_bytes
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.scene.model import CompiledScene
from iwreplay.store import write_whole
from iwreplay.world.state import WorldState, fold
from replayer.frames import replay_frames

SAMPLE = Path(__file__).parents[1] / "episodes" / "samples" / "V06-oracle.arrows"


class Shots(NamedTuple):
    """The frames of a log with the states that they show."""

    scene: CompiledScene
    config: EpisodeConfig
    frames: list[tuple[FrameCaptured, WorldState]]


def shots_of(path: Path) -> Shots:
    frames: list[tuple[FrameCaptured, WorldState]] = []
    with read_log(path) as log:
        opened = log.at_seq(0)
        assert isinstance(opened, EpisodeOpened)
        for _, event, state in fold(log):
            if isinstance(event, FrameCaptured):
                frames.append((event, state.copy()))
    return Shots(opened.scene, opened.config, frames)


def bare(maker: FrameMaker, shots: Shots) -> None:
    for event, state in shots.frames:
        maker.draw(state, camera=event.camera, focal_px=event.focal_px, width=event.width, height=event.height)


def verified(maker: FrameMaker, path: Path, folder: Path | None, *, only: frozenset[str] | None = None) -> None:
    """only: ids of frames; None is all of the log."""
    with read_log(path) as log:
        known = frozenset(e.frame_id for _, e in log if isinstance(e, FrameCaptured))
        for shown in replay_frames(log, frames=lambda scene, config: maker, only=known if only is None else only):
            if folder is not None:
                write_whole(folder / f"{shown.event.frame_id}.png", png_bytes(shown.rgb), durable=False)


def cpu_s(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measure(path: Path, *, rounds: int) -> str:
    shots = shots_of(path)
    made = [FrameMaker(shots.scene, config=shots.config) for _ in range(3)]
    times: dict[str, list[float]] = {"bare": [], "verified": [], "files": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs: list[tuple[str, Callable[[], None]]] = [
            ("bare", lambda: bare(made[0], shots)),
            ("verified", lambda: verified(made[1], path, None)),
            ("files", lambda: verified(made[2], path, folder)),
        ]
        for _, job in jobs:
            job()
        for k in range(rounds):
            # who comes first changes, so that none always has the warm caches
            for what, job in jobs[k % 3 :] + jobs[: k % 3]:
                times[what].append(cpu_s(job))
    count = len(shots.frames)
    lines = [f"{path.name}: {count} frames, {rounds} rounds, processor time"]
    for name, found in times.items():
        ratios = [t / b for t, b in zip(found, times["bare"], strict=True)]
        more = "" if name == "bare" else f", {100 * (statistics.median(ratios) - 1):+.1f} % (median of rounds)"
        lines.append(f"  {name:9s} {1000 * min(found) / count:6.2f} ms a frame{more}")
    return "\n".join(lines)


def packing(path: Path, *, rounds: int) -> str:
    """Processor time and size of a PNG, and of zlib's quickest level for the same filtered rows."""
    shots = shots_of(path)
    maker = FrameMaker(shots.scene, config=shots.config)
    pictures = [
        maker.draw(s, camera=e.camera, focal_px=e.focal_px, width=e.width, height=e.height).rgb.copy()
        for e, s in shots.frames[::3]
    ]
    rows = [p.reshape(len(p), -1) for p in pictures]
    filtered = [b"".join((r[:1].tobytes(), (r[1:] - r[:-1]).tobytes())) for r in rows]
    sizes = [sum(len(png_bytes(p)) for p in pictures), sum(len(zlib.compress(f, 1)) for f in filtered)]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        times[0].append(cpu_s(lambda: [png_bytes(p) for p in pictures]))
        times[1].append(cpu_s(lambda: [zlib.compress(f, 1) for f in filtered]))
    ours, zlibs = (
        f"{1000 * min(t) / len(pictures):.2f} ms and {n // len(pictures)} bytes"
        for t, n in zip(times, sizes, strict=True)
    )
    return f"packing: {ours} a frame; zlib, level 1: {zlibs}"


def memory(*, frames: int) -> str:
    """Peak resident memory of regenerating `frames` frames and a fifth of them."""
    from tests.frames.film import write_film

    peaks = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = write_film(folder / "film.arrows", frames=frames, drawn=False, size=(320, 240))
        for every in (5, 1):
            code = (
                "from pathlib import Path; from iwreplay.app.drawing import FrameWish, draw_frames;"
                f"wish = FrameWish(sheet=Path({str(folder / 's.png')!r}), out=Path({str(folder)!r}), every={every});"
                f"draw_frames(Path('x'), {str(log)!r}, wish);"
                # not ru_maxrss: a child begins with its parent's
                "print(next(v.split()[1] for v in open('/proc/self/status') if v.startswith('VmHWM')))"
            )
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            peaks.append(int(done.stdout))
    return f"memory: {peaks[0]} kB at most for {frames // 5} frames, {peaks[1]} kB for {frames}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--log", type=Path, default=SAMPLE)
    parser.add_argument("--memory", type=int, default=0, help="frames to measure the growth of memory over")
    args = parser.parse_args()
    print(measure(args.log, rounds=args.rounds))
    print(packing(args.log, rounds=args.rounds))
    if args.memory:
        print(memory(frames=args.memory))


if __name__ == "__main__":
    main()
