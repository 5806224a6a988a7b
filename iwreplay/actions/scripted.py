"""Where a scripted event puts a thing."""

from __future__ import annotations

import math

from iwreplay.actions.spots import Spot, extent_of, spots_in, spots_on
from iwreplay.errors import SceneError
from iwreplay.ports import Simulator
from iwreplay.pose import Pose, compose, from_xyz_yaw, transform_point, yaw_of
from iwreplay.processes.support import dependents, parent_text
from iwreplay.world.geometry import interior_at, surface_at, thing_of
from iwreplay.world.state import WorldState

__all__ = ["placement_pose"]

_LIFT_M = 0.003
_SKIN_M = 0.002


def placement_pose(
    sim: Simulator, state: WorldState, thing: str, at: str, *, pos: tuple[float, float], yaw_rad: float
) -> Spot:
    """The pose for "owner.part" or "floor", as in a task's placements; the nearest free one when it is taken.

    Raises UnknownNameError for a place that the scene lacks, SceneError when nothing is free there.
    """
    if at == "floor":
        pose = from_xyz_yaw(pos[0], pos[1], 0.0, yaw_rad)
        return Spot(pose, "floor", "")
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


def _free(sim: Simulator, state: WorldState, thing: str, pose: Pose) -> bool:
    extent = extent_of(state, thing)
    hx, hy, hz = extent.half
    half = (max(0.001, hx - _SKIN_M), max(0.001, hy - _SKIN_M), max(0.001, hz - _SKIN_M))
    x, y, z = transform_point(pose, extent.centre)
    box: Pose = (x, y, z + _LIFT_M, *pose[3:])
    return not sim.overlap_box(half, box, ignore=(thing, *dependents(state, thing)))
