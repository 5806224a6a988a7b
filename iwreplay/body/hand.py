"""The figure's hands: a palm that goes on from the ring of the wrist, four fingers and a thumb drawn out of it.

Places are those of the left hand in the rest pose, from its wrist joint: x along the fingers, y to the back of the
hand, z to the thumb's side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from iwreplay.body.cage import Half, Influences
from iwreplay.body.skeleton import REST_OFFSETS, joint
from iwreplay.body.skin import REST_JOINTS
from iwreplay.pose import Vec3

__all__ = ["add_hand"]

#: columns of the ring of the wrist: upper row from the thumb's side on, and the lower row under it
_UPPER, _LOWER = (2, 1, 0, 9, 8), (3, 4, 5, 6, 7)


class _Palm(NamedTuple):
    """A ring of the palm: five places across."""

    x: tuple[float, float, float, float, float]
    z: tuple[float, float, float, float, float]
    #: of the back of the hand and of the palm, in the middle; the edges are thinner
    upper: float
    lower: float
    wrist: float


_PALM = (
    _Palm((0.004,) * 5, (0.0285, 0.0155, 0.0, -0.0150, -0.0275), 0.0165, -0.0165, 0.7),
    _Palm((0.020,) * 5, (0.0330, 0.0180, 0.0, -0.0180, -0.0340), 0.0165, -0.0180, 1.0),
    _Palm((0.055, 0.056, 0.056, 0.054, 0.050), (0.0400, 0.0205, 0.0, -0.0215, -0.0420), 0.0160, -0.0180, 1.0),
    _Palm((0.084, 0.087, 0.086, 0.081, 0.071), (0.0400, 0.0180, -0.0045, -0.0255, -0.0435), 0.0140, -0.0155, 1.0),
    _Palm((0.098, 0.108, 0.107, 0.101, 0.086), (0.0385, 0.0170, -0.0045, -0.0245, -0.0425), 0.0105, -0.0130, 1.0),
)
#: the thumb grows from the side of the palm between these rings
_THUMB_ROOT = 1
#: name, half width
_FINGERS = (("index", 0.0083), ("middle", 0.0085), ("ring", 0.0080), ("pinky", 0.0069))


class _Digit(NamedTuple):
    """A finger or the thumb."""

    #: of wrist and the three of the digit; places of the three and of the tip
    joints: Sequence[int]
    at: Sequence[Vec3]
    #: a ring each: number of the bone, share of the way along it, part of the size, shares of the joints
    steps: Sequence[tuple[int, float, float, tuple[float, ...]]]
    #: half width
    size: float
    #: towards the nail
    up: Vec3


def add_hand(half: Half, wrist_ring: Sequence[int]) -> None:
    """Closes an arm that ends in `wrist_ring` (ten vertices, the first on top, then towards the thumb)."""
    side = half.name
    tag = ("skin", f"{side}_hand")
    wrist, elbow = joint(f"{side}_wrist"), joint(f"{side}_elbow")
    ox, oy, oz = REST_JOINTS[joint("left_wrist")]
    rings = [list(wrist_ring)]
    for palm in _PALM:
        shares = {wrist: palm.wrist, elbow: 1.0 - palm.wrist} if palm.wrist < 1.0 else {wrist: 1.0}
        ring = [0] * 10
        for k in range(5):
            edge = 0.55 if k in (0, 4) else 1.0
            for column, y in ((_UPPER[k], palm.upper), (_LOWER[k], palm.lower)):
                ring[column] = half.vertex((ox + palm.x[k], oy + edge * y, oz + palm.z[k]), shares)
        rings.append(ring)
    for n, (a, b) in enumerate(pairwise(rings)):
        for k in range(10):
            if n != _THUMB_ROOT + 1 or k != _UPPER[0]:
                q = (k + 1) % 10
                half.face((a[k], a[q], b[q], b[k]), tag)
    near, far = rings[_THUMB_ROOT + 1], rings[_THUMB_ROOT + 2]
    up, low = _UPPER[0], _LOWER[0]
    _thumb(half, (near[up], near[low], far[low], far[up]))
    last = rings[-1]
    for k, (name, size) in enumerate(_FINGERS):
        root = (last[_UPPER[k]], last[_LOWER[k]], last[_LOWER[k + 1]], last[_UPPER[k + 1]])
        _finger(half, name, root, size)


def _joints(side: str, finger: str) -> tuple[list[int], list[Vec3]]:
    """Indices of wrist and three joints, and the left hand's places of the three and of the tip."""
    at = [REST_JOINTS[joint(f"left_{finger}{i}")] for i in (1, 2, 3)]
    dx, dy, dz = REST_OFFSETS[joint(f"left_{finger}3")]
    tip = (at[2][0] + dx, at[2][1] + dy, at[2][2] + dz)
    return [joint(f"{side}_wrist"), *(joint(f"{side}_{finger}{i}") for i in (1, 2, 3))], [*at, tip]


