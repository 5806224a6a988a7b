"""Pouring, filling, emptying and soaking."""

from __future__ import annotations

import math

from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run, Script
from iwreplay.actions.pouring import Pouring, approach_by, hand_under
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.actions.spots import Spot, free_spots
from iwreplay.motion.blend import smooth
from iwreplay.motion.model import Approach
from iwreplay.pose import Pose, Vec3, compose, inverse, normalised, transform_point
from iwreplay.processes.plumbing import FLOW_LPS, amounts, room_l, sink_of, tap_of, total_l, with_more
from iwreplay.processes.support import dependents, parent_of
from iwreplay.processes.world import number_of
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import grip_point, interiors_of, thing_aabb, thing_of

__all__ = ["empty", "fill", "pour", "soak"]

_POUR_S = 1.6
_ABOVE_M = 0.12
_SOAK_S = 2.0
_TRACE_L = 1e-6
#: a vessel that is too big for the place right under a tap is held so far before it
_BEFORE_TAP_M = 0.18


def _without_traces(litres: dict[str, float]) -> dict[str, float]:
    return {k: litres[k] for k in sorted(litres) if litres[k] > _TRACE_L}


def _need_unsealed(scope: Scope, vessel: Thing) -> None:
    attrs = scope.state.attrs[vessel.id]
    if attrs.get("sealed") is True:
        raise refuse(
            "SEALED", sentence(f"{scope.the(vessel.id)} is sealed; it has to be opened first."), blocker=vessel.id
        )
    if attrs.get("open") is False:
        raise refuse(
            "SEALED",
            sentence(f"the cap of {scope.the(vessel.id)} is on; it has to be opened first."),
            blocker=vessel.id,
        )


def _above(scope: Scope, thing: Thing, held: Thing) -> Vec3:
    """Where the hand goes so that what it holds is over a thing."""
    x0, y0, _, x1, y1, z1 = thing_aabb(thing, scope.state)
    return ((x0 + x1) / 2, (y0 + y1) / 2, z1 + _ABOVE_M + max(0.0, held.grip[2]) * 0.5)


def pour(scope: Scope) -> Plan:
    """From the held vessel: all that fits, or one portion (`pour_l` of the source)."""
    source = scope.held_argument()
    dest = scope.thing("container")
    scope.need_affordance(source, "liquid_container", f"pour from {scope.the(source.id)}")
    takes = {"liquid_container", "cookware", "sink"} & set(dest.affordances)
    if not takes or dest.id == source.id:
        raise scope.no_affordance(dest.id, f"pour into {scope.the(dest.id)}")
    _need_unsealed(scope, source)
    have = amounts(scope.state, source.id)
    if not have:
        raise refuse("EMPTY", sentence(f"{scope.the(source.id)} is empty."), blocker=source.id)
    drains = "sink" in dest.affordances and "liquid_container" not in dest.affordances
    if not drains:
        if scope.state.attr(dest.id, "sealed") is True or scope.state.attr(dest.id, "open") is False:
            raise refuse("CLOSED", sentence(f"{scope.the(dest.id)} is closed."), blocker=dest.id)
        if room_l(scope.state, dest.id) <= _TRACE_L:
            raise refuse("FULL", sentence(f"{scope.the(dest.id)} is full."), blocker=dest.id)
    total = math.fsum(have.values())
    litres = min(total, number_of(source, "pour_l", total))
    if not drains:
        litres = min(litres, room_l(scope.state, dest.id))
    share = litres / total
    moved = {k: round(v * share, 6) for k, v in have.items()}
    script = scope.script()
    _tilting(scope, script, source, dest, (_pours(source.id, dest.id, moved, drains=drains),))
    return Plan(steps=tuple(script.steps), obj=source.id, dest=dest.id)


def _pours(source: str, dest: str, moved: dict[str, float], *, drains: bool) -> Effect:
    def effect(run: Run) -> None:
        left = amounts(run.state, source)
        for liquid, litres in moved.items():
            left[liquid] = round(left[liquid] - litres, 6)
        run.set(source, "contains", dict(_without_traces(left)))
        if not drains:
            got = amounts(run.state, dest)
            for liquid, litres in moved.items():
                got = with_more(got, liquid, litres)
            run.set(dest, "contains", dict(got))
        for liquid, litres in moved.items():
            run.happened("pour", obj=source, dest=dest, detail={"liquid": liquid, "litres": litres})

    return effect


