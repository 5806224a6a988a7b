"""Body values for stand, stoop, crouch and sit, and for reaching a point in each of them.

Positions here are in the ground frame of a stance: origin on the floor below the pelvis, x forward, y left, z up.
Feet stay flat on the floor, hands level, so that a held thing stays upright in every posture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple

from iwreplay.body.kinematics import BODY_VALUES, chain
from iwreplay.body.limbs import LEFT_ARM, LEFT_LEG, RIGHT_ARM, RIGHT_LEG, Limb, rotation_of, solve_limb
from iwreplay.body.skeleton import (
    ANKLE_HEIGHT_M,
    BODY_FROM_SMPL,
    CAMERA_PITCH_RAD,
    FOREARM_M,
    HEAD_FROM_CAMERA,
    LEFT_WRIST_FROM_PALM,
    PARENTS,
    PELVIS_HEIGHT_M,
    REST_OFFSETS,
    RIGHT_WRIST_FROM_PALM,
    UPPER_ARM_M,
    joint,
)
from iwreplay.pose import (
    Pose,
    Quat,
    Vec3,
    compose,
    from_xyz_yaw,
    inverse,
    quat_about,
    quat_mul,
    rotate,
    transform_point,
)

__all__ = [
    "CROUCH_PELVIS_M",
    "REACH_POSTURES",
    "TRUNK",
    "Bend",
    "BodyPlan",
    "PostureName",
    "bend_for",
    "body_of",
    "carry_palm",
    "crouching",
    "gazing",
    "mirrored",
    "pelvis_of",
    "put_limb",
    "reaching",
    "ready_palm",
    "sitting",
    "standing",
    "stooping",
]

#: "squat" is half a crouch, the knees bent and the chest over what is low
PostureName = Literal["stand", "stoop", "crouch", "squat", "sit"]

CROUCH_PELVIS_M = 0.34
SQUAT_PELVIS_M = 0.62
STOOP_PELVIS_M = 0.90
#: pelvis joint above the seat
SEAT_TO_PELVIS_M = 0.13
#: postures in which a standing person reaches, the most comfortable first
REACH_POSTURES: tuple[PostureName, ...] = ("stand", "stoop", "crouch")

#: forward lean of the chest that a posture allows: least, most, in radians
_LEAN: dict[PostureName, tuple[float, float]] = {
    "stand": (0.0, 0.45),
    "stoop": (0.30, 1.35),
    "crouch": (0.10, 1.80),
    "squat": (0.30, 1.35),
    "sit": (0.0, 0.80),
}
_LEAN_STEP = 0.05
_ARM_MAX_M = 0.97 * (UPPER_ARM_M + FOREARM_M)
_ARM_MIN_M = 0.15

_PELVIS, _NECK, _HEAD = joint("pelvis"), joint("neck"), joint("head")
_COLLAR, _LEFT_COLLAR = joint("right_collar"), joint("left_collar")
_SPINE = (joint("spine1"), joint("spine2"), joint("spine3"))
#: pelvis to head, collars, shoulders and hips, ascending: what limbs hang on
TRUNK: tuple[int, ...] = tuple(
    sorted(
        (
            *(_PELVIS, *_SPINE, _NECK, _HEAD),
            *(joint(f"{side}_{part}") for side in ("left", "right") for part in ("collar", "shoulder", "hip")),
        )
    )
)

_FOOT_X, _FOOT_Y = -0.02, 0.095
_LEVEL: Quat = (1.0, 0.0, 0.0, 0.0)
_WRIST_FROM_LEVEL_PALM: Vec3 = inverse(RIGHT_WRIST_FROM_PALM)[:3]
_DOWN: Quat = quat_about((0.0, 1.0, 0.0), 1.35)
#: where elbows and knees point, in the stance's axes, for the right side; the left mirrors y
_ELBOW_POLE: Vec3 = (-0.35, -0.55, -0.75)
#: down on bent knees the elbow is out at the side: below the hand it would be in what the hand is over
_CROUCH_ELBOW_POLE: Vec3 = (-0.2, -0.95, 0.15)
_KNEE_POLE: Vec3 = (1.0, -0.12, 0.0)
_CROUCH_KNEE_POLE: Vec3 = (1.0, -0.8, 0.0)


class Bend(NamedTuple):
    """What trunk and shoulder add to the arm's length."""

    #: forward lean of the chest, rad
    lean: float
    #: axis-angle of the right collar joint
    collar: Vec3


