"""Whether a compiled scene can be used: its rooms and its floor walked to, its things, surfaces and interiors reached.

What a layout is refused for at once (things inside one another, rooms without an opening) is in `iwreplay.scene`. This
asks the planner of `iwreplay.motion`, as the wearer's commands do, with the doors between the rooms open and everything
at rest. It takes seconds, so scenes that passed are known by `usability_digest`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from iwreplay.body import standing
from iwreplay.canonical import sha256_hex, struct_hash
from iwreplay.motion import Approach, Planner, Refusal, Route
from iwreplay.motion import trajectories as move
from iwreplay.motion.grid import CELL_M, Grid, OccupancyGrid
from iwreplay.motion.search import Search
from iwreplay.motion.walking import Walking
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3, transform_point
from iwreplay.processes.support import closed_around
from iwreplay.scene.geometry import Box, initial_joints, point_in_box
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import grip_point, handle_point, interiors_of, room_at, surfaces_of
from iwreplay.world.state import WorldState

__all__ = ["LEAST_CUT_OFF_M2", "USABILITY_RULE", "Problem", "Usability", "usability_digest"]

#: version of what is asked here; raise it when a scene that passed before might not any more
USABILITY_RULE = 2
#: floor for the middle of a standing body that can't be walked to is a mistake from this area on, square metres: less
#: is left over between pieces of furniture
LEAST_CUT_OFF_M2 = 0.30
#: a hand does something with these
_USED = frozenset({"grab", "open", "switch", "seat", "water_source"})
#: nobody is asked to put something higher than this, metres, or where there is less room above
_HIGHEST_M, _ROOM_ABOVE_M = 1.9, 0.08
_JUST_ABOVE_M = 0.05
#: places on a surface or in an interior that are tried, as shares of its half sides
_SPOTS = tuple((u, v) for v in (0.0, -0.7, 0.7) for u in (0.0, -0.7, 0.7))
#: time for things to come to rest, and for a door to open, seconds
_REST_S, _OPENING_S = 1.0, 0.5


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a scene."""

    #: layout, start, reach, room, floor or text
    what: str
    #: the thing, surface, interior, room or face that it is about; "" when the sentence names it
    where: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.what} {self.where}: {self.sentence}" if self.where else f"{self.what}: {self.sentence}"


def usability_digest(scene: CompiledScene) -> str:
    """What a scene is known by once it has passed: the version of the rule, and everything that the answer rests on, as
    the scene's file and its classes make it. How things look, and what is written on them, is left out."""
    bare = msgspec.structs.replace(scene, materials=(), lights=(), things=tuple(map(_bare, scene.things)))
    return sha256_hex(f"usability {USABILITY_RULE} {struct_hash(bare)}".encode())


def _bare(thing: Thing) -> Thing:
    links = tuple(
        msgspec.structs.replace(
            link,
            shapes=tuple(
                msgspec.structs.replace(s, material="", repaint={}) for s in link.shapes if s.role != "visual"
            ),
            faces=(),
        )
        for link in thing.links
    )
    attrs = {k: v for k, v in thing.attrs.items() if not k.startswith("text:")}
    return msgspec.structs.replace(thing, links=links, attrs=attrs)


