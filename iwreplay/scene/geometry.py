"""Geometry of things without a world state: link poses, shapes as boxes, box tests. Scalar Python, pure.

Frames: a link's pose against its parent is the joint's motion (about an axis of the parent's frame) followed by
the link's constant offset. Metres, radians.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from iwreplay.errors import GeometryError
from iwreplay.pose import IDENTITY, Pose, Vec3, compose, inverse, quat_about, quat_to_matrix, rotate, transform_point
from iwreplay.scene.cloths import bounds_of_cloth
from iwreplay.scene.hanging import look_of
from iwreplay.scene.model import CompiledScene, Joint, Link, Shape, Thing
from iwreplay.scene.outline import outline_of
from iwreplay.vocabulary import AttrValue

__all__ = [
    "Aabb",
    "Box",
    "Solid",
    "aabb_of",
    "aabbs_overlap",
    "foot_of",
    "initial_joints",
    "joint_motion",
    "joints_at_load",
    "link_poses_at",
    "merged",
    "point_in_box",
    "shape_half",
    "solids_at",
    "solids_on",
    "thing_bounds",
]

Aabb = tuple[float, float, float, float, float, float]

#: solids whose bottom is this near the lowest point belong to the foot
_FOOT_M = 0.015


class Box(NamedTuple):
    """An oriented box: pose of its centre and half extents."""

    pose: Pose
    half: Vec3


class Solid(NamedTuple):
    """One convex collision solid somewhere: kind and size as in `Shape`."""

    kind: str
    size: tuple[float, ...]
    pose: Pose


def joint_motion(joint: Joint, position: float) -> Pose:
    """parent_from_moved: what the joint at `position` does to everything on its link, in the parent's frame."""
    if joint.kind == "slide":
        x, y, z = joint.axis
        return (x * position, y * position, z * position, 1.0, 0.0, 0.0, 0.0)
    q = quat_about(joint.axis, position)
    ax, ay, az = joint.anchor
    rx, ry, rz = rotate(q, joint.anchor)
    return (ax - rx, ay - ry, az - rz, *q)


def link_poses_at(thing: Thing, base: Pose, joints: Mapping[str, float]) -> tuple[Pose, ...]:
    """world_from_link of every link. `base` is world_from_link0; `joints` maps "thing.joint" to rad or m
    (a joint that is not in it counts as closed)."""
    out: list[Pose] = []
    for link in thing.links:
        parent = base if link.parent < 0 else out[link.parent]
        out.append(compose(parent, _parent_from_link(thing, link, joints)))
    return tuple(out)


def _parent_from_link(thing: Thing, link: Link, joints: Mapping[str, float]) -> Pose:
    if link.joint is None:
        return link.offset
    return compose(joint_motion(link.joint, joints.get(f"{thing.id}.{link.joint.name}", 0.0)), link.offset)


def joints_at_load(things: Iterable[Thing]) -> dict[str, float]:
    """Position of every joint at load, as "thing.joint", in order: open where the thing's `open` is true."""
    return {
        f"{t.id}.{k.joint.name}": k.joint.open_at if t.attrs.get("open") is True else 0.0
        for t in things
        for k in t.links
        if k.joint is not None
    }


def initial_joints(scene: CompiledScene) -> dict[str, float]:
    """`joints_at_load` of a whole scene."""
    return joints_at_load(scene.things)


def shape_half(shape: Shape) -> Vec3:
    """Half extents of a box around a shape, centred in the shape's own frame (lathe, prism, cloth may fill it badly).

    Raises GeometryError for a size that is not of the kind's form."""
    s = shape.size
    if not all(math.isfinite(v) for v in s):
        raise GeometryError(f"{shape.kind} size {s} is not finite")
    if shape.kind == "lathe":
        if len(s) < 4 or len(s) % 2:
            raise GeometryError(f"lathe size {s} is not a list of (radius, height) pairs")
        r = max(s[0::2])
        return (r, r, max(abs(v) for v in s[1::2]))
    if shape.kind == "prism":
        outline = outline_of(s)
        return (max(abs(x) for x, _ in outline), max(abs(y) for _, y in outline), s[0])
    if shape.kind == "cloth":
        b = bounds_of_cloth(s)
        return (max(-b[0], b[3]), max(-b[1], b[4]), max(-b[2], b[5]))
    want = {"box": 3, "cylinder": 2, "sphere": 1, "capsule": 2, "cone": 3, "rounded_box": 4}[shape.kind]
    low = 0.0 if shape.kind == "cone" else 1e-6
    if len(s) != want or min(s) < low:
        raise GeometryError(f"{shape.kind} needs {want} positive numbers, not {s}")
    if shape.kind in ("box", "rounded_box"):
        if shape.kind == "rounded_box" and s[3] > min(s[:3]):
            raise GeometryError(f"rounded_box of size {s} has a radius of {s[3]}, more than its smallest half side")
        return (s[0], s[1], s[2])
    if shape.kind == "cylinder":
        return (s[0], s[0], s[1])
    if shape.kind == "sphere":
        return (s[0], s[0], s[0])
    if shape.kind == "capsule":
        return (s[0], s[0], s[0] + s[1])
    return (max(s[0], s[1]), max(s[0], s[1]), s[2])


