"""Rooms and openings of a scene file -> floor, walls, ceiling, and what stands in the openings."""

from __future__ import annotations

import math

import msgspec

from iwreplay.errors import SceneError
from iwreplay.pose import from_xyz_yaw
from iwreplay.scene.files import FurnitureSpec, OpeningSpec, RoomSpec, SceneFile
from iwreplay.scene.geometry import thing_bounds
from iwreplay.scene.library import Library
from iwreplay.scene.model import Link, Portal, Room, Shape, Surface, Thing

__all__ = ["WALL_M", "fillings", "portals_of", "rooms_of", "shell_of"]

#: each room's wall, inwards from its rectangle
WALL_M = 0.05
_SLAB_M = 0.05
_EDGES = ("south", "north", "west", "east")


def rooms_of(scene: SceneFile) -> tuple[Room, ...]:
    """The rooms, checked: known form, no overlap, unique ids."""
    seen: list[RoomSpec] = []
    for room in scene.rooms:
        x0, y0, x1, y1 = room.rect
        where = f"scene {scene.id}: room {room.id}"
        if not (x1 - x0 >= 1.0 and y1 - y0 >= 1.0):
            raise SceneError(f"{where}: rect {room.rect} is x0, y0, x1, y1 with sides of at least 1 m")
        if not 2.0 <= room.height <= 10.0:
            raise SceneError(f"{where}: height {room.height} m is not between 2 and 10")
        if not room.nouns:
            raise SceneError(f"{where}: nouns {room.nouns} is empty; give at least one word for it")
        for other in seen:
            a0, b0, a1, b1 = other.rect
            if other.id == room.id:
                raise SceneError(f"{where}: a second room of that id; give it another")
            if x0 < a1 - 1e-6 and a0 < x1 - 1e-6 and y0 < b1 - 1e-6 and b0 < y1 - 1e-6:
                raise SceneError(f"{where}: rect {room.rect} overlaps room {other.id}, rect {other.rect}")
        seen.append(room)
    if not seen:
        raise SceneError(f"scene {scene.id}: rooms is empty; give at least one [[rooms]]")
    return tuple(Room(id=r.id, nouns=r.nouns, rect=r.rect, height=r.height) for r in scene.rooms)


def portals_of(scene: SceneFile) -> tuple[Portal, ...]:
    """Openings that one can walk through."""
    rooms = {r.id: r for r in scene.rooms}
    out = []
    for i, o in enumerate(scene.openings):
        where = f"scene {scene.id}: openings[{i}] ({o.a}-{o.b or 'outside'})"
        for name in (o.a, o.b):
            if name not in rooms and not (name == "" and name is o.b):
                raise SceneError(f"{where}: unknown room {name!r}; known: {', '.join(rooms)}")
        edge = _edge_of(rooms[o.a], o)
        if edge is None or (o.b and _edge_of(rooms[o.b], o) is None):
            sides = " and of ".join(name for name in (o.a, o.b) if name)
            raise SceneError(f"{where}: pos {o.pos}, width {o.width} is not wholly on a wall of {sides}")
        if o.sill + o.height > rooms[o.a].height + 1e-6 or o.sill < 0.0:
            raise SceneError(
                f"{where}: sill {o.sill} and height {o.height} do not fit a room {rooms[o.a].height} m high"
            )
        if o.sill > 0.0:
            continue
        if o.width < 0.8:
            raise SceneError(f"{where}: width {o.width} m is too narrow to walk through; at least 0.8")
        out.append(Portal(a=o.a, b=o.b, pos=o.pos, width=o.width, along="x" if edge in ("south", "north") else "y"))
    _check_connected(scene, out)
    return tuple(out)


def _check_connected(scene: SceneFile, portals: list[Portal]) -> None:
    reached = {scene.rooms[0].id}
    while True:
        more = {p.b for p in portals if p.a in reached and p.b} | {p.a for p in portals if p.b in reached}
        if more <= reached:
            break
        reached |= more
    for room in scene.rooms:
        if room.id not in reached:
            raise SceneError(
                f"scene {scene.id}: no opening to walk through leads to room {room.id}; add one to [[openings]]"
            )


def _edge_of(room: RoomSpec, o: OpeningSpec) -> str | None:
    """Which wall of the room the opening lies in, wholly; None when it lies in none."""
    x0, y0, x1, y1 = room.rect
    x, y = o.pos
    half = o.width / 2
    for edge, at, along, lo, hi in (
        ("south", abs(y - y0), x, x0, x1),
        ("north", abs(y - y1), x, x0, x1),
        ("west", abs(x - x0), y, y0, y1),
        ("east", abs(x - x1), y, y0, y1),
    ):
        if at < 1e-6 and lo + WALL_M - 1e-6 <= along - half and along + half <= hi - WALL_M + 1e-6:
            return edge
    return None


def fillings(scene: SceneFile) -> tuple[FurnitureSpec, ...]:
    """Doors and windows, at their place: the front looks into room `a`."""
    rooms = {r.id: r for r in scene.rooms}
    yaw_deg = {"south": 180.0, "north": 0.0, "west": 90.0, "east": -90.0}
    out = []
    for o in scene.openings:
        if o.fill is None:
            continue
        edge = _edge_of(rooms[o.a], o)
        assert edge is not None  # portals_of has checked it
        f = o.fill
        place = {"pos": (*o.pos, o.sill), "yaw_deg": yaw_deg[edge]}
        out.append(msgspec.structs.replace(f, **place, params={"w": o.width, "h": o.height, **f.params}))
    return tuple(out)


