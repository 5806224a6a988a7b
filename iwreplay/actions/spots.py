"""Free places on surfaces and in interiors: a deterministic search, nearest to the hand first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import msgspec

from iwreplay.actions.angles import ahead_of, heading
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope, not_near
from iwreplay.motion.model import Approach, Refusal
from iwreplay.ports import Simulator
from iwreplay.pose import (
    IDENTITY,
    Pose,
    Quat,
    Vec3,
    compose,
    inverse,
    quat_about,
    quat_mul,
    rotate,
    transform_point,
    yaw_of,
)
from iwreplay.processes.support import ancestors, dependents, parent_text
from iwreplay.scene.convex import base_of, solid_aabb, solids_meet
from iwreplay.scene.geometry import merged, solids_at
from iwreplay.scene.hanging import can_hang, is_hook
from iwreplay.scene.model import Thing
from iwreplay.scene.placing import LIFT_M
from iwreplay.world.geometry import (
    PlacedInterior,
    PlacedSurface,
    interiors_of,
    surfaces_of,
    thing_box,
    thing_of,
)
from iwreplay.world.state import WorldState

__all__ = ["Extent", "Spot", "extent_of", "free_spots", "reachable_spot", "spots_in", "spots_on"]

_GRID_M = 0.03
#: things are put down with this much air around them where there is room
_AIR_M = 0.012
_SKIN_M = 0.002
#: share of half the foot that may stand over the edge on either side
_OVERHANG = 0.3
_LIFT_M = 0.003
_HAND_AHEAD_M = 0.45
_HAND_LEFT_M = -0.1
#: places to try to reach before giving up, and their least distance
_EDGE_M = 0.25
#: places farther than this from the wanted one are not looked at
_WINDOW_M = 1.5
_TRIES = 8
_APART_M = 0.18
#: cosine of the tilt beyond which nothing is stacked on a thing, and halvings of a height to the micrometre
_UPRIGHT, _HALVINGS = 0.998, 20


class Extent(msgspec.Struct, frozen=True):
    """A thing with what it carries, in its own upright frame: the box around all, and around the foot it stands on."""

    centre: Vec3
    half: Vec3
    foot_centre: Vec3
    foot_half: Vec3


class Spot(msgspec.Struct, frozen=True):
    """A place for a thing."""

    pose: Pose
    #: value of its attribute `parent` there
    parent: str
    owner: str


def extent_of(state: WorldState, thing: str) -> Extent:
    """The box around a thing and all that rests on or in it, in its own upright frame."""
    base = inverse(state.poses[thing])
    lo, hi = [math.inf] * 3, [-math.inf] * 3
    for part in (thing, *dependents(state, thing)):
        box = thing_box(thing_of(state, part), state)
        at = compose(base, box.pose)
        for sx in (-1.0, 1.0):
            for sy in (-1.0, 1.0):
                for sz in (-1.0, 1.0):
                    corner = transform_point(at, (sx * box.half[0], sy * box.half[1], sz * box.half[2]))
                    lo = [min(a, b) for a, b in zip(lo, corner, strict=True)]
                    hi = [max(a, b) for a, b in zip(hi, corner, strict=True)]
    return Extent(*_middle_and_half(tuple(lo), tuple(hi)), *_foot_of(thing_of(state, thing), state))


def _solid_extent_of(state: WorldState, thing: str) -> Extent | None:
    """The same of what can bump into something: the flaps of a carton give way. None for what has no such part."""
    base = inverse(state.poses[thing])
    solids = [
        solid
        for part in (thing, *dependents(state, thing))
        for solid in solids_at(thing_of(state, part), compose(base, state.poses[part]), state.joints)
    ]
    if not solids:
        return None
    x0, y0, z0, x1, y1, z1 = merged(solid_aabb(s) for s in solids)
    return Extent(*_middle_and_half((x0, y0, z0), (x1, y1, z1)), *_foot_of(thing_of(state, thing), state))


def _middle_and_half(lo: tuple[float, ...], hi: tuple[float, ...]) -> tuple[Vec3, Vec3]:
    return (
        ((lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, (lo[2] + hi[2]) / 2),
        ((hi[0] - lo[0]) / 2, (hi[1] - lo[1]) / 2, (hi[2] - lo[2]) / 2),
    )


def _foot_of(thing: Thing, state: WorldState) -> tuple[Vec3, Vec3]:
    """Middle and half extents of what touches the ground when the thing stands upright."""
    solids = solids_at(thing, IDENTITY, state.joints)
    if not solids:
        return thing.bounds_pos, thing.bounds_half
    x0, y0, z0, x1, y1, z1 = base_of(solids)
    return _middle_and_half((x0, y0, z0), (x1, y1, z1))


def _anchor(state: WorldState, height_m: float) -> Vec3:
    return ahead_of(state, _HAND_AHEAD_M, _HAND_LEFT_M, height_m)


def _turns(frame: Quat, facing_rad: float) -> list[Quat]:
    """Upright orientations square to a frame: the one whose front looks at the wearer best, then across it."""
    # a thing's front is its local -y, so it looks at the wearer when its yaw is the wearer's heading - 90 degrees
    wanted = facing_rad - math.pi / 2.0
    quarter = round((wanted - yaw_of(frame)) / (math.pi / 2.0))
    return [quat_mul(frame, quat_about((0.0, 0.0, 1.0), (quarter + k) * math.pi / 2.0)) for k in (0, 1)]


def _inwards(near: Vec3, half: tuple[float, float]) -> tuple[float, float]:
    """Where people put things: near the hand, but not at the edge; in the middle of anything small."""
    limits = (max(0.0, half[0] - _EDGE_M), max(0.0, half[1] - _EDGE_M))
    return (min(max(near[0], -limits[0]), limits[0]), min(max(near[1], -limits[1]), limits[1]))


def _far_corner(frame: Quat, half: tuple[float, float], facing_rad: float) -> tuple[float, float]:
    """Where a plate is filled from: its far left corner as the wearer faces it, so that more still fits."""
    ahead_left = facing_rad + math.pi / 4.0 - yaw_of(frame)
    return (math.copysign(half[0], math.cos(ahead_left)), math.copysign(half[1], math.sin(ahead_left)))


def _grid(half: tuple[float, float]) -> list[tuple[float, float]]:
    """Offsets from the centre that fill a rectangle; the centre is one of them."""
    nx, ny = int(half[0] / _GRID_M), int(half[1] / _GRID_M)
    return [(i * _GRID_M, j * _GRID_M) for i in range(-nx, nx + 1) for j in range(-ny, ny + 1)]


def _nearest_first(points: list[tuple[float, float]], to: tuple[float, float]) -> list[tuple[float, float]]:
    """The points within the window, by distance (to a micrometre, then by coordinate)."""
    ranked = [(round(math.hypot(x - to[0], y - to[1]), 6), (x, y)) for x, y in points]
    return [p for away, p in sorted(ranked) if away <= _WINDOW_M]


def _turned(frame: Quat, q: Quat, centre: Vec3, half: Vec3) -> tuple[Vec3, Vec3]:
    """(half extents, centre offset) of a box turned by q, along the axes of `frame`."""
    rel = quat_mul((frame[0], -frame[1], -frame[2], -frame[3]), q)
    axes = [rotate(rel, a) for a in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    out = tuple(sum(abs(axes[k][i]) * half[k] for k in range(3)) for i in range(3))
    return (out[0], out[1], out[2]), rotate(rel, centre)


def spots_on(
    sim: Simulator,
    state: WorldState,
    thing: str,
    extent: Extent,
    surface: PlacedSurface,
    *,
    anchor: Vec3,
    facing_rad: float,
) -> Iterator[Spot]:
    """Free places on one surface, nearest to `anchor` first; with air around them before without, and with the foot
    over the edge, as a fork lies on a plate, only where nothing else is left."""
    if 2.0 * extent.half[2] > surface.clearance:
        return
    frame: Quat = surface.pose[3:]
    near = _inwards(transform_point(inverse(surface.pose), anchor), surface.half)
    if "plate" in thing_of(state, surface.thing).affordances:
        near = _far_corner(frame, surface.half, facing_rad)
    ignore = (thing, *dependents(state, thing))
    for air, over in ((_AIR_M, 0.0), (-_SKIN_M, 0.0), (-_SKIN_M, _OVERHANG)):
        for q in _turns(frame, facing_rad):
            half, centre = _turned(frame, q, extent.centre, extent.half)
            foot, under = _turned(frame, q, extent.foot_centre, extent.foot_half)
            spare = (surface.half[0] - foot[0], surface.half[1] - foot[1])
            if min(spare[0] + over * foot[0], spare[1] + over * foot[1]) < 0.0:
                continue
            if over and min(spare) >= 0.0:
                continue
            room = (max(0.0, spare[0]), max(0.0, spare[1]))
            # x, y: where the middle of the foot goes; the rest may stick out over the edge
            for x, y in _nearest_first(_grid(room), near):
                ox, oy = x - under[0], y - under[1]
                mid = transform_point(surface.pose, (ox + centre[0], oy + centre[1], half[2] + _LIFT_M))
                box: Vec3 = (half[0] + air, half[1] + air, half[2] - _SKIN_M)
                if sim.overlap_box(_positive(box), (*mid, *frame), ignore=ignore):
                    continue
                at = transform_point(surface.pose, (ox, oy, half[2] - centre[2]))
                yield Spot((*at, *q), parent_text("on", surface.thing, surface.name), surface.thing)


def spots_in(
    sim: Simulator, state: WorldState, thing: str, extent: Extent, interior: PlacedInterior, *, facing_rad: float
) -> Iterator[Spot]:
    """Free places in one interior: on its floor, then on top of what is there, upright before lying."""
    frame: Quat = interior.box.pose[3:]
    half_in = interior.box.half
    ignore = (thing, *dependents(state, thing))
    upright = _turns(frame, facing_rad)
    on_edge = quat_about((1.0, 0.0, 0.0), math.pi / 2.0)
    lying = [quat_mul(q, on_edge) for q in upright]
    every = (*upright, *lying)
    options = [q for q in every if _fits(_turned(frame, q, extent.centre, extent.half)[0], half_in)]
    if dependents(state, thing) or "grab" not in thing_of(state, thing).affordances:
        # what carries something, or lies on the floor as debris, stays the right way up
        options = [q for q in upright if q in options]
    else:
        options.extend(
            q
            for q in every
            if q not in options and _fits(_turned(frame, q, extent.centre, extent.half)[0], half_in, tall=True)
        )
    level = 0.0
    while level < 2.0 * half_in[2]:
        for q in options:
            half, centre = _turned(frame, q, extent.centre, extent.half)
            top = level + 2.0 * half[2]
            if top > 2.0 * half_in[2] and not (level == 0.0 and half[2] < 2.0 * half_in[2]):
                continue
            for x, y in _nearest_first(_grid((half_in[0] - half[0], half_in[1] - half[1])), (0.0, 0.0)):
                z = level - half_in[2] + half[2]
                mid = transform_point(interior.box.pose, (x, y, z + _LIFT_M))
                hx, hy, hz = extent.half
                box: Vec3 = (hx - _SKIN_M, hy - _SKIN_M, hz - _SKIN_M)
                if sim.overlap_box(_positive(box), (*mid, *q), ignore=ignore):
                    continue
                at = transform_point(interior.box.pose, (x - centre[0], y - centre[1], z - centre[2]))
                yield Spot((*at, *q), parent_text("in", interior.thing, interior.name), interior.thing)
        level = round(level + _GRID_M, 6)


def _fits(half: Vec3, room: Vec3, *, tall: bool = False) -> bool:
    """`tall`: may stick out at the top by up to half of its height (a bottle in a basket)."""
    height = room[2] * 2.0 if tall else room[2]
    return half[0] <= room[0] and half[1] <= room[1] and half[2] <= height


def _positive(half: Vec3) -> Vec3:
    return (max(half[0], 0.001), max(half[1], 0.001), max(half[2], 0.001))


def free_spots(scope: Scope, thing: Thing, owner: Thing, *, how: str, part: str = "") -> Iterator[Spot]:
    """Free places for a thing on ("on") or in ("in") another, over all its surfaces or interiors (or just `part`);
    after those with room for all of it, those where only parts that give way meet something."""
    if how == "on" and part == "":
        yield from _stacked(scope, thing, owner)
    whole, solid = extent_of(scope.state, thing.id), _solid_extent_of(scope.state, thing.id)
    gives_way = solid is not None and any(w - h > _SKIN_M for w, h in zip(whole.half, solid.half, strict=True))
    for extent in (whole, solid) if solid is not None and gives_way else (whole,):
        yield from _spots_for(scope, thing, owner, extent, how=how, part=part)


def _spots_for(scope: Scope, thing: Thing, owner: Thing, extent: Extent, *, how: str, part: str) -> Iterator[Spot]:
    state = scope.state
    facing = heading(state)
    if how == "in":
        for interior in interiors_of(owner, state):
            if part in ("", interior.name) and not interior.closed:
                yield from spots_in(scope.sim, state, thing.id, extent, interior, facing_rad=facing)
        return
    hangs = can_hang(thing)
    surfaces = [
        s
        for s in surfaces_of(owner, state)
        if part in ("", s.name) and (hangs or not is_hook(s.name)) and _is_level(s) and not _shut_in(owner, s, state)
    ]
    anchors = {s.name: _anchor(state, s.pose[2]) for s in surfaces}
    for surface in sorted(surfaces, key=lambda s: _away(s, anchors[s.name])):
        yield from spots_on(
            scope.sim, state, thing.id, extent, surface, anchor=anchors[surface.name], facing_rad=facing
        )


def _is_level(surface: PlacedSurface) -> bool:
    """Not a lid that stands open, nor the top of what has fallen over."""
    return rotate(surface.pose[3:], (0.0, 0.0, 1.0))[2] >= _UPRIGHT


def _stacked(scope: Scope, thing: Thing, owner: Thing) -> Iterator[Spot]:
    """On top of another of its kind, squarely and as deep as the two fit into each other: plates, trays, pans. What
    lies on the lower one, or leaves no room above it, keeps it free of a stack."""
    state = scope.state
    pose = state.poses[owner.id]
    if thing.cls != owner.cls or owner.fixed or owner.links[0].surfaces == ():
        return
    if rotate(pose[3:], (0.0, 0.0, 1.0))[2] < _UPRIGHT:
        return
    up = _nesting_m(thing, owner, state.joints)
    at = compose(pose, (0.0, 0.0, up, 1.0, 0.0, 0.0, 0.0))
    extent = extent_of(state, thing.id)
    box: Vec3 = tuple(h - _SKIN_M for h in extent.half)  # type: ignore[assignment]
    middle = compose(at, (*extent.centre, 1.0, 0.0, 0.0, 0.0))
    under = [p.thing for p in ancestors(state, owner.id) if p.thing and thing_of(state, p.thing).cls == owner.cls]
    ignore = (thing.id, *dependents(state, thing.id), owner.id, *under)
    if not scope.sim.overlap_box(_positive(box), (*middle[:2], middle[2] + _LIFT_M, *middle[3:]), ignore=ignore):
        yield Spot(at, parent_text("on", owner.id, owner.links[0].surfaces[0].name), owner.id)


def _nesting_m(thing: Thing, owner: Thing, joints: Mapping[str, float]) -> float:
    """How far above the other's foot its own comes to stand, upright and in line, a hair above contact."""
    lower = solids_at(owner, IDENTITY, joints)
    lo, hi = 0.0, 2.0 * (owner.bounds_half[2] + thing.bounds_half[2])
    for _ in range(_HALVINGS):
        up = (lo + hi) / 2.0
        upper = solids_at(thing, (0.0, 0.0, up, 1.0, 0.0, 0.0, 0.0), joints)
        if any(solids_meet(a, b) for a in lower for b in upper):
            lo = up
        else:
            hi = up
    return hi + LIFT_M


