"""Meshes of cloths: a sheet with round edges along a line, bent out of true as cloth is.

Where it goes out of true depends on the place alone: layers that lie on each other stay apart, and a band on a cloth
lies on it. Only + - * / sqrt and floor, so that a mesh has the same bits on every machine.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from iwreplay.errors import GeometryError, RenderError
from iwreplay.render.mesh import Mesh, Point2, with_normals
from iwreplay.scene.cloths import ClothSize, cloth_of, hollow_height_m
from iwreplay.trig import sin_cos

__all__ = ["cloth"]

Floats = npt.NDArray[np.float64]

#: pieces of a quarter around an edge; of a thinner sheet, whose edges are hardly seen, one
_EDGE, _THIN_M = 2, 0.0065
#: from one fold to the next: so much, and so many times what it is out of true
_LEAST_FOLD_M, _FOLD_PER_WAVES = 0.06, 4.0
#: pieces of a fold, and of a shallow one
_PIECES, _FEW_PIECES, _SHALLOW_M = 6, 4, 0.01
#: so far down, what hangs has its whole width and its deepest folds; at its upper end, folds of this share
_HANGS_M, _AT_TOP = 0.3, 0.3


def cloth(size: tuple[float, ...]) -> Mesh:
    """The mesh of a cloth; `size` as in `scene.cloths`. RenderError for a size that is none."""
    try:
        c = cloth_of(size)
    except GeometryError as problem:
        raise RenderError(str(problem)) from problem
    fold_m = _LEAST_FOLD_M + _FOLD_PER_WAVES * c.waves
    bent = c.waves > 0.0 or c.gather < 1.0
    line, along = _resampled(c.line, 0.5 * fold_m if bent else math.inf)
    edge = _EDGE if c.thickness > _THIN_M else 1
    ring, u = _ring(line, along, c.thickness, edge=edge)
    middle = np.array(line)
    # of every point of the ring, the point of the line that it belongs to
    there, turn, last = range(len(line)), 2 * edge - 1, len(line) - 1
    owner = np.array([*there, *([last] * turn), *reversed(there), *([0] * turn)])
    rows = []
    pieces = _PIECES if c.waves > _SHALLOW_M else _FEW_PIECES
    for y, share in _rows(c, fold_m / pieces if bent else math.inf, edge=edge):
        at = middle[owner] + (ring - middle[owner]) * share
        rows.append(np.stack([at[:, 0], np.full(len(at), y), at[:, 1]], axis=1))
    n = len(ring)
    points = _out_of_true(np.concatenate(rows), c, fold_m)
    uv = np.stack([np.tile(u, len(rows)), np.repeat([r[0, 1] for r in rows], n)], axis=1)
    k = (np.arange(len(rows) - 1)[:, None] * n + np.arange(n)).reshape(-1)
    right = (np.arange(len(rows) - 1)[:, None] * n + (np.arange(n) + 1) % n).reshape(-1)
    faces = np.concatenate([np.stack([k, right, right + n], axis=1), np.stack([k, right + n, k + n], axis=1)])
    faces, normals = with_normals(points, faces)
    arrays = (points, normals, uv, faces)
    for array in arrays:
        array.setflags(write=False)
    return Mesh(*arrays)


def _resampled(line: tuple[Point2, ...], step_m: float) -> tuple[list[Point2], list[float]]:
    """The line with no piece longer than `step_m`, and how far along it every point is."""
    out, along = [line[0]], [0.0]
    for a, b in pairwise(line):
        length = math.sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]))
        n = max(1, math.ceil(length / step_m))
        begin = along[-1]
        for k in range(1, n + 1):
            out.append((a[0] + (b[0] - a[0]) * k / n, a[1] + (b[1] - a[1]) * k / n))
            along.append(begin + length * k / n)
    return out, along


def _ring(line: list[Point2], along: list[float], thickness: float, *, edge: int) -> tuple[Floats, Floats]:
    """Around the line at half the thickness: along its left, around its end, back and around its beginning. (n, 2)
    points and how far along the line each is."""
    r = thickness / 2.0
    left: list[Point2] = []
    for k in range(len(line)):
        before = _direction(line[max(k - 1, 0)], line[max(k, 1)])
        after = _direction(line[min(k, len(line) - 2)], line[min(k + 1, len(line) - 1)])
        x, z = before[0] + after[0], before[1] + after[1]
        length = math.sqrt(x * x + z * z)
        # turned straight back: across the one that came
        x, z = (x / length, z / length) if length > 1e-9 else before
        left.append((-z, x))
    points = [(p[0] + r * n[0], p[1] + r * n[1]) for p, n in zip(line, left, strict=True)]
    u = list(along)

    def around(k: int, sign: float) -> None:
        for i in range(1, 2 * edge):
            s, c = sin_cos(math.pi * i / (2 * edge))
            nx, nz = sign * left[k][0], sign * left[k][1]
            # from the normal over the way ahead, which is the normal turned to the right
            points.append((line[k][0] + r * (c * nx + s * nz), line[k][1] + r * (c * nz - s * nx)))
            u.append(along[k] + sign * r * s)

    around(len(line) - 1, 1.0)
    points.extend((p[0] - r * n[0], p[1] - r * n[1]) for p, n in zip(reversed(line), reversed(left), strict=True))
    u.extend(reversed(along))
    around(0, -1.0)
    return np.array(points), np.array(u)


def _direction(a: Point2, b: Point2) -> Point2:
    x, z = b[0] - a[0], b[1] - a[1]
    length = math.sqrt(x * x + z * z)
    return (x / length, z / length)


def _rows(c: ClothSize, step_m: float, *, edge: int) -> list[tuple[float, float]]:
    """Where across the sheet its rows lie, and the share of its thickness that it has there."""
    y0, y1 = c.across
    # a narrow one, a band on another, has sharp edges
    r = min(c.thickness / 2.0, (y1 - y0) / 8.0)
    rim = []
    for i in range(edge + 1):
        s, cosine = sin_cos(0.5 * math.pi * i / edge)
        rim.append((r * (1.0 - cosine), s if i < edge else 1.0))
    inner = y1 - y0 - 2.0 * r
    n = max(1, math.ceil(inner / step_m))
    between = [(y0 + r + inner * k / n, 1.0) for k in range(1, n)]
    return [*((y0 + d, s) for d, s in rim), *between, *((y1 - d, s) for d, s in reversed(rim))]


def _swing(x: Floats) -> Floats:
    """A wave of period 1 between -1 and 1, made of two parabolas."""
    f = x - np.floor(x)
    return np.where(f < 0.5, 16.0 * f * (0.5 - f), -16.0 * (f - 0.5) * (1.0 - f))


def _out_of_true(points: Floats, c: ClothSize, fold_m: float) -> Floats:
    """Points moved as the cloth is bent: folds in what hangs, hollows in what lies, edges that are not straight."""
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    per = 1.0 / fold_m
    folds = 0.65 * _swing(y * per + 0.13) + 0.35 * _swing(1.83 * y * per + 0.4 + 0.25 * z * per)
    hollows = 0.5 * _swing(0.8 * x * per + 0.31 * y * per) + 0.5 * _swing(0.7 * y * per - 0.5 * x * per + 0.2)
    sides = _swing(0.6 * x * per + 0.5 * z * per + 0.77)
    up = np.clip(z / hollow_height_m(c.waves), 0.0, 1.0)
    down = np.clip(z / -_HANGS_M, 0.0, 1.0)
    down = down * (2.0 - down)
    wide = c.gather + (1.0 - c.gather) * down
    # what is gathered lies in deeper folds
    deep = np.minimum(1.0, _AT_TOP + (1.0 - _AT_TOP) * down + (1.0 - wide))
    out: Floats = np.stack(
        [
            x + c.waves * deep * folds,
            y * wide + 0.6 * c.waves * sides,
            z - c.waves * up * (0.5 + 0.5 * hollows),
        ],
        axis=1,
    )
    return out
