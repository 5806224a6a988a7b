"""Outlines on the floor: what of the present world stands in the way of a walking body.

Every collision solid whose height range meets the body's is projected to a convex polygon. Metres, world frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from iwreplay.pose import Pose, transform_point
from iwreplay.scene.geometry import Solid, solids_at
from iwreplay.scene.model import Thing

__all__ = [
    "BODY_BAND_M",
    "Footprint",
    "Point2",
    "convex_hull",
    "footprints_of",
    "nearest_on",
    "point_gap",
    "segment_gap",
]

Point2 = tuple[float, float]

#: solids between these heights block a walking body; lower ones are stepped over, higher ones pass overhead
BODY_BAND_M = (0.10, 1.70)

_ROUND = tuple((math.cos(k * math.pi / 6.0), math.sin(k * math.pi / 6.0)) for k in range(12))
#: a 12-gon around a circle, not in it
_ROUND_OUT = 1.0 / math.cos(math.pi / 12.0)


class Footprint(NamedTuple):
    """Convex outline, counter-clockwise, of one solid."""

    thing: str
    outline: tuple[Point2, ...]


def footprints_of(thing: Thing, base: Pose, joints: Mapping[str, float]) -> tuple[Footprint, ...]:
    """Outlines of the solids of a thing at `base` (world_from_link0) that a walking body would meet."""
    lo, hi = BODY_BAND_M
    out: list[Footprint] = []
    for solid in solids_at(thing, base, joints):
        corners = _corners(solid)
        if max(c[2] for c in corners) <= lo or min(c[2] for c in corners) >= hi:
            continue
        out.append(Footprint(thing.id, convex_hull((c[0], c[1]) for c in corners)))
    return tuple(out)


def _corners(solid: Solid) -> list[tuple[float, float, float]]:
    s = solid.size
    if solid.kind == "box":
        ring = [(x * s[0], y * s[1]) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
        z0, z1 = -s[2], s[2]
    else:
        r = _ROUND_OUT * (max(s[0], s[1]) if solid.kind == "cone" else s[0])
        ring = [(r * c, r * d) for c, d in _ROUND]
        half = {"sphere": s[0], "capsule": s[0] + s[-1]}.get(solid.kind, s[-1])
        z0, z1 = -half, half
    return [transform_point(solid.pose, (x, y, z)) for x, y in ring for z in (z0, z1)]


def convex_hull(points: Iterable[Point2]) -> tuple[Point2, ...]:
    """Counter-clockwise hull (Andrew's monotone chain). Fewer than three corners when the points are on a line."""
    pts = sorted(set(points))
    if len(pts) <= 2:
        return tuple(pts)

    def half(seq: Iterable[Point2]) -> list[Point2]:
        chain: list[Point2] = []
        for p in seq:
            while len(chain) >= 2 and _turn(chain[-2], chain[-1], p) <= 1e-12:
                chain.pop()
            chain.append(p)
        return chain

    lower, upper = half(pts), half(reversed(pts))
    return tuple(lower[:-1] + upper[:-1])


def _turn(a: Point2, b: Point2, c: Point2) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def point_gap(p: Point2, outline: tuple[Point2, ...]) -> float:
    """Metres from a point to a convex outline; 0 inside."""
    return segment_gap(p, p, outline)


def segment_gap(a: Point2, b: Point2, outline: tuple[Point2, ...]) -> float:
    """Metres from the segment a-b to a convex outline; 0 when they meet."""
    n = len(outline)
    if n >= 3 and all(_turn(outline[i], outline[(i + 1) % n], a) >= 0.0 for i in range(n)):
        return 0.0
    best = math.inf
    for i in range(max(n, 1) if n != 2 else 1):
        best = min(best, _segments_gap(a, b, outline[i], outline[(i + 1) % n]))
    return best


def nearest_on(p: Point2, outline: tuple[Point2, ...]) -> Point2:
    """Point of a convex outline's edge that is nearest to `p`."""
    n = len(outline)
    feet = [_foot(p, outline[i], outline[(i + 1) % n]) for i in range(n)]
    return min(feet, key=lambda f: (f[0] - p[0]) * (f[0] - p[0]) + (f[1] - p[1]) * (f[1] - p[1]))


def _foot(p: Point2, a: Point2, b: Point2) -> Point2:
    dx, dy = b[0] - a[0], b[1] - a[1]
    n = dx * dx + dy * dy
    t = 0.0 if n == 0.0 else min(1.0, max(0.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / n))
    return (a[0] + t * dx, a[1] + t * dy)


def _segments_gap(a: Point2, b: Point2, c: Point2, d: Point2) -> float:
    if _turn(a, b, c) * _turn(a, b, d) < 0.0 and _turn(c, d, a) * _turn(c, d, b) < 0.0:
        return 0.0
    return min(_to_segment(a, c, d), _to_segment(b, c, d), _to_segment(c, a, b), _to_segment(d, a, b))


def _to_segment(p: Point2, a: Point2, b: Point2) -> float:
    x, y = _foot(p, a, b)
    return math.sqrt((p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y))
