"""What stands in the way of a camera: the solids of a world, asked by rays and by points.

Plain products and sums, one element at a time, so that the answers have the same bits everywhere.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt

from iwreplay.pose import Pose, Vec3, inverse, quat_to_matrix, transform_point
from iwreplay.scene.geometry import Solid, shape_half, solids_at
from iwreplay.scene.model import CompiledScene, Shape, Thing
from iwreplay.vocabulary import AttrValue

__all__ = ["Obstacles", "Stood"]


class Stood(Protocol):
    """What is read of a world state."""

    poses: dict[str, Pose]
    joints: dict[str, float]
    attrs: dict[str, dict[str, AttrValue]]


class Obstacles:
    """Asks one scene again and again; solids of what has not moved are kept."""

    def __init__(self, scene: CompiledScene) -> None:
        self.scene = scene
        self._held: dict[str, tuple[Pose, tuple[float, ...], tuple[Solid, ...]]] = {}
        self._key: tuple[object, ...] | None = None
        self._fixed = [t for t in scene.things if t.fixed]

    def free_m(self, state: Stood, *, origin: Vec3, toward: Vec3, most_m: float) -> float:
        """Free way from `origin` along the direction `toward` (any length) before furniture or the building is met,
        metres, at most `most_m`. Solids count as the boxes around them; those that hold `origin` do not count."""
        self._follow(state)
        n = math.sqrt(toward[0] * toward[0] + toward[1] * toward[1] + toward[2] * toward[2])
        if not (n > 0.0 and len(self._half)):
            return most_m
        near, far = np.zeros(len(self._half)), np.full(len(self._half), most_m)
        around = np.ones(len(self._half), np.bool_)
        for axis in range(3):
            r = self._rows[:, axis]
            o = _products(r, [origin[k] - self._middle[:, k] for k in range(3)])
            d = _products(r, [toward[k] / n for k in range(3)])
            half = self._half[:, axis]
            level = np.abs(d) < 1e-12
            per = 1.0 / np.where(level, 1.0, d)
            a, b = (-half - o) * per, (half - o) * per
            missed = np.abs(o) > half
            around &= ~missed
            near = np.maximum(near, np.where(level, np.where(missed, math.inf, 0.0), np.minimum(a, b)))
            far = np.minimum(far, np.where(level, most_m, np.maximum(a, b)))
        met = near[(near <= far) & ~around]
        return float(met.min()) if len(met) else most_m

    def holding(self, state: Stood, point: Vec3, *, margin_m: float = 0.0) -> str:
        """Id of a thing that the point lies in (or within `margin_m` of), "" when there is none."""
        for thing in self.scene.things:
            if state.attrs[thing.id].get("exists") is False:
                continue
            if any(_inside(s, point, margin_m) for s in self._solids(thing, state)):
                return thing.id
        return ""

    def _solids(self, thing: Thing, state: Stood) -> tuple[Solid, ...]:
        pose = state.poses[thing.id]
        at = tuple(state.joints[f"{thing.id}.{k.joint.name}"] for k in thing.links if k.joint is not None)
        held = self._held.get(thing.id)
        if held is None or held[0] != pose or held[1] != at:
            held = self._held[thing.id] = (pose, at, solids_at(thing, pose, state.joints))
        return held[2]

    def _follow(self, state: Stood) -> None:
        found = [s for t in self._fixed if state.attrs[t.id].get("exists") is not False for s in self._solids(t, state)]
        key = tuple(map(id, found))
        if key == self._key:
            return
        self._key = key
        self._middle: npt.NDArray[np.float64] = np.array([s.pose[:3] for s in found]).reshape(-1, 3)
        # the rows that turn a vector of the world into one of the solid
        rows = [quat_to_matrix(inverse(s.pose)[3:]) for s in found]
        self._rows: npt.NDArray[np.float64] = np.array(rows).reshape(-1, 3, 3)
        self._half: npt.NDArray[np.float64] = np.array([_half(s) for s in found]).reshape(-1, 3)


def _products(rows: npt.NDArray[np.float64], v: list[npt.NDArray[np.float64]] | list[float]) -> npt.NDArray[np.float64]:
    """Products of three columns with three numbers (or columns), added from left to right."""
    out: npt.NDArray[np.float64] = rows[:, 0] * v[0] + rows[:, 1] * v[1] + rows[:, 2] * v[2]
    return out


def _half(solid: Solid) -> Vec3:
    return shape_half(Shape(kind=solid.kind, size=solid.size, material=""))  # type: ignore[arg-type]


def _inside(solid: Solid, point: Vec3, margin_m: float) -> bool:
    x, y, z = transform_point(inverse(solid.pose), point)
    size = solid.size
    hx, hy, hz = (h + margin_m for h in _half(solid))
    if abs(x) > hx or abs(y) > hy or abs(z) > hz:
        return False
    if solid.kind == "sphere":
        return x * x + y * y + z * z <= hx * hx
    if solid.kind == "capsule":
        beyond = max(0.0, abs(z) - size[1])
        return x * x + y * y + beyond * beyond <= hx * hx
    if solid.kind == "cylinder":
        return x * x + y * y <= hx * hx
    if solid.kind == "cone":
        share = (z + size[2]) / (2.0 * size[2]) if size[2] > 0.0 else 0.0
        r = size[0] + (size[1] - size[0]) * min(1.0, max(0.0, share)) + margin_m
        return x * x + y * y <= r * r
    return True
