"""Kernel that makes pixels of lit fragments.

8-bit colours are the square roots of linear light: close to sRGB, and exact on any machine.
"""

# Kernels take arrays by position, and are typed by numba from what they get.
# ruff: noqa: PLR0917
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import math

import numpy as np

from iwreplay.render.jit import OPTIONS_REVISION, kernel
from iwreplay.render.layout import (
    BLUE,
    CAP,
    GLOW,
    GREEN,
    LAYOUT_REVISION,
    LIGHT_B,
    LIGHT_G,
    LIGHT_R,
    MIRROR,
    RED,
    SHARE,
    SHINE,
)

__all__ = ["colour_pixels"]

assert OPTIONS_REVISION == 1
assert LAYOUT_REVISION == 17835415

_F = np.float32
_0, _1 = _F(0.0), _F(1.0)
#: brightness above which colours are pressed together instead of clipped
_SHOULDER, _ABOVE, _PER_ABOVE = _F(0.62), _F(1.0 - 0.62), _F(1.0 / (1.0 - 0.62))
_WHITE, _HALF = _F(255.0), _F(0.5)


@kernel
def colour_pixels(f, n, counts, y0, begin, end, pixels, sums):
    """Pixels begin..end-1, numbered from row y0 on, of the n fragments of block `f`. sums (3 * CAP) is working space.

    A pixel is the sum of its fragments by their shares.
    """
    for i in range(n):
        glow, share, shine = f[GLOW * CAP + i], f[SHARE * CAP + i], f[MIRROR * CAP + i] * f[SHINE * CAP + i]
        f[RED * CAP + i] = share * f[RED * CAP + i] * (f[LIGHT_R * CAP + i] + glow) + shine
        f[GREEN * CAP + i] = share * f[GREEN * CAP + i] * (f[LIGHT_G * CAP + i] + glow) + shine
        f[BLUE * CAP + i] = share * f[BLUE * CAP + i] * (f[LIGHT_B * CAP + i] + glow) + shine
    j = 0
    for q in range(end - begin):
        red, green, blue = f[RED * CAP + j], f[GREEN * CAP + j], f[BLUE * CAP + j]
        for i in range(j + 1, j + counts[q]):
            red += f[RED * CAP + i]
            green += f[GREEN * CAP + i]
            blue += f[BLUE * CAP + i]
        j += counts[q]
        sums[q] = red
        sums[CAP + q] = green
        sums[2 * CAP + q] = blue
    for channel in range(3):
        for q in range(end - begin):
            light = max(_0, sums[channel * CAP + q])
            over = max(_0, light - _SHOULDER) * _PER_ABOVE
            pressed = _SHOULDER + _ABOVE * over / (_1 + over)
            light = pressed if light > _SHOULDER else light
            sums[channel * CAP + q] = math.sqrt(light) * _WHITE + _HALF
    width = pixels.shape[1]
    y, x = y0 + begin // width, begin % width
    for q in range(end - begin):
        pixels[y, x, 0] = np.uint8(np.int32(sums[q]))
        pixels[y, x, 1] = np.uint8(np.int32(sums[CAP + q]))
        pixels[y, x, 2] = np.uint8(np.int32(sums[2 * CAP + q]))
        x += 1
        if x == width:
            x = 0
            y += 1
