"""Forward kinematics: 163 body values -> joint, hand and camera poses.

Body values: 7 of the root pose (x, y, z, qw, qx, qy, qz) and 52 axis-angle vectors in SMPL+H order. The root frame
is x forward, y left, z up; its origin lies `PELVIS_HEIGHT_M` below the pelvis joint, so its z is 0 when standing and
negative by as much as the pelvis is lowered. Scalar arithmetic with portable operations only: the same values give
the same bits on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from iwreplay.body.skeleton import (
    BODY_FROM_SMPL,
    HEAD_FROM_CAMERA,
    LEFT_WRIST_FROM_PALM,
    N_JOINTS,
    PARENTS,
    PELVIS_HEIGHT_M,
    REST_OFFSETS,
    RIGHT_WRIST_FROM_PALM,
    joint,
)
from iwreplay.errors import GeometryError
from iwreplay.pose import Pose, Quat, Vec3, compose, quat_mul, rotate
from iwreplay.trig import sin_cos

__all__ = ["BODY_VALUES", "KeyPoses", "chain", "fk", "key_poses", "quat_of", "root_of"]

#: length of a body vector
BODY_VALUES = 7 + 3 * N_JOINTS

_HEAD, _LEFT_WRIST, _RIGHT_WRIST = joint("head"), joint("left_wrist"), joint("right_wrist")


class KeyPoses(msgspec.Struct, frozen=True):
    """World poses that the rest of the system asks the body for."""

    #: at the eyes; looks along its -z, +y up, +x right
    camera: Pose
    #: where a held thing's grip sits; x along the fingers, z to the thumb side
    right_hand: Pose
    left_hand: Pose
    #: the first seven body values
    root: Pose


def root_of(values: Sequence[float]) -> Pose:
    """World pose of the root frame: the first seven values. GeometryError when `values` is not 163 long."""
    if len(values) != BODY_VALUES:
        raise GeometryError(f"a body has {BODY_VALUES} values, got {len(values)}")
    x, y, z, qw, qx, qy, qz = values[:7]
    return (x, y, z, qw, qx, qy, qz)


def fk(values: Sequence[float]) -> tuple[Pose, ...]:
    """World poses of the 52 joints.

    values: 163 floats (see the module). GeometryError for a wrong length or an angle that is not finite.
    """
    return tuple(chain(values, range(N_JOINTS)).values())


def chain(values: Sequence[float], joints: Sequence[int]) -> dict[int, Pose]:
    """World poses of some joints; `joints` ascending, and every parent of a listed joint is listed too."""
    out: dict[int, Pose] = {}
    for j in joints:
        r: Vec3 = (values[7 + 3 * j], values[8 + 3 * j], values[9 + 3 * j])
        if j == 0:
            root = root_of(values)
            base: Quat = quat_mul(root[3:], BODY_FROM_SMPL)
            px, py, pz = rotate(root[3:], (0.0, 0.0, PELVIS_HEIGHT_M))
            out[0] = (root[0] + px, root[1] + py, root[2] + pz, *_turned(base, r))
        else:
            parent = out[PARENTS[j]]
            q: Quat = parent[3:]
            ox, oy, oz = rotate(q, REST_OFFSETS[j])
            out[j] = (parent[0] + ox, parent[1] + oy, parent[2] + oz, *_turned(q, r))
    return out


def quat_of(rotation: Vec3) -> Quat:
    """Unit quaternion wxyz of an axis-angle vector (radians)."""
    x, y, z = rotation
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-9:  # second order terms vanish in double precision
        return (1.0, 0.5 * x, 0.5 * y, 0.5 * z)
    s, c = sin_cos(0.5 * angle)
    k = s / angle
    return (c, x * k, y * k, z * k)


def _turned(q: Quat, rotation: Vec3) -> Quat:
    if rotation == (0.0, 0.0, 0.0):
        return q
    return quat_mul(q, quat_of(rotation))


#: the joints between the pelvis and the head and hands, ascending
_KEY_CHAIN = tuple(
    joint(name)
    for name in (
        *("pelvis", "spine1", "spine2", "spine3", "neck", "left_collar", "right_collar", "head"),
        *(f"{side}_{part}" for part in ("shoulder", "elbow", "wrist") for side in ("left", "right")),
    )
)


def key_poses(values: Sequence[float]) -> KeyPoses:
    """Camera, hands and root of a body of 163 values."""
    at = chain(values, _KEY_CHAIN)
    return KeyPoses(
        camera=compose(at[_HEAD], HEAD_FROM_CAMERA),
        right_hand=compose(at[_RIGHT_WRIST], RIGHT_WRIST_FROM_PALM),
        left_hand=compose(at[_LEFT_WRIST], LEFT_WRIST_FROM_PALM),
        root=root_of(values),
    )
