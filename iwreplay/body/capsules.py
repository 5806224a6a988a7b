"""What the wearer sees of itself: capsules that hang on the joints. The head is left out, the camera sits in it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from iwreplay.body.kinematics import fk
from iwreplay.body.skeleton import REST_OFFSETS, joint
from iwreplay.pose import Pose, Quat, Vec3, compose

__all__ = ["BODY_CAPSULES", "BodyCapsule", "posed_capsules"]


class BodyCapsule(msgspec.Struct, frozen=True, kw_only=True):
    """A rigid piece of the body."""

    #: index of the joint that carries it
    joint: int
    #: joint_from_capsule; the capsule's axis is its z
    pose: Pose
    radius_m: float
    #: half the length of the straight part
    half_m: float
    #: sRGB 0..255
    rgb: tuple[int, int, int]


_SKIN, _SLEEVE, _TROUSERS, _SHOE = (222, 178, 150), (92, 116, 148), (58, 60, 72), (40, 36, 34)

Rgb = tuple[int, int, int]


def _along(direction: Vec3) -> Quat:
    """Shortest turn from z to `direction`."""
    x, y, z = direction
    n = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / n, y / n, z / n
    if z < -0.999999:
        return (0.0, 1.0, 0.0, 0.0)
    k = math.sqrt((1.0 + z) * 2.0)
    return (0.5 * k, -y / k, x / k, 0.0)


def _span(name: str, a: Vec3, b: Vec3, radius_m: float, rgb: Rgb) -> BodyCapsule:
    d = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    mid = ((a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0, (a[2] + b[2]) / 2.0)
    return BodyCapsule(joint=joint(name), pose=(*mid, *_along(d)), radius_m=radius_m, half_m=length / 2.0, rgb=rgb)


def _bone(name: str, child: str, radius_m: float, rgb: Rgb) -> BodyCapsule:
    return _span(name, (0.0, 0.0, 0.0), REST_OFFSETS[joint(child)], radius_m, rgb)


def _side(side: str) -> list[BodyCapsule]:
    s = 1.0 if side == "left" else -1.0
    out = [
        _bone(f"{side}_collar", f"{side}_shoulder", 0.055, _SLEEVE),
        _bone(f"{side}_shoulder", f"{side}_elbow", 0.047, _SLEEVE),
        _span(f"{side}_elbow", (0.0, 0.0, 0.0), (s * 0.175, 0.0, 0.0), 0.040, _SLEEVE),
        _span(f"{side}_elbow", (s * 0.175, 0.0, 0.0), (s * 0.255, 0.0, 0.0), 0.029, _SKIN),
        _bone(f"{side}_hip", f"{side}_knee", 0.072, _TROUSERS),
        _bone(f"{side}_knee", f"{side}_ankle", 0.052, _TROUSERS),
        _span(f"{side}_ankle", (0.0, -0.045, -0.035), (s * 0.01, -0.045, 0.155), 0.035, _SHOE),
    ]
    # the palm: three bones from the wrist to the knuckles
    for finger, radius in (("index1", 0.017), ("middle1", 0.018), ("pinky1", 0.016)):
        out.append(_bone(f"{side}_wrist", f"{side}_{finger}", radius, _SKIN))
    for finger, radius in (("index", 0.0095), ("middle", 0.0095), ("ring", 0.009), ("pinky", 0.008), ("thumb", 0.011)):
        out.append(_bone(f"{side}_{finger}1", f"{side}_{finger}2", radius, _SKIN))
        out.append(_bone(f"{side}_{finger}2", f"{side}_{finger}3", radius * 0.95, _SKIN))
        tip = REST_OFFSETS[joint(f"{side}_{finger}3")]
        out.append(_span(f"{side}_{finger}3", (0.0, 0.0, 0.0), tip, radius * 0.9, _SKIN))
    return out


#: in a fixed order
BODY_CAPSULES: tuple[BodyCapsule, ...] = (
    _span("pelvis", (-0.07, -0.02, 0.0), (0.07, -0.02, 0.0), 0.115, _TROUSERS),
    _span("spine1", (-0.05, 0.03, 0.0), (0.05, 0.03, 0.0), 0.115, _SLEEVE),
    _span("spine3", (-0.075, -0.02, 0.0), (0.075, -0.02, 0.0), 0.120, _SLEEVE),
    _span("spine3", (-0.10, 0.09, -0.015), (0.10, 0.09, -0.015), 0.095, _SLEEVE),
    *_side("left"),
    *_side("right"),
)


def posed_capsules(values: Sequence[float]) -> tuple[Pose, ...]:
    """World pose of every capsule of `BODY_CAPSULES`, in order, for 163 body values."""
    at = fk(values)
    return tuple(compose(at[c.joint], c.pose) for c in BODY_CAPSULES)
