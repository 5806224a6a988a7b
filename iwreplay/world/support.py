"""What a thing stands on, from geometry alone: straight down from its foot. Pure."""

from __future__ import annotations

from typing import NamedTuple

from iwreplay.pose import Vec3, inverse, transform_point
from iwreplay.scene.convex import top_at
from iwreplay.scene.geometry import Aabb, foot_of, point_in_box
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import (
    PlacedInterior,
    PlacedSurface,
    Posed,
    exists,
    interiors_of,
    solid_boxes_of,
    solids_of,
    surfaces_of,
    thing_aabb,
    thing_of,
    things_by_id,
)

__all__ = ["FLOOR", "carried", "core_point", "interior_around", "rests_on", "standing_chain", "surface_under"]

#: id of the thing that is the floor of every room
FLOOR = "floor"

#: a foot may be this far above or below what it stands on (soft contacts, tilted things)
_GAP_M = 0.008
#: feelers start this far above the foot
_FEEL_M = 0.012
_INSIDE_MARGIN_M = 0.01
_SURFACE_MARGIN_M = 0.03
_LONGEST_CHAIN = 32
#: the feeler under the middle counts for so many at the sides
_MIDDLE = 4


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


def _foot(thing: Thing, state: Posed) -> Aabb:
    boxes = solid_boxes_of(thing, state)
    return foot_of(boxes) if boxes else thing_aabb(thing, state)


def rests_on(state: Posed, thing: str) -> str:
    """Id of the thing directly under it, "" when it hangs in the air, is carried or off stage."""
    one = thing_of(state, thing)
    if not exists(state, thing) or carried(state, thing):
        return ""
    x0, y0, z0, x1, y1, _ = _foot(one, state)
    mx, my, dx, dy = (x0 + x1) / 2, (y0 + y1) / 2, 0.35 * (x1 - x0), 0.35 * (y1 - y0)
    feelers = ((mx, my), (mx - dx, my - dy), (mx + dx, my - dy), (mx - dx, my + dy), (mx + dx, my + dy))
    found: list[_Candidate] = []
    for other in state.scene.things:
        # nearly all are elsewhere
        a0, b0, c0, a1, b1, c1 = thing_aabb(other, state)
        if a0 > x1 or x0 > a1 or b0 > y1 or y0 > b1 or c0 > z0 + _GAP_M or c1 < z0 - _GAP_M:
            continue
        if other.id == thing or not exists(state, other.id):
            continue
        tops = [_top(other, state, x, y, z0) for x, y in feelers]
        hits = [t is not None for t in tops]
        if any(hits):
            score = _MIDDLE * hits[0] + sum(hits[1:])
            found.append(_Candidate(score, max(t for t in tops if t is not None), other.id))
    if not found:
        return ""
    # the most of the foot; then the higher; then a fixed order
    best = max(found, key=lambda c: (c.score, c.top))
    return min(c.thing for c in found if (c.score, c.top) == (best.score, best.top))


def _top(other: Thing, state: Posed, x: float, y: float, foot_z: float) -> float | None:
    """Height of the other thing under a point of the foot, when the foot can be standing on it there."""
    best: float | None = None
    for solid, box in zip(solids_of(other, state), solid_boxes_of(other, state), strict=True):
        # most solids of a large thing are nowhere near the foot
        if not (box[0] <= x <= box[3] and box[1] <= y <= box[4] and box[2] - _GAP_M <= foot_z <= box[5] + _GAP_M):
            continue
        z = top_at(solid, x, y, foot_z + _FEEL_M)
        if z is not None and abs(z - foot_z) <= _GAP_M and (best is None or z > best):
            best = z
    return best


def standing_chain(state: Posed, thing: str) -> tuple[str, ...]:
    """What it rests on, what that rests on, and so on down."""
    chain: list[str] = []
    at = thing
    while len(chain) < _LONGEST_CHAIN:
        at = rests_on(state, at)
        if not at or at in chain or at == thing:
            break
        chain.append(at)
    return tuple(chain)


def surface_under(state: Posed, thing: str, owner: str) -> PlacedSurface | None:
    """The named surface of `owner` that `thing` stands on, if it stands on one."""
    x0, y0, z0, x1, y1, _ = _foot(thing_of(state, thing), state)
    best: tuple[float, PlacedSurface] | None = None
    for surface in surfaces_of(thing_of(state, owner), state):
        x, y, z = transform_point(inverse(surface.pose), ((x0 + x1) / 2, (y0 + y1) / 2, z0))
        inside = abs(x) <= surface.half[0] + _SURFACE_MARGIN_M and abs(y) <= surface.half[1] + _SURFACE_MARGIN_M
        if inside and abs(z) <= 0.02 and (best is None or abs(z) < best[0]):
            best = (abs(z), surface)
    return None if best is None else best[1]


def interior_around(state: Posed, thing: str, owner: str | None = None) -> PlacedInterior | None:
    """The smallest interior (of `owner`, or of anything) that the thing's core is in."""
    point = core_point(thing_of(state, thing), state)
    owners = [thing_of(state, owner)] if owner is not None else list(things_by_id(state.scene).values())
    best: tuple[float, PlacedInterior] | None = None
    for one in owners:
        if one.id == thing or "container" not in one.affordances or not exists(state, one.id):
            continue
        for interior in interiors_of(one, state):
            h = interior.box.half
            volume = h[0] * h[1] * h[2]
            if point_in_box(point, interior.box, margin_m=_INSIDE_MARGIN_M) and (best is None or volume < best[0]):
                best = (volume, interior)
    return None if best is None else best[1]
