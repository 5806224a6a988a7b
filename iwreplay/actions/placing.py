"""Putting the held thing on a surface, inside a container, or in the bin."""

from __future__ import annotations

import math
from collections.abc import Callable

from iwreplay.actions.grip import puts_down
from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run
from iwreplay.actions.refusal import refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.actions.spots import Spot, free_spots, reachable_spot
from iwreplay.motion.model import Approach
from iwreplay.processes.support import ancestors
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import interiors_of, thing_of
from iwreplay.world.relations import holds, support_of

__all__ = ["discard", "need_open", "put_inside", "put_on", "rests_there"]

_DROP_IN_S = 0.8
#: half the room that a sitting wearer takes
_HIPS_M = 0.22


def put_on(scope: Scope) -> Plan:
    """On a free spot of a surface, the nearest to the hand."""
    thing = scope.held_argument()
    dest = scope.entity("surface")
    owner = _other(scope, thing, thing_of(scope.state, dest.id))
    if not any(link.surfaces for link in owner.links):
        hint = "; it goes inside" if interiors_of(owner, scope.state) else ""
        raise scope.no_affordance(owner.id, f"put anything on {scope.the(owner.id)}{hint}")
    scope.need_uncovered(owner.id)
    if _all_shut(scope, owner):
        raise refuse("CLOSED", sentence(f"{scope.the(owner.id)} is closed."), blocker=owner.id)
    none = f"There is no free space on {scope.the(owner.id)} for {scope.the(thing.id)}."
    spots = (s for s in free_spots(scope, thing, owner, how="on", part=dest.part) if not _sat_on(scope, thing, s))
    return _place(
        scope, thing, *reachable_spot(scope, thing, spots, owner=owner.id, none=sentence(none)), settle_s=SETTLE_S
    )


def _sat_on(scope: Scope, thing: Thing, spot: Spot) -> bool:
    """Whether the wearer sits where the thing would come to stand."""
    if spot.owner != scope.seat:
        return False
    room = _HIPS_M + max(thing.bounds_half[0], thing.bounds_half[1])
    return math.dist(spot.pose[:2], scope.state.body[:2]) < room


def put_inside(scope: Scope) -> Plan:
    """Into an open container, on its floor or on top of what is in it."""
    thing = scope.held_argument()
    dest = scope.entity("container")
    owner = _other(scope, thing, thing_of(scope.state, dest.id))
    return _inside(scope, thing, owner, part=dest.part)


def discard(scope: Scope) -> Plan:
    """Into the bin, for good."""
    thing = scope.held_argument()
    owner = _other(scope, thing, scope.thing("bin"))
    scope.need_affordance(owner, "bin", f"throw anything away in {scope.the(owner.id)}; it is not a bin")
    return _inside(scope, thing, owner, extra=(_discarded(thing.id, owner.id),))


def _discarded(thing: str, bin_id: str) -> Effect:
    def effect(run: Run) -> None:
        run.set(thing, "discarded", True)
        run.happened("discard", obj=thing, dest=bin_id)

    return effect


def _other(scope: Scope, thing: Thing, owner: Thing) -> Thing:
    """The destination is neither the thing itself nor on it."""
    if owner.id == thing.id or any(p.thing == thing.id for p in ancestors(scope.state, owner.id)):
        raise scope.no_affordance(owner.id, f"put {scope.the(thing.id)} there; I am holding it")
    return owner


def _all_shut(scope: Scope, owner: Thing) -> bool:
    """Every surface is behind its own closed door: a closed cabinet whose only surfaces are its shelves."""
    if scope.state.attr(owner.id, "open") is not False:
        return False
    shelves = {s.name for k in owner.links for s in k.surfaces}
    shut = {i.name for k in owner.links for i in k.interiors if i.closed_by}
    return bool(shelves) and shelves <= shut


def need_open(scope: Scope, owner: Thing) -> None:
    """Raises RefusedError with CLOSED when the container is shut (or within something shut)."""
    scope.need_uncovered(owner.id)
    if scope.state.attr(owner.id, "open") is False:
        locked = ", and locked" if scope.state.attr(owner.id, "locked") is True else ""
        raise refuse("CLOSED", sentence(f"{scope.the(owner.id)} is closed{locked}."), blocker=owner.id)


def _inside(scope: Scope, thing: Thing, owner: Thing, *, part: str = "", extra: tuple[Effect, ...] = ()) -> Plan:
    if not interiors_of(owner, scope.state):
        hint = "; it goes on top" if any(link.surfaces for link in owner.links) else ""
        raise scope.no_affordance(owner.id, f"put anything inside {scope.the(owner.id)}{hint}")
    need_open(scope, owner)
    none = f"{scope.the(thing.id)} does not fit in {scope.the(owner.id)}."
    spots = free_spots(scope, thing, owner, how="in", part=part)
    found = reachable_spot(scope, thing, spots, owner=owner.id, none=sentence(none))
    return _place(scope, thing, *found, settle_s=_DROP_IN_S, extra=extra)


def _place(
    scope: Scope, thing: Thing, spot: Spot, approach: Approach, *, settle_s: float, extra: tuple[Effect, ...] = ()
) -> Plan:
    script = scope.script()
    script.go_and_reach(approach, end=(puts_down(thing.id, spot.pose, spot.parent), *extra))
    script.retract(holding=False)
    script.hold(settle_s)
    return Plan(
        steps=tuple(script.steps), obj=thing.id, dest=spot.owner, verify=rests_there(scope, thing.id, spot.parent)
    )


def rests_there(scope: Scope, thing: str, parent: str) -> Callable[[Run], str]:
    """A check for afterwards: by the poses, the thing is on or in what `parent` says."""
    how, _, place = parent.partition(":")
    owner = place.partition(".")[0]

    def verify(run: Run) -> str:
        support = support_of(run.state, thing)
        if support is not None and support[:2] == (how, owner):
            return ""
        # a shelf inside a cabinet: on the shelf, and in the cabinet
        if how == "on" and holds(run.state, "ontop", thing, place):
            return ""
        return sentence(f"{scope.the(thing)} did not stay {how} {scope.the(owner)}.")

    return verify
