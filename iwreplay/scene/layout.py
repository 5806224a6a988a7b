"""Does a scene hold together: nothing runs into anything, doors and drawers have room to open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iwreplay.errors import SceneError
from iwreplay.pose import compose
from iwreplay.scene.building import WALL_M
from iwreplay.scene.convex import shrunk, solid_aabb
from iwreplay.scene.geometry import (
    Aabb,
    Box,
    aabb_of,
    aabbs_overlap,
    link_poses_at,
    merged,
    shape_half,
    solids_at,
)
from iwreplay.scene.model import Room, Thing
from iwreplay.scene.overlaps import Placed, meets, overlap_told

__all__ = [
    "SLACK_M",
    "check_held_up",
    "check_inside_rooms",
    "check_no_overlap",
    "check_openings_clear",
    "first_overlap",
]

#: solids may run this far into each other before it counts
SLACK_M = 0.002
#: furniture that is no farther from what carries it is taken for fixed to it
_FLOATS_M = 0.1
_SHELL = ("floor", "wall", "ceiling")
_SWING_STEPS = 5


def placed(thing: Thing, joints: Mapping[str, float]) -> Placed:
    """A thing with its solids (shrunk by half the slack) and the box around them."""
    solids = tuple(shrunk(s, SLACK_M / 2) for s in solids_at(thing, thing.pose, joints))
    return thing, solids, merged(solid_aabb(s) for s in solids)


def first_overlap(one: Placed, others: Sequence[Placed]) -> Thing | None:
    """The first of the others that `one` runs into."""
    return next((o[0] for o in others if o[0].id != one[0].id and meets(one, o)), None)


def check_no_overlap(things: Sequence[Thing], joints: Mapping[str, float], *, where: str) -> None:
    """SceneError naming the first two things that run into each other, with where they are and a way out. Parts of
    one composite may touch."""
    all_placed = [placed(t, joints) for t in things]
    for i, one in enumerate(all_placed):
        if one[0].cls in _SHELL:
            continue
        hit = first_overlap(one, [p for p in all_placed[:i] if not _door_in_wall(one[0], p[0])])
        if hit is not None:
            other = next(p for p in all_placed if p[0].id == hit.id)
            told = overlap_told(one, other, all_placed, joints, movable=one[0].cls not in ("door", "window"))
            raise SceneError(f"{where}: {told}")


def _door_in_wall(a: Thing, b: Thing) -> bool:
    """Frames of doors and windows may touch the wall that they stand in."""
    return b.cls in _SHELL and a.cls in ("door", "window")


def check_inside_rooms(
    things: Sequence[Thing], rooms: Sequence[Room], joints: Mapping[str, float], *, where: str
) -> None:
    """SceneError for furniture that is not wholly inside one room."""
    for thing in things:
        if thing.cls in (*_SHELL, "door", "window"):
            continue
        _, _, box = placed(thing, joints)
        if not any(
            box[0] >= r.rect[0] + WALL_M - SLACK_M
            and box[1] >= r.rect[1] + WALL_M - SLACK_M
            and box[3] <= r.rect[2] - WALL_M + SLACK_M
            and box[4] <= r.rect[3] - WALL_M + SLACK_M
            and box[2] >= -SLACK_M
            and box[5] <= r.height + SLACK_M
            for r in rooms
        ):
            around = ", ".join(f"{v:.3f}" for v in box)
            raise SceneError(f"{where}: {thing.id} is not inside a room: its box is ({around})")


def check_held_up(things: Sequence[Thing], joints: Mapping[str, float], *, where: str) -> None:
    """SceneError for furniture above the floor that nothing carries: no wall, ceiling or other furniture is near it."""
    drawn = [(t, _boxes(t, joints)) for t in things]
    for thing, own in drawn:
        box = merged(own)
        if thing.cls in _SHELL or box[2] <= _FLOATS_M:
            continue
        others = (b for one, boxes in drawn if one.id != thing.id for b in boxes)
        if not any(aabbs_overlap(box, b, margin_m=_FLOATS_M) for b in others):
            x, y, z = thing.pose[:3]
            raise SceneError(
                f"{where}: {thing.id} at ({x:.3f}, {y:.3f}, {z:.3f}) hangs in the air: its lowest point is "
                f"{box[2]:.3f} m above the floor, and nothing within {_FLOATS_M} m carries it. Lower it, or put it "
                "against a wall"
            )


def _boxes(thing: Thing, joints: Mapping[str, float]) -> list[Aabb]:
    """Around each shape, the drawn ones too: a car stands on its wheels, a sign hangs from its wires."""
    poses = link_poses_at(thing, thing.pose, joints)
    return [
        aabb_of(Box(compose(pose, s.pose), shape_half(s)))
        for link, pose in zip(thing.links, poses, strict=True)
        for s in link.shapes
    ]


def check_openings_clear(things: Sequence[Thing], joints: Mapping[str, float], *, where: str) -> None:
    """SceneError for a door, drawer or sash that runs into furniture or a wall on its way to open."""
    fixed = [t for t in things if t.fixed]
    still = [placed(t, joints) for t in fixed if t.cls != "floor"]
    for thing in fixed:
        moving = [k.joint for k in thing.links if k.joint is not None]
        if not moving or thing.cls == "window":
            continue
        family = thing.id
        others = [p for p in still if not _same_unit(p[0].id, family) and not _door_in_wall(thing, p[0])]
        for step in range(1, _SWING_STEPS + 1):
            at = {f"{thing.id}.{j.name}": j.open_at * step / _SWING_STEPS for j in moving}
            hit = first_overlap(placed(thing, at), others)
            if hit is not None:
                raise SceneError(f"{where}: {thing.id} cannot open: it runs into {hit.id}")


def _same_unit(a: str, b: str) -> bool:
    return a == b or a.startswith(f"{b}_") or b.startswith(f"{a}_")
