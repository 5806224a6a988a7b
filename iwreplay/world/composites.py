"""Composites: furniture whose drawers, hooks and taps are things of their own, named after it."""

from __future__ import annotations

from iwreplay.scene.geometry import Aabb
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import thing_aabb
from iwreplay.world.state import WorldState

__all__ = ["members_of", "owner_of"]

#: a part of a composite is at most so far from it
_TOUCHES_M = 0.05


def members_of(state: WorldState, owner: Thing) -> tuple[Thing, ...]:
    """The things that came with a composite, in scene order: "unit_1_top" of "unit_1", at or in it."""
    box = thing_aabb(owner, state)
    return tuple(
        t
        for t in state.scene.things
        if t.id.startswith(f"{owner.id}_") and t.fixed and _touch(thing_aabb(t, state), box)
    )


def owner_of(state: WorldState, part: Thing) -> Thing | None:
    """The composite that a part came with, or None."""
    owners = (t for t in state.scene.things if part.fixed and t.fixed and part.id.startswith(f"{t.id}_"))
    box = thing_aabb(part, state)
    return next((t for t in owners if _touch(box, thing_aabb(t, state))), None)


def _touch(a: Aabb, b: Aabb) -> bool:
    return all(a[i] - _TOUCHES_M <= b[i + 3] and b[i] - _TOUCHES_M <= a[i + 3] for i in range(3))
