"""From grid cells to routes: where a walk begins, how it is straightened, and what stands in its way."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

from iwreplay.body.kinematics import root_of
from iwreplay.motion.footprints import Point2, segment_gap
from iwreplay.motion.grid import Grid, OccupancyGrid
from iwreplay.motion.model import Names, Refusal, Route, Stance
from iwreplay.motion.search import Search, pulled
from iwreplay.motion.touching import the
from iwreplay.pose import Vec3, yaw_of
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

__all__ = ["Origin", "Walking", "capitalised", "facing_stance"]

#: how far the nearest free cell may be from where the wearer got to stand
_STEP_OUT_M = 0.60
_SLIM_M = 0.04


class Origin(NamedTuple):
    """Where a walk begins."""

    at: Point2
    yaw: float
    #: free cell from which the search starts
    cell: int
    #: its middle when the wearer has to step out to it first, else nothing
    lead: tuple[Point2, ...]


class Walking:
    """Routes over the grids of one scene."""

    def __init__(self, scene: CompiledScene, *, names: Names = the) -> None:
        #: what the wearer calls a thing
        self.the = names
        self.grids = OccupancyGrid(scene)
        self._loose = tuple(t.id for t in scene.things if not t.fixed or any(k.joint is not None for k in t.links))

    def origin(self, state: WorldState, grid: Grid) -> Origin | Refusal:
        """The wearer's place, or the nearest free cell that a slim step leads to."""
        root = root_of(state.body)
        at, yaw = (root[0], root[1]), yaw_of(root[3:])
        cell = grid.cell(*at)
        if cell is not None and not grid.blocked[cell]:
            return Origin(at, yaw, cell, ())
        prints = self.grids.footprints(state)
        gaps = [segment_gap(at, at, f.outline) for f in prints]
        near = [c for c in grid.cells_within(*at, _STEP_OUT_M) if not grid.blocked[c]]
        near.sort(key=lambda c: (_squared(grid.centre(c), at), c))
        blocker = ""
        for c in near:
            to = grid.centre(c)
            # what the wearer already touches can't stop it from stepping away
            hit = [
                f.thing
                for f, g in zip(prints, gaps, strict=True)
                if g > _SLIM_M and segment_gap(at, to, f.outline) <= _SLIM_M
            ]
            if not hit:
                return Origin(at, yaw, c, (to,))
            blocker = blocker or hit[0]
        return Refusal("NO_PATH", "There is no free floor around me to step on.", blocker)

    def route(self, grid: Grid, origin: Origin, cells: list[int], yaw: float | None) -> Route:
        """The straightened way along cells (first: the origin's). yaw None: keep the heading of the last segment."""
        points = [*origin.lead, *(grid.centre(c) for c in cells[1:])]
        line = [origin.at, *pulled(grid, points)] if origin.lead else pulled(grid, [origin.at, *points])
        if yaw is None:
            a, b = line[-2] if len(line) > 1 else line[-1], line[-1]
            yaw = math.atan2(b[1] - a[1], b[0] - a[0]) if len(line) > 1 else origin.yaw
        length = sum(math.sqrt(_squared(a, b)) for a, b in pairwise(line))
        return Route(tuple(line), length, Stance(*line[-1], yaw))

    def stay(self, origin: Origin, yaw: float) -> Route:
        """No walking, only a turn."""
        return Route((origin.at,), 0.0, Stance(*origin.at, yaw))

    def blocked_by(self, state: WorldState, origin: Origin, goals: Collection[int]) -> str:
        """Id of the movable or openable thing that most plainly stands in a way to a goal, "" when none does.

        It is the first on the way that crosses as little of such things as possible.
        """
        if not goals:
            return ""
        open_floor = self.grids.without(state, self._loose)
        wanted = {c for c in goals if not open_floor.blocked[c]}
        grid = self.grids.at(state)
        search = Search(open_floor, origin.cell, goals=wanted, tolls=grid.blocked)
        for cell, _ in search:
            for c in search.path(cell):
                if grid.blocked[c]:
                    owners = [t for t in self.grids.owners(state, c) if t in self._loose]
                    if owners:
                        return owners[0]
            return ""
        return ""

    def obstacle_sentence(self, state: WorldState, thing: str) -> str:
        """ "The hall door is closed and in the way." """
        closed = "closed and " if state.attrs[thing].get("open") is False else ""
        return f"{capitalised(self.the(state, thing))} is {closed}in the way."


def facing_stance(body: tuple[float, ...], point: Vec3) -> Stance:
    """Where a body stands, turned to a point."""
    root = root_of(body)
    dx, dy = point[0] - root[0], point[1] - root[1]
    yaw = math.atan2(dy, dx) if dx * dx + dy * dy > 1e-4 else yaw_of(root[3:])
    return Stance(root[0], root[1], yaw)


def capitalised(words: str) -> str:
    """With a capital first letter."""
    return words[:1].upper() + words[1:]


def _squared(a: Point2, b: Point2) -> float:
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])
