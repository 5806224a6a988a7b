"""Between two bodies: trunk and head are interpolated, hands and feet are led through space, limbs follow.

Interpolating all joint angles would let feet slide through the floor and a held cup tip over on the way; so the
wrists and ankles are interpolated where they are and the limbs are solved for them. What a limb's own solution
leaves out at either end (a twist of its own) fades in and out, so that both ends are met exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from iwreplay.body.kinematics import chain, quat_of, root_of
from iwreplay.body.limbs import LEFT_ARM, LEFT_LEG, RIGHT_ARM, RIGHT_LEG, Limb, rotation_of
from iwreplay.body.postures import TRUNK, put_limb
from iwreplay.body.skeleton import LEFT_WRIST_FROM_PALM, RIGHT_WRIST_FROM_PALM
from iwreplay.pose import (
    Pose,
    Quat,
    Vec3,
    compose,
    from_xyz_yaw,
    inverse,
    normalised,
    quat_mul,
    transform_point,
    wrap_angle,
    yaw_of,
)

__all__ = ["Blend", "Body", "ground_of", "smooth"]

Body = tuple[float, ...]

_LIMBS = (RIGHT_ARM, LEFT_ARM, LEFT_LEG, RIGHT_LEG)
_LIMB_JOINTS = tuple(j for limb in _LIMBS for j in (limb.upper, limb.lower, limb.end))
_CHAIN = tuple(sorted({*TRUNK, *_LIMB_JOINTS}))
_FREE = tuple(i for i in range(7, 163) if (i - 7) // 3 not in _LIMB_JOINTS)
#: no turn, and what is none but for rounding
_NOTHING: Vec3 = (0.0, 0.0, 0.0)
_ROUNDING_RAD = 1e-9
#: a bend smaller than this gives no direction to bend towards
_STRAIGHT_M = 0.01


def smooth(s: float) -> float:
    """Quintic from 0 to 1 with no speed and no acceleration at the ends; clamped."""
    s = min(1.0, max(0.0, s))
    return s * s * s * (s * (6.0 * s - 15.0) + 10.0)


def ground_of(body: Body) -> Pose:
    """World pose of the ground frame below the pelvis: upright, on the floor."""
    root = root_of(body)
    return from_xyz_yaw(root[0], root[1], 0.0, yaw_of(root[3:]))


class _End:
    """One end of a blend: where its limbs are, against its ground frame."""

    def __init__(self, body: Body) -> None:
        self.body = body
        root = root_of(body)
        self.yaw = yaw_of(root[3:])
        at = chain(body, _CHAIN)
        to_ground = inverse(ground_of(body))
        self.ends = {limb: compose(to_ground, at[limb.end]) for limb in _LIMBS}
        self.poles = {limb: _pole(limb, to_ground, at) for limb in _LIMBS}


def _pole(limb: Limb, to_ground: Pose, at: dict[int, Pose]) -> Vec3 | None:
    """Direction towards which a limb bends, as of a right limb, or None when it is straight."""
    a, m, e = (transform_point(to_ground, at[j][:3]) for j in (limb.upper, limb.lower, limb.end))
    d = (e[0] - a[0], e[1] - a[1], e[2] - a[2])
    n = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    k = ((m[0] - a[0]) * d[0] + (m[1] - a[1]) * d[1] + (m[2] - a[2]) * d[2]) / n if n > 0.0 else 0.0
    p = (m[0] - a[0] - k * d[0], m[1] - a[1] - k * d[1], m[2] - a[2] - k * d[2])
    size = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
    if size < _STRAIGHT_M:
        return None
    side = -1.0 if limb in (LEFT_ARM, LEFT_LEG) else 1.0
    return (p[0] / size, side * p[1] / size, p[2] / size)


class Blend:
    """`at(0)` is `start`, `at(1)` is `goal`, both exactly. hand: world positions that the right (or left) palm
    passes; it turns on the first half of its way, on one `back` from what was reached for on the second."""

    def __init__(
        self, start: Body, goal: Body, *, hand: Sequence[Vec3] = (), left: bool = False, back: bool = False
    ) -> None:
        self._a, self._b = _End(start), _End(goal)
        self._arm = LEFT_ARM if left else RIGHT_ARM
        self._back = back
        self._wrist_from_palm = LEFT_WRIST_FROM_PALM if left else RIGHT_WRIST_FROM_PALM
        self._turn = wrap_angle(self._b.yaw - self._a.yaw)
        self._hand = self._line(hand)
        self._rest = (self._leftover(0.0, start), self._leftover(1.0, goal))

    def at(self, s: float) -> Body:
        """Body at share `s` of the way, 0..1."""
        if s <= 0.0:
            return self._a.body
        if s >= 1.0:
            return self._b.body
        return tuple(self._whole(s, _LIMBS))

    def arm_at(self, s: float) -> tuple[Pose, Pose, Pose]:
        """World poses of shoulder, elbow and wrist of the arm that is led; as in `at`, in less time."""
        arm = self._arm
        v = self._whole(min(1.0, max(0.0, s)), (arm,))
        at = chain(v, tuple(sorted({*TRUNK, arm.upper, arm.lower, arm.end})))
        return at[arm.upper], at[arm.lower], at[arm.end]

    @property
    def shares(self) -> tuple[float, ...]:
        """Shares of the way at which the palm passes the points of `hand`."""
        return tuple(share for share, _ in self._hand[1:])

    @property
    def hand_m(self) -> float:
        """Length of the palm's way."""
        points = [p for _, p in self._hand]
        return sum(math.dist(p, q) for p, q in pairwise(points))

    def _whole(self, s: float, limbs: tuple[Limb, ...]) -> list[float]:
        v = self._solved(s, limbs)
        for k, j in enumerate(_LIMB_JOINTS):
            if _LIMBS[k // 3] in limbs:
                for share, rest in ((1.0 - s, self._rest[0][k]), (s, self._rest[1][k])):
                    if rest != _NOTHING:
                        twist = quat_of((share * rest[0], share * rest[1], share * rest[2]))
                        v[7 + 3 * j : 10 + 3 * j] = rotation_of(quat_mul(quat_of(_turn_of(v, j)), twist))
        return v

    def _line(self, hand: Sequence[Vec3]) -> list[tuple[float, Vec3]]:
        """(share of the way, palm position in the ground frame); empty: straight."""
        if not hand:
            return []
        palm = self._palm(self._a)
        to_ground = inverse(ground_of(self._b.body))
        points = [palm[:3], *(transform_point(to_ground, p) for p in hand)]
        lengths = [0.0]
        for p, q in pairwise(points):
            lengths.append(lengths[-1] + math.dist(p, q))
        total = lengths[-1] or 1.0
        return [(d / total, p) for d, p in zip(lengths, points, strict=True)]

    def _solved(self, s: float, limbs: tuple[Limb, ...] = _LIMBS) -> list[float]:
        a, b = self._a, self._b
        v = [0.0] * len(a.body)
        for i in (0, 1, 2, *_FREE):
            v[i] = a.body[i] + s * (b.body[i] - a.body[i])
        ground = from_xyz_yaw(v[0], v[1], 0.0, a.yaw + s * self._turn)
        v[3:7] = ground[3:]
        trunk = chain(v, TRUNK)
        for limb in limbs:
            end = _mix_pose(a.ends[limb], b.ends[limb], s)
            if limb is self._arm and self._hand:
                end = self._wrist(s)
            pole = _mix_pole(a.poles[limb], b.poles[limb], s)
            put_limb(v, trunk, limb, compose(ground, end), pole=pole)
        return v

    def _wrist(self, s: float) -> Pose:
        a, b = self._palm(self._a), self._palm(self._b)
        k = 1
        while k < len(self._hand) - 1 and self._hand[k][0] < s:
            k += 1
        (s0, p), (s1, q) = self._hand[k - 1], self._hand[k]
        t = (s - s0) / (s1 - s0) if s1 > s0 else 1.0
        turned = _mix_pose(a, b, max(0.0, 2.0 * s - 1.0) if self._back else min(1.0, 2.0 * s))
        palm: Pose = (*(p[i] + t * (q[i] - p[i]) for i in range(3)), *turned[3:])  # type: ignore[assignment]
        return compose(palm, inverse(self._wrist_from_palm))

    def _palm(self, end: _End) -> Pose:
        return compose(end.ends[self._arm], self._wrist_from_palm)

    def _leftover(self, s: float, body: Body) -> list[Vec3]:
        """What the solved limbs lack of the given ones, a turn (axis-angle) for two joints and an end of each limb: the
        short way, since the same turn has other numbers the long way round."""
        v = self._solved(s)
        return [_between(_turn_of(v, j), _turn_of(body, j)) for j in _LIMB_JOINTS]


def _turn_of(body: Sequence[float], j: int) -> Vec3:
    return (body[7 + 3 * j], body[8 + 3 * j], body[9 + 3 * j])


def _between(a: Vec3, b: Vec3) -> Vec3:
    """The turn that makes one turn another, all axis-angle."""
    w, x, y, z = quat_of(a)
    found = rotation_of(quat_mul((w, -x, -y, -z), quat_of(b)))
    return found if any(abs(part) > _ROUNDING_RAD for part in found) else _NOTHING


def _mix_pose(a: Pose, b: Pose, s: float) -> Pose:
    dot = sum(a[i] * b[i] for i in range(3, 7))
    k = -s if dot < 0.0 else s
    q: Quat = tuple((1.0 - s) * a[i] + k * b[i] for i in range(3, 7))  # type: ignore[assignment]
    x, y, z = (a[i] + s * (b[i] - a[i]) for i in range(3))
    return (x, y, z, *normalised(q))


def _mix_pole(a: Vec3 | None, b: Vec3 | None, s: float) -> Vec3 | None:
    if a is None or b is None:
        return a or b
    return (a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]))
