"""What is worked out of where things are, kept for as long as they stay there. Pure: it remembers and decides nothing.

`Placed` is one thing at one pose. `Places` are all things of a scene: it sees by itself what moved since it was last
asked, so that a state may be changed in any way, and answers are those of working everything out anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from iwreplay.pose import IDENTITY, Pose, Vec3, compose
from iwreplay.scene.convex import seen_from, solid_aabb
from iwreplay.scene.geometry import Aabb, Box, Solid, aabb_of, foot_of, link_poses_at, merged, solids_on
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.vocabulary import AttrValue

__all__ = ["Placed", "PlacedSurface", "Places", "Posed", "places_of"]

T = TypeVar("T")

#: a pose turns without stretching when its quaternion's squared length is this near to one
_UNIT = 1e-6
#: loose boxes are this much larger than need be, for the rounding of what is compared with them
_SLACK_M = 1e-6
#: scenes whose places are kept
_MOST_SCENES = 8


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


class Placed:
    """One thing at one pose and position of its joints."""

    __slots__ = ("_aabb", "_boxes", "_foot", "_inner", "_region", "_seen", "_solids", "_surfaces",
                 "joints", "links", "pose", "thing")  # fmt: skip

    def __init__(self, thing: Thing, pose: Pose, joints: Mapping[str, float]) -> None:
        self.thing, self.pose = thing, pose
        names = [f"{thing.id}.{k.joint.name}" for k in thing.links if k.joint is not None]
        #: ("thing.joint", position), rad or m
        self.joints = tuple((name, joints.get(name, 0.0)) for name in names)
        #: world_from_link of every link
        self.links = link_poses_at(thing, pose, joints)
        self._solids: tuple[Solid, ...] | None = None
        self._boxes: tuple[Aabb, ...] | None = None
        self._seen: list[tuple[Pose, Vec3] | None] | None = None
        self._aabb: Aabb | None = None
        self._foot: Aabb | None = None
        self._surfaces: tuple[PlacedSurface, ...] | None = None
        self._inner: tuple[Box, ...] | None = None
        self._region: Aabb | None = None

    @property
    def solids(self) -> tuple[Solid, ...]:
        """Its collision solids in the world."""
        if self._solids is None:
            self._solids = solids_on(self.thing, self.links)
        return self._solids

    @property
    def boxes(self) -> tuple[Aabb, ...]:
        """Bounds of each of `solids`."""
        if self._boxes is None:
            self._boxes = tuple(solid_aabb(s) for s in self.solids)
        return self._boxes

    def seen(self, i: int) -> tuple[Pose, Vec3]:
        """`seen_from` of the i-th of `solids`."""
        if self._seen is None:
            self._seen = [None] * len(self.solids)
        found = self._seen[i]
        if found is None:
            found = self._seen[i] = seen_from(self.solids[i])
        return found

    @property
    def box(self) -> Box:
        """The oriented box around it with its joints closed."""
        x, y, z = self.thing.bounds_pos
        return Box(compose(self.pose, (x, y, z, 1.0, 0.0, 0.0, 0.0)), self.thing.bounds_half)

    @property
    def aabb(self) -> Aabb:
        """Bounds of its solids (of `box` when it has none)."""
        if self._aabb is None:
            self._aabb = merged(self.boxes) if self.boxes else aabb_of(self.box)
        return self._aabb

    @property
    def foot(self) -> Aabb:
        """Bounds of what it stands on."""
        if self._foot is None:
            self._foot = foot_of(self.boxes) if self.boxes else self.aabb
        return self._foot

    @property
    def surfaces(self) -> tuple[PlacedSurface, ...]:
        """Its surfaces in the world."""
        if self._surfaces is None:
            self._surfaces = tuple(
                PlacedSurface(self.thing.id, s.name, compose(pose, (*s.pos, 1.0, 0.0, 0.0, 0.0)), s.half, s.clearance)
                for link, pose in zip(self.thing.links, self.links, strict=True)
                for s in link.surfaces
            )
        return self._surfaces

    @property
    def inner(self) -> tuple[Box, ...]:
        """Boxes of its interiors, in the order of its links."""
        if self._inner is None:
            self._inner = tuple(
                Box(compose(pose, (*i.pos, 1.0, 0.0, 0.0, 0.0)), i.half)
                for link, pose in zip(self.thing.links, self.links, strict=True)
                for i in link.interiors
            )
        return self._inner

    @property
    def region(self) -> Aabb:
        """Bounds of its solids and its interiors."""
        if self._region is None:
            self._region = merged([self.aabb, *map(aabb_of, self.inner)]) if self.inner else self.aabb
        return self._region

    def is_at(self, pose: Pose, joints: Mapping[str, float]) -> bool:
        """Whether this is where it is, with its joints as they are."""
        if self.pose != pose:
            return False
        return not self.joints or all(joints.get(name, 0.0) == position for name, position in self.joints)


class _Kept(NamedTuple, Generic[T]):
    #: what is in or near this decides `value`
    where: Aabb
    value: T


class Places(Generic[T]):
    """The things of one scene, and what was worked out for each of them from what is near it (a `T`)."""

    def __init__(self, scene: CompiledScene) -> None:
        self.scene = scene
        self.things: dict[str, Thing] = {t.id: t for t in scene.things}
        self.containers: tuple[Thing, ...] = tuple(t for t in scene.things if "container" in t.affordances)
        self._placed: dict[str, Placed] = {}
        self._reach: dict[str, float | None] = {}
        #: the world that `_loose` and `_kept` are about
        self._poses: dict[str, Pose] = {}
        self._joints: dict[str, float] = {}
        self._loose: dict[str, Aabb] = {}
        self._kept: dict[str, _Kept[T]] = {}

    def placed(self, thing: Thing, state: Posed) -> Placed:
        """The thing as it is now."""
        found = self._placed.get(thing.id)
        pose = state.poses[thing.id]
        if found is None or found.thing is not thing or not found.is_at(pose, state.joints):
            found = self._placed[thing.id] = Placed(thing, pose, state.joints)
        return found

    def loose_box(self, thing: Thing, state: Posed) -> Aabb:
        """Bounds around its solids and interiors wherever they are turned; close ones for what is large or has joints.
        Much cheaper than `Placed.region` for what moves."""
        if thing.id not in self._reach:
            self._reach[thing.id] = _reach_m(thing)
        reach = self._reach[thing.id]
        x, y, z, w, a, b, c = state.poses[thing.id]
        if reach is None or not -_UNIT < w * w + a * a + b * b + c * c - 1.0 < _UNIT:
            return self.placed(thing, state).region
        return (x - reach, y - reach, z - reach, x + reach, y + reach, z + reach)

    def near(self, box: Aabb, state: Posed) -> Iterator[Thing]:
        """The things whose bounds may meet the box, in no particular order. Some others too."""
        self._look(state)
        x0, y0, z0, x1, y1, z1 = box
        for t, (a0, b0, c0, a1, b1, c1) in self._loose.items():
            if a0 <= x1 and x0 <= a1 and b0 <= y1 and y0 <= b1 and c0 <= z1 and z0 <= c1:
                yield self.things[t]

    def kept(self, thing: str, state: Posed) -> T | None:
        """What `keep` was given for the thing, when nothing has moved near it since."""
        self._look(state)
        found = self._kept.get(thing)
        return None if found is None else found.value

    def keep(self, thing: str, value: T, *, where: Aabb) -> None:
        """Remembers what follows from the bounds of things that meet `where`, and from the thing's own pose and
        joints, in the world that was last looked at."""
        self._kept[thing] = _Kept(where, value)

    def _look(self, state: Posed) -> None:
        """Sees what moved."""
        if state.poses == self._poses and state.joints == self._joints:
            return
        moved = [t for t, pose in state.poses.items() if self._poses.get(t) != pose]
        if state.joints != self._joints:
            turned = {j.partition(".")[0] for j, at in state.joints.items() if self._joints.get(j) != at}
            moved += [t for t in self.things if t in turned and t not in moved]
        for t in moved:
            old, new = self._loose.get(t), self.loose_box(self.things[t], state)
            self._loose[t] = new
            self._forget_near(t, new)
            if old is not None:
                self._forget_near(t, old)
        self._poses, self._joints = dict(state.poses), dict(state.joints)

    def _forget_near(self, moved: str, box: Aabb) -> None:
        a0, b0, c0, a1, b1, c1 = box
        gone = [
            t
            for t, ((x0, y0, z0, x1, y1, z1), _) in self._kept.items()
            if t == moved or (a0 <= x1 and x0 <= a1 and b0 <= y1 and y0 <= b1 and c0 <= z1 and z0 <= c1)
        ]
        for t in gone:
            del self._kept[t]


def _reach_m(thing: Thing) -> float | None:
    """How far its solids, their bounds and its interiors reach from its origin however it is turned; None when it stays
    where it is, or has joints."""
    if thing.fixed or any(k.joint is not None for k in thing.links):
        return None
    at_origin = Placed(thing, IDENTITY, {})
    boxes = [*at_origin.boxes, aabb_of(at_origin.box), *map(aabb_of, at_origin.inner)]
    return max(map(_farthest_m, boxes)) + _SLACK_M


def _farthest_m(box: Aabb) -> float:
    """Of the bounds of something turned about the origin: no farther than its middle and half its diagonal."""
    x0, y0, z0, x1, y1, z1 = box
    middle: Vec3 = ((x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2)
    half: Vec3 = ((x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2)
    return _length(middle) + _length(half)


def _length(v: Vec3) -> float:
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


_LATEST: list[Places[Any]] = []


def places_of(scene: CompiledScene) -> Places[Any]:
    """The places of a scene; those of the last few scenes are kept."""
    for known in _LATEST:
        if known.scene is scene:
            return known
    places: Places[Any] = Places(scene)
    _LATEST.insert(0, places)
    del _LATEST[_MOST_SCENES:]
    return places
