"""Surfaces, interiors, faces and joints of the scene model from their form in a class file."""

from __future__ import annotations

import math
from collections.abc import Callable

from iwreplay.errors import SceneError
from iwreplay.pose import Quat, quat_mul
from iwreplay.scene.model import Face, Interior, Joint, Surface
from iwreplay.scene.numbers import Numbers, rotation_from_rpy_deg
from iwreplay.scene.specs import FaceSpec, InteriorSpec, JointSpec, SurfaceSpec

__all__ = ["face_from", "interior_from", "joint_from", "surface_from"]

#: link_from_face without tilt, as roll, pitch, yaw in degrees
_TOWARD = {
    "front": (90.0, 0.0, 0.0),
    "back": (90.0, 0.0, 180.0),
    "left": (90.0, 0.0, -90.0),
    "right": (90.0, 0.0, 90.0),
    "top": (0.0, 0.0, 0.0),
}


def surface_from(spec: SurfaceSpec, numbers: Numbers, *, where: str) -> Surface:
    at = f"{where}.{spec.name}"
    half = (numbers.length(spec.half[0], where=at), numbers.length(spec.half[1], where=at))
    _positive(half, where=f"{at}.half")
    return Surface(
        name=spec.name,
        pos=numbers.point(spec.pos, where=at),
        half=half,
        clearance=numbers.length(spec.clearance, where=at),
    )


def interior_from(spec: InteriorSpec, numbers: Numbers, *, where: str) -> Interior:
    at = f"{where}.{spec.name}"
    half = numbers.point(spec.half, where=at)
    _positive(half, where=f"{at}.half")
    return Interior(name=spec.name, pos=numbers.point(spec.pos, where=at), half=half, closed_by=spec.closed_by)


def face_from(spec: FaceSpec, numbers: Numbers, *, where: str, rgb: Callable[..., tuple[int, int, int]]) -> Face:
    at = f"{where}.{spec.name}"
    size = (numbers.length(spec.size[0], where=at), numbers.length(spec.size[1], where=at))
    _positive(size, where=f"{at}.size")
    tilt = rotation_from_rpy_deg(-numbers.value(spec.tilt_deg, where=at), 0.0, 0.0)
    turn: Quat = rotation_from_rpy_deg(*_TOWARD[spec.toward])
    return Face(
        name=spec.name,
        pose=(*numbers.point(spec.pos, where=at), *quat_mul(turn, tilt)),
        size=size,
        cap_height_m=numbers.length(spec.cap_m, where=at),
        ink=rgb(spec.ink, where=f"{at}.ink"),
        paper=rgb(spec.paper, where=f"{at}.paper"),
    )


def joint_from(spec: JointSpec, numbers: Numbers, *, where: str) -> Joint:
    hinge = spec.kind == "hinge"
    opened = math.radians(numbers.value(spec.open, where=where)) if hinge else numbers.length(spec.open, where=where)
    if not opened > 0.0:
        raise SceneError(f"{where}.{spec.name}: opens to {spec.open!r}; turn the axis so that open is above 0")
    x, y, z = (numbers.value(a, where=where) for a in spec.axis)
    n = math.sqrt(x * x + y * y + z * z)
    if not n > 1e-9:
        raise SceneError(f"{where}.{spec.name}: axis {list(spec.axis)} has no direction")
    return Joint(
        name=spec.name,
        kind=spec.kind,
        axis=(x / n, y / n, z / n),
        anchor=numbers.point(spec.anchor, where=where),
        lo=0.0,
        hi=opened,
        open_at=opened,
        handle=numbers.point(spec.handle, where=where),
        nouns=spec.nouns,
    )


def _positive(values: tuple[float, ...], *, where: str) -> None:
    if min(values) <= 0.0:
        raise SceneError(f"{where}: {values} must be above 0")
