"""Cloths: a sheet along a line, how that is written as numbers, and the line of a folded one.

Its size is (y0, y1, thickness, waves, gather, x1, z1, x2, z2, ...): the sheet follows the line of the points (x, z) and
reaches from y0 to y1 to its sides. What lies above z = 0 lies there, what is below hangs from there. `waves` is how far
it is out of true, in the folds of what hangs and the hollows of what lies (0: nowhere); `gather` the share of its width
that is left, around y = 0, where it hangs from (1: all of it, as over a rail). Two cloths in one place with the same
waves and gather are bent alike, so that one can be a band on the other.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from iwreplay.errors import GeometryError
from iwreplay.scene.outline import MAX_OUTLINE_POINTS, Point2, on_grid
from iwreplay.trig import sin_cos

__all__ = ["GATHER_AT", "ClothSize", "bounds_of_cloth", "cloth_of", "folded_line", "hollow_height_m"]

#: of the numbers of a size, the one that is no length
GATHER_AT = 4
#: what a cloth is out of true at most, metres
_MAX_WAVES_M = 0.1
_FAR_M = 1000.0
#: pieces of a half turn around a fold
_ROUND = 6


class ClothSize(NamedTuple):
    """A cloth's size, read. Metres."""

    #: y0 and y1
    across: tuple[float, float]
    thickness: float
    waves: float
    #: 0..1
    gather: float
    #: (x, z)
    line: tuple[Point2, ...]


@lru_cache(maxsize=1024)
def cloth_of(size: tuple[float, ...]) -> ClothSize:
    """The cloth of this size. GeometryError, which names the number, for one that is none."""
    if len(size) < 9 or len(size) % 2 == 0:
        raise GeometryError(
            f"cloth of size {size} needs y0, y1, thickness, waves, gather and the x and z of at least 2 points, "
            f"not {len(size)} numbers"
        )
    if len(size) > 5 + 2 * MAX_OUTLINE_POINTS:
        raise GeometryError(f"cloth along {len(size) // 2 - 2} points; at most {MAX_OUTLINE_POINTS} are allowed")
    line = tuple(zip(size[5::2], size[6::2], strict=True))
    cloth = ClothSize((size[0], size[1]), size[2], size[3], size[4], line)
    y0, y1 = cloth.across
    if not cloth.thickness > 0.0 or not y1 > y0:
        raise GeometryError(f"cloth from y {y0} to {y1}, {cloth.thickness} m thick, has a size that is not above zero")
    if not 0.0 <= cloth.waves <= _MAX_WAVES_M:
        raise GeometryError(f"cloth has waves of {cloth.waves} m, which is not within 0..{_MAX_WAVES_M}")
    if not 0.0 < cloth.gather <= 1.0:
        raise GeometryError(f"cloth is gathered to {cloth.gather} of its width, which is not above 0 and at most 1")
    if max(abs(v) for v in size) > _FAR_M:
        raise GeometryError(f"cloth of size {size} reaches more than {_FAR_M:g} m away from the middle")
    for a, b in pairwise(cloth.line):
        if on_grid(a) == on_grid(b):
            raise GeometryError(f"cloth's line says the point {a} twice in a row")
    return cloth


def bounds_of_cloth(size: tuple[float, ...]) -> tuple[float, float, float, float, float, float]:
    """x0, y0, z0, x1, y1, z1 of a box around it. GeometryError as `cloth_of`."""
    c = cloth_of(size)
    half, out = c.thickness / 2.0, c.thickness / 2.0 + c.waves
    xs, zs = [x for x, _ in c.line], [z for _, z in c.line]
    low = min(zs) - half
    # hollows go down only, and the less the nearer it is to where it lies
    low -= c.waves * min(1.0, max(0.0, low / hollow_height_m(c.waves)))
    return (min(xs) - out, c.across[0] - c.waves, low, max(xs) + out, c.across[1] + c.waves, max(zs) + half)


def hollow_height_m(waves: float) -> float:
    """How far above z = 0 the hollows of a cloth with such waves have their whole depth."""
    return 2.0 * waves + 0.002


def folded_line(half: float, height: float, layers: int) -> tuple[tuple[Point2, ...], float]:
    """The line of a cloth that lies folded in so many layers within -half..half and 0..height, and its thickness.

    2 and 3 layers go to and fro; 4 are folded in the middle twice, so that one fold lies around another. The folds that
    are seen from outside are at +x. GeometryError when so many layers don't fit.
    """
    if not 1 <= layers <= 8:
        raise GeometryError(f"a cloth is folded in 1 to 8 layers, not {layers}")
    pitch = height / layers
    thickness = 0.94 * pitch
    order = (0, 3, 2, 1) if layers == 4 else tuple(range(layers))
    turns = [abs(b - a) * pitch / 2.0 for a, b in pairwise(order)]
    room = max(turns, default=0.0) + thickness / 2.0
    if not half > 2.0 * room:
        raise GeometryError(f"{layers} layers of {pitch:g} m don't fit into a fold of {2.0 * half:g} m")
    end = half - thickness / 2.0
    points: list[Point2] = []
    for k, layer in enumerate(order):
        z = (layer + 0.5) * pitch
        # even layers run towards +x
        toward = 1.0 if k % 2 == 0 else -1.0
        begin_x = -toward * (end - (turns[k - 1] if k else 0.0))
        end_x = toward * (end - (turns[k] if k < len(turns) else 0.0))
        points.extend(((begin_x, z), (end_x, z)))
        if k < len(turns):
            r, up = turns[k], 1.0 if order[k + 1] > layer else -1.0
            for i in range(1, _ROUND):
                s, c = sin_cos(math.pi * i / _ROUND)
                points.append((end_x + toward * r * s, z + up * r * (1.0 - c)))
    return tuple(points), thickness
