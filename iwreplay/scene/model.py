"""The compiled scene: one engine-neutral, frozen description that everything else reads.

It is part of every log (`EpisodeOpened.scene`), so that relations, frames and scores can be re-derived
anywhere without the files it was compiled from. Metres, radians, kilograms; quaternions wxyz; world z up;
a thing's front faces its local -y.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.pose import IDENTITY, Pose, Vec3
from iwreplay.vocabulary import AttrValue

__all__ = [
    "CompiledScene",
    "Face",
    "Interior",
    "Joint",
    "Light",
    "Link",
    "Material",
    "Portal",
    "Room",
    "Shape",
    "Surface",
    "Thing",
]


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """How a shape looks."""

    name: str
    #: sRGB 0..255
    rgb: tuple[int, int, int]
    #: 1 opaque; below 1 mixed with what is behind (glass)
    alpha: float = 1.0
    #: name of a procedural texture ("wood", "tile", "fabric" ...) or ""
    texture: str = ""
    #: adds this much light of its own, 0..1 (a lamp that is on, a flame)
    emission: float = 0.0


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One solid in its link's frame.

    `size` by kind: box (hx, hy, hz) half extents; cylinder (radius, half height), axis z; sphere (radius,);
    capsule (radius, half length), axis z; cone (bottom radius, top radius, half height), axis z;
    lathe (r0, z0, r1, z1, ...) the outline turned about z, open or closed as listed; visual only;
    prism (half thickness, x1, y1, x2, y2, ...) the closed outline in the xy plane drawn out along z both ways;
    visual only; rounded_box (hx, hy, hz, radius) a box with round edges and corners; visual only;
    cloth (y0, y1, thickness, waves, gather, x1, z1, x2, z2, ...) a sheet along the line of (x, z) from y0 to y1, as
    `scene.cloths` says; visual only.
    """

    kind: Literal["box", "cylinder", "sphere", "capsule", "cone", "lathe", "prism", "rounded_box", "cloth"]
    size: tuple[float, ...]
    #: link_from_shape
    pose: Pose = IDENTITY
    material: str
    #: which side uses it: drawn, collided with, or both
    role: Literal["both", "visual", "collision"] = "both"
    #: drawn only while every attribute listed has one of the listed values, e.g. {"cut": [true]}
    when: dict[str, tuple[AttrValue, ...]] = {}
    #: attribute -> value (as text) -> material that replaces `material`, e.g. {"cooked": {"burnt": "char"}}
    repaint: dict[str, dict[str, str]] = {}


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """A rectangle, in its link's frame, on which things can stand. z is up."""

    name: str
    #: centre of the rectangle
    pos: Vec3
    half: tuple[float, float]
    #: free height above it, metres
    clearance: float = 1.0


class Interior(msgspec.Struct, frozen=True, kw_only=True):
    """A box, in its link's frame, that counts as inside."""

    name: str
    pos: Vec3
    half: Vec3
    #: full joint names ("door") of this thing that close it; () is always open
    closed_by: tuple[str, ...] = ()


class Face(msgspec.Struct, frozen=True, kw_only=True):
    """A rectangle that carries text, in its link's frame: x to the reader's right, y up, +z towards the reader."""

    name: str
    pose: Pose
    #: width and height, metres
    size: tuple[float, float]
    cap_height_m: float = 0.012
    ink: tuple[int, int, int] = (20, 20, 20)
    paper: tuple[int, int, int] = (250, 248, 240)


class Joint(msgspec.Struct, frozen=True, kw_only=True):
    """How a link moves against its parent link. Position 0 is closed."""

    name: str
    kind: Literal["hinge", "slide"]
    #: unit axis and anchor in the parent link's frame
    axis: Vec3
    anchor: Vec3 = (0.0, 0.0, 0.0)
    #: rad or m; 0 (closed) is one end
    lo: float
    hi: float
    #: position that counts as fully open
    open_at: float
    #: where a hand holds it, in the moving link's frame
    handle: Vec3
    #: public words for it when a thing has several: "upper door", "left drawer"; () is addressed by the thing
    nouns: tuple[str, ...] = ()


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A rigid piece of a thing. Link 0 is the base; a link's frame is its parent's at joint position 0,
    moved by `offset`."""

    name: str
    parent: int = -1
    offset: Pose = IDENTITY
    joint: Joint | None = None
    shapes: tuple[Shape, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    interiors: tuple[Interior, ...] = ()
    faces: tuple[Face, ...] = ()


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """An object or a piece of furniture."""

    #: internal identifier, never shown to a participant: "mug_1"
    id: str
    #: class in the object library: "mug"
    cls: str
    #: public name: "mug", "router carton"
    name: str
    #: public adjectives, most telling first: ("blue",)
    adjectives: tuple[str, ...] = ()
    #: every noun phrase that names its kind, the first is the usual one
    nouns: tuple[str, ...]
    #: what it is to the touch, for a Human without vision: ("bottle",)
    touch_nouns: tuple[str, ...] = ()
    #: True: part of the building or too heavy to move; welded to the world
    fixed: bool
    links: tuple[Link, ...]
    #: world_from_link0 at load
    pose: Pose
    mass_kg: float = 0.2
    affordances: tuple[str, ...] = ()
    #: initial attributes, including "text:<face>"
    attrs: dict[str, AttrValue] = {}
    #: constants: "capacity_l", "watts", "amps", "cook_s", "burn_s", "key" ...
    props: dict[str, AttrValue] = {}
    #: preferred places to stand for using it: (x, y, yaw) in its own frame; () is worked out
    stances: tuple[Vec3, ...] = ()
    #: where a hand takes it, in link 0's frame
    grip: Vec3 = (0.0, 0.0, 0.0)
    #: half extents and centre of the box around it in link 0's frame, joints closed
    bounds_half: Vec3
    bounds_pos: Vec3 = (0.0, 0.0, 0.0)
    fragile: bool = False


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """An axis-aligned room."""

    id: str
    nouns: tuple[str, ...]
    #: x0, y0, x1, y1
    rect: tuple[float, float, float, float]
    height: float = 2.6


class Portal(msgspec.Struct, frozen=True, kw_only=True):
    """An opening between two rooms (or to the outside: `b` is "")."""

    a: str
    b: str
    #: middle of the threshold
    pos: tuple[float, float]
    width: float
    #: direction of the wall it stands in: "x" or "y"
    along: Literal["x", "y"]


class Light(msgspec.Struct, frozen=True, kw_only=True):
    """A point light."""

    pos: Vec3
    intensity: float


class CompiledScene(msgspec.Struct, frozen=True, kw_only=True):
    """A scene with a task's objects in it, fully resolved."""

    id: str
    format: int
    rooms: tuple[Room, ...]
    portals: tuple[Portal, ...]
    materials: tuple[Material, ...]
    #: building first, then furniture, then objects; ids unique
    things: tuple[Thing, ...]
    lights: tuple[Light, ...]
    #: wearer's start: x, y, yaw
    spawn: Vec3
