"""A small flat of boxes, and a simulator that answers rays and overlaps from the state by itself."""

from __future__ import annotations

import math
from collections.abc import Collection

from iwreplay.body import standing
from iwreplay.pose import Pose, Vec3, from_xyz_yaw, inverse, rotate, transform_point
from iwreplay.scene.geometry import Box
from iwreplay.scene.model import (
    CompiledScene,
    Interior,
    Joint,
    Light,
    Link,
    Material,
    Portal,
    Room,
    Shape,
    Surface,
    Thing,
)
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import exists, solids_of
from iwreplay.world.state import WorldState
from tests.scene.boxes import boxes_overlap


def box(half: Vec3, at: Vec3 = (0.0, 0.0, 0.0), material: str = "wood") -> Shape:
    return Shape(kind="box", size=half, pose=(*at, 1.0, 0.0, 0.0, 0.0), material=material)


def thing(id_: str, *links: Link, pose: Pose, name: str = "", fixed: bool = True, **more: object) -> Thing:
    solids = [s for k in links for s in k.shapes]
    half = tuple(max(abs(s.pose[i]) + s.size[i] for s in solids) for i in range(3))
    if not fixed:
        more.setdefault("affordances", ("grab",))
    more.setdefault("bounds_half", half)
    words = name or id_.rpartition("_")[0].replace("_", " ")
    return Thing(id=id_, cls=words, name=words, nouns=(words,), fixed=fixed, links=links, pose=pose, **more)  # type: ignore[arg-type]


def wall(id_: str, x: float, y: float, hx: float, hy: float) -> Thing:
    return thing(id_, Link(name="base", shapes=(box((hx, hy, 1.3)),)), pose=from_xyz_yaw(x, y, 1.3, 0.0), name="wall")


def cabinet(id_: str, *, pose: Pose, name: str, w: float, d: float, h: float, z: float = 0.0) -> Thing:
    """Hollow, open to the front (-y), with a door hinged on its right that opens to the front."""
    t = 0.01
    mid = z + h / 2
    inner = (w / 2 - 0.02, d / 2 - 0.02, h / 2 - 0.02)
    shell = (
        box((w / 2, d / 2, t), (0, 0, z + t)),
        box((w / 2, d / 2, t), (0, 0, z + h - t)),
        box((w / 2, t, h / 2), (0, d / 2 - t, mid)),
        box((t, d / 2, h / 2), (w / 2 - t, 0, mid)),
        box((t, d / 2, h / 2), (-w / 2 + t, 0, mid)),
    )
    door = Joint(
        name="door",
        kind="hinge",
        axis=(0.0, 0.0, 1.0),
        anchor=(w / 2, -d / 2, 0.0),
        lo=0.0,
        hi=1.7,
        open_at=1.6,
        handle=(-w / 2 + 0.05, -d / 2 - 0.05, mid),
    )
    return thing(
        id_,
        Link(
            name="base",
            shapes=shell,
            interiors=(Interior(name="main", pos=(0, 0, mid), half=inner, closed_by=("door",)),),
        ),
        Link(name="door", parent=0, joint=door, shapes=(box((w / 2, 0.01, h / 2), (0, -d / 2 - 0.01, mid)),)),
        pose=pose,
        name=name,
        affordances=("open", "container"),
        attrs={"open": False},
    )


def block(id_: str, half: Vec3, x: float, y: float, z: float, **more: object) -> Thing:
    """A movable box that stands with its bottom at z; its grip is its middle."""
    more.setdefault("grip", (0.0, 0.0, half[2]))
    return thing(
        id_,
        Link(name="base", shapes=(box(half, (0, 0, half[2])),)),
        pose=from_xyz_yaw(x, y, z, 0.0),
        fixed=False,
        bounds_half=half,
        bounds_pos=(0.0, 0.0, half[2]),
        **more,
    )


