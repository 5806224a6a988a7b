"""Headings of the wearer and of things."""

from __future__ import annotations

import math

from iwreplay.body import root_of
from iwreplay.pose import Pose, Vec3, rotate, transform_point, wrap_angle, yaw_of
from iwreplay.world.state import WorldState

__all__ = ["ahead_of", "front_yaw", "heading", "root", "yaw_towards"]


def root(state: WorldState) -> Pose:
    """The wearer's root pose: x forward, y left, z up."""
    return root_of(state.body)


def heading(state: WorldState) -> float:
    """Where the wearer faces, radians."""
    return yaw_of(root(state)[3:])


def yaw_towards(state: WorldState, point: Vec3) -> float:
    """Heading from the wearer's place to a point; the present heading when it stands on it."""
    dx, dy = point[0] - state.body[0], point[1] - state.body[1]
    return heading(state) if math.hypot(dx, dy) < 0.02 else math.atan2(dy, dx)


def front_yaw(pose: Pose) -> float:
    """Heading in which a thing's front (its local -y) looks."""
    x, y, _ = rotate(pose[3:], (0.0, -1.0, 0.0))
    return wrap_angle(math.atan2(y, x))


def ahead_of(state: WorldState, forward_m: float, left_m: float, height_m: float) -> Vec3:
    """A point in front of the wearer, world coordinates; the height is above the floor."""
    x, y, _ = transform_point(root(state), (forward_m, left_m, 0.0))
    return (x, y, height_m)
