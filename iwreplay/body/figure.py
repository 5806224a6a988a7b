"""Our own body: trunk, head, arms and legs of the figure as one cage around the rest skeleton, refined once.

Rings run around a limb; their numbers are half widths and places in metres in the rest pose (SMPL axes: x to the
left, y up, z forward). All of it is ours, no model file is involved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from iwreplay.body.cage import Cage, Half, Influences, Tag
from iwreplay.body.hand import add_hand
from iwreplay.body.skeleton import joint
from iwreplay.body.skin import REST_JOINTS, BodySkin, SkinPart, influences_with_twist, skin_of
from iwreplay.pose import Vec3
from iwreplay.trig import sin_cos

__all__ = ["FIGURE_RGB", "own_skin"]

#: sRGB of what the figure is made of and wears
FIGURE_RGB: dict[str, tuple[int, int, int]] = {
    "skin": (222, 178, 150),
    "shirt": (92, 116, 148),
    "trousers": (58, 60, 72),
    "shoes": (40, 36, 34),
    "hair": (66, 46, 34),
    "eyes": (38, 32, 30),
    "lips": (190, 118, 106),
}

_AROUND, _LIMB = 16, 10
#: refinement draws rings in by so much
_PUFF, _LIMB_PUFF = 1.0 / 0.98, 1.0 / 0.95


class _Loop(NamedTuple):
    """A ring around trunk or head."""

    y: float
    half_x: float
    front_z: float
    back_z: float
    #: the front lies so much higher than the middle, the back so much lower
    tilt: float = 0.0
    #: how much the corners stand out
    square: float = 0.12


def _ring(cage: Cage, loop: _Loop, shares: Sequence[Influences], *, lift: Sequence[float] = ()) -> list[int]:
    """Sixteen vertices, the first in front, then towards the left. shares: of front, ... in the same order."""
    out = []
    middle, depth = (loop.front_z + loop.back_z) / 2.0, (loop.front_z - loop.back_z) / 2.0
    for k in range(_AROUND):
        s, c = sin_cos(2.0 * math.pi * k / _AROUND)
        out_by = _PUFF * (1.0 + loop.square * 4.0 * s * s * c * c)
        up = lift[min(k, _AROUND - k)] if lift else 0.0
        p = (loop.half_x * out_by * s, loop.y + loop.tilt * c + up, middle + depth * out_by * c)
        out.append(cage.vertex(p, shares[k]))
    return out


def _same(**shares: float) -> list[Influences]:
    return [{joint(n): v for n, v in shares.items()}] * _AROUND


def _hips(pelvis_middle: float, pelvis_side: float) -> list[Influences]:
    """Pelvis and, at the sides, the hip joints."""
    out: list[Influences] = []
    for k in range(_AROUND):
        s, _ = sin_cos(2.0 * math.pi * k / _AROUND)
        stays = pelvis_middle + (pelvis_side - pelvis_middle) * abs(s)
        out.append({joint("pelvis"): stays, joint("left_hip" if s > 0.0 else "right_hip"): 1.0 - stays})
    return out


def _chest(spine2: float, collar_side: float, neck: float = 0.0) -> list[Influences]:
    """Chest and, at the sides, the collar joints."""
    out: list[Influences] = []
    for k in range(_AROUND):
        s, _ = sin_cos(2.0 * math.pi * k / _AROUND)
        collar = collar_side * s * s
        rest = 1.0 - collar
        mine = {
            joint("spine2"): rest * spine2,
            joint("neck"): rest * neck,
            joint("spine3"): rest * (1.0 - spine2 - neck),
            joint("left_collar" if s > 0.0 else "right_collar"): collar,
        }
        out.append({j: v for j, v in mine.items() if v > 0.0})
    return out


def _band(cage: Cage, below: Sequence[int], above: Sequence[int], tag: Tag, *, skip: Sequence[int] = ()) -> None:
    """Quadrilaterals between two rings of the trunk; column k lies between vertices k and k + 1."""
    for k in range(_AROUND):
        if k not in skip:
            n = (k + 1) % _AROUND
            cage.face((below[k], below[n], above[n], above[k]), tag)


_ARM_COLUMNS = (3, 4, 11, 12)


def _trunk(cage: Cage) -> tuple[list[int], list[list[int]], list[int]]:
    """(lowest ring, the four rings around the arm holes, ring of the neck)."""
    shirt, trousers = ("shirt", "trunk"), ("trousers", "trunk")
    low = _ring(cage, _Loop(-0.085, 0.172, 0.088, -0.118), _hips(0.9, 0.45))
    waist = _ring(cage, _Loop(-0.01, 0.168, 0.100, -0.126), _hips(1.0, 0.8))
    hem = _ring(cage, _Loop(-0.022, 0.181, 0.114, -0.138), _hips(1.0, 0.8))
    rings = [
        hem,
        _ring(cage, _Loop(0.03, 0.172, 0.113, -0.132), _same(pelvis=0.8, spine1=0.2)),
        _ring(cage, _Loop(0.11, 0.156, 0.112, -0.112), _same(pelvis=0.3, spine1=0.7)),
        _ring(cage, _Loop(0.20, 0.153, 0.114, -0.106), _same(spine1=0.5, spine2=0.5)),
        _ring(cage, _Loop(0.29, 0.163, 0.124, -0.112), _same(spine2=0.4, spine3=0.6)),
        _ring(cage, _Loop(0.352, 0.163, 0.128, -0.118), _chest(0.0, 0.25)),
        _ring(cage, _Loop(0.402, 0.160, 0.122, -0.121), _chest(0.0, 0.6)),
        _ring(cage, _Loop(0.448, 0.150, 0.103, -0.118), _chest(0.0, 0.8)),
        _ring(cage, _Loop(0.491, 0.128, 0.072, -0.100), _chest(0.0, 0.75, 0.05)),
    ]
    _band(cage, low, waist, trousers)
    _band(cage, waist, hem, shirt)
    for k, (a, b) in enumerate(pairwise(rings)):
        _band(cage, a, b, shirt, skip=_ARM_COLUMNS if k >= 5 else ())
    collar = _ring(cage, _Loop(0.516, 0.078, 0.050, -0.084, tilt=-0.012), _same(spine3=0.6, neck=0.4))
    edge = _ring(cage, _Loop(0.534, 0.066, 0.046, -0.074, tilt=-0.012), _same(spine3=0.4, neck=0.6))
    inside = _ring(cage, _Loop(0.531, 0.058, 0.038, -0.066, tilt=-0.012), _same(spine3=0.3, neck=0.7))
    _band(cage, rings[-1], collar, shirt)
    _band(cage, collar, edge, shirt)
    _band(cage, edge, inside, shirt)
    return low, rings[5:9], inside


def _head(cage: Cage, below: list[int]) -> None:
    neck = ("skin", "neck")
    top = _ring(cage, _Loop(0.556, 0.056, 0.040, -0.066, tilt=-0.008), _same(neck=1.0))
    _band(cage, below, top, neck)
    throat = _ring(cage, _Loop(0.578, 0.055, 0.056, -0.070, tilt=-0.018), _same(neck=0.4, head=0.6))
    _band(cage, top, throat, ("skin", "head"))
    own = _same(head=1.0)
    loops = (
        _Loop(0.590, 0.055, 0.094, -0.084, tilt=-0.028, square=-0.02),
        _Loop(0.612, 0.066, 0.102, -0.096, tilt=-0.016, square=0.0),
        _Loop(0.634, 0.072, 0.103, -0.102, tilt=-0.004, square=0.02),
        _Loop(0.660, 0.075, 0.101, -0.105, square=0.02),
        _Loop(0.686, 0.076, 0.103, -0.106, square=0.02),
        _Loop(0.716, 0.075, 0.098, -0.106, square=0.03),
        _Loop(0.752, 0.064, 0.074, -0.088, square=0.03),
        _Loop(0.776, 0.038, 0.040, -0.052, square=0.0),
    )
    before = throat
    for n, loop in enumerate(loops):
        ring = _ring(cage, loop, own)
        for k, back in ((0, n == 3), (1, n == 3), (15, n == 3), (0, n == 2)):
            x, y, z = cage.positions[ring[k]]
            # the bridge and the tip of the nose stand out, the eyes lie back
            dz = 0.022 if n == 2 else 0.012 if k == 0 else -0.008
            if back:
                cage.positions[ring[k]] = (x, y - (0.006 if n == 2 else 0.0), z + dz)
        for k in range(_AROUND):
            q = (k + 1) % _AROUND
            side = min(k, _AROUND - 1 - k)
            hair = n >= 6 or (n >= 3 and side >= 3) or (n == 5 and side >= 2) or (n >= 1 and side >= 5)
            cage.face((before[k], before[q], ring[q], ring[k]), ("hair" if hair else "skin", "head"))
        before = ring
    top_of_head = cage.vertex((0.0, 0.786, -0.006), own[0])
    for k in range(_AROUND):
        cage.face((before[k], before[(k + 1) % _AROUND], top_of_head), ("hair", "head"))
    _ball(Half(cage, 1.0), (0.0, 0.596, 0.0930), (0.0230, 0.0055, 0.0120), ("lips", "head"))
    for sign in (1.0, -1.0):
        half = Half(cage, sign)
        _ball(half, (0.0315, 0.664, 0.0865), (0.0125, 0.0075, 0.0125), ("eyes", "head"))
        _ball(half, (0.0790, 0.650, 0.0060), (0.0110, 0.0330, 0.0200), ("skin", "head"))


def _ball(half: Half, at: Vec3, size: Vec3, tag: Tag) -> None:
    """A cube that refinement rounds."""
    own = {joint("head"): 1.0}
    v = [
        half.vertex((at[0] + sx * size[0], at[1] + sy * size[1], at[2] + sz * size[2]), own)
        for sx in (-1.0, 1.0)
        for sy in (-1.0, 1.0)
        for sz in (-1.0, 1.0)
    ]
    for corners in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)):
        half.face([v[k] for k in corners], tag)


class _Tube(NamedTuple):
    """A ring around a limb."""

    #: along the limb
    at: float
    #: its middle, and half its size, in the other two axes
    middle: tuple[float, float]
    size: tuple[float, float]
    #: share of each of the limb's joints
    shares: tuple[float, ...]


def _shares(joints: Sequence[int], amounts: Sequence[float]) -> Influences:
    return {j: a for j, a in zip(joints, amounts, strict=True) if a > 0.0}


#: distance along x from the middle; middle and half size in y and z; collar, shoulder, elbow, wrist
_ARM = (
    _Tube(0.186, (0.441, -0.010), (0.062, 0.066), (0.45, 0.55, 0.0, 0.0)),
    _Tube(0.222, (0.449, -0.013), (0.056, 0.059), (0.15, 0.85, 0.0, 0.0)),
    _Tube(0.285, (0.453, -0.015), (0.050, 0.052), (0.0, 1.0, 0.0, 0.0)),
    _Tube(0.385, (0.454, -0.015), (0.045, 0.046), (0.0, 1.0, 0.0, 0.0)),
    _Tube(0.438, (0.454, -0.016), (0.043, 0.044), (0.0, 0.75, 0.25, 0.0)),
    _Tube(0.482, (0.454, -0.015), (0.042, 0.044), (0.0, 0.25, 0.75, 0.0)),
    _Tube(0.540, (0.455, -0.012), (0.040, 0.044), (0.0, 0.0, 1.0, 0.0)),
    _Tube(0.620, (0.455, -0.013), (0.033, 0.038), (0.0, 0.0, 1.0, 0.0)),
)
#: the cuff's edge and its inside, then skin
_CUFF = (
    _Tube(0.662, (0.455, -0.014), (0.031, 0.036), (0.0, 0.0, 1.0, 0.0)),
    _Tube(0.659, (0.455, -0.014), (0.024, 0.029), (0.0, 0.0, 1.0, 0.0)),
)
_WRIST = (_Tube(0.694, (0.455, -0.014), (0.0185, 0.0265), (0.0, 0.0, 0.8, 0.2)),)


def _arm(half: Half, holes: list[list[int]]) -> None:
    joints = [joint(f"{half.name}_{n}") for n in ("collar", "shoulder", "elbow", "wrist")]

    def at(row: int, column: int) -> int:
        return holes[row][column if half.sign > 0.0 else (_AROUND - column) % _AROUND]

    # from the top to the front and around, as the rings of the arm run
    hole = [at(3, 4), at(3, 3), at(2, 3), at(1, 3), at(0, 3), at(0, 4), at(0, 5), at(1, 5), at(2, 5), at(3, 5)]

    def ring(tube: _Tube) -> list[int]:
        out = []
        for k in range(_LIMB):
            s, c = sin_cos(2.0 * math.pi * k / _LIMB)
            y = tube.middle[0] + _LIMB_PUFF * tube.size[0] * c
            z = tube.middle[1] + _LIMB_PUFF * tube.size[1] * s
            out.append(half.vertex((tube.at, y, z), _shares(joints, tube.shares)))
        return out

    before = hole
    for tubes, tag in (
        (_ARM, ("shirt", f"{half.name}_arm")),
        (_CUFF, ("shirt", f"{half.name}_forearm")),
        (_WRIST, ("skin", f"{half.name}_forearm")),
    ):
        for tube in tubes:
            after = ring(tube)
            half.bridge(before, after, tag)
            before = after
    add_hand(half, before)


#: height; middle and half size in x, and middle and half size in z; hip, knee, ankle
_LEG = (
    _Tube(-0.155, (0.092, -0.010), (0.084, 0.094), (1.0, 0.0, 0.0)),
    _Tube(-0.250, (0.090, -0.004), (0.077, 0.084), (1.0, 0.0, 0.0)),
    _Tube(-0.370, (0.087, 0.000), (0.066, 0.070), (1.0, 0.0, 0.0)),
    _Tube(-0.437, (0.085, 0.003), (0.059, 0.062), (0.75, 0.25, 0.0)),
    _Tube(-0.492, (0.085, 0.000), (0.057, 0.060), (0.25, 0.75, 0.0)),
    _Tube(-0.580, (0.085, -0.010), (0.055, 0.061), (0.0, 1.0, 0.0)),
    _Tube(-0.740, (0.085, -0.006), (0.049, 0.053), (0.0, 1.0, 0.0)),
    _Tube(-0.872, (0.086, -0.004), (0.049, 0.054), (0.0, 0.6, 0.4)),
)
_LEG_INSIDE = (_Tube(-0.866, (0.086, -0.004), (0.040, 0.044), (0.0, 0.5, 0.5)),)
#: the shoe: height of its front, height of its back, heel, toe, half width
_SHOE = (
    (-0.874, -0.880, -0.056, 0.056, 0.038),
    (-0.898, -0.905, -0.070, 0.118, 0.043),
    (-0.912, -0.925, -0.074, 0.182, 0.049),
    (-0.926, -0.935, -0.072, 0.188, 0.049),
    (-0.940, -0.940, -0.068, 0.182, 0.046),
)


def _leg(half: Half, low: list[int], crotch: int) -> None:
    joints = [joint(f"{half.name}_{n}") for n in ("hip", "knee", "ankle")]
    order = list(range(9)) if half.sign > 0.0 else [0, *range(15, 7, -1)]
    hole = [*(low[k] for k in order), crotch]
    angles = [sin_cos(2.0 * math.pi * (k - 1.5) / _LIMB) for k in range(_LIMB)]
    before = hole
    trousers, shoe = ("trousers", f"{half.name}_leg"), ("shoes", f"{half.name}_foot")
    for tubes in (_LEG, _LEG_INSIDE):
        for tube in tubes:
            after = [
                half.vertex(
                    (
                        tube.middle[0] + _LIMB_PUFF * tube.size[0] * s,
                        tube.at,
                        tube.middle[1] + _LIMB_PUFF * tube.size[1] * c,
                    ),
                    _shares(joints, tube.shares),
                )
                for s, c in angles
            ]
            half.bridge(after, before, trousers)
            before = after
    ankle, foot = joints[2], joint(f"{half.name}_foot")
    bend = REST_JOINTS[foot][2]
    for front_y, back_y, heel, toe, width in _SHOE:
        after = []
        for s, c in angles:
            fore = 0.5 + 0.5 * c
            z = (heel + toe) / 2.0 + _LIMB_PUFF * (toe - heel) / 2.0 * c
            x = 0.090 + 0.03 * max(0.0, z) + _LIMB_PUFF * width * s
            toes = min(max((z - bend + 0.03) / 0.06, 0.0), 1.0)
            shares = _shares((ankle, foot), (1.0 - toes, toes))
            after.append(half.vertex((x, back_y + fore * (front_y - back_y), z), shares))
        half.bridge(after, before, shoe)
        before = after
    half.face(tuple(reversed(before)), shoe)


def _figure() -> Cage:
    cage = Cage()
    low, holes, neck = _trunk(cage)
    _head(cage, neck)
    crotch = cage.vertex((0.0, -0.112, -0.016), {joint("pelvis"): 1.0})
    for sign in (1.0, -1.0):
        half = Half(cage, sign)
        _arm(half, holes)
        _leg(half, low, crotch)
    return cage


@cache
def own_skin() -> BodySkin:
    """The figure's skin, the same on every machine."""
    mesh = _figure().refined()
    order = sorted(range(len(mesh.faces)), key=lambda f: (mesh.tags[f][1], mesh.tags[f][0], f))
    faces: list[tuple[int, int, int]] = []
    parts: list[SkinPart] = []
    tag: Tag | None = None
    for f in order:
        if mesh.tags[f] != tag:
            tag = mesh.tags[f]
            parts.append(SkinPart(len(faces), len(faces), FIGURE_RGB[tag[0]], tag[1] == "head"))
        a, b, c, d = mesh.faces[f]
        faces += [(a, b, c), (a, c, d)]
        parts[-1] = SkinPart(parts[-1].first_face, len(faces), parts[-1].rgb, parts[-1].head)
    shares = [influences_with_twist(p, s) for p, s in zip(mesh.positions, mesh.influences, strict=True)]
    return skin_of("our own figure", mesh.positions, shares, faces, parts)
