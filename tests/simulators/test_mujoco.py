"""The embedded simulator fulfils the contract, and runs alike in another process."""

from __future__ import annotations

import hashlib
import math
import random
import subprocess
import sys

import msgspec
import pytest

import taskpacks
from iwreplay.errors import SimulatorError
from iwreplay.ports import Simulator
from iwreplay.scene.files import RoomSpec, SceneFile
from iwreplay.scene.library import load_library
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.taskpack.model import Placement
from recorder.simulators.mjcf import to_mjcf
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.contracts.simulator import SimulatorContract, bench_scene


class TestMujoco(SimulatorContract):
    @staticmethod
    def make() -> Simulator:
        return MujocoSimulator()


_TUMBLE = """
import hashlib
from iwreplay.pose import quat_about
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.contracts.simulator import bench_scene
sim = MujocoSimulator()
sim.load(bench_scene())
sim.set_pose("cup_1", (0.02, 0.01, 1.3, *quat_about((1.0, 0.3, 0.2), 0.7)))
sim.step(500)
print(hashlib.sha256(sim.snapshot()).hexdigest())
"""


def test_another_process_gives_the_same_bits() -> None:
    digests = {
        subprocess.run([sys.executable, "-c", _TUMBLE], capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    }
    assert len(digests) == 1
    assert digests != {hashlib.sha256(b"").hexdigest() + "\n"}


def test_the_same_scene_is_the_same_text() -> None:
    assert to_mjcf(bench_scene()) == to_mjcf(bench_scene())


def test_a_scene_that_mujoco_refuses_is_an_error_of_ours() -> None:
    scene = bench_scene()
    twice = msgspec.structs.replace(scene, things=(*scene.things, scene.things[-1]))
    with pytest.raises(SimulatorError, match="bench"):
        MujocoSimulator().load(twice)


def test_a_snapshot_of_another_scene_is_refused() -> None:
    sim = MujocoSimulator()
    sim.load(bench_scene())
    saved = sim.snapshot()
    other = MujocoSimulator()
    other.load(msgspec.structs.replace(bench_scene(), id="elsewhere"))
    with pytest.raises(SimulatorError, match="elsewhere"):
        other.restore(saved)
    heavier = tuple(msgspec.structs.replace(t, mass_kg=t.mass_kg * 2) for t in bench_scene().things)
    other.load(msgspec.structs.replace(bench_scene(), things=heavier))
    with pytest.raises(SimulatorError, match="not the same model"):
        other.restore(saved)


def test_a_room_full_of_things_sleeps_and_wakes_alike_after_a_restore() -> None:
    """All movable things of the proving ground: at rest within a millimetre, asleep, and exact through snapshots."""
    scene = compile_scene(load_scene("proving_ground"))
    sim, other = MujocoSimulator(), MujocoSimulator()
    sim.load(scene)
    other.load(scene)
    start = sim.poses()
    sim.step(round(1.0 / sim.dt_s))
    settled = sim.poses()
    for name, pose in settled.items():
        assert math.dist(pose[:3], start[name][:3]) < 1.5e-3, name
    sim.step(round(4.0 / sim.dt_s))
    for name, pose in sim.poses().items():
        assert math.dist(pose[:3], settled[name][:3]) < 2e-4, name
    rng = random.Random(11)
    names = ("mug_1", "apple_1", "plate_1", "box_1", "egg_1", "sponge_1")
    for _ in range(4):
        other.restore(sim.snapshot())
        assert other.snapshot() == sim.snapshot()
        for _ in range(3):
            thing, kind, steps = rng.choice(names), rng.randrange(3), rng.choice((1, 7, 60, 300))
            x, y = rng.uniform(2.5, 3.5), rng.uniform(2.5, 2.9)
            for s in (sim, other):
                if kind == 0:
                    s.set_pose(thing, (x, y, 0.95, 1.0, 0.0, 0.0, 0.0))
                elif kind == 1:
                    s.drive_joint("drawer_unit_1_top.slide", 0.3 * (x - 2.5))
                else:
                    s.set_active(thing, False)
                    s.step(11)
                    s.set_active(thing, True)
                s.step(steps)
        assert sim.snapshot() == other.snapshot()


def test_every_class_of_movable_thing_stands_still_on_the_floor() -> None:
    library = load_library(taskpacks.root() / "objects")
    kinds = [name for name, spec in sorted(library.classes.items()) if not spec.fixed]
    deep = 2.0 + 1.4 * (len(kinds) // 10)
    hall = SceneFile(
        format=1, id="grid", spawn=(0.3, 0.3, 0.0), rooms=(RoomSpec(id="hall", nouns=("hall",), rect=(0, 0, 14, deep)),)
    )
    placements = [
        Placement(id=f"{k}_1", cls=k, at="floor", pos=(1.0 + 1.3 * (i % 10), 1.0 + 1.4 * (i // 10)))
        for i, k in enumerate(kinds)
    ]
    sim = MujocoSimulator()
    sim.load(compile_scene(hall, placements, library=library))
    start = sim.poses()
    sim.step(round(1.0 / sim.dt_s))
    settled = sim.poses()
    sim.step(round(8.0 / sim.dt_s))
    for name, pose in sim.poses().items():
        assert math.dist(start[name][:3], settled[name][:3]) < 1e-3, name
        assert math.dist(pose[:3], settled[name][:3]) < 1e-5, name
        assert abs(sum(a * b for a, b in zip(pose[3:], start[name][3:], strict=True))) > 1.0 - 1e-5, name


def test_it_names_its_physics() -> None:
    params = MujocoSimulator().about().params
    assert len(params["physics"]) == 16
    assert params == MujocoSimulator().about().params
