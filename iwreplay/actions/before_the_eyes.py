"""Reading what is in the hand: it is lifted before the eyes, and one face after the other is turned to them. Where
something is in the way there, one turns to where there is room."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from iwreplay.actions.angles import heading
from iwreplay.actions.plan import Effect, Plan, Run, Script
from iwreplay.actions.refusal import refuse
from iwreplay.actions.scope import Scope
from iwreplay.body import key_poses
from iwreplay.errors import GeometryError
from iwreplay.motion import trajectories
from iwreplay.motion.blend import Body, smooth
from iwreplay.motion.model import Posture, Reach, Trajectory
from iwreplay.motion.touching import carried_with, worn_things
from iwreplay.pose import Pose, Vec3, compose, inverse, normalised, transform_point
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import PlacedFace, thing_box

__all__ = ["READ_S", "read_in_hand", "squarely_before"]

#: seconds for one face, and for turning the next one to the eyes
READ_S, _TURN_S = 1.5, 0.5
_READING_M = 0.36
#: the hand is this share of the height up on an edge, so far behind the front of what is thick
_UP, _IN_M = 0.3, 0.03
#: to the left and right, the least turn first
_TURNS = tuple(math.radians(sign * deg) for deg in (0, 30, 60, 90, 120, 150) for sign in (1, -1) if deg or sign > 0)
#: what is held up may be so much nearer to something than its box says
_SLACK_M, _HAIR_M = 0.01, 0.001
#: farther to the right, and farther below the line of sight, no hand holds anything up
_ASIDE_M, _BELOW_M = 0.26, 0.26


def squarely_before(camera: Pose, at: PlacedFace, world_from_thing: Pose) -> Pose:
    """Where a thing must be for its face to be square to the camera, at reading distance."""
    distance = max(_READING_M, 0.9 * max(at.size))
    world_from_face = compose(camera, (0.0, 0.0, -distance, 1.0, 0.0, 0.0, 0.0))
    return compose(world_from_face, compose(inverse(at.pose), world_from_thing))


def read_in_hand(scope: Scope, thing: Thing, faces: Sequence[PlacedFace], exposes: Callable[[str], Effect]) -> Plan:
    """exposes: what follows from having read a face. Afterwards the thing is carried as before, with the eyes on it.
    Raises RefusedError with OCCLUDED when there is no room for it whichever way one turns."""
    script = scope.script()
    there = scope.state.poses[thing.id]
    carried = held = _against_hand(script.body, there)
    motion, look = _with_room(scope, script, thing, faces[0])
    camera = key_poses(look.end).camera
    for n, at in enumerate(faces):
        seen = squarely_before(camera, at, there)
        if n > 0:
            edge = next(_edges(scope, thing, camera, seen))
            motion = trajectories.stroke(script.body, (edge,), seconds=_TURN_S)
        turned = _against_hand(motion.end, seen)
        script.add(motion, during=_turning(thing.id, held, turned))
        if n == 0:
            script.add(look)
        held = turned
        script.hold(READ_S, end=(exposes(at.name),))
    lowered = key_poses(trajectories.retract(script.body, holding=True).end).right_hand
    eyes = transform_point(compose(lowered, carried), thing.bounds_pos)
    script.add(trajectories.retract(script.body, holding=True, gaze=eyes), during=_turning(thing.id, held, carried))
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _with_room(scope: Scope, script: Script, thing: Thing, at: PlacedFace) -> tuple[Trajectory, Trajectory]:
    """The lifting to where nothing is in the way, after the least turn that it takes, which is in the script then."""
    blocker = ""
    for angle in (0.0,) if scope.seat else _TURNS:
        to = heading(scope.state) + angle
        if angle and scope.planner.turn(scope.state, to) is not None:
            continue
        body = trajectories.turn(scope.state.body, to).end if angle else scope.state.body
        lifting = _lifting(scope, thing, at, body)
        hits = _in_the_way(scope, thing, at, key_poses(lifting[1].end).camera)
        if not hits:
            if angle:
                script.turn(to)
            return lifting
        blocker = blocker or hits[0]
    held, there = scope.the(thing.id), scope.the(blocker)
    raise refuse("OCCLUDED", f"I have no room to hold {held} before my eyes: {there} is in the way.", blocker=blocker)


def _in_the_way(scope: Scope, thing: Thing, at: PlacedFace, camera: Pose) -> tuple[str, ...]:
    """Ids of what a thing would be in that is held up with that face to the camera."""
    there = scope.state.poses[thing.id]
    box = thing_box(thing, scope.state)
    held_up = compose(squarely_before(camera, at, there), compose(inverse(there), box.pose))
    a, b, c = (max(_HAIR_M, half - _SLACK_M) for half in box.half)
    ignore = (thing.id, *carried_with(scope.state, thing.id), *worn_things(scope.state))
    return scope.sim.overlap_box((a, b, c), held_up, ignore=ignore)


def _lifting(scope: Scope, thing: Thing, at: PlacedFace, body: Body) -> tuple[Trajectory, Trajectory]:
    """The reach that brings a face before the eyes, and the look at it, straight ahead: a reach looks at the hand."""
    there = scope.state.poses[thing.id]
    camera = key_poses(trajectories.retract(body, holding=True).end).camera
    ahead = transform_point(camera, (0.0, 0.0, -1.0))
    for _ in range(2):  # the eyes of one who bends forward for it come along
        reach = _reach(scope, body, _edges(scope, thing, camera, squarely_before(camera, at, there)))
        look = trajectories.look(reach.end, ahead)
        camera = key_poses(look.end).camera
    return reach, look


def _reach(scope: Scope, body: Body, points: Iterator[Vec3]) -> Trajectory:
    posture: Posture = "sit" if scope.seat else "stand"
    for point in points:
        try:
            return trajectories.reach(body, Reach(posture, (point,)))
        except GeometryError:  # too wide or too tall to be held there
            continue
    raise GeometryError(f"{scope.held} can't be held up to be read")


def _edges(scope: Scope, thing: Thing, camera: Pose, seen: Pose) -> Iterator[Vec3]:
    """Where the palm may be on a thing that is at `seen`: at its right edge, at its lower edge, behind it."""
    box = thing_box(thing, scope.state)
    at = compose(inverse(camera), compose(seen, compose(inverse(scope.state.poses[thing.id]), box.pose)))
    corners = [
        transform_point(at, (sx * box.half[0], sy * box.half[1], sz * box.half[2]))
        for sx, sy, sz in product((-1.0, 1.0), repeat=3)
    ]
    (x0, x1), (y0, y1), (z0, z1) = ((min(c), max(c)) for c in zip(*corners, strict=True))
    z = z1 - min(_IN_M, (z1 - z0) / 2.0)
    if x1 <= _ASIDE_M:
        yield transform_point(camera, (x1, max(y0 + _UP * (y1 - y0), -_BELOW_M), z))
    right = min(x0 + (1.0 - _UP) * (x1 - x0), _ASIDE_M)
    if y0 >= -_BELOW_M:
        yield transform_point(camera, (right, y0, z))
    yield transform_point(camera, (right, max(y0 + _UP * (y1 - y0), -_BELOW_M), z0))


def _against_hand(body: tuple[float, ...], world_from_thing: Pose) -> Pose:
    """hand_from_thing."""
    found = compose(inverse(key_poses(body).right_hand), world_from_thing)
    return (*found[:3], *normalised(found[3:]))


def _turning(thing: str, start: Pose, end: Pose) -> Callable[[Run, float], None]:
    """It turns in the hand, from one hand_from_thing to another."""
    sign = 1.0 if sum(a * b for a, b in zip(start[3:], end[3:], strict=True)) >= 0.0 else -1.0

    def during(run: Run, share: float) -> None:
        s = smooth(share)
        x, y, z = (a + s * (b - a) for a, b in zip(start[:3], end[:3], strict=True))
        w, i, j, k = (a + s * (sign * b - a) for a, b in zip(start[3:], end[3:], strict=True))
        run.hold(thing, end if share >= 1.0 else (x, y, z, *normalised((w, i, j, k))))

    return during
