"""The search for a live stance: the cheapest place to stand from which the hand has a free way to a point."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

import msgspec

from iwreplay.body.kinematics import key_poses, root_of
from iwreplay.body.postures import REACH_POSTURES, bend_for, mirrored, pelvis_of, ready_palm
from iwreplay.body.skeleton import PELVIS_HEIGHT_M
from iwreplay.motion.footprints import Point2, segment_gap
from iwreplay.motion.grid import CELL_M, Grid
from iwreplay.motion.hand import Blocked, HeldBox, first_free, hand_ways
from iwreplay.motion.model import Approach, Reach, Refusal, Route, Stance
from iwreplay.motion.search import STRAIGHT, Search
from iwreplay.motion.sides import rooms_of
from iwreplay.motion.stances import Standing, facing_yaw, options_at, reach_window, swept_prints
from iwreplay.motion.touching import Aim, aim_at, held_thing
from iwreplay.motion.walking import Origin, Walking, capitalised
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3, compose, from_xyz_yaw, inverse, transform_point, wrap_angle, yaw_of
from iwreplay.scene.model import CompiledScene
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import room_at, thing_box, thing_of
from iwreplay.world.state import WorldState

__all__ = ["Accept", "Approaching", "anything"]

#: whether what is to be done can be done from there
Accept = Callable[[Approach], bool]

#: clearance of the feet from a swinging door: nearer is out of the question, nearer than the second costs
_SWING_HARD_M, _SWING_SOFT_M = 0.12, 0.24
_SWING_COST_M = 0.6
#: standing at the back of something costs this much more than standing before it
_BACK_COST_M = 0.8
#: a place with a preferred stance: the others cost
_OTHER_COST_M = 0.5
#: how much nearer one presses against a counter than walking needs, what that costs, and what the hips need
_PRESS_M, _PRESS_COST_M, _HIPS_M = 0.12, 0.3, 0.13
#: hand ways tried for one question (one that ends at a wall does not count: it says nothing of the side that the
#: target is on), and how far apart failed places must be to be worth another try
_TRIES = 28
_TRIES_FAR = 8
_FAILED_NEAR_M = 0.18
#: how far the body is turned out of its way for an arm
_TURNS_RAD = (0.26, -0.26, 0.5, -0.5)
#: small things that a hand brushes past without harm are no bigger than this, half extents
_SMALL_M = 0.15


def anything(approach: Approach) -> bool:
    """Takes every stance."""
    del approach
    return True


class Approaching:
    """Finds stances in one scene."""

    def __init__(self, scene: CompiledScene, sim: Simulator, walking: Walking) -> None:
        self._sim, self._walking = sim, walking
        self._solid = frozenset(t.id for t in scene.things if t.fixed or max(t.bounds_half) > _SMALL_M)
        #: what parts one room from the next
        self.walls = frozenset(t.id for t in scene.things if t.cls == "wall")

    def approach(
        self,
        state: WorldState,
        target: str,
        point: Vec3,
        *,
        max_walk_m: float,
        left: bool = False,
        enter: bool = False,
        accept: Accept = anything,
    ) -> Approach | Refusal:
        """See `Planner.approach`. enter: rather walk into the room of the target than reach it from the next one."""
        aim = aim_at(state, target, point)
        if is_sitting(state):
            found = self._from_seat(state, aim, left=left)
            if isinstance(found, Refusal) or accept(found):
                return found
            return self._stand_up_first(state)
        window = reach_window(round(point[2] * 1000.0))
        if window.nearest_m > window.farthest_m:
            return Refusal("UNREACHABLE", f"{capitalised(self._walking.the(state, target))} is too high to reach.")
        grid = self._walking.grids.at(state)
        origin = self._walking.origin(state, grid)
        if isinstance(origin, Refusal):
            return origin
        quest = _Quest(self, state, aim, grid, origin, left=left, accept=accept)
        here = None if enter and not quest.on_its_side(origin.at) else quest.here()
        if here is not None:
            return here
        return quest.elsewhere(window.farthest_m, max_walk_m)

    def _from_seat(self, state: WorldState, aim: Aim, *, left: bool) -> Approach | Refusal:
        root = root_of(state.body)
        pelvis_m = root[2] + PELVIS_HEIGHT_M
        yaw = yaw_of(root[3:])
        ground = from_xyz_yaw(root[0], root[1], 0.0, yaw)
        local = transform_point(inverse(ground), aim.point)
        refusal = self._stand_up_first(state)
        if bend_for("sit", mirrored(local) if left else local, pelvis_m=pelvis_m) is None:
            return refusal
        start = transform_point(ground, _ready(pelvis_m, left=left))
        way = self.hand(state, aim, start=start, at=(root[0], root[1]), yaw=yaw, left=left)
        if isinstance(way, Blocked):
            return refusal
        route = Route(((root[0], root[1]),), 0.0, Stance(root[0], root[1], yaw))
        return Approach(route, Reach("sit", way, left))

    @staticmethod
    def _stand_up_first(state: WorldState) -> Refusal:
        seat = state.attrs[WEARER].get("sitting")
        return Refusal("POSTURE", "I am sitting; I have to stand up first.", seat if isinstance(seat, str) else "")

    def hand(
        self, state: WorldState, aim: Aim, *, start: Vec3, at: tuple[float, float], yaw: float, left: bool
    ) -> tuple[Vec3, ...] | Blocked:
        """A free way of the palm, or what blocks it. What the right hand holds stays where it is carried
        while the left one reaches."""
        return first_free(self._ways(state, aim, start=start, at=at, yaw=yaw, left=left))

    def other_ways(self, state: WorldState, aim: Aim, approach: Approach) -> Iterator[tuple[Vec3, ...]]:
        """Free ways of the palm from the stance of an approach, other than its own."""
        reach, stance = approach.reach, approach.route.stance
        at = (stance.x, stance.y)
        for way in self._ways(state, aim, start=reach.waypoints[0], at=at, yaw=stance.yaw, left=reach.left):
            if not isinstance(way, Blocked) and way != reach.waypoints:
                yield way

    def otherwise(
        self, state: WorldState, aim: Aim, approach: Approach, *, thorough: bool = False
    ) -> Iterator[Approach]:
        """The same place with the body turned a little to either side, then in other postures; the hand's way is free.
        None from a seat. thorough: half down on the knees too."""
        reach, stance = approach.reach, approach.route.stance
        if reach.posture == "sit":
            return
        at = (stance.x, stance.y)
        postures = (*REACH_POSTURES, "squat") if thorough else REACH_POSTURES
        for turn in (*_TURNS_RAD, 0.0):
            yaw = wrap_angle(stance.yaw + turn)
            options = options_at(at, aim.point, yaw=yaw, left=reach.left, postures=postures)
            for s in sorted(options, key=lambda s: s.cost_m):
                # a turn that brings the point too far to the side is none
                if s.yaw != yaw or (s.posture == reach.posture) == (turn == 0.0):
                    continue
                ready = _ready(pelvis_of(s.posture), left=reach.left)
                start = transform_point(from_xyz_yaw(s.x, s.y, 0.0, s.yaw), ready)
                way = self.hand(state, aim, start=start, at=at, yaw=s.yaw, left=reach.left)
                if not isinstance(way, Blocked):
                    route = msgspec.structs.replace(approach.route, stance=Stance(*at, s.yaw))
                    yield Approach(route, Reach(s.posture, way, reach.left))

    def _ways(
        self, state: WorldState, aim: Aim, *, start: Vec3, at: tuple[float, float], yaw: float, left: bool
    ) -> Iterator[tuple[Vec3, ...] | Blocked]:
        dx, dy = aim.point[0] - at[0], aim.point[1] - at[1]
        n = math.sqrt(dx * dx + dy * dy)
        facing = (dx / n, dy / n) if n > 1e-6 else (math.cos(yaw), math.sin(yaw))
        box = None if left else held_box(state)
        held = (from_xyz_yaw(0.0, 0.0, 0.0, yaw)[3:], box) if box else None
        return hand_ways(self._sim, aim, start=start, facing=facing, solid=self._solid, held=held)

    @property
    def walking(self) -> Walking:
        """The routes that it searches on."""
        return self._walking


class _Batch:
    """(cell, metres walked) of a search, up to a limit; what comes first beyond it is kept in `rest`."""

    def __init__(
        self, ways: Iterator[tuple[int, int]], limit_m: float, *, first: tuple[int, float] | None = None
    ) -> None:
        self._ways, self._limit_m, self._first = ways, limit_m, first
        self.rest: tuple[int, float] | None = None

    def __iter__(self) -> Iterator[tuple[int, float]]:
        if self._first is not None:
            yield self._first
        for cell, cost in self._ways:
            walked = cost * CELL_M / STRAIGHT
            if walked > self._limit_m:
                self.rest = (cell, walked)
                return
            yield cell, walked


class _Quest:
    """One question: where to stand for one aim."""

    def __init__(
        self, home: Approaching, state: WorldState, aim: Aim, grid: Grid, origin: Origin, *, left: bool, accept: Accept
    ) -> None:
        self._left, self._accept = left, accept
        self._home, self._state, self._aim, self._grid, self._origin = home, state, aim, grid, origin
        self._failed: list[tuple[str, float, float]] = []
        self._blocker: Blocked | None = None
        self._tries = 0
        #: a place serves, but is too much of a walk; some place can be walked to
        self._far = self._reached = False
        self._rooms = rooms_of(state, aim)
        thing = thing_of(state, aim.target)
        grids = home.walking.grids
        self._hard: frozenset[int] = frozenset()
        self._soft: frozenset[int] = frozenset()
        self._out = aim.out
        if aim.handle:
            swept = swept_prints(thing, state)
            self._hard, self._soft = grids.mask(swept, _SWING_HARD_M), grids.mask(swept, _SWING_SOFT_M)
        base = state.poses[thing.id]
        places = [transform_point(base, (x, y, 0.0)) for x, y, _ in thing.stances] if thing.fixed else []
        self._preferred = frozenset(c for p in places if (c := grid.cell(p[0], p[1])) is not None)

    def on_its_side(self, at: Point2) -> bool:
        """Whether no wall of the building parts a place from the target."""
        return not self._rooms or room_at(self._state.scene, *at) in self._rooms

    def here(self) -> Approach | None:
        """Without a step, when that is possible."""
        o = self._origin
        cell = self._grid.cell(*o.at)
        if cell in self._hard or cell in self._soft:
            return None
        for s in sorted(options_at(o.at, self._aim.point, yaw=o.yaw, left=self._left), key=lambda s: s.cost_m):
            way = self._try(s, cell)
            if way is not None:
                found = Approach(self._home.walking.stay(o, s.yaw), Reach(s.posture, way, self._left))
                if self._accept(found):
                    return found
        return None

    def elsewhere(self, farthest_m: float, max_walk_m: float) -> Approach | Refusal:
        """The cheapest free place within the walk, or why there is none."""
        x, y, _ = self._aim.point
        farthest_m += _PRESS_M
        near = self._grid.cells_within(x, y, farthest_m)
        goals = {c for c in near if not self._grid.blocked[c] and c not in self._hard}
        for some in self._by_side(goals):
            found = self._among(some, farthest_m, max_walk_m)
            if found is not None:
                return found
        return self._refusal(goals)

    def _by_side(self, goals: set[int]) -> Iterator[set[int]]:
        """The places on the target's side of the walls, then those from which a door or a hatch may let the hand
        through."""
        own = {c for c in goals if self.on_its_side(self._grid.centre(c))}
        yield own
        if len(own) < len(goals):
            yield goals - own

    def _among(self, goals: set[int], farthest_m: float, max_walk_m: float) -> Approach | None:
        """The cheapest free place of some, within the walk."""
        search = Search(
            self._grid,
            self._origin.cell,
            goals=goals,
            towards=self._grid.cell(*self._aim.point[:2]),
            slack_cells=farthest_m / CELL_M + 1.0,
        )
        ways = iter(search)
        # grid ways are up to a twelfth longer than what they are straightened to
        within = _Batch(ways, max_walk_m * 1.09)
        offered = False
        for s, cell in self._ranked(within, _TRIES):
            way = self._try(s, cell)
            if way is not None:
                route = self._home.walking.route(self._grid, self._origin, search.path(cell), s.yaw)
                if (s.x, s.y) != self._grid.centre(cell):
                    route = _pressed(route, s)
                found = Approach(route, Reach(s.posture, way, self._left))
                if route.length_m > max_walk_m:
                    self._far = True
                    continue
                if self._accept(found):
                    return found
                offered = True
        if offered:  # it is not the walk that is in the way
            return None
        beyond = _Batch(ways, math.inf, first=within.rest)
        self._far = self._far or any(self._try(s, c) is not None for s, c in self._ranked(beyond, _TRIES_FAR))
        self._reached = self._reached or search.found
        return None

    def _ranked(self, batch: _Batch, tries: int) -> Iterator[tuple[Standing, int]]:
        """(standing, cell) in the order of walk plus discomfort, until `tries` hand ways have failed."""
        allowed = self._tries + tries
        waiting: list[tuple[float, int, int, Standing]] = []
        n = 0
        for cell, walked in batch:
            while waiting and waiting[0][0] <= walked:
                _, _, c, s = heapq.heappop(waiting)
                yield s, c
                if self._tries >= allowed:
                    return
            extra = self._extra(cell)
            for s in self._options(cell):
                heapq.heappush(waiting, (walked + extra + s.cost_m, n, cell, s))
                n += 1
        while waiting and self._tries < allowed:
            _, _, c, s = heapq.heappop(waiting)
            yield s, c

    def _options(self, cell: int) -> list[Standing]:
        """Ways to stand on a cell; where the arm is a little short, up against what stands before the target."""
        at = self._grid.centre(cell)
        plain = options_at(at, self._aim.point)
        if plain:
            return plain
        yaw = facing_yaw(at, (self._aim.point[0], self._aim.point[1]))
        close = (at[0] + _PRESS_M * math.cos(yaw), at[1] + _PRESS_M * math.sin(yaw))
        return [s._replace(cost_m=s.cost_m + _PRESS_COST_M) for s in options_at(close, self._aim.point)]

    def _fits(self, s: Standing, cell: int | None) -> bool:
        """Whether the last bit from the cell's middle leaves room for the hips."""
        if cell is None or self._grid.blocked[cell] or (s.x, s.y) == self._origin.at:
            return True
        at = self._grid.centre(cell)
        prints = self._home.walking.grids.footprints(self._state)
        return (s.x, s.y) == at or all(segment_gap(at, (s.x, s.y), f.outline) >= _HIPS_M for f in prints)

    def _extra(self, cell: int) -> float:
        cost = _SWING_COST_M if cell in self._soft else 0.0
        if self._preferred and cell not in self._preferred:
            cost += _OTHER_COST_M
        if self._out is not None:
            at = self._grid.centre(cell)
            yaw = facing_yaw((self._aim.point[0], self._aim.point[1]), at)
            ahead = math.cos(yaw) * self._out[0] + math.sin(yaw) * self._out[1]
            cost += _BACK_COST_M * (1.0 - ahead) / 2.0
        return cost

    def _try(self, s: Standing, cell: int | None) -> tuple[Vec3, ...] | None:
        for posture, x, y in self._failed:
            if posture == s.posture and (x - s.x) ** 2 + (y - s.y) ** 2 < _FAILED_NEAR_M * _FAILED_NEAR_M:
                return None
        if not self._fits(s, cell):
            return None
        ready = _ready(pelvis_of(s.posture), left=self._left)
        start = transform_point(from_xyz_yaw(s.x, s.y, 0.0, s.yaw), ready)
        way = self._home.hand(self._state, self._aim, start=start, at=(s.x, s.y), yaw=s.yaw, left=self._left)
        if isinstance(way, Blocked):
            self._failed.append((s.posture, s.x, s.y))
            self._tries += way.thing not in self._home.walls
            if self._blocker is None or self._tells_more(way, self._blocker):
                self._blocker = way
            return None
        self._tries += 1
        return way

    def _tells_more(self, way: Blocked, than: Blocked) -> bool:
        """What is in the way of the held thing alone says more than what is in the way of the hand, and anything
        more than a wall."""
        if way.of_held != than.of_held:
            return way.of_held
        return than.thing in self._home.walls and way.thing not in self._home.walls

    def _refusal(self, goals: set[int]) -> Refusal:
        state, target, walking = self._state, self._aim.target, self._home.walking
        name = walking.the(state, target)
        if self._far:
            return Refusal("TOO_FAR", f"{capitalised(name)} is too far away; I have to walk there first.")
        if self._blocker:
            blocker, of_held = self._blocker
            what = walking.the(state, held_thing(state)) if of_held else "my hand"
            return Refusal("COLLISION", f"{capitalised(walking.the(state, blocker))} is in the way of {what}.", blocker)
        if not goals:
            return Refusal("UNREACHABLE", f"There is nowhere to stand from where I can reach {name}.")
        if not self._reached:
            blocker = walking.blocked_by(state, self._origin, goals)
            why = f" {walking.obstacle_sentence(state, blocker)}" if blocker else ""
            return Refusal("NO_PATH", f"There is no free way to {name}.{why}", blocker)
        return Refusal("UNREACHABLE", f"{capitalised(name)} is out of my reach.")


def _ready(pelvis_m: float, *, left: bool) -> Vec3:
    return mirrored(ready_palm(pelvis_m)) if left else ready_palm(pelvis_m)


def _pressed(route: Route, s: Standing) -> Route:
    """The route with the last bit up against the furniture."""
    end = route.points[-1]
    return Route((*route.points, (s.x, s.y)), route.length_m + math.dist(end, (s.x, s.y)), Stance(s.x, s.y, s.yaw))


def is_sitting(state: WorldState) -> bool:
    """Whether the wearer is on a seat."""
    attrs = state.attrs[WEARER]
    return bool(attrs.get("sitting")) or attrs.get("posture") == "sit"


def held_box(state: WorldState) -> HeldBox | None:
    """Box of the held thing against the palm, None with an empty hand."""
    held = held_thing(state)
    if not held:
        return None
    box = thing_box(thing_of(state, held), state)
    return compose(inverse(key_poses(state.body).right_hand), box.pose), box.half