def _away(surface: PlacedSurface, anchor: Vec3) -> tuple[float, str]:
    """Distance from the anchor to a surface, and how far its height is from a comfortable one."""
    x, y, _ = transform_point(inverse(surface.pose), anchor)
    dx, dy = max(0.0, abs(x) - surface.half[0]), max(0.0, abs(y) - surface.half[1])
    return (round(math.hypot(dx, dy) + abs(surface.pose[2] - 0.95), 3), surface.name)


def _shut_in(owner: Thing, surface: PlacedSurface, state: WorldState) -> bool:
    """A shelf behind a closed door of the same thing; the lid over it is not."""
    for interior in interiors_of(owner, state):
        if interior.closed:
            p = transform_point(inverse(interior.box.pose), surface.pose[:3])
            if p[2] < interior.box.half[2] and all(
                abs(a) <= h + 0.02 for a, h in zip(p, interior.box.half, strict=True)
            ):
                return True
    return False


def reachable_spot(
    scope: Scope, thing: Thing, spots: Iterator[Spot], *, owner: str, none: str
) -> tuple[Spot, Approach]:
    """The first place that the hand reaches. Raises RefusedError: NO_SPACE with the sentence `none`, or why the hand
    doesn't get there."""
    tried: list[Vec3] = []
    first: Refusal | None = None
    for spot in spots:
        point = transform_point(spot.pose, thing.grip)
        if any(math.dist(point, p) < _APART_M for p in tried):
            continue
        tried.append(point)
        found = scope.planner.approach(scope.state, owner, point, max_walk_m=scope.walk_m(owner))
        if not isinstance(found, Refusal):
            return spot, found
        first = first or found
        if len(tried) >= _TRIES:
            break
    if first is not None:
        raise RefusedError(not_near(first))
    raise refuse("NO_SPACE", none, blocker=owner)
