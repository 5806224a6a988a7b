"""What an arm touches on its way: upper arm, forearm and hand as capsules, followed closely enough to miss nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from iwreplay.body.kinematics import chain
from iwreplay.body.limbs import LEFT_ARM, RIGHT_ARM
from iwreplay.body.postures import TRUNK, put_limb, standing
from iwreplay.body.skeleton import LEFT_WRIST_FROM_PALM, RIGHT_WRIST_FROM_PALM
from iwreplay.errors import GeometryError
from iwreplay.motion.blend import Blend
from iwreplay.motion.model import Approach
from iwreplay.motion.touching import Aim, aim_at, held_thing
from iwreplay.motion.trajectories import reach_way, stroke
from iwreplay.ports import Simulator
from iwreplay.pose import Pose, Vec3, compose
from iwreplay.world.state import WorldState

__all__ = ["BRUSH_M", "GIVES_M", "HAIR_M", "Arm", "Met", "free_along", "met_on_the_way"]

#: sleeve, skin and the round of a hand's edge give way so far
GIVES_M = 0.01
#: a sleeve may brush what it gets no deeper into than this, a hand nothing but by a hair
BRUSH_M, HAIR_M = 0.01, 0.002
#: radii of what is drawn, less the bulge of the sleeve
_UPPER_M, _FOREARM_M, _HAND_M = 0.045, 0.038, 0.026
#: the upper arm begins this far from the shoulder's middle: before is trunk
_SHOULDER_M = 0.06
#: the hand moves at most so far between two moments that are looked at: into what is 2 cm thick, no part gets deeper
#: unseen than what gives way
_STEP_M = 0.05
#: so near to its point a hand is there to touch what holds the thing, and a forearm over the rim of what the hand goes
#: down into; the forearm's last bit is hand
_THERE_M = {"hand": 0.12, "forearm": 0.16, "upper arm": 0.0}
_WRIST_M = 0.08


class Met(NamedTuple):
    """Something that the arm is in on its way."""

    thing: str
    #: how deep at most, metres; what gives way is taken off
    depth_m: float
    #: "upper arm", "forearm" or "hand"
    part: str

    @property
    def badness_m(self) -> float:
        """Depth, a hand's counted as that of a sleeve which brushes too much: harmful above `BRUSH_M`."""
        return self.depth_m + BRUSH_M - HAIR_M if self.part == "hand" else self.depth_m

    @property
    def is_harmful(self) -> bool:
        """Whether it is more than a sleeve may brush."""
        return self.badness_m > BRUSH_M


class Arm:
    """The arm of one reach on its way from before the chest to where the hand arrives.

    What is reached for, what is held and what is worn are no obstacles. What the thing is on or in is none for the hand
    and the forearm where the hand arrives.
    """

    def __init__(self, sim: Simulator, state: WorldState, approach: Approach, *, aim: Aim) -> None:
        self._sim, self._aim, self._left = sim, aim, approach.reach.left
        self._limb = LEFT_ARM if self._left else RIGHT_ARM
        self._joints = tuple(sorted({*TRUNK, self._limb.upper, self._limb.lower, self._limb.end}))
        stance, body = approach.route.stance, state.body
        if approach.reach.posture != "sit":
            body = standing(stance.x, stance.y, stance.yaw, carrying=bool(held_thing(state)))
        self._way: Blend | None = None
        try:
            self._way = reach_way(body, approach.reach)
        except GeometryError:  # within a hair of the arm's length: the motion itself says so when it is made
            return

    def at_end(self, pole: Vec3 | None) -> float:
        """Badness of the worst contact where the hand has arrived, metres, with the elbow towards `pole` (None: as it
        is)."""
        if self._way is None:
            return 0.0
        v = list(self._way.at(1.0))
        at = chain(v, self._joints)
        if pole is not None:
            put_limb(v, at, self._limb, at[self._limb.end], pole=pole)
            at = chain(v, self._joints)
        poses = (at[self._limb.upper], at[self._limb.lower], at[self._limb.end])
        return max((m.badness_m for m in self._in(poses)), default=0.0)

    def badness_m(self, *, enough_m: float = math.inf) -> float:
        """Badness of the worst contact, metres; when one is worse than `enough_m`, any such."""
        worst = 0.0
        for poses in self._moments():
            for m in self._in(poses):
                worst = max(worst, m.badness_m)
            if worst > enough_m:
                break
        return worst

    def met(self) -> tuple[Met, ...]:
        """What it is in, each thing once, the worst first."""
        worst: dict[str, Met] = {}
        for m in (m for poses in self._moments() for m in self._in(poses)):
            if m.thing not in worst or m.badness_m > worst[m.thing].badness_m:
                worst[m.thing] = m
        return tuple(sorted(worst.values(), key=lambda m: (-m.badness_m, m.thing)))

    def _moments(self) -> Iterator[tuple[Pose, Pose, Pose]]:
        """Shoulder, elbow and wrist on the way, the last first: there the arm is farthest from the body."""
        if self._way is not None:
            first = self._way.shares[0]
            n = max(1, math.ceil((1.0 - first) * self._way.hand_m / _STEP_M))
            for k in range(n, -1, -1):
                yield self._way.arm_at(first + (1.0 - first) * k / n)

    def _in(self, poses: tuple[Pose, Pose, Pose]) -> Iterator[Met]:
        return _met_by(self._sim, poses, self._aim, self._aim.point, left=self._left)


