"""The occupancy grid: 0.10 m cells of the floor on which the middle of a standing body fits, in the present world."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from iwreplay.motion.footprints import Footprint, Point2, footprints_of
from iwreplay.pose import Pose
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

__all__ = ["BODY_RADIUS_M", "CELL_M", "Grid", "OccupancyGrid"]

CELL_M = 0.10
BODY_RADIUS_M = 0.22
#: depth of a doorway's floor across the wall, each way from its middle
_THRESHOLD_M = 0.35

#: what decides a thing's footprint: pose, joint positions, and whether it is there at all
_Placement = tuple[Pose, tuple[float, ...], bool]


class Grid:
    """A frozen picture of the floor. Cells are flat indices; the outermost ring is always blocked."""

    def __init__(self, *, x0: float, y0: float, width: int, height: int, blocked: bytes) -> None:
        #: world position of the lower left corner of cell (0, 0), which is in the ring
        self.x0, self.y0 = x0, y0
        self.width, self.height = width, height
        #: 1 where the body does not fit, row by row along x
        self.blocked = blocked

    def cell(self, x: float, y: float) -> int | None:
        """Cell that holds a world point, None outside."""
        i, j = math.floor((x - self.x0) / CELL_M), math.floor((y - self.y0) / CELL_M)
        return j * self.width + i if 0 <= i < self.width and 0 <= j < self.height else None

    def centre(self, cell: int) -> Point2:
        """World position of a cell's middle."""
        j, i = divmod(cell, self.width)
        return (self.x0 + (i + 0.5) * CELL_M, self.y0 + (j + 0.5) * CELL_M)

    def free(self, x: float, y: float) -> bool:
        """Whether the body fits at the cell of a world point."""
        cell = self.cell(x, y)
        return cell is not None and not self.blocked[cell]

    def cells_within(self, x: float, y: float, radius_m: float) -> list[int]:
        """Cells whose middle is within `radius_m` of a point, ascending."""
        i0, i1 = self._span(x - radius_m - self.x0, x + radius_m - self.x0, self.width)
        j0, j1 = self._span(y - radius_m - self.y0, y + radius_m - self.y0, self.height)
        out = []
        for j in range(j0, j1):
            dy = self.y0 + (j + 0.5) * CELL_M - y
            for i in range(i0, i1):
                dx = self.x0 + (i + 0.5) * CELL_M - x
                if dx * dx + dy * dy <= radius_m * radius_m:
                    out.append(j * self.width + i)
        return out

    @staticmethod
    def _span(lo_m: float, hi_m: float, n: int) -> tuple[int, int]:
        return max(0, math.floor(lo_m / CELL_M)), min(n, math.floor(hi_m / CELL_M) + 1)


