"""Numbers of a class file: formulas evaluated with the thing's parameters, lengths scaled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from iwreplay.pose import Pose, Quat, Vec3, quat_about, quat_mul
from iwreplay.scene.expr import Num, evaluate

__all__ = ["Numbers", "rotation_from_rpy_deg"]


def rotation_from_rpy_deg(roll: float, pitch: float, yaw: float) -> Quat:
    """Turn about x, then y, then z, in degrees."""
    q: Quat = (1.0, 0.0, 0.0, 0.0)
    for axis, angle in (((1.0, 0.0, 0.0), roll), ((0.0, 1.0, 0.0), pitch), ((0.0, 0.0, 1.0), yaw)):
        if angle:
            q = quat_mul(quat_about(axis, math.radians(angle)), q)
    return q


@dataclass(frozen=True)
class Numbers:
    """Parameters and scale of one thing."""

    params: Mapping[str, float]
    scale: float = 1.0

    def value(self, formula: Num, *, where: str) -> float:
        """An angle, a count: not scaled."""
        return evaluate(formula, self.params, where=where)

    def length(self, formula: Num, *, where: str) -> float:
        """Metres, scaled."""
        return evaluate(formula, self.params, where=where) * self.scale

    def point(self, p: tuple[Num, Num, Num], *, where: str) -> Vec3:
        return (self.length(p[0], where=where), self.length(p[1], where=where), self.length(p[2], where=where))

    def pose(self, pos: tuple[Num, Num, Num], rpy_deg: tuple[Num, Num, Num], *, where: str) -> Pose:
        r, p, y = (self.value(v, where=f"{where}.rpy_deg") for v in rpy_deg)
        return (*self.point(pos, where=f"{where}.pos"), *rotation_from_rpy_deg(r, p, y))
