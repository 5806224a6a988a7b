"""Washing, wiping and sweeping."""

from __future__ import annotations

import math

from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run
from iwreplay.actions.refusal import refuse
from iwreplay.actions.scope import NEAR_M, Scope, sentence
from iwreplay.actions.spots import Spot, free_spots
from iwreplay.pose import Vec3
from iwreplay.processes.plumbing import tap_of
from iwreplay.processes.support import dependents, parent_of
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import exists, interiors_of, surfaces_of, thing_aabb, thing_of

__all__ = ["sweep", "wash", "wipe"]

_WASH_S = 4.0
_WIPE_S = 2.0
#: how far a wiping hand goes to either side
_RUB_M = 0.1
#: a wiper that is gripped higher than this has a handle
_LONG_M = 0.2
_SWEEP_S = 2.5
#: a pan or bin that was not named is looked for within this distance of the debris
_PAN_M = 2.5
#: half the thickness of a film
_FILM_M = 0.005


def wash(scope: Scope) -> Plan:
    """Under the running tap of a sink, in the hand or lying in the sink: clean and wet."""
    thing = scope.thing("object")
    scope.need_affordance(thing, "wash", f"wash {scope.the(thing.id)}")
    sink = _sink_for(scope, thing)
    in_sink = parent_of(scope.state, thing.id).thing == sink.id
    if scope.held != thing.id and not in_sink:
        text = f"{scope.the(thing.id)} has to be in my hand or in {scope.the(sink.id)} to be washed."
        raise refuse("NOT_HELD", sentence(text), blocker=thing.id)
    tap = tap_of(scope.state, sink.id)
    if not tap or scope.state.attr(tap, "on") is not True:
        blocker = tap or sink.id
        raise refuse("DEVICE_OFF", sentence(f"{scope.the(blocker)} is not running."), blocker=blocker)
    script = scope.script()
    scope.use(script, sink.id, _over(scope, sink), hold_s=_WASH_S, end=(_washes(thing, sink.id),))
    return Plan(steps=tuple(script.steps), obj=thing.id, dest=sink.id)


def _washes(thing: Thing, sink: str) -> Effect:
    def effect(run: Run) -> None:
        run.set(thing.id, "clean", True)
        run.set(thing.id, "wet", True)
        if "soak" in thing.affordances:
            run.set(thing.id, "soaked", True)
        run.happened("wash", obj=thing.id, dest=sink)

    return effect


def _sink_for(scope: Scope, thing: Thing) -> Thing:
    """The sink that was named, the one that the thing lies in, or the nearest."""
    if scope.given("sink"):
        sink = scope.thing("sink")
        scope.need_affordance(sink, "sink", f"wash anything in {scope.the(sink.id)}")
        return sink
    parent = parent_of(scope.state, thing.id)
    if parent.thing and "sink" in thing_of(scope.state, parent.thing).affordances:
        return thing_of(scope.state, parent.thing)
    here = scope.state.body[:2]
    sinks = sorted(
        (math.dist(here, scope.state.poses[t.id][:2]), t.id)
        for t in scope.state.scene.things
        if "sink" in t.affordances and exists(scope.state, t.id)
    )
    if not sinks:
        raise scope.no_affordance(thing.id, f"wash {scope.the(thing.id)}; there is no sink")
    return thing_of(scope.state, sinks[0][1])


def _over(scope: Scope, sink: Thing) -> Vec3:
    """Over the middle of a sink, a little above its rim."""
    boxes = interiors_of(sink, scope.state)
    if boxes:
        x, y, z = boxes[0].box.pose[:3]
        return (x, y, z + boxes[0].box.half[2] + 0.08)
    x0, y0, _, x1, y1, z1 = thing_aabb(sink, scope.state)
    return ((x0 + x1) / 2, (y0 + y1) / 2, z1 + 0.08)


def wipe(scope: Scope) -> Plan:
    """With the cloth in the hand: the surface and the spills on it. The cloth is used and dirty afterwards."""
    target = scope.thing("surface")
    scope.need_affordance(target, "wipe", f"wipe {scope.the(target.id)}")
    tool = scope.tool("wiper")
    if tool is None or tool.id == target.id:
        raise refuse(
            "NO_TOOL", f"I need a cloth or a sponge in my hand to wipe {scope.the(target.id)}.", blocker=target.id
        )
    script = scope.script()
    spills = [t for t in dependents(scope.state, target.id) if _is_spill(thing_of(scope.state, t))]
    end = (_wipes(target, tool.id, spills),)
    x, y, z = _wipe_point(scope, target, spills)
    if tool.grip[2] > _LONG_M:
        # a mop stands on what it wipes, the hand is where one grips it
        z += tool.grip[2]
    scope.use(script, target.id, (x, y, z), hold_s=_WIPE_S, end=end, rub_m=_RUB_M)
    return Plan(steps=tuple(script.steps), obj=target.id, tool=tool.id)


