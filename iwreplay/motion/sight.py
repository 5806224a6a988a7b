"""Lines of sight from the eyes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iwreplay.body.kinematics import key_poses
from iwreplay.motion.touching import held_thing
from iwreplay.ports import Simulator
from iwreplay.pose import Pose, Vec3, compose, inverse, rotate, transform_point
from iwreplay.scene.geometry import shape_half
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.world.geometry import link_poses, thing_box, thing_of
from iwreplay.world.state import WorldState

__all__ = ["Sight", "meets_box"]

#: a hit this close before the point is the point's own support or skin
_NEAR_M = 0.015
#: a part of a thing this far before a point on it is another part
_PART_M = 0.05
#: panes looked through on one line, at most
_PANES = 4


class Sight:
    """Answers whether the wearer could see a thing from where its eyes are, whichever way the head is turned."""

    def __init__(self, scene: CompiledScene, sim: Simulator) -> None:
        self._sim = sim
        self._clear = {m.name for m in scene.materials if m.alpha < 1.0}

    def sees(self, state: WorldState, target: str, point: Vec3) -> bool:
        """A free line to `point`, or to the middle or a corner of the target's box."""
        return self.obstacle(state, target, point) == ""

    def obstacle(self, state: WorldState, target: str, point: Vec3) -> str:
        """ "" when some line is free, else the id of what hides `point`."""
        eye = key_poses(state.body).camera[:3]
        first = ""
        for k, p in enumerate(_points(thing_of(state, target), state, point)):
            hit = self._hidden_by(state, target, eye, p)
            if not hit:
                return ""
            if k == 0:
                first = hit
        return first

    def on_line(self, state: WorldState, target: str, point: Vec3) -> str:
        """Id of what is on the line from the eyes to `point`, "" when it is free; other parts do not count."""
        return self._hidden_by(state, target, key_poses(state.body).camera[:3], point)

    def behind_itself(self, state: WorldState, target: str, point: Vec3) -> bool:
        """Whether a part of the thing is clearly before `point` on its surface: its own lid, shade or handle."""
        eye = key_poses(state.body).camera[:3]
        length = math.dist(eye, point)
        if length <= _PART_M:
            return False
        d: Vec3 = tuple((point[i] - eye[i]) / length for i in range(3))  # type: ignore[assignment]
        held = held_thing(state)
        hit = self._sim.ray(eye, d, length - _PART_M, ignore=(held,) if held and held != target else ())
        if hit is None or hit[0] != target:
            return False
        return not self._through_glass(thing_of(state, target), state, eye, d, length - _PART_M)

    def _hidden_by(self, state: WorldState, target: str, eye: Vec3, point: Vec3) -> str:
        length = math.dist(eye, point)
        if length <= _NEAR_M:
            return ""
        d: Vec3 = tuple((point[i] - eye[i]) / length for i in range(3))  # type: ignore[assignment]
        held = held_thing(state)
        ignore = [target] + ([held] if held else [])
        for _ in range(_PANES):
            hit = self._sim.ray(eye, d, length, ignore=tuple(sorted(ignore)))
            if hit is None or hit[1] >= length - _NEAR_M:
                return ""
            thing = thing_of(state, hit[0])
            if not self._through_glass(thing, state, eye, d, length):
                return hit[0]
            ignore.append(hit[0])
        return hit[0] if hit else ""

    def _through_glass(self, thing: Thing, state: WorldState, eye: Vec3, d: Vec3, length: float) -> bool:
        """Whether the line meets only clear parts of a thing."""
        met = False
        for link, pose in zip(thing.links, link_poses(thing, state), strict=True):
            for shape in link.shapes:
                if shape.role == "visual" or not meets_box(
                    eye, d, length, compose(pose, shape.pose), shape_half(shape)
                ):
                    continue
                if shape.material not in self._clear:
                    return False
                met = True
        return met


def _points(thing: Thing, state: WorldState, point: Vec3) -> Iterator[Vec3]:
    yield point
    box = thing_box(thing, state)
    yield box.pose[:3]
    for sx in (-0.9, 0.9):
        for sy in (-0.9, 0.9):
            for sz in (-0.9, 0.9):
                yield transform_point(box.pose, (sx * box.half[0], sy * box.half[1], sz * box.half[2]))


def meets_box(origin: Vec3, d: Vec3, length: float, pose: Pose, half: Vec3) -> bool:
    """Whether `length` metres from `origin` along the unit vector `d` meet an oriented box (slab test)."""
    inv = inverse(pose)
    o, v = transform_point(inv, origin), rotate(inv[3:], d)
    lo, hi = 0.0, length
    for i in range(3):
        if abs(v[i]) < 1e-12:
            if abs(o[i]) > half[i]:
                return False
            continue
        a, b = (-half[i] - o[i]) / v[i], (half[i] - o[i]) / v[i]
        lo, hi = max(lo, min(a, b)), min(hi, max(a, b))
    return lo <= hi
