"""Kernel that works out the light on a block of fragments: of the surroundings, and of every lamp with its shadows.

Light is added up in linear space. All of it is float32, written so that several fragments go through one instruction;
each of them gets the same bits as on its own.
"""

# Kernels take arrays by position, and are typed by numba from what they get. Numbers are float32 one by one: a bare
# literal would turn the whole expression into float64. min and max are nested: so they become plain instructions.
# ruff: noqa: PLR0917, PLW3301
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import math

import numpy as np

from iwreplay.render.jit import OPTIONS_REVISION, inlined, kernel
from iwreplay.render.layout import (
    AROUND,
    CAP,
    EX,
    EY,
    EZ,
    GLOSS,
    LAMP_AT,
    LAMP_FADE,
    LAMP_MAP,
    LAMP_REACH,
    LAMP_RECT,
    LAMP_RGB,
    LAMP_STRENGTH,
    LAMP_WORLD,
    LAYOUT_REVISION,
    LIFT,
    LIGHT_B,
    LIGHT_G,
    LIGHT_R,
    MAP_FOCAL_PX,
    MAP_NEAR_M,
    MAP_PX,
    NX,
    NY,
    NZ,
    PX,
    PY,
    PZ,
    SHINE,
    TMP,
)

__all__ = ["light_surfaces"]

assert OPTIONS_REVISION == 1
assert LAYOUT_REVISION == 17835415

_F = np.float32
_0, _1, _HALF, _TWO = _F(0.0), _F(1.0), _F(0.5), _F(2.0)
_TINY = _F(1e-6)

#: linear RGB of light from above and from below (cool)
_ABOVE_R, _ABOVE_G, _ABOVE_B = _F(0.47), _F(0.49), _F(0.52)
_BELOW_R, _BELOW_G, _BELOW_B = _F(0.33), _F(0.31), _F(0.29)
#: what shiny things mirror of their surroundings: in the middle, and how much more above than below
_MIRRORED, _MIRRORED_UP = _F(0.32), _F(0.30)
#: of gloss, what is mirrored head-on and the rest that comes at grazing angles
_HEAD_ON, _GRAZING = _F(0.16), _F(0.84)
_HIGHLIGHT = _F(0.9)
#: a lamp's light falls off as 1 / (1 + _FALLOFF d^2), and to nothing at its range
_FALLOFF = _F(0.22)
#: a point farther outside of all rooms than this is in the open
_OUTSIDE_M = _F(0.35)
#: a wall's face belongs to the room it looks into
_INTO_M = _F(0.03)

_MAP_MIDDLE = _F(MAP_PX * 0.5 - 1.0)
_MAP_FOCAL = _F(MAP_FOCAL_PX)
_MAP_NEAR = _F(MAP_NEAR_M)
_MAP_LAST = _F(MAP_PX - 1.0)
#: what is asked lies a step off its surface, so that it does not shadow itself: metres, and more with distance
_OFF_M, _OFF_PER_M = _F(0.003), _F(1.6 / MAP_FOCAL_PX)
_LIMIT = _F(1.004)
_MAP_EDGE, _PER_MAP_EDGE = _F(2.0), _F(1.0 / 48.0)
_QUARTER = _F(0.25)

# working space: world x and y, the nearest room's distance; a lamp's share, its light and highlights, map x, y, limit,
# and how much of a shadow counts
_WX, _WY, _NEAREST = TMP, TMP + 1, TMP + 2
_ON, _AMOUNT, _STRENGTH, _MX, _MY, _MLIMIT, _MTRUST = TMP + 3, TMP + 4, TMP + 5, TMP + 6, TMP + 7, TMP + 8, TMP + 9


@inlined
def _around(f, part, n, rooms, camera):
    """How light it is around every fragment: 1 in the open, else as the room has it; 0 for the sky."""
    for i in range(n):
        f[AROUND * CAP + i] = _0 if part[i] < 0 else _1
    if rooms.shape[0] == 0:
        return
    c0, c1, c2, c3 = _F(camera[0, 0]), _F(camera[1, 0]), _F(camera[2, 0]), _F(camera[0, 3])
    d0, d1, d2, d3 = _F(camera[0, 1]), _F(camera[1, 1]), _F(camera[2, 1]), _F(camera[1, 3])
    for i in range(n):
        x = f[PX * CAP + i] + _INTO_M * f[NX * CAP + i]
        y = f[PY * CAP + i] + _INTO_M * f[NY * CAP + i]
        z = f[PZ * CAP + i] + _INTO_M * f[NZ * CAP + i]
        f[_WX * CAP + i] = c0 * x + c1 * y + c2 * z + c3
        f[_WY * CAP + i] = d0 * x + d1 * y + d2 * z + d3
        f[_NEAREST * CAP + i] = _OUTSIDE_M
    for r in range(rooms.shape[0]):
        x0, y0, x1, y1 = _F(rooms[r, 0]), _F(rooms[r, 1]), _F(rooms[r, 2]), _F(rooms[r, 3])
        level = _F(rooms[r, 4])
        for i in range(n):
            x, y = f[_WX * CAP + i], f[_WY * CAP + i]
            far = max(max(x0 - x, x - x1), max(y0 - y, y - y1))
            held = f[AROUND * CAP + i]
            nearer = far < f[_NEAREST * CAP + i]
            f[AROUND * CAP + i] = level if nearer and held > _0 else held
            f[_NEAREST * CAP + i] = far if nearer else f[_NEAREST * CAP + i]


