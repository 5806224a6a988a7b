"""Motions of the body over time. Each starts exactly at the values given and ends in a stated pose.

Walking 1.0 m/s, turning 120 degrees/s; other durations are the constants below.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

from iwreplay.body.kinematics import chain, key_poses, root_of
from iwreplay.body.limbs import LEFT_ARM, LEFT_LEG, RIGHT_ARM, RIGHT_LEG
from iwreplay.body.postures import (
    TRUNK,
    crouching,
    gazing,
    put_limb,
    reaching,
    set_gaze,
    sitting,
    standing,
    stooping,
)
from iwreplay.body.skeleton import (
    ANKLE_HEIGHT_M,
    BODY_FROM_SMPL,
    CAMERA_PITCH_RAD,
    LEFT_WRIST_FROM_PALM,
    PELVIS_HEIGHT_M,
    RIGHT_WRIST_FROM_PALM,
    joint,
)
from iwreplay.errors import GeometryError
from iwreplay.motion.blend import Blend, Body, ground_of, smooth
from iwreplay.motion.model import Posture, Reach, Route, Stance, Trajectory
from iwreplay.pose import Pose, Vec3, compose, from_xyz_yaw, inverse, transform_point, wrap_angle, yaw_of

__all__ = [
    "follow",
    "hold",
    "is_seated",
    "is_upright",
    "look",
    "posture",
    "reach",
    "reach_way",
    "retract",
    "sit",
    "stand_up",
    "stroke",
    "turn",
    "walk",
]

WALK_M_S = 1.0
TURN_RAD_S = math.radians(120.0)
REACH_S = 0.8
RETRACT_S = 0.6
POSTURE_S = 0.6
LOOK_S = 0.4
SIT_S = 1.2

_STRIDE_M = 0.65
_SWING_M = 0.15
_LIFT_M = 0.05
_DIP_M = 0.015
_SEAT_PELVIS_M = 0.13
#: a hand that would be farther than this from what it follows lets go
_LET_GO_M = 0.03
_FINGER = joint("right_index1")
_CLOSED_RAD = 0.6
_HEAD_VALUES = tuple(7 + 3 * joint(n) + i for n in ("neck", "head") for i in range(3))


def hold(body: Body, seconds: float) -> Trajectory:
    """Nothing moves."""
    return Trajectory(duration_s=seconds, body_at=lambda t_s: body)


def turn(body: Body, yaw: float) -> Trajectory:
    """On the spot to heading `yaw`, the short way, 120 deg/s; the head comes level, every other joint keeps its
    angle."""
    root = root_of(body)
    start = yaw_of(root[3:])
    delta = wrap_angle(yaw - start)
    level = _level(body)
    end = _moved(level, root[0], root[1], yaw)
    seconds = abs(delta) / TURN_RAD_S
    return _played(
        body, end, seconds, lambda s: _moved(_headed(body, body, s, goal=level), root[0], root[1], start + s * delta)
    )


def walk(body: Body, route: Route) -> Trajectory:
    """Along `route`, turning on the spot at its corners and at its end; a bent body straightens up first.

    Ends standing at the stance, head level, arms as they were against the body (as in `posture` when it was bent).
    GeometryError for a seated body: it has to stand up first.
    """
    if is_seated(body):
        raise GeometryError("a seated body can't walk; use stand_up()")
    base = _upright(body)
    stages: list[tuple[float, Callable[[float], Body]]] = []
    if not is_upright(body):
        blend = Blend(body, base)
        stages.append((POSTURE_S, lambda t: blend.at(smooth(t / POSTURE_S))))
    yaw = yaw_of(root_of(body)[3:])
    points = route.points
    for k in range(len(points) - 1):
        a, b = points[k], points[k + 1]
        length = math.dist(a, b)
        if length < 1e-9:
            continue
        # backwards only for a straight step that keeps its heading
        heading = math.atan2(b[1] - a[1], b[0] - a[0])
        back = len(points) == 2 and abs(wrap_angle(heading - route.stance.yaw)) > math.pi - 1e-6
        heading = route.stance.yaw if back else heading
        _add_turn(stages, base, a, yaw, heading)
        yaw = heading
        stages.append((length / WALK_M_S, _Step(base, a, b, yaw, -1.0 if back else 1.0).at))
    _add_turn(stages, base, points[-1], yaw, route.stance.yaw)
    end = _moved(base, route.stance.x, route.stance.y, route.stance.yaw)
    starts = [0.0]
    for seconds, _ in stages:
        starts.append(starts[-1] + seconds)
    total = starts[-1]

    def body_at(t_s: float) -> Body:
        if t_s >= total:
            return end
        if t_s <= 0.0:
            return body
        k = min(bisect_right(starts, t_s) - 1, len(stages) - 1)
        return _headed(stages[k][1](t_s - starts[k]), body, smooth(t_s / LOOK_S))

    return Trajectory(duration_s=total, body_at=body_at, distance_m=route.length_m)


def posture(body: Body, to: Posture) -> Trajectory:
    """Into stand, stoop or crouch on the spot, 0.6 s; the right hand keeps carrying or hangs. GeometryError for sit."""
    make = {"stand": standing, "stoop": stooping, "crouch": crouching}.get(to)
    if make is None:
        raise GeometryError(f"posture {to!r} needs a seat; use sit()")
    root = root_of(body)
    goal = make(root[0], root[1], yaw_of(root[3:]), carrying=_carries(body))
    return _blended(body, goal, POSTURE_S)


def reach(body: Body, plan: Reach) -> Trajectory:
    """Posture, palm along the waypoints, eyes on the target, 0.8 s; ends with the level palm at the last waypoint.

    GeometryError when the plan was made for another place or posture than the body is in.
    """
    goal = _reached(body, plan)
    return _blended(body, goal, REACH_S, hand=plan.waypoints, left=plan.left)


def reach_way(body: Body, plan: Reach) -> Blend:
    """The way of `reach` without its time."""
    return Blend(body, _reached(body, plan), hand=plan.waypoints, left=plan.left)


def _reached(body: Body, plan: Reach) -> Body:
    root = root_of(body)
    target = plan.waypoints[-1]
    seated = root[2] + PELVIS_HEIGHT_M if plan.posture == "sit" else None
    goal = reaching(
        root[0],
        root[1],
        yaw_of(root[3:]),
        posture=plan.posture,
        target=target,
        pelvis_m=seated,
        left=plan.left,
        elbow=plan.elbow,
    )
    if goal is None:
        raise GeometryError(f"{target} is out of reach from ({root[0]:.2f}, {root[1]:.2f}) in posture {plan.posture}")
    return goal


def retract(
    body: Body, *, holding: bool = True, via: Sequence[Vec3] = (), left: bool = False, gaze: Vec3 | None = None
) -> Trajectory:
    """Back to standing (or to sitting upright), 0.6 s; palm in the carrying place (`holding`) or at rest.

    via: world positions on the way back, of the left palm if `left`: the waypoints of the reach without the last,
    reversed.
    gaze: what the eyes stay on (world); None: the head comes level.
    """
    goal = _settled(body, carrying=holding)
    if gaze is not None:
        goal = gazing(goal, gaze)
    hand = (*via, _palm(goal, left=left)[:3]) if via else ()
    return _blended(body, goal, RETRACT_S, hand=hand, left=left, back=True)


def stroke(body: Body, points: Sequence[Vec3], *, seconds: float, left: bool = False) -> Trajectory:
    """The right (or left) palm along world points, everything else still: wiping, cutting, following a handle.

    Ends with the palm at the last point, or as near as the arm gets without leaning further.
    """
    if not points:
        return hold(body, seconds)
    arm, wrist_from_palm = (LEFT_ARM, LEFT_WRIST_FROM_PALM) if left else (RIGHT_ARM, RIGHT_WRIST_FROM_PALM)
    v = list(body)
    end = compose((*points[-1], *_palm(body, left=left)[3:]), inverse(wrist_from_palm))
    put_limb(v, chain(v, TRUNK), arm, end)
    return _blended(body, tuple(v), seconds, hand=points, left=left)


def _palm(body: Body, *, left: bool) -> Pose:
    at = key_poses(body)
    return at.left_hand if left else at.right_hand


def follow(
    body: Body, points: Sequence[Vec3], *, seconds: float, left: bool = False, most: int | None = None
) -> Trajectory:
    """The right (or left) palm stays with something that moves along world points, eased, for as long as the arm
    reaches it from here, and for the first `most` of them; then it lets go and waits. The eyes follow the hand."""
    reached: list[Vec3] = []
    goal = body
    for p in points[:most]:
        trial = stroke(body, (p,), seconds=seconds, left=left).end
        if math.dist(_palm(trial, left=left)[:3], p) > _LET_GO_M:
            break
        reached.append(p)
        goal = trial
    if not reached:
        return hold(body, seconds)
    goal = gazing(goal, reached[-1])
    track = [_palm(body, left=left)[:3], *points]
    steps = [math.dist(a, b) for a, b in pairwise(track)]
    share = sum(steps[: len(reached)]) / (sum(steps) or 1.0)
    blend = Blend(body, goal, hand=reached, left=left)

    def body_at(t_s: float) -> Body:
        if t_s <= 0.0:
            return body
        s = smooth(t_s / seconds) / share if share > 0.0 else 1.0
        return goal if t_s >= seconds or s >= 1.0 else blend.at(s)

    return Trajectory(duration_s=seconds, body_at=body_at)


def look(body: Body, point: Vec3) -> Trajectory:
    """Head towards `point` (world) as far as the neck turns, 0.4 s."""
    goal = gazing(body, point)
    return _played(body, goal, LOOK_S, lambda s: _headed(body, body, s, goal=goal))


def sit(body: Body, seat_point: Vec3, yaw: float) -> Trajectory:
    """Onto the seat's top at `seat_point` (world), facing `yaw`, 1.2 s."""
    goal = sitting(seat_point[0], seat_point[1], yaw, seat_m=seat_point[2], carrying=_carries(body))
    return _blended(body, goal, SIT_S)


