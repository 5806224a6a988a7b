"""What shines, by the state of the world: the lights of rooms with their switches, and things that light up.

A scene's light belongs to the room it hangs in. It shines unless that room has switches (things with the property
`lights = "room"`, on the wall or standing in the room) and all of them are off. A room whose lights are off is dark:
a rest of light remains, and what other lamps in it give.

A thing shines while its attribute `light_when` (property; else `on`) is true and it has power. Its properties:
`light`, the strength (1 is a ceiling light); `light_x`, `light_y`, `light_z`, where, metres in link 0's frame;
`light_rgb`, the colour; `light_inside`, the name of an interior that it lights up and little else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from iwreplay.errors import RenderError
from iwreplay.pose import IDENTITY, Pose, Vec3, compose, quat_to_matrix, transform_point
from iwreplay.render.layout import (
    LAMP_AT,
    LAMP_COLUMNS,
    LAMP_FADE,
    LAMP_MAP,
    LAMP_REACH,
    LAMP_RECT,
    LAMP_RGB,
    LAMP_STRENGTH,
    LAMP_WORLD,
    MAX_LAMPS,
)
from iwreplay.scene.geometry import Box, aabb_of
from iwreplay.scene.model import CompiledScene, Light, Room, Thing
from iwreplay.vocabulary import AttrValue

__all__ = ["ROOM_FADE_M", "Lamp", "Lamps", "Lit"]

#: a lamp's light ends softly within so much outside its room
ROOM_FADE_M = 0.8
_INSIDE_FADE_M = 0.3

#: a lamp of strength 1 reaches so far; the range grows with the square root of strength
_REACH_M = 7.0
#: a lamp outside all rooms is not held back by walls
_EVERYWHERE = (-1e9, -1e9, 1e9, 1e9)
#: linear colour of a lamp that says nothing else: warm white
_WARM = (0.95, 0.89, 0.79)
#: how light it is where every lamp is off, and how much of a lamp's strength comes back from the walls
_REST = 0.10
_BOUNCE = 0.5
#: a switch belongs to the room that lies so far before its front
_BEFORE_M = 0.15

Rect = tuple[float, float, float, float]


class _State(Protocol):
    poses: dict[str, Pose]
    attrs: dict[str, dict[str, AttrValue]]


@dataclass(frozen=True)
class Lamp:
    """Something that can shine."""

    strength: float
    rgb: Vec3
    #: index into scene.things, or -1 for a light of the scene
    thing: int
    #: in the world, or in the frame of the thing's link 0
    at: Vec3
    #: ids of the switches of a scene's light, () when it has none
    switches: tuple[str, ...] = ()
    #: attribute of the thing that makes it shine
    when: str = "on"
    #: box in link 0's frame that the light stays in
    inside: Box | None = None

    @property
    def reach_m(self) -> float:
        return _REACH_M * math.sqrt(self.strength)


@dataclass(frozen=True)
class Lit:
    """A lamp that shines now: which one it is (`index`), and where."""

    lamp: Lamp
    index: int
    pos: Vec3
    rect: Rect
    fade_m: float

    def row(self, camera: tuple[tuple[float, float, float], ...], eye: Vec3) -> list[float]:
        """The columns of `layout`. camera: right, up, forward."""
        d = (self.pos[0] - eye[0], self.pos[1] - eye[1], self.pos[2] - eye[2])
        lamp = self.lamp
        row = [0.0] * LAMP_COLUMNS
        row[LAMP_AT : LAMP_AT + 3] = [r[0] * d[0] + r[1] * d[1] + r[2] * d[2] for r in camera]
        row[LAMP_RGB : LAMP_RGB + 3] = lamp.rgb
        row[LAMP_REACH] = 1.0 / (lamp.reach_m * lamp.reach_m)
        row[LAMP_WORLD : LAMP_WORLD + 3] = self.pos
        row[LAMP_RECT : LAMP_RECT + 4] = self.rect
        row[LAMP_FADE], row[LAMP_MAP], row[LAMP_STRENGTH] = self.fade_m, float(self.index), lamp.strength
        return row


class Lamps:
    """All lamps of a scene, and which of them shine."""

    def __init__(self, scene: CompiledScene) -> None:
        """RenderError for a light or a thing's `light` properties that make no sense."""
        self._scene = scene
        switches = _switches(scene)
        found = [_of_scene(light, scene, switches) for light in scene.lights]
        found.extend(lamp for i, thing in enumerate(scene.things) for lamp in _of_thing(i, thing))
        self.lamps: tuple[Lamp, ...] = tuple(found)
        self.lit: tuple[Lit, ...] = ()
        #: (r, 5) x0 y0 x1 y1 and how light it is there, 0..1; empty when it is light everywhere
        self.rooms: npt.NDArray[np.float64] = np.zeros((0, 5))

    def follow(self, state: _State) -> None:
        """Works out what shines in a state. RenderError when more lamps do than can be drawn."""
        lit = []
        for i, lamp in enumerate(self.lamps):
            if self._shines(lamp, state):
                lit.append(self._lit(i, lamp, state))
        if len(lit) > MAX_LAMPS:
            raise RenderError(f"{len(lit)} lamps shine at a time; at most {MAX_LAMPS} can")
        self.lit = tuple(lit)
        levels = [self._level(room) for room in self._scene.rooms]
        if all(level == 1.0 for level in levels):
            self.rooms = np.zeros((0, 5))
        else:
            self.rooms = np.array([(*r.rect, level) for r, level in zip(self._scene.rooms, levels, strict=True)])

    def _shines(self, lamp: Lamp, state: _State) -> bool:
        if lamp.thing < 0:
            return not lamp.switches or any(_is_on(state.attrs[s], "on") for s in lamp.switches)
        return _is_on(state.attrs[self._scene.things[lamp.thing].id], lamp.when)

    def _lit(self, index: int, lamp: Lamp, state: _State) -> Lit:
        base = IDENTITY if lamp.thing < 0 else state.poses[self._scene.things[lamp.thing].id]
        pos = transform_point(base, lamp.at)
        if lamp.inside is not None:
            x0, y0, _, x1, y1, _ = aabb_of(Box(compose(base, lamp.inside.pose), lamp.inside.half))
            return Lit(lamp, index, pos, (x0, y0, x1, y1), _INSIDE_FADE_M)
        room = _room_at(pos[0], pos[1], self._scene)
        return Lit(lamp, index, pos, room.rect if room else _EVERYWHERE, ROOM_FADE_M)

    def _level(self, room: Room) -> float:
        own = [lamp for lamp in self.lamps if lamp.thing < 0 and _room_at(*lamp.at[:2], self._scene) is room]
        if not own:
            return 1.0
        on = [k for k in self.lit if _room_at(k.pos[0], k.pos[1], self._scene) is room]
        if sum(k.lamp.thing < 0 for k in on) == len(own):
            return 1.0
        share = sum(k.lamp.strength for k in on if k.lamp.thing < 0) / sum(lamp.strength for lamp in own)
        bounced = _BOUNCE * sum(k.lamp.strength for k in on if k.lamp.thing >= 0 and k.lamp.inside is None)
        return min(1.0, _REST + (1.0 - _REST) * share + bounced)