@inlined
def _surroundings(f, n, camera):
    """Light of the sky and of the floor, by how far a surface faces up, and what it mirrors of them."""
    up_x, up_y, up_z = _F(camera[0, 2]), _F(camera[1, 2]), _F(camera[2, 2])
    for i in range(n):
        x, y, z = f[PX * CAP + i], f[PY * CAP + i], f[PZ * CAP + i]
        nx, ny, nz = f[NX * CAP + i], f[NY * CAP + i], f[NZ * CAP + i]
        around = f[AROUND * CAP + i]
        facing_up = nx * up_x + ny * up_y + nz * up_z
        sky = _HALF + _HALF * facing_up
        lift = around * f[LIFT * CAP + i]
        f[LIGHT_R * CAP + i] = around * (_BELOW_R + (_ABOVE_R - _BELOW_R) * sky) + lift
        f[LIGHT_G * CAP + i] = around * (_BELOW_G + (_ABOVE_G - _BELOW_G) * sky) + lift
        f[LIGHT_B * CAP + i] = around * (_BELOW_B + (_ABOVE_B - _BELOW_B) * sky) + lift
        per_length = -_1 / math.sqrt(x * x + y * y + z * z)
        ex, ey, ez = x * per_length, y * per_length, z * per_length
        facing = max(_0, nx * ex + ny * ey + nz * ez)
        # bright above, dark below, more of it at grazing angles
        mirrored = _TWO * facing * facing_up - (ex * up_x + ey * up_y + ez * up_z)
        away = _1 - facing
        share = f[GLOSS * CAP + i] * (_HEAD_ON + _GRAZING * away * away * away)
        f[SHINE * CAP + i] = around * share * (_MIRRORED + _MIRRORED_UP * mirrored)
        f[EX * CAP + i] = ex
        f[EY * CAP + i] = ey
        f[EZ * CAP + i] = ez


@inlined
def _unshadowed(f, n, lamp, camera):
    """A lamp's light on every fragment as if nothing stood between, and where to ask in its map."""
    lx, ly, lz = _F(lamp[LAMP_AT]), _F(lamp[LAMP_AT + 1]), _F(lamp[LAMP_AT + 2])
    strength, reach = _F(lamp[LAMP_STRENGTH]), _F(lamp[LAMP_REACH])
    # the lamp's rectangle as seen from the lamp
    x0, y0 = _F(lamp[LAMP_RECT] - lamp[LAMP_WORLD]), _F(lamp[LAMP_RECT + 1] - lamp[LAMP_WORLD + 1])
    x1, y1 = _F(lamp[LAMP_RECT + 2] - lamp[LAMP_WORLD]), _F(lamp[LAMP_RECT + 3] - lamp[LAMP_WORLD + 1])
    per_fade = _F(1.0 / lamp[LAMP_FADE])
    a0, a1, a2 = _F(camera[0, 0]), _F(camera[1, 0]), _F(camera[2, 0])
    b0, b1, b2 = _F(camera[0, 1]), _F(camera[1, 1]), _F(camera[2, 1])
    c0, c1, c2 = _F(camera[0, 2]), _F(camera[1, 2]), _F(camera[2, 2])
    for i in range(n):
        nx, ny, nz = f[NX * CAP + i], f[NY * CAP + i], f[NZ * CAP + i]
        dx, dy, dz = lx - f[PX * CAP + i], ly - f[PY * CAP + i], lz - f[PZ * CAP + i]
        far2 = max(_TINY, dx * dx + dy * dy + dz * dz)
        far = math.sqrt(far2)
        off = _OFF_M + _OFF_PER_M * far
        ox, oy, oz = off * nx - dx, off * ny - dy, off * nz - dz
        # from the lamp to the point, in the world's axes
        wx = a0 * ox + a1 * oy + a2 * oz
        wy = b0 * ox + b1 * oy + b2 * oz
        down = -(c0 * ox + c1 * oy + c2 * oz)
        outside = max(max(x0 - wx, wx - x1), max(y0 - wy, wy - y1))
        # the map's samples are the middles of its pixels; half a sample more centres the box
        per_down = _1 / max(_MAP_NEAR, down)
        mx, my = _MAP_MIDDLE + _MAP_FOCAL * wx * per_down, _MAP_MIDDLE - _MAP_FOCAL * wy * per_down
        # outside of its room a lamp gives light only where the map can tell that it comes through an opening
        trust = min(_1, max(_0, min(min(mx, my), _MAP_LAST - max(mx, my)) * _PER_MAP_EDGE))
        known = trust if down > _MAP_NEAR else _0
        inside = min(_1, max(_0, _1 - outside * per_fade)) * (known if outside > _0 else _1)
        window = max(_0, _1 - far2 * reach)
        power = f[_ON * CAP + i] * inside * strength * window * window / (_1 + _FALLOFF * far2)
        toward = max(_0, nx * dx + ny * dy + nz * dz)
        f[_AMOUNT * CAP + i] = power * toward / far
        f[_STRENGTH * CAP + i] = power
        # inside of it shadows fade out towards the edge of the map
        f[_MTRUST * CAP + i] = _1 if outside > _0 else trust
        f[_MX * CAP + i] = mx
        f[_MY * CAP + i] = my
        # nothing in the map is nearer than this: above it there are no shadows
        f[_MLIMIT * CAP + i] = _LIMIT * per_down if down > _MAP_NEAR else _LIMIT / _TINY


