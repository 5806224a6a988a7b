"""Facing, looking, scanning and reading."""

from __future__ import annotations

import math

from iwreplay.actions.angles import heading, yaw_towards
from iwreplay.actions.plan import Effect, Plan, Run, Script
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import NEAR_M, Scope, sentence
from iwreplay.body import key_poses
from iwreplay.motion.model import Reach, Refusal
from iwreplay.pose import Pose, Vec3, compose, inverse, normalised, rotate, transform_point, wrap_angle
from iwreplay.processes.support import closed_around
from iwreplay.scene.model import Face, Thing
from iwreplay.world.geometry import PlacedFace, faces_of, thing_aabb, thing_of

__all__ = ["face", "look_at", "read", "scan"]

_DEFAULT_ERROR_DEG = 5.0
_SETTLE_S = 0.4
_READ_S = 1.5
#: how far the head and the eyes turn by themselves to either side
_NECK_RAD = math.radians(60.0)
#: a full scan turns the body once round; a smaller one swings about the present heading
_FULL_DEG = 359.0
#: smallest height of a letter that can be read from where one stands, as a share of its distance: 5 pixels in a
#: 640x480 frame with a field of view of 60 degrees, and people read less than 4.75 badly
_LEGIBLE_RAD = 0.012
#: a face seen at a flatter angle than this is not readable
_FACING = 0.2
_READING_M = 0.36


