"""Relations between things, derived from poses and geometry. Pure and versioned: a log holds facts, and anyone can
derive these again. `parent`, which the semantic layer believes, is never read.

- ontop(a, b): a rests on b; things that are no places themselves (a slice of bread, a towel) may lie between.
  What is inside b is not on top of it, unless b names the surface ("cabinet_1.shelf").
- inside(a, b): the core of a (its middle, at a quarter of its height) is in an interior of b.
- attached(a, b): a is held or worn by the wearer, or plugged into b.
- under(a, b): a is below b's highest place, within its outline, neither on nor in it.
- left_of, right_of, in_front_of, behind (a, b): in the frame of b as one sees it facing its front; within 45 degrees
  of that direction, at most 3 m away.
- near(a, b): at most 0.6 m between them (0.9 m from the wearer's feet).
- in_room(a, r), touching(a, b).

Things off stage are in no relation; what is held or worn is neither on, in nor under anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from iwreplay.errors import UnknownNameError
from iwreplay.pose import inverse, transform_point
from iwreplay.scene.convex import solids_meet
from iwreplay.scene.geometry import Aabb, aabbs_overlap
from iwreplay.vocabulary import RELATIONS, WEARER
from iwreplay.world.geometry import exists, room_at, solids_of, thing_aabb, thing_of
from iwreplay.world.state import WorldState
from iwreplay.world.support import (
    FLOOR,
    below,
    carried,
    interior_around,
    rests_on,
    standing_chain,
    surface_under,
)

__all__ = ["NEAR_M", "RELATIONS_VERSION", "holds", "stands_on", "support_of"]

#: raised whenever any relation may come out differently
RELATIONS_VERSION = 2
#: between two things
NEAR_M = 0.6
#: from the wearer's feet
NEAR_WEARER_M = 0.9
_DIRECTION_REACH_M = 3.0
_DIRECTION_MIN_M = 0.02
_TOUCH_M = 0.003
_UNDER_M = 0.002
#: of the wearer, for nearness
_BODY_HEIGHT_M = 1.7


def holds(state: WorldState, relation: str, a: str, b: str) -> bool:
    """Whether the relation holds. `a` is a thing or "wearer"; `b` also "thing.surface", "thing.interior" or a room.

    UnknownNameError for a relation, thing or room that is not there."""
    decide = _DECIDE.get(relation)
    if decide is None:
        raise UnknownNameError("relation", relation, known=RELATIONS)
    for name in (a, *((b.partition(".")[0],) if relation != "in_room" else ())):
        if name != WEARER and not exists(state, thing_of(state, name).id):
            return False
    return decide(state, a, b)


def support_of(state: WorldState, thing: str) -> tuple[str, str, str] | None:
    """("on", thing, surface) or ("in", thing, interior) for what rests on or in another thing; None on the floor,
    in the air, in the hand or off stage. A top without a name of its own is called "top"."""
    thing_of(state, thing)
    if not exists(state, thing) or carried(state, thing):
        return None
    owner = rests_on(state, thing)
    around = interior_around(state, thing)
    if owner in ("", FLOOR):
        return None if around is None else ("in", around.thing, around.name)
    own = interior_around(state, thing, owner)
    if own is not None:
        return ("in", owner, own.name)
    if around is not None and not _is_place(state, owner):
        both = interior_around(state, owner, around.thing)
        if both is not None:
            return ("in", around.thing, around.name)
    surface = surface_under(state, thing, owner)
    return ("on", owner, surface.name if surface is not None else "top")


def stands_on(state: WorldState, a: str, b: str) -> bool:
    """Whether `b` is anywhere in the chain of what `a` rests on."""
    return b in below(state, a)


def _is_place(state: WorldState, thing: str) -> bool:
    """Made to carry other things."""
    kinds = thing_of(state, thing).affordances
    return any(k in kinds for k in ("surface", "plate", "container"))


def _ontop(state: WorldState, a: str, b: str) -> bool:
    if WEARER in (a, b):
        return a == WEARER and state.attrs[WEARER].get("sitting") == b
    owner, _, part = b.partition(".")
    at = a
    for under in below(state, a):
        if under == owner:
            if part:
                surface = surface_under(state, at, owner)
                return surface is not None and surface.name == part
            return interior_around(state, a, owner) is None
        if _is_place(state, under):
            return False
        at = under
    return False


def _inside(state: WorldState, a: str, b: str) -> bool:
    if WEARER in (a, b) or carried(state, a):
        return False
    owner, _, part = b.partition(".")
    around = interior_around(state, a, owner)
    if around is None or (part and around.name != part):
        return False
    # what lies on a carried tray goes through cabinets without being put inside
    chain = standing_chain(state, a)
    borne = next((i for i, t in enumerate(chain) if carried(state, t)), None)
    return borne is None or owner in chain[: borne + 1]


def _attached(state: WorldState, a: str, b: str) -> bool:
    if a == WEARER:
        return b != WEARER and carried(state, b)
    if b == WEARER:
        return carried(state, a)
    return state.attrs[a].get("plugged") == b


def _under(state: WorldState, a: str, b: str) -> bool:
    if WEARER in (a, b) or a == b or carried(state, a) or carried(state, b) or b == FLOOR:
        return False
    low, high = thing_aabb(thing_of(state, a), state), thing_aabb(thing_of(state, b), state)
    mx, my = (low[0] + low[3]) / 2, (low[1] + low[4]) / 2
    covered = high[0] <= mx <= high[3] and high[1] <= my <= high[4] and low[2] < high[5]
    lower = low[5] <= high[5] - _UNDER_M and (low[2] + low[5]) < (high[2] + high[5])
    return covered and lower and interior_around(state, a, b) is None and not stands_on(state, a, b)


def _direction(dx: float, dy: float) -> Callable[[WorldState, str, str], bool]:
    def decide(state: WorldState, a: str, b: str) -> bool:
        if WEARER in (a, b):
            return False
        box = thing_aabb(thing_of(state, a), state)
        middle = ((box[0] + box[3]) / 2, (box[1] + box[4]) / 2, (box[2] + box[5]) / 2)
        x, y, _ = transform_point(inverse(state.poses[b]), middle)
        along, across = x * dx + y * dy, abs(x * dy) + abs(y * dx)
        return along >= _DIRECTION_MIN_M and across <= along <= _DIRECTION_REACH_M

    return decide


def _near(state: WorldState, a: str, b: str) -> bool:
    if a == b:
        return False
    limit = NEAR_WEARER_M if WEARER in (a, b) else NEAR_M
    p, q = _box(state, a), _box(state, b)
    gaps = [max(0.0, p[i] - q[i + 3], q[i] - p[i + 3]) for i in range(3)]
    return math.sqrt(gaps[0] * gaps[0] + gaps[1] * gaps[1] + gaps[2] * gaps[2]) <= limit


def _box(state: WorldState, name: str) -> Aabb:
    if name == WEARER:
        x, y = state.body[0], state.body[1]
        return (x, y, 0.0, x, y, _BODY_HEIGHT_M)
    return thing_aabb(thing_of(state, name), state)


def _in_room(state: WorldState, a: str, b: str) -> bool:
    if all(r.id != b for r in state.scene.rooms):
        raise UnknownNameError("room", b, known=tuple(r.id for r in state.scene.rooms))
    box = _box(state, a)
    return room_at(state.scene, (box[0] + box[3]) / 2, (box[1] + box[4]) / 2) == b


def _touching(state: WorldState, a: str, b: str) -> bool:
    if WEARER in (a, b):
        return _attached(state, a, b)
    one, other = thing_of(state, a), thing_of(state, b)
    if a == b or not aabbs_overlap(thing_aabb(one, state), thing_aabb(other, state), margin_m=_TOUCH_M):
        return False
    return any(solids_meet(s, t, within_m=_TOUCH_M) for s in solids_of(one, state) for t in solids_of(other, state))


_DECIDE: dict[str, Callable[[WorldState, str, str], bool]] = {
    "ontop": _ontop,
    "inside": _inside,
    "attached": _attached,
    "under": _under,
    "left_of": _direction(-1.0, 0.0),
    "right_of": _direction(1.0, 0.0),
    "behind": _direction(0.0, 1.0),
    "in_front_of": _direction(0.0, -1.0),
    "near": _near,
    "in_room": _in_room,
    "touching": _touching,
}
