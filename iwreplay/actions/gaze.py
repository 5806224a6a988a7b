"""What the eyes rest on: the part of a thing that one looks at when one has walked up to it or used it."""

from __future__ import annotations

import math

from iwreplay.pose import Vec3, inverse, rotate, transform_point
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import (
    PlacedSurface,
    handle_point,
    interiors_of,
    surfaces_of,
    thing_aabb,
)
from iwreplay.world.state import WorldState

__all__ = ["NECK_RAD", "bearing", "eye_point", "middle_of"]

#: how far the head and the eyes turn by themselves to either side
NECK_RAD = math.radians(60.0)
#: tops up to this height are looked down on
_TOP_M = 1.3
#: how far in from the edge of a wide top one looks
_INSET_M = 0.3


def middle_of(state: WorldState, thing: Thing) -> Vec3:
    """Centre of a thing as it is now."""
    x0, y0, z0, x1, y1, z1 = thing_aabb(thing, state)
    return ((x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2)


def bearing(body: tuple[float, ...], point: Vec3) -> float:
    """Angle from a body's heading to a point, radians, to the left."""
    x, y, _ = rotate((body[3], -body[4], -body[5], -body[6]), (point[0] - body[0], point[1] - body[1], 0.0))
    return math.atan2(y, x)


def eye_point(state: WorldState, thing: Thing, body: tuple[float, ...]) -> Vec3:
    """What one looks at when standing with `body` before a thing: the inside of what stands open, a basin or bin,
    the top of furniture, the handle of what is closed, else its middle."""
    if not thing.fixed:
        return middle_of(state, thing)
    interiors = interiors_of(thing, state)
    openable = any(k.joint is not None for k in thing.links)
    if interiors and not any(i.closed for i in interiors) and (openable or {"sink", "bin"} & set(thing.affordances)):
        return interiors[0].box.pose[:3]
    tops = [s for s in surfaces_of(thing, state) if s.pose[2] <= _TOP_M and not _within(thing, s, state)]
    if tops:
        return _on_top(max(tops, key=lambda s: (round(s.pose[2], 3), s.name)), body)
    return handle_point(thing, state) or middle_of(state, thing)


def _within(thing: Thing, surface: PlacedSurface, state: WorldState) -> bool:
    """A shelf inside the thing."""
    for interior in interiors_of(thing, state):
        p = transform_point(inverse(interior.box.pose), surface.pose[:3])
        if all(abs(a) <= h + 0.02 for a, h in zip(p, interior.box.half, strict=True)):
            return True
    return False


def _on_top(surface: PlacedSurface, body: tuple[float, ...]) -> Vec3:
    """The point of a top nearest to the body, away from its edge; the middle of a small one."""
    x, y, _ = transform_point(inverse(surface.pose), (body[0], body[1], surface.pose[2]))
    hx, hy = (max(0.0, h - _INSET_M) for h in surface.half)
    return transform_point(surface.pose, (min(max(x, -hx), hx), min(max(y, -hy), hy), 0.0))