#: shoulder at rest, pushed forward, raised
_COLLARS: tuple[Vec3, ...] = ((0.0, 0.0, 0.0), (0.0, 0.65, 0.0), (0.0, 0.55, -0.6))


@dataclass(frozen=True, kw_only=True)
class BodyPlan:
    """A whole-body pose in a few numbers."""

    x: float
    y: float
    yaw: float
    pelvis_m: float = PELVIS_HEIGHT_M
    #: forward lean of the chest, rad
    lean: float = 0.0
    #: axis-angle of the right collar joint, and of the left one
    collar: Vec3 = (0.0, 0.0, 0.0)
    left_collar: Vec3 = (0.0, 0.0, 0.0)
    #: where the camera looks: heading left of the body's, and angle below the horizon, rad
    look_yaw: float = 0.0
    look_down: float = CAMERA_PITCH_RAD
    #: palm frames in the stance's ground frame
    right: Pose
    left: Pose
    #: left ankle; the right one mirrors y
    ankle: Vec3 = (_FOOT_X, _FOOT_Y, ANKLE_HEIGHT_M)
    knee_pole: Vec3 = _KNEE_POLE
    #: where the elbows point, of the right arm
    elbow_pole: Vec3 = _ELBOW_POLE
    #: the left one's, as of a right arm; None the same
    left_elbow_pole: Vec3 | None = None
    #: how far the fingers close, 0 flat to 1 fist
    right_curl: float = 0.3
    left_curl: float = 0.3


def body_of(plan: BodyPlan) -> tuple[float, ...]:
    """163 body values of a plan. Hands or feet out of range are brought as near as the limb goes."""
    v = [0.0] * BODY_VALUES
    ground = from_xyz_yaw(plan.x, plan.y, 0.0, plan.yaw)
    v[:7] = (plan.x, plan.y, plan.pelvis_m - PELVIS_HEIGHT_M, *ground[3:])
    v[7] = 0.5 * plan.lean
    for j in _SPINE:
        v[7 + 3 * j] = plan.lean / 6.0
    v[7 + 3 * _COLLAR : 10 + 3 * _COLLAR] = plan.collar
    v[7 + 3 * _LEFT_COLLAR : 10 + 3 * _LEFT_COLLAR] = plan.left_collar
    set_gaze(v, yaw=plan.look_yaw, down=plan.look_down, lean=plan.lean)
    _curl(v, left=plan.left_curl, right=plan.right_curl)
    trunk = chain(v, TRUNK)
    elbow, left_elbow = plan.elbow_pole, plan.left_elbow_pole or plan.elbow_pole
    put_limb(v, trunk, RIGHT_ARM, compose(ground, compose(plan.right, inverse(RIGHT_WRIST_FROM_PALM))), pole=elbow)
    put_limb(v, trunk, LEFT_ARM, compose(ground, compose(plan.left, inverse(LEFT_WRIST_FROM_PALM))), pole=left_elbow)
    ax, ay, az = plan.ankle
    put_limb(v, trunk, LEFT_LEG, compose(ground, (ax, ay, az, *BODY_FROM_SMPL)), pole=plan.knee_pole)
    put_limb(v, trunk, RIGHT_LEG, compose(ground, (ax, -ay, az, *BODY_FROM_SMPL)), pole=plan.knee_pole)
    return tuple(v)


