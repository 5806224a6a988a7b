"""Meshes of prisms and rounded boxes."""

from __future__ import annotations

import math
from itertools import pairwise

from iwreplay.errors import GeometryError, RenderError
from iwreplay.render.mesh import Mesh, MeshBuilder, Point2, blended, segments_for
from iwreplay.scene.outline import Grid2, on_grid, outline_of, turn_of
from iwreplay.trig import sin_cos

__all__ = ["prism", "rounded_box", "triangles_of"]


def triangles_of(points: tuple[Point2, ...]) -> list[tuple[int, int, int]]:
    """Cuts a simple counter-clockwise outline into triangles between its own points, each turning left.

    Ears are cut off where no other point lies in or on them, so that none of the triangles is a mere line and every
    point stays a corner, also one in the middle of a straight side. RenderError should the outline not be simple.
    """
    grid = [on_grid(p) for p in points]
    left = list(range(len(points)))
    out: list[tuple[int, int, int]] = []
    while len(left) > 3:
        k = next((k for k in range(len(left)) if _is_ear(grid, left, k)), None)
        if k is None:
            raise RenderError(f"outline {points} can't be cut into triangles")
        out.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    out.append((left[0], left[1], left[2]))
    return out


def _is_ear(grid: list[Grid2], left: list[int], k: int) -> bool:
    corners = (left[k - 1], left[k], left[(k + 1) % len(left)])
    a, b, c = (grid[i] for i in corners)
    if turn_of(a, b, c) <= 0:
        return False
    for i in left:
        p = grid[i]
        if i not in corners and turn_of(a, b, p) >= 0 and turn_of(b, c, p) >= 0 and turn_of(c, a, p) >= 0:
            return False
    return True


def prism(size: tuple[float, ...]) -> Mesh:
    """The outline in the xy plane, drawn out along z. Sides that bend little are shaded as one smooth surface."""
    try:
        points = outline_of(size)
    except GeometryError as problem:
        raise RenderError(str(problem)) from problem
    half, n = size[0], len(points)
    b = MeshBuilder()
    triangles = triangles_of(points)
    for side in (1.0, -1.0):
        base = len(b.positions)
        for x, y in points:
            b.vertex((x, y, side * half), (0.0, 0.0, side), (x, y))
        for i, j, k in triangles:
            b.faces.append((base + i, base + j, base + k) if side > 0.0 else (base + i, base + k, base + j))
    lengths, normals = [], []
    for i, (x0, y0) in enumerate(points):
        x1, y1 = points[(i + 1) % n]
        length = math.sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0))
        lengths.append(length)
        normals.append(((y1 - y0) / length, (x0 - x1) / length))
    along = 0.0
    for i, p in enumerate(points):
        row: list[int] = []
        for q, m, u in (
            (p, blended(normals[i], normals[i - 1]), along),
            (points[(i + 1) % n], blended(normals[i], normals[(i + 1) % n]), along + lengths[i]),
        ):
            row.extend(b.vertex((q[0], q[1], z), (m[0], m[1], 0.0), (u, z)) for z in (-half, half))
        b.quad(row[0], row[2], row[3], row[1])
        along += lengths[i]
    return b.mesh()


def rounded_box(size: tuple[float, ...]) -> Mesh:
    """A box whose edges and corners are rounded with a radius: rings from its bottom to its top."""
    hx, hy, hz, radius = size
    if not min(size) > 0.0:
        raise RenderError(f"rounded_box of size {size} has a size that is not above zero")
    if radius > min(hx, hy, hz):
        raise RenderError(f"rounded_box of size {size} has a radius of {radius}, more than its smallest half side")
    steps = max(2, segments_for(radius) // 4)
    quarter = _quarter(steps)
    # from straight down (0, -1) to straight up (0, 1); the sides between the two equators are a row of their own
    profile = [*((c, -s) for c, s in reversed(quarter)), *quarter]
    ring = [(c, s) for turn in range(4) for c, s in (_turned(d, turn) for d in quarter)]
    b = MeshBuilder()
    rows: list[list[int]] = []
    v = 0.0
    ix, iy, iz = hx - radius, hy - radius, hz - radius
    for r, (out, up) in enumerate(profile):
        z = (iz if r > steps else -iz) + radius * up
        if rows:
            v += 2.0 * iz if r == steps + 1 else radius * 0.5 * math.pi / steps
        row = []
        u = 0.0
        x0, y0 = 0.0, 0.0
        for i in range(len(ring) + 1):
            k = i % len(ring)
            cx, cy = ring[k]
            sx, sy = ((ix, iy), (-ix, iy), (-ix, -iy), (ix, -iy))[k // (steps + 1)]
            x, y = sx + radius * out * cx, sy + radius * out * cy
            if i:
                # measured along the equator, so that a texture does not shrink towards the poles
                ex, ey = sx + radius * cx, sy + radius * cy
                u += math.sqrt((ex - x0) * (ex - x0) + (ey - y0) * (ey - y0))
            x0, y0 = sx + radius * cx, sy + radius * cy
            row.append(b.vertex((x, y, z), (out * cx, out * cy, up), (u, v)))
        rows.append(row)
    for low, high in pairwise(rows):
        for i in range(len(ring)):
            b.quad(low[i], low[i + 1], high[i + 1], high[i])
    for side in (-1.0, 1.0):
        corners = [
            b.vertex((x, y, side * (iz + radius)), (0.0, 0.0, side), (x, y))
            for x, y in ((ix, iy), (-ix, iy), (-ix, -iy), (ix, -iy))
        ]
        b.quad(*(corners if side > 0.0 else reversed(corners)))
    return b.mesh()


def _quarter(steps: int) -> list[Point2]:
    """(cos, sin) from 0 to 90 degrees, both ends exact."""
    arc = [(1.0, 0.0)]
    for i in range(1, steps):
        s, c = sin_cos(0.5 * math.pi * i / steps)
        arc.append((c, s))
    return [*arc, (0.0, 1.0)]


def _turned(d: Point2, quarters: int) -> Point2:
    x, y = d
    for _ in range(quarters):
        x, y = -y, x
    return (x, y)
