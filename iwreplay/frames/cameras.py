"""Cameras that are not the wearer's eyes: beside the wearer, above the building, in the corners of rooms. Pure.

A camera is a pose (world_from_camera; it looks along its -z, y up) and a focal length in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from iwreplay.body import fk, root_of
from iwreplay.body.skeleton import joint
from iwreplay.errors import RenderError
from iwreplay.frames.maker import DrawnState
from iwreplay.frames.obstacles import Obstacles, Stood
from iwreplay.pose import Pose, Quat, Vec3, normalised, rotate
from iwreplay.scene.model import CompiledScene

__all__ = [
    "EYE_HEIGHT_M",
    "TOP_M",
    "Beside",
    "Camera",
    "extent_of",
    "from_above",
    "look_at",
    "rooms_open",
    "third_person",
]

#: of a camera that stands in for a standing person
EYE_HEIGHT_M = 1.6
#: height of the camera above the floor that looks down: so high that walls hardly lean
TOP_M = 40.0

#: where a camera may stand around the wearer: turn from straight behind (left is positive) by cosine and sine, and how
#: much shorter a way it is worth
_AROUND: tuple[tuple[float, float, float], ...] = (
    *((0.766, -0.643, 0.0), (0.766, 0.643, 0.05), (1.0, 0.0, 0.1), (0.259, -0.966, 0.3), (0.259, 0.966, 0.35)),
    *((-0.423, -0.906, 0.55), (-0.423, 0.906, 0.6), (-0.866, -0.5, 0.75), (-0.866, 0.5, 0.8), (-1.0, 0.0, 0.9)),
)
#: rise of the way to the camera, farthest and nearest distance, and how far it keeps off what it meets
_RISE, _FAR_M, _NEAR_M, _OFF_M = 0.32, 2.7, 0.35, 0.15
#: a camera that walks along keeps its side while it has so much room there; it changes it only for so much more, and
#: goes back from the wearer by so much a frame where there is room again
_KEPT_M, _WORTH_M, _BACK_M = 1.1, 0.5, 0.25
#: half of what must fit into the picture's height, metres, and the focal lengths allowed, in heights of the picture
_FIT_M, _WIDE, _LONG = 1.05, 0.55, 1.1
_SPINE, _PELVIS = joint("spine3"), joint("pelvis")
#: what the picture from above that follows the wearer shows, metres across
_FOLLOWED_M = 9.0


class Camera(NamedTuple):
    """Where from and how."""

    pose: Pose
    focal_px: float


def look_at(eye: Vec3, target: Vec3) -> Pose:
    """The camera at `eye` that looks at `target`, upright; looking straight up or down its right is the world's x.
    RenderError when they are the same place or not finite."""
    d = (eye[0] - target[0], eye[1] - target[1], eye[2] - target[2])
    n = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    if not (math.isfinite(n) and n > 1e-6):
        raise RenderError(f"a camera at {_told(eye)} that looks toward {_told(target)} has no direction")
    z = (d[0] / n, d[1] / n, d[2] / n)
    flat = math.sqrt(z[0] * z[0] + z[1] * z[1])
    x = (-z[1] / flat, z[0] / flat, 0.0) if flat > 1e-6 else (1.0, 0.0, 0.0)
    y = (z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0])
    return (*eye, *_quat((x, y, z)))


def _told(v: Vec3) -> str:
    return "({:g}, {:g}, {:g})".format(*v)


def _quat(axes: tuple[Vec3, Vec3, Vec3]) -> Quat:
    """The turn that brings x, y and z onto three axes."""
    (a, b, c), (d, e, f), (g, h, i) = axes
    w = (1.0 + a + e + i, f - h, g - c, b - d)
    x = (f - h, 1.0 + a - e - i, b + d, c + g)
    y = (g - c, b + d, 1.0 - a + e - i, f + h)
    z = (b - d, c + g, f + h, 1.0 - a - e + i)
    # each is the quaternion times four of its own parts: the largest is the most exact
    best = max((w, x, y, z), key=lambda q: q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return normalised(best)


def third_person(state: Stood, body: Sequence[float], *, obstacles: Obstacles, height: int) -> Camera:
    """The camera that sees the whole wearer from outside: behind its right shoulder if there is room, else wherever
    there is most. It follows from the state alone, and never stands in a wall or behind one.

    height: of the picture, pixels.
    """
    way, free = _best_way(state, body, obstacles)
    return _camera_at(body, way, max(_NEAR_M, free), height=height)


class Beside:
    """The camera of somebody who walks beside the wearer. It keeps its side of the wearer, as north of it, when the
    wearer turns and walks on, and goes elsewhere only when something comes in between.

    What it does depends on the states that it has followed, in their order, and on nothing else: follow every frame
    of a log, also those that are not drawn."""

    def __init__(self, obstacles: Obstacles) -> None:
        self._obstacles = obstacles
        self._way: Vec3 | None = None
        self._distance_m = 0.0

    def follow(self, state: Stood, body: Sequence[float]) -> None:
        """Takes its place for a state."""
        chest = fk(body)[_SPINE][:3]
        free = -1.0 if self._way is None else _free_m(state, chest, self._way, self._obstacles)
        if self._way is None or free < _KEPT_M:
            way, best = _best_way(state, body, self._obstacles)
            if self._way is None or best > free + _WORTH_M:
                self._way, self._distance_m = way, max(_NEAR_M, best)
                return
        # at once away from a wall, slowly back
        self._distance_m = max(_NEAR_M, min(free, self._distance_m + _BACK_M))

    def camera(self, body: Sequence[float], *, height: int) -> Camera:
        """As it stands since the last state that it followed. height: of the picture, pixels."""
        assert self._way is not None, "it follows a state first"
        return _camera_at(body, self._way, self._distance_m, height=height)


def _best_way(state: Stood, body: Sequence[float], obstacles: Obstacles) -> tuple[Vec3, float]:
    """The way from the chest to where a camera has most room, behind the right shoulder rather than elsewhere, and how
    far it may go."""
    chest, turn = fk(body)[_SPINE][:3], root_of(body)[3:]
    best: tuple[float, float, Vec3] | None = None
    for back, left, cost in _AROUND:
        x, y, _ = rotate(turn, (-back, left, 0.0))
        way: Vec3 = (x, y, _RISE)
        free = _free_m(state, chest, way, obstacles)
        if best is None or free - cost > best[0]:
            best = (free - cost, free, way)
    assert best is not None, "there are ways to stand"
    return best[2], best[1]


def _free_m(state: Stood, chest: Vec3, way: Vec3, obstacles: Obstacles) -> float:
    """How far from the chest along a way a camera may stand."""
    most = min(_FAR_M + _OFF_M, _to_the_walls(obstacles.scene, chest, way))
    return obstacles.free_m(state, origin=chest, toward=way, most_m=most) - _OFF_M


def _camera_at(body: Sequence[float], way: Vec3, distance: float, *, height: int) -> Camera:
    at = fk(body)
    chest = at[_SPINE][:3]
    middle: Vec3 = (at[_PELVIS][0], at[_PELVIS][1], 0.5 * (at[_PELVIS][2] + chest[2]))
    n = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    eye: Vec3 = (
        chest[0] + way[0] * distance / n,
        chest[1] + way[1] * distance / n,
        chest[2] + way[2] * distance / n,
    )
    focal = 0.5 * height * distance / _FIT_M
    return Camera(look_at(eye, middle), min(max(focal, _WIDE * height), _LONG * height))


def _to_the_walls(scene: CompiledScene, at: Vec3, way: Vec3) -> float:
    """How far one gets along `way` in the room that `at` is in: not through its doors and hatches."""
    room = next((r for r in scene.rooms if r.rect[0] <= at[0] <= r.rect[2] and r.rect[1] <= at[1] <= r.rect[3]), None)
    if room is None:
        return math.inf
    n = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    sides = ((way[k] / n, (room.rect[k + 2] if way[k] > 0.0 else room.rect[k]) - at[k]) for k in range(2))
    return min((gap / d for d, gap in sides if abs(d) > 1e-9), default=math.inf)


def extent_of(scene: CompiledScene) -> tuple[float, float, float, float]:
    """x0, y0, x1, y1 around all rooms, metres."""
    rects = [r.rect for r in scene.rooms]
    return (
        min(r[0] for r in rects),
        min(r[1] for r in rects),
        max(r[2] for r in rects),
        max(r[3] for r in rects),
    )


def from_above(
    scene: CompiledScene, *, width: int, height: int, around: tuple[float, float] | None = None, margin_m: float = 0.4
) -> Camera:
    """The camera high above that sees all rooms, north up; `around` a place, only what is near it. Draw what
    `rooms_open` gives, or the ceilings are in the way."""
    x0, y0, x1, y1 = extent_of(scene)
    x0, y0, x1, y1 = x0 - margin_m, y0 - margin_m, x1 + margin_m, y1 + margin_m
    px_per_m = min(width / (x1 - x0), height / (y1 - y0))
    x, y = (x0 + x1) / 2.0, (y0 + y1) / 2.0
    if around is not None and width / px_per_m > _FOLLOWED_M:
        px_per_m = width / _FOLLOWED_M
        x, y = _within(around[0], x0, x1, width / px_per_m), _within(around[1], y0, y1, height / px_per_m)
    return Camera((x, y, TOP_M, 1.0, 0.0, 0.0, 0.0), px_per_m * TOP_M)


def _within(at: float, low: float, high: float, side: float) -> float:
    """The middle of a window of that side that holds `at`, and shows nothing beyond the ends if it can be helped."""
    if side >= high - low:
        return (low + high) / 2.0
    return min(max(at, low + side / 2.0), high - side / 2.0)


class _Opened:
    """A state without its ceilings."""

    def __init__(self, state: DrawnState, hidden: Sequence[str]) -> None:
        self.poses, self.joints, self.body = state.poses, state.joints, state.body
        self.attrs = {**state.attrs, **{t: {**state.attrs[t], "exists": False} for t in hidden}}


def rooms_open(scene: CompiledScene, state: DrawnState) -> DrawnState:
    """The state as one sees it from above: without ceilings."""
    return _Opened(state, [t.id for t in scene.things if t.cls == "ceiling"])