def stand_up(body: Body, stance: Stance) -> Trajectory:
    """From the seat to standing at `stance`, 1.2 s."""
    return _blended(body, standing(stance.x, stance.y, stance.yaw, carrying=_carries(body)), SIT_S)


def is_seated(body: Body) -> bool:
    """Whether the feet are well before the pelvis, as on a seat."""
    ankle = chain(body, (0, LEFT_LEG.upper, LEFT_LEG.lower, LEFT_LEG.end))[LEFT_LEG.end]
    return transform_point(inverse(ground_of(body)), ankle[:3])[0] > 0.25


class _Step:
    """One straight piece of a walk: legs swing, more in its middle than at its ends."""

    def __init__(self, base: Body, a: tuple[float, float], b: tuple[float, float], yaw: float, sign: float) -> None:
        self._base, self._a, self._b, self._yaw, self._sign = base, a, b, yaw, sign
        self._length = math.dist(a, b)

    def at(self, t_s: float) -> Body:
        walked = min(t_s * WALK_M_S, self._length)
        k = walked / self._length
        x, y = self._a[0] + k * (self._b[0] - self._a[0]), self._a[1] + k * (self._b[1] - self._a[1])
        v = list(_moved(self._base, x, y, self._yaw))
        gait = smooth(walked / 0.3) * smooth((self._length - walked) / 0.3)
        v[2] -= _DIP_M * gait
        trunk = chain(v, TRUNK)
        ground = from_xyz_yaw(x, y, 0.0, self._yaw)
        phase = self._sign * math.pi * walked / _STRIDE_M
        for limb, side, lag in ((LEFT_LEG, 1.0, 0.0), (RIGHT_LEG, -1.0, math.pi)):
            fore = gait * _SWING_M * math.sin(phase + lag)
            lift = gait * _LIFT_M * max(0.0, math.cos(phase + lag))
            ankle = (fore - 0.02, side * 0.095, ANKLE_HEIGHT_M + lift, *BODY_FROM_SMPL)
            put_limb(v, trunk, limb, compose(ground, ankle))
        return tuple(v)


