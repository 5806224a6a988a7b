"""A kitchen with things in every kind of place, at rest."""

from __future__ import annotations

import pytest

import taskpacks
from iwreplay.scene.library import load_library
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import Placement
from iwreplay.world.state import WorldState
from recorder.simulators.mujoco_backend import MujocoSimulator

P = Placement
THINGS = (
    P(id="plate_1", cls="plate", at="dining_table_1.top", pos=(-0.4, 0.0)),
    P(id="bread_1", cls="bread", at="plate_1.top", pos=(0.0, 0.0)),
    P(id="plate_2", cls="plate", at="tray_1.top"),
    P(id="tray_1", cls="tray", at="dining_table_1.top", pos=(0.2, 0.1)),
    P(id="bowl_1", cls="bowl", at="counter_1.top"),
    P(id="apple_1", cls="apple", at="bowl_1.main"),
    P(id="mug_1", cls="mug", at="wall_cabinet_1.shelf"),
    P(id="milk_1", cls="milk_carton", at="fridge_1.lower"),
    P(id="pan_1", cls="pan", at="oven_1_cooktop.burner"),
    P(id="egg_1", cls="egg", at="pan_1.main"),
    P(id="sponge_1", cls="sponge", at="sink_1.basin"),
    P(id="pen_1", cls="pen", at="drawer_unit_1_middle.main"),
    P(id="towel_1", cls="towel", at="cabinet_1.main"),
    P(id="carton_1", cls="carton", at="floor", pos=(6.5, 2.4), yaw_deg=30.0),
    P(id="knife_1", cls="knife", at="knife_rest_1.top"),
    P(id="can_1", cls="can", at="used_bin_1.main"),
    P(id="late_1", cls="can", at="off"),
)


@pytest.fixture(scope="session")
def kitchen() -> CompiledScene:
    library = load_library(taskpacks.root() / "objects")
    return compile_scene(load_scene("family_kitchen"), THINGS, library=library)


@pytest.fixture
def sim(kitchen: CompiledScene) -> MujocoSimulator:
    sim = MujocoSimulator()
    sim.load(kitchen)
    sim.step(round(1.0 / sim.dt_s))
    return sim


def state_of(scene: CompiledScene, sim: MujocoSimulator) -> WorldState:
    """What the log would say of the simulator now."""
    state = WorldState(scene)
    state.poses.update(sim.poses())
    state.joints.update(sim.joints())
    return state
