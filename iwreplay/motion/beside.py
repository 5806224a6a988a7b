"""Stances that need no reach: before a piece of furniture, inside a room, next to a seat."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator

from iwreplay.body.kinematics import root_of
from iwreplay.motion.footprints import Footprint, Point2, nearest_on, point_gap, segment_gap
from iwreplay.motion.grid import CELL_M, Grid
from iwreplay.motion.model import Refusal, Route, Stance
from iwreplay.motion.search import STRAIGHT, Search
from iwreplay.motion.sides import rooms_beside
from iwreplay.motion.stances import facing_yaw
from iwreplay.motion.walking import Origin, Walking
from iwreplay.pose import Pose, Vec3, rotate, transform_point, yaw_of
from iwreplay.scene.model import CompiledScene, Room, Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import room_at, thing_box, thing_of
from iwreplay.world.state import WorldState

__all__ = ["Beside"]

#: how near one stands to furniture, and how near at least to something that can't be approached
_BESIDE_M = 0.45
_NEAR_M = (0.8, 1.4, 2.2, 3.2)
_BACK_COST_M = 0.8
_ASIDE_COST = 0.4
_SEAT_STEP_M = 0.95
_SLIM_M = 0.05
#: a face whose normal is flatter than this in plan looks up or down
_FACE_UP = 0.5


class Beside:
    """Finds places beside things, in one scene."""

    def __init__(self, scene: CompiledScene, walking: Walking) -> None:
        self._scene, self._walking = scene, walking

    def thing(self, state: WorldState, target: str) -> Route | Refusal:
        """Before a thing, facing it; its front is better than its back, its middle better than its ends."""
        thing = thing_of(state, target)
        grid = self._walking.grids.at(state)
        origin = self._walking.origin(state, grid)
        if isinstance(origin, Refusal):
            return origin
        centre = thing_box(thing, state).pose[:3]
        prints = self._walking.grids.footprints_for(state, target)
        same_room = self._same_room(state, thing)
        rings: list[Iterable[int]] = [self._walking.grids.mask(prints, _BESIDE_M)] if prints else []
        rings.extend(grid.cells_within(centre[0], centre[1], r) for r in _NEAR_M)
        first_goals: set[int] = set()
        for ring in rings:
            goals = {c for c in ring if not grid.blocked[c] and same_room(grid.centre(c))}
            first_goals = first_goals or goals
            found = self._best(grid, origin, goals, lambda p: _comfort(thing, state, centre, p))
            if found is not None:
                search, cell = found
                yaw = _facing(grid.centre(cell), centre, prints)
                return self._walking.route(grid, origin, search.path(cell), yaw)
        return self._no_path(state, origin, first_goals, self._walking.the(state, target))

    def before(self, state: WorldState, target: str, face: Pose, *, within_m: float) -> Iterator[Route]:
        """Ways to places on the side to which a face looks, the shortest first."""
        grid = self._walking.grids.at(state)
        origin = self._walking.origin(state, grid)
        if isinstance(origin, Refusal):
            return
        same_room = self._same_room(state, thing_of(state, target))
        nx, ny, _ = rotate(face[3:], (0.0, 0.0, 1.0))
        goals = {
            c
            for c in grid.cells_within(face[0], face[1], within_m)
            if not grid.blocked[c] and same_room(p := grid.centre(c)) and _ahead(face, (nx, ny), p)
        }
        search = Search(grid, origin.cell, goals=goals)
        for cell, _ in search:
            yaw = facing_yaw(grid.centre(cell), (face[0], face[1]))
            yield self._walking.route(grid, origin, search.path(cell), yaw)

    def room(self, state: WorldState, room_id: str) -> Route | Refusal:
        """Into a room, as near to its middle as its floor is free."""
        room = next(r for r in self._scene.rooms if r.id == room_id)
        grid = self._walking.grids.at(state)
        origin = self._walking.origin(state, grid)
        if isinstance(origin, Refusal):
            return origin
        goals = {c for c in range(len(grid.blocked)) if not grid.blocked[c] and _in_room(room, grid.centre(c))}
        middle = ((room.rect[0] + room.rect[2]) / 2.0, (room.rect[1] + room.rect[3]) / 2.0)
        search = Search(grid, origin.cell, goals=goals)
        best = min(((_distance(grid.centre(c), middle), c) for c, _ in search), default=None)
        if best is None:
            return self._no_path(state, origin, goals, f"the {room.nouns[0]}")
        return self._walking.route(grid, origin, search.path(best[1]), None)

    def before_seat(self, state: WorldState, seat: str, point: Vec3) -> Route | Refusal:
        """To where one sits down from at `point` on a seat: a step from it, nothing between, rather before it than
        behind."""
        grid = self._walking.grids.at(state)
        origin = self._walking.origin(state, grid)
        if isinstance(origin, Refusal):
            return origin
        at = (point[0], point[1])
        pose = state.poses[seat]
        front = transform_point((0.0, 0.0, 0.0, *pose[3:]), (0.0, -1.0, 0.0))
        others = [f for f in self._walking.grids.footprints(state) if f.thing != seat]
        touched = [f for f in others if point_gap(at, f.outline) <= _SLIM_M]
        near = {c for c in grid.cells_within(*at, _SEAT_STEP_M) if not grid.blocked[c]}

        def is_clear(c: int) -> bool:
            p = grid.centre(c)
            return all(f in touched or segment_gap(at, p, f.outline) > _SLIM_M for f in others)

        def awkward(p: Point2) -> float:
            d = max(_distance(p, at), 1e-6)
            ahead = ((p[0] - at[0]) * front[0] + (p[1] - at[1]) * front[1]) / d
            return _ASIDE_COST * d + 0.3 * (1.0 - ahead)

        found = self._best(grid, origin, {c for c in near if is_clear(c)}, awkward)
        if found is None:
            return self._no_path(state, origin, near, self._walking.the(state, seat))
        search, cell = found
        return self._walking.route(grid, origin, search.path(cell), facing_yaw(grid.centre(cell), at))

    def seat(self, state: WorldState) -> Stance | Refusal:
        """A free place next to the seat under the wearer, as near to straight ahead as possible."""
        root = root_of(state.body)
        at, yaw = (root[0], root[1]), yaw_of(root[3:])
        seat = state.attrs[WEARER].get("sitting")
        grid = self._walking.grids.at(state)
        others = [f for f in self._walking.grids.footprints(state) if f.thing != seat]
        touched = [f for f in others if point_gap(at, f.outline) <= _SLIM_M]
        scored: list[tuple[float, int]] = []
        for c in grid.cells_within(*at, _SEAT_STEP_M):
            if not grid.blocked[c]:
                p = grid.centre(c)
                off = 1.0 - math.cos(facing_yaw(at, p) - yaw)
                scored.append((_distance(at, p) + 0.3 * off, c))
        blocker = ""
        for _, c in sorted(scored):
            p = grid.centre(c)
            hit = [f.thing for f in others if f not in touched and segment_gap(at, p, f.outline) <= _SLIM_M]
            if not hit:
                return Stance(*p, yaw)
            blocker = blocker or hit[0]
        if not blocker:
            blocker = min(((point_gap(at, f.outline), f.thing) for f in others), default=(0.0, ""))[1]
        return Refusal("NO_PATH", "There is no free place to stand beside the seat.", blocker)

    def _same_room(self, state: WorldState, thing: Thing) -> Callable[[Point2], bool]:
        """Keeps a stance from being chosen on the far side of a wall."""
        rooms = rooms_beside(state, thing)
        return lambda p: not rooms or room_at(self._scene, *p) in rooms

    @staticmethod
    def _best(
        grid: Grid, origin: Origin, goals: set[int], extra: Callable[[Point2], float]
    ) -> tuple[Search, int] | None:
        """Goal with the least walk plus `extra` (metres, not negative)."""
        search = Search(grid, origin.cell, goals=goals)
        waiting: list[tuple[float, int]] = []
        for cell, cost in search:
            walked = cost * CELL_M / STRAIGHT
            if waiting and waiting[0][0] <= walked:
                break
            heapq.heappush(waiting, (walked + extra(grid.centre(cell)), cell))
        return (search, waiting[0][1]) if waiting else None

    def _no_path(self, state: WorldState, origin: Origin, goals: set[int], words: str) -> Refusal:
        blocker = self._walking.blocked_by(state, origin, goals)
        why = f" {self._walking.obstacle_sentence(state, blocker)}" if blocker else ""
        return Refusal("NO_PATH", f"There is no free way to {words}.{why}", blocker)


def _comfort(thing: Thing, state: WorldState, centre: Vec3, p: Point2) -> float:
    d = _distance(p, (centre[0], centre[1]))
    cost = _ASIDE_COST * d
    if thing.fixed and d > 1e-6:
        pose = state.poses[thing.id]
        fx, fy, _ = transform_point((0.0, 0.0, 0.0, *pose[3:]), (0.0, -1.0, 0.0))
        ahead = ((p[0] - centre[0]) * fx + (p[1] - centre[1]) * fy) / d
        cost += _BACK_COST_M * (1.0 - ahead) / 2.0
    return cost


def _facing(at: Point2, centre: Vec3, prints: tuple[Footprint, ...]) -> float:
    feet = [nearest_on(at, f.outline) for f in prints if point_gap(at, f.outline) > 1e-6]
    if feet:
        return facing_yaw(at, min(feet, key=lambda f: (_distance(at, f), f)))
    return facing_yaw(at, (centre[0], centre[1]))


def _ahead(face: Pose, normal: Point2, p: Point2) -> bool:
    """Whether a place is before a face; a face that looks up is seen from all around."""
    flat = math.hypot(*normal)
    along = (p[0] - face[0]) * normal[0] + (p[1] - face[1]) * normal[1]
    return flat < _FACE_UP or along > 0.0


def _in_room(room: Room, p: Point2) -> bool:
    x0, y0, x1, y1 = room.rect
    return x0 <= p[0] <= x1 and y0 <= p[1] <= y1


def _distance(a: Point2, b: Point2) -> float:
    return math.sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]))