def put_limb(values: list[float], trunk: dict[int, Pose], limb: Limb, end: Pose, *, pole: Vec3 | None = None) -> None:
    """Writes the limb's three joints so that its end joint has world pose `end`.

    trunk: world poses of `TRUNK` for these values. pole: bending direction of a right limb in the stance's axes.
    """
    up = limb.upper
    parent = trunk[PARENTS[up]]
    base: Pose = (*transform_point(parent, REST_OFFSETS[up]), *parent[3:])
    px, py, pz = pole if pole is not None else (_KNEE_POLE if limb in (LEFT_LEG, RIGHT_LEG) else _ELBOW_POLE)
    if limb in (LEFT_LEG, LEFT_ARM):
        py = -py
    root: Quat = (values[3], values[4], values[5], values[6])
    turns = solve_limb(limb, base=base, target=end, pole=rotate(root, (px, py, pz)))
    for j, r in zip((up, limb.lower, limb.end), turns, strict=True):
        values[7 + 3 * j : 10 + 3 * j] = r


def set_gaze(values: list[float], *, yaw: float, down: float, lean: float) -> None:
    """Turns neck and head so that the camera looks `yaw` left of the body and `down` below the horizon.

    lean: forward lean of the chest. The neck's range bounds both: 75 degrees sideways, 80 up and 60 down
    against the chest.
    """
    yaw = min(max(yaw, -1.30), 1.30)
    pitch = min(max(down - CAMERA_PITCH_RAD, lean - 1.40), lean + 1.05)
    q = quat_mul(quat_about((0.0, 1.0, 0.0), yaw), quat_about((1.0, 0.0, 0.0), pitch))
    x, y, z = rotation_of(quat_mul(quat_about((1.0, 0.0, 0.0), -lean), q))
    for j in (_NECK, _HEAD):
        values[7 + 3 * j : 10 + 3 * j] = (0.5 * x, 0.5 * y, 0.5 * z)


def _curl(values: list[float], *, left: float, right: float) -> None:
    for first, sign, amount in ((22, -1.0, left), (37, 1.0, right)):
        for i in range(12):
            values[7 + 3 * (first + i) + 2] = sign * 1.2 * amount
        for i in range(12, 15):  # the thumb comes over the palm and towards the fingers
            values[7 + 3 * (first + i)] = 0.5 * amount
            values[7 + 3 * (first + i) + 1] = -sign * 0.7 * amount


@cache
def _shoulder(pelvis_m: float, lean: float, collar: Vec3 = (0.0, 0.0, 0.0)) -> Vec3:
    """Right shoulder in the ground frame."""
    v = [0.0] * BODY_VALUES
    v[2], v[3], v[7] = pelvis_m - PELVIS_HEIGHT_M, 1.0, 0.5 * lean
    for j in _SPINE:
        v[7 + 3 * j] = lean / 6.0
    v[7 + 3 * _COLLAR : 10 + 3 * _COLLAR] = collar
    x, y, z = chain(v, TRUNK)[RIGHT_ARM.upper][:3]
    return (x, y, z)


def _rest(side: float, pelvis_m: float, lean: float) -> Pose:
    """Palm of a hanging arm. side: -1 right, 1 left."""
    x, y, z = _shoulder(pelvis_m, lean)
    return (x + 0.07, side * (abs(y) + 0.07), max(z - 0.59, 0.12), *_DOWN)


def carry_palm(pelvis_m: float = PELVIS_HEIGHT_M) -> Pose:
    """Right palm while something is carried, in the ground frame: before the chest, where the camera still sees it."""
    return (0.33, -0.13, pelvis_m + 0.36, *_LEVEL)


def ready_palm(pelvis_m: float = PELVIS_HEIGHT_M) -> Vec3:
    """Where a reach begins, in the ground frame: close to the chest, inside the space that the body takes anyway."""
    return (0.20, -0.16, pelvis_m + 0.255)


