"""How a vessel is held for pouring and filling: its mouth over what it pours into, or under the stream of a tap."""

from __future__ import annotations

import math
from collections.abc import Callable

from iwreplay.actions.refusal import RefusedError
from iwreplay.actions.scope import Scope
from iwreplay.motion.model import Approach
from iwreplay.pose import Pose, Quat, Vec3, compose, quat_about, quat_mul, rotate, transform_point
from iwreplay.scene.geometry import shape_half
from iwreplay.scene.model import Thing
from iwreplay.trig import sin_cos
from iwreplay.world.geometry import link_poses, thing_aabb

__all__ = ["Pouring", "approach_by", "hand_under"]

_TILT_RAD = math.radians(80.0)
#: a mouth is this high over what is poured into, a vessel's rim this far below the end of a tap
_OVER_M, _BELOW_M = 0.04, 0.02
#: a grip nearer to the axis than this is no handle at the side
_ASIDE_M = 0.03

#: heading of the stance -> where the hand goes (world)
Where = Callable[[float], Vec3]


def approach_by(scope: Scope, thing: str, near: Vec3, where: Where) -> Approach:
    """An approach to `near`, or rather to the point that `where` gives for the heading of that stance, when the hand
    gets there. Raises RefusedError like `Scope.approach`."""
    first = scope.approach(thing, near)
    try:
        return scope.approach(thing, where(first.route.stance.yaw))
    except RefusedError:
        return first


def hand_under(scope: Scope, tap: Thing, vessel: Thing) -> Where:
    """The hand where the mouth of the vessel that it holds, its front to the wearer, is in the tap's stream."""
    x, y, z = _spout(scope, tap)
    gx, gy, gz = vessel.grip
    rim = vessel.bounds_pos[2] + vessel.bounds_half[2] - gz

    def where(yaw: float) -> Vec3:
        s, c = sin_cos(yaw)
        return (x + gy * c + gx * s, y + gy * s - gx * c, z - _BELOW_M - rim)

    return where


def _spout(scope: Scope, tap: Thing) -> Vec3:
    """Where the water comes out: the top of the shape that shows it running, else the top of the tap."""
    for link, pose in zip(tap.links, link_poses(tap, scope.state), strict=True):
        for shape in link.shapes:
            if shape.when.get("on") == (True,) and shape.kind in ("cylinder", "capsule", "cone"):
                return transform_point(compose(pose, shape.pose), (0.0, 0.0, shape_half(shape)[2]))
    x0, y0, _, x1, y1, z1 = thing_aabb(tap, scope.state)
    return ((x0 + x1) / 2, (y0 + y1) / 2, z1)


class Pouring:
    """A vessel in the right hand that pours to the left, its handle (where it has one at the side) to the right."""

    def __init__(self, vessel: Thing) -> None:
        self._vessel = vessel
        gx, gy, gz = vessel.grip
        aside = math.hypot(gx, gy)
        self._is_aside = aside > _ASIDE_M
        #: from the hand to the rim that it pours over, upright: to the left, and up
        self._left_m = (aside if self._is_aside else 0.0) + min(vessel.bounds_half[:2])
        self._up_m = vessel.bounds_pos[2] + vessel.bounds_half[2] - gz

    def hand_over(self, scope: Scope, over: Thing) -> Where:
        """The hand where the tilted rim is over the middle of a thing."""
        x0, y0, _, x1, y1, z1 = thing_aabb(over, scope.state)
        s, c = sin_cos(_TILT_RAD)
        left, up = self._left_m * c + self._up_m * s, self._up_m * c - self._left_m * s

        def where(yaw: float) -> Vec3:
            sy, cy = sin_cos(yaw)
            return ((x0 + x1) / 2 + left * sy, (y0 + y1) / 2 - left * cy, z1 + _OVER_M - up)

        return where

    def tilted(self, hand_from_thing: Pose, share: float) -> Pose:
        """The vessel against the hand with `share` (0 to 1) of the full tilt, its grip where it was."""
        upright: Quat = hand_from_thing[3:]
        if self._is_aside:
            # the handle comes round to the right (the hand's -y)
            x, y, _ = rotate(upright, (self._vessel.grip[0], self._vessel.grip[1], 0.0))
            upright = quat_mul(quat_about((0.0, 0.0, 1.0), share * _short(-math.pi / 2.0 - math.atan2(y, x))), upright)
        q = quat_mul(quat_about((1.0, 0.0, 0.0), -share * _TILT_RAD), upright)
        grip = transform_point(hand_from_thing, self._vessel.grip)
        at = rotate(q, self._vessel.grip)
        return (grip[0] - at[0], grip[1] - at[1], grip[2] - at[2], *q)


def _short(angle: float) -> float:
    """The same turn the short way."""
    return math.remainder(angle, 2.0 * math.pi)