def solids_at(thing: Thing, base: Pose, joints: Mapping[str, float]) -> tuple[Solid, ...]:
    """Every collision solid of a thing in the world."""
    return solids_on(thing, link_poses_at(thing, base, joints))


def solids_on(thing: Thing, links: tuple[Pose, ...]) -> tuple[Solid, ...]:
    """Every collision solid of a thing whose links are at these poses (world_from_link)."""
    out: list[Solid] = []
    for link, pose in zip(thing.links, links, strict=True):
        out.extend(Solid(s.kind, s.size, compose(pose, s.pose)) for s in link.shapes if s.role != "visual")
    return tuple(out)


def aabb_of(box: Box) -> Aabb:
    """Axis-aligned bounds (x0, y0, z0, x1, y1, z1)."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = quat_to_matrix(box.pose[3:])
    hx, hy, hz = box.half
    ex = abs(ax) * hx + abs(ay) * hy + abs(az) * hz
    ey = abs(bx) * hx + abs(by) * hy + abs(bz) * hz
    ez = abs(cx) * hx + abs(cy) * hy + abs(cz) * hz
    x, y, z = box.pose[:3]
    return (x - ex, y - ey, z - ez, x + ex, y + ey, z + ez)


def merged(boxes: Iterable[Aabb]) -> Aabb:
    """Bounds around all of them; GeometryError when there is none."""
    x0 = y0 = z0 = math.inf
    x1 = y1 = z1 = -math.inf
    for a0, b0, c0, a1, b1, c1 in boxes:
        x0 = a0 if a0 < x0 else x0
        y0 = b0 if b0 < y0 else y0
        z0 = c0 if c0 < z0 else z0
        x1 = a1 if a1 > x1 else x1
        y1 = b1 if b1 > y1 else y1
        z1 = c1 if c1 > z1 else z1
    if x0 > x1:
        raise GeometryError("no boxes to merge")
    return (x0, y0, z0, x1, y1, z1)


def foot_of(boxes: Sequence[Aabb]) -> Aabb:
    """Bounds of what a thing stands on, from those of its solids: all that begin within 15 mm of the lowest point.
    GeometryError when there is none."""
    lowest = min((b[2] for b in boxes), default=0.0)
    return merged(b for b in boxes if b[2] <= lowest + _FOOT_M)


def aabbs_overlap(a: Aabb, b: Aabb, *, margin_m: float = 0.0) -> bool:
    """Whether they meet when grown by `margin_m` in all (negative: shrunk)."""
    return all(a[i] - margin_m <= b[i + 3] and b[i] - margin_m <= a[i + 3] for i in range(3))


def point_in_box(point: Vec3, box: Box, *, margin_m: float = 0.0) -> bool:
    """Whether the point lies in the box grown by `margin_m` on every side."""
    x, y, z = transform_point(inverse(box.pose), point)
    hx, hy, hz = box.half
    return abs(x) <= hx + margin_m and abs(y) <= hy + margin_m and abs(z) <= hz + margin_m


def thing_bounds(links: tuple[Link, ...], *, attrs: Mapping[str, AttrValue]) -> tuple[Vec3, Vec3]:
    """(centre, half extents) of the box around all shapes that are there with these attributes, in link 0's frame,
    joints closed.

    Raises GeometryError for a thing without any shape."""
    poses: list[Pose] = []
    boxes: list[Aabb] = []
    for link in links:
        # link 0's own offset is left out: the result is in its frame
        poses.append(IDENTITY if link.parent < 0 else compose(poses[link.parent], link.offset))
        there = [s for s in link.shapes if all(look_of(attrs, name) in values for name, values in s.when.items())]
        boxes.extend(_shape_aabb(s, poses[-1]) for s in there)
    b = merged(boxes)
    centre = ((b[0] + b[3]) / 2.0, (b[1] + b[4]) / 2.0, (b[2] + b[5]) / 2.0)
    return centre, ((b[3] - b[0]) / 2.0, (b[4] - b[1]) / 2.0, (b[5] - b[2]) / 2.0)


def _shape_aabb(shape: Shape, link_pose: Pose) -> Aabb:
    half = shape_half(shape)
    pose = compose(link_pose, shape.pose)
    if shape.kind == "lathe":
        z0, z1 = min(shape.size[1::2]), max(shape.size[1::2])
        pose = compose(pose, (0.0, 0.0, (z0 + z1) / 2.0, 1.0, 0.0, 0.0, 0.0))
        half = (half[0], half[1], (z1 - z0) / 2.0)
    if shape.kind == "prism":
        xs, ys = shape.size[1::2], shape.size[2::2]
        x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
        pose = compose(pose, ((x0 + x1) / 2.0, (y0 + y1) / 2.0, 0.0, 1.0, 0.0, 0.0, 0.0))
        half = ((x1 - x0) / 2.0, (y1 - y0) / 2.0, half[2])
    if shape.kind == "cloth":
        x0, y0, z0, x1, y1, z1 = bounds_of_cloth(shape.size)
        pose = compose(pose, ((x0 + x1) / 2.0, (y0 + y1) / 2.0, (z0 + z1) / 2.0, 1.0, 0.0, 0.0, 0.0))
        half = ((x1 - x0) / 2.0, (y1 - y0) / 2.0, (z1 - z0) / 2.0)
    return aabb_of(Box(pose, half))