class Usability:
    """One scene with its physics (`sim`, not yet loaded), its doors open, and everything at rest."""

    def __init__(self, scene: CompiledScene, sim: Simulator) -> None:
        self._scene, self.sim = scene, sim
        self.state = WorldState(scene)
        self.state.joints.update(initial_joints(scene))
        self.state.body = standing(*scene.spawn)
        self.state.attrs[WEARER] = {"posture": "stand", "sitting": "", "held": ""}
        sim.load(scene)
        for thing in scene.things:
            if thing.cls == "door":
                self._open(self.state, thing)
        sim.step(round(_REST_S / sim.dt_s))
        self.planner = Planner(scene=scene, sim=sim)
        self._loose = frozenset(t.id for t in scene.things if not t.fixed)
        #: rooms that were walked to, and things, surfaces and interiors that were reached
        self.reached = 0

    def problems(self) -> Iterator[Problem]:
        """All of them."""
        yield from self.start()
        yield from self.rooms()
        yield from self.floor()
        yield from self.uses()

    # ------------------------------------------------------------------ walking

    def start(self) -> Iterator[Problem]:
        """A place to start from where the body does not fit."""
        x, y, _ = self._scene.spawn
        grids = OccupancyGrid(self._scene)
        grid = grids.at(self.state)
        cell = grid.cell(x, y)
        if cell is None or grid.blocked[cell]:
            owners = "" if cell is None else " and ".join(grids.owners(self.state, cell))
            why = f"{owners} is too near" if owners else "a wall is too near"
            yield Problem(what="start", where=_room(self._scene, x, y), sentence=f"no body fits at {x:g} {y:g}: {why}")

    def rooms(self) -> Iterator[Problem]:
        """Rooms that can't be walked to."""
        home = _room(self._scene, *self._scene.spawn[:2])
        for room in self._scene.rooms:
            route = self.planner.route_to(self.state, room.id)
            if isinstance(route, Route):
                self.reached += 1
            else:
                yield Problem(
                    what="room",
                    where=room.id,
                    sentence=f"can't be walked to from room {home}, where the wearer starts: {route.sentence}",
                )

    def floor(self) -> Iterator[Problem]:
        """Pieces of floor on which one could stand, and that no way leads to."""
        walking = Walking(self._scene)
        grid = walking.grids.at(self.state)
        origin = walking.origin(self.state, grid)
        if isinstance(origin, Refusal):
            yield Problem(what="floor", where="", sentence=origin.sentence)
            return
        free = {c for c, blocked in enumerate(grid.blocked) if not blocked}
        left = free.difference(c for c, _ in Search(grid, origin.cell, goals=free))
        for piece in _pieces(grid, left):
            area = len(piece) * CELL_M * CELL_M
            if area >= LEAST_CUT_OFF_M2:
                xs, ys = zip(*map(grid.centre, piece), strict=True)
                x, y = sum(xs) / len(piece), sum(ys) / len(piece)
                yield Problem(
                    what="floor",
                    where=_room(self._scene, x, y),
                    sentence=f"{area:.2f} square metres where one could stand can't be walked to: x {min(xs):.2f} to "
                    f"{max(xs):.2f}, y {min(ys):.2f} to {max(ys):.2f}",
                )

    # ------------------------------------------------------------------ reaching

    def uses(self, only: Collection[str] | None = None) -> Iterator[Problem]:
        """Things with a use, surfaces and interiors that no hand gets to; of those in `only` ("mug_1", "table_1.top")
        when it is given. What a door shuts away is asked for with that door open."""
        for thing in self._scene.things:
            if self.state.attrs[thing.id].get("exists") is not False:
                yield from self._thing(thing, self.state, only)
                if thing.fixed:
                    yield from self._parts(thing, only)

    def _thing(self, thing: Thing, state: WorldState, only: Collection[str] | None) -> Iterator[Problem]:
        if (only is None or thing.id in only) and _USED.intersection(thing.affordances):
            point = handle_point(thing, state)
            if not closed_around(state, thing.id) and (point is not None or thing.grip != (0.0, 0.0, 0.0)):
                yield from self._reach(thing.id, thing, [point or grip_point(thing, state)], state)

    def _parts(self, thing: Thing, only: Collection[str] | None) -> Iterator[Problem]:
        """Its surfaces and interiors, and what is in them: those that are open, then, with its doors open, the rest."""
        shut = [i.box for i in interiors_of(thing, self.state) if i.closed]
        for where, points, hidden in _places(thing, self.state, shut):
            if not hidden and (only is None or where in only):
                yield from self._reach(where, thing, points, self.state)
        inside = [t for t in self._scene.things if not t.fixed and closed_around(self.state, t.id) == thing.id]
        wanted = [w for w, _, hidden in _places(thing, self.state, shut) if hidden] + [t.id for t in inside]
        if not shut or (only is not None and not any(w in only for w in wanted)):
            return
        before = self.sim.snapshot()
        opened = self.state.copy()
        self._open(opened, thing)
        self.sim.step(round(_OPENING_S / self.sim.dt_s))
        # what lies in a drawer comes out with it
        opened.poses.update({t: pose for t, pose in self.sim.poses().items() if t in self._loose})
        for where, points, _ in _places(thing, opened, []):
            if where in wanted and (only is None or where in only):
                yield from self._reach(where, thing, points, opened)
        for other in inside:
            yield from self._thing(other, opened, only)
        self.sim.restore(before)

    def _reach(self, where: str, thing: Thing, points: list[Vec3], state: WorldState) -> Iterator[Problem]:
        why = ""
        for point in points:
            route = self.planner.route_to(state, thing.id, point=point)
            if not isinstance(route, Route):
                why = why or route.sentence
                continue
            there = state.copy()
            there.body = move.walk(state.body, route).end
            found = self.planner.approach(there, thing.id, point)
            # what lies there can be taken away
            if isinstance(found, Approach) or found.blocker in self._loose:
                self.reached += 1
                return
            why = why or found.sentence
        yield Problem(what="reach", where=where, sentence=f"no hand gets there: {why}")

    def _open(self, state: WorldState, thing: Thing) -> None:
        """In the state at once; in the simulator as it steps."""
        for link in thing.links:
            if link.joint is not None:
                name = f"{thing.id}.{link.joint.name}"
                state.joints[name] = link.joint.open_at
                self.sim.drive_joint(name, link.joint.open_at)
        state.attrs[thing.id]["open"] = True


def _places(thing: Thing, state: WorldState, shut: list[Box]) -> Iterator[tuple[str, list[Vec3], bool]]:
    """(name, points to try, whether it lies in one of the boxes `shut`) of each surface and interior to put something
    on or into."""
    for s in surfaces_of(thing, state):
        if s.clearance >= _ROOM_ABOVE_M and s.pose[2] <= _HIGHEST_M:
            above: Vec3 = (*s.pose[:2], s.pose[2] + _JUST_ABOVE_M)
            points = [transform_point(s.pose, (u * s.half[0], v * s.half[1], _JUST_ABOVE_M)) for u, v in _SPOTS]
            yield f"{thing.id}.{s.name}", points, any(point_in_box(above, box) for box in shut)
    for i in interiors_of(thing, state):
        hx, hy, hz = i.box.half
        if i.box.pose[2] - hz <= _HIGHEST_M:
            low = [(u * hx, v * hy, min(0.0, _JUST_ABOVE_M - hz)) for u, v in _SPOTS]
            points = [transform_point(i.box.pose, p) for p in ((0.0, 0.0, 0.0), *low)]
            yield f"{thing.id}.{i.name}", points, i.closed and bool(shut)


def _pieces(grid: Grid, cells: set[int]) -> Iterator[list[int]]:
    """Cells put together with their neighbours at a side, in order."""
    left = set(cells)
    for first in sorted(cells):
        if first not in left:
            continue
        left.remove(first)
        piece = [first]
        for c in piece:
            for to in (c + 1, c - 1, c + grid.width, c - grid.width):
                if to in left:
                    left.remove(to)
                    piece.append(to)
        yield piece


def _room(scene: CompiledScene, x: float, y: float) -> str:
    return room_at(scene, x, y) or "none"
