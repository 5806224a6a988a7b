"""The form of an object-class file: every length may be a formula of the class's `params`.

Frames and units as in `iwreplay.scene.model`, except that class files write angles in degrees.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.scene.expr import Num
from iwreplay.vocabulary import AttrValue

__all__ = [
    "ClassSpec",
    "FaceSpec",
    "InteriorSpec",
    "JointSpec",
    "LinkSpec",
    "MaterialSpec",
    "PartSpec",
    "ShapeSpec",
    "SurfaceSpec",
]

Num2 = tuple[Num, Num]
Num3 = tuple[Num, Num, Num]


class MaterialSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A material; `rgb` is "#rrggbb"."""

    rgb: str
    alpha: float = 1.0
    texture: str = ""
    emission: float = 0.0


class ShapeSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shape of `iwreplay.scene.model.Shape`, or a macro that stands for several:

    - hollow_round (bottom radius, top radius, height, wall, floor): a vessel turned about z, its bottom at `pos`;
      drawn as one lathe, collided with as a bottom and a ring of wall boxes
    - shell (hx, hy, hz, wall): a box of walls around `pos`, without the sides listed in `open`
    - legs (hx, hy, half leg, height): four posts with their feet at the height of `pos`
    - arc (radius, thickness radius, from degree, to degree): a bent rod in the xz plane, visual only
    - rounded_box (hx, hy, hz, radius): drawn with round edges and corners, collided with as the box around it
    - folded (hx, hy, hz, waves, [x0, x1]): a cloth that lies folded in `n` layers (4) around `pos`, its folds in
      front; collided with as the box around it. With x0 and x1 only a band on it from there to there, drawn only

    cone, lathe, prism and cloth are drawn only.
    """

    kind: Literal[
        "box", "cylinder", "sphere", "capsule", "cone", "lathe", "prism",
        "rounded_box", "cloth", "hollow_round", "shell", "legs", "arc", "folded",
    ]  # fmt: skip
    size: tuple[Num, ...]
    pos: Num3 = (0.0, 0.0, 0.0)
    rpy_deg: Num3 = (0.0, 0.0, 0.0)
    mat: str
    role: Literal["both", "visual", "collision"] | None = None
    when: dict[str, tuple[AttrValue, ...]] = {}
    repaint: dict[str, dict[str, str]] = {}
    #: shell: sides left out
    open: tuple[Literal["front", "back", "left", "right", "top", "bottom"], ...] = ()
    #: arc, hollow_round: number of pieces; folded: of layers
    n: int = 0


class SurfaceSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A surface named "hook..." is a hook (see `iwreplay.scene.hanging`): things hang below it."""

    name: str
    pos: Num3
    half: Num2
    clearance: Num = 1.0


class InteriorSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    pos: Num3
    half: Num3
    closed_by: tuple[str, ...] = ()


class FaceSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`toward` says which way the text looks; `tilt_deg` leans it back."""

    name: str
    pos: Num3
    toward: Literal["front", "back", "left", "right", "top"] = "front"
    tilt_deg: Num = 0.0
    size: Num2
    cap_m: Num = 0.012
    ink: str = "#141414"
    paper: str = "#faf8f0"


class JointSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`open` is degrees for a hinge and metres for a slide; the joint moves between 0 and it."""

    name: str
    kind: Literal["hinge", "slide"]
    axis: Num3
    anchor: Num3 = (0.0, 0.0, 0.0)
    open: Num
    handle: Num3
    nouns: tuple[str, ...] = ()


class LinkSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    parent: str = "base"
    pos: Num3 = (0.0, 0.0, 0.0)
    joint: JointSpec
    shapes: tuple[ShapeSpec, ...] = ()
    surfaces: tuple[SurfaceSpec, ...] = ()
    interiors: tuple[InteriorSpec, ...] = ()
    faces: tuple[FaceSpec, ...] = ()


class PartSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another thing that comes with a composite: "dresser_1" brings "dresser_1_top".

    `on` names the composite's surface that it rests on, for a part that can be taken away."""

    suffix: str
    cls: str
    on: str = ""
    pos: Num3 = (0.0, 0.0, 0.0)
    yaw_deg: Num = 0.0
    params: dict[str, Num] = {}
    name: str = ""
    adjectives: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()


class ClassSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A class of things. With `extends`, fields not given are the other class's (attrs, props, params and paint
    are merged)."""

    extends: str = ""
    nouns: tuple[str, ...] = ()
    touch_nouns: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()
    fixed: bool = False
    mass_kg: float = 0.2
    fragile: bool = False
    affordances: tuple[str, ...] = ()
    attrs: dict[str, AttrValue] = {}
    props: dict[str, AttrValue] = {}
    #: props that are lengths computed from the parameters
    lengths: dict[str, Num] = {}
    params: dict[str, float] = {}
    paint: dict[str, str] = {}
    texts: dict[str, str] = {}
    grip: Num3 = (0.0, 0.0, 0.0)
    stances: tuple[Num3, ...] = ()
    shapes: tuple[ShapeSpec, ...] = ()
    surfaces: tuple[SurfaceSpec, ...] = ()
    interiors: tuple[InteriorSpec, ...] = ()
    faces: tuple[FaceSpec, ...] = ()
    links: tuple[LinkSpec, ...] = ()
    parts: tuple[PartSpec, ...] = ()
