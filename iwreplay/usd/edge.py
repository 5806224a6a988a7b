"""Where our conventions meet USD's: poses to transform operations, radians to degrees, arrays to USD's own.

Inside: metres, radians, quaternions wxyz, a joint's axis as a vector. USD: metres (said in the stage), degrees for
angular limits and drives, quaternions with the real part first in the interface, a joint's axis as a letter with a
turn. Poses keep their doubles; USD has joint frames, limits, masses and points in single precision only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, UsdGeom, Vt

from iwreplay.pose import IDENTITY, Pose, Quat, Vec3, normalised, quat_mul

__all__ = [
    "axis_of",
    "drive_per_degree",
    "linear_rgb",
    "place",
    "pose_of_matrix",
    "quat_from_usd",
    "quat_to_usd",
    "turn_of_axis",
    "vectors",
]

_AXES: dict[str, Vec3] = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def quat_to_usd(q: Quat, *, single: bool = False) -> Any:
    """A quaternion wxyz as Gf.Quatd, or Gf.Quatf where USD has nothing finer."""
    kind = Gf.Quatf if single else Gf.Quatd
    return kind(*normalised(q))


def quat_from_usd(q: Any) -> Quat:
    """Gf.Quatd or Gf.Quatf as wxyz, of length one."""
    x, y, z = q.GetImaginary()
    return normalised((float(q.GetReal()), float(x), float(y), float(z)))


def place(prim: Any, pose: Pose, *, scale: Vec3 | None = None) -> None:
    """Gives a prim its pose against its parent, in doubles: translate, orient and, if given, scale. Nothing for the
    identity."""
    xform = UsdGeom.Xformable(prim)
    if pose != IDENTITY:
        xform.AddTranslateOp().Set(Gf.Vec3d(*pose[:3]))
        xform.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(quat_to_usd(pose[3:]))
    if scale is not None:
        xform.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*scale))


def pose_of_matrix(matrix: Any) -> tuple[Pose, Vec3]:
    """A Gf.Matrix4d as (pose, scale along the axes)."""
    parts = Gf.Transform(matrix)
    x, y, z = parts.GetTranslation()
    q = quat_from_usd(parts.GetRotation().GetQuat())
    sx, sy, sz = parts.GetScale()
    return (float(x), float(y), float(z), *q), (float(sx), float(sy), float(sz))


def turn_of_axis(axis: Vec3) -> tuple[str, Quat]:
    """A joint's axis as USD says it: the letter of the axis of the joint's frame, and how that frame is turned."""
    length = math.sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
    unit = (axis[0] / length, axis[1] / length, axis[2] / length)
    i = max(range(3), key=lambda k: abs(unit[k]))
    letter = "XYZ"[i]
    if axis[i] > 0.0 and axis.count(0.0) == 2:
        return letter, (1.0, 0.0, 0.0, 0.0)
    a = _AXES[letter]
    if unit[i] < 0.0:
        # half a turn about the next axis brings the letter's axis to the near side first
        half = _AXES["XYZ"[(i + 1) % 3]]
        first: Quat = (0.0, *half)
        a = (-a[0], -a[1], -a[2])
    else:
        first = (1.0, 0.0, 0.0, 0.0)
    cross = (a[1] * unit[2] - a[2] * unit[1], a[2] * unit[0] - a[0] * unit[2], a[0] * unit[1] - a[1] * unit[0])
    cosine = a[0] * unit[0] + a[1] * unit[1] + a[2] * unit[2]
    return letter, quat_mul(normalised((1.0 + cosine, *cross)), first)


def axis_of(letter: str) -> Vec3:
    """The unit vector of "X", "Y" or "Z"."""
    return _AXES[letter]


def drive_per_degree(per_radian: float) -> float:
    """Stiffness or damping of an angular drive: N m (s) / rad to N m (s) / degree."""
    return per_radian * math.pi / 180.0


def linear_rgb(rgb: tuple[float, float, float]) -> Any:
    """A colour 0..1 as sRGB writes it, as Gf.Vec3f of linear light, which USD's shaders want."""
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb)
    # the C library's power may differ in its last bit between machines; six digits of a colour are plenty
    return Gf.Vec3f(*(round(c, 6) for c in linear))


def vectors(array: npt.NDArray[np.float64], *, width: int) -> Any:
    """Rows (n, 2) or (n, 3) as Vt.Vec2fArray or Vt.Vec3fArray."""
    kind = Vt.Vec2fArray if width == 2 else Vt.Vec3fArray
    # adding zero turns -0.0 into 0.0, which reads better
    return kind.FromNumpy(np.ascontiguousarray(array, np.float32) + np.float32(0.0))
