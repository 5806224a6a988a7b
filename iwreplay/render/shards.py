"""What brittle things look like once they are broken: pieces of their own wall, lying on what they fell on.

The wall is the outline of the largest round shape, turned about its axis. What stood lowest stays together with a
jagged rim, a neck lies beside it, and curved splinters lie around; what is flat, as a plate, falls into wedges. A
handle, a cap or a lid comes off in one piece. They are drawn only: what collides stays what it was. Pure; the same
bits everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from iwreplay.pose import IDENTITY, Pose, quat_to_matrix, rotate
from iwreplay.render.mesh import Mesh, with_normals
from iwreplay.render.shapes import tessellate
from iwreplay.scene.breaking import falls_to_pieces, wall_of
from iwreplay.scene.geometry import Aabb, Box, aabb_of, shape_half
from iwreplay.scene.model import Shape, Thing
from iwreplay.trig import sin_cos

__all__ = ["lying_at", "shards_of"]

Floats = npt.NDArray[np.float64]

#: a thing that is lower than this share of its radius falls into wedges
_FLAT = 0.45
#: a rim narrower than this share of the largest radius is a neck
_NECK = 0.72
#: how a splinter may be cut: share of its width at its lower and at its upper end, and where on the wall it begins and
#: ends
_CUTS = (
    (1.0, 0.06, 0.34, 0.98),
    (0.1, 1.0, 0.45, 0.99),
    (1.0, 0.4, 0.3, 0.72),
    (0.5, 0.9, 0.6, 0.98),
    (0.9, 0.05, 0.32, 0.86),
    (0.08, 0.8, 0.36, 0.8),
)
_SPLINTER_RAD, _WEDGES = 0.62, 5
_ROWS, _AROUND = 10, 36
#: teeth of a jagged rim
_TIPS = 13
#: pieces lie no deeper in what carries them than this
_LIFT_M = 0.0008


def shards_of(thing: Thing) -> Iterator[tuple[Shape, Mesh]]:
    """The pieces of a thing that falls to pieces, each with the shape it comes off; none for any other thing.

    They are in the frame of `lying_at`."""
    wall = wall_of(thing) if falls_to_pieces(thing) else None
    if wall is None:
        return
    path = _outer_path(wall)
    r_max, low, high = max(r for r, _ in path), min(z for _, z in path), max(z for _, z in path)
    if high - low < _FLAT * r_max:
        yield from ((wall, m) for m in _wedges(path, r_max))
        reach = 1.35 * r_max
    else:
        yield from ((wall, m) for m in _vessel(path, r_max))
        reach = 1.15 * r_max
    yield from _loose(thing, wall, reach)


def lying_at(thing: Thing, pose: Pose) -> Pose:
    """Where the pieces of a thing lie: below its middle, at the height of its lowest corner, whichever way it lay."""
    x, y, z = (a + b for a, b in zip(pose[:3], rotate(pose[3:], thing.bounds_pos), strict=True))
    row = quat_to_matrix(pose[3:])[2]
    return (x, y, z - sum(abs(r) * h for r, h in zip(row, thing.bounds_half, strict=True)), *IDENTITY[3:])


def _outer_path(wall: Shape) -> tuple[tuple[float, float], ...]:
    """(radius, height) along the outside, from the middle of the bottom to the rim, closely spaced."""
    if wall.kind == "lathe":
        points = list(zip(wall.size[0::2], wall.size[1::2], strict=True))
        top = max(z for _, z in points)
        rim = next(k for k, (_, z) in enumerate(points) if z >= top - 1e-9)
        outline = points[: rim + 1]
    else:
        r, half = wall.size[0], wall.size[1]
        outline = [(0.0, -half), (r, -half), (r, half)]
    length = sum(_apart(a, b) for a, b in pairwise(outline))
    dense = [outline[0]]
    for a, b in pairwise(outline):
        n = max(1, math.ceil(24.0 * _apart(a, b) / length))
        dense.extend((a[0] + (b[0] - a[0]) * k / n, a[1] + (b[1] - a[1]) * k / n) for k in range(1, n + 1))
    return tuple(dense)


def _apart(a: tuple[float, float], b: tuple[float, float]) -> float:
    return math.sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]))


def _lot(*numbers: int) -> float:
    """0..1, scattered but always the same for the same numbers."""
    h = 2166136261
    for n in numbers:
        h = ((h ^ (n + 77)) * 2246822519) & 0xFFFFFFFF
        h = ((h ^ (h >> 15)) * 3266489917) & 0xFFFFFFFF
        h ^= h >> 13
    return (h & 1023) / 1023.0


def _at(path: tuple[tuple[float, float], ...], share: float) -> tuple[float, float]:
    """The point of the path at a share of its points, 0..1."""
    f = min(max(share, 0.0), 1.0) * (len(path) - 1)
    k = min(int(f), len(path) - 2)
    (r0, z0), (r1, z1) = path[k], path[k + 1]
    return r0 + (r1 - r0) * (f - k), z0 + (z1 - z0) * (f - k)


def _patch(path: tuple[tuple[float, float], ...], grid: list[list[tuple[float, float]]]) -> Floats:
    """(rows, columns, 3) points of the wall at a grid of (share, angle)."""
    out = np.zeros((len(grid), len(grid[0]), 3))
    for i, row in enumerate(grid):
        for j, (share, angle) in enumerate(row):
            r, z = _at(path, share)
            s, c = sin_cos(angle)
            out[i, j] = (r * c, r * s, z)
    return out


def _vessel(path: tuple[tuple[float, float], ...], r_max: float) -> Iterator[Mesh]:
    """The foot with a jagged rim, a neck if there is one, and splinters around."""
    last = len(path) - 1
    low, high = path[0][1], path[-1][1]
    length = sum(_apart(a, b) for a, b in pairwise(path))
    wide = next(k for k, (r, _) in enumerate(path) if r > 0.6 * r_max) / last
    foot = max(wide, next(k for k, (_, z) in enumerate(path) if z >= low + 0.1 * (high - low)) / last)
    teeth = min(0.26, 1.5 * r_max / length)
    yield _piece(_ring(path, [0.0] * _AROUND, _jagged(foot, teeth, seed=1)), lay=0, out_m=0.0, toward=0.0)
    necked = path[-1][0] < _NECK * r_max
    if necked:
        necks = [a - 0.5 * teeth for a in _jagged(0.76, 0.6 * teeth, seed=2)]
        out = 1.2 * r_max + 0.2 * length
        yield _piece(_ring(path, necks, [1.0] * _AROUND), lay=2, out_m=out, toward=-0.9)
    top = 0.8 if necked else 1.0
    for k, (bottom_share, top_share, begin, end) in enumerate(_CUTS):
        b, e = foot + (top - foot) * begin, foot + (top - foot) * end
        lean = 0.5 * (_lot(3, k) - 0.5)
        grid = []
        for i in range(_ROWS + 1):
            t = i / _ROWS
            half = _SPLINTER_RAD * (bottom_share + (top_share - bottom_share) * t)
            ragged = [0.1 * (e - b) * (_lot(4, k, j) - 0.5) if i in (0, _ROWS) else 0.0 for j in range(7)]
            grid.append([(min(b + (e - b) * t + ragged[j], 1.0), lean * t + half * (j / 3.0 - 1.0)) for j in range(7)])
        toward = 0.5 + (k + 0.7 * (_lot(10, k) - 0.5)) * 2.0 * math.pi / len(_CUTS)
        out = (1.15 + 0.45 * _lot(5, k)) * r_max + 0.3 * (e - b) * length
        yield _piece(_patch(path, grid), lay=1 if k % 3 else -1, out_m=out, toward=toward)


def _jagged(share: float, teeth: float, *, seed: int) -> list[float]:
    """How far a broken rim goes up in every direction: from `share`, in teeth of all sizes, higher on one side."""
    tips = [share + teeth * (0.25 + 0.75 * _lot(seed, k)) * (1.0 if k % 2 else 0.3) for k in range(_TIPS)]
    out = []
    for k in range(_AROUND):
        f = k * _TIPS / _AROUND
        a, b = tips[int(f)], tips[(int(f) + 1) % _TIPS]
        s, _ = sin_cos(2.0 * math.pi * k / _AROUND)
        out.append(a + (b - a) * (f - int(f)) + 0.25 * teeth * (s + 1.0))
    return out


def _ring(path: tuple[tuple[float, float], ...], low: list[float], high: list[float]) -> Floats:
    """All around, between a share of the wall for every direction and another."""
    angles = [2.0 * math.pi * k / _AROUND for k in range(_AROUND)]
    grid = [
        [(a + (b - a) * i / _ROWS, angle) for a, b, angle in zip(low, high, angles, strict=True)]
        for i in range(_ROWS + 1)
    ]
    return _patch(path, [[*row, row[0]] for row in grid])


def _wedges(path: tuple[tuple[float, float], ...], r_max: float) -> Iterator[Mesh]:
    """From the middle to the rim, moved apart; one of them lies the other way up."""
    bounds = [2.0 * math.pi * (k + 0.5 * (_lot(6, k) - 0.5)) / _WEDGES for k in range(_WEDGES)]
    for k in range(_WEDGES):
        a, b = bounds[k], bounds[(k + 1) % _WEDGES] + (2.0 * math.pi if k == _WEDGES - 1 else 0.0)
        middle, half = 0.5 * (a + b), 0.5 * (b - a)
        grid = []
        for i in range(_ROWS + 1):
            jag = [0.09 * (_lot(7, k + side, i) - 0.5) for side in (0, 1)]
            inner = 0.05 + 0.1 * _lot(8, k)
            row = []
            for j in range(9):
                x = j / 4.0 - 1.0
                share = inner + (1.0 - inner) * i / _ROWS
                row.append((share, middle + x * half + (jag[0] * (1.0 - x) + jag[1] * (1.0 + x)) * 0.5))
            grid.append(row)
        out = (0.22 + 0.3 * _lot(9, k)) * r_max
        yield _piece(_patch(path, grid), lay=3 if k == 2 else 0, out_m=out, toward=middle, about=False)


def _loose(thing: Thing, wall: Shape, reach: float) -> Iterator[tuple[Shape, Mesh]]:
    """Handles, which are made of rods, lie flat; the uppermost cap, lid or stopper stands beside."""
    shapes = [s for s in thing.links[0].shapes if s is not wall and s.role != "collision" and not s.when]
    rods = [s for s in shapes if s.kind == "capsule"]
    if rods:
        points, faces = _merged([(s, tessellate(s.kind, s.size)) for s in rods])
        flat = np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)
        if float(points[:, 1].max() - points[:, 1].min()) > float(points[:, 0].max() - points[:, 0].min()):
            flat = np.stack([points[:, 2], points[:, 1], points[:, 0]], axis=1)
        yield rods[0], _laid(_centred(flat), faces, out_m=reach * 1.3, toward=2.5)
    top_of_wall = _box_of(wall)[5]
    caps = [s for s in shapes if _is_cap(s) and _box_of(s)[5] > top_of_wall - 1e-6]
    if caps:
        cap = max(caps, key=lambda s: _box_of(s)[5])
        points, faces = _merged([(cap, tessellate(cap.kind, cap.size))])
        yield cap, _laid(_centred(points), faces, out_m=reach * 1.5, toward=-2.1)


def _centred(points: Floats) -> Floats:
    middle: Floats = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return np.subtract(points, middle)


def _is_cap(shape: Shape) -> bool:
    """Upright, round, and without a hole through it."""
    if shape.pose[4] or shape.pose[5] or shape.kind not in ("cylinder", "lathe"):
        return False
    return shape.kind == "cylinder" or min(shape.size[0::2]) < 0.2 * max(shape.size[0::2])


def _box_of(shape: Shape) -> Aabb:
    return aabb_of(Box(shape.pose, shape_half(shape)))


def _merged(parts: list[tuple[Shape, Mesh]]) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Points and faces of several meshes in the frame of their link."""
    points, faces, n = [], [], 0
    for shape, mesh in parts:
        rows = quat_to_matrix(shape.pose[3:])
        p = mesh.positions
        points.append(
            np.stack(
                [
                    r[0] * p[:, 0] + r[1] * p[:, 1] + r[2] * p[:, 2] + at
                    for r, at in zip(rows, shape.pose[:3], strict=True)
                ],
                axis=1,
            )
        )
        faces.append(mesh.faces + np.int32(n))
        n += len(p)
    return np.concatenate(points), np.concatenate(faces)


