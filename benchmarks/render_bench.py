"""Milliseconds a frame: RGB, depth and ids of a furnished room at 640 x 480, with shadows.

    python -m benchmarks.render_bench [--frames 30] [--threads 1 2] [--memory 1000]
        [--peer-python PEER/bin/python] [--gl egl osmesa] [--warp-python PEER2/bin/python]

The scene is the kitchen of the renderer's tests with more tableware, about 30,000 triangles. The camera turns a full
circle at eye height. "still": nothing moves. "moving": a mug is carried along, which the lamp's shadow map follows.
"working": the wearer moves, and its shadow. "evening": three more lamps shine. "survey": ids only, as for frames that
are not drawn. All from the same cameras; wall and processor time are medians over frames.

Peers get the same triangles, colours, lamp and cameras, in the same run: mujoco's own renderer on Mesa (`--peer-python`
is an interpreter that has mujoco; `--gl` its backends), and the ray camera of mujoco-warp. `--memory N`: the memory
that N more frames of a changing scene add.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from iwreplay.body import bone_poses, own_skin
from iwreplay.pose import Pose, from_xyz_yaw
from iwreplay.render import Renderer, focal_from_fovy
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, look, mug

WIDTH, HEIGHT = 640, 480
PEER_SCRIPT = Path(__file__).parent / "peers" / "mujoco_render.py"
EYE = (2.0, 0.5, 1.55)
STATM = Path("/proc/self/statm")


def bench_scene() -> CompiledScene:
    """The kitchen with a cupboard's worth of mugs on the table and the worktop."""
    more = []
    for i in range(25):
        on_table = i % 2 == 0
        x, y = (1.7 + 0.085 * (i // 2), 0.92) if on_table else (0.35 + 0.25 * (i // 2), 2.56)
        more.append(mug(f"mug_{10 + i}", x, y, 0.753 if on_table else 0.90, ("blue", "red", "white", "green")[i % 4]))
    for k in range(3):
        lamp = mug(f"mug_{90 + k}", 0.5 + 1.3 * k, 2.6, 0.9, "white")
        props = {**lamp.props, "light": 0.5, "light_z": 0.3}
        more.append(msgspec.structs.replace(lamp, props=props, attrs={**lamp.attrs, "on": False}))
    return kitchen(more=tuple(more))


def camera_at(i: int, *, frames: int) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Eye and target of a frame: a full circle."""
    turn = math.pi / 2 + 2.0 * math.pi * i / frames
    return EYE, (EYE[0] + math.cos(turn), EYE[1] + math.sin(turn), 1.1)


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
    body = bone_poses(state.body)
    began = time.perf_counter()
    renderer = Renderer(scene, body=own_skin().without_head(), threads=threads)
    built = time.perf_counter() - began

    def camera(i: int) -> Pose:
        return look(*camera_at(i, frames=frames))

    def still(i: int) -> object:
        return renderer.draw(state, camera=camera(i), focal_px=focal, width=WIDTH, height=HEIGHT, body=body)

    def moving(i: int) -> object:
        state.poses["mug_1"] = from_xyz_yaw(2.0 + 0.01 * i, 1.0, 0.9, 0.0)
        return still(i)

    def working(i: int) -> object:
        # the wearer moves, so that the skin is worked out anew
        turned = (*state.body[:7], *(v + 0.001 * i for v in state.body[7:]))
        return renderer.draw(
            state, camera=camera(i), focal_px=focal, width=WIDTH, height=HEIGHT, body=bone_poses(turned)
        )

    def evening(i: int) -> object:
        for k in range(3):
            state.attrs[f"mug_{90 + k}"]["on"] = True
        return still(i)

    def survey(i: int) -> object:
        return renderer.survey(state, camera=camera(i), focal_px=focal, width=WIDTH, height=HEIGHT, body=body)

    began = time.perf_counter()
    still(0)
    first = time.perf_counter() - began
    stage = renderer.stage
    drawn = sum(int(f1 - f0) for f0, f1 in stage.part_faces[np.flatnonzero(stage.part_drawn)])
    ready = f"{drawn} triangles to draw, {len(stage.faces) - drawn} more for what breaks or spills"
    lines = [f"threads {threads}: {ready}, built in {1000 * built:.0f} ms, first frame {first:.2f} s"]
    for name, draw in (
        ("still", still),
        ("moving", moving),
        ("working", working),
        ("evening", evening),
        ("survey", survey),
    ):
        wall, cpu = measure(draw, frames=frames)
        lines.append(f"  {name:7s} {wall:6.1f} ms a frame, {cpu:6.1f} ms of processor time")
    return "\n".join(lines)


def peer_scene(scene: CompiledScene, path: Path, *, frames: int) -> None:
    """Writes the triangles that we draw, in the world, and the cameras, for `peers/mujoco_render.py`."""
    state = WorldState(scene)
    renderer = Renderer(scene, threads=1)
    renderer.survey(state, camera=look(*camera_at(0, frames=1)), focal_px=500.0, width=8, height=8)
    s, pal = renderer.stage, renderer.stage.palette
    positions, faces, colours = [], [], []
    vertex_starts, face_starts = [0], [0]
    for p in np.flatnonzero(s.part_drawn):
        (v0, v1), (f0, f1) = s.part_vertices[p], s.part_faces[p]
        positions.append(s.vertices[v0:v1] @ s.poses[p, :, :3].T + s.poses[p, :, 3])
        faces.append(s.faces[f0:f1] - v0 + vertex_starts[-1])
        material = s.part_material[p]
        colours.append((*pal.rgb[material], pal.alpha[material]))
        vertex_starts.append(vertex_starts[-1] + v1 - v0)
        face_starts.append(face_starts[-1] + f1 - f0)
    views = [camera_at(i, frames=frames) for i in range(frames)]
    np.savez(
        path, positions=np.concatenate(positions), faces=np.concatenate(faces), colours=np.array(colours),
        vertex_starts=np.array(vertex_starts), face_starts=np.array(face_starts),
        lamp=np.array(scene.lights[0].pos), eyes=np.array([v[0] for v in views]),
        targets=np.array([v[1] for v in views]), fovy=60.0, width=WIDTH, height=HEIGHT,
    )  # fmt: skip


def run_peer(python: str, how: str, scene: Path, *, frames: int, gl: str = "") -> dict[str, Any] | str:
    """What a peer measured, or why it could not."""
    env = dict(os.environ, **({"MUJOCO_GL": gl} if gl else {}))
    done = subprocess.run(
        [python, str(PEER_SCRIPT), how, str(scene), str(frames)], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def ours(scene: CompiledScene, *, frames: int) -> dict[str, float]:
    """The still scene on all processors, without a body: what the peers draw."""
    state, renderer, focal = WorldState(scene), Renderer(scene), focal_from_fovy(60.0, height=HEIGHT)

    def draw(i: int) -> object:
        camera = look(*camera_at(i, frames=frames))
        return renderer.draw(state, camera=camera, focal_px=focal, width=WIDTH, height=HEIGHT)

    wall, cpu = measure(draw, frames=frames)
    return {"wall_ms": wall, "cpu_ms": cpu}


def compare(scene: CompiledScene, *, peers: list[tuple[str, str, str, str]], frames: int) -> str:
    """Peers (name, interpreter, how, backend) beside ours, each round ours and theirs in turn."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.npz"
        peer_scene(scene, path, frames=frames)
        for name, python, how, gl in peers:
            own = ours(scene, frames=frames)
            found = run_peer(python, how, path, frames=frames, gl=gl)
            if isinstance(found, str):
                lines.append(f"{name}: not measured: {found}")
                continue
            lines.append(f"ours: {own['wall_ms']:.1f} ms a frame, {own['cpu_ms']:.1f} ms of processor time")
            for what, ms in found.items():
                if isinstance(ms, dict):
                    wall, cpu = own["wall_ms"] / ms["wall_ms"], own["cpu_ms"] / ms["cpu_ms"]
                    lines.append(
                        f"{name} {found['version']}, {what}: {ms['wall_ms']:.1f} ms, {ms['cpu_ms']:.1f} ms of "
                        f"processor time; ours takes {wall:.2f} times by the wall, {cpu:.2f} times by processor time"
                    )
    return "\n".join(lines)


def memory_growth_kb(scene: CompiledScene, *, frames: int) -> tuple[int, int]:
    """Most resident memory in the last frames of 100 that warm up, and in `frames` more of a changing scene, in kB.

    Looked at after every frame: the high-water mark of the process would be that of whatever was measured before."""
    state, renderer, focal = WorldState(scene), Renderer(scene), focal_from_fovy(60.0, height=HEIGHT)

    def draw(i: int) -> None:
        state.poses["mug_1"] = from_xyz_yaw(2.0 + 0.01 * (i % 50), 1.0, 0.9, 0.1 * i)
        state.attrs["mug_90"]["on"] = i % 3 == 0
        camera = look(*camera_at(i, frames=97))
        renderer.draw(state, camera=camera, focal_px=focal, width=WIDTH, height=HEIGHT)

    def most(numbers: range) -> int:
        peak = 0
        for i in numbers:
            draw(i)
            peak = max(peak, resident_kb())
        return peak

    most(range(80))
    return most(range(80, 100)), most(range(frames))


def resident_kb() -> int:
    """Memory that the process has now. SystemExit where there is no /proc."""
    if not STATM.exists():
        raise SystemExit(f"--memory reads {STATM}, which {sys.platform} has not")
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", type=int, default=0, help="frames to measure the growth of memory over")
    parser.add_argument("--peer-python", default="", help="an interpreter with mujoco and a Mesa to draw with")
    parser.add_argument("--gl", nargs="+", default=["egl", "osmesa"])
    parser.add_argument("--warp-python", default="", help="an interpreter with mujoco-warp")
    args = parser.parse_args()
    scene = bench_scene()
    for threads in args.threads:
        sys.stdout.write(measure_all(scene, threads=threads, frames=args.frames) + "\n")
    peers = [(f"mujoco on {gl}", args.peer_python, "gl", gl) for gl in args.gl] if args.peer_python else []
    if args.warp_python:
        peers.append(("mujoco-warp ray camera", args.warp_python, "warp", ""))
    if peers:
        sys.stdout.write(compare(scene, peers=peers, frames=args.frames) + "\n")
    if args.memory:
        before, after = memory_growth_kb(scene, frames=args.memory)
        sys.stdout.write(f"memory: {before} kB at most in frames 80 to 100, {after} kB in {args.memory} more\n")


if __name__ == "__main__":
    main()
