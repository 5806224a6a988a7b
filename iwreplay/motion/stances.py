"""Where one can stand to reach a point, and how good each place is. Pure numbers; nothing here asks the simulator."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from iwreplay.body.postures import REACH_POSTURES, Bend, PostureName, bend_for
from iwreplay.motion.footprints import Footprint, Point2, footprints_of
from iwreplay.pose import Vec3, wrap_angle
from iwreplay.scene.model import Thing
from iwreplay.world.state import WorldState

__all__ = ["ReachWindow", "Standing", "facing_yaw", "options_at", "reach_window", "swept_prints"]

#: how much further one would walk to be spared a posture: metres, and metres per radian of lean
_POSTURE_COST_M: dict[PostureName, tuple[float, float]] = {
    "stand": (0.0, 0.4),
    "stoop": (0.15, 0.3),
    "crouch": (0.25, 0.1),
    "squat": (0.35, 0.3),
    "sit": (0.0, 0.0),
}
#: nobody crouches for what is higher than this: metres of walk per metre above
_STRETCH_COST_M = 0.2
_CROUCH_TOP_M, _CROUCH_HIGH_COST = 0.55, 1.5
#: a target this far off the nose is reached without turning
_SIDE_RAD = 0.60
_STEP_M = 0.05
_STEPS = 24


class Standing(NamedTuple):
    """One way to stand at a place and reach."""

    x: float
    y: float
    yaw: float
    posture: PostureName
    #: discomfort as a length, metres
    cost_m: float


class ReachWindow(NamedTuple):
    """Horizontal distances from which a point at some height can be reached; nearest > farthest when there is none."""

    nearest_m: float
    farthest_m: float


@cache
def reach_window(height_mm: int) -> ReachWindow:
    """Window for a point `height_mm` above the floor, straight ahead, over all postures on one's feet."""
    target_z = height_mm / 1000.0
    hits = [
        k * _STEP_M
        for k in range(1, _STEPS)
        if any(bend_for(p, (k * _STEP_M, 0.0, target_z)) is not None for p in REACH_POSTURES)
    ]
    # in steps: the true end lies less than one further
    return ReachWindow(min(hits), max(hits) + _STEP_M) if hits else ReachWindow(1.0, 0.0)


def facing_yaw(at: Point2, to: Point2) -> float:
    """Heading from one place to another."""
    return math.atan2(to[1] - at[1], to[0] - at[0])


def options_at(
    at: Point2,
    point: Vec3,
    *,
    yaw: float | None = None,
    left: bool = False,
    postures: tuple[PostureName, ...] = REACH_POSTURES,
) -> list[Standing]:
    """Each of the postures in which `point` (world) is reached from a place, with the right or the left hand.

    yaw: present heading, kept when the point is near enough to straight ahead; None: always turn to the point.
    """
    d = math.sqrt((point[0] - at[0]) ** 2 + (point[1] - at[1]) ** 2)
    ahead = facing_yaw(at, (point[0], point[1])) if d > 0.05 else (yaw or 0.0)
    out: list[Standing] = []
    for posture in postures:
        chosen = ahead
        bend = None
        if yaw is not None and abs(wrap_angle(ahead - yaw)) <= _SIDE_RAD:
            rel = wrap_angle(ahead - yaw)
            aside = -d * math.sin(rel) if left else d * math.sin(rel)
            bend = bend_for(posture, (d * math.cos(rel), aside, point[2]))
            chosen = yaw if bend is not None else ahead
        if bend is None:
            bend = bend_for(posture, (d, 0.0, point[2]))
        if bend is not None:
            out.append(Standing(at[0], at[1], chosen, posture, _discomfort(posture, bend, point[2])))
    return out


def _discomfort(posture: PostureName, bend: Bend, height_m: float) -> float:
    base, per_rad = _POSTURE_COST_M[posture]
    high = _CROUCH_HIGH_COST * max(0.0, height_m - _CROUCH_TOP_M) if posture == "crouch" else 0.0
    stretch = _STRETCH_COST_M if any(bend.collar) else 0.0
    return base + per_rad * bend.lean + high + stretch


def swept_prints(thing: Thing, state: WorldState) -> list[Footprint]:
    """Outlines of a thing with its joints at six positions from closed to open: the floor that it sweeps."""
    out: list[Footprint] = []
    joints = [(f"{thing.id}.{k.joint.name}", k.joint.open_at) for k in thing.links if k.joint is not None]
    for k in range(6):
        at = {name: open_at * k / 5.0 for name, open_at in joints}
        out.extend(footprints_of(thing, state.poses[thing.id], at))
    return out