def _tilting(scope: Scope, script: Script, held: Thing, over: Thing, end: tuple[Effect, ...]) -> None:
    """Holds the vessel beside and above a thing, tilts its mouth over it, has the effects, and rights it again."""
    carried = _carried(scope, held)
    pouring = Pouring(held)
    script.go_and_reach(approach_by(scope, over.id, _above(scope, over, held), pouring.hand_over(scope, over)))

    def during(run: Run, share: float) -> None:
        run.hold(held.id, pouring.tilted(carried, smooth(min(share / 0.25, (1.0 - share) / 0.2))))

    script.hold(_POUR_S, during=during, end=(_righted(held.id, carried), *end))
    script.retract(holding=True)


def _righted(held: str, carried: Pose) -> Effect:
    def effect(run: Run) -> None:
        run.hold(held, carried)

    return effect


def _carried(scope: Scope, held: Thing) -> Pose:
    hand = scope.script().right_hand()
    found = compose(inverse(hand), scope.state.poses[held.id])
    return (*found[:3], *normalised(found[3:]))


def fill(scope: Scope) -> Plan:
    """Water from a source that is on, into a vessel in the hand or in the sink below."""
    vessel, source = scope.thing("vessel"), _tap(scope, scope.thing("source"))
    scope.need_affordance(vessel, "liquid_container", f"fill {scope.the(vessel.id)}")
    scope.need_affordance(source, "water_source", f"fill anything from {scope.the(source.id)}")
    if scope.state.attr(source.id, "on") is not True:
        raise refuse("DEVICE_OFF", sentence(f"{scope.the(source.id)} is not on."), blocker=source.id)
    sink = sink_of(scope.state, source.id)
    in_sink = sink != "" and parent_of(scope.state, vessel.id).thing == sink
    if scope.held != vessel.id and not in_sink:
        text = f"{scope.the(vessel.id)} has to be in my hand or under {scope.the(source.id)}."
        raise refuse("NOT_HELD", sentence(text), blocker=vessel.id)
    if scope.state.attr(vessel.id, "sealed") is True or scope.state.attr(vessel.id, "open") is False:
        raise refuse("CLOSED", sentence(f"{scope.the(vessel.id)} is closed."), blocker=vessel.id)
    missing = room_l(scope.state, vessel.id)
    if missing <= _TRACE_L:
        raise refuse("FULL", sentence(f"{scope.the(vessel.id)} is full."), blocker=vessel.id)
    seconds = max(1.0, missing / number_of(source, "flow_lps", FLOW_LPS))
    script = scope.script()
    before = total_l(scope.state, vessel.id)

    def effect(run: Run) -> None:
        got = with_more(amounts(run.state, vessel.id), "water", room_l(run.state, vessel.id))
        run.set(vessel.id, "contains", dict(got))
        run.happened(
            "fill", obj=vessel.id, dest=source.id, detail={"litres": round(total_l(run.state, vessel.id) - before, 6)}
        )

    if scope.carried(vessel.id):
        script.go_and_reach(_under_tap(scope, source, vessel))
        script.hold(seconds, end=(effect,))
        script.retract(holding=True)
    else:
        scope.use(script, source.id, _above_sink(scope, source), hold_s=seconds, end=(effect,))
    return Plan(steps=tuple(script.steps), obj=vessel.id, dest=source.id)


def _tap(scope: Scope, source: Thing) -> Thing:
    """The tap that is meant where its sink is named: "fill the can at the sink"."""
    if "sink" in source.affordances and "water_source" not in source.affordances:
        tap = tap_of(scope.state, source.id)
        return thing_of(scope.state, tap) if tap else source
    return source


def _under_tap(scope: Scope, source: Thing, vessel: Thing) -> Approach:
    """To where the hand holds its vessel under a tap: in the stream, or over the sink; a tall or wide one, that does
    not go into the sink, over its rim, and before the tap where something is beside it."""
    x, y, z = _above_sink(scope, source)
    pose = scope.state.poses[source.id]
    fx, fy, _ = transform_point((0.0, 0.0, 0.0, *pose[3:]), (0.0, -_BEFORE_TAP_M, 0.0))
    hangs = vessel.grip[2] - (vessel.bounds_pos[2] - vessel.bounds_half[2])
    places = ((x, y, z), (x, y, z + hangs), (x + fx, y + fy, z), (x + fx, y + fy, z + hangs))
    refused: RefusedError | None = None
    for place in places:
        try:
            return approach_by(scope, source.id, place, hand_under(scope, source, vessel))
        except RefusedError as no:
            refused = refused or no
    assert refused is not None, "there is a place to try"
    raise refused


