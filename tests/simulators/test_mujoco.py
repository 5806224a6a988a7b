"""The embedded simulator fulfils the contract, and runs alike in another process."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import msgspec
import pytest

from iwreplay.errors import SimulatorError
from iwreplay.ports import Simulator
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
