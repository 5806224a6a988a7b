"""In every scene of the package, what can be used can be walked to and used, asked of the real simulator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from iwreplay.body import standing
from iwreplay.motion import Approach, Planner, Route
from iwreplay.motion import trajectories as move
from iwreplay.motion.touching import supports
from iwreplay.pose import Vec3
from iwreplay.scene.geometry import initial_joints
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import grip_point, handle_point
from iwreplay.world.state import WorldState
from recorder.simulators.mujoco_backend import MujocoSimulator

USED = {"grab", "open", "switch", "seat", "water_source"}


def begun(scene_id: str) -> tuple[Planner, WorldState]:
    scene = compile_scene(load_scene(scene_id))
    state = WorldState(scene)
    state.joints.update(initial_joints(scene))
    state.body = standing(*scene.spawn)
    state.attrs[WEARER] = {"posture": "stand", "sitting": "", "held": ""}
    sim = MujocoSimulator()
    sim.load(scene)
    for t in scene.things:
        if t.cls == "door":  # what lies behind one is out of reach while it is shut
            for k in t.links:
                if k.joint is not None:
                    state.joints[f"{t.id}.{k.joint.name}"] = k.joint.open_at
                    sim.drive_joint(f"{t.id}.{k.joint.name}", k.joint.open_at)
            state.attrs[t.id]["open"] = True
    sim.step(round(1.0 / sim.dt_s))
    return Planner(scene=scene, sim=sim), state


def used_points(state: WorldState) -> Iterator[tuple[Thing, Vec3]]:
    for t in state.scene.things:
        if USED.intersection(t.affordances) and state.attrs[t.id].get("exists") is not False:
            if any(how == "in" and state.attrs[s].get("open") is False for how, s in supports(state, t.id)):
                continue
            point = handle_point(t, state)
            if point is not None or t.grip != (0.0, 0.0, 0.0):
                yield t, point or grip_point(t, state)


@pytest.mark.parametrize("scene_id", scene_ids())
def test_everything_usable_is_within_reach_after_a_walk(scene_id: str) -> None:
    plan, state = begun(scene_id)
    for thing, point in used_points(state):
        route = plan.route_to(state, thing.id, point=point)
        assert isinstance(route, Route), (thing.id, route)
        there = state.copy()
        there.body = move.walk(state.body, route).end
        found = plan.approach(there, thing.id, point)
        assert isinstance(found, Approach), (thing.id, found)
        body = move.reach(move.walk(there.body, found.route).end, found.reach).end
        assert len(body) == 163


@pytest.mark.parametrize("scene_id", scene_ids())
def test_every_room_can_be_walked_to(scene_id: str) -> None:
    plan, state = begun(scene_id)
    for room in state.scene.rooms:
        route = plan.route_to(state, room.id)
        assert isinstance(route, Route), (room.id, route)
        x0, y0, x1, y1 = room.rect
        assert x0 <= route.stance.x <= x1
        assert y0 <= route.stance.y <= y1