def _piece(patch: Floats, *, lay: int, out_m: float, toward: float, about: bool = True) -> Mesh:
    """A patch of the wall as a mesh that lies down. lay: 0 as it stood, 3 upside down, 2 on its side, 1 on its outside
    and -1 on its inside (these are patches around the direction +x). about: turned toward where it goes."""
    rows, columns = patch.shape[:2]
    p = patch.reshape(-1, 3)
    middle = 0.5 * (p.min(axis=0) + p.max(axis=0)) if lay else np.zeros(3)
    p = p - middle
    x, y, z = p[:, 0], p[:, 1], p[:, 2]
    if lay == 1:
        p = np.stack([z, y, -x], axis=1)
    elif lay in (-1, 2):
        p = np.stack([-z, y, x], axis=1)
    elif lay == 3:
        p = np.stack([x + middle[0], middle[1] - y, -z], axis=1)
    if lay and about:
        s, c = sin_cos(toward * 2.0 + 0.4)
        p = np.stack([c * p[:, 0] - s * p[:, 1], s * p[:, 0] + c * p[:, 1], p[:, 2]], axis=1)
    k = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.concatenate(
        [np.stack([k, k + 1, k + columns + 1], axis=1), np.stack([k, k + columns + 1, k + columns], axis=1)]
    )
    return _laid(p, faces.astype(np.int32), out_m=out_m, toward=toward)


def _laid(points: Floats, faces: npt.NDArray[np.int32], *, out_m: float, toward: float) -> Mesh:
    """Brought down to the ground and moved away from the middle."""
    s, c = sin_cos(toward)
    placed = points + np.array((out_m * c, out_m * s, _LIFT_M - float(points[:, 2].min())))
    faces, normals = with_normals(placed, faces)
    arrays = (placed, normals, np.ascontiguousarray(placed[:, :2]), faces)
    for array in arrays:
        array.setflags(write=False)
    return Mesh(*arrays, two_sided=True)
