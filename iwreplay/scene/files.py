"""The form of a scene file. Metres; yaw in degrees; world z up."""

from __future__ import annotations

import msgspec

from iwreplay.pose import Vec3
from iwreplay.scene.expr import Num
from iwreplay.taskpack.model import Placement
from iwreplay.vocabulary import AttrValue

__all__ = ["SCENE_FORMAT", "FurnitureSpec", "LightSpec", "OpeningSpec", "PartChange", "RoomSpec", "SceneFile"]

SCENE_FORMAT = 1


class RoomSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A room: x0, y0, x1, y1 along the middle of its walls (each 0.05 m thick inwards).

    A yard or a path is a room under the `open_sky`: it has no ceiling, and its walls are what fences it in."""

    id: str
    nouns: tuple[str, ...]
    rect: tuple[float, float, float, float]
    height: float = 2.6
    floor: str = "planks_oak"
    wall: str = "plaster_white"
    open_sky: bool = False


class PartChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a part of a composite is called and what is written on it: the label of a key hook, of a pigeonhole, of a
    drawer. What is not given stays as the class has it; `adjectives = []` takes them away."""

    name: str = ""
    adjectives: tuple[str, ...] | None = None
    nouns: tuple[str, ...] = ()
    touch_nouns: tuple[str, ...] = ()
    attrs: dict[str, AttrValue] = {}
    props: dict[str, AttrValue] = {}
    texts: dict[str, str] = {}


class FurnitureSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece of furniture. `pos` is x, y on the floor, or x, y, z.

    `parts` changes what comes with a composite, by its suffix: `parts = { top = { name = "spare drawer" } }`."""

    id: str
    cls: str
    pos: tuple[float, ...] = (0.0, 0.0)
    yaw_deg: float = 0.0
    params: dict[str, Num] = {}
    name: str = ""
    adjectives: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    touch_nouns: tuple[str, ...] = ()
    attrs: dict[str, AttrValue] = {}
    props: dict[str, AttrValue] = {}
    texts: dict[str, str] = {}
    paint: dict[str, str] = {}
    parts: dict[str, PartChange] = {}


class OpeningSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hole in the wall between room `a` and room `b` ("" is outside), from `sill` to `sill + height`.

    `fill` is what stands in it (a door, a window; its pos, yaw and width are worked out): its front looks into `a`."""

    a: str
    b: str = ""
    pos: tuple[float, float]
    width: float = 0.95
    height: float = 2.05
    sill: float = 0.0
    fill: FurnitureSpec | None = None


class LightSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pos: Vec3
    intensity: float = 1.0


class SceneFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scene before a task's objects are in it."""

    format: int
    id: str
    title: str = ""
    #: x, y, and the direction the wearer faces, degrees from +x towards +y
    spawn: tuple[float, float, float]
    rooms: tuple[RoomSpec, ...]
    openings: tuple[OpeningSpec, ...] = ()
    furniture: tuple[FurnitureSpec, ...] = ()
    objects: tuple[Placement, ...] = ()
    lights: tuple[LightSpec, ...] = ()
