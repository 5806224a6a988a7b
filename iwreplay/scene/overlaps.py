"""What to say of two things that are in the same place: where they are, by how much they overlap, which way is out.

Ways are tried along x and y of the frame that `pos` of the thing is in: that of the link it stands on, else the
world's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from iwreplay.pose import IDENTITY, Pose, Vec3, compose, inverse, rotate
from iwreplay.scene.convex import base_of, solid_aabb, solids_meet
from iwreplay.scene.geometry import Aabb, Solid, aabbs_overlap, link_poses_at, merged
from iwreplay.scene.model import Link, Thing

__all__ = ["Placed", "meets", "overlap_told"]

#: a thing, its solids (shrunk by half the slack) and the box around them
Placed = tuple[Thing, tuple[Solid, ...], Aabb]

_WAYS: tuple[tuple[str, Vec3], ...] = (
    ("-x", (-1.0, 0.0, 0.0)),
    ("+x", (1.0, 0.0, 0.0)),
    ("-y", (0.0, -1.0, 0.0)),
    ("+y", (0.0, 1.0, 0.0)),
)
_HALVINGS = 20
_MM = 1000.0


class _Frame(NamedTuple):
    """What `pos` of a thing is measured in."""

    #: "" for the world
    owner: str
    world_from_frame: Pose
    link: Link | None


def meets(one: Placed, other: Placed) -> bool:
    """Whether two things run into each other."""
    return aabbs_overlap(one[2], other[2]) and any(solids_meet(a, b) for a in one[1] for b in other[1])


def overlap_told(
    one: Placed, other: Placed, obstacles: Sequence[Placed], joints: Mapping[str, float], *, movable: bool
) -> str:
    """A sentence about two things that meet: names, places, depth and, for one that is `movable`, the shortest way for
    it that ends free of all `obstacles` and on what it stands on."""
    frame = _frame_of(one, obstacles, joints)
    ways = sorted(_ways_out(one, other, frame))
    told = (
        f"{one[0].id} at {_at(one[0])} and {other[0].id} at {_at(other[0])} are in the same place: "
        f"they overlap by {ways[0][0]:.3f} m along {ways[0][1][1]}"
    )
    if not movable:
        return told
    of = f"of {frame.owner} (its pos is in that frame)" if frame.owner else "of the world"
    for metres, name, way in ways:
        moved = _moved(one, tuple(v * metres for v in way))
        if _still_on(one, moved, frame) and not any(meets(moved, o) for o in obstacles if o[0].id != one[0].id):
            return f"{told}. Move {one[0].id} by {metres:.3f} m towards {name} {of}"
    return f"{told}. No straight way for {one[0].id} along x or y {of} ends in a free spot: choose another place"


def _at(thing: Thing) -> str:
    return "({:.3f}, {:.3f}, {:.3f})".format(*thing.pose[:3])


def _frame_of(one: Placed, things: Sequence[Placed], joints: Mapping[str, float]) -> _Frame:
    owner_id, _, part = str(one[0].attrs.get("parent", "")).partition(":")[2].partition(".")
    for thing, _, _ in things:
        if thing.id != owner_id:
            continue
        for link, pose in zip(thing.links, link_poses_at(thing, thing.pose, joints), strict=True):
            if part in [s.name for s in link.surfaces] + [i.name for i in link.interiors]:
                return _Frame(owner_id, pose, link)
    return _Frame("", IDENTITY, None)


def _ways_out(one: Placed, other: Placed, frame: _Frame) -> Iterator[tuple[float, str, Vec3]]:
    """(metres, name, direction in the world) along each way until the two meet no more, rounded up to millimetres."""
    most = sum(b[i + 3] - b[i] for b in (one[2], other[2]) for i in range(3))
    for name, axis in _WAYS:
        way = rotate(frame.world_from_frame[3:], axis)
        lo, hi = 0.0, most
        for _ in range(_HALVINGS):
            mid = (lo + hi) / 2.0
            if meets(_moved(one, (way[0] * mid, way[1] * mid, way[2] * mid)), other):
                lo = mid
            else:
                hi = mid
        yield math.ceil(hi * _MM) / _MM, name, way


def _moved(one: Placed, by: tuple[float, ...]) -> Placed:
    x, y, z = by
    solids = tuple(Solid(s.kind, s.size, (s.pose[0] + x, s.pose[1] + y, s.pose[2] + z, *s.pose[3:])) for s in one[1])
    return one[0], solids, merged(solid_aabb(s) for s in solids)


def _still_on(before: Placed, after: Placed, frame: _Frame) -> bool:
    """Whether it stands on, or lies in, what it did before."""
    if frame.link is None:
        return True
    frame_from_world = inverse(frame.world_from_frame)
    feet = [base_of(Solid(s.kind, s.size, compose(frame_from_world, s.pose)) for s in p[1]) for p in (before, after)]
    places = [(s.pos, s.half) for s in frame.link.surfaces]
    places += [(i.pos, (i.half[0], i.half[1])) for i in frame.link.interiors]
    under = [place for place in places if _on(feet[0], *place)]
    return not under or any(_on(feet[1], *place) for place in under)


def _on(foot: Aabb, pos: Vec3, half: tuple[float, float]) -> bool:
    return all(pos[i] - half[i] <= foot[i] and foot[i + 3] <= pos[i] + half[i] for i in range(2))
