"""Distance between convex solids (GJK), scalar Python, pure and deterministic.

Used where a box around a solid is too coarse: whether two things touch, whether one fits beside another.
Gilbert, Johnson and Keerthi (1988); closest point on a simplex after Ericson, Real-Time Collision Detection, 5.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from iwreplay.errors import GeometryError
from iwreplay.pose import Pose, Quat, Vec3, inverse, rotate, transform_point
from iwreplay.scene.geometry import Aabb, Box, Solid, aabb_of, aabbs_overlap, merged

__all__ = ["base_of", "seen_from", "shrunk", "solid_aabb", "solid_distance", "solids_meet", "top_at",
           "top_seen"]  # fmt: skip

_STEPS = 48
_EPS = 1e-10
#: solids that begin this near the lowest point belong to the foot; corners this near stand on the ground
_FOOT_M, _BASE_M = 0.015, 0.006


def solid_aabb(solid: Solid) -> Aabb:
    """Axis-aligned bounds of a solid."""
    return aabb_of(Box(solid.pose, _half(solid)))


def base_of(solids: Iterable[Solid]) -> Aabb:
    """Bounds in plan of what touches the ground: flaring walls count where they begin, not as far as they reach.

    GeometryError when there is no solid."""
    known = [(solid, solid_aabb(solid)) for solid in solids]
    lowest = min((box[2] for _, box in known), default=0.0)
    return merged(_low_part(solid, box, lowest + _BASE_M) for solid, box in known if box[2] <= lowest + _FOOT_M)


def _low_part(solid: Solid, box: Aabb, top_z: float) -> Aabb:
    if solid.kind != "box":
        return box
    hx, hy, hz = _half(solid)
    corners = [
        transform_point(solid.pose, (sx * hx, sy * hy, sz * hz))
        for sx in (-1.0, 1.0)
        for sy in (-1.0, 1.0)
        for sz in (-1.0, 1.0)
    ]
    low = [c for c in corners if c[2] <= max(top_z, box[2] + _BASE_M)]
    xs, ys = [c[0] for c in low], [c[1] for c in low]
    return (min(xs), min(ys), box[2], max(xs), max(ys), box[5])


def _half(solid: Solid) -> Vec3:
    s = solid.size
    if solid.kind == "box":
        return (s[0], s[1], s[2])
    if solid.kind == "cylinder":
        return (s[0], s[0], s[1])
    if solid.kind == "sphere":
        return (s[0], s[0], s[0])
    if solid.kind == "capsule":
        return (s[0], s[0], s[0] + s[1])
    raise GeometryError(f"{solid.kind} is not a convex primitive that things collide with")


def shrunk(solid: Solid, by_m: float) -> Solid:
    """The solid with every half extent smaller by `by_m`, at least 0.1 mm."""
    return Solid(solid.kind, tuple(max(v - by_m, 1e-4) for v in solid.size), solid.pose)


def _support(solid: Solid, inverse_q: Quat, direction: Vec3) -> Vec3:
    """Farthest point of the solid along `direction`, in the world."""
    d = rotate(inverse_q, direction)
    s = solid.size
    if solid.kind == "box":
        p = (math.copysign(s[0], d[0]), math.copysign(s[1], d[1]), math.copysign(s[2], d[2]))
    elif solid.kind == "cylinder":
        r = math.sqrt(d[0] * d[0] + d[1] * d[1])
        k = s[0] / r if r > _EPS else 0.0
        p = (d[0] * k, d[1] * k, math.copysign(s[1], d[2]))
    else:
        n = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        k = s[0] / n if n > _EPS else 0.0
        z = math.copysign(s[1], d[2]) if solid.kind == "capsule" else 0.0
        p = (d[0] * k, d[1] * k, d[2] * k + z)
    return transform_point(solid.pose, p)


def solid_distance(a: Solid, b: Solid) -> float:
    """Metres between two solids; 0.0 when they meet. Exact to about 1e-6 m."""
    _half(a), _half(b)
    ia, ib = _conjugate(a.pose), _conjugate(b.pose)
    v = _sub(_support(a, ia, (1.0, 0.0, 0.0)), _support(b, ib, (-1.0, 0.0, 0.0)))
    simplex: list[Vec3] = [v]
    for _ in range(_STEPS):
        vv = _dot(v, v)
        if vv < 1e-14:
            return 0.0
        w = _sub(_support(a, ia, (-v[0], -v[1], -v[2])), _support(b, ib, v))
        # no further progress towards the origin: v is the closest point
        if vv - _dot(v, w) <= 1e-9 * vv + 1e-14 or w in simplex:
            return math.sqrt(vv)
        simplex.append(w)
        v, simplex = _closest(simplex)
        if len(simplex) == 4:
            return 0.0
    return math.sqrt(_dot(v, v))


def solids_meet(a: Solid, b: Solid, *, within_m: float = 0.0) -> bool:
    """Whether two solids are at most `within_m` apart."""
    if not aabbs_overlap(solid_aabb(a), solid_aabb(b), margin_m=within_m):
        return False
    return solid_distance(a, b) <= within_m


def top_at(solid: Solid, x: float, y: float, from_z: float) -> float | None:
    """Height at which a vertical line down from `from_z` through (x, y) enters the solid; None when it misses,
    or when `from_z` is already inside or below it."""
    return top_seen(solid, seen_from(solid), x, y, from_z)


def seen_from(solid: Solid) -> tuple[Pose, Vec3]:
    """(solid_from_world, straight down in the solid's frame): what `top_seen` needs of a solid, whatever the line."""
    inv = inverse(solid.pose)
    return inv, rotate(inv[3:], (0.0, 0.0, -1.0))


def top_seen(solid: Solid, seen: tuple[Pose, Vec3], x: float, y: float, from_z: float) -> float | None:
    """`top_at` for a solid that is asked more than once."""
    t = _enter(solid, transform_point(seen[0], (x, y, from_z)), seen[1])
    return None if t is None or t < 0.0 else from_z - t


def _enter(solid: Solid, o: Vec3, d: Vec3) -> float | None:
    s = solid.size
    if solid.kind == "box":
        return _first(_slab(o, d, ((0, s[0]), (1, s[1]), (2, s[2]))))
    if solid.kind == "cylinder":
        return _both(_slab(o, d, ((2, s[1]),)), _round(o, d, s[0], 2))
    if solid.kind == "sphere":
        return _first(_round(o, d, s[0], 3))
    hits = [_ball(o, d, s[0], z) for z in (-s[1], s[1])]
    hits.append(_both(_slab(o, d, ((2, s[1]),)), _round(o, d, s[0], 2)))
    return min((h for h in hits if h is not None), default=None)


def _ball(o: Vec3, d: Vec3, radius: float, z: float) -> float | None:
    return _first(_round((o[0], o[1], o[2] - z), d, radius, 3))


_Span = tuple[float, float]


def _slab(o: Vec3, d: Vec3, axes: tuple[tuple[int, float], ...]) -> _Span | None:
    t0, t1 = -math.inf, math.inf
    for i, h in axes:
        if abs(d[i]) < _EPS:
            if abs(o[i]) > h:
                return None
            continue
        a, b = (-h - o[i]) / d[i], (h - o[i]) / d[i]
        t0, t1 = max(t0, min(a, b)), min(t1, max(a, b))
    return None if t0 > t1 else (t0, t1)


def _round(o: Vec3, d: Vec3, radius: float, dims: int) -> _Span | None:
    a, b, c = d[0] * d[0] + d[1] * d[1], o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1]
    if dims == 3:
        a, b, c = a + d[2] * d[2], b + o[2] * d[2], c + o[2] * o[2]
    c -= radius * radius
    if a < _EPS:
        return (-math.inf, math.inf) if c <= 0.0 else None
    disc = b * b - a * c
    if disc < 0.0:
        return None
    r = math.sqrt(disc)
    return ((-b - r) / a, (-b + r) / a)


