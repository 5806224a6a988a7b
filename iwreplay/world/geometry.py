"""Where everything of a world state is: links, solids, surfaces, interiors, faces, handles. Pure.

"Owner.part" keys name surfaces and interiors: "counter_1.top", "fridge_1.main".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from iwreplay.errors import UnknownNameError
from iwreplay.pose import Pose, Vec3, compose, transform_point
from iwreplay.scene.convex import solid_aabb
from iwreplay.scene.geometry import Aabb, Box, Solid, aabb_of, link_poses_at, merged, solids_at
from iwreplay.scene.model import CompiledScene, Face, Interior, Surface, Thing
from iwreplay.vocabulary import AttrValue

__all__ = [
    "PlacedFace",
    "PlacedInterior",
    "PlacedSurface",
    "Posed",
    "exists",
    "face_of",
    "faces_of",
    "grip_point",
    "handle_point",
    "interior_at",
    "interiors_of",
    "is_closed",
    "link_pose",
    "link_poses",
    "room_at",
    "solid_boxes_of",
    "solids_of",
    "surface_at",
    "surfaces_of",
    "thing_aabb",
    "thing_box",
    "thing_of",
    "things_by_id",
]


class Posed(Protocol):
    """What geometry reads of a world state."""

    scene: CompiledScene
    poses: dict[str, Pose]
    joints: dict[str, float]
    attrs: dict[str, dict[str, AttrValue]]


class PlacedSurface(NamedTuple):
    """A surface in the world: pose of its centre (z up out of it), half extents, free height above."""

    thing: str
    name: str
    pose: Pose
    half: tuple[float, float]
    clearance: float


class PlacedInterior(NamedTuple):
    """An interior in the world. `closed`: a joint of its thing shuts it now."""

    thing: str
    name: str
    box: Box
    closed: bool


class PlacedFace(NamedTuple):
    """A text face in the world: x to the reader's right, y up, +z towards the reader."""

    thing: str
    name: str
    pose: Pose
    size: tuple[float, float]


_INDEXED: list[tuple[CompiledScene, dict[str, Thing]]] = []


def things_by_id(scene: CompiledScene) -> Mapping[str, Thing]:
    """id -> thing; the last few scenes' tables are kept."""
    for known, table in _INDEXED:
        if known is scene:
            return table
    table = {t.id: t for t in scene.things}
    _INDEXED.insert(0, (scene, table))
    del _INDEXED[8:]
    return table


def thing_of(state: Posed, thing: str) -> Thing:
    """The thing with that id; UnknownNameError when the scene has none."""
    found = things_by_id(state.scene).get(thing)
    if found is None:
        raise UnknownNameError("thing", thing, hint=f"Scene {state.scene.id} has {len(state.scene.things)} things.")
    return found


def exists(state: Posed, thing: str) -> bool:
    """False while it is off stage."""
    return state.attrs[thing].get("exists") is not False


def link_poses(thing: Thing, state: Posed) -> tuple[Pose, ...]:
    """world_from_link of every link."""
    return link_poses_at(thing, state.poses[thing.id], state.joints)


def link_pose(thing: Thing, link: int, state: Posed) -> Pose:
    """world_from_link of link number `link`."""
    return link_poses(thing, state)[link]


class _Memo(NamedTuple):
    thing: Thing
    pose: Pose
    #: ("thing.joint", position)
    joints: tuple[tuple[str, float], ...]
    solids: tuple[Solid, ...]
    boxes: tuple[Aabb, ...]
    aabb: Aabb


#: where each thing was last time: most things stay where they are
_LAST: dict[str, _Memo] = {}
_MOST = 4096


def _placed(thing: Thing, state: Posed) -> _Memo:
    pose, at = state.poses[thing.id], state.joints
    memo = _LAST.get(thing.id)
    if memo is not None and memo.thing is thing and memo.pose == pose:
        for name, position in memo.joints:
            if at[name] != position:
                break
        else:
            return memo
    names = [f"{thing.id}.{k.joint.name}" for k in thing.links if k.joint is not None]
    joints = tuple((name, at[name]) for name in names)
    solids = solids_at(thing, pose, state.joints)
    boxes = tuple(solid_aabb(s) for s in solids)
    box = merged(boxes) if boxes else aabb_of(thing_box(thing, state))
    if len(_LAST) >= _MOST:
        _LAST.clear()
    memo = _LAST[thing.id] = _Memo(thing, pose, joints, solids, boxes, box)
    return memo


def solids_of(thing: Thing, state: Posed) -> tuple[Solid, ...]:
    """Its collision solids in the world."""
    return _placed(thing, state).solids


