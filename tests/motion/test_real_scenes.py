"""In every scene of the package, what can be used can be walked to and used, asked of the real simulator."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from iwreplay.body import standing
from iwreplay.motion import Approach, Planner, Refusal, Route
from iwreplay.motion import trajectories as move
from iwreplay.motion.grid import OccupancyGrid
from iwreplay.motion.search import Search
from iwreplay.motion.sides import rooms_beside
from iwreplay.motion.touching import supports
from iwreplay.pose import Vec3
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import grip_point, handle_point, room_at
from iwreplay.world.state import WorldState
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.tiny import at_spawn

USED = {"grab", "open", "switch", "seat", "water_source"}
#: a thing this near to another room is tried from there
NEXT_DOOR_M = 1.0


def begun(scene_id: str) -> tuple[Planner, WorldState]:
    scene = compile_scene(load_scene(scene_id))
    state = at_spawn(scene)
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


def reach(plan: Planner, state: WorldState, thing: Thing, point: Vec3) -> Approach | Refusal:
    """To a point; a wide door that stands open to the outside is reached for where its handle is when it is closed."""
    found = plan.approach(state, thing.id, point)
    if isinstance(found, Refusal) and thing.cls == "door":
        shut = state.copy()
        shut.joints.update({j: 0.0 for j in shut.joints if j.startswith(f"{thing.id}.")})
        handle = handle_point(thing, shut)
        assert handle is not None
        found = plan.approach(state, thing.id, handle)
    return found


@pytest.mark.parametrize("scene_id", scene_ids())
def test_everything_usable_is_within_reach_after_a_walk(scene_id: str) -> None:
    plan, state = begun(scene_id)
    for thing, point in used_points(state):
        route = plan.route_to(state, thing.id, point=point)
        assert isinstance(route, Route), (thing.id, route)
        there = state.copy()
        there.body = move.walk(state.body, route).end
        found = reach(plan, there, thing, point)
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


@pytest.mark.parametrize("scene_id", scene_ids())
def test_what_stands_next_to_a_wall_is_walked_to_on_its_own_side(scene_id: str) -> None:
    plan, state = begun(scene_id)
    grid = OccupancyGrid(state.scene).at(state)
    spawn = grid.cell(*state.scene.spawn[:2])
    assert spawn is not None
    free = {c for c in range(len(grid.blocked)) if not grid.blocked[c]}
    floor = [grid.centre(c) for c, _ in Search(grid, spawn, goals=free)]
    points = {t.id: p for t, p in used_points(state)}
    for thing in state.scene.things:
        if not thing.fixed or not thing.affordances or thing.cls == "floor":
            continue
        home = rooms_beside(state, thing)
        at = state.poses[thing.id][:2]
        beyond = [p for p in floor if room_at(state.scene, *p) not in home]
        start = min(beyond, key=lambda p: math.dist(p, at), default=None)
        if start is None or math.dist(start, at) > NEXT_DOOR_M:
            continue
        there = state.copy()
        there.body = standing(*start, 0.0)
        route = plan.route_to(there, thing.id)
        assert isinstance(route, Route), (thing.id, route)
        assert room_at(state.scene, route.stance.x, route.stance.y) in home, (thing.id, start)
        if thing.id in points:
            there.body = move.walk(there.body, route).end
            found = reach(plan, there, thing, points[thing.id])
            assert isinstance(found, Approach), (thing.id, start, found)
