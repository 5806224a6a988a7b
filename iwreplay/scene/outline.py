"""Outlines of prisms: closed chains of points in the plane, checked and turned counter-clockwise.

Whether lines cross is decided on whole nanometres, so that the answer is exact and the same everywhere.
"""

from __future__ import annotations

import math
from functools import lru_cache

from iwreplay.errors import GeometryError

__all__ = ["MAX_OUTLINE_POINTS", "Grid2", "Point2", "on_grid", "outline_of", "turn_of"]

Point2 = tuple[float, float]
Grid2 = tuple[int, int]

#: points of one outline
MAX_OUTLINE_POINTS = 256

_GRID_PER_M = 1e9
#: farther from the middle than this an outline is a mistake, metres
_FAR_M = 1000.0


def on_grid(point: Point2) -> Grid2:
    """The point in whole nanometres."""
    return (math.floor(point[0] * _GRID_PER_M + 0.5), math.floor(point[1] * _GRID_PER_M + 0.5))


def turn_of(a: Grid2, b: Grid2, c: Grid2) -> int:
    """Twice the area of the triangle: above zero when it turns left, zero on one line."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@lru_cache(maxsize=4096)
def outline_of(size: tuple[float, ...]) -> tuple[Point2, ...]:
    """The outline of a prism of this size (half thickness, x1, y1, x2, y2, ...), counter-clockwise.

    The last point is joined to the first. GeometryError, which names the points, for an outline of fewer than three
    points, of too many, that says a point twice, that touches or crosses itself, or that has no area.
    """
    flat = size[1:]
    if len(size) < 7 or len(flat) % 2:
        raise GeometryError(
            f"prism of size {size} needs a half thickness and the x and y of at least 3 points, not {len(size)} numbers"
        )
    if not size[0] > 0.0:
        raise GeometryError(f"prism has a half thickness of {size[0]}, which is not above zero")
    points = tuple(zip(flat[0::2], flat[1::2], strict=True))
    if len(points) > MAX_OUTLINE_POINTS:
        raise GeometryError(f"outline of {len(points)} points; at most {MAX_OUTLINE_POINTS} are allowed")
    far = max(points, key=lambda p: max(abs(p[0]), abs(p[1])))
    if max(abs(far[0]), abs(far[1])) > _FAR_M:
        raise GeometryError(f"outline point {far} is more than {_FAR_M:g} m away from the middle")
    grid = [on_grid(p) for p in points]
    _check_simple(points, grid)
    area = sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(grid, grid[1:] + grid[:1], strict=True))
    return points if area > 0 else points[::-1]


def _check_simple(points: tuple[Point2, ...], grid: list[Grid2]) -> None:
    n = len(grid)
    for i in range(n):
        if grid[i] == grid[(i + 1) % n]:
            raise GeometryError(f"outline says the point {points[i]} twice in a row; the last point joins the first")
    for i in range(n):
        a, b = grid[i], grid[(i + 1) % n]
        c = grid[(i + 2) % n]
        # the next line goes back over this one
        if turn_of(a, b, c) == 0 and (c[0] - b[0]) * (a[0] - b[0]) + (c[1] - b[1]) * (a[1] - b[1]) > 0:
            raise GeometryError(f"outline turns back on itself at {points[(i + 1) % n]}")
        for j in range(i + 2, n):
            if i == 0 and j == n - 1:
                continue
            if _meet(a, b, grid[j], grid[(j + 1) % n]):
                raise GeometryError(
                    f"outline crosses itself: {points[i]} to {points[(i + 1) % n]} meets "
                    f"{points[j]} to {points[(j + 1) % n]}"
                )


def _meet(a: Grid2, b: Grid2, c: Grid2, d: Grid2) -> bool:
    """Whether two lines from point to point have a point in common."""
    if max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0]):
        return False
    if max(a[1], b[1]) < min(c[1], d[1]) or max(c[1], d[1]) < min(a[1], b[1]):
        return False
    return turn_of(a, b, c) * turn_of(a, b, d) <= 0 and turn_of(c, d, a) * turn_of(c, d, b) <= 0
