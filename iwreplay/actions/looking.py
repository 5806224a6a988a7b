"""Facing, looking and scanning."""

from __future__ import annotations

import math

from iwreplay.actions.angles import heading, yaw_towards
from iwreplay.actions.gaze import NECK_RAD, middle_of
from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run, Script
from iwreplay.actions.reading import need_uncovered
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope
from iwreplay.body import key_poses
from iwreplay.pose import Vec3, wrap_angle
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import thing_of

__all__ = ["face", "look_at", "scan"]

_DEFAULT_ERROR_DEG = 5.0
#: a full scan turns the body once round; a smaller one swings about the present heading
_FULL_DEG = 359.0


def face(scope: Scope) -> Plan:
    """Turn on the spot until the target is ahead within the angle error."""
    target = scope.entity("target", rooms=True)
    if target.is_room:
        rect = next(r.rect for r in scope.state.scene.rooms if r.id == target.id)
        point: Vec3 = ((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2, 1.0)
    else:
        point = middle_of(scope.state, thing_of(scope.state, target.id))
    to = yaw_towards(scope.state, point)
    script = scope.script()
    off = abs(wrap_angle(to - heading(scope.state)))
    if off > math.radians(scope.number("angle error", _DEFAULT_ERROR_DEG)):
        scope.need_standing()
        _turn_to(scope, script, to)
    if not target.is_room:
        script.look(point)
    script.hold(SETTLE_S)
    return Plan(steps=tuple(script.steps), obj=target.id)


def _turn_to(scope: Scope, script: Script, to: float) -> None:
    refusal = scope.planner.turn(scope.state, to)
    if refusal is not None:
        raise RefusedError(refusal)
    script.turn(to)


def look_at(scope: Scope) -> Plan:
    """Head towards the target; the body turns along when the neck alone can't."""
    thing = scope.thing("target")
    point = middle_of(scope.state, thing)
    _need_sight(scope, thing, point)
    script = scope.script()
    off = wrap_angle(yaw_towards(scope.state, point) - heading(scope.state))
    if abs(off) > NECK_RAD and not scope.seat:
        _turn_to(scope, script, yaw_towards(scope.state, point))
    script.look(point, end=(_looked(thing.id),))
    script.hold(SETTLE_S)
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _need_sight(scope: Scope, thing: Thing, point: Vec3) -> None:
    need_uncovered(scope, thing)
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
        half = min(math.radians(arc) / 2.0, NECK_RAD)
        for side in (half, 0.0, -half, 0.0):
            script.look(_ahead(scope, start + side))
            script.hold(SETTLE_S)
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
