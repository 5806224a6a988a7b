"""Sine and cosine with the same bits on every machine.

The C library's versions differ in the last bit between processors and builds, and poses and pixels are hashed.
These use + - * and floor on IEEE doubles in a fixed order, so they can't differ. Within one unit in the last place
of the true value. Polynomials and the split of pi/2 are those of fdlibm (Sun Microsystems, 1993, free to use).
"""

from __future__ import annotations

import math

from iwreplay.errors import GeometryError

__all__ = ["sin_cos", "tan"]

_TWO_OVER_PI = 6.36619772367581382433e-01
# pi/2 in three parts of 33 bits, so that a part times a quadrant number below 2**20 is exact
_PIO2_1 = 1.57079632673412561417e00
_PIO2_2 = 6.07710050630396597660e-11
_PIO2_3 = 2.02226624871116645580e-21
_LIMIT_RAD = 1.0e6

_S = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_C = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def _kernel_sin(x: float, tail: float) -> float:
    z = x * x
    v = z * x
    r = _S[1] + z * (_S[2] + z * (_S[3] + z * (_S[4] + z * _S[5])))
    return x - ((z * (0.5 * tail - v * r) - tail) - v * _S[0])


def _kernel_cos(x: float, tail: float) -> float:
    z = x * x
    r = z * (_C[0] + z * (_C[1] + z * (_C[2] + z * (_C[3] + z * (_C[4] + z * _C[5])))))
    half = 0.5 * z
    w = 1.0 - half
    return w + (((1.0 - w) - half) + (z * r - x * tail))


def sin_cos(angle_rad: float) -> tuple[float, float]:
    """(sin, cos) of an angle in radians. GeometryError when it is not finite or beyond a million radians."""
    if not -_LIMIT_RAD <= angle_rad <= _LIMIT_RAD:
        raise GeometryError(f"angle {angle_rad!r} rad is not finite or is beyond {_LIMIT_RAD:g} rad; wrap it first")
    n = math.floor(angle_rad * _TWO_OVER_PI + 0.5)
    head = angle_rad - n * _PIO2_1
    first = n * _PIO2_2
    x = head - first
    # what the subtraction lost, and the third part of pi/2
    tail = (head - x) - first - n * _PIO2_3
    y = x + tail
    rest = (x - y) + tail
    s, c = _kernel_sin(y, rest), _kernel_cos(y, rest)
    quadrant = n & 3
    if quadrant == 0:
        return s, c
    if quadrant == 1:
        return c, -s
    if quadrant == 2:
        return -s, -c
    return -c, s


def tan(angle_rad: float) -> float:
    """Tangent, as the quotient of `sin_cos`. GeometryError where the cosine is zero."""
    s, c = sin_cos(angle_rad)
    if c == 0.0:
        raise GeometryError(f"angle {angle_rad!r} rad has no tangent")
    return s / c
