"""Phones ring until they are answered or `ring_s` (30 s) have passed."""

from __future__ import annotations

from iwreplay.processes.world import ProcessWorld, number_of
from iwreplay.world.geometry import exists

__all__ = ["tick_ringing"]

_RING_S = 30.0


def tick_ringing(world: ProcessWorld) -> None:
    """Stops the phones that have rung long enough."""
    for thing in world.state.scene.things:
        if "phone" not in thing.affordances or not exists(world.state, thing.id):
            continue
        if world.state.attrs[thing.id].get("ringing") is not True:
            continue
        if world.now_s - world.clock.since_s(thing.id, "ringing") >= number_of(thing, "ring_s", _RING_S):
            world.change(thing.id, "ringing", False, cause="process:ringing")
            world.happened("ring_stopped", obj=thing.id, detail={"answered": False})
