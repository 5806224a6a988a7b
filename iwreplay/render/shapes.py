"""Triangle meshes of the scene's shapes.

Plain Python arithmetic with portable sines, so that a mesh has the same bits on every machine. Meshes are cached by
kind and size: a scene of a thousand shapes has some dozens of distinct ones.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

from iwreplay.errors import RenderError
from iwreplay.render.cloths import cloth
from iwreplay.render.mesh import Mesh, MeshBuilder, Point2, blended, circle, segments_for
from iwreplay.render.prisms import prism, rounded_box
from iwreplay.trig import sin_cos

__all__ = ["quad", "tessellate"]


@lru_cache(maxsize=4096)
def tessellate(kind: str, size: tuple[float, ...], *, upright: bool = False) -> Mesh:
    """Mesh of a shape; `kind` and `size` as in `scene.model.Shape`.

    upright: the texture of a box has its u along the horizontal on all four sides, as courses of bricks and stripes of
    wallpaper have; else u runs along the longer side of each face, as the grain of wood does.
    RenderError for an unknown kind, a wrong number of sizes, or a size that is not positive and finite.
    """
    if kind not in _MAKERS:
        raise RenderError(f"shape kind {kind!r} is not one of {', '.join(_MAKERS)}")
    if not all(math.isfinite(v) for v in size):
        raise RenderError(f"{kind} of size {size} has a size that is not finite")
    wanted, maker = _MAKERS[kind]
    if wanted and len(size) != wanted:
        raise RenderError(f"{kind} takes {wanted} sizes, not {len(size)}: {size}")
    return _box(size, upright=upright) if kind == "box" else maker(size)


def _positive(kind: str, size: tuple[float, ...], *, how_many: int) -> None:
    if not all(v > 0.0 for v in size[:how_many]):
        raise RenderError(f"{kind} of size {size} has a size that is not above zero")


def _box(size: tuple[float, ...], *, upright: bool = False) -> Mesh:
    _positive("box", size, how_many=3)
    b = MeshBuilder()
    for axis in range(3):
        for sign in (-1.0, 1.0):
            # right x up = the outward direction
            right, up = ((axis + 1) % 3, (axis + 2) % 3) if sign > 0 else ((axis + 2) % 3, (axis + 1) % 3)
            if axis == 1:
                # keep the texture's v upright on the front and back as on the sides
                right, up = (0, 2)
            corners = []
            for a, c in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
                p = [0.0, 0.0, 0.0]
                p[axis], p[right], p[up] = sign * size[axis], a * size[right], c * size[up]
                n = [0.0, 0.0, 0.0]
                n[axis] = sign
                if upright and axis != 2:
                    uv = (p[1 - axis], p[2])
                else:
                    # grain runs along the longer side of a face
                    uv = (p[right], p[up]) if size[right] >= size[up] else (p[up], p[right])
                corners.append(b.vertex((p[0], p[1], p[2]), (n[0], n[1], n[2]), uv))
            if axis == 1 and sign > 0:
                corners = [corners[1], corners[0], corners[3], corners[2]]
            b.faces.append((corners[0], corners[1], corners[2]))
            b.faces.append((corners[0], corners[2], corners[3]))
    return b.mesh()


def _cylinder(size: tuple[float, ...]) -> Mesh:
    _positive("cylinder", size, how_many=2)
    r, h = size
    return _turned(((0.0, -h), (r, -h), (r, h), (0.0, h)), pieces=segments_for(r))


def _cone(size: tuple[float, ...]) -> Mesh:
    bottom, top, h = size
    if bottom < 0.0 or top < 0.0 or not max(bottom, top) > 0.0 or not h > 0.0:
        raise RenderError(f"cone of size {size} needs radii of at least zero, one above it, and a height above zero")
    outline = [(0.0, -h), (bottom, -h), (top, h), (0.0, h)]
    return _turned(
        tuple(p for i, p in enumerate(outline) if i == 0 or p != outline[i - 1]), pieces=segments_for(max(bottom, top))
    )


def _quarter(radius: float, *, pieces: int) -> list[Point2]:
    """(cos, sin) times radius from the equator up to the pole."""
    arc = []
    for i in range(pieces):
        s, c = sin_cos(0.5 * math.pi * i / pieces)
        arc.append((radius * c, radius * s))
    return [*arc, (0.0, radius)]


def _sphere(size: tuple[float, ...]) -> Mesh:
    _positive("sphere", size, how_many=1)
    around = segments_for(size[0])
    up = _quarter(size[0], pieces=max(3, around // 4))
    down = [(r, -z) for r, z in reversed(up)]
    return _turned((*down, *up[1:]), pieces=around)


def _capsule(size: tuple[float, ...]) -> Mesh:
    _positive("capsule", size, how_many=1)
    r, half = size
    if half < 0.0:
        raise RenderError(f"capsule of size {size} has a half length below zero")
    around = segments_for(r)
    up = [(x, z + half) for x, z in _quarter(r, pieces=max(3, around // 4))]
    down = [(x, -z) for x, z in reversed(up)]
    return _turned((*down, *(up if half > 0.0 else up[1:])), pieces=around)


def _lathe(size: tuple[float, ...]) -> Mesh:
    if len(size) < 4 or len(size) % 2:
        raise RenderError(f"lathe of size {size} needs pairs r0, z0, r1, z1, ... of at least two points")
    outline = list(zip(size[0::2], size[1::2], strict=True))
    if min(r for r, _ in outline) < 0.0:
        raise RenderError(f"lathe outline {outline} has a radius below zero")
    kept = [outline[0]]
    kept.extend(p for i, p in enumerate(outline[1:]) if p != outline[i])
    biggest = max(r for r, _ in kept)
    if not biggest > 0.0 or len(kept) < 2:
        raise RenderError(f"lathe outline {outline} turns into nothing: no two different points off the axis")
    return _turned(tuple(kept), pieces=segments_for(biggest), two_sided=True)


def _outline_normals(outline: tuple[Point2, ...]) -> list[tuple[Point2, Point2]]:
    """Normals (radial, axial) at both ends of every segment: averaged with a neighbour that bends little."""
    flat: list[Point2] = []
    for (r0, z0), (r1, z1) in pairwise(outline):
        length = math.sqrt((r1 - r0) * (r1 - r0) + (z1 - z0) * (z1 - z0))
        flat.append(((z1 - z0) / length, -(r1 - r0) / length))
    ends: list[tuple[Point2, Point2]] = []
    for i, n in enumerate(flat):
        before = flat[i - 1] if i else (-n[0], n[1]) if outline[i][0] == 0.0 else n
        after = flat[i + 1] if i + 1 < len(flat) else (-n[0], n[1]) if outline[i + 1][0] == 0.0 else n
        ends.append((blended(n, before), blended(n, after)))
    return ends


def _turned(outline: tuple[Point2, ...], *, pieces: int, two_sided: bool = False) -> Mesh:
    """The outline (radius, z) turned about z. Outside is to the right of its direction."""
    ring = circle(pieces)
    b = MeshBuilder()
    along = 0.0
    for ((r0, z0), (r1, z1)), (n0, n1) in zip(pairwise(outline), _outline_normals(outline), strict=True):
        length = math.sqrt((r1 - r0) * (r1 - r0) + (z1 - z0) * (z1 - z0))
        level = abs(r1 - r0) > 2.0 * abs(z1 - z0)
        around_m = 2.0 * math.pi * max(r0, r1)
        rows: list[list[int]] = []
        for r, z, n, v in ((r0, z0, n0, along), (r1, z1, n1, along + length)):
            row = []
            for i, (c, s) in enumerate(ring):
                # a level piece is mapped flat, as seen from above; a steep one is unrolled
                uv = (r * c, r * s) if level else (around_m * i / pieces, v)
                row.append(b.vertex((r * c, r * s, z), (n[0] * c, n[0] * s, n[1]), uv))
            rows.append(row)
        for i in range(pieces):
            if r0 > 0.0:
                b.faces.append((rows[0][i], rows[0][i + 1], rows[1][i + 1]))
            if r1 > 0.0:
                b.faces.append((rows[0][i], rows[1][i + 1], rows[1][i]))
        along += length
    return b.mesh(two_sided=two_sided)


@lru_cache(maxsize=1024)
def quad(width_m: float, height_m: float) -> Mesh:
    """A rectangle in x (right) and y (up) that faces +z; uv run 0..1 from its upper left corner, v downwards."""
    if not (width_m > 0.0 and height_m > 0.0 and math.isfinite(width_m * height_m)):
        raise RenderError(f"face of size {width_m} x {height_m} m must be above zero and finite")
    b = MeshBuilder()
    x, y = width_m / 2.0, height_m / 2.0
    for px, py, u, v in ((-x, -y, 0.0, 1.0), (x, -y, 1.0, 1.0), (x, y, 1.0, 0.0), (-x, y, 0.0, 0.0)):
        b.vertex((px, py, 0.0), (0.0, 0.0, 1.0), (u, v))
    b.faces.extend(((0, 1, 2), (0, 2, 3)))
    return b.mesh()


_MAKERS = {
    "box": (3, _box),
    "cylinder": (2, _cylinder),
    "sphere": (1, _sphere),
    "capsule": (2, _capsule),
    "cone": (3, _cone),
    "lathe": (0, _lathe),
    "prism": (0, prism),
    "rounded_box": (4, rounded_box),
    "cloth": (0, cloth),
}