@inlined
def _shadowed(f, n, shadow):
    """Takes from a lamp's light what its map says is in the shade."""
    for i in range(n):
        if f[_AMOUNT * CAP + i] <= _0:
            continue
        x, y, limit = f[_MX * CAP + i], f[_MY * CAP + i], f[_MLIMIT * CAP + i]
        edge = min(min(x, y), _MAP_LAST - max(x, y))
        if edge < _MAP_EDGE:
            continue
        ix, iy = np.int32(x), np.int32(y)
        fx, fy = x - _F(ix), y - _F(iy)
        # a box of 2 x 2 samples that follows the point continuously
        dark = _0
        for r in range(3):
            row = np.uint64(iy + r)
            left = _1 - fx if shadow[row, np.uint64(ix)] > limit else _0
            middle = _1 if shadow[row, np.uint64(ix + 1)] > limit else _0
            right = fx if shadow[row, np.uint64(ix + 2)] > limit else _0
            dark += (left + middle + right) * (_1 - fy if r == 0 else fy if r == 2 else _1)
        share = _1 - f[_MTRUST * CAP + i] * dark * _QUARTER
        f[_AMOUNT * CAP + i] *= share
        f[_STRENGTH * CAP + i] *= share


@inlined
def _added(f, n, lamp):
    """Adds a lamp's light and its highlights."""
    lx, ly, lz = _F(lamp[LAMP_AT]), _F(lamp[LAMP_AT + 1]), _F(lamp[LAMP_AT + 2])
    red, green, blue = _F(lamp[LAMP_RGB]), _F(lamp[LAMP_RGB + 1]), _F(lamp[LAMP_RGB + 2])
    for i in range(n):
        amount = f[_AMOUNT * CAP + i]
        f[LIGHT_R * CAP + i] += amount * red
        f[LIGHT_G * CAP + i] += amount * green
        f[LIGHT_B * CAP + i] += amount * blue
        dx, dy, dz = lx - f[PX * CAP + i], ly - f[PY * CAP + i], lz - f[PZ * CAP + i]
        per_far = _1 / math.sqrt(max(_TINY, dx * dx + dy * dy + dz * dz))
        sx, sy, sz = dx * per_far + f[EX * CAP + i], dy * per_far + f[EY * CAP + i], dz * per_far + f[EZ * CAP + i]
        half = max(_TINY, sx * sx + sy * sy + sz * sz)
        c = max(_0, f[NX * CAP + i] * sx + f[NY * CAP + i] * sy + f[NZ * CAP + i] * sz) / math.sqrt(half)
        c = c if amount > _0 else _0
        c *= c
        c *= c
        c *= c
        c *= c
        c *= c
        f[SHINE * CAP + i] += f[GLOSS * CAP + i] * _HIGHLIGHT * f[_STRENGTH * CAP + i] * c


@kernel
def light_surfaces(f, part, n, part_lamps, lamps, maps, rooms, camera):
    """Light and shine of the first n fragments of block `f`.

    part_lamps (parts,): bit j is set when lamp j may reach the part. lamps (n, LAMP_COLUMNS); maps (m, MAP_PX, MAP_PX)
    inverse depths; rooms (r, 5): x0 y0 x1 y1 and how light it is there, none when it is light everywhere; camera (3,
    4) as in `raster.setup`.
    """
    _around(f, part, n, rooms, camera)
    _surroundings(f, n, camera)
    for j in range(lamps.shape[0]):
        reached = False
        last, on = -1, _0
        for i in range(n):
            p = part[i]
            if p != last:
                last = p
                on = _0 if p < 0 or (part_lamps[p] >> j) & 1 == 0 else _1
                if on > _0:
                    reached = True
            f[_ON * CAP + i] = on
        if not reached:
            continue
        _unshadowed(f, n, lamps[j], camera)
        slot = int(lamps[j, LAMP_MAP])
        if slot >= 0:
            _shadowed(f, n, maps[slot])
        _added(f, n, lamps[j])
