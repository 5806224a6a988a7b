"""Boxes by the separating-axis test: a second opinion on the exact distances that the package works out."""

from __future__ import annotations

from iwreplay.pose import quat_to_matrix
from iwreplay.scene.geometry import Box

__all__ = ["boxes_overlap"]


def boxes_overlap(a: Box, b: Box, *, margin_m: float = 0.0) -> bool:
    """Separating-axis test of two oriented boxes, `a` grown by `margin_m`."""
    ra, rb = quat_to_matrix(a.pose[3:]), quat_to_matrix(b.pose[3:])
    ha = tuple(h + margin_m for h in a.half)
    d = tuple(b.pose[i] - a.pose[i] for i in range(3))
    cols_a = [tuple(ra[r][c] for r in range(3)) for c in range(3)]
    cols_b = [tuple(rb[r][c] for r in range(3)) for c in range(3)]
    axes: list[tuple[float, ...]] = [*cols_a, *cols_b]
    for u in cols_a:
        for v in cols_b:
            w: tuple[float, ...] = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            n = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
            if n > 1e-12:
                axes.append(w)
    for axis in axes:
        reach = sum(ha[i] * abs(_dot(cols_a[i], axis)) + b.half[i] * abs(_dot(cols_b[i], axis)) for i in range(3))
        if abs(_dot(d, axis)) > reach:
            return False
    return True


def _dot(u: tuple[float, ...], v: tuple[float, ...]) -> float:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
