"""Taps, sinks and vessels: where water comes from, how much a vessel holds, and vessels that fill under a tap.

Properties: `capacity_l` (of a vessel), `flow_lps` (of a tap, litres a second), `sink` (of a tap: the sink it serves).
"""

from __future__ import annotations

import math

from iwreplay.processes.support import parent_of
from iwreplay.processes.world import TICK_S, ProcessWorld, number_of
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import exists, thing_of
from iwreplay.world.state import WorldState

__all__ = [
    "FLOW_LPS",
    "amounts",
    "capacity_l",
    "room_l",
    "sink_of",
    "takes_water",
    "tap_of",
    "tick_filling",
    "total_l",
    "with_more",
]

#: litres a second of a tap that says nothing else
FLOW_LPS = 0.1
_CAPACITY_L = 0.5
_EMPTY_L = 1e-6
#: a tap without a named sink serves the nearest one within this distance
_TAP_TO_SINK_M = 1.0


def amounts(state: WorldState, thing: str) -> dict[str, float]:
    """Liquid -> litres of a vessel; traces count as nothing."""
    contains = state.attrs[thing].get("contains")
    if not isinstance(contains, dict):
        return {}
    return {k: float(contains[k]) for k in sorted(contains) if contains[k] > _EMPTY_L}


def total_l(state: WorldState, thing: str) -> float:
    """Litres of everything in a vessel."""
    return math.fsum(amounts(state, thing).values())


def capacity_l(thing: Thing) -> float:
    """Litres that a vessel holds."""
    return number_of(thing, "capacity_l", _CAPACITY_L)


def room_l(state: WorldState, thing: str) -> float:
    """Litres that still fit."""
    return max(0.0, capacity_l(thing_of(state, thing)) - total_l(state, thing))


def with_more(have: dict[str, float], liquid: str, litres: float) -> dict[str, float]:
    """`have` with more of one liquid, keys sorted, microlitres rounded away."""
    new = dict(have)
    new[liquid] = round(new.get(liquid, 0.0) + litres, 6)
    return {k: new[k] for k in sorted(new) if new[k] > _EMPTY_L}


def takes_water(state: WorldState, thing: str) -> bool:
    """An open vessel with room."""
    owner = thing_of(state, thing)
    attrs = state.attrs[thing]
    if "liquid_container" not in owner.affordances or attrs.get("sealed") is True or attrs.get("open") is False:
        return False
    return room_l(state, thing) > _EMPTY_L


def sink_of(state: WorldState, tap: str) -> str:
    """The sink that a tap runs into: itself, the one that it names, or the nearest within a metre; "" for none."""
    owner = thing_of(state, tap)
    if "sink" in owner.affordances:
        return tap
    named = owner.props.get("sink")
    if isinstance(named, str) and named in state.poses:
        return named
    near = [
        (math.dist(state.poses[t.id][:2], state.poses[tap][:2]), t.id)
        for t in state.scene.things
        if "sink" in t.affordances and exists(state, t.id)
    ]
    found = min(near, default=(math.inf, ""))
    return found[1] if found[0] <= _TAP_TO_SINK_M else ""


def tap_of(state: WorldState, sink: str) -> str:
    """A tap that runs into the sink, one that is on first; "" for none."""
    taps = [
        (state.attrs[t.id].get("on") is not True, t.id)
        for t in state.scene.things
        if "water_source" in t.affordances and exists(state, t.id) and sink_of(state, t.id) == sink
    ]
    return min(taps, default=(True, ""))[1]


def tick_filling(world: ProcessWorld) -> None:
    """Open vessels in the sink of a running tap fill; they share its flow."""
    state = world.state
    for tap in state.scene.things:
        if "water_source" not in tap.affordances or state.attrs[tap.id].get("on") is not True:
            continue
        sink = sink_of(state, tap.id)
        under = [
            t.id
            for t in state.scene.things
            if exists(state, t.id) and parent_of(state, t.id).thing == sink != "" and takes_water(state, t.id)
        ]
        for vessel in under:
            litres = min(room_l(state, vessel), number_of(tap, "flow_lps", FLOW_LPS) * TICK_S / len(under))
            filled = with_more(amounts(state, vessel), "water", litres)
            world.change(vessel, "contains", dict(filled), cause="process:filling")
