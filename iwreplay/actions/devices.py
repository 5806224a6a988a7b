"""Switches, machines and plugs."""

from __future__ import annotations

import math

from iwreplay.actions.plan import Plan, Run
from iwreplay.actions.refusal import refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.pose import Vec3, transform_point
from iwreplay.processes.cycles import start_cycle, stop_cycle
from iwreplay.processes.power import (
    has_power,
    is_cordless,
    load_a,
    on_battery,
    overloaded_by,
    plugged_into,
    plugs_free,
    refresh_power,
    socket_of,
)
from iwreplay.processes.world import number_of
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import exists, grip_point, link_poses, thing_of

__all__ = ["plug", "switch_off", "switch_on"]

_PRESS_S = 0.4
_PLUG_S = 1.0
_CORD_M = 2.0


def _switch_point(scope: Scope, device: Thing) -> Vec3:
    """Where it is switched: property `switch_at` in link 0's frame, else where it is gripped."""
    at = device.props.get("switch_at")
    if isinstance(at, list | tuple) and len(at) == 3:
        x, y, z = (float(v) for v in at)
        return transform_point(link_poses(device, scope.state)[0], (x, y, z))
    return grip_point(device, scope.state)


def _device(scope: Scope, what: str) -> Thing:
    device = scope.thing("device")
    scope.need_affordance(device, "switch", f"switch {what} {scope.the(device.id)}")
    return device


def switch_on(scope: Scope) -> Plan:
    """On; a machine starts a new cycle, with its door closed."""
    device = _device(scope, "on")
    attrs = scope.state.attrs[device.id]
    is_machine = "machine" in device.affordances
    if attrs.get("on") is True and (not is_machine or attrs.get("running") is True):
        raise refuse("ALREADY", sentence(f"{scope.the(device.id)} is on already."), blocker=device.id)
    if not has_power(scope.state, device.id):
        raise refuse(
            "NO_POWER", sentence(f"{scope.the(device.id)} has no power{_why(scope, device)}."), blocker=device.id
        )
    if scope.held == device.id and is_cordless(device) and not on_battery(scope.state, device.id):
        text = f"{scope.the(device.id)} has to stand on its base to be switched on."
        raise refuse("NO_POWER", sentence(text), blocker=device.id)
    if is_machine and attrs.get("open") is True:
        raise refuse("OPEN", sentence(f"{scope.the(device.id)} is open; it has to be closed first."), blocker=device.id)
    script = scope.script()

    def effect(run: Run) -> None:
        run.set(device.id, "on", True)
        if is_machine:
            start_cycle(run, device.id, cause=run.cause)

    scope.use(script, device.id, _switch_point(scope, device), hold_s=_PRESS_S, end=(effect,), free_hand=True)
    return Plan(steps=tuple(script.steps), obj=device.id)


def _why(scope: Scope, device: Thing) -> str:
    """Why a device has no power, as far as its plug shows."""
    if "plug" not in device.affordances:
        return ""
    empty = "its battery is empty, and " if scope.state.attr(device.id, "charged") is False else ""
    socket = socket_of(scope.state, device.id)
    if not socket:
        return f"; {empty}it is not plugged in"
    return f"; {empty}it is plugged into {scope.the(socket)}, which has none"


def switch_off(scope: Scope) -> Plan:
    """Off; a running cycle is broken off."""
    device = _device(scope, "off")
    attrs = scope.state.attrs[device.id]
    if attrs.get("on") is not True and attrs.get("running") is not True:
        raise refuse("ALREADY", sentence(f"{scope.the(device.id)} is off already."), blocker=device.id)
    script = scope.script()

    def effect(run: Run) -> None:
        if run.state.attr(device.id, "running") is True:
            stop_cycle(run, device.id, finished=False, cause=run.cause)
        run.set(device.id, "on", False)

    scope.use(script, device.id, _switch_point(scope, device), hold_s=_PRESS_S, end=(effect,), free_hand=True)
    return Plan(steps=tuple(script.steps), obj=device.id)