def shell_of(scene: SceneFile, library: Library) -> tuple[Thing, ...]:
    """One floor (a surface a room), one ceiling over the rooms that have one, the walls of each room."""
    floor, ceiling, surfaces = [], [], []
    walls = []
    for room in scene.rooms:
        where = f"scene {scene.id}: room {room.id}"
        x0, y0, x1, y1 = room.rect
        mid, half = ((x0 + x1) / 2, (y0 + y1) / 2), ((x1 - x0) / 2, (y1 - y0) / 2)
        floor_mat, wall_mat = (
            library.material(room.floor, where=where).name,
            library.material(room.wall, where=where).name,
        )
        floor.append(_box((*mid, -_SLAB_M), (*half, _SLAB_M), floor_mat))
        if not room.open_sky:
            ceiling.append(_box((*mid, room.height + _SLAB_M), (*half, _SLAB_M), "ceiling_white"))
        surfaces.append(
            Surface(name=room.id, pos=(*mid, 0.0), half=(half[0] - WALL_M, half[1] - WALL_M), clearance=room.height)
        )
        shapes = [s for edge in _EDGES for s in _wall(scene, room, edge, wall_mat)]
        noun = room.nouns[0]
        walls.append(_thing(f"walls_{room.id}", "wall", (f"{noun} wall", "wall"), shapes))
    library.material("ceiling_white", where=f"scene {scene.id}")
    library.material("skirting", where=f"scene {scene.id}")
    return (
        _thing("floor", "floor", ("floor", "ground"), floor, surfaces=tuple(surfaces)),
        *walls,
        *([_thing("ceiling", "ceiling", ("ceiling",), ceiling)] if ceiling else []),
    )


def _wall(scene: SceneFile, room: RoomSpec, edge: str, material: str) -> list[Shape]:
    """Slabs along one edge around its openings, and a skirting board along the floor of a room with a ceiling."""
    x0, y0, x1, y1 = room.rect
    horizontal = edge in ("south", "north")
    lo, hi = (x0, x1) if horizontal else (y0 + WALL_M, y1 - WALL_M)
    line = {"south": y0, "north": y1, "west": x0, "east": x1}[edge]
    inward = 1.0 if edge in ("south", "west") else -1.0
    holes = sorted(
        ((o.pos[0] if horizontal else o.pos[1]) - o.width / 2, o.width, o.sill, o.height)
        for o in scene.openings
        if room.id in (o.a, o.b) and _edge_of(room, o) == edge
    )
    shapes: list[Shape] = []

    def slab(
        a: float, b: float, z0: float, z1: float, *, thick: float = WALL_M, mat: str = "", visual: bool = False
    ) -> None:
        if b - a < 1e-6 or z1 - z0 < 1e-6 or (visual and room.open_sky):
            return
        across = line + inward * thick / 2
        centre = ((a + b) / 2, across, (z0 + z1) / 2) if horizontal else (across, (a + b) / 2, (z0 + z1) / 2)
        half = ((b - a) / 2, thick / 2, (z1 - z0) / 2) if horizontal else (thick / 2, (b - a) / 2, (z1 - z0) / 2)
        shapes.append(_box(centre, half, mat or material, visual=visual))

    at = lo
    for start, width, sill, height in holes:
        if start < at - 1e-6:
            raise SceneError(f"scene {scene.id}: room {room.id}: two openings of its {edge} wall overlap")
        slab(at, start, 0.0, room.height)
        slab(at, start, 0.0, 0.07, thick=WALL_M + 0.008, mat="skirting", visual=True)
        slab(start, start + width, 0.0, sill)
        slab(start, start + width, sill + height, room.height)
        if sill > 0.0:
            slab(start, start + width, 0.0, 0.07, thick=WALL_M + 0.008, mat="skirting", visual=True)
        at = start + width
    slab(at, hi, 0.0, room.height)
    slab(at, hi, 0.0, 0.07, thick=WALL_M + 0.008, mat="skirting", visual=True)
    return shapes


def _box(
    centre: tuple[float, float, float], half: tuple[float, float, float], material: str, *, visual: bool = False
) -> Shape:
    return Shape(
        kind="box",
        size=half,
        pose=from_xyz_yaw(*centre, 0.0),
        material=material,
        role="visual" if visual else "both",
    )


def _thing(
    thing: str, cls: str, nouns: tuple[str, ...], shapes: list[Shape], *, surfaces: tuple[Surface, ...] = ()
) -> Thing:
    links = (Link(name="base", shapes=tuple(shapes), surfaces=surfaces),)
    pos, half = thing_bounds(links, attrs={})
    if not all(math.isfinite(v) for v in (*pos, *half)):
        raise SceneError(f"{thing}: a room's rectangle is not finite")
    return Thing(
        id=thing,
        cls=cls,
        name=nouns[0],
        nouns=nouns,
        touch_nouns=nouns[-1:],
        fixed=True,
        links=links,
        pose=from_xyz_yaw(0.0, 0.0, 0.0, 0.0),
        affordances=("surface",) if surfaces else (),
        attrs={"exists": True, "parent": "fixed"},
        bounds_half=half,
        bounds_pos=pos,
    )