def _is_spill(thing: Thing) -> bool:
    """A film on something else that is gone once it is wiped."""
    return "wipe" in thing.affordances and thing.bounds_half[2] <= _FILM_M


def _wipe_point(scope: Scope, target: Thing, spills: list[str]) -> Vec3:
    x0, y0, _, x1, y1, z1 = thing_aabb(thing_of(scope.state, spills[0]) if spills else target, scope.state)
    if not spills:
        tops = surfaces_of(target, scope.state)
        if tops:
            z1 = tops[0].pose[2]
    bx, by = scope.state.body[0], scope.state.body[1]
    inset_x, inset_y = min(0.15, (x1 - x0) / 2), min(0.15, (y1 - y0) / 2)
    return (min(max(bx, x0 + inset_x), x1 - inset_x), min(max(by, y0 + inset_y), y1 - inset_y), z1 + 0.02)


def _wipes(target: Thing, tool: str, spills: list[str]) -> Effect:
    wiped = [target.id, *spills]

    def effect(run: Run) -> None:
        for thing in wiped:
            run.set(thing, "clean", True)
            run.set(thing, "wet", False)
        for spill in spills if not _is_spill(target) else wiped:
            run.exist(spill, False)
            run.set(spill, "parent", "off")
        run.set(tool, "used", True)
        run.set(tool, "clean", False)
        for thing in wiped:
            run.happened("wipe", obj=thing, tool=tool)

    return effect


def sweep(scope: Scope) -> Plan:
    """With a broom in the hand (or with a free hand and one within reach): debris onto a pan or into a bin."""
    debris = scope.thing("debris")
    scope.need_affordance(debris, "sweepable", f"sweep up {scope.the(debris.id)}")
    tool = _broom(scope, debris)
    pan = _pan(scope, debris)
    how = "in" if interiors_of(pan, scope.state) else "on"
    if scope.state.attr(pan.id, "open") is False:
        raise refuse("CLOSED", sentence(f"{scope.the(pan.id)} is closed."), blocker=pan.id)
    spot = next(free_spots(scope, debris, pan, how=how), None)
    if spot is None:
        text = f"there is no space for {scope.the(debris.id)} in {scope.the(pan.id)}."
        raise refuse("NO_SPACE", sentence(text), blocker=pan.id)
    script = scope.script()
    x0, y0, _, x1, y1, z1 = thing_aabb(debris, scope.state)
    # the broom stands on the floor over the debris, the hand is where one grips it
    point = ((x0 + x1) / 2, (y0 + y1) / 2, z1 + thing_of(scope.state, tool).grip[2] + 0.03)
    scope.use(script, debris.id, point, hold_s=_SWEEP_S, end=(_sweeps(debris.id, pan, tool, spot),))
    script.hold(SETTLE_S)
    return Plan(steps=tuple(script.steps), obj=debris.id, dest=pan.id, tool=tool)


def _sweeps(debris: str, pan: Thing, tool: str, spot: Spot) -> Effect:
    def effect(run: Run) -> None:
        run.put(debris, spot.pose)
        run.set(debris, "parent", spot.parent)
        if "bin" in pan.affordances:
            run.set(debris, "discarded", True)
        run.set(tool, "used", True)
        run.happened("sweep", obj=debris, dest=pan.id, tool=tool)

    return effect


def _broom(scope: Scope, debris: Thing) -> str:
    held = scope.tool("sweeper")
    if held is not None:
        return held.id
    here = scope.state.body[:2]
    near = sorted(
        (math.dist(here, scope.state.poses[t.id][:2]), t.id)
        for t in scope.state.scene.things
        if "sweeper" in t.affordances and exists(scope.state, t.id) and scope.perception.knows(t.id)
    )
    if scope.held or not near or near[0][0] > NEAR_M:
        raise refuse("NO_TOOL", f"I need a broom to sweep up {scope.the(debris.id)}.", blocker=debris.id)
    return near[0][1]


def _pan(scope: Scope, debris: Thing) -> Thing:
    """The pan or bin that was named, or the nearest pan, then bin. Raises RefusedError with NO_TOOL."""
    if scope.given("pan"):
        pan = scope.thing("pan")
        if not {"dustpan", "bin"} & set(pan.affordances):
            raise scope.no_affordance(pan.id, f"sweep anything into {scope.the(pan.id)}")
        return pan
    at = scope.state.poses[debris.id][:2]
    near = sorted(
        ("dustpan" not in t.affordances, math.dist(at, scope.state.poses[t.id][:2]), t.id)
        for t in scope.state.scene.things
        if {"dustpan", "bin"} & set(t.affordances) and exists(scope.state, t.id) and scope.perception.knows(t.id)
    )
    close = [found for found in near if found[1] <= _PAN_M]
    if not close:
        raise refuse("NO_TOOL", f"I need a dustpan or a bin for {scope.the(debris.id)}.", blocker=debris.id)
    return thing_of(scope.state, close[0][2])