def standing(x: float, y: float, yaw: float, *, carrying: bool = False) -> tuple[float, ...]:
    """Upright at a stance; the right hand hangs, or holds something before the chest."""
    return body_of(_on_feet("stand", (x, y, yaw), lean=0.0, carrying=carrying))


def stooping(x: float, y: float, yaw: float, *, carrying: bool = False) -> tuple[float, ...]:
    """Bent forward over nearly straight legs, looking down."""
    return body_of(_on_feet("stoop", (x, y, yaw), lean=0.70, carrying=carrying))


def crouching(x: float, y: float, yaw: float, *, carrying: bool = False) -> tuple[float, ...]:
    """Down on bent knees."""
    return body_of(_on_feet("crouch", (x, y, yaw), lean=0.25, carrying=carrying))


def _on_feet(posture: PostureName, stance: Vec3, *, lean: float, carrying: bool) -> BodyPlan:
    pelvis_m = pelvis_of(posture)
    x, y, yaw = stance
    return BodyPlan(
        x=x,
        y=y,
        yaw=yaw,
        pelvis_m=pelvis_m,
        lean=lean,
        look_down=CAMERA_PITCH_RAD + 0.5 * lean,
        right=carry_palm(pelvis_m) if carrying else _rest(-1.0, pelvis_m, lean),
        left=_rest(1.0, pelvis_m, lean),
        right_curl=0.7 if carrying else 0.3,
        knee_pole=_CROUCH_KNEE_POLE if posture in ("crouch", "squat") else _KNEE_POLE,
    )


def sitting(x: float, y: float, yaw: float, *, seat_m: float, carrying: bool = False) -> tuple[float, ...]:
    """On a seat whose top is at height `seat_m`, hands on the thighs, feet on the floor when the seat is low enough."""
    return body_of(_seated((x, y, yaw), pelvis_m=seat_m + SEAT_TO_PELVIS_M, carrying=carrying))


def _seated(stance: Vec3, *, pelvis_m: float, carrying: bool) -> BodyPlan:
    x, y, yaw = stance
    thigh = pelvis_m + 0.03
    return BodyPlan(
        x=x,
        y=y,
        yaw=yaw,
        pelvis_m=pelvis_m,
        right=carry_palm(pelvis_m) if carrying else (0.26, -0.12, thigh, *_LEVEL),
        left=(0.26, 0.12, thigh, *_LEVEL),
        ankle=(0.40, 0.10, max(ANKLE_HEIGHT_M, pelvis_m - 0.075 - 0.42)),
        right_curl=0.7 if carrying else 0.2,
    )


def bend_for(posture: PostureName, target: Vec3, *, pelvis_m: float | None = None, slack_m: float = 0.0) -> Bend | None:
    """The least effort with which the right palm reaches `target` (ground frame): the least lean with a quiet
    shoulder, else the least lean with the shoulder pushed forward, else raised. None when out of reach.

    pelvis_m: height of the pelvis when seated; the other postures have their own. slack_m: stretch the arm so much
    further, for a target that was found reachable before by arithmetic in another order.
    """
    height = pelvis_m if pelvis_m is not None else pelvis_of(posture)
    # the wrist joint of a level hand whose palm is at the target
    wx, wy, wz = target[0] + _WRIST_FROM_LEVEL_PALM[0], target[1] + _WRIST_FROM_LEVEL_PALM[1], target[2]
    least, most = (_ARM_MIN_M - slack_m) ** 2, (_ARM_MAX_M + slack_m) ** 2
    for bend, sx, sy, sz in _shoulders(posture, height):
        if least <= (wx - sx) * (wx - sx) + (wy - sy) * (wy - sy) + (wz - sz) * (wz - sz) <= most:
            return bend
    return None