def top(half: tuple[float, float], z: float) -> tuple[Surface, ...]:
    return (Surface(name="top", pos=(0.0, 0.0, z), half=half),)


def flat(*extra: Thing, spawn: Vec3 = (2.0, 1.0, math.pi / 2)) -> CompiledScene:
    """Kitchen (0..5, 0..4) and hall (5..8, 0..4) with a doorway and a door between them."""
    counter = thing(
        "counter_1",
        Link(name="base", shapes=(box((1.2, 0.3, 0.45), (0, 0, 0.45)),), surfaces=top((1.2, 0.3), 0.9)),
        pose=from_xyz_yaw(1.6, 3.6, 0.0, 0.0),
        affordances=("surface",),
    )
    table = thing(
        "table_1",
        Link(name="base", shapes=(box((0.6, 0.4, 0.02), (0, 0, 0.73)),), surfaces=top((0.6, 0.4), 0.75)),
        pose=from_xyz_yaw(3.6, 1.2, 0.0, 0.0),
        affordances=("surface",),
    )
    chair = thing(
        "chair_1",
        Link(name="base", shapes=(box((0.2, 0.2, 0.225), (0, 0, 0.225)),), surfaces=top((0.2, 0.2), 0.45)),
        pose=from_xyz_yaw(1.0, 1.0, 0.0, math.pi),
        affordances=("seat",),
    )
    door = thing(
        "door_1",
        Link(name="frame", shapes=(box((0.02, 0.02, 0.02), (0, 0, 2.3)),)),
        Link(
            name="leaf",
            parent=0,
            joint=Joint(
                name="leaf",
                kind="hinge",
                axis=(0.0, 0.0, 1.0),
                anchor=(0.0, -0.45, 0.0),
                lo=0.0,
                hi=1.6,
                open_at=1.5,
                handle=(0.0, 0.38, 1.0),
            ),
            shapes=(box((0.02, 0.44, 1.0), (0, 0, 1.0)),),
        ),
        pose=from_xyz_yaw(5.0, 2.0, 0.0, 0.0),
        name="hall door",
        affordances=("open",),
        attrs={"open": False},
    )
    things = (
        wall("wall_1", 4.0, 4.1, 4.2, 0.1),
        wall("wall_2", 4.0, -0.1, 4.2, 0.1),
        wall("wall_3", -0.1, 2.0, 0.1, 2.2),
        wall("wall_4", 8.1, 2.0, 0.1, 2.2),
        wall("wall_5", 5.0, 0.75, 0.06, 0.8),
        wall("wall_6", 5.0, 3.25, 0.06, 0.8),
        thing("floor", Link(name="base", shapes=(box((4, 2, 0.05)),)), pose=from_xyz_yaw(4.0, 2.0, -0.05, 0.0)),
        door,
        counter,
        table,
        chair,
        cabinet("fridge_1", pose=from_xyz_yaw(3.4, 3.65, 0.0, 0.0), name="fridge", w=0.7, d=0.6, h=1.7),
        cabinet("cupboard_1", pose=from_xyz_yaw(7.6, 2.0, 0.0, -math.pi / 2), name="cupboard", w=0.8, d=0.4, h=0.8),
        block("mug_1", (0.04, 0.04, 0.05), 1.6, 3.5, 0.9, attrs={"parent": "on:counter_1.top"}),
        block("milk_1", (0.04, 0.04, 0.1), 3.4, 3.6, 0.75, attrs={"parent": "in:fridge_1.main"}),
        block("key_1", (0.03, 0.015, 0.003), 6.5, 3.0, 0.0, attrs={"parent": "floor"}),
        *extra,
    )
    return CompiledScene(
        id="flat",
        format=1,
        rooms=(
            Room(id="kitchen", nouns=("kitchen",), rect=(0.0, 0.0, 5.0, 4.0)),
            Room(id="hall", nouns=("hall",), rect=(5.0, 0.0, 8.0, 4.0)),
        ),
        portals=(Portal(a="kitchen", b="hall", pos=(5.0, 2.0), width=0.9, along="y"),),
        materials=(
            Material(name="wood", rgb=(150, 110, 70)),
            Material(name="glass", rgb=(200, 220, 230), alpha=0.3),
        ),
        things=things,
        lights=(Light(pos=(2.0, 2.0, 2.5), intensity=1.0),),
        spawn=spawn,
    )


