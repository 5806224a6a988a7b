"""A triangle mesh, and how one is put together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from iwreplay.trig import sin_cos

__all__ = ["SMOOTH_COS", "Mesh", "MeshBuilder", "Point2", "Point3", "blended", "circle", "segments_for",
           "with_normals"]  # fmt: skip

Point2 = tuple[float, float]
Point3 = tuple[float, float, float]

#: adjacent facets whose normals agree better than this cosine (37 degrees) are shaded as one smooth surface
SMOOTH_COS = 0.8


@dataclass(frozen=True)
class Mesh:
    """A triangle mesh in its shape's frame. Arrays are read-only."""

    #: (n, 3) metres
    positions: npt.NDArray[np.float64]
    #: (n, 3) unit vectors
    normals: npt.NDArray[np.float64]
    #: (n, 2) metres along the surface, for tiling textures
    uv: npt.NDArray[np.float64]
    #: (m, 3) indices, counter-clockwise seen from the side that the normals point to
    faces: npt.NDArray[np.int32]
    #: drawn from both sides (an open shell, or one whose orientation is not known)
    two_sided: bool = False


class MeshBuilder:
    """Collects vertices and faces."""

    def __init__(self) -> None:
        self.positions: list[Point3] = []
        self.normals: list[Point3] = []
        self.uv: list[Point2] = []
        self.faces: list[tuple[int, int, int]] = []

    def vertex(self, p: Point3, n: Point3, uv: Point2) -> int:
        """Adds a vertex and gives its number."""
        self.positions.append(p)
        self.normals.append(n)
        self.uv.append(uv)
        return len(self.positions) - 1

    def quad(self, a: int, b: int, c: int, d: int) -> None:
        """Two triangles, counter-clockwise; a side of no length leaves one of them out."""
        at = self.positions
        if at[a] != at[b] and at[b] != at[c] and at[a] != at[c]:
            self.faces.append((a, b, c))
        if at[a] != at[c] and at[c] != at[d] and at[a] != at[d]:
            self.faces.append((a, c, d))

    def mesh(self, *, two_sided: bool = False) -> Mesh:
        """What was collected, as read-only arrays."""
        arrays = (
            np.array(self.positions, np.float64),
            np.array(self.normals, np.float64),
            np.array(self.uv, np.float64),
            np.array(self.faces, np.int32),
        )
        for a in arrays:
            a.setflags(write=False)
        return Mesh(*arrays, two_sided=two_sided)


def with_normals(
    points: npt.NDArray[np.float64], faces: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Those of the faces (m, 3) that have an area, and at every point (n, 3) the mean normal of the faces around it."""
    a, b, d = (points[faces[:, k]] for k in range(3))
    u, v = b - a, d - a
    across = np.stack(
        [
            u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1],
            u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2],
            u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0],
        ],
        axis=1,
    )
    size = across[:, 0] * across[:, 0] + across[:, 1] * across[:, 1] + across[:, 2] * across[:, 2]
    keep = size > 1e-20
    faces, across = faces[keep], across[keep]
    normals = np.zeros_like(points)
    for k in range(3):
        np.add.at(normals, faces[:, k], across)
    length = np.sqrt(normals[:, 0] * normals[:, 0] + normals[:, 1] * normals[:, 1] + normals[:, 2] * normals[:, 2])
    normals = np.where(length[:, None] > 1e-15, normals / np.maximum(length, 1e-15)[:, None], (0.0, 0.0, 1.0))
    return np.ascontiguousarray(faces, np.int32), normals


def segments_for(radius_m: float) -> int:
    """How many straight pieces a circle of this radius is drawn with."""
    for limit_m, pieces in ((0.008, 8), (0.025, 12), (0.08, 18), (0.3, 26)):
        if radius_m < limit_m:
            return pieces
    return 36


@lru_cache(maxsize=64)
def circle(pieces: int) -> tuple[Point2, ...]:
    """(cos, sin) of `pieces` + 1 directions; the last repeats the first exactly.

    Starts at +y, the back of a thing, so that a texture's seam is out of sight.
    """
    ring = []
    for i in range(pieces):
        s, c = sin_cos(2.0 * math.pi * i / pieces + 0.5 * math.pi)
        ring.append((c, s))
    return (*ring, ring[0])


def blended(n: Point2, other: Point2) -> Point2:
    """The unit vector between two that differ little, else the first."""
    if n[0] * other[0] + n[1] * other[1] < SMOOTH_COS:
        return n
    r, z = n[0] + other[0], n[1] + other[1]
    length = math.sqrt(r * r + z * z)
    return (r / length, z / length)
