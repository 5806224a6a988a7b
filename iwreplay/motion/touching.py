"""What a hand that goes for something may touch on its way, and in which place it finds it."""

from __future__ import annotations

from typing import NamedTuple

from iwreplay.pose import Vec3, inverse, transform_point
from iwreplay.scene.geometry import point_in_box
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.composites import members_of, owner_of
from iwreplay.world.geometry import handle_point, interiors_of, surfaces_of, thing_of, things_by_id
from iwreplay.world.state import WorldState
from iwreplay.world.support import FLOOR

__all__ = ["Aim", "aim_at", "carried_with", "held_thing", "supports", "the", "worn_things"]

_HANDLE_NEAR_M = 0.06
#: what is thinner, a hand goes over without minding it
_FLAT_M = 0.02
#: how far above a surface something still counts as being on it
_ABOVE_M = 0.6


class Aim(NamedTuple):
    """The target of a reach."""

    target: str
    point: Vec3
    #: ids that never block: the target, what is in the hand, what moves with either
    ignore: tuple[str, ...]
    #: fixed thing in or on which the point lies, or of which the handle is a part; or ""
    place: str
    #: the place with all that belongs to it, what that stands on, what lies in the same bowl or basket, and flat things
    #: in the same place: they block, but a touch at the end of the way does not
    around: tuple[str, ...]
    #: horizontal direction out of the front of `place` when the point is inside it, else None
    out: tuple[float, float] | None
    #: the point is a handle of the target, so that the target is about to swing or slide
    handle: bool


def the(state: WorldState, thing: str) -> str:
    """ "the kettle": the plainest way to call a thing."""
    return f"the {thing_of(state, thing).name}"


def held_thing(state: WorldState) -> str:
    """Id of what the right hand holds, or ""."""
    held = state.attrs[WEARER].get("held")
    return held if isinstance(held, str) else ""


def worn_things(state: WorldState) -> tuple[str, ...]:
    """Ids of what the wearer has on, in scene order: it goes where the body goes, and gives way."""
    return tuple(t.id for t in state.scene.things if state.attrs[t.id].get("worn") is True)


def supports(state: WorldState, thing: str) -> tuple[tuple[str, str], ...]:
    """("on" or "in", thing) of what carries a thing, what carries that, and so on outwards."""
    out: list[tuple[str, str]] = []
    at = thing
    while len(out) < 32:
        text = state.attrs[at].get("parent")
        how, _, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
        at = rest.partition(".")[0]
        if not at or at not in state.attrs or at == WEARER:
            break
        out.append((how, at))
    return tuple(out)


def carried_with(state: WorldState, thing: str) -> tuple[str, ...]:
    """Ids of what rests on or in a thing, directly or not, in scene order."""
    return tuple(t.id for t in state.scene.things if not t.fixed and any(s == thing for _, s in supports(state, t.id)))


def aim_at(state: WorldState, target: str, point: Vec3) -> Aim:
    """Works out what may be touched when the hand goes to `point` (world) for `target`."""
    thing = thing_of(state, target)
    held = held_thing(state)
    handle = _is_handle(thing, state, point)
    place = ""
    beside: list[str] = []
    ignore = {target, *carried_with(state, target)} if not thing.fixed else set()
    if held:
        ignore |= {held, *carried_with(state, held)}
    ignore.update(worn_things(state))
    if thing.fixed:
        if not handle and _holds(thing, state, point):
            place = target
        else:
            ignore.add(target)
            whole = owner_of(state, thing) if handle else None
            place = whole.id if whole is not None else ""
    else:
        for _, owner in supports(state, target):
            if thing_of(state, owner).fixed:
                place = owner
                break
            ignore.add(owner)
            beside.extend(carried_with(state, owner))
        else:
            place = FLOOR if FLOOR in state.poses else ""
    if place:
        # a mat is thinner than a finger: what it lies on is touched with it, and so are the coins beside a coin
        for _, owner in supports(state, place):
            beside.extend(_composite(state, owner))
        beside.extend(i for i in carried_with(state, place) if _is_flat(things_by_id(state.scene)[i]))
    return Aim(
        target=target,
        point=point,
        ignore=tuple(sorted(ignore)),
        place=place,
        around=(*(_composite(state, place) if place else ()), *beside),
        out=_front(things_by_id(state.scene)[place], state, point) if place else None,
        handle=handle,
    )


def _is_flat(thing: Thing) -> bool:
    return 2.0 * min(thing.bounds_half) <= _FLAT_M


def _composite(state: WorldState, place: str) -> tuple[str, ...]:
    """The place, and what it is a part of with all other parts: the slots of pigeonholes share their boards."""
    thing = thing_of(state, place)
    whole = owner_of(state, thing) or thing
    return tuple(dict.fromkeys((place, whole.id, *(t.id for t in members_of(state, whole)))))


def _is_handle(thing: Thing, state: WorldState, point: Vec3) -> bool:
    for link in thing.links:
        if link.joint is not None:
            at = handle_point(thing, state, joint=link.joint.name)
            if at is not None and all(abs(at[i] - point[i]) <= _HANDLE_NEAR_M for i in range(3)):
                return True
    return False


def _holds(thing: Thing, state: WorldState, point: Vec3) -> bool:
    """Whether the point is inside one of the thing's interiors or above one of its surfaces."""
    if any(point_in_box(point, i.box, margin_m=0.02) for i in interiors_of(thing, state)):
        return True
    for s in surfaces_of(thing, state):
        x, y, z = transform_point(inverse(s.pose), point)
        if abs(x) <= s.half[0] and abs(y) <= s.half[1] and -0.02 <= z <= min(s.clearance, _ABOVE_M):
            return True
    return False


def _front(thing: Thing, state: WorldState, point: Vec3) -> tuple[float, float] | None:
    if not any(point_in_box(point, i.box, margin_m=0.02) for i in interiors_of(thing, state)):
        return None
    pose = state.poses[thing.id]
    x, y, _ = transform_point((0.0, 0.0, 0.0, *pose[3:]), (0.0, -1.0, 0.0))
    return (x, y)
