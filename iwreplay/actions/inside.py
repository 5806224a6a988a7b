"""Whether one sees into what one has opened, past its own doors and walls, from where one stands then."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from iwreplay.body.kinematics import key_poses
from iwreplay.body.postures import standing
from iwreplay.motion.model import Stance
from iwreplay.motion.sight import meets_box
from iwreplay.motion.trajectories import is_seated
from iwreplay.pose import Pose, Vec3, compose, transform_point
from iwreplay.scene.geometry import shape_half
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import interiors_of, link_poses
from iwreplay.world.state import WorldState

__all__ = ["view_into"]

#: where inside one looks, as shares of the half sizes: left, middle and right, before and in the middle of the depth
#: (the front is -y), near the floor and half-way up
_ACROSS, _DEEP, _UP = (-0.6, 0.0, 0.6), (-0.6, -0.1), (-0.8, 0.0)
#: share of these points that are in sight when one sees inside
_ENOUGH = 0.5
#: a hinge whose axis is less upright than this is that of a lid
_UPRIGHT_AXIS = 0.9


def view_into(
    state: WorldState, thing: Thing, joints: dict[str, float], *, holding: bool
) -> Callable[[Stance], bool] | None:
    """Asks of a stance whether the inside of a thing is in sight from it, standing upright, once its `joints` (full
    names) are where they are said to be. None where that is no question: no door swings open, nothing is behind it, or
    the wearer sits."""
    swings = any(
        joints.get(f"{thing.id}.{k.joint.name}") and k.joint.kind == "hinge" and abs(k.joint.axis[2]) > _UPRIGHT_AXIS
        for k in thing.links
        if k.joint is not None
    )
    after = state.copy()
    after.joints.update(joints)
    after.attrs[thing.id]["open"] = True
    behind = [
        now
        for was, now in zip(interiors_of(thing, state), interiors_of(thing, after), strict=True)
        if was.closed and not now.closed
    ]
    if not swings or not behind or is_seated(state.body):
        return None
    points = [p for i in behind for p in _points(i.box.pose, i.box.half)]
    clear = {m.name for m in state.scene.materials if m.alpha < 1.0}
    walls = [
        (compose(pose, s.pose), shape_half(s))
        for link, pose in zip(thing.links, link_poses(thing, after), strict=True)
        for s in link.shapes
        if s.role != "visual" and s.material not in clear
    ]

    def sees(stance: Stance) -> bool:
        eye = key_poses(standing(stance.x, stance.y, stance.yaw, carrying=holding)).camera[:3]
        return sum(_free(eye, p, walls) for p in points) >= _ENOUGH * len(points)

    return sees


def _points(pose: Pose, half: Vec3) -> Iterator[Vec3]:
    for x in _ACROSS:
        for y in _DEEP:
            for z in _UP:
                yield transform_point(pose, (x * half[0], y * half[1], z * half[2]))


def _free(eye: Vec3, point: Vec3, walls: list[tuple[Pose, Vec3]]) -> bool:
    length = math.dist(eye, point)
    d: Vec3 = tuple((point[i] - eye[i]) / length for i in range(3))  # type: ignore[assignment]
    return not any(meets_box(eye, d, length, pose, half) for pose, half in walls)