class OccupancyGrid:
    """Builds grids for states of one scene; keeps what did not change since the last one."""

    def __init__(self, scene: CompiledScene) -> None:
        self._scene = scene
        rects = [r.rect for r in scene.rooms]
        self._x0 = math.floor(min(r[0] for r in rects) / CELL_M - 4) * CELL_M
        self._y0 = math.floor(min(r[1] for r in rects) / CELL_M - 4) * CELL_M
        self._nx = math.ceil((max(r[2] for r in rects) - self._x0) / CELL_M) + 4
        self._ny = math.ceil((max(r[3] for r in rects) - self._y0) / CELL_M) + 4
        self._floor = self._floor_mask()
        self._joints = {
            t.id: tuple(f"{t.id}.{k.joint.name}" for k in t.links if k.joint is not None) for t in scene.things
        }
        self._placed: dict[str, _Placement] = {}
        self._prints: dict[str, tuple[Footprint, ...]] = {}
        self._patches: dict[str, tuple[tuple[int, int, Mask], ...]] = {}
        self._grid: Grid | None = None

    def at(self, state: WorldState) -> Grid:
        """The grid of a state."""
        if self._refresh(state) or self._grid is None:
            self._grid = self._compose(())
        return self._grid

    def without(self, state: WorldState, things: Iterable[str]) -> Grid:
        """The grid of a state if these things were not there."""
        self._refresh(state)
        return self._compose(things)

    def footprints(self, state: WorldState) -> list[Footprint]:
        """All outlines of a state, in scene order."""
        self._refresh(state)
        return [f for t in self._scene.things for f in self._prints[t.id]]

    def footprints_for(self, state: WorldState, thing: str) -> tuple[Footprint, ...]:
        """Outlines of one thing in a state."""
        self._refresh(state)
        return self._prints[thing]

    def owners(self, state: WorldState, cell: int) -> tuple[str, ...]:
        """Ids of the things that block a cell, in scene order."""
        self._refresh(state)
        j, i = divmod(cell, self._nx)
        return tuple(t.id for t in self._scene.things if any(_covers(p, i, j) for p in self._patches[t.id]))

    def has_floor(self, x: float, y: float) -> bool:
        """Whether a point lies in a room or a doorway, whatever stands there."""
        i, j = math.floor((x - self._x0) / CELL_M), math.floor((y - self._y0) / CELL_M)
        return 0 <= i < self._nx and 0 <= j < self._ny and bool(self._floor[j, i])

    def mask(self, prints: Iterable[Footprint], radius_m: float) -> frozenset[int]:
        """Cells closer than `radius_m` to some outlines."""
        cells: set[int] = set()
        for f in prints:
            i0, j0, hit = self._patch(f, radius_m)
            for j in range(hit.shape[0]):
                for i in range(hit.shape[1]):
                    if hit[j, i]:
                        cells.add((j + j0) * self._nx + i + i0)
        return frozenset(cells)

    def _refresh(self, state: WorldState) -> bool:
        """Brings footprints up to date; True when something changed."""
        changed = False
        for t in self._scene.things:
            attrs = state.attrs[t.id]
            there = attrs.get("exists") is not False and attrs.get("held") is not True and attrs.get("worn") is not True
            now: _Placement = (state.poses[t.id], tuple(state.joints[j] for j in self._joints[t.id]), there)
            if self._placed.get(t.id) == now:
                continue
            changed = True
            self._placed[t.id] = now
            self._prints[t.id] = footprints_of(t, state.poses[t.id], state.joints) if there else ()
            self._patches[t.id] = tuple(self._patch(f, BODY_RADIUS_M) for f in self._prints[t.id])
        return changed

    def _compose(self, leave_out: Iterable[str]) -> Grid:
        out = frozenset(leave_out)
        blocked = ~self._floor
        for t in self._scene.things:
            if t.id in out:
                continue
            for i0, j0, hit in self._patches[t.id]:
                blocked[j0 : j0 + hit.shape[0], i0 : i0 + hit.shape[1]] |= hit
        return Grid(
            x0=self._x0, y0=self._y0, width=self._nx, height=self._ny, blocked=blocked.astype("uint8").tobytes()
        )

    def _floor_mask(self) -> Mask:
        """Cells whose middle lies in a room or in a doorway between two rooms."""
        import numpy as np

        x = self._x0 + (np.arange(self._nx) + 0.5) * CELL_M
        y = self._y0 + (np.arange(self._ny) + 0.5) * CELL_M
        rects = [r.rect for r in self._scene.rooms]
        for p in self._scene.portals:
            if p.b:
                ex, ey = (p.width / 2.0, _THRESHOLD_M) if p.along == "x" else (_THRESHOLD_M, p.width / 2.0)
                rects.append((p.pos[0] - ex, p.pos[1] - ey, p.pos[0] + ex, p.pos[1] + ey))
        floor = np.zeros((self._ny, self._nx), dtype=np.bool_)
        for ax, ay, bx, by in rects:
            floor |= ((y >= ay) & (y <= by))[:, None] & ((x >= ax) & (x <= bx))[None, :]
        floor[[0, -1], :] = False
        floor[:, [0, -1]] = False
        return floor

    def _patch(self, f: Footprint, radius_m: float) -> tuple[int, int, Mask]:
        """(first column, first row, mask) of the cells whose middle is closer than `radius_m` to the outline."""
        import numpy as np

        xs, ys = [p[0] for p in f.outline], [p[1] for p in f.outline]
        i0 = min(max(0, math.floor((min(xs) - radius_m - self._x0) / CELL_M)), self._nx)
        j0 = min(max(0, math.floor((min(ys) - radius_m - self._y0) / CELL_M)), self._ny)
        i1 = max(i0, min(self._nx, math.floor((max(xs) + radius_m - self._x0) / CELL_M) + 1))
        j1 = max(j0, min(self._ny, math.floor((max(ys) + radius_m - self._y0) / CELL_M) + 1))
        x = (self._x0 + (np.arange(i0, i1) + 0.5) * CELL_M)[None, :]
        y = (self._y0 + (np.arange(j0, j1) + 0.5) * CELL_M)[:, None]
        inside = np.full((j1 - j0, i1 - i0), len(f.outline) >= 3, dtype=np.bool_)
        near = np.zeros_like(inside)
        for k, (ax, ay) in enumerate(f.outline):
            bx, by = f.outline[(k + 1) % len(f.outline)]
            dx, dy = bx - ax, by - ay
            px, py = x - ax, y - ay
            inside &= dx * py - dy * px >= 0.0
            n = dx * dx + dy * dy
            along = np.clip((px * dx + py * dy) / n, 0.0, 1.0) if n > 0.0 else np.zeros_like(px + py)
            ex, ey = px - along * dx, py - along * dy
            near |= ex * ex + ey * ey < radius_m * radius_m
        return i0, j0, inside | near


def _covers(patch: tuple[int, int, Mask], i: int, j: int) -> bool:
    i0, j0, hit = patch
    return 0 <= j - j0 < hit.shape[0] and 0 <= i - i0 < hit.shape[1] and bool(hit[j - j0, i - i0])
