"""What a thing stands on, from geometry alone: straight down from its foot. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from iwreplay.pose import Vec3, inverse, transform_point
from iwreplay.scene.convex import top_seen
from iwreplay.scene.geometry import point_in_box
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import (
    PlacedInterior,
    PlacedSurface,
    Posed,
    exists,
    interiors_of,
    surfaces_of,
    thing_aabb,
    thing_of,
)
from iwreplay.world.placed import Placed, Places, places_of

__all__ = ["FLOOR", "below", "carried", "core_point", "interior_around", "rests_on", "standing_chain", "surface_under"]

#: id of the thing that is the floor of every room
FLOOR = "floor"

#: a foot may be this far above or below what it stands on (soft contacts, tilted things)
_GAP_M = 0.008
#: feelers start this far above the foot
_FEEL_M = 0.012
_INSIDE_MARGIN_M = 0.01
_SURFACE_MARGIN_M = 0.03
_LONGEST_CHAIN = 32
#: the feeler under the middle counts for more than all four at the sides: of a stack of plates the rim of the next but
#: one may be as high as the foot
_MIDDLE = 5


#: middle, then the corners from the least to the greatest x and y, of what a foot feels with
Feelers = tuple[tuple[float, float], ...]


class _Candidate(NamedTuple):
    score: int
    top: float
    thing: str


def carried(state: Posed, thing: str) -> bool:
    """Held in a hand or worn."""
    attrs = state.attrs[thing]
    return attrs.get("held") is True or attrs.get("worn") is True


def core_point(thing: Thing, state: Posed) -> Vec3:
    """The point that decides whether a thing is inside: its middle, at a quarter of its height."""
    x0, y0, z0, x1, y1, z1 = thing_aabb(thing, state)
    return ((x0 + x1) / 2.0, (y0 + y1) / 2.0, z0 + 0.25 * (z1 - z0))


def rests_on(state: Posed, thing: str) -> str:
    """Id of the thing directly under it, "" when it hangs in the air, is carried or off stage."""
    one = thing_of(state, thing)
    if not exists(state, thing) or carried(state, thing):
        return ""
    places: Places[tuple[_Candidate, ...]] = places_of(state.scene)
    found = places.kept(thing, state)
    if found is None:
        found = _candidates(one, places, state)
    for candidate in found:
        if exists(state, candidate.thing):
            return candidate.thing
    return ""


def _candidates(one: Thing, places: Places[tuple[_Candidate, ...]], state: Posed) -> tuple[_Candidate, ...]:
    """Everything that it could be standing on as things lie, also what is off stage, the likeliest first."""
    x0, y0, z0, x1, y1, _ = places.placed(one, state).foot
    below = (x0, y0, z0 - _GAP_M, x1, y1, z0 + _GAP_M)
    mx, my, dx, dy = (x0 + x1) / 2, (y0 + y1) / 2, 0.35 * (x1 - x0), 0.35 * (y1 - y0)
    feelers: Feelers = ((mx, my), (mx - dx, my - dy), (mx + dx, my - dy), (mx - dx, my + dy), (mx + dx, my + dy))
    found: list[_Candidate] = []
    for other in places.near(below, state):
        if other.id == one.id:
            continue
        placed = places.placed(other, state)
        a0, b0, c0, a1, b1, c1 = placed.aabb
        if a0 > x1 or x0 > a1 or b0 > y1 or y0 > b1 or c0 > z0 + _GAP_M or c1 < z0 - _GAP_M:
            continue
        tops = _tops(placed, feelers, z0)
        hits = [t is not None for t in tops]
        if any(hits):
            score = _MIDDLE * hits[0] + sum(hits[1:])
            found.append(_Candidate(score, max(t for t in tops if t is not None), other.id))
    # the most of the foot; then the higher; then a fixed order
    found.sort(key=lambda c: (-c.score, -c.top, c.thing))
    kept = tuple(found)
    places.keep(one.id, kept, where=below)
    return kept


def _tops(other: Placed, feelers: Feelers, foot_z: float) -> list[float | None]:
    """Height of the other thing under each of the points of the foot, when the foot can be standing on it there."""
    (x0, y0), (x1, y1) = feelers[1], feelers[4]
    tops: list[float | None] = [None] * len(feelers)
    for k, (a0, b0, c0, a1, b1, c1) in enumerate(other.boxes):
        # most solids of a large thing are nowhere near the foot
        if a0 > x1 or x0 > a1 or b0 > y1 or y0 > b1 or c0 - _GAP_M > foot_z or foot_z > c1 + _GAP_M:
            continue
        solid, seen = other.solids[k], other.seen(k)
        for i, (x, y) in enumerate(feelers):
            if not (a0 <= x <= a1 and b0 <= y <= b1):
                continue
            z = top_seen(solid, seen, x, y, foot_z + _FEEL_M)
            best = tops[i]
            if z is not None and abs(z - foot_z) <= _GAP_M and (best is None or z > best):
                tops[i] = z
    return tops


def standing_chain(state: Posed, thing: str) -> tuple[str, ...]:
    """What it rests on, what that rests on, and so on down."""
    return tuple(below(state, thing))


def below(state: Posed, thing: str) -> Iterator[str]:
    """`standing_chain`, worked out only as far as it is asked for."""
    chain: list[str] = []
    at = thing
    while len(chain) < _LONGEST_CHAIN:
        at = rests_on(state, at)
        if not at or at in chain or at == thing:
            return
        chain.append(at)
        yield at


def surface_under(state: Posed, thing: str, owner: str) -> PlacedSurface | None:
    """The named surface of `owner` that `thing` stands on, if it stands on one."""
    x0, y0, z0, x1, y1, _ = places_of(state.scene).placed(thing_of(state, thing), state).foot
    best: tuple[float, PlacedSurface] | None = None
    for surface in surfaces_of(thing_of(state, owner), state):
        x, y, z = transform_point(inverse(surface.pose), ((x0 + x1) / 2, (y0 + y1) / 2, z0))
        inside = abs(x) <= surface.half[0] + _SURFACE_MARGIN_M and abs(y) <= surface.half[1] + _SURFACE_MARGIN_M
        if inside and abs(z) <= 0.02 and (best is None or abs(z) < best[0]):
            best = (abs(z), surface)
    return None if best is None else best[1]


def interior_around(state: Posed, thing: str, owner: str | None = None) -> PlacedInterior | None:
    """The smallest interior (of `owner`, or of anything) that the thing's core is in. A thing is never inside what it
    carries: the box on the lower shelf of a cart is where the middle of the cart is."""
    point = core_point(thing_of(state, thing), state)
    owners = (thing_of(state, owner),) if owner is not None else places_of(state.scene).containers
    best: tuple[float, PlacedInterior] | None = None
    for one in owners:
        if one.id == thing or "container" not in one.affordances or not exists(state, one.id):
            continue
        for interior in interiors_of(one, state):
            h = interior.box.half
            volume = h[0] * h[1] * h[2]
            if not point_in_box(point, interior.box, margin_m=_INSIDE_MARGIN_M):
                continue
            if (best is None or volume < best[0]) and thing not in below(state, one.id):
                best = (volume, interior)
    return None if best is None else best[1]
