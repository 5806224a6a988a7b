"""From a class file's shape (a primitive or a macro) to the shapes of the scene model."""

from __future__ import annotations

import math

from iwreplay.errors import GeometryError, SceneError
from iwreplay.pose import Pose, Quat, Vec3, compose, quat_about, quat_mul
from iwreplay.scene.cloths import GATHER_AT, folded_line
from iwreplay.scene.geometry import shape_half
from iwreplay.scene.model import Shape
from iwreplay.scene.numbers import Numbers
from iwreplay.scene.specs import ShapeSpec
from iwreplay.trig import sin_cos, tan

__all__ = ["shapes_from"]

_SIDES = ("left", "right", "front", "back", "bottom", "top")
_MACRO_SIZES = {
    "hollow_round": (5,),
    "shell": (4,),
    "legs": (4,),
    "arc": (4,),
    "rounded_box": (4,),
    "folded": (4, 6),
}
_DRAWN_ONLY = ("cone", "lathe", "prism", "cloth", "arc")
#: a band on a folded cloth is so much thicker
_BAND_M = 0.0012


def shapes_from(spec: ShapeSpec, numbers: Numbers, *, paint: dict[str, str], where: str) -> list[Shape]:
    """The shapes that one entry of a class file stands for. `paint` maps slots to materials."""
    # of a folded cloth, a band on it
    drawn_only = spec.kind in _DRAWN_ONLY or (spec.kind == "folded" and len(spec.size) == _MACRO_SIZES["folded"][1])
    role = spec.role or ("visual" if drawn_only else "both")
    if role != "visual" and drawn_only:
        raise SceneError(
            f"{where}: a {spec.kind} is drawn only; add a box, cylinder, sphere or capsule to collide with"
        )
    if role != "visual" and spec.when:
        raise SceneError(f'{where}: a shape that comes and goes (when) is drawn only; give it role = "visual"')
    material = paint.get(spec.mat, spec.mat)
    repaint = {a: {v: paint.get(m, m) for v, m in table.items()} for a, table in spec.repaint.items()}
    pose = numbers.pose(spec.pos, spec.rpy_deg, where=where)

    def shape(kind: str, size: tuple[float, ...], local: Pose, as_role: str) -> Shape:
        made = Shape(
            kind=kind,  # type: ignore[arg-type]
            size=size,
            pose=compose(pose, local),
            material=material,
            role=as_role,  # type: ignore[arg-type]
            when=spec.when,
            repaint=repaint,
        )
        try:
            shape_half(made)
        except GeometryError as problem:
            raise SceneError(f"{where}: {problem}") from problem
        return made

    if spec.kind in _MACRO_SIZES:
        if len(spec.size) not in _MACRO_SIZES[spec.kind]:
            wanted = " or ".join(str(n) for n in _MACRO_SIZES[spec.kind])
            raise SceneError(f"{where}: {spec.kind} needs {wanted} numbers, not {len(spec.size)}")
        made: list[Shape] = []
        for kind, size, local, only in _macro(spec, numbers, where=where):
            if only and role not in ("both", only):
                continue
            made.append(shape(kind, size, local, only or role))
        return made
    size = tuple(
        # a cloth is gathered to a share, which does not grow with the thing
        (numbers.value if spec.kind == "cloth" and k == GATHER_AT else numbers.length)(v, where=f"{where}.size")
        for k, v in enumerate(spec.size)
    )
    return [shape(spec.kind, size, _at(0.0, 0.0, 0.0), role)]


_Piece = tuple[str, tuple[float, ...], Pose, str]


def _macro(spec: ShapeSpec, numbers: Numbers, *, where: str) -> list[_Piece]:
    if spec.kind == "arc":
        r, thick = (numbers.length(v, where=where) for v in spec.size[:2])
        start, end = (numbers.value(v, where=where) for v in spec.size[2:])
        return _arc(r, thick, start, end, spec.n or 6)
    a, b, c, d, *rest = (numbers.length(v, where=where) for v in spec.size)
    if spec.kind == "hollow_round":
        return _hollow_round((a, b), c, d, rest[0], spec.n or 10)
    if spec.kind == "rounded_box":
        flat = _at(0.0, 0.0, 0.0)
        return [("rounded_box", (a, b, c, d), flat, "visual"), ("box", (a, b, c), flat, "collision")]
    if spec.kind == "folded":
        return _folded((a, b, c), d, (rest[0], rest[1]) if rest else None, spec.n or 4, where=where)
    if spec.kind == "shell":
        return _shell(a, b, c, d, spec.open)
    return [("box", (c, c, d / 2), _at(x * (a - c), y * (b - c), d / 2), "") for x in (-1, 1) for y in (-1, 1)]


