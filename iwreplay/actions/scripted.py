"""Where a scripted event puts a thing."""

from __future__ import annotations

import math

from iwreplay.actions.spots import Spot, extent_of, spots_in, spots_on
from iwreplay.errors import SceneError
from iwreplay.ports import Simulator
from iwreplay.pose import Pose, compose, from_xyz_yaw, inverse, transform_point, wrap_angle, yaw_of
from iwreplay.processes.support import dependents, parent_text, part_link
from iwreplay.scene.placing import is_off_stage
from iwreplay.world.geometry import interior_at, interiors_of, link_poses, room_at, surface_at, surfaces_of, thing_of
from iwreplay.world.relations import support_of
from iwreplay.world.state import WorldState

__all__ = ["home_spot", "placement_pose"]

_LIFT_M = 0.003
_SKIN_M = 0.002
#: floor is looked for in steps of this, so many to each side, this far from the wearer's middle
_STEP_M, _STEPS = 0.05, 24
_FEET_M = 0.2


def placement_pose(
    sim: Simulator, state: WorldState, thing: str, at: str, *, pos: tuple[float, float], yaw_rad: float
) -> Spot:
    """The pose for "owner.part" or "floor", as in a task's placements; the nearest free one when it is taken.

    Raises UnknownNameError for a place that the scene lacks, SceneError when nothing is free there.
    """
    if at == "floor":
        return _on_floor(sim, state, thing, from_xyz_yaw(pos[0], pos[1], 0.0, yaw_rad))
    owner_id, _, part = at.partition(".")
    owner = thing_of(state, owner_id)
    extent = extent_of(state, thing)
    if any(s.name == part for k in owner.links for s in k.surfaces):
        surface = surface_at(state, at)
        pose = compose(surface.pose, from_xyz_yaw(pos[0], pos[1], 0.0, yaw_rad))
        if _free(sim, state, thing, pose):
            return Spot(pose, parent_text("on", owner_id, part), owner_id)
        facing = yaw_of(pose[3:]) + math.pi / 2.0
        found = next(spots_on(sim, state, thing, extent, surface, anchor=pose[:3], facing_rad=facing), None)
    else:
        interior = interior_at(state, at)
        low = (0.0, 0.0, -interior.box.half[2], 1.0, 0.0, 0.0, 0.0)
        floor = compose(interior.box.pose, low)
        pose = compose(floor, from_xyz_yaw(pos[0], pos[1], 0.0, yaw_rad))
        if _free(sim, state, thing, pose):
            return Spot(pose, parent_text("in", owner_id, part), owner_id)
        found = next(spots_in(sim, state, thing, extent, interior, facing_rad=yaw_of(pose[3:]) + math.pi / 2.0), None)
    if found is None:
        raise SceneError(f"there is no free place for {thing} at {at}; make room there or name another place")
    return found


def home_spot(sim: Simulator, state: WorldState, thing: str) -> Spot:
    """Where a thing comes to exist that does not yet: where the scene has it, against what it is on or in there, or
    where it was taken off; the nearest free place on the same support when that is taken.

    Raises SceneError for a thing that the scene keeps off stage, or when nothing is free.
    """
    owner = thing_of(state, thing)
    if is_off_stage(state.poses[thing]):
        raise SceneError(f"{thing} is kept off stage, so it has no place to exist at; place it somewhere")
    at_load = state.poses[thing] == owner.pose
    then = WorldState(state.scene) if at_load else state.copy()
    then.attrs[thing]["exists"] = True
    support = support_of(then, thing)
    if support is None:
        return Spot(owner.pose, "fixed", "") if owner.fixed else _on_floor(sim, state, thing, state.poses[thing])
    how, place, part = support
    carrier = thing_of(state, place)
    link = part_link(carrier, part)
    was, now = link_poses(carrier, then)[link], link_poses(carrier, state)[link]
    pose = compose(now, compose(inverse(was), state.poses[thing]))
    if owner.fixed or _free(sim, state, thing, pose):
        return Spot(pose, parent_text(how, place, part), place)
    frame = next(s.pose for s in surfaces_of(carrier, state) if s.name == part) if how == "on" else None
    at = frame or next(i.box.pose for i in interiors_of(carrier, state) if i.name == part)
    x, y, _ = transform_point(inverse(at), pose[:3])
    return placement_pose(
        sim, state, thing, f"{place}.{part}", pos=(x, y), yaw_rad=wrap_angle(yaw_of(pose[3:]) - yaw_of(at[3:]))
    )


def _on_floor(sim: Simulator, state: WorldState, thing: str, wanted: Pose) -> Spot:
    """The nearest free floor, clear of the wearer's feet."""
    home = room_at(state.scene, wanted[0], wanted[1])
    offsets = [(i * _STEP_M, j * _STEP_M) for i in range(-_STEPS, _STEPS + 1) for j in range(-_STEPS, _STEPS + 1)]
    feet = max(thing_of(state, thing).bounds_half[:2]) + _FEET_M
    for dx, dy in sorted(offsets, key=lambda o: (round(math.hypot(*o), 6), o)):
        pose: Pose = (wanted[0] + dx, wanted[1] + dy, *wanted[2:])
        apart = math.dist(pose[:2], state.body[:2]) >= feet
        if room_at(state.scene, pose[0], pose[1]) == home and apart and _free(sim, state, thing, pose):
            return Spot(pose, "floor", "")
    raise SceneError(f"there is no free floor for {thing} at ({wanted[0]:.2f}, {wanted[1]:.2f}); make room there")


def _free(sim: Simulator, state: WorldState, thing: str, pose: Pose) -> bool:
    extent = extent_of(state, thing)
    hx, hy, hz = extent.half
    half = (max(0.001, hx - _SKIN_M), max(0.001, hy - _SKIN_M), max(0.001, hz - _SKIN_M))
    x, y, z = transform_point(pose, extent.centre)
    box: Pose = (x, y, z + _LIFT_M, *pose[3:])
    return not sim.overlap_box(half, box, ignore=(thing, *dependents(state, thing)))
