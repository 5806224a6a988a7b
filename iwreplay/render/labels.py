"""Labels on round things: a text face that lies against an upright round shape is bent around it, as paper is."""

from __future__ import annotations

import math
from functools import lru_cache

from iwreplay.pose import inverse, rotate, transform_point
from iwreplay.render.mesh import Mesh, MeshBuilder
from iwreplay.render.shapes import quad
from iwreplay.scene.geometry import shape_half
from iwreplay.scene.model import Face, Link, Shape
from iwreplay.trig import sin_cos

__all__ = ["bend_m", "label"]

#: a shape is round and upright, and lies behind a face, when it differs from that by no more
_SLANT, _ASIDE_M = 1e-9, 0.002
#: a face lies against a shape that is so much nearer to the axis, or hardly farther
_NEAR_M, _INSIDE_M = 0.008, 0.001
#: how far a label goes around, radians to either side: a wider one is bent less than what it lies on, so that all of it
#: can be read by who does not stand square before it
_MOST_RAD = 0.5
#: each piece of a bent label, radians
_PIECE_RAD = 0.07


def bend_m(link: Link, face: Face) -> float:
    """Radius that a face of the link is bent to, 0 for one that stays flat: it does not stand upright before a round
    upright shape, or something flat carries it. At least the radius of what it lies on."""
    normal, up = rotate(face.pose[3:], (0.0, 0.0, 1.0)), rotate(face.pose[3:], (0.0, 1.0, 0.0))
    if abs(normal[2]) > 1e-6 or up[2] < 0.999999:
        return 0.0
    x, y, z = face.pose[:3]
    found = 0.0
    for shape in link.shapes:
        if shape.role == "collision":
            continue
        if shape.kind in ("box", "rounded_box", "prism"):
            if _holds(shape, (x - 0.004 * normal[0], y - 0.004 * normal[1], z)):
                return 0.0
            continue
        dx, dy = x - shape.pose[0], y - shape.pose[1]
        away, aside = dx * normal[0] + dy * normal[1], dx * normal[1] - dy * normal[0]
        radius = _radius_at(shape, z)
        if radius > 0.0 and abs(aside) < _ASIDE_M and -_INSIDE_M < away - radius < _NEAR_M:
            found = max(found, away)
    return max(found, face.size[0] / (2.0 * _MOST_RAD)) if found > 0.0 else 0.0


def _holds(shape: Shape, point: tuple[float, float, float]) -> bool:
    p = transform_point(inverse(shape.pose), point)
    return all(abs(c) < h for c, h in zip(p, shape_half(shape), strict=True))


def _radius_at(shape: Shape, z: float) -> float:
    """Outer radius of an upright round shape at a height, 0 where there is none."""
    if abs(shape.pose[4]) > _SLANT or abs(shape.pose[5]) > _SLANT:
        return 0.0
    h, s = z - shape.pose[2], shape.size
    if shape.kind == "cylinder":
        return s[0] if abs(h) <= s[1] else 0.0
    if shape.kind == "cone":
        return s[0] + (s[1] - s[0]) * (h + s[2]) / (2.0 * s[2]) if abs(h) <= s[2] else 0.0
    if shape.kind != "lathe":
        return 0.0
    radius = 0.0
    for r0, z0, r1, z1 in zip(s[0:-2:2], s[1:-2:2], s[2::2], s[3::2], strict=True):
        if min(z0, z1) <= h <= max(z0, z1):
            at = max(r0, r1) if z0 == z1 else r0 + (r1 - r0) * (h - z0) / (z1 - z0)
            radius = max(radius, at)
    return radius


@lru_cache(maxsize=1024)
def label(width_m: float, height_m: float, bend_m: float) -> Mesh:
    """A face's mesh as `quad` makes it, its middle at the origin; around a cylinder of radius `bend_m` behind it when
    that is not 0. RenderError for a size that is not above zero."""
    flat = quad(width_m, height_m)
    if bend_m == 0.0:
        return flat
    b = MeshBuilder()
    pieces = max(2, math.ceil(width_m / bend_m / _PIECE_RAD))
    for i in range(pieces + 1):
        share = i / pieces
        s, c = sin_cos(width_m * (share - 0.5) / bend_m)
        for y, v in ((-height_m / 2.0, 1.0), (height_m / 2.0, 0.0)):
            b.vertex((bend_m * s, y, bend_m * (c - 1.0)), (s, 0.0, c), (share, v))
    for i in range(pieces):
        k = 2 * i
        b.quad(k, k + 2, k + 3, k + 1)
    return b.mesh()
