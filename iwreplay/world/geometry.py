"""Where everything of a world state is: links, solids, surfaces, interiors, faces, handles. Pure.

"Owner.part" keys name surfaces and interiors: "counter_1.top", "fridge_1.main".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from iwreplay.errors import UnknownNameError
from iwreplay.pose import Pose, Vec3, compose, transform_point
from iwreplay.scene.geometry import Aabb, Box, Solid
from iwreplay.scene.lettering import face_pose
from iwreplay.scene.model import CompiledScene, Face, Thing
from iwreplay.vocabulary import AttrValue
from iwreplay.world.placed import Placed, PlacedSurface, Posed, places_of

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
    "loose_box_of",
    "region_of",
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


def things_by_id(scene: CompiledScene) -> Mapping[str, Thing]:
    """id -> thing."""
    return places_of(scene).things


def thing_of(state: Posed, thing: str) -> Thing:
    """The thing with that id; UnknownNameError when the scene has none."""
    found = places_of(state.scene).things.get(thing)
    if found is None:
        raise UnknownNameError("thing", thing, hint=f"Scene {state.scene.id} has {len(state.scene.things)} things.")
    return found


def exists(state: Posed, thing: str) -> bool:
    """False while it is off stage."""
    return state.attrs[thing].get("exists") is not False


def link_poses(thing: Thing, state: Posed) -> tuple[Pose, ...]:
    """world_from_link of every link."""
    return _placed(thing, state).links


def link_pose(thing: Thing, link: int, state: Posed) -> Pose:
    """world_from_link of link number `link`."""
    return link_poses(thing, state)[link]


def _placed(thing: Thing, state: Posed) -> Placed:
    return places_of(state.scene).placed(thing, state)


def solids_of(thing: Thing, state: Posed) -> tuple[Solid, ...]:
    """Its collision solids in the world."""
    return _placed(thing, state).solids


def solid_boxes_of(thing: Thing, state: Posed) -> tuple[Aabb, ...]:
    """Axis-aligned bounds of each of its `solids_of`, in the same order."""
    return _placed(thing, state).boxes


def thing_box(thing: Thing, state: Posed) -> Box:
    """The oriented box around the thing with its joints closed."""
    return _placed(thing, state).box


def thing_aabb(thing: Thing, state: Posed) -> Aabb:
    """Axis-aligned bounds of its collision solids as they are now (of its box when it has none)."""
    return _placed(thing, state).aabb


def region_of(thing: Thing, state: Posed) -> Aabb:
    """Axis-aligned bounds of its collision solids and its interiors as they are now."""
    return _placed(thing, state).region


def loose_box_of(thing: Thing, state: Posed) -> Aabb:
    """A box around `region_of`, for less work."""
    return places_of(state.scene).loose_box(thing, state)


def surfaces_of(thing: Thing, state: Posed) -> tuple[PlacedSurface, ...]:
    """All its surfaces in the world."""
    return _placed(thing, state).surfaces


def interiors_of(thing: Thing, state: Posed) -> tuple[PlacedInterior, ...]:
    """All its interiors in the world."""
    boxes = _placed(thing, state).inner
    if not boxes:
        return ()
    closed = is_closed(thing, state)
    each = [i for k in thing.links for i in k.interiors]
    return tuple(
        PlacedInterior(thing.id, i.name, box, bool(i.closed_by) and closed) for i, box in zip(each, boxes, strict=True)
    )


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
        _placed_face(thing, f, pose, state.attrs[thing.id])
        for link, pose in zip(thing.links, link_poses(thing, state), strict=True)
        for f in link.faces
    )


def _placed_face(thing: Thing, f: Face, link: Pose, attrs: Mapping[str, AttrValue]) -> PlacedFace:
    return PlacedFace(thing.id, f.name, compose(link, face_pose(thing, f, attrs)), f.size)


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
