"""Where the text on a thing is, and whether it shows.

A tag turns with what hangs, a screen is dark while it is off, and what lies in pieces has lost its label.

A class names its screens in the property `screen_faces`, the names of faces with a space between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from iwreplay.pose import Pose, Quat, compose, quat_about, rotate
from iwreplay.scene.breaking import BROKEN, falls_to_pieces
from iwreplay.scene.geometry import Box, aabb_of, merged, shape_half
from iwreplay.scene.hanging import HUNG, can_hang, hangs
from iwreplay.scene.model import Face, Shape, Thing
from iwreplay.scene.outline import outline_of
from iwreplay.vocabulary import AttrValue

__all__ = ["SCREEN_FACES", "face_pose", "face_shows", "screen_faces"]

#: property of a thing: which of its faces are screens
SCREEN_FACES = "screen_faces"
#: a face whose normal is steeper than this looks up
_UP = 0.9
#: how far below its top, as a share of its length, a tag is seen on what hangs, and how far before it
_TAG_SHARE, _TAG_GAP_M = 0.2, 0.002
_FACING_FRONT: Quat = quat_about((1.0, 0.0, 0.0), math.pi / 2)


def screen_faces(thing: Thing) -> tuple[str, ...]:
    """Names of its faces that show text only while it is on."""
    names = thing.props.get(SCREEN_FACES)
    return tuple(names.split()) if isinstance(names, str) else ()


def face_shows(thing: Thing, face: Face, attrs: Mapping[str, AttrValue]) -> bool:
    """Whether the face can be seen: no screen of a thing that is off or has no power, no label of a thing that
    is in pieces now, and of a document the cover while it is closed, the page while it is open."""
    if attrs.get(BROKEN) is True and (falls_to_pieces(thing) or _is_drawn_broken(thing)):
        return False
    if "pages" in thing.affordances and face.name in ("page", "cover"):
        return (attrs.get("open") is True) == (face.name == "page")
    if face.name not in screen_faces(thing):
        return True
    return attrs.get("on") is True and attrs.get("powered") is not False


def _is_drawn_broken(thing: Thing) -> bool:
    return any(False in s.when.get(BROKEN, ()) for k in thing.links for s in k.shapes)


def face_pose(thing: Thing, face: Face, attrs: Mapping[str, AttrValue]) -> Pose:
    """Where the face is in its link's frame. A tag that looks up while its thing lies is at the front while it hangs:
    in the middle, below the shoulders or the belt."""
    if not hangs(attrs) or not can_hang(thing) or rotate(face.pose[3:], (0.0, 0.0, 1.0))[2] < _UP:
        return face.pose
    hung = (s for s in thing.links[0].shapes if s.role != "collision" and True in s.when.get(HUNG, ()))
    x0, y0, z0, x1, _, z1 = merged(aabb_of(_around(s)) for s in hung)
    return ((x0 + x1) / 2.0, y0 - _TAG_GAP_M, z1 - _TAG_SHARE * (z1 - z0), *_FACING_FRONT)


def _around(shape: Shape) -> Box:
    """A box around a shape; that of a prism fits its outline, which may lie to one side of its origin."""
    if shape.kind != "prism":
        return Box(shape.pose, shape_half(shape))
    xs, ys = zip(*outline_of(shape.size), strict=True)
    middle = ((min(xs) + max(xs)) / 2.0, (min(ys) + max(ys)) / 2.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    half = ((max(xs) - min(xs)) / 2.0, (max(ys) - min(ys)) / 2.0, shape.size[0])
    return Box(compose(shape.pose, middle), half)