def _add_turn(
    stages: list[tuple[float, Callable[[float], Body]]], base: Body, at: tuple[float, float], yaw: float, to: float
) -> None:
    delta = wrap_angle(to - yaw)
    if abs(delta) < 1e-9:
        return
    seconds = abs(delta) / TURN_RAD_S
    stages.append((seconds, lambda t: _moved(base, at[0], at[1], yaw + smooth(t / seconds) * delta)))


def _moved(body: Body, x: float, y: float, yaw: float) -> Body:
    """The same joint angles elsewhere."""
    return (x, y, body[2], *from_xyz_yaw(0.0, 0.0, 0.0, yaw)[3:], *body[7:])


def _headed(body: Body, start: Body, s: float, *, goal: Body | None = None) -> Body:
    """`body` with the head `s` of the way from how it is in `start` to how it is in `goal` (or in `body`)."""
    v = list(body)
    to = goal or body
    for i in _HEAD_VALUES:
        v[i] = start[i] + s * (to[i] - start[i])
    return tuple(v)


def is_upright(body: Body) -> bool:
    """Whether the body stands, not bent and not seated."""
    return abs(body[2]) < 1e-6 and abs(body[7]) < 1e-6 and not is_seated(body)


def _upright(body: Body) -> Body:
    """Standing on the spot, head level; arms unchanged when the body stands already."""
    if not is_upright(body):
        return _settled(body, carrying=_carries(body), seated=False)
    return _level(body)


def _level(body: Body) -> Body:
    """The same body with the head straight ahead, as it is held while standing upright."""
    v = list(body)
    set_gaze(v, yaw=0.0, down=CAMERA_PITCH_RAD, lean=0.0)
    return tuple(v)


def _settled(body: Body, *, carrying: bool, seated: bool | None = None) -> Body:
    root = root_of(body)
    yaw = yaw_of(root[3:])
    if is_seated(body) if seated is None else seated:
        seat_m = root[2] + PELVIS_HEIGHT_M - _SEAT_PELVIS_M
        return sitting(root[0], root[1], yaw, seat_m=seat_m, carrying=carrying)
    return standing(root[0], root[1], yaw, carrying=carrying)


def _carries(body: Body) -> bool:
    """Whether the right fingers are closed, as they are around something held or reached for."""
    return body[7 + 3 * _FINGER + 2] > _CLOSED_RAD


def _blended(
    start: Body, goal: Body, seconds: float, *, hand: Sequence[Vec3] = (), left: bool = False, back: bool = False
) -> Trajectory:
    blend = Blend(start, goal, hand=hand, left=left, back=back)
    return _played(start, goal, seconds, blend.at)


def _played(start: Body, goal: Body, seconds: float, at: Callable[[float], Body]) -> Trajectory:
    """Eased from start to goal. A motion of no length is over at once, in its goal."""

    def body_at(t_s: float) -> Body:
        if seconds <= 0.0 or t_s >= seconds:
            return goal
        return start if t_s <= 0.0 else at(smooth(t_s / seconds))

    return Trajectory(duration_s=seconds, body_at=body_at)
