"""A skin: a mesh that follows the joints, and the bones it hangs on.

The bones are the 52 joints and, for forearms, upper arms and thighs, four more each that take a share of the turn
about the limb's own axis. Wrist, shoulder and hip carry that turn whole; a skin that followed them alone would be
wrung like a cloth. Portable arithmetic only: bones are worked out again for every frame drawn from a log.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iwreplay.body.kinematics import fk, quat_of
from iwreplay.body.skeleton import N_JOINTS, PARENTS, REST_OFFSETS, joint
from iwreplay.pose import Pose, Quat, Vec3, quat_mul

__all__ = ["BONES", "REST_JOINTS", "BodySkin", "SkinPart", "bone_poses", "influences_with_twist", "skin_of"]

_QUARTERS = 4


def _rest_joints() -> tuple[Vec3, ...]:
    out: list[Vec3] = []
    for j, (dx, dy, dz) in enumerate(REST_OFFSETS):
        x, y, z = out[PARENTS[j]] if j else (0.0, 0.0, 0.0)
        out.append((x + dx, y + dy, z + dz))
    return tuple(out)


#: the joints in the rest pose: SMPL axes, origin in the pelvis joint, metres
REST_JOINTS: tuple[Vec3, ...] = _rest_joints()


class _Twist(NamedTuple):
    """A limb bone whose skin turns about the bone little by little along its length."""

    #: joint at its near end, and at its far end
    near: int
    far: int
    #: the joint whose turn is shared out
    turned: int
    #: index into a vector: the axis of the bone at rest
    axis: int


_TWISTS = (
    *(_Twist(joint(f"{s}_elbow"), joint(f"{s}_wrist"), joint(f"{s}_wrist"), 0) for s in ("left", "right")),
    *(_Twist(joint(f"{s}_shoulder"), joint(f"{s}_elbow"), joint(f"{s}_shoulder"), 0) for s in ("left", "right")),
    *(_Twist(joint(f"{s}_hip"), joint(f"{s}_knee"), joint(f"{s}_hip"), 1) for s in ("left", "right")),
)
#: number of bones: the joints, then for each limb bone those that are turned by 0 (or 1) .. 4 quarters
BONES = N_JOINTS + _QUARTERS * len(_TWISTS)
_BONE_JOINT = (*range(N_JOINTS), *(t.near for t in _TWISTS for _ in range(_QUARTERS)))


@dataclass(frozen=True)
class SkinPart:
    """Faces of one colour in one region."""

    first_face: int
    end_face: int
    #: sRGB 0..255
    rgb: tuple[int, int, int]
    #: what the wearer's own eyes sit in: not drawn in the first-person view
    head: bool
    #: drawn; else it casts its shadow only
    seen: bool = True


@dataclass(frozen=True)
class BodySkin:
    """A mesh in the rest pose (SMPL axes, origin in the pelvis joint, metres) and what it hangs on. Read-only."""

    #: whose it is; a log names it beside the frames that it made
    name: str
    #: (n, 3)
    positions: npt.NDArray[np.float64]
    #: (n, k) indices of bones, and their shares
    bones: npt.NDArray[np.int32]
    shares: npt.NDArray[np.float64]
    #: (BONES, 3) where the bones begin at rest
    origins: npt.NDArray[np.float64]
    #: (m, 3) counter-clockwise seen from outside
    faces: npt.NDArray[np.int32]
    parts: tuple[SkinPart, ...]

    def without_head(self) -> BodySkin:
        """What the wearer sees of it: the same mesh with the head's faces not drawn. Their shadow is there."""
        return replace(self, parts=tuple(replace(p, seen=not p.head) for p in self.parts))


