"""How the wearer keeps clear of the door, lid or drawer that it moves: bent over the handle where there is room for
that, else upright, else a step or two back while it swings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from iwreplay.actions.plan import Script
from iwreplay.actions.scope import Scope
from iwreplay.body import fk, root_of
from iwreplay.body.skeleton import joint
from iwreplay.motion import trajectories
from iwreplay.motion.arms import free_along
from iwreplay.motion.blend import smooth
from iwreplay.motion.model import Approach, Refusal, Trajectory
from iwreplay.motion.touching import aim_at
from iwreplay.pose import Pose, Quat, Vec3, compose, yaw_of
from iwreplay.processes.support import dependents
from iwreplay.scene.convex import solid_aabb, solids_meet
from iwreplay.scene.geometry import Solid, aabbs_overlap, link_poses_at
from iwreplay.scene.model import Thing

__all__ = ["MOVE_S", "Piece", "moves", "moving_solids", "pieces_from", "trunk_and_legs"]

#: seconds of one opening or closing
MOVE_S = 1.0
_SAMPLE_S = 0.06
#: air between the two: a door follows the hand a little late
_AIR_M = 0.012
_QUARTERS = (math.pi / 2.0, -math.pi / 2.0)
#: how far back one steps, the least first
_BACK_M = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
#: what a door must not go through: (from joint, to joint, radius); arms and hands are at the handle
_BONES = (
    ("pelvis", "spine3", 0.11),
    ("neck", "head", 0.07),
    ("left_hip", "left_knee", 0.065),
    ("right_hip", "right_knee", 0.065),
    ("left_knee", "left_ankle", 0.045),
    ("right_knee", "right_ankle", 0.045),
)


class Piece(NamedTuple):
    """A motion of the body during which the door goes from one share of its way to another."""

    motion: Trajectory
    start: float
    end: float


def moves(thing: Thing, link: int) -> bool:
    """Whether a link hangs on a joint, its own or that of what it is part of."""
    while link >= 0:
        if thing.links[link].joint is not None:
            return True
        link = thing.links[link].parent
    return False


def moving_solids(thing: Thing, base: Pose, joints: Mapping[str, float]) -> list[Solid]:
    """The collision solids of what its joints move, with the joints ("thing.joint") at these positions."""
    poses = link_poses_at(thing, base, joints)
    return [
        Solid(s.kind, s.size, compose(poses[i], s.pose))
        for i, link in enumerate(thing.links)
        if moves(thing, i)
        for s in link.shapes
        if s.role != "visual"
    ]


def trunk_and_legs(body: tuple[float, ...]) -> list[Solid]:
    """Head, trunk and legs of 163 body values, a little slimmer than they are drawn."""
    at = fk(body)
    return [_bone(at[joint(a)][:3], at[joint(b)][:3], radius_m) for a, b, radius_m in _BONES]


def _bone(a: Vec3, b: Vec3, radius_m: float) -> Solid:
    d = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    mid = ((a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0, (a[2] + b[2]) / 2.0)
    return Solid("capsule", (radius_m, length / 2.0), (*mid, *_turn_to((d[0] / length, d[1] / length, d[2] / length))))


def _turn_to(direction: Vec3) -> Quat:
    """Shortest turn of z to a unit vector."""
    x, y, z = direction
    if z < -0.999999:
        return (0.0, 1.0, 0.0, 0.0)
    k = math.sqrt((1.0 + z) * 2.0)
    return (0.5 * k, -y / k, x / k, 0.0)


def pieces_from(
    scope: Scope,
    thing: Thing,
    approach: Approach,
    way: list[Vec3],
    *,
    start: Mapping[str, float],
    goal: Mapping[str, float],
    back: bool,
) -> list[Piece] | None:
    """What the body does while the joints (full names) go from `start` to `goal` after the approach, so that the door
    meets neither head, trunk nor legs; None when nothing does. The hand lets go where the arm would meet something.
    `back`: it may step back. `way`: of the handle."""
    script = scope.script()
    script.go_and_reach(approach)
    swing = _Swing(scope, thing, start, goal)
    if not swing.clear(Piece(script.steps[-1].motion, 0.0, 0.0)):
        return None
    body, eyes, left = script.body, approach.reach.waypoints[-1], approach.reach.left
    aim = aim_at(scope.state, thing.id, eyes)
    aim = aim._replace(ignore=(*aim.ignore, *dependents(scope.state, thing.id)))
    most = len(free_along(scope.sim, body, way, aim=aim, left=left))
    follow = Piece(trajectories.follow(body, way, seconds=MOVE_S, left=left, most=most), 0.0, 1.0)
    upright = trajectories.retract(follow.motion.end, holding=bool(scope.held), gaze=eyes)
    if swing.clear(follow) and swing.clear(Piece(upright, 1.0, 1.0)) and swing.leaves_room(upright.end):
        return [follow]
    if scope.seat:
        return None
    for motion in _out_of_the_way(scope, script, eyes, back=back):
        if not swing.leaves_room(motion.end):
            continue
        for pieces in (_meanwhile(motion), _before(motion)):
            if all(map(swing.clear, pieces)):
                return pieces
    return None


def _out_of_the_way(scope: Scope, script: Script, eyes: Vec3, *, back: bool) -> Iterator[Trajectory]:
    holding, via, left = bool(scope.held), script.way_back, script.left
    upright = trajectories.retract(script.body, holding=holding, via=via, left=left, gaze=eyes)
    if not back:
        yield upright
        return
    after = scope.state.copy()
    after.body = upright.end
    for metres in _BACK_M:
        route = scope.planner.forward(after, -metres)
        if isinstance(route, Refusal):
            return
        yield trajectories.walk(script.body, route)


def _meanwhile(motion: Trajectory) -> list[Piece]:
    """The door moves from the first moment on."""
    whole = max(MOVE_S, motion.duration_s)
    share = motion.duration_s / whole
    rest = trajectories.hold(motion.end, whole - motion.duration_s)
    return [Piece(motion, 0.0, share), *([Piece(rest, share, 1.0)] if share < 1.0 else [])]


def _before(motion: Trajectory) -> list[Piece]:
    """The door moves when the wearer is out of its way."""
    return [Piece(motion, 0.0, 0.0), Piece(trajectories.hold(motion.end, MOVE_S), 0.0, 1.0)]


class _Swing:
    """Where the moving links are at any share of their way."""

    def __init__(self, scope: Scope, thing: Thing, start: Mapping[str, float], goal: Mapping[str, float]) -> None:
        self._thing, self._base = thing, scope.state.poses[thing.id]
        self._start, self._goal = dict(start), dict(goal)

    def clear(self, piece: Piece) -> bool:
        """Whether the door and the body keep apart all the time."""
        n = max(1, math.ceil(piece.motion.duration_s / _SAMPLE_S))
        return not any(self._meets(piece, k / n) for k in range(n + 1))

    def leaves_room(self, body: tuple[float, ...]) -> bool:
        """Whether the body can turn on the spot once the door has moved; a seated one stays as it is."""
        if trajectories.is_seated(body):
            return True
        yaw = yaw_of(root_of(body)[3:])
        return all(self.clear(Piece(trajectories.turn(body, yaw + turned), 1.0, 1.0)) for turned in _QUARTERS)

    def _meets(self, piece: Piece, share: float) -> bool:
        done = smooth(piece.start + (piece.end - piece.start) * share)
        at = {j: here + (self._goal[j] - here) * done for j, here in self._start.items()}
        solids = [(s, solid_aabb(s)) for s in moving_solids(self._thing, self._base, at)]
        for bone in trunk_and_legs(piece.motion.body_at(share * piece.motion.duration_s)):
            box = solid_aabb(bone)
            if any(aabbs_overlap(box, b, margin_m=_AIR_M) and solids_meet(bone, s, within_m=_AIR_M) for s, b in solids):
                return True
        return False
