"""What is in a vessel fills it up to its wall: one body for every step of fullness, stretched a little to the level.

A vessel whose wall has no inside drawn (a bottle is one closed surface) holds a cylinder of the radius it states.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

from iwreplay.render.appearance import liquid_space
from iwreplay.render.mesh import Mesh
from iwreplay.render.shapes import tessellate
from iwreplay.scene.model import Shape, Thing

__all__ = ["STEPS", "liquid_bodies", "step_of"]

#: bodies between empty and full
STEPS = 12
#: a liquid keeps so far off the wall; rings of a body
_GAP_M, _RINGS = 0.0006, 6


def step_of(share: float) -> tuple[int, float]:
    """Which body shows a vessel that is full to a share in (0, 1], and by how much it is stretched upward."""
    step = min(STEPS, max(1, math.ceil(share * STEPS - 1e-9)))
    return step - 1, share * STEPS / step


def liquid_bodies(thing: Thing) -> tuple[Mesh, ...]:
    """A mesh for every step, in link 0's frame with the bottom of the liquid at z = 0; () when it holds no liquid."""
    space = liquid_space(thing)
    if space is None:
        return ()
    radius, z0, height, _ = space
    inside = _inside(thing, z0 + height)
    if inside is None:
        return tuple(tessellate("lathe", _cylinder(radius, height * k / STEPS)) for k in range(1, STEPS + 1))
    return tuple(_body(inside, z0, height * k / STEPS) for k in range(1, STEPS + 1))


def _cylinder(radius: float, height: float) -> tuple[float, ...]:
    return (0.0, 0.0, radius, 0.0, radius, height, 0.0, height)


@lru_cache(maxsize=1024)
def _body(inside: tuple[tuple[float, float], ...], z0: float, height: float) -> Mesh:
    outline = [0.0, 0.0]
    for k in range(_RINGS + 1):
        z = height * k / _RINGS
        outline += [max(0.001, _radius_at(inside, z0 + z) - _GAP_M), z]
    return tessellate("lathe", (*outline, 0.0, height))


def _radius_at(inside: tuple[tuple[float, float], ...], z: float) -> float:
    """Radius of the inside at a height; at its ends that of the nearest point."""
    for (r0, a), (r1, b) in pairwise(inside):
        if a <= z <= b and b > a:
            return r0 + (r1 - r0) * (z - a) / (b - a)
    return inside[0][0] if z < inside[0][1] else inside[-1][0]


def _inside(thing: Thing, level: float) -> tuple[tuple[float, float], ...] | None:
    """(radius, height) of the wall's inside from its floor up, of the widest turned shape with one up to a level."""
    best: tuple[tuple[float, float], ...] | None = None
    for shape in thing.links[0].shapes:
        if shape.kind != "lathe" or shape.role == "collision" or shape.pose[4] or shape.pose[5]:
            continue
        if abs(shape.pose[0]) > 1e-6 or abs(shape.pose[1]) > 1e-6:
            continue
        found = _inner_path(shape)
        if len(found) < 2 or found[-1][1] < level - 0.004:
            continue
        if best is None or max(found)[0] > max(best)[0]:
            best = found
    return best


def _inner_path(shape: Shape) -> tuple[tuple[float, float], ...]:
    """Of an outline that goes up the outside and down the inside again, the way down, turned around."""
    points = list(zip(shape.size[0::2], shape.size[1::2], strict=True))
    top = max(z for _, z in points)
    rim = max(k for k, (_, z) in enumerate(points) if z >= top - 1e-9)
    way = points[rim:]
    if points[0] == way[-1] or len(way) < 3 or way[-1][0] > 0.0 or points[rim][0] == 0.0:
        return ()
    up = [(r, z + shape.pose[2]) for r, z in reversed(way)]
    return tuple(p for k, p in enumerate(up) if k == 0 or p[1] >= up[k - 1][1])
