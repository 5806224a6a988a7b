"""Shortest ways on the grid: A* over eight neighbours, and string pulling.

Costs are whole numbers (thousandths of a cell), ties go to the lower cell index: the same grid always gives the
same way. A diagonal step needs both cells beside it free, so that no corner is cut.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator

from iwreplay.motion.footprints import Point2
from iwreplay.motion.grid import CELL_M, Grid

__all__ = ["DIAGONAL", "STRAIGHT", "TOLL", "Search", "line_is_free", "pulled"]

STRAIGHT, DIAGONAL = 1000, 1414
#: as much as a detour of five metres
TOLL = 50 * STRAIGHT
_SHIFT = 24
_MASK = (1 << _SHIFT) - 1


class Search:
    """One search from a start cell. Iterating gives the goals that can be reached, the nearest first, with their cost.

    The heuristic is the eight-neighbour distance to a point less `slack_cells`, within which all goals lie; without
    a point it is none (Dijkstra). tolls: for every cell, nonzero where stepping on it costs `TOLL` more.
    """

    def __init__(
        self,
        grid: Grid,
        start: int,
        *,
        goals: Collection[int],
        towards: int | None = None,
        slack_cells: float = 0.0,
        tolls: bytes = b"",
    ) -> None:
        self._grid, self._start, self._goals = grid, start, goals
        self._towards, self._slack = towards, math.ceil(slack_cells * DIAGONAL)
        self._tolls = tolls
        self._parent: dict[int, int] = {start: start}
        #: whether any goal was reached so far
        self.found = False

    def __iter__(self) -> Iterator[tuple[int, int]]:
        w, blocked, goals, tolls = self._grid.width, self._grid.blocked, self._goals, self._tolls
        steps = (
            *((step, STRAIGHT, 0, 0) for step in (1, -1, w, -w)),
            *((dx + dy, DIAGONAL, dx, dy) for dx in (1, -1) for dy in (w, -w)),
        )
        parent = self._parent
        best = {self._start: 0}
        closed = bytearray(len(blocked))
        heap = [(self._guess(self._start) << _SHIFT) | self._start]
        while heap:
            cell = heapq.heappop(heap) & _MASK
            if closed[cell]:
                continue
            closed[cell] = 1
            cost = best[cell]
            if cell in goals:
                self.found = True
                yield cell, cost
            for step, length, dx, dy in steps:
                to = cell + step
                if blocked[to] or closed[to] or (dx and (blocked[cell + dx] or blocked[cell + dy])):
                    continue
                reached = cost + length + (TOLL if tolls and tolls[to] else 0)
                if reached < best.get(to, 1 << 60):
                    best[to] = reached
                    parent[to] = cell
                    heapq.heappush(heap, ((reached + self._guess(to)) << _SHIFT) | to)

    def _guess(self, cell: int) -> int:
        if self._towards is None:
            return 0
        w = self._grid.width
        dx, dy = abs(cell % w - self._towards % w), abs(cell // w - self._towards // w)
        octile = STRAIGHT * max(dx, dy) + (DIAGONAL - STRAIGHT) * min(dx, dy)
        return max(0, octile - self._slack)

    def path(self, cell: int) -> list[int]:
        """Cells from the start to one that the iteration has given."""
        out = [cell]
        while out[-1] != self._start:
            out.append(self._parent[out[-1]])
        out.reverse()
        return out


def line_is_free(grid: Grid, a: Point2, b: Point2) -> bool:
    """Whether every cell that the segment touches is free (at a corner all four). The cell of `a` may be blocked."""
    return all(not grid.blocked[c] for c in _cells_on(grid, a, b))


def _cells_on(grid: Grid, a: Point2, b: Point2) -> Iterator[int]:
    ax, ay = (a[0] - grid.x0) / CELL_M, (a[1] - grid.y0) / CELL_M
    bx, by = (b[0] - grid.x0) / CELL_M, (b[1] - grid.y0) / CELL_M
    i, j, i1, j1 = math.floor(ax), math.floor(ay), math.floor(bx), math.floor(by)
    w = grid.width
    dx, dy = bx - ax, by - ay
    si, sj = (1 if dx > 0.0 else -1), (1 if dy > 0.0 else -1)
    while (i, j) != (i1, j1):
        tx = ((i + (si > 0)) - ax) / dx if i != i1 else math.inf
        ty = ((j + (sj > 0)) - ay) / dy if j != j1 else math.inf
        if abs(tx - ty) <= 1e-9:  # through a corner: both neighbours are touched
            yield j * w + i + si
            yield (j + sj) * w + i
            i, j = i + si, j + sj
        elif tx < ty:
            i += si
        else:
            j += sj
        yield j * w + i


def pulled(grid: Grid, points: list[Point2]) -> list[Point2]:
    """The same way with every point left out that a free straight line skips; the ends stay."""
    if len(points) <= 2:
        return list(points)
    out = [points[0]]
    for k in range(1, len(points) - 1):
        if not line_is_free(grid, out[-1], points[k + 1]):
            out.append(points[k])
    out.append(points[-1])
    return out