def middle_of(scope: Scope, thing: Thing) -> Vec3:
    """Centre of a thing as it is now."""
    x0, y0, z0, x1, y1, z1 = thing_aabb(thing, scope.state)
    return ((x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2)


def face(scope: Scope) -> Plan:
    """Turn on the spot until the target is ahead within the angle error."""
    target = scope.entity("target", rooms=True)
    if target.is_room:
        rect = next(r.rect for r in scope.state.scene.rooms if r.id == target.id)
        point: Vec3 = ((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2, 1.0)
    else:
        point = middle_of(scope, thing_of(scope.state, target.id))
    to = yaw_towards(scope.state, point)
    script = scope.script()
    off = abs(wrap_angle(to - heading(scope.state)))
    if off > math.radians(scope.number("angle error", _DEFAULT_ERROR_DEG)):
        scope.need_standing()
        _turn_to(scope, script, to)
    script.hold(_SETTLE_S)
    return Plan(steps=tuple(script.steps), obj=target.id)


def _turn_to(scope: Scope, script: Script, to: float) -> None:
    refusal = scope.planner.turn(scope.state, to)
    if refusal is not None:
        raise RefusedError(refusal)
    script.turn(to)


def look_at(scope: Scope) -> Plan:
    """Head towards the target; the body turns along when the neck alone can't."""
    thing = scope.thing("target")
    point = middle_of(scope, thing)
    _need_sight(scope, thing, point)
    script = scope.script()
    off = wrap_angle(yaw_towards(scope.state, point) - heading(scope.state))
    if abs(off) > _NECK_RAD and not scope.seat:
        _turn_to(scope, script, yaw_towards(scope.state, point))
    script.look(point, end=(_looked(thing.id),))
    script.hold(_SETTLE_S)
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _need_uncovered(scope: Scope, thing: Thing) -> None:
    shut = closed_around(scope.state, thing.id)
    if shut:
        text = f"{scope.the(thing.id)} is inside {scope.the(shut)}, which is closed."
        raise refuse("OCCLUDED", sentence(text), blocker=shut)


def _need_sight(scope: Scope, thing: Thing, point: Vec3) -> None:
    _need_uncovered(scope, thing)
    if not scope.carried(thing.id) and not scope.planner.sees(scope.state, thing.id, point):
        raise refuse("OCCLUDED", f"Something hides {scope.the(thing.id)} from here.")


def _looked(thing: str) -> Effect:
    def effect(run: Run) -> None:
        run.happened("seen", obj=thing, detail={"by": "look"})

    return effect


def scan(scope: Scope) -> Plan:
    """Look over an arc: once round with the body, or from side to side and back. Never refused."""
    arc = scope.number("angle", 360.0)
    script = scope.script()
    start = heading(scope.state)
    if scope.seat:
        # the seat holds the body: the head sweeps what it can
        half = min(math.radians(arc) / 2.0, _NECK_RAD)
        for side in (half, 0.0, -half, 0.0):
            script.look(_ahead(scope, start + side))
            script.hold(_SETTLE_S)
    elif arc >= _FULL_DEG:
        for k in range(1, 5):
            script.turn(start + k * math.pi / 2.0)
    else:
        half = math.radians(arc) / 2.0
        for share in (0.5, 1.0, 0.5, 0.0, -0.5, -1.0, -0.5, 0.0):
            script.turn(start + share * half)
    return Plan(steps=tuple(script.steps))


def _ahead(scope: Scope, yaw: float) -> Vec3:
    eye = key_poses(scope.state.body).camera
    return (eye[0] + 2.0 * math.cos(yaw), eye[1] + 2.0 * math.sin(yaw), eye[2] - 0.3)


# ---------------------------------------------------------------------- reading


def read(scope: Scope) -> Plan:
    """A close look at the text on a thing: in the hand every face in turn, elsewhere the faces that show."""
    thing = scope.thing("target")
    texts = {f.name: f for link in thing.links for f in link.faces if scope.state.attr(thing.id, f"text:{f.name}")}
    if not texts:
        raise scope.no_affordance(thing.id, f"read {scope.the(thing.id)}; there is no writing on it")
    if scope.held == thing.id:
        return _read_in_hand(scope, thing, texts)
    return _read_in_place(scope, thing, texts)


def _exposes(thing: str, face_name: str) -> Effect:
    def effect(run: Run) -> None:
        text = run.state.attr(thing, f"text:{face_name}")
        run.happened("exposed_text", obj=thing, detail={"face": face_name, "text": text})

    return effect


def _read_in_place(scope: Scope, thing: Thing, texts: dict[str, Face]) -> Plan:
    _need_uncovered(scope, thing)
    placed = [f for f in faces_of(thing, scope.state) if f.name in texts]
    script = scope.script()
    ready = _readable(scope, thing, placed, texts, scope.state.body)
    if not ready:
        best = max(placed, key=lambda f: _turned_to(f, key_poses(scope.state.body).camera[:3]))
        _walk_up(scope, script, thing, best)
        ready = _readable(scope, thing, placed, texts, script.body)
    if not ready:
        hint = "pick it up to turn it round" if "grab" in thing.affordances else "it faces away or something hides it"
        raise refuse(
            "OCCLUDED", f"I can't see the writing on {scope.the(thing.id)} from here; {hint}.", blocker=thing.id
        )
    if not scope.seat and abs(_bearing(script.body, ready[0].pose[:3])) > _NECK_RAD:
        _turn_to(scope, script, yaw_towards(scope.state, ready[0].pose[:3]))
    for at in ready:
        script.look(at.pose[:3])
        script.hold(_READ_S, end=(_exposes(thing.id, at.name),))
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _bearing(body: tuple[float, ...], point: Vec3) -> float:
    """Angle from a body's heading to a point."""
    x, y, _ = rotate((body[3], -body[4], -body[5], -body[6]), (point[0] - body[0], point[1] - body[1], 0.0))
    return math.atan2(y, x)


def _walk_up(scope: Scope, script: Script, thing: Thing, at: PlacedFace) -> None:
    """Closer: to where the hand could touch the writing, or to the thing's own stance."""
    if scope.seat:
        raise refuse("TOO_FAR", f"I can't read {scope.the(thing.id)} from my seat.", blocker=thing.id)
    route = None
    approach = scope.planner.approach(scope.state, thing.id, at.pose[:3], max_walk_m=NEAR_M)
    if not isinstance(approach, Refusal):
        route = approach.route
    else:
        walk = scope.planner.route_to(scope.state, thing.id, point=at.pose[:3])
        if not isinstance(walk, Refusal) and walk.length_m <= NEAR_M:
            route = walk
    if route is None:
        text = f"{scope.the(thing.id)} is too far away to read; I have to walk there first."
        raise refuse("TOO_FAR", sentence(text), blocker=thing.id)
    script.walk(route)


def _turned_to(at: PlacedFace, eye: Vec3) -> float:
    """Cosine between a face's normal and the way to the eye."""
    n = rotate(at.pose[3:], (0.0, 0.0, 1.0))
    d = tuple(e - p for e, p in zip(eye, at.pose[:3], strict=True))
    length = math.hypot(*d)
    return sum(a * b for a, b in zip(n, d, strict=True)) / length if length > 0.0 else 0.0


def _readable(
    scope: Scope, thing: Thing, placed: list[PlacedFace], texts: dict[str, Face], body: tuple[float, ...]
) -> list[PlacedFace]:
    """The faces that can be read by a body, the one that faces it best first."""
    there = scope.state.copy()
    there.body = body
    eye = key_poses(body).camera[:3]
    out: list[PlacedFace] = []
    for at in placed:
        away = math.dist(eye, at.pose[:3])
        large = texts[at.name].cap_height_m >= _LEGIBLE_RAD * away
        if _turned_to(at, eye) < _FACING or not large:
            continue
        out_of_face = rotate(at.pose[3:], (0.0, 0.0, 0.005))
        point: Vec3 = (at.pose[0] + out_of_face[0], at.pose[1] + out_of_face[1], at.pose[2] + out_of_face[2])
        if scope.planner.sees(there, thing.id, point):
            out.append(at)
    return sorted(out, key=lambda f: (-round(_turned_to(f, eye), 3), f.name))


def _read_in_hand(scope: Scope, thing: Thing, texts: dict[str, Face]) -> Plan:
    """Lifts the thing before the eyes and turns each face to them."""
    script = scope.script()
    carried: Pose = compose(inverse(key_poses(scope.state.body).right_hand), scope.state.poses[thing.id])
    eye = key_poses(scope.state.body).camera
    target = transform_point(eye, _beside_the_text(texts))
    posture = "sit" if scope.seat else "stand"
    script.reach(Reach(posture, (target,)))  # type: ignore[arg-type]
    # a reach looks at the hand; the text is where the eyes looked before
    script.look(transform_point(eye, (0.0, 0.0, -1.0)))
    hand = script.right_hand()
    camera = key_poses(script.body).camera
    for at in faces_of(thing, scope.state):
        if at.name in texts:
            turned = _before_the_eyes(scope, thing, camera, hand, at)
            script.hold(_READ_S, begin=(_turn_in_hand(thing.id, turned),), end=(_exposes(thing.id, at.name),))
    script.hold(0.02, end=(_turn_in_hand(thing.id, carried),))
    script.retract(holding=True)
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _beside_the_text(texts: dict[str, Face]) -> Vec3:
    """Where the palm is while reading, in the camera's frame: behind the lower right corner, off the writing."""
    width, height = max(f.size[0] for f in texts.values()), max(f.size[1] for f in texts.values())
    away = max(_READING_M, 0.9 * max(width, height))
    return (min(width / 2 + 0.03, 0.2), -min(height / 2 + 0.05, 0.2), -(away + 0.02))


def _before_the_eyes(scope: Scope, thing: Thing, camera: Pose, hand: Pose, at: PlacedFace) -> Pose:
    """hand_from_thing with the face square to the camera, at reading distance."""
    distance = max(_READING_M, 0.9 * max(at.size))
    world_from_face = compose(camera, (0.0, 0.0, -distance, 1.0, 0.0, 0.0, 0.0))
    face_from_thing = compose(inverse(at.pose), scope.state.poses[thing.id])
    found = compose(inverse(hand), compose(world_from_face, face_from_thing))
    return (*found[:3], *normalised(found[3:]))


def _turn_in_hand(thing: str, hand_from_thing: Pose) -> Effect:
    def effect(run: Run) -> None:
        run.hold(thing, hand_from_thing)

    return effect
