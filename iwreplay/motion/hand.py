"""Ways for the hand: straight, from above or from the front, tried against the real shapes with rays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from iwreplay.motion.touching import Aim
from iwreplay.ports import Simulator
from iwreplay.pose import Pose, Quat, Vec3, compose

__all__ = ["Blocked", "HeldBox", "first_free", "hand_ways", "segment_hit"]

#: half the thickness of a hand
_HAND_M = 0.035
#: the last bit of the way, where touching the target's surroundings is what reaching means
_TOUCH_M = 0.03
_CONTACT_M = 0.10
#: a held thing is tried this much smaller, for what it brushes against
_SHRINK = 0.8


class Blocked(NamedTuple):
    """What is in the way, and whether only of the thing in the hand."""

    thing: str
    of_held: bool


#: pose of a held thing's box against the palm, and its half extents
HeldBox = tuple[Pose, Vec3]


def first_free(ways: Iterable[tuple[Vec3, ...] | Blocked]) -> tuple[Vec3, ...] | Blocked:
    """The first of some ways of the hand that nothing blocks, or what is in the way of them all."""
    blocker: Blocked | None = None
    for way in ways:
        if not isinstance(way, Blocked):
            return way
        # where the hand alone would get there, that is what to say
        if blocker is None or (way.of_held and not blocker.of_held):
            blocker = way
    assert blocker is not None, "there is always a straight way to try"
    return blocker


def hand_ways(
    sim: Simulator,
    aim: Aim,
    *,
    start: Vec3,
    facing: tuple[float, float],
    solid: frozenset[str],
    held: tuple[Quat, HeldBox] | None = None,
) -> Iterator[tuple[Vec3, ...] | Blocked]:
    """Ways of the palm from `start` to the aim's point, the first to be taken first: world waypoints, or what is in
    the way.

    facing: unit direction from the body to the point on the floor plan. solid: ids of the things that a hand
    can't brush past (all but the small movable ones). held: heading of the body and the box in the hand.
    """
    for via in _vias(aim, facing):
        points = (start, *via, aim.point)
        hit = _first_hit(sim, aim, points, solid)
        of_held = _held_hit(sim, aim, points, held) if held and not hit else ""
        yield Blocked(hit or of_held, bool(of_held)) if hit or of_held else points


def _vias(aim: Aim, facing: tuple[float, float]) -> Iterator[tuple[Vec3, ...]]:
    x, y, z = aim.point
    fx, fy = facing
    yield ()
    for up in (0.15, 0.30):
        yield ((x, y, z + up),)
    yield ((x - 0.25 * fx, y - 0.25 * fy, z + 0.02),)
    yield ((x - 0.25 * fx, y - 0.25 * fy, z + 0.12),)
    yield ((x - 0.42 * fx, y - 0.42 * fy, z + 0.06),)
    if aim.out is not None:
        ox, oy = aim.out
        for far in (0.30, 0.45):
            yield ((x + far * ox, y + far * oy, z + 0.03),)
        for high, low in ((0.10, 0.08), (0.03, 0.03)):
            yield ((x + 0.40 * ox, y + 0.40 * oy, z + high), (x + 0.12 * ox, y + 0.12 * oy, z + low))
        yield ((x, y, z + 0.45),)


def _first_hit(sim: Simulator, aim: Aim, points: tuple[Vec3, ...], solid: frozenset[str]) -> str:
    last = len(points) - 2
    for k in range(len(points) - 1):
        a, b = points[k], points[k + 1]
        hit = segment_hit(sim, a, b, ignore=aim.ignore, short_m=_TOUCH_M if k == last else 0.0)
        if hit:
            return hit
        for off in _around(a, b):
            a2 = (a[0] + off[0], a[1] + off[1], a[2] + off[2])
            b2 = (b[0] + off[0], b[1] + off[1], b[2] + off[2])
            hit = segment_hit(sim, a2, b2, ignore=aim.ignore, short_m=_CONTACT_M if k == last else _TOUCH_M)
            if hit in solid:
                return hit
    return ""


def segment_hit(sim: Simulator, a: Vec3, b: Vec3, *, ignore: tuple[str, ...], short_m: float = 0.0) -> str:
    """Id of the first thing on the segment, "" when free; the last `short_m` are not looked at."""
    d = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    if length - short_m <= 1e-6:
        return ""
    hit = sim.ray(a, (d[0] / length, d[1] / length, d[2] / length), length - short_m, ignore=ignore)
    return hit[0] if hit is not None and hit[1] < length - short_m else ""


def _around(a: Vec3, b: Vec3) -> tuple[Vec3, ...]:
    """Four offsets across a segment, as far as a hand is thick."""
    dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    flat = math.sqrt(dx * dx + dy * dy)
    side: Vec3 = (-dy / flat, dx / flat, 0.0) if flat > 1e-6 else (1.0, 0.0, 0.0)
    n = math.sqrt(dx * dx + dy * dy + dz * dz)
    if n <= 1e-6:
        return ()
    ux, uy, uz = dx / n, dy / n, dz / n
    up = (uy * side[2] - uz * side[1], uz * side[0] - ux * side[2], ux * side[1] - uy * side[0])
    return tuple((k * v[0], k * v[1], k * v[2]) for v in (side, up) for k in (_HAND_M, -_HAND_M))


def _held_hit(sim: Simulator, aim: Aim, points: tuple[Vec3, ...], held: tuple[Quat, HeldBox]) -> str:
    heading, (offset, half) = held
    small = (half[0] * _SHRINK, half[1] * _SHRINK, half[2] * _SHRINK)
    ignore = (*aim.ignore, *aim.around)
    last = len(points) - 2
    for k in range(len(points) - 1):
        a, b = points[k], points[k + 1]
        length = math.dist(a, b)
        usable = length - (_CONTACT_M if k == last else 0.0)
        n = max(1, math.ceil(usable / 0.08))
        for i in range(1, n + 1):  # where it is now does not count against it
            t = min(1.0, max(0.0, usable / length * i / n)) if length > 1e-6 else 0.0
            palm: Pose = (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2]), *heading)
            hits = sim.overlap_box(small, compose(palm, offset), ignore=ignore)
            if hits:
                return hits[0]
    return ""