def _hollow_round(radii: tuple[float, float], height: float, wall: float, floor: float, n: int) -> list[_Piece]:
    r0, r1 = radii
    inner0 = max(r0 - wall, 1e-4)
    outline = (0.0, 0.0, r0, 0.0, r1, height, r1 - wall, height, inner0, floor, 0.0, floor)
    pieces: list[_Piece] = [
        ("lathe", outline, _at(0.0, 0.0, 0.0), "visual"),
        ("cylinder", (r0, floor / 2), _at(0.0, 0.0, floor / 2), "collision"),
    ]
    height_2d = math.sqrt((r1 - r0) * (r1 - r0) + height * height)
    tilt = _turn_about_y((r1 - r0) / height_2d, height / height_2d)
    # a leaning wall's lower edge must not dip below the bottom: it starts a little further up its slope
    up = wall * abs(r1 - r0) / height / 2
    half = max(height_2d / 2 - up, wall / 2)
    mid = (r0 + r1) / 2 - wall / 2 + up * (r1 - r0) / height_2d
    mid_z = height / 2 + up * height / height_2d
    width = max(r0, r1) * tan(math.pi / n)
    for k in range(n):
        angle = 2 * math.pi * k / n
        q = quat_mul(quat_about((0.0, 0.0, 1.0), angle), tilt)
        s, c = sin_cos(angle)
        pieces.append(("box", (wall / 2, width, half), (mid * c, mid * s, mid_z, *q), "collision"))
    return pieces


def _shell(hx: float, hy: float, hz: float, wall: float, left_out: tuple[str, ...]) -> list[_Piece]:
    t = wall / 2
    # top and bottom lie between the side walls, front and back between all: no two slabs overlap
    slabs: dict[str, tuple[Vec3, Vec3]] = {
        "left": ((-hx + t, 0.0, 0.0), (t, hy, hz)),
        "right": ((hx - t, 0.0, 0.0), (t, hy, hz)),
        "bottom": ((0.0, 0.0, -hz + t), (hx - wall, hy, t)),
        "top": ((0.0, 0.0, hz - t), (hx - wall, hy, t)),
        "front": ((0.0, -hy + t, 0.0), (hx - wall, t, hz - wall)),
        "back": ((0.0, hy - t, 0.0), (hx - wall, t, hz - wall)),
    }
    if "top" in left_out:
        # nothing covers the upper edge of front and back: they reach it
        for side in ("front", "back"):
            (x, y, _), (sx, sy, sz) = slabs[side]
            slabs[side] = ((x, y, t), (sx, sy, sz + t))
    return [("box", slabs[s][1], _at(*slabs[s][0]), "") for s in _SIDES if s not in left_out]


def _folded(half: Vec3, waves: float, band: tuple[float, float] | None, layers: int, *, where: str) -> list[_Piece]:
    hx, hy, hz = half
    try:
        line, thickness = folded_line(hy, 2.0 * hz, layers)
    except GeometryError as problem:
        raise SceneError(f"{where}: {problem}") from problem
    x0, x1 = band or (-hx, hx)
    if band is not None and not -hx <= x0 < x1 <= hx:
        raise SceneError(f"{where}: a band from {x0:g} to {x1:g} m lies not on a cloth from {-hx:g} to {hx:g} m")
    size = (x0, x1, thickness + (0.0 if band is None else _BAND_M), waves, 1.0, *(v for p in line for v in p))
    # the folds of the line are at its +x, those of the class in front of it
    drawn: _Piece = ("cloth", size, (0.0, 0.0, -hz, *quat_about((0.0, 0.0, 1.0), -math.pi / 2)), "visual")
    return [drawn] if band is not None else [drawn, ("box", half, _at(0.0, 0.0, 0.0), "collision")]


def _arc(radius: float, thick: float, start_deg: float, end_deg: float, n: int) -> list[_Piece]:
    out: list[_Piece] = []
    step = (end_deg - start_deg) / n
    for k in range(n):
        s0, c0 = sin_cos(math.radians(start_deg + step * k))
        s1, c1 = sin_cos(math.radians(start_deg + step * (k + 1)))
        dx, dz = radius * (c1 - c0), radius * (s1 - s0)
        long = math.sqrt(dx * dx + dz * dz)
        # a capsule is the same both ways round: take the way up
        q = _turn_about_y(dx / long, dz / long) if dz >= 0.0 else _turn_about_y(-dx / long, -dz / long)
        out.append(("capsule", (thick, long / 2), (radius * (c0 + c1) / 2, 0.0, radius * (s0 + s1) / 2, *q), "visual"))
    return out


def _turn_about_y(sine: float, cosine: float) -> Quat:
    """Turn about y that takes +z towards +x, from its sine and cosine (cosine above -1). Only square roots."""
    w = math.sqrt((1.0 + cosine) / 2.0)
    return (w, 0.0, sine / (2.0 * w), 0.0)


def _at(x: float, y: float, z: float) -> Pose:
    return (x, y, z, 1.0, 0.0, 0.0, 0.0)
