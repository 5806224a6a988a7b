"""Arms and legs: analytic two-bone inverse kinematics.

Hip and shoulder carry the whole rotation of the upper bone, knee and elbow are hinges, ankle and wrist take the
orientation that is asked for.

For recording only: it works out body values, which are logged, and asks the C library for an arc tangent, whose last
bit may differ between machines. What draws or judges a log starts from the logged values (`kinematics`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from iwreplay.body.kinematics import quat_of
from iwreplay.body.skeleton import FOREARM_M, SHIN_M, THIGH_M, UPPER_ARM_M, joint
from iwreplay.errors import GeometryError
from iwreplay.pose import Pose, Quat, Vec3, quat_mul

__all__ = ["LEFT_ARM", "LEFT_LEG", "RIGHT_ARM", "RIGHT_LEG", "Limb", "rotation_of", "solve_limb"]

#: a limb is never fully stretched nor folded, where its plane would be undefined
_STRETCH = 0.9995


class Limb(NamedTuple):
    """Two bones. Directions are in the rest pose's axes."""

    #: joint index of hip or shoulder, knee or elbow, ankle or wrist
    upper: int
    lower: int
    end: int
    upper_m: float
    lower_m: float
    #: where the bones point at rest
    along: Vec3
    #: hinge axis: a positive angle bends the limb
    hinge: Vec3


def _limb(names: tuple[str, str, str], lengths_m: tuple[float, float], along: Vec3, hinge: Vec3) -> Limb:
    return Limb(joint(names[0]), joint(names[1]), joint(names[2]), *lengths_m, along, hinge)


_ARM = (UPPER_ARM_M, FOREARM_M)
_LEG = (THIGH_M, SHIN_M)
LEFT_ARM = _limb(("left_shoulder", "left_elbow", "left_wrist"), _ARM, (1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
RIGHT_ARM = _limb(("right_shoulder", "right_elbow", "right_wrist"), _ARM, (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
LEFT_LEG = _limb(("left_hip", "left_knee", "left_ankle"), _LEG, (0.0, -1.0, 0.0), (1.0, 0.0, 0.0))
RIGHT_LEG = _limb(("right_hip", "right_knee", "right_ankle"), _LEG, (0.0, -1.0, 0.0), (1.0, 0.0, 0.0))


def solve_limb(limb: Limb, *, base: Pose, target: Pose, pole: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """Axis-angle values of the three joints that bring the limb's end to `target`.

    base: world pose of the upper joint with that joint unturned. target: world pose of the end joint.
    pole: world direction towards which the limb bends. A target out of range is approached as far as it goes,
    in the same direction.
    """
    t = (target[0] - base[0], target[1] - base[1], target[2] - base[2])
    dist = math.sqrt(_dot(t, t))
    a, b = limb.upper_m, limb.lower_m
    reach = min(max(dist, abs(a - b) + 0.02), (a + b) * _STRETCH)
    axis = (t[0] / dist, t[1] / dist, t[2] / dist) if dist > 1e-9 else (0.0, 0.0, -1.0)
    side = _perpendicular(pole, axis)
    cos_a = (a * a + reach * reach - b * b) / (2.0 * a * reach)
    sin_a = math.sqrt(max(0.0, 1.0 - cos_a * cos_a))
    u = _mix(axis, cos_a, side, sin_a)
    f = tuple((axis[i] * reach - u[i] * a) / b for i in range(3))
    n = _cross(side, axis)
    upper = _frame_turn(limb.along, limb.hinge, u, n)
    bend = math.atan2(_dot(_cross(u, (f[0], f[1], f[2])), n), u[0] * f[0] + u[1] * f[1] + u[2] * f[2])
    hx, hy, hz = limb.hinge
    lower_r = (hx * bend, hy * bend, hz * bend)
    lower = quat_mul(upper, quat_of(lower_r))
    return (
        rotation_of(quat_mul(_conjugate(base[3:]), upper)),
        lower_r,
        rotation_of(quat_mul(_conjugate(lower), target[3:])),
    )


def rotation_of(q: Quat) -> Vec3:
    """Axis-angle vector of a unit quaternion, at most pi long."""
    w, x, y, z = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    s = math.sqrt(x * x + y * y + z * z)
    if s < 1e-9:
        return (2.0 * x, 2.0 * y, 2.0 * z)
    k = 2.0 * math.atan2(s, w) / s
    return (x * k, y * k, z * k)


def _conjugate(q: Quat) -> Quat:
    return (q[0], -q[1], -q[2], -q[3])


def _dot(a: Vec3, b: Vec3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _mix(a: Vec3, ka: float, b: Vec3, kb: float) -> Vec3:
    return (a[0] * ka + b[0] * kb, a[1] * ka + b[1] * kb, a[2] * ka + b[2] * kb)


def _perpendicular(direction: Vec3, axis: Vec3) -> Vec3:
    """Unit part of `direction` across unit `axis`; some fixed one when they are parallel."""
    for d in (direction, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        v = _mix(d, 1.0, axis, -_dot(d, axis))
        n = math.sqrt(_dot(v, v))
        if n > 1e-6:
            return (v[0] / n, v[1] / n, v[2] / n)
    raise GeometryError(f"limb axis {axis} is not a direction")


def _frame_turn(u0: Vec3, n0: Vec3, u: Vec3, n: Vec3) -> Quat:
    """Rotation that takes the orthonormal pair (u0, n0) to (u, n)."""
    w0, w = _cross(u0, n0), _cross(u, n)
    m = [[u[r] * u0[c] + n[r] * n0[c] + w[r] * w0[c] for c in range(3)] for r in range(3)]
    trace = m[0][0] + m[1][1] + m[2][2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(trace + 1.0)
        q = (0.25 * s, (m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s)
    elif m[0][0] >= m[1][1] and m[0][0] >= m[2][2]:
        s = 2.0 * math.sqrt(1.0 + m[0][0] - m[1][1] - m[2][2])
        q = ((m[2][1] - m[1][2]) / s, 0.25 * s, (m[0][1] + m[1][0]) / s, (m[0][2] + m[2][0]) / s)
    elif m[1][1] >= m[2][2]:
        s = 2.0 * math.sqrt(1.0 + m[1][1] - m[0][0] - m[2][2])
        q = ((m[0][2] - m[2][0]) / s, (m[0][1] + m[1][0]) / s, 0.25 * s, (m[1][2] + m[2][1]) / s)
    else:
        s = 2.0 * math.sqrt(1.0 + m[2][2] - m[0][0] - m[1][1])
        q = ((m[1][0] - m[0][1]) / s, (m[0][2] + m[2][0]) / s, (m[1][2] + m[2][1]) / s, 0.25 * s)
    return q