def _finger(half: Half, name: str, root: Sequence[int], size: float) -> None:
    joints, at = _joints(half.name, name)
    steps = (
        (0, 0.5, 1.00, (0.0, 1.0, 0.0, 0.0)),
        (0, 0.85, 0.98, (0.0, 0.8, 0.2, 0.0)),
        (1, 0.18, 0.98, (0.0, 0.2, 0.8, 0.0)),
        (1, 0.95, 0.92, (0.0, 0.0, 0.5, 0.5)),
        (2, 0.55, 0.88, (0.0, 0.0, 0.0, 1.0)),
        (2, 0.95, 0.68, (0.0, 0.0, 0.0, 1.0)),
    )
    _drawn_out(half, root, _Digit(joints, at, steps, size, (0.0, 1.0, 0.0)))
    # the web is part of the hand, but its finger's side follows the finger a little
    for v in root:
        half.cage.influences[v] = {joints[0]: 0.6, joints[1]: 0.4}


def _thumb(half: Half, root: Sequence[int]) -> None:
    joints, at = _joints(half.name, "thumb")
    steps = (
        (0, 0.35, 1.25, (0.0, 1.0, 0.0, 0.0)),
        (0, 0.85, 1.05, (0.0, 0.75, 0.25, 0.0)),
        (1, 0.25, 1.00, (0.0, 0.15, 0.85, 0.0)),
        (1, 0.95, 0.95, (0.0, 0.0, 0.5, 0.5)),
        (2, 0.55, 0.95, (0.0, 0.0, 0.0, 1.0)),
        (2, 0.98, 0.70, (0.0, 0.0, 0.0, 1.0)),
    )
    _drawn_out(half, root, _Digit(joints, at, steps, 0.0102, (0.25, 0.95, -0.1)))


def _drawn_out(half: Half, root: Sequence[int], digit: _Digit) -> None:
    """Rings of four along the bones, the last one closed. root: upper near, lower near, lower far, upper far."""
    tag = ("skin", f"{half.name}_hand")
    before = list(root)
    for bone, share, thick, amounts in digit.steps:
        a, b = digit.at[bone], digit.at[bone + 1]
        d = _unit((b[0] - a[0], b[1] - a[1], b[2] - a[2]))
        across = _unit(_cross(digit.up, d))
        over = _cross(d, across)
        c = tuple(a[i] + share * (b[i] - a[i]) for i in range(3))
        h = digit.size * thick
        shares: Influences = {j: s for j, s in zip(digit.joints, amounts, strict=True) if s > 0.0}
        after = []
        for k, m in ((-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (1.0, 1.0)):
            p = tuple(c[i] + k * h * across[i] + m * h * over[i] for i in range(3))
            after.append(half.vertex((p[0], p[1], p[2]), shares))
        half.bridge(before, after, tag)
        before = after
    half.face(before, tag)


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _unit(v: Vec3) -> Vec3:
    n = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return (v[0] / n, v[1] / n, v[2] / n)
