"""Where to look at a scene from, as a person who stands there: the start, the corners of each room, before each thing.
Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from iwreplay.errors import RenderError
from iwreplay.frames.cameras import EYE_HEIGHT_M, look_at
from iwreplay.frames.obstacles import Obstacles, Stood
from iwreplay.pose import Pose, Vec3, compose, from_xyz_yaw, inverse, rotate, transform_point
from iwreplay.scene.geometry import point_in_box
from iwreplay.scene.model import CompiledScene, Room, Thing
from iwreplay.trig import sin_cos
from iwreplay.world.geometry import interiors_of
from iwreplay.world.placed import Posed

__all__ = ["before_thing", "checked_camera", "room_views", "start_view"]

#: how far a camera in a corner stands off the walls, and what it looks at, as a share of the way to the middle
_CORNER_M = (0.35, 0.7, 1.1)
_LOOK_HEIGHT_M = 0.95
#: turns of the rays that tell how much is seen from somewhere, and the farthest that counts
_FAN_RAD = (-0.5, -0.3, -0.15, 0.0, 0.15, 0.3, 0.5)
_SEEN_M = 7.0
#: a second fan looks down to the floor so far ahead: what stands close before the eyes hides half a picture
_FLOOR_AHEAD_M = 2.0
#: distances from a thing at which one may stand, as shares of the one that shows all of it
_BEFORE = (1.0, 1.4, 0.7, 2.0)
#: so near beside or above a thing's bounds one is in the midst of it
_BESIDE_M, _ABOVE_M = 0.1, 0.25
_BUILDING = ("floor", "wall", "ceiling")
#: a camera keeps this far off everything
_CLEAR_M = 0.05
#: where there is no ceiling, a camera may be so high
_SKY_M = 100.0
_STARTING_PITCH = 0.35


def start_view(scene: CompiledScene) -> Pose:
    """What somebody sees who stands where the wearer starts, a little downwards."""
    x, y, yaw = scene.spawn
    dx, dy, _ = rotate(from_xyz_yaw(0.0, 0.0, 0.0, yaw)[3:], (1.0, 0.0, 0.0))
    eye = (x, y, EYE_HEIGHT_M)
    return look_at(eye, (x + dx, y + dy, EYE_HEIGHT_M - _STARTING_PITCH))


def room_views(scene: CompiledScene, state: Stood, obstacles: Obstacles, *, room: Room) -> tuple[Pose, ...]:
    """Cameras in the corners of a room, looking across it, the one that sees most first. A corner in which something
    stands has none."""
    x0, y0, x1, y1 = room.rect
    middle: Vec3 = ((x0 + x1) / 2.0, (y0 + y1) / 2.0, _LOOK_HEIGHT_M)
    found: list[tuple[float, Pose]] = []
    for cx, sx, cy, sy in ((x0, 1, y0, 1), (x1, -1, y1, -1), (x1, -1, y0, 1), (x0, 1, y1, -1)):
        views = [(cx + sx * off, cy + sy * off, EYE_HEIGHT_M) for off in _CORNER_M]
        free = [
            eye
            for eye in views
            if _is_clear(eye, state, obstacles) and _apart_m((*eye[:2], 0.0), (*middle[:2], 0.0)) > 0.3
        ]
        scored = [
            (
                0.0 if _amid_something(scene, state, eye) else _open_m(state, obstacles, eye, middle),
                look_at(eye, middle),
            )
            for eye in free
        ]
        if scored:
            found.append(max(scored))
    return tuple(pose for _, pose in sorted(found, key=lambda f: (-f[0], f[1])))


def _is_clear(eye: Vec3, state: Stood, obstacles: Obstacles) -> bool:
    return not obstacles.holding(state, eye, margin_m=_CLEAR_M)


def _amid_something(scene: CompiledScene, state: Stood, eye: Vec3) -> bool:
    """Whether the eye is between the legs of a ladder, in a shower, close above a machine: in a thing's bounds, though
    in none of its solids."""
    for thing in scene.things:
        if thing.cls in _BUILDING or state.attrs[thing.id].get("exists") is False:
            continue
        at = transform_point(inverse(state.poses[thing.id]), eye)
        off = [abs(a - b) - half for a, b, half in zip(at, thing.bounds_pos, thing.bounds_half, strict=True)]
        if max(off[0], off[1]) < _BESIDE_M and off[2] < _ABOVE_M:
            return True
    return False


def _open_m(state: Stood, obstacles: Obstacles, eye: Vec3, toward: Vec3) -> float:
    """How much is seen: free lengths of a fan of rays towards a point, and of one to the floor before it, added up."""
    d = (toward[0] - eye[0], toward[1] - eye[1])
    far = math.sqrt(d[0] * d[0] + d[1] * d[1])
    seen = 0.0
    for turn in _FAN_RAD:
        s, c = sin_cos(turn)
        x, y = d[0] * c - d[1] * s, d[0] * s + d[1] * c
        for way in ((x, y, toward[2] - eye[2]), (x, y, -eye[2] * far / _FLOOR_AHEAD_M)):
            seen += obstacles.free_m(state, origin=eye, toward=way, most_m=_SEEN_M)
    return seen


def before_thing(scene: CompiledScene, state: Stood, obstacles: Obstacles, *, thing: Thing, number: int = 1) -> Pose:
    """The camera of somebody who stands before a thing and looks at it: at its own stances if it has any, else where
    there is room, in front of it first; behind a wall or furniture only when nowhere else.

    number: 1 is the first such place. RenderError when there is none.
    """
    target = transform_point(state.poses[thing.id], thing.bounds_pos)
    places = [
        eye
        for eye in _places(thing, state.poses[thing.id])
        if _is_clear(eye, state, obstacles) and _room_at(scene, eye) is not None and _apart_m(eye, target) > 0.1
    ]
    if len(places) < number:
        has = f"there are {len(places)}" if places else "there is none"
        raise RenderError(f"no place number {number} to stand before {thing.id} is free of walls and things; {has}")
    places.sort(key=lambda eye: _is_hidden(thing, target, state, obstacles, eye=eye))
    return look_at(places[number - 1], target)


def _is_hidden(thing: Thing, target: Vec3, state: Stood, obstacles: Obstacles, *, eye: Vec3) -> bool:
    far = _apart_m(eye, target)
    way = (target[0] - eye[0], target[1] - eye[1], target[2] - eye[2])
    at = transform_point(inverse(state.poses[thing.id]), eye)
    off = [(abs(a - b), half) for a, b, half in zip(at, thing.bounds_pos, thing.bounds_half, strict=True)]
    # where the way to its middle comes into its own bounds, as a share of it
    entry = max(1.0 - half / apart if apart > half else 0.0 for apart, half in off)
    return obstacles.free_m(state, origin=eye, toward=way, most_m=far) < entry * far - _CLEAR_M


def _places(thing: Thing, pose: Pose) -> Iterator[Vec3]:
    for stance in thing.stances:
        x, y, _ = transform_point(pose, (stance[0], stance[1], 0.0))
        yield (x, y, EYE_HEIGHT_M)
    hx, hy, hz = thing.bounds_half
    near = 0.45 + max(hx, hz)
    cx, cy, _ = thing.bounds_pos
    for off in (share * near for share in _BEFORE):
        for x, y in ((cx, cy - hy - off), (cx + hx + off, cy), (cx - hx - off, cy), (cx, cy + hy + off)):
            at = compose(pose, (x, y, 0.0, 1.0, 0.0, 0.0, 0.0))
            yield (at[0], at[1], EYE_HEIGHT_M)


def _apart_m(a: Vec3, b: Vec3) -> float:
    return math.sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]))


def _room_at(scene: CompiledScene, point: Vec3) -> Room | None:
    x, y, _ = point
    return next((r for r in scene.rooms if r.rect[0] <= x <= r.rect[2] and r.rect[1] <= y <= r.rect[3]), None)


def checked_camera(scene: CompiledScene, state: Posed, obstacles: Obstacles, *, eye: Vec3, toward: Vec3) -> Pose:
    """The camera at `eye` that looks toward a point. RenderError that names what is wrong with it: not finite, no
    direction, outside of the building, or inside of something."""
    told = "({:g}, {:g}, {:g})".format(*eye)
    if not all(math.isfinite(v) for v in (*eye, *toward)):
        raise RenderError(f"a camera at {told} toward ({', '.join(f'{v:g}' for v in toward)}) is not finite")
    pose = look_at(eye, toward)
    room = _room_at(scene, eye)
    if room is None:
        rooms = "; ".join(
            f"{r.id} x {r.rect[0]:g} to {r.rect[2]:g}, y {r.rect[1]:g} to {r.rect[3]:g}" for r in scene.rooms
        )
        raise RenderError(f"a camera at {told} is outside of the building; its rooms: {rooms}")
    inside = obstacles.holding(state, eye, margin_m=_CLEAR_M)
    shut = (t.id for t in scene.things if any(i.closed and point_in_box(eye, i.box) for i in interiors_of(t, state)))
    inside = inside or next(shut, "")
    if inside:
        raise RenderError(f"a camera at {told} is inside of {inside}, or touches it")
    if eye[2] < 0.0:
        raise RenderError(f"a camera at {told} is below the floor of {room.id}")
    roofed = obstacles.free_m(state, origin=(*eye[:2], 0.5), toward=(0.0, 0.0, 1.0), most_m=_SKY_M) < _SKY_M
    if eye[2] > (room.height if roofed else _SKY_M):
        raise RenderError(f"a camera at {told} is above {room.id}, which is {room.height:g} m high")
    return pose
