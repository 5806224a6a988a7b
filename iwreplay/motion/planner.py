"""The planner: every question that must be answered before the wearer moves. It never changes the world."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iwreplay.body.kinematics import key_poses, root_of
from iwreplay.motion.approaching import Accept, Approaching, held_box, is_sitting
from iwreplay.motion.beside import Beside
from iwreplay.motion.footprints import segment_gap
from iwreplay.motion.freeing import Freeing
from iwreplay.motion.model import Approach, Names, Refusal, Route, Stance
from iwreplay.motion.sight import Sight
from iwreplay.motion.touching import aim_at, carried_with, held_thing, supports, the
from iwreplay.motion.walking import Walking, capitalised
from iwreplay.ports import Simulator
from iwreplay.pose import Pose, Vec3, compose, from_xyz_yaw, inverse, wrap_angle, yaw_of
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import grip_point, handle_point, interiors_of, surfaces_of, thing_of
from iwreplay.world.state import WorldState

__all__ = ["Planner"]

#: half width of the body for a straight step: the legs, not the reach for balance that a route leaves room for
_STEP_RADIUS_M = 0.18
_SWEEP_STEP_RAD = math.radians(10.0)
_SWEEP_STEP_M = 0.10
_SHRINK = 0.9


class Planner:
    """Plans on the present state; `sim` is asked for rays and overlaps only and must hold the same state.

    names: what the wearer calls a thing, for the sentences of refusals."""

    def __init__(self, *, scene: CompiledScene, sim: Simulator, names: Names = the) -> None:
        self._scene, self._sim = scene, sim
        self._walking = Walking(scene, names=names)
        self._approaching = Approaching(scene, sim, self._walking)
        self._beside = Beside(scene, self._walking)
        self._sight = Sight(scene, sim)

    def route_to(self, state: WorldState, target_id: str, *, point: Vec3 | None = None) -> Route | Refusal:
        """Walk to a thing or a room (its id). `point` (world) narrows a large thing down to the part that matters.

        The stance is one from which the thing is within reach when there is such a one, in its room rather than in the
        next; else before it, or as near as the floor goes in its room. What is shut away is walked to by its container.
        Refuses with POSTURE or NO_PATH.
        """
        if is_sitting(state):
            seat = state.attrs[WEARER].get("sitting")
            return Refusal("POSTURE", "I am sitting; I have to stand up first.", seat if isinstance(seat, str) else "")
        if any(r.id == target_id for r in self._scene.rooms):
            return self._beside.room(state, target_id)
        thing = thing_of(state, target_id)
        shut = [s for how, s in supports(state, target_id) if how == "in" and state.attrs[s].get("open") is False]
        if shut:
            return self.route_to(state, shut[-1])
        if point is None and held_thing(state) and "seat" in thing.affordances:
            # with a full hand it can only be sat on
            top = surfaces_of(thing, state)
            found = self._beside.before_seat(state, target_id, top[0].pose[:3]) if top else None
            if isinstance(found, Route):
                return found
        at = point if point is not None else _part_to_reach(thing, state)
        if at is not None:
            reached = self._approaching.approach(state, target_id, at, max_walk_m=math.inf, enter=True)
            if isinstance(reached, Approach):
                return reached.route
            holder = next((s for _, s in supports(state, target_id) if thing_of(state, s).fixed), "")
            if holder:
                return self.route_to(state, holder)
        return self._beside.thing(state, target_id)

    def route_to_seat(self, state: WorldState, seat: str, point: Vec3) -> Route | Refusal:
        """Walk to where one sits down at `point` (world) on a seat; no hand has to get there, whatever it holds.
        Refuses with NO_PATH."""
        return self._beside.before_seat(state, seat, point)

    def viewpoints(self, state: WorldState, target_id: str, face: Pose, *, within_m: float) -> Iterator[Route]:
        """Ways to free floor before a face (world pose, +z out of it) at most `within_m` from it in plan, facing it,
        the shortest first. Nothing when the wearer sits or can't step anywhere."""
        if not is_sitting(state):
            yield from self._beside.before(state, target_id, face, within_m=within_m)

    def approach(
        self,
        state: WorldState,
        target_id: str,
        point: Vec3,
        *,
        max_walk_m: float = 1.5,
        left: bool = False,
        accept: Accept | None = None,
    ) -> Approach | Refusal:
        """A stance from which the right (or left) palm reaches `point` (world), at most `max_walk_m` of walking from
        here.

        The present place is kept when it serves. Before a door or drawer whose handle is `point`, the stance is
        clear of what will swing or slide. A seated wearer reaches from the seat or is refused with POSTURE.
        `accept` may turn down a stance for what is to be done from it; the next best is tried then.
        Upper arm, forearm and hand meet nothing on the way, but for a sleeve that brushes something (`BRUSH_M`): where
        it takes that, the hand goes another way, the elbow or the body turns, stoops, crouches or steps aside.
        Refuses with UNREACHABLE, TOO_FAR, NO_PATH, COLLISION (the blocker is in the way of the hand or the arm) or
        POSTURE.
        """
        aim = aim_at(state, target_id, point)
        freeing = Freeing(self._approaching, self._sim, state, aim, accept)
        found = self._approaching.approach(
            state, target_id, point, max_walk_m=max_walk_m, left=left, accept=freeing.take
        )
        if freeing.best is None:
            return found
        if not freeing.is_free:
            freeing.look_farther()
        if freeing.is_free:
            return freeing.best
        met = freeing.in_the_way()
        what = "hand" if met.part == "hand" else "arm"
        text = f"{self._walking.the(state, met.thing)} is in the way of my {what}."
        return Refusal("COLLISION", capitalised(text), met.thing)

    def forward(self, state: WorldState, distance_m: float) -> Route | Refusal:
        """Straight ahead (negative: backwards, without turning). Refuses with POSTURE or COLLISION."""
        if is_sitting(state):
            return Refusal("POSTURE", "I am sitting; I have to stand up first.")
        root = root_of(state.body)
        a, yaw = (root[0], root[1]), yaw_of(root[3:])
        dx, dy = distance_m * math.cos(yaw), distance_m * math.sin(yaw)
        b = (a[0] + dx, a[1] + dy)
        met: list[tuple[float, str]] = []
        for f in self._walking.grids.footprints(state):
            gap, now = segment_gap(a, b, f.outline), segment_gap(a, a, f.outline)
            # what is already closer than that may be walked away from
            if gap < _STEP_RADIUS_M and gap < now - 1e-9:
                met.append((now, f.thing))
        if met:
            _, first = min(met)
            return Refusal("COLLISION", self._walking.obstacle_sentence(state, first), first)
        if not self._walking.grids.has_floor(*b):
            return Refusal("COLLISION", "There is no floor to walk on there.")
        steps = max(1, math.ceil(abs(distance_m) / _SWEEP_STEP_M))
        moves = [(dx * k / steps, dy * k / steps, 0.0, 1.0, 0.0, 0.0, 0.0) for k in range(1, steps + 1)]
        hit = self._held_sweep(state, [compose(m, _held_pose(state)) for m in moves] if held_thing(state) else [])
        if hit:
            return Refusal("COLLISION", self._walking.obstacle_sentence(state, hit), hit)
        return Route((a, b), abs(distance_m), Stance(*b, yaw))

    def turn(self, state: WorldState, to_yaw: float) -> Refusal | None:
        """None when turning on the spot to `to_yaw` is free, for the held object too; else COLLISION."""
        if not held_thing(state):
            return None
        root = root_of(state.body)
        yaw = yaw_of(root[3:])
        delta = wrap_angle(to_yaw - yaw)
        steps = max(1, math.ceil(abs(delta) / _SWEEP_STEP_RAD))
        here = from_xyz_yaw(root[0], root[1], 0.0, yaw)
        local = compose(inverse(here), _held_pose(state))
        turned = [from_xyz_yaw(root[0], root[1], 0.0, yaw + delta * k / steps) for k in range(1, steps + 1)]
        hit = self._held_sweep(state, [compose(t, local) for t in turned])
        return Refusal("COLLISION", self._walking.obstacle_sentence(state, hit), hit) if hit else None

    def sees(self, state: WorldState, target_id: str, point: Vec3) -> bool:
        """A free line from the eyes to `point` or to another part of the thing, whichever way the head is turned.
        Clear material (alpha below 1) does not hide."""
        return self._sight.sees(state, target_id, point)

    def hidden_by(self, state: WorldState, target_id: str, point: Vec3) -> str:
        """Id of what hides the thing from the eyes, "" when it is in sight."""
        return self._sight.obstacle(state, target_id, point)

    def on_line_of_sight(self, state: WorldState, target_id: str, point: Vec3) -> str:
        """Id of what is between the eyes and this very point of the thing, "" when nothing is."""
        return self._sight.on_line(state, target_id, point)

    def hides_itself(self, state: WorldState, target_id: str, point: Vec3) -> bool:
        """Whether a part of the thing itself is between the eyes and this point of it."""
        return self._sight.behind_itself(state, target_id, point)

    def stand_up_stance(self, state: WorldState) -> Stance | Refusal:
        """Where to stand after leaving the seat under the wearer: free, nearest to its front. NO_PATH if none."""
        return self._beside.seat(state)

    def _held_sweep(self, state: WorldState, boxes: list[Pose]) -> str:
        """Id of what the held thing's box would meet on its way, beyond what it meets already."""
        held = held_thing(state)
        box = held_box(state)
        if not boxes or box is None:
            return ""
        half = (box[1][0] * _SHRINK, box[1][1] * _SHRINK, box[1][2] * _SHRINK)
        mine = (held, *carried_with(state, held))
        now = self._sim.overlap_box(half, _held_pose(state), ignore=mine)
        for pose in boxes:
            hits = self._sim.overlap_box(half, pose, ignore=(*mine, *now))
            if hits:
                return hits[0]
        return ""


def _held_pose(state: WorldState) -> Pose:
    """World pose of the held thing's box."""
    box = held_box(state)
    return compose(key_poses(state.body).right_hand, box[0]) if box is not None else root_of(state.body)


def _part_to_reach(thing: Thing, state: WorldState) -> Vec3 | None:
    """The point of a thing that one walks up to: its grip, its handle, the inside when it stands open. None for
    furniture that is only stood beside."""
    if not thing.fixed:
        return grip_point(thing, state)
    interiors = interiors_of(thing, state)
    if interiors and state.attrs[thing.id].get("open") is not False:
        x, y, z = interiors[0].box.pose[:3]
        return (x, y, z)
    handle = handle_point(thing, state)
    if handle is not None:
        return handle
    if any(k.surfaces for k in thing.links) or "seat" in thing.affordances:
        return None
    return grip_point(thing, state) if thing.grip != (0.0, 0.0, 0.0) else None