def bone_poses(values: Sequence[float]) -> tuple[Pose, ...]:
    """World poses of the `BONES` bones for 163 body values. GeometryError as in `fk`."""
    at = fk(values)
    out = list(at)
    for t in _TWISTS:
        r: Vec3 = (values[7 + 3 * t.turned], values[8 + 3 * t.turned], values[9 + 3 * t.turned])
        quarters = _quarters(quat_of(r), t.axis)
        x, y, z, *_ = at[t.near]
        q: Quat = at[t.near][3:]
        if t.near == t.turned:  # the far end turns all the way, the near end not at all
            whole = quarters[-1]
            q = quat_mul(q, (whole[0], -whole[1], -whole[2], -whole[3]))
            out.extend((x, y, z, *quat_mul(q, k)) for k in ((1.0, 0.0, 0.0, 0.0), *quarters[:-1]))
        else:
            out.extend((x, y, z, *quat_mul(q, k)) for k in quarters)
    return tuple(out)


def _quarters(q: Quat, axis: int) -> tuple[Quat, Quat, Quat, Quat]:
    """One to four quarters of the turn about a coordinate axis that is in `q`, the short way."""
    w, s = q[0], q[1 + axis]
    if w < 0.0:
        w, s = -w, -s
    n = math.sqrt(w * w + s * s)
    # half a turn across the axis: there is no telling how far about it
    w, s = (w / n, s / n) if n > 1e-9 else (1.0, 0.0)
    h = _halved(w, s)
    f = _halved(*h)
    three = (h[0] * f[0] - h[1] * f[1], h[0] * f[1] + h[1] * f[0])
    first, second, third, fourth = (
        (c, *((k if i == axis else 0.0) for i in range(3))) for c, k in (f, h, three, (w, s))
    )
    return (_quat(first), _quat(second), _quat(third), _quat(fourth))


def _halved(w: float, s: float) -> tuple[float, float]:
    n = math.sqrt((1.0 + w) * (1.0 + w) + s * s)
    return ((1.0 + w) / n, s / n)


def _quat(v: Sequence[float]) -> Quat:
    return (v[0], v[1], v[2], v[3])


def influences_with_twist(p: Vec3, shares: Mapping[int, float]) -> dict[int, float]:
    """Shares of bones for a vertex at rest place `p` from its shares of joints: that of a limb bone goes to the two
    of its bones that stand for the nearest quarters of the way along it."""
    out: dict[int, float] = {}
    for j, share in shares.items():
        found = next((k for k, t in enumerate(_TWISTS) if t.near == j), None)
        if found is None:
            out[j] = out.get(j, 0.0) + share
            continue
        t = _TWISTS[found]
        a, b = REST_JOINTS[t.near][t.axis], REST_JOINTS[t.far][t.axis]
        along = min(max((p[t.axis] - a) / (b - a), 0.0), 1.0) * _QUARTERS
        low = min(int(along), _QUARTERS - 1)
        for step, part in ((low, 1.0 - (along - low)), (low + 1, along - low)):
            bone = _bone_at(found, step)
            if part > 0.0:
                out[bone] = out.get(bone, 0.0) + share * part
    return out


def _bone_at(twist: int, step: int) -> int:
    """The bone that is turned by `step` quarters: one of them is the joint itself."""
    t = _TWISTS[twist]
    first = N_JOINTS + _QUARTERS * twist
    if t.near == t.turned:
        return t.near if step == _QUARTERS else first + step
    return t.near if step == 0 else first + step - 1


def skin_of(
    name: str,
    positions: Sequence[Vec3],
    shares: Sequence[Mapping[int, float]],
    faces: Sequence[tuple[int, int, int]],
    parts: Sequence[SkinPart],
) -> BodySkin:
    """A skin from vertices with shares of bones; the shares are scaled to add up to 1."""
    width = max(len(s) for s in shares)
    bones = np.zeros((len(shares), width), np.int32)
    amounts = np.zeros((len(shares), width))
    for v, mine in enumerate(shares):
        total = math.fsum(mine.values())
        for k, (bone, share) in enumerate(sorted(mine.items())):
            bones[v, k] = bone
            amounts[v, k] = share / total
    arrays = (
        np.array(positions, np.float64),
        bones,
        amounts,
        np.array([REST_JOINTS[j] for j in _BONE_JOINT], np.float64),
        np.array(faces, np.int32),
    )
    for a in arrays:
        a.setflags(write=False)
    return BodySkin(name, *arrays, parts=tuple(parts))