def _is_on(attrs: Mapping[str, AttrValue], name: str) -> bool:
    return attrs.get(name) is True and attrs.get("powered") is not False and attrs.get("exists") is not False


def _room_at(x: float, y: float, scene: CompiledScene) -> Room | None:
    for room in scene.rooms:
        x0, y0, x1, y1 = room.rect
        if x0 <= x <= x1 and y0 <= y <= y1:
            return room
    return None


def _switches(scene: CompiledScene) -> dict[str, tuple[str, ...]]:
    """Ids of the switches of every room that has some."""
    found: dict[str, tuple[str, ...]] = {}
    for thing in scene.things:
        if thing.props.get("lights") != "room":
            continue
        q = quat_to_matrix(thing.pose[3:])
        # a thing's front is its -y
        x, y = thing.pose[0] - _BEFORE_M * q[0][1], thing.pose[1] - _BEFORE_M * q[1][1]
        room = _room_at(x, y, scene)
        if room is not None:
            found[room.id] = (*found.get(room.id, ()), thing.id)
    return found


def _of_scene(light: Light, scene: CompiledScene, switches: Mapping[str, tuple[str, ...]]) -> Lamp:
    if not (light.intensity > 0.0 and all(math.isfinite(v) for v in (*light.pos, light.intensity))):
        raise RenderError(
            f"light at {light.pos} with intensity {light.intensity}: the intensity must be above zero, "
            "and all of it finite"
        )
    room = _room_at(light.pos[0], light.pos[1], scene)
    return Lamp(
        strength=light.intensity,
        rgb=_times(_WARM, light.intensity),
        thing=-1,
        at=light.pos,
        switches=switches.get(room.id, ()) if room else (),
    )


def _of_thing(index: int, thing: Thing) -> tuple[Lamp, ...]:
    strength = thing.props.get("light")
    if strength is None:
        return ()
    if isinstance(strength, bool) or not isinstance(strength, int | float) or not 0.0 < strength <= 10.0:
        raise RenderError(f"thing {thing.id!r}: its light has a strength of {strength!r}; it must be within 0..10")
    at = tuple(_number(thing, f"light_{axis}") for axis in "xyz")
    when = thing.props.get("light_when", "on")
    if not isinstance(when, str):
        raise RenderError(f"thing {thing.id!r}: light_when is the name of an attribute, not {when!r}")
    return (
        Lamp(
            strength=float(strength),
            rgb=_times(_colour(thing), float(strength)),
            thing=index,
            at=(at[0], at[1], at[2]),
            when=when,
            inside=_interior(thing),
        ),
    )


def _number(thing: Thing, name: str) -> float:
    value = thing.props.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise RenderError(f"thing {thing.id!r}: {name} is a length in metres, not {value!r}")
    return float(value)


def _colour(thing: Thing) -> Vec3:
    text = thing.props.get("light_rgb")
    if text is None:
        return _WARM
    if not (isinstance(text, str) and len(text) == 7 and text[0] == "#" and set(text[1:]) <= set("0123456789abcdef")):
        raise RenderError(f'thing {thing.id!r}: light_rgb is a colour like "#ffb060", not {text!r}')
    r, g, b = (int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return (r * r, g * g, b * b)


def _interior(thing: Thing) -> Box | None:
    name = thing.props.get("light_inside")
    if name is None:
        return None
    for interior in thing.links[0].interiors:
        if interior.name == name:
            return Box((*interior.pos, *IDENTITY[3:]), interior.half)
    raise RenderError(f"thing {thing.id!r}: light_inside names {name!r}, which is no interior of its base")


def _times(v: Vec3, by: float) -> Vec3:
    return (v[0] * by, v[1] * by, v[2] * by)
