"""Rigid poses as plain tuples, in scalar Python.

A pose is ``(x, y, z, qw, qx, qy, qz)``: metres and a unit quaternion, world z up, right-handed.
Scalar arithmetic on purpose: NumPy's ``@`` and linear algebra differ in the last bit between BLAS kernels,
and poses are hashed.
"""

from __future__ import annotations

import math

from iwreplay.errors import GeometryError
from iwreplay.trig import sin_cos

__all__ = [
    "IDENTITY",
    "Pose",
    "Quat",
    "Vec3",
    "compose",
    "from_xyz_yaw",
    "inverse",
    "normalised",
    "poses_agree",
    "quat_about",
    "quat_mul",
    "quat_to_matrix",
    "rotate",
    "transform_point",
    "wrap_angle",
    "yaw_of",
]

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Pose = tuple[float, float, float, float, float, float, float]

IDENTITY: Pose = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def quat_mul(a: Quat, b: Quat) -> Quat:
    """Hamilton product ``a * b`` (rotate by b first, then by a)."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_about(axis: Vec3, angle_rad: float) -> Quat:
    """Unit quaternion that turns by ``angle_rad`` about ``axis`` (any length but zero)."""
    x, y, z = axis
    n = math.sqrt(x * x + y * y + z * z)
    if not n > 0.0:
        raise GeometryError(f"rotation axis {axis} has no direction")
    sine, cosine = sin_cos(angle_rad / 2.0)
    s = sine / n
    return (cosine, x * s, y * s, z * s)


def normalised(q: Quat) -> Quat:
    """``q`` scaled to length one; raises GeometryError for a zero or non-finite quaternion."""
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if not (n > 0.0 and math.isfinite(n)):
        raise GeometryError(f"quaternion {q} cannot be normalised")
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


def rotate(q: Quat, v: Vec3) -> Vec3:
    """Vector ``v`` turned by unit quaternion ``q``."""
    w, x, y, z = q
    vx, vy, vz = v
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + (y * tz - z * ty),
        vy + w * ty + (z * tx - x * tz),
        vz + w * tz + (x * ty - y * tx),
    )


def compose(a: Pose, b: Pose) -> Pose:
    """``world_from_b = world_from_a * a_from_b``."""
    x, y, z, *_ = a
    px, py, pz = rotate(a[3:], b[:3])
    return (x + px, y + py, z + pz, *quat_mul(a[3:], b[3:]))


def inverse(a: Pose) -> Pose:
    """The pose that undoes ``a``."""
    q: Quat = (a[3], -a[4], -a[5], -a[6])
    p = rotate(q, (-a[0], -a[1], -a[2]))
    return (*p, *q)


def transform_point(a: Pose, v: Vec3) -> Vec3:
    """Point ``v`` of frame a, in the frame that ``a`` is given in."""
    p = rotate(a[3:], v)
    return (a[0] + p[0], a[1] + p[1], a[2] + p[2])


def poses_agree(a: Pose, b: Pose, *, distance_m: float, cos_half_angle: float) -> bool:
    """Whether two poses lie within `distance_m`, and within twice the angle whose cosine is `cos_half_angle`."""
    dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    if dx * dx + dy * dy + dz * dz > distance_m * distance_m:
        return False
    return abs(a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]) >= cos_half_angle


def from_xyz_yaw(x: float, y: float, z: float, yaw_rad: float) -> Pose:
    """Upright pose: rotation about world z only."""
    sine, cosine = sin_cos(yaw_rad / 2.0)
    return (x, y, z, cosine, 0.0, 0.0, sine)


def yaw_of(q: Quat) -> float:
    """Heading about world z in (-pi, pi]: the direction of the rotated x axis in the ground plane.

    Asks the C library, so that its last bit may differ between machines: for recording only, where its result is
    logged, never for what is derived from a log.
    """
    w, x, y, z = q
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def wrap_angle(angle_rad: float) -> float:
    """The same direction in (-pi, pi]."""
    a = math.fmod(angle_rad, 2.0 * math.pi)
    if a <= -math.pi:
        a += 2.0 * math.pi
    elif a > math.pi:
        a -= 2.0 * math.pi
    return a


def quat_to_matrix(q: Quat) -> tuple[Vec3, Vec3, Vec3]:
    """Rows of the 3x3 rotation matrix of unit quaternion ``q``."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
