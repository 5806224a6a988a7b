"""Milliseconds a frame: RGB, depth and ids of a furnished room at 640 x 480.

    python -m benchmarks.render_bench [--frames 30] [--threads 1 2]

The scene is the kitchen of the renderer's tests with more tableware, about 30,000 triangles. The camera turns a full
circle at eye height. "still": nothing moves. "moving": a mug is carried along, so that the lamp's shadow map is made
anew for every frame. "survey": ids only, as for frames that are not drawn. Wall and processor time are medians over
frames.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable

from iwreplay.body import BODY_CAPSULES, posed_capsules
from iwreplay.pose import Pose, from_xyz_yaw
from iwreplay.render import Renderer, focal_from_fovy
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, look, mug

WIDTH, HEIGHT = 640, 480
EYE = (2.0, 0.5, 1.55)


def bench_scene() -> CompiledScene:
    """The kitchen with a cupboard's worth of mugs on the table and the worktop."""
    more = []
    for i in range(25):
        on_table = i % 2 == 0
        x, y = (1.7 + 0.085 * (i // 2), 0.92) if on_table else (0.35 + 0.25 * (i // 2), 2.56)
        more.append(mug(f"mug_{10 + i}", x, y, 0.753 if on_table else 0.90, ("blue", "red", "white", "green")[i % 4]))
    return kitchen(more=tuple(more))


def measure(draw: Callable[[int], object], *, frames: int) -> tuple[float, float]:
    """Median wall and processor milliseconds of `draw(i)`."""
    draw(0)
    wall, cpu = [], []
    for i in range(frames):
        w, c = time.perf_counter(), time.process_time()
        draw(i)
        wall.append(1000.0 * (time.perf_counter() - w))
        cpu.append(1000.0 * (time.process_time() - c))
    return statistics.median(wall), statistics.median(cpu)


def measure_all(scene: CompiledScene, *, threads: int, frames: int) -> str:
    """Report on one number of threads."""
    state = WorldState(scene)
    focal = focal_from_fovy(60.0, height=HEIGHT)
    body = posed_capsules(state.body)
    began = time.perf_counter()
    renderer = Renderer(scene, body=BODY_CAPSULES, threads=threads)
    built = time.perf_counter() - began

    def camera(i: int) -> Pose:
        turn = math.pi / 2 + 2.0 * math.pi * i / frames
        return look(EYE, (EYE[0] + math.cos(turn), EYE[1] + math.sin(turn), 1.1))

    def still(i: int) -> object:
        return renderer.draw(state, camera=camera(i), focal_px=focal, width=WIDTH, height=HEIGHT, body=body)

    def moving(i: int) -> object:
        state.poses["mug_1"] = from_xyz_yaw(2.0 + 0.01 * i, 1.0, 0.9, 0.0)
        return still(0)

    def survey(i: int) -> object:
        return renderer.survey(state, camera=camera(i), focal_px=focal, width=WIDTH, height=HEIGHT, body=body)

    began = time.perf_counter()
    still(0)
    first = time.perf_counter() - began
    triangles = len(renderer.stage.faces)
    lines = [f"threads {threads}: {triangles} triangles, built in {1000 * built:.0f} ms, first frame {first:.2f} s"]
    for name, draw in (("still", still), ("moving", moving), ("survey", survey)):
        wall, cpu = measure(draw, frames=frames)
        lines.append(f"  {name:7s} {wall:6.1f} ms a frame, {cpu:6.1f} ms of processor time")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    scene = bench_scene()
    for threads in args.threads:
        sys.stdout.write(measure_all(scene, threads=threads, frames=args.frames) + "\n")


if __name__ == "__main__":
    main()
