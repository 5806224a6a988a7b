"""Where a placement puts a thing: on a surface, in an interior, on the floor, or off stage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from iwreplay.errors import SceneError
from iwreplay.pose import IDENTITY, Pose, compose, from_xyz_yaw
from iwreplay.scene.convex import base_of, solid_aabb
from iwreplay.scene.geometry import Aabb, link_poses_at, merged, solids_at
from iwreplay.scene.hanging import can_hang, is_hook
from iwreplay.scene.model import Interior, Room, Surface, Thing

__all__ = ["LIFT_M", "Spot", "is_off_stage", "off_stage", "spot_for"]

#: things are set down this far above what they stand on
LIFT_M = 0.0005
#: how far a foot may stand over the edge of its surface
_OVERHANG_M = 0.012
_PARK_M = 100.0


class Spot(NamedTuple):
    """A pose and what the semantic layer says of it ("on:table_1.top")."""

    pose: Pose
    parent: str


def off_stage(number: int) -> Spot:
    """A parking pose of its own, far away from every room."""
    return Spot((_PARK_M + 2.0 * number, _PARK_M, 0.0, 1.0, 0.0, 0.0, 0.0), "off")


def is_off_stage(pose: Pose) -> bool:
    """Whether a pose is a parking pose."""
    return pose[0] >= _PARK_M and pose[1] >= _PARK_M


def spot_for(
    thing: Thing,
    *,
    at: str,
    pos: tuple[float, float],
    yaw_deg: float,
    owners: Mapping[str, Thing],
    joints: Mapping[str, float],
    rooms: Sequence[Room],
    where: str,
) -> Spot:
    """Pose of `thing` (its own pose is ignored) at "owner.surface", "owner.interior" or "floor" with an offset in
    metres. On the floor the offset is in the world; elsewhere in the owner's link frame from the middle.

    SceneError when there is no such place, or the thing does not fit it."""
    if not all(math.isfinite(v) for v in (*pos, yaw_deg)):
        raise SceneError(f"{where}: pos {pos} or yaw_deg {yaw_deg} is not finite")
    yaw = math.radians(yaw_deg)
    if at == "floor":
        if not any(r.rect[0] < pos[0] < r.rect[2] and r.rect[1] < pos[1] < r.rect[3] for r in rooms):
            raise SceneError(f"{where}: pos {pos} on the floor is in no room")
        foot = _foot(thing, IDENTITY)
        return Spot(from_xyz_yaw(*pos, LIFT_M - foot[2], yaw), "floor")
    owner_id, _, part = at.partition(".")
    owner = owners.get(owner_id)
    if owner is None:
        raise SceneError(f"{where}: at = {at!r}: no thing {owner_id!r}; known: {', '.join(sorted(owners))}")
    poses = link_poses_at(owner, owner.pose, joints)
    for link, link_pose in zip(owner.links, poses, strict=True):
        for surface in link.surfaces:
            if surface.name == part:
                local = _on_surface(thing, surface, pos, yaw, where=f"{where}: on {at}")
                within = _interior_around(link.interiors, surface)
                return Spot(compose(link_pose, local), f"in:{owner_id}.{within}" if within else f"on:{at}")
        for interior in link.interiors:
            if interior.name == part:
                local = _in_interior(thing, interior, pos, yaw, where=f"{where}: in {at}")
                return Spot(compose(link_pose, local), f"in:{at}")
    parts = [s.name for k in owner.links for s in k.surfaces] + [i.name for k in owner.links for i in k.interiors]
    raise SceneError(
        f"{where}: at = {at!r}: {owner_id} has no {part!r}; it has {', '.join(parts) or 'no place at all'}"
    )


def _on_surface(thing: Thing, surface: Surface, pos: tuple[float, float], yaw: float, *, where: str) -> Pose:
    if is_hook(surface.name) and not can_hang(thing):
        raise SceneError(f"{where}: {thing.id} can't hang on a hook; it has no look for it")
    foot = _foot(thing, from_xyz_yaw(*pos, 0.0, yaw))
    hx, hy = surface.half
    if (
        foot[0] < -hx - _OVERHANG_M
        or foot[3] > hx + _OVERHANG_M
        or foot[1] < -hy - _OVERHANG_M
        or foot[4] > hy + _OVERHANG_M
    ):
        raise SceneError(
            f"{where}: {thing.id} does not fit: its foot spans ({foot[0]:.3f}, {foot[1]:.3f}) to "
            f"({foot[3]:.3f}, {foot[4]:.3f}), the surface is ({-hx:.3f}, {-hy:.3f}) to ({hx:.3f}, {hy:.3f})"
        )
    whole = _whole(thing, from_xyz_yaw(*pos, 0.0, yaw))
    if whole[5] - whole[2] > surface.clearance:
        raise SceneError(
            f"{where}: {thing.id} is {whole[5] - whole[2]:.3f} m high, the free height is {surface.clearance:.3f}"
        )
    x, y, z = surface.pos
    return from_xyz_yaw(x + pos[0], y + pos[1], z + LIFT_M - foot[2], yaw)


def _interior_around(interiors: Sequence[Interior], surface: Surface) -> str:
    """Name of the interior that the surface lies in (a shelf in a cabinet), or ""."""
    for interior in interiors:
        if all(abs(surface.pos[i] - interior.pos[i]) <= interior.half[i] + 0.005 for i in range(3)):
            return interior.name
    return ""


def _in_interior(thing: Thing, interior: Interior, pos: tuple[float, float], yaw: float, *, where: str) -> Pose:
    whole = _whole(thing, from_xyz_yaw(*pos, 0.0, yaw))
    hx, hy, hz = interior.half
    high = whole[5] - whole[2]
    if whole[0] < -hx or whole[3] > hx or whole[1] < -hy or whole[4] > hy or (interior.closed_by and high > 2 * hz):
        raise SceneError(
            f"{where}: {thing.id} does not fit: it spans ({whole[0]:.3f}, {whole[1]:.3f}) to ({whole[3]:.3f}, "
            f"{whole[4]:.3f}) and is {high:.3f} m high, the room is +-({hx:.3f}, {hy:.3f}) and {2 * hz:.3f} m high"
        )
    x, y, z = interior.pos
    return from_xyz_yaw(x + pos[0], y + pos[1], z - hz + LIFT_M - whole[2], yaw)


def _whole(thing: Thing, pose: Pose) -> Aabb:
    return merged(solid_aabb(s) for s in solids_at(thing, pose, {}))


def _foot(thing: Thing, pose: Pose) -> Aabb:
    """Bounds of what the thing stands on."""
    return base_of(solids_at(thing, pose, {}))
