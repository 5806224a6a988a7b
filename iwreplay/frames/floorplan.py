"""Maps: a scene from above with the names of its rooms, furniture and things, and the way that the wearer walked.

A pure function of scene, state and way. North is up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from iwreplay.frames.cameras import TOP_M, Camera, extent_of, from_above, rooms_open
from iwreplay.frames.labels import Label, place_labels
from iwreplay.frames.maker import DrawnState, FrameMaker
from iwreplay.frames.pages import Page, Pixels, Rgb, text_width, wrapped
from iwreplay.pose import Pose, rotate, transform_point
from iwreplay.scene.model import CompiledScene, Thing

__all__ = ["draw_map", "map_size"]

#: pixels a metre, and the longest side that it is made smaller for
_PX_PER_M, _LONGEST_PX = 130, 1800
_ROOM_PX, _NAME_PX = 19, 13
_PAD_PX = 3
#: how much of the picture shows through
_SHOWN = 150
_ROOM_INK: Rgb = (20, 40, 110)
_FIXED_INK: Rgb = (30, 30, 30)
_LOOSE_INK: Rgb = (150, 30, 20)
_LINE: Rgb = (70, 70, 70)
_WAY: Rgb = (210, 0, 150)
_SHELL = ("floor", "wall", "ceiling")
#: what stands higher than this hangs above everybody's head
_OVERHEAD_M = 2.0


def map_size(scene: CompiledScene) -> tuple[int, int]:
    """Width and height of the part of a map that shows the rooms, pixels, when nobody asks for another."""
    x0, y0, x1, y1 = extent_of(scene)
    w, h = x1 - x0 + 0.8, y1 - y0 + 0.8
    scale = min(float(_PX_PER_M), _LONGEST_PX / max(w, h))
    return math.ceil(w * scale), math.ceil(h * scale)


def draw_map(
    maker: FrameMaker,
    state: DrawnState,
    *,
    title: str,
    names: Mapping[str, str],
    size: tuple[int, int] | None = None,
    way: Sequence[tuple[float, float]] = (),
    wearer: Pose | None = None,
) -> Pixels:
    """The map of a state of the maker's scene, (height, width, 3). Below the rooms it lists what is inside of
    something, and what has no room for its name.

    names: thing id -> what it is called; things without a name get none. way: places on the floor, in order. wearer:
    the root pose of the body, or None for a scene without anybody in it. size: of the part that shows the rooms.
    RenderError for a size that makes no picture.
    """
    scene = maker.scene
    width, height = size or map_size(scene)
    camera = from_above(scene, width=width, height=height)
    draw = maker.draw_empty if wearer is None else maker.draw
    frame = draw(rooms_open(scene, state), camera=camera.pose, focal_px=camera.focal_px, width=width, height=height)
    faded = (frame.rgb.astype(np.uint16) * _SHOWN + (255 - _SHOWN) * 250) // 255
    body = Page(width, height)
    body.picture(faded.astype(np.uint8), 0, 0)
    labels, inks = _labels(scene, state, names, camera, width=width, height=height)
    placed, left = place_labels(labels, within=(2, 2, width - 2, height - 2))
    _draw_way(body, way, camera, wearer, width=width, height=height)
    for p in placed:
        if p.led:
            body.line([p.label.at, _nearest(p.box, p.label.at)], _LINE)
            body.disc(*p.label.at, 2, _LINE)
    for p in placed:
        ink = inks[p.label]
        body.fill(p.box, (255, 255, 255), edge=ink)
        px = _ROOM_PX if ink == _ROOM_INK else _NAME_PX
        body.text(p.label.text, p.box[0] + _PAD_PX, p.box[3] - _PAD_PX - px // 4, px=px, ink=ink)
    return _with_notes(body, title, _notes(scene, state, names, [label.text for label in left]))


def _labels(
    scene: CompiledScene, state: DrawnState, names: Mapping[str, str], camera: Camera, *, width: int, height: int
) -> tuple[list[Label], dict[Label, Rgb]]:
    """Rooms first, then furniture by size, then things."""
    labels: list[Label] = []
    inks: dict[Label, Rgb] = {}

    def add(text: str, at: tuple[float, float, float], ink: Rgb, px: int) -> None:
        spot = _pixel(camera, at, width=width, height=height)
        label = Label(text, spot, text_width(text, px=px) + 2 * _PAD_PX, px + 2 * _PAD_PX)
        labels.append(label)
        inks[label] = ink

    for room in scene.rooms:
        x0, y0, x1, y1 = room.rect
        add(room.nouns[0], ((x0 + x1) / 2, (y0 + y1) / 2, 0.0), _ROOM_INK, _ROOM_PX)
    shown = [t for t in scene.things if t.id in names and t.cls not in _SHELL and _in_sight(t, state)]
    for thing in sorted(shown, key=lambda t: (not t.fixed, -_floor_area(t), t.id)):
        middle = transform_point(state.poses[thing.id], thing.bounds_pos)
        if middle[2] - thing.bounds_half[2] < _OVERHEAD_M:
            add(names[thing.id], middle, _FIXED_INK if thing.fixed else _LOOSE_INK, _NAME_PX)
    return labels, inks


def _floor_area(thing: Thing) -> float:
    return thing.bounds_half[0] * thing.bounds_half[1]


def _in_sight(thing: Thing, state: DrawnState) -> bool:
    attrs = state.attrs[thing.id]
    return attrs.get("exists") is not False and not str(attrs.get("parent", "")).startswith(("in:", "off"))


def _pixel(camera: Camera, point: Sequence[float], *, width: int, height: int) -> tuple[int, int]:
    scale = camera.focal_px / (TOP_M - point[2])
    return (
        math.floor(width / 2.0 + (point[0] - camera.pose[0]) * scale),
        math.floor(height / 2.0 - (point[1] - camera.pose[1]) * scale),
    )


def _nearest(box: tuple[int, int, int, int], at: tuple[int, int]) -> tuple[int, int]:
    return min(max(at[0], box[0]), box[2] - 1), min(max(at[1], box[1]), box[3] - 1)


def _draw_way(
    page: Page,
    way: Sequence[tuple[float, float]],
    camera: Camera,
    wearer: Pose | None,
    *,
    width: int,
    height: int,
) -> None:
    def pixel(x: float, y: float) -> tuple[int, int]:
        return _pixel(camera, (x, y, 0.0), width=width, height=height)

    points = [pixel(*p) for p in way]
    points = [p for i, p in enumerate(points) if i == 0 or p != points[i - 1]]
    if len(points) > 1:
        page.line(points, (255, 255, 255), width=5)
        page.line(points, _WAY, width=3)
    if points:
        page.disc(*points[0], 6, (255, 255, 255), edge=_WAY)
    if wearer is not None:
        corners = [(0.3, 0.0), (-0.2, 0.18), (-0.2, -0.18)]
        turned = [rotate(wearer[3:], (x, y, 0.0)) for x, y in corners]
        page.area([pixel(wearer[0] + v[0], wearer[1] + v[1]) for v in turned], _WAY, edge=(255, 255, 255))


def _notes(scene: CompiledScene, state: DrawnState, names: Mapping[str, str], left: Sequence[str]) -> list[str]:
    held: dict[str, list[str]] = {}
    for thing in scene.things:
        parent = str(state.attrs[thing.id].get("parent", ""))
        if thing.id in names and parent.startswith("in:") and state.attrs[thing.id].get("exists") is not False:
            held.setdefault(parent.removeprefix("in:").partition(".")[0], []).append(names[thing.id])
    notes = [f"In the {names.get(owner, owner)}: {', '.join(inside)}." for owner, inside in held.items()]
    return [*notes, *([f"Too close together to be named: {', '.join(left)}."] if left else [])]


def _with_notes(body: Page, title: str, notes: Sequence[str]) -> Pixels:
    px, pitch = _NAME_PX, _NAME_PX * 3 // 2
    lines = [line for n in notes for line in wrapped(n, px=px, width=body.width - 4 * px)]
    head = _ROOM_PX * 2
    page = Page(body.width, body.height + head + pitch * (len(lines) + 1))
    page.text(title, px, head - _ROOM_PX * 2 // 3, px=_ROOM_PX)
    page.picture(body.pixels(), 0, head)
    for k, line in enumerate(lines):
        page.text(line, px, head + body.height + pitch * (k + 1), px=px)
    return page.pixels()
