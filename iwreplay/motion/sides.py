"""On which side of the walls something is: the rooms from which it is used."""

from __future__ import annotations

from iwreplay.motion.touching import Aim
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import room_at, thing_box, thing_of
from iwreplay.world.state import WorldState

__all__ = ["rooms_beside", "rooms_of"]

#: nearer than this to the edge of a room is in its wall: a door, a window, a hatch. What hangs on a wall is farther in
_IN_WALL_M = 0.045


def rooms_of(state: WorldState, aim: Aim) -> frozenset[str]:
    """Ids of the rooms from which a reach goes: the one that its point is in, both beside an opening of the wall. ()
    when no wall says anything."""
    thing = thing_of(state, aim.target)
    if thing.fixed and _in_wall(state, thing):
        return rooms_beside(state, thing)
    return _rooms_at(state, *aim.point[:2])


def rooms_beside(state: WorldState, thing: Thing) -> frozenset[str]:
    """Ids of the rooms that a thing is in: two for what stands in the opening of a wall, () for none."""
    if _in_wall(state, thing):
        return _rooms_at(state, *state.poses[thing.id][:2])
    return _rooms_at(state, *thing_box(thing, state).pose[:2])


def _in_wall(state: WorldState, thing: Thing) -> bool:
    return len(_all_at(state, *state.poses[thing.id][:2])) > 1


def _rooms_at(state: WorldState, x: float, y: float) -> frozenset[str]:
    return _all_at(state, x, y) - {""}


def _all_at(state: WorldState, x: float, y: float) -> frozenset[str]:
    """Rooms within the thickness of a wall; "" for outside of all."""
    m = _IN_WALL_M
    return frozenset(room_at(state.scene, x + dx, y + dy) for dx in (-m, 0.0, m) for dy in (-m, 0.0, m))