def plug(scope: Scope) -> Plan:
    """Plug into a socket that the cord reaches, or out of it."""
    device = scope.thing("device")
    scope.need_affordance(device, "plug", f"plug {scope.the(device.id)} in or out; it has no plug")
    if scope.command.verb == "PlugOut":
        return _plug_out(scope, device)
    had = socket_of(scope.state, device.id)
    if had:
        raise refuse("ALREADY", sentence(f"{scope.the(device.id)} is plugged in already."), blocker=had)
    socket = _socket_for(scope, device)
    over = overloaded_by(scope.state, device.id, socket.id)
    if over:
        now, more = load_a(scope.state, over), load_a(scope.state, device.id)
        limit = number_of(thing_of(scope.state, over), "max_a", 0.0)
        text = f"{scope.the(over)} would be overloaded: {now:g} A now, {more:g} A more, {limit:g} A allowed."
        raise refuse("OVERLOAD", sentence(text), blocker=over)
    script = scope.script()

    def effect(run: Run) -> None:
        run.set(device.id, "plugged", socket.id)
        refresh_power(run, cause=run.cause)

    scope.use(
        script,
        socket.id,
        grip_point(socket, scope.state),
        hold_s=_PLUG_S,
        end=(effect,),
        free_hand=not scope.carried(device.id),
    )
    return Plan(steps=tuple(script.steps), obj=device.id, dest=socket.id)


def _plug_out(scope: Scope, device: Thing) -> Plan:
    had = socket_of(scope.state, device.id)
    if not had:
        raise refuse("ALREADY", sentence(f"{scope.the(device.id)} is not plugged in."), blocker=device.id)
    if scope.given("socket") and scope.thing("socket").id != had:
        raise scope.no_affordance(had, f"unplug it there; {scope.the(device.id)} is plugged into {scope.the(had)}")
    socket = thing_of(scope.state, had)
    script = scope.script()

    def effect(run: Run) -> None:
        run.set(device.id, "plugged", "")
        refresh_power(run, cause=run.cause)

    scope.use(
        script,
        socket.id,
        grip_point(socket, scope.state),
        hold_s=_PLUG_S,
        end=(effect,),
        free_hand=not scope.carried(device.id),
    )
    return Plan(steps=tuple(script.steps), obj=device.id, dest=socket.id)


def _reaches(scope: Scope, device: Thing, socket: Thing) -> bool:
    away = math.dist(grip_point(device, scope.state), grip_point(socket, scope.state))
    return away <= number_of(device, "cord_m", _CORD_M)


def _socket_for(scope: Scope, device: Thing) -> Thing:
    """The socket that was named, or the nearest free one that the cord reaches."""
    if scope.given("socket"):
        socket = scope.thing("socket")
        scope.need_affordance(socket, "socket", f"plug anything into {scope.the(socket.id)}")
        if socket.id == device.id or _feeds(scope, device, socket):
            raise scope.no_affordance(socket.id, f"plug {scope.the(device.id)} into itself")
        if plugs_free(scope.state, socket.id) < 1:
            taken = plugged_into(scope.state, socket.id)
            raise refuse("OCCUPIED", sentence(f"{scope.the(socket.id)} has no free socket."), blocker=taken[0])
        if not _reaches(scope, device, socket):
            text = f"the cord of {scope.the(device.id)} does not reach {scope.the(socket.id)}; bring it closer."
            raise refuse("TOO_FAR", sentence(text), blocker=socket.id)
        return socket
    # a socket that has power before one that has none
    near = sorted(
        (
            not has_power(scope.state, t.id),
            math.dist(grip_point(device, scope.state), grip_point(t, scope.state)),
            t.id,
        )
        for t in scope.state.scene.things
        if "socket" in t.affordances
        and t.id != device.id
        and exists(scope.state, t.id)
        and scope.perception.knows(t.id)
        and plugs_free(scope.state, t.id) > 0
        and not _feeds(scope, device, t)
        and _reaches(scope, device, t)
    )
    if not near:
        raise refuse(
            "TOO_FAR", f"No free socket is within reach of the cord of {scope.the(device.id)}.", blocker=device.id
        )
    return thing_of(scope.state, near[0][2])


def _feeds(scope: Scope, device: Thing, socket: Thing) -> bool:
    """Whether the socket gets its power from the device: a strip in its own strip."""
    at = socket.id
    for _ in range(8):
        if at == device.id:
            return True
        if "plug" not in thing_of(scope.state, at).affordances:
            return False
        at = socket_of(scope.state, at)
        if not at:
            return False
    return True