def free_along(
    sim: Simulator, body: tuple[float, ...], points: Sequence[Vec3], *, aim: Aim, left: bool
) -> tuple[Vec3, ...]:
    """The first of some places for the palm (world), up to where the arm of a body that keeps still otherwise would
    meet something. The aim's thing is in the hand there and moves with it."""
    limb = LEFT_ARM if left else RIGHT_ARM
    joints = tuple(sorted({*TRUNK, limb.upper, limb.lower, limb.end}))
    for n, point in enumerate(points):
        at = chain(stroke(body, (point,), seconds=1.0, left=left).end, joints)
        poses = (at[limb.upper], at[limb.lower], at[limb.end])
        if any(m.is_harmful for m in _met_by(sim, poses, aim, point, left=left)):
            return tuple(points[:n])
    return tuple(points)


def _met_by(sim: Simulator, poses: tuple[Pose, Pose, Pose], aim: Aim, point: Vec3, *, left: bool) -> Iterator[Met]:
    """What an arm (shoulder, elbow, wrist) is in; near `point` what is around the aim's thing may be touched."""
    shoulder, elbow, wrist = poses
    palm = compose(wrist, LEFT_WRIST_FROM_PALM if left else RIGHT_WRIST_FROM_PALM)
    away = math.dist(palm[:3], point)
    for part, a, b, radius_m in _capsules(shoulder, elbow, wrist, palm):
        ignore = (*aim.ignore, *aim.around) if away < _THERE_M[part] else aim.ignore
        for thing, depth in sim.capsule_depths(a, b, radius_m, ignore=ignore):
            if depth > GIVES_M:
                yield Met(thing, depth - GIVES_M, part)


def met_on_the_way(
    sim: Simulator, state: WorldState, approach: Approach, *, target: str, point: Vec3
) -> tuple[Met, ...]:
    """What the arm is in on its way to a point (world) of a thing, the worst first."""
    return Arm(sim, state, approach, aim=aim_at(state, target, point)).met()


def _capsules(shoulder: Pose, elbow: Pose, wrist: Pose, palm: Pose) -> tuple[tuple[str, Vec3, Vec3, float], ...]:
    """(part, from, to, radius)."""
    return (
        ("upper arm", _along(shoulder[:3], elbow[:3], _SHOULDER_M), elbow[:3], _UPPER_M),
        ("forearm", elbow[:3], _along(wrist[:3], elbow[:3], _WRIST_M), _FOREARM_M),
        ("hand", wrist[:3], palm[:3], _HAND_M),
    )


def _along(a: Vec3, b: Vec3, metres: float) -> Vec3:
    """The point so far from a towards b."""
    length = math.dist(a, b)
    k = metres / length if length > metres else 1.0
    return (a[0] + k * (b[0] - a[0]), a[1] + k * (b[1] - a[1]), a[2] + k * (b[2] - a[2]))