def begin(scene: CompiledScene, at: Vec3 | None = None) -> WorldState:
    """State with the wearer standing at `at` or at the spawn."""
    state = WorldState(scene)
    state.body = standing(*(at or scene.spawn))
    state.attrs[WEARER] = {"posture": "stand", "sitting": "", "held": ""}
    return state


def opened(state: WorldState, thing_id: str) -> None:
    """Opens a thing."""
    owner = next(t for t in state.scene.things if t.id == thing_id)
    for k in owner.links:
        if k.joint is not None:
            state.joints[f"{thing_id}.{k.joint.name}"] = k.joint.open_at
    state.attrs[thing_id]["open"] = True


_BALLS_M = 0.02


class BoxSim:
    """Rays and overlaps against the box shapes of a state; anything else that a planner asks is an error."""

    dt_s = 0.002

    def __init__(self, state: WorldState) -> None:
        self.state = state
        self.asked = 0

    def _boxes(self, ignore: Collection[str]) -> list[tuple[str, Box]]:
        return [
            (t.id, Box(s.pose, s.size))  # type: ignore[arg-type]
            for t in self.state.scene.things
            if t.id not in ignore and exists(self.state, t.id)
            for s in solids_of(t, self.state)
        ]

    def ray(
        self, origin: Vec3, direction: Vec3, max_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[str, float] | None:
        self.asked += 1
        best: tuple[float, str] | None = None
        for name, b in self._boxes(ignore):
            t = enter(b, origin, direction)
            if t is not None and t <= max_m and (best is None or t < best[0]):
                best = (t, name)
        return (best[1], best[0]) if best else None

    def overlap_box(self, half: Vec3, pose: Pose, *, ignore: Collection[str] = ()) -> tuple[str, ...]:
        self.asked += 1
        probe = Box(pose, half)
        return tuple(sorted({name for name, b in self._boxes(ignore) if boxes_overlap(probe, b)}))

    def capsule_depths(
        self, a: Vec3, b: Vec3, radius_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[tuple[str, float], ...]:
        """By balls along the segment."""
        self.asked += 1
        steps = max(1, math.ceil(math.dist(a, b) / _BALLS_M))
        depths: dict[str, float] = {}
        for name, box in self._boxes(ignore):
            inv = inverse(box.pose)
            for k in range(steps + 1):
                at = transform_point(inv, tuple(p + (q - p) * k / steps for p, q in zip(a, b, strict=True)))  # type: ignore[arg-type]
                over = [abs(c) - h for c, h in zip(at, box.half, strict=True)]
                outside = math.sqrt(sum(max(0.0, o) ** 2 for o in over))
                depth = radius_m - (outside if outside > 0.0 else max(over))
                if depth > depths.get(name, 0.0):
                    depths[name] = depth
        return tuple(sorted(depths.items()))


def enter(b: Box, origin: Vec3, direction: Vec3) -> float | None:
    """Distance at which a ray enters a box (0 when it starts inside)."""
    inv = inverse(b.pose)
    o, d = transform_point(inv, origin), rotate(inv[3:], direction)
    lo, hi = 0.0, math.inf
    for i in range(3):
        if abs(d[i]) < 1e-12:
            if abs(o[i]) > b.half[i]:
                return None
            continue
        t0, t1 = sorted(((-b.half[i] - o[i]) / d[i], (b.half[i] - o[i]) / d[i]))
        lo, hi = max(lo, t0), min(hi, t1)
    return lo if lo <= hi else None