def _above_sink(scope: Scope, source: Thing) -> Vec3:
    """Where the hand goes to have its vessel under a tap: over the middle of its sink, or at the tap itself."""
    sink = sink_of(scope.state, source.id)
    if not sink:
        return grip_point(source, scope.state)
    boxes = interiors_of(thing_of(scope.state, sink), scope.state)
    if boxes:
        x, y, z = boxes[0].box.pose[:3]
        return (x, y, z + boxes[0].box.half[2] + 0.08)
    x0, y0, _, x1, y1, z1 = thing_aabb(thing_of(scope.state, sink), scope.state)
    return ((x0 + x1) / 2, (y0 + y1) / 2, z1 + 0.08)


def empty(scope: Scope) -> Plan:
    """Liquids into a sink or bin; loose things from a pan or box into a bin, discarded."""
    vessel = scope.held_argument()
    dest = scope.thing("sink")
    if not {"sink", "bin"} & set(dest.affordances):
        raise scope.no_affordance(dest.id, f"empty anything into {scope.the(dest.id)}")
    litres = amounts(scope.state, vessel.id)
    loose = [t for t in dependents(scope.state, vessel.id) if parent_of(scope.state, t).thing == vessel.id]
    if not litres and not loose:
        raise refuse("EMPTY", sentence(f"{scope.the(vessel.id)} is empty already."), blocker=vessel.id)
    if litres:
        _need_unsealed(scope, vessel)
    if scope.state.attr(dest.id, "open") is False:
        raise refuse("CLOSED", sentence(f"{scope.the(dest.id)} is closed."), blocker=dest.id)
    if loose and "bin" not in dest.affordances:
        raise scope.no_affordance(
            dest.id, f"empty {scope.the(loose[0])} into {scope.the(dest.id)}; it belongs in a bin"
        )
    spots = _bin_spots(scope, loose, dest)
    script = scope.script()

    def effect(run: Run) -> None:
        if litres:
            run.set(vessel.id, "contains", {})
        for thing, spot in spots.items():
            run.let_go(thing)
            run.put(thing, spot.pose)
            run.set(thing, "parent", spot.parent)
            run.set(thing, "discarded", True)
            run.happened("discard", obj=thing, dest=dest.id)
        run.happened("empty", obj=vessel.id, dest=dest.id, detail={"litres": round(math.fsum(litres.values()), 6)})

    _tilting(scope, script, vessel, dest, (effect,))
    script.hold(SETTLE_S)
    return Plan(steps=tuple(script.steps), obj=vessel.id, dest=dest.id)


def _bin_spots(scope: Scope, loose: list[str], dest: Thing) -> dict[str, Spot]:
    """A place in the bin for each loose thing. Raises RefusedError with NO_SPACE."""
    out: dict[str, Spot] = {}
    for thing in loose:
        spot = next(free_spots(scope, thing_of(scope.state, thing), dest, how="in"), None)
        if spot is None:
            text = f"{scope.the(thing)} does not fit in {scope.the(dest.id)}."
            raise refuse("NO_SPACE", sentence(text), blocker=dest.id)
        # small loose things may share a place: they are thrown in one on the other and come apart by themselves
        x, y, z = spot.pose[:3]
        out[thing] = Spot((x, y, z + 0.03 * len(out), *spot.pose[3:]), spot.parent, spot.owner)
    return out


def soak(scope: Scope) -> Plan:
    """The held thing into the water of a vessel, and out again."""
    held = scope.held_argument()
    vessel = scope.thing("vessel")
    scope.need_affordance(held, "soak", f"soak {scope.the(held.id)}")
    if not {"liquid_container", "sink"} & set(vessel.affordances) or vessel.id == held.id:
        raise scope.no_affordance(vessel.id, f"soak anything in {scope.the(vessel.id)}")
    if scope.state.attr(vessel.id, "open") is False or scope.state.attr(vessel.id, "sealed") is True:
        raise refuse("CLOSED", sentence(f"{scope.the(vessel.id)} is closed."), blocker=vessel.id)
    if amounts(scope.state, vessel.id).get("water", 0.0) <= _TRACE_L:
        raise refuse("EMPTY", f"There is no water in {scope.the(vessel.id)}.", blocker=vessel.id)
    script = scope.script()

    def effect(run: Run) -> None:
        run.set(held.id, "soaked", True)
        run.set(held.id, "wet", True)
        run.happened("soak", obj=held.id, dest=vessel.id)

    scope.use(script, vessel.id, _above(scope, vessel, held), hold_s=_SOAK_S, end=(effect,))
    return Plan(steps=tuple(script.steps), obj=held.id, dest=vessel.id)
