"""Small parts that show a state which a class has no shape for: a seal, a power light, a lock's sign, a cord.

They are drawn only: nothing collides with them. A class that has a `when` or `repaint` for the attribute goes without.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from iwreplay.pose import IDENTITY, Pose, Quat, Vec3, compose, quat_about, transform_point
from iwreplay.scene.geometry import Aabb, Box, aabb_of, link_poses_at, shape_half
from iwreplay.scene.model import Joint, Link, Material, Shape, Thing
from iwreplay.vocabulary import AttrValue

__all__ = ["CORD", "CORD_RADIUS_M", "EXTRA_MATERIALS", "cord_between", "extra_shapes", "has_cord", "plug_point"]

# names that no class file can give
CORD = "(cord)"
_SEAL, _DARK, _ON, _RUNS, _FREE, _LOCKED = "(seal)", "(off)", "(on)", "(runs)", "(free)", "(locked)"

#: materials of the extras, by name
EXTRA_MATERIALS: dict[str, Material] = {
    m.name: m
    for m in (
        Material(name=_SEAL, rgb=(206, 62, 48), texture="plastic"),
        Material(name=_DARK, rgb=(46, 48, 50), texture="plastic"),
        Material(name=_ON, rgb=(60, 224, 90), emission=1.0),
        Material(name=_RUNS, rgb=(70, 150, 255), emission=1.0),
        Material(name=_FREE, rgb=(66, 160, 80), texture="plastic"),
        Material(name=_LOCKED, rgb=(204, 44, 40), texture="plastic"),
        Material(name=CORD, rgb=(34, 34, 36), texture="rubber"),
    )
}

CORD_RADIUS_M = 0.005
#: radius of a power light: at least so much, and a share of the front it is on
_LAMP_M, _LAMP_SHARE = 0.01, 0.03
_SIGN_M = 0.024
#: from the middle of a drawer's handle to its lock
_BESIDE_M = 0.12
_SKIN_M = 0.0008
_FACING_FRONT: Quat = quat_about((1.0, 0.0, 0.0), math.pi / 2)


def extra_shapes(thing: Thing, *, shown: frozenset[str]) -> Iterator[tuple[int, Shape]]:
    """Number of the link and shape of every extra. shown: attributes that the class shows by itself."""
    if "sealed" in thing.attrs and "sealed" not in shown:
        yield from ((0, s) for s in _seal(thing))
    switches = [a for a in ("on", "running") if a in thing.attrs and a not in shown]
    if switches and {"switch", "machine"} & set(thing.affordances):
        yield from ((0, s) for s in _power_light(thing, switches))
    if "locked" in thing.attrs and "locked" not in shown:
        for k, link in enumerate(thing.links):
            if link.joint is not None:
                yield from ((k, s) for s in _lock_signs(link, link.joint))


def _drawn(link: Link, attrs: Mapping[str, AttrValue]) -> list[tuple[Shape, Aabb]]:
    return [
        (s, aabb_of(Box(s.pose, shape_half(s))))
        for s in link.shapes
        if s.role != "collision" and all(attrs.get(a) in values for a, values in s.when.items())
    ]


def _seal(thing: Thing) -> Iterator[Shape]:
    """A cap around a round neck, or a strip of tape across the top."""
    drawn = _drawn(thing.links[0], thing.attrs)
    if not drawn:
        return
    shape, (x0, y0, z0, x1, y1, z1) = max(drawn, key=lambda d: d[1][5])
    x, y = shape.pose[:2]
    radius = _top_radius(shape)
    if radius > 0.0:
        half = min(0.008, 0.5 * radius + 0.002, 0.25 * (z1 - max(z0, -1.0)) + 0.001)
        yield _seal_shape("cylinder", (radius * 1.06 + _SKIN_M, half), (x, y, z1 + _SKIN_M - half))
        return
    half_x, half_z = min(0.02, 0.2 * (x1 - x0)), 0.2 * (z1 - z0)
    at = ((x0 + x1) / 2, (y0 + y1) / 2, z1 + _SKIN_M - half_z)
    yield _seal_shape("box", (half_x, (y1 - y0) / 2 + _SKIN_M, half_z), at)


def _top_radius(shape: Shape) -> float:
    """Radius of an upright round shape at its top, 0 for any other."""
    if shape.pose[4] or shape.pose[5]:
        return 0.0
    if shape.kind == "lathe":
        top = max(shape.size[1::2])
        return max(r for r, z in zip(shape.size[0::2], shape.size[1::2], strict=True) if z >= top - 0.006)
    if shape.kind in ("cylinder", "sphere", "capsule"):
        return shape.size[0] * (1.0 if shape.kind == "cylinder" else 0.5)
    return max(shape.size[1], 0.002) if shape.kind == "cone" else 0.0


def _power_light(thing: Thing, switches: Sequence[str]) -> Iterator[Shape]:
    """A lamp at the upper right of the largest front, or on top where a door covers that."""
    boxes = [d for s, d in _drawn(thing.links[0], thing.attrs) if s.kind in ("box", "rounded_box", "cylinder", "prism")]
    if not boxes:
        return
    front = min(b[1] for b in boxes)
    x0, y0, z0, x1, _, z1 = max((b for b in boxes if b[1] < front + 0.03), key=lambda b: (b[3] - b[0]) * (b[5] - b[2]))
    at = (x1 - min(0.03, 0.2 * (x1 - x0)), y0, z1 - min(0.025, 0.3 * (z1 - z0)))
    poses = link_poses_at(thing, IDENTITY, {})
    for link, pose in zip(thing.links[1:], poses[1:], strict=True):
        for s, _ in _drawn(link, thing.attrs):
            d = aabb_of(Box(compose(pose, s.pose), shape_half(s)))
            if d[1] < y0 and d[0] < at[0] < d[3] and d[2] < at[2] < d[5]:
                at = (at[0], y0 + 0.02, z1)
    repaint = {a: {"true": _RUNS if a == "running" else _ON} for a in switches}
    yield Shape(
        kind="sphere",
        size=(max(_LAMP_M, _LAMP_SHARE * (x1 - x0)),),
        pose=(*at, 1.0, 0.0, 0.0, 0.0),
        material=_DARK,
        role="visual",
        repaint=repaint,
    )


def _lock_signs(link: Link, joint: Joint) -> Iterator[Shape]:
    """A red or green round on both sides of what opens, by its handle: above or below it, beside that of a drawer."""
    drawn = [b for _, b in _drawn(link, {})]
    if not drawn:
        return
    x0, y0, z0, x1, y1, z1 = max(drawn, key=lambda b: (b[3] - b[0]) * (b[5] - b[2]))
    slides = joint.kind == "slide"
    x = min(max(joint.handle[0] + (_BESIDE_M if slides else 0.0), x0 + 1.2 * _SIGN_M), x1 - 1.2 * _SIGN_M)
    z = joint.handle[2] + 0.1 if joint.handle[2] + 0.13 < z1 else max(joint.handle[2] - 0.1, z0 + 1.2 * _SIGN_M)
    if slides:
        z = min(max(joint.handle[2], z0 + 1.2 * _SIGN_M), z1 - 1.2 * _SIGN_M)
    for y in (y0, y1):
        yield Shape(
            kind="cylinder",
            size=(_SIGN_M, 0.004),
            pose=(x, y, z, *_FACING_FRONT),
            material=_FREE,
            role="visual",
            repaint={"locked": {"true": _LOCKED}},
        )


def _seal_shape(kind: str, size: tuple[float, ...], at: Vec3) -> Shape:
    return Shape(
        kind=kind,  # type: ignore[arg-type]
        size=size,
        pose=(*at, 1.0, 0.0, 0.0, 0.0),
        material=_SEAL,
        role="visual",
        when={"sealed": (True,)},
    )


def has_cord(thing: Thing, *, shown: frozenset[str]) -> bool:
    """Whether a cord is drawn from its back to the socket that it is plugged into."""
    return "plug" in thing.affordances and "plugged" not in shown


def plug_point(socket: Thing, pose: Pose, *, number: int) -> Vec3:
    """Where the plug sits in the world: in the front of a wall socket, on top of a strip at one of its outlets."""
    x, y, z = socket.bounds_pos
    hx, hy, hz = socket.bounds_half
    outlets = socket.props.get("outlets", 1)
    n = max(1, int(outlets)) if isinstance(outlets, int | float) else 1
    across = x + hx * 1.4 * ((number % n + 0.5) / n - 0.5)
    flat = "grab" in socket.affordances
    return transform_point(pose, (across, y, z + hz) if flat else (across, y - hy, z))


def cord_between(thing: Thing, pose: Pose, end: Vec3) -> list[tuple[Pose, float]]:
    """The cord from a thing's back to a plug: (pose, half length) of its two straight pieces, along their z."""
    (x, y, z), (_, hy, hz) = thing.bounds_pos, thing.bounds_half
    start = transform_point(pose, (x, y + hy, z - hz + 0.02))
    span = math.sqrt(sum((a - b) * (a - b) for a, b in zip(start, end, strict=True)))
    low = min(start[2], end[2])
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, max(min(low, 0.01), low - 0.15 * span))
    return [piece for a, b in ((start, middle), (middle, end)) if (piece := _rod(a, b)) is not None]


def _rod(a: Vec3, b: Vec3) -> tuple[Pose, float] | None:
    if a[2] > b[2]:
        a, b = b, a
    dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length < 1e-6:
        return None
    # the turn that takes +z to the way up the rod
    w = math.sqrt((1.0 + dz / length) / 2.0)
    turn = (w, -dy / length / (2.0 * w), dx / length / (2.0 * w), 0.0)
    return ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2, *turn), length / 2
