"""Walking, turning, sitting and standing up."""

from __future__ import annotations

import math

from iwreplay.actions.angles import front_yaw, heading
from iwreplay.actions.gaze import eye_point
from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.motion.model import Refusal
from iwreplay.pose import Pose, Vec3, transform_point
from iwreplay.processes.support import ancestors, dependents
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import PlacedSurface, surfaces_of, thing_of

__all__ = ["forward", "navigate_to", "sit", "standup", "turn"]

_DEFAULT_STEP_M = 0.5
_DEFAULT_TURN_DEG = 90.0
#: a turn is made in pieces below half a circle, so that each has one short way
_PIECE_RAD = math.radians(120.0)
#: half the room that one takes on a seat, how far in from its front edge one sits, the height that must be free, and
#: how far apart the places on a wide seat are
_SEAT_HALF_M, _SEAT_DEPTH_M, _SEAT_CLEAR_M, _SEAT_STEP_M = 0.18, 0.22, 0.15, 0.25


def navigate_to(scope: Scope) -> Plan:
    """Walk to a live stance near a thing, or into a room."""
    scope.need_standing()
    target = scope.entity("target", rooms=True)
    if target.id == scope.held:
        raise refuse("NO_PATH", f"I am holding {scope.the(target.id)} already.", blocker=target.id)
    route = scope.planner.route_to(scope.state, target.id)
    if isinstance(route, Refusal):
        raise RefusedError(_in_the_way(scope, route))
    script = scope.script()
    script.walk(route)
    if target.is_room:
        script.hold(SETTLE_S)
    else:
        script.look(eye_point(scope.state, thing_of(scope.state, target.id), script.body))
    return Plan(steps=tuple(script.steps), obj=target.id)


def _in_the_way(scope: Scope, why: Refusal) -> Refusal:
    """No way because of something that could be moved is a COLLISION with it, not a NO_PATH."""
    loose = why.blocker in scope.state.poses and not thing_of(scope.state, why.blocker).fixed
    return Refusal("COLLISION", why.sentence, why.blocker) if why.code == "NO_PATH" and loose else why


def forward(scope: Scope) -> Plan:
    """Straight ahead; a negative distance is a step back."""
    scope.need_standing()
    route = scope.planner.forward(scope.state, scope.number("distance", _DEFAULT_STEP_M))
    if isinstance(route, Refusal):
        raise RefusedError(route)
    script = scope.script()
    script.walk(route)
    if not script.steps:
        script.hold(SETTLE_S)
    return Plan(steps=tuple(script.steps))


def turn(scope: Scope) -> Plan:
    """On the spot, by an angle."""
    scope.need_standing()
    verb = scope.command.verb
    angle = 180.0 if verb == "TurnAround" else scope.number("angle", _DEFAULT_TURN_DEG)
    signed = math.radians(angle) * (-1.0 if verb == "TurnRight" else 1.0)
    script = scope.script()
    pieces = max(1, math.ceil(abs(signed) / _PIECE_RAD))
    for k in range(1, pieces + 1):
        to = heading(scope.state) + signed * k / pieces
        refusal = scope.planner.turn(scope.state, to)
        if refusal is not None:
            raise RefusedError(refusal)
        script.turn(to)
    return Plan(steps=tuple(script.steps))


def sit(scope: Scope) -> Plan:
    """Onto the live seat top."""
    seat = scope.thing("seat")
    if scope.seat:
        raise refuse("ALREADY", f"I am sitting already, on {scope.the(scope.seat)}.", blocker=scope.seat)
    scope.need_affordance(seat, "seat", f"sit on {scope.the(seat.id)}")
    if scope.held and scope.held in (seat.id, *(p.thing for p in ancestors(scope.state, seat.id))):
        text = f"I am holding {scope.the(scope.held)}; I have to put it down first."
        raise refuse("UNREACHABLE", text, blocker=scope.held)
    tops = surfaces_of(seat, scope.state)
    if not tops:
        raise scope.no_affordance(seat.id, f"sit on {scope.the(seat.id)}")
    top = _free_place(scope, seat, tops[0])
    script = scope.script()
    script.walk(scope.seat_route(seat.id, top))
    seated: tuple[Effect, ...] = (_sits(seat.id),)
    script.sit(top, front_yaw(scope.state.poses[seat.id]), end=seated)
    script.hold(SETTLE_S)
    return Plan(steps=tuple(script.steps), obj=seat.id)


def _free_place(scope: Scope, seat: Thing, top: PlacedSurface) -> Vec3:
    """Where to sit: at the front edge, the middle of a chair, on a wide seat what is free and nearest to the wearer.
    Raises RefusedError with OCCUPIED, naming what is on it."""
    room = max(0.0, top.half[0] - _SEAT_HALF_M)
    n = math.ceil(room / _SEAT_STEP_M - 1e-6)
    forward = -top.half[1] + min(top.half[1], _SEAT_DEPTH_M)
    places = [transform_point(top.pose, (k * room / max(n, 1), forward, 0.0)) for k in range(-n, n + 1)]
    here = (scope.state.body[0], scope.state.body[1])
    taken = ""
    ignore = (seat.id, *((scope.held, *dependents(scope.state, scope.held)) if scope.held else ()))
    for x, y, z in sorted(places, key=lambda p: (round(math.dist(p[:2], here), 6), p)):
        box: Pose = (x, y, z + _SEAT_CLEAR_M + 0.01, *top.pose[3:])
        hits = scope.sim.overlap_box((_SEAT_HALF_M, min(_SEAT_HALF_M, top.half[1]), _SEAT_CLEAR_M), box, ignore=ignore)
        loose = [h for h in hits if not thing_of(scope.state, h).fixed]
        if not loose:
            return (x, y, z)
        taken = taken or loose[0]
    raise refuse("OCCUPIED", sentence(f"{scope.the(taken)} is on {scope.the(seat.id)}."), blocker=taken)


def _sits(seat: str) -> Effect:
    def effect(run: Run) -> None:
        run.set(WEARER, "sitting", seat)
        run.set(WEARER, "posture", "sit" if seat else "stand")

    return effect


def standup(scope: Scope) -> Plan:
    """Steps away from the seat."""
    if not scope.seat:
        raise refuse("ALREADY", "I am standing already.")
    stance = scope.planner.stand_up_stance(scope.state)
    if isinstance(stance, Refusal):
        raise RefusedError(stance)
    script = scope.script()
    script.stand_up(stance, end=(_sits(""),))
    return Plan(steps=tuple(script.steps), obj=scope.seat)