def _first(span: _Span | None) -> float | None:
    return None if span is None else span[0]


def _both(a: _Span | None, b: _Span | None) -> float | None:
    if a is None or b is None:
        return None
    enter = max(a[0], b[0])
    return enter if enter <= min(a[1], b[1]) else None


def _conjugate(pose: Pose) -> Quat:
    return (pose[3], -pose[4], -pose[5], -pose[6])


def _sub(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def _dot(a: Vec3, b: Vec3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _closest(simplex: list[Vec3]) -> tuple[Vec3, list[Vec3]]:
    """Point of the simplex closest to the origin, and the smallest face that holds it (4 points: it is inside)."""
    if len(simplex) == 2:
        return _on_segment(simplex[0], simplex[1])
    if len(simplex) == 3:
        return _on_triangle(simplex[0], simplex[1], simplex[2])
    a, b, c, d = simplex
    best: tuple[Vec3, list[Vec3]] | None = None
    for p, q, r, other in ((a, b, c, d), (a, c, d, b), (a, d, b, c), (b, d, c, a)):
        n = _cross(_sub(q, p), _sub(r, p))
        side_o, side_d = -_dot(n, p), _dot(n, _sub(other, p))
        if side_o * side_d >= 0.0 and side_d != 0.0:
            continue
        found = _on_triangle(p, q, r)
        if best is None or _dot(found[0], found[0]) < _dot(best[0], best[0]):
            best = found
    return best if best is not None else ((0.0, 0.0, 0.0), simplex)


def _on_segment(a: Vec3, b: Vec3) -> tuple[Vec3, list[Vec3]]:
    ab = _sub(b, a)
    denom = _dot(ab, ab)
    t = -_dot(a, ab) / denom if denom > 0.0 else 0.0
    if t <= 0.0:
        return a, [a]
    if t >= 1.0:
        return b, [b]
    return (a[0] + t * ab[0], a[1] + t * ab[1], a[2] + t * ab[2]), [a, b]


def _on_triangle(a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, list[Vec3]]:
    ab, ac = _sub(b, a), _sub(c, a)
    d1, d2 = -_dot(ab, a), -_dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return a, [a]
    d3, d4 = -_dot(ab, b), -_dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return b, [b]
    d5, d6 = -_dot(ab, c), -_dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return c, [c]
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return _on_segment(a, b)
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return _on_segment(a, c)
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        return _on_segment(b, c)
    total = va + vb + vc
    if total <= 0.0:
        return min((_on_segment(a, b), _on_segment(a, c), _on_segment(b, c)), key=lambda f: _dot(f[0], f[0]))
    v, w = vb / total, vc / total
    return (
        (a[0] + v * ab[0] + w * ac[0], a[1] + v * ab[1] + w * ac[1], a[2] + v * ab[2] + w * ac[2]),
        [a, b, c],
    )