@cache
def _shoulders(posture: PostureName, pelvis_m: float) -> tuple[tuple[Bend, float, float, float], ...]:
    """(bend, x, y, z) of the right shoulder for the bends that a posture allows, the least effort first."""
    lo, hi = _LEAN[posture]
    leans = [lo + k * _LEAN_STEP for k in range(round((hi - lo) / _LEAN_STEP) + 1)]
    bends = [Bend(lean, collar) for collar in _COLLARS for lean in leans]
    return tuple((bend, *_shoulder(pelvis_m, bend.lean, bend.collar)) for bend in bends)


def pelvis_of(posture: PostureName) -> float:
    """Height of the pelvis in a posture on one's feet, metres."""
    heights = {"stand": PELVIS_HEIGHT_M, "stoop": STOOP_PELVIS_M, "squat": SQUAT_PELVIS_M}
    return heights.get(posture, CROUCH_PELVIS_M)


def reaching(
    x: float,
    y: float,
    yaw: float,
    *,
    posture: PostureName,
    target: Vec3,
    pelvis_m: float | None = None,
    left: bool = False,
    elbow: Vec3 | None = None,
) -> tuple[float, ...] | None:
    """Body whose right palm is at `target` (world), level, eyes on it; None when this posture does not get there.

    pelvis_m: height of the pelvis above the floor, for "sit" only. left: the left palm, the right one carrying.
    elbow: where that arm's elbow points, as of a right arm in the stance's axes; None as is usual in the posture.
    """
    ground = from_xyz_yaw(x, y, 0.0, yaw)
    local = transform_point(inverse(ground), target)
    bend = bend_for(posture, mirrored(local) if left else local, pelvis_m=pelvis_m, slack_m=1e-4)
    if bend is None:
        return None
    height = pelvis_m if pelvis_m is not None else pelvis_of(posture)
    if posture == "sit":
        plan = _seated((x, y, yaw), pelvis_m=height, carrying=True)
    else:
        plan = _on_feet(posture, (x, y, yaw), lean=bend.lean, carrying=True)
    if posture == "crouch":
        plan = replace(plan, elbow_pole=_CROUCH_ELBOW_POLE)
    if elbow is not None:
        plan = (
            replace(plan, left_elbow_pole=elbow)
            if left
            else replace(plan, elbow_pole=elbow, left_elbow_pole=plan.elbow_pole)
        )
    if left:
        cx, cy, cz = bend.collar
        plan = replace(plan, lean=bend.lean, left_collar=(cx, -cy, -cz), left=(*local, *_LEVEL))
    else:
        plan = replace(plan, lean=bend.lean, collar=bend.collar, right=(*local, *_LEVEL))
    return gazing(body_of(plan), target)


def mirrored(point: Vec3) -> Vec3:
    """The same place for the other hand, in the ground frame."""
    return (point[0], -point[1], point[2])


def gazing(body: tuple[float, ...], point: Vec3) -> tuple[float, ...]:
    """The same body with the head turned so that the camera looks at `point` (world), as far as the neck goes."""
    v = list(body)
    lean = v[7] + sum(v[7 + 3 * j] for j in _SPINE)
    root: Pose = (v[0], v[1], v[2], v[3], v[4], v[5], v[6])
    for _ in range(6):  # the eyes move with the head: it takes some rounds to settle
        head = chain(v, TRUNK)[_HEAD]
        eye = compose(head, HEAD_FROM_CAMERA)[:3]
        dx, dy, dz = rotate(_conjugate(root[3:]), (point[0] - eye[0], point[1] - eye[1], point[2] - eye[2]))
        # what is right below the eyes is looked at over the chin, not over a shoulder
        yaw = math.atan2(dy, dx if dx > 0.15 or dz > -0.2 else 0.15)
        along = dx * math.cos(yaw) + dy * math.sin(yaw)
        set_gaze(v, yaw=yaw, down=math.atan2(-dz, along), lean=lean)
    return tuple(v)


def _conjugate(q: Quat) -> Quat:
    return (q[0], -q[1], -q[2], -q[3])