def solid_boxes_of(thing: Thing, state: Posed) -> tuple[Aabb, ...]:
    """Axis-aligned bounds of each of its `solids_of`, in the same order."""
    return _placed(thing, state).boxes


def thing_box(thing: Thing, state: Posed) -> Box:
    """The oriented box around the thing with its joints closed."""
    x, y, z = thing.bounds_pos
    return Box(compose(state.poses[thing.id], (x, y, z, 1.0, 0.0, 0.0, 0.0)), thing.bounds_half)


def thing_aabb(thing: Thing, state: Posed) -> Aabb:
    """Axis-aligned bounds of its collision solids as they are now (of its box when it has none)."""
    return _placed(thing, state).aabb


def surfaces_of(thing: Thing, state: Posed) -> tuple[PlacedSurface, ...]:
    """All its surfaces in the world."""
    return tuple(
        _placed_surface(thing, s, pose)
        for link, pose in zip(thing.links, link_poses(thing, state), strict=True)
        for s in link.surfaces
    )


def _placed_surface(thing: Thing, s: Surface, link: Pose) -> PlacedSurface:
    return PlacedSurface(thing.id, s.name, compose(link, (*s.pos, 1.0, 0.0, 0.0, 0.0)), s.half, s.clearance)


def interiors_of(thing: Thing, state: Posed) -> tuple[PlacedInterior, ...]:
    """All its interiors in the world."""
    return tuple(
        _placed_interior(thing, i, pose, state)
        for link, pose in zip(thing.links, link_poses(thing, state), strict=True)
        for i in link.interiors
    )


def _placed_interior(thing: Thing, i: Interior, link: Pose, state: Posed) -> PlacedInterior:
    box = Box(compose(link, (*i.pos, 1.0, 0.0, 0.0, 0.0)), i.half)
    return PlacedInterior(thing.id, i.name, box, bool(i.closed_by) and is_closed(thing, state))


def is_closed(thing: Thing, state: Posed) -> bool:
    """Whether its door, drawer or lid is shut as far as anyone can tell: attribute `open` is false."""
    return state.attrs[thing.id].get("open") is False


def surface_at(state: Posed, key: str) -> PlacedSurface:
    """The surface "thing.surface"; UnknownNameError when there is none."""
    owner, _, name = key.partition(".")
    thing = thing_of(state, owner)
    for s in surfaces_of(thing, state):
        if s.name == name:
            return s
    known = tuple(f"{owner}.{s.name}" for k in thing.links for s in k.surfaces)
    raise UnknownNameError("surface", key, known=known)


def interior_at(state: Posed, key: str) -> PlacedInterior:
    """The interior "thing.interior"; UnknownNameError when there is none."""
    owner, _, name = key.partition(".")
    thing = thing_of(state, owner)
    for i in interiors_of(thing, state):
        if i.name == name:
            return i
    known = tuple(f"{owner}.{i.name}" for k in thing.links for i in k.interiors)
    raise UnknownNameError("interior", key, known=known)


def faces_of(thing: Thing, state: Posed) -> tuple[PlacedFace, ...]:
    """All its text faces in the world."""
    return tuple(
        _placed_face(thing, f, pose)
        for link, pose in zip(thing.links, link_poses(thing, state), strict=True)
        for f in link.faces
    )


def _placed_face(thing: Thing, f: Face, link: Pose) -> PlacedFace:
    return PlacedFace(thing.id, f.name, compose(link, f.pose), f.size)


def face_of(state: Posed, thing: str, face: str) -> PlacedFace:
    """One face of a thing; UnknownNameError when it has none of that name."""
    owner = thing_of(state, thing)
    for f in faces_of(owner, state):
        if f.name == face:
            return f
    raise UnknownNameError("face", f"{thing}.{face}", known=tuple(f.name for k in owner.links for f in k.faces))


def grip_point(thing: Thing, state: Posed) -> Vec3:
    """Where a hand takes it, in the world."""
    return transform_point(link_poses(thing, state)[0], thing.grip)


def handle_point(thing: Thing, state: Posed, *, joint: str = "") -> Vec3 | None:
    """Where a hand moves the joint (the first when `joint` is ""), in the world; None without such a joint."""
    for link, pose in zip(thing.links, link_poses(thing, state), strict=True):
        if link.joint is not None and joint in ("", link.joint.name):
            return transform_point(pose, link.joint.handle)
    return None


def room_at(scene: CompiledScene, x: float, y: float) -> str:
    """Id of the room at a point of the floor plan, "" outside. A shared edge belongs to the room listed first."""
    for room in scene.rooms:
        x0, y0, x1, y1 = room.rect
        if x0 <= x <= x1 and y0 <= y <= y1:
            return room.id
    return ""
