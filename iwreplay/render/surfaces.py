"""Kernel that lists what is in every pixel: for each surface its place, normal, colour and share.

Each surface in a pixel is looked at once, at the middle of the samples it covers. Depth and the inverse of it are
planes over the view ray, so barycentric coordinates come from the original triangle, also where it was clipped.
"""

# Kernels take arrays by position, and are typed by numba from what they get. min and max of three are nested, and
# floor is cast, because that is what numba compiles to plain instructions.
# ruff: noqa: PLR0917, PLW3301, RUF046
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import math

import numpy as np

from iwreplay.render.jit import OPTIONS_REVISION, inlined, kernel, shared
from iwreplay.render.layout import (
    BLUE,
    CAP,
    GLOSS,
    GLOW,
    GREEN,
    LAYOUT_REVISION,
    LIFT,
    MIRROR,
    MOST,
    NX,
    NY,
    NZ,
    PX,
    PY,
    PZ,
    RED,
    SHARE,
    SKY_ID,
)

__all__ = ["TRIANGLE", "list_surfaces", "survey_band"]

assert OPTIONS_REVISION == 1
assert LAYOUT_REVISION == 17835415

#: linear RGB of the sky
_SKY = (0.62, 0.76, 0.92)
_MOST_TAPS = 4
#: below 1: textures are read a little sharper than their average over a pixel
_SHARPNESS = 0.7
#: how finely a texture is read is decided once for so many pixels of a row (a power of two)
_STRETCH_PX = 8

# layout of the array that holds what is constant over a triangle
_E1, _E2, _INV = 0, 3, 6  # planes of b1/z, b2/z, 1/z over the ray (x, y, 1)
_INV_LOW, _INV_HIGH = 9, 10
_NORMALS = 11  # three corners
_UV = 20  # three corners
_UV_PLANES = 26  # u/z and v/z
_FLAT = 30
#: of the four samples of a pixel, the share of light that the panes looked at so far let through
_THROUGH = 31
#: its length
TRIANGLE = 36

#: at grazing angles, seen along its wall, glass hides so much of what is behind it, and loses so much of its
#: own colour and of what it mirrors: its edges are dark before something bright, and bright before something dark
_EDGE_HIDES, _EDGE_DARK, _EDGE_DULL = 0.7, 1.0, 0.6


@shared
def _load(t, faces, view_vertices, view_normals, uv, scale_u, scale_v, seen_from_behind, near, k):
    """Fills the array `k` for triangle t."""
    a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
    ax, ay, az = view_vertices[a, 0], view_vertices[a, 1], view_vertices[a, 2]
    bx, by, bz = view_vertices[b, 0], view_vertices[b, 1], view_vertices[b, 2]
    cx, cy, cz = view_vertices[c, 0], view_vertices[c, 1], view_vertices[c, 2]
    p0, p1, p2 = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    q0, q1, q2 = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    r0, r1, r2 = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    det = ax * p0 + ay * p1 + az * p2
    # zero when the eye lies in the triangle's plane: then the limits of depth below decide
    inv = 1.0 / det if det != 0.0 else 0.0
    p0, p1, p2 = p0 * inv, p1 * inv, p2 * inv
    q0, q1, q2 = q0 * inv, q1 * inv, q2 * inv
    r0, r1, r2 = r0 * inv, r1 * inv, r2 * inv
    k[_E1], k[_E1 + 1], k[_E1 + 2] = q0, q1, q2
    k[_E2], k[_E2 + 1], k[_E2 + 2] = r0, r1, r2
    k[_INV], k[_INV + 1], k[_INV + 2] = p0 + q0 + r0, p1 + q1 + r1, p2 + q2 + r2
    k[_INV_LOW] = 1.0 / max(near, max(az, max(bz, cz)))
    k[_INV_HIGH] = 1.0 / max(near, min(az, min(bz, cz)))
    side = -1.0 if seen_from_behind else 1.0
    flat = True
    for i in range(3):
        k[_NORMALS + i] = side * view_normals[a, i]
        k[_NORMALS + 3 + i] = side * view_normals[b, i]
        k[_NORMALS + 6 + i] = side * view_normals[c, i]
        if view_normals[a, i] != view_normals[b, i] or view_normals[a, i] != view_normals[c, i]:
            flat = False
    k[_FLAT] = 1.0 if flat else 0.0
    u0, u1, u2 = uv[a, 0] * scale_u, uv[b, 0] * scale_u, uv[c, 0] * scale_u
    v0, v1, v2 = uv[a, 1] * scale_v, uv[b, 1] * scale_v, uv[c, 1] * scale_v
    k[_UV], k[_UV + 1], k[_UV + 2] = u0, u1, u2
    k[_UV + 3], k[_UV + 4], k[_UV + 5] = v0, v1, v2
    k[_UV_PLANES] = u0 * p0 + u1 * q0 + u2 * r0
    k[_UV_PLANES + 1] = u0 * p1 + u1 * q1 + u2 * r1
    k[_UV_PLANES + 2] = v0 * p0 + v1 * q0 + v2 * r0
    k[_UV_PLANES + 3] = v0 * p1 + v1 * q1 + v2 * r1


@inlined
def _depth(rx, ry, k):
    """Depth of the loaded triangle's plane along a ray, kept within the triangle's own range of depths."""
    inv = k[_INV] * rx + k[_INV + 1] * ry + k[_INV + 2]
    return 1.0 / min(k[_INV_HIGH], max(k[_INV_LOW], inv))


@inlined
def _place(rx0, per_focal, ry, m, k, f, j, g):
    """Places and normals of m points in a row on the loaded triangle, the first along the ray (rx0, ry, 1)."""
    inv_x, inv_c = k[_INV], k[_INV + 1] * ry + k[_INV + 2]
    one_x, one_c = k[_E1], k[_E1 + 1] * ry + k[_E1 + 2]
    two_x, two_c = k[_E2], k[_E2 + 1] * ry + k[_E2 + 2]
    low, high = k[_INV_LOW], k[_INV_HIGH]
    for i in range(m):
        rx = rx0 + float(i) * per_focal
        # snapped corners let a sample lie a hair outside the true triangle: keep depth and weights within it
        z = 1.0 / min(high, max(low, inv_x * rx + inv_c))
        b1 = min(1.0, max(0.0, (one_x * rx + one_c) * z))
        b2 = min(1.0 - b1, max(0.0, (two_x * rx + two_c) * z))
        f[PX * CAP + j + i] = np.float32(rx * z)
        f[PY * CAP + j + i] = np.float32(ry * z)
        f[PZ * CAP + j + i] = np.float32(z)
        g[i] = b1
        g[CAP + i] = b2
    ax, ay, az = k[_NORMALS], k[_NORMALS + 1], k[_NORMALS + 2]
    if k[_FLAT] != 0.0:
        fx, fy, fz = np.float32(ax), np.float32(ay), np.float32(az)
        for i in range(m):
            f[NX * CAP + j + i] = fx
            f[NY * CAP + j + i] = fy
            f[NZ * CAP + j + i] = fz
        return
    bx, by, bz = k[_NORMALS + 3] - ax, k[_NORMALS + 4] - ay, k[_NORMALS + 5] - az
    cx, cy, cz = k[_NORMALS + 6] - ax, k[_NORMALS + 7] - ay, k[_NORMALS + 8] - az
    for i in range(m):
        b1, b2 = g[i], g[CAP + i]
        nx, ny, nz = ax + b1 * bx + b2 * cx, ay + b1 * by + b2 * cy, az + b1 * bz + b2 * cz
        per_length = 1.0 / max(1e-9, math.sqrt(nx * nx + ny * ny + nz * nz))
        f[NX * CAP + j + i] = np.float32(nx * per_length)
        f[NY * CAP + j + i] = np.float32(ny * per_length)
        f[NZ * CAP + j + i] = np.float32(nz * per_length)


@inlined
def _texel(texels, start, log_w, log_h, u, v):
    """Bilinear sample of one mip level in integers: r, g, b 0..255 * 4096, in the bits from 0, 20 and 40 on."""
    w, h = 1 << log_w, 1 << log_h
    # 6 bits below the texel; u and v are within some thousand tiles
    x, y = int(math.floor(u * float(w << 6))) - 32, int(math.floor(v * float(h << 6))) - 32
    fx, fy = x & 63, y & 63
    x0, y0 = (x >> 6) & (w - 1), (y >> 6) & (h - 1)
    x1, y1 = (x0 + 1) & (w - 1), (y0 + 1) & (h - 1)
    row0, row1 = start + (y0 << log_w), start + (y1 << log_w)
    a, b = texels[np.uint64(row0 + x0)], texels[np.uint64(row0 + x1)]
    c, d = texels[np.uint64(row1 + x0)], texels[np.uint64(row1 + x1)]
    wide = np.uint64(fx)
    deep = np.uint64(fy)
    left, up = np.uint64(64) - wide, np.uint64(64) - deep
    return (a * left + b * wide) * up + (c * left + d * wide) * deep


@inlined
def _paint(x, half_w, per_focal, ry, m, tex, texels, levels, level_count, k, f, j, g):
    """Linear colours of m points in a row, from the texture; the first is in column x."""
    w, h = float(1 << levels[tex, 0, 1]), float(1 << levels[tex, 0, 2])
    last = level_count[tex] - 1
    u0, u1, u2 = k[_UV], k[_UV + 1] - k[_UV], k[_UV + 2] - k[_UV]
    v0, v1, v2 = k[_UV + 3], k[_UV + 4] - k[_UV + 3], k[_UV + 5] - k[_UV + 3]
    i = 0
    while i < m:
        # over this stretch of pixels the texture is read alike: as in its middle
        stretch = (x + i) // _STRETCH_PX
        middle = (float(stretch * _STRETCH_PX) + 0.5 * _STRETCH_PX - half_w) * per_focal
        z = _depth(middle, ry, k)
        b1 = min(1.0, max(0.0, (k[_E1] * middle + k[_E1 + 1] * ry + k[_E1 + 2]) * z))
        b2 = min(1.0 - b1, max(0.0, (k[_E2] * middle + k[_E2 + 1] * ry + k[_E2 + 2]) * z))
        u, v = u0 + b1 * u1 + b2 * u2, v0 + b1 * v1 + b2 * v2
        per_px = z * per_focal
        ux, uy = (k[_UV_PLANES] - u * k[_INV]) * per_px, (k[_UV_PLANES + 1] - u * k[_INV + 1]) * per_px
        vx, vy = (k[_UV_PLANES + 2] - v * k[_INV]) * per_px, (k[_UV_PLANES + 3] - v * k[_INV + 1]) * per_px
        long2 = ux * ux * w * w + vx * vx * h * h
        short2 = uy * uy * w * w + vy * vy * h * h
        mu, mv = ux, vx
        if long2 < short2:
            long2, short2 = short2, long2
            mu, mv = uy, vy
        taps = 1
        while taps < _MOST_TAPS and long2 > short2 * (taps + 0.5) * (taps + 0.5):
            taps += 1
        per_tap = 1.0 / taps
        rho2 = long2 * per_tap * per_tap * _SHARPNESS
        lod = 0
        while rho2 >= 4.0 and lod < last:
            rho2 *= 0.25
            lod += 1
        blend = 0.0
        if rho2 > 1.0 and lod < last:
            blend = min(1.0, math.sqrt(rho2) - 1.0)
        start, log_w, log_h = levels[tex, lod, 0], levels[tex, lod, 1], levels[tex, lod, 2]
        up = min(last, lod + 1)
        start_up, log_w_up, log_h_up = levels[tex, up, 0], levels[tex, up, 1], levels[tex, up, 2]
        fine, coarse = (1.0 - blend) * per_tap * (1.0 / (255.0 * 4096.0)), blend * per_tap * (1.0 / (255.0 * 4096.0))
        end = min(m, (stretch + 1) * _STRETCH_PX - x)
        mask = np.uint64(0xFFFFF)
        while i < end:
            b1, b2 = g[i], g[CAP + i]
            u, v = u0 + b1 * u1 + b2 * u2, v0 + b1 * v1 + b2 * v2
            red, green, blue = 0.0, 0.0, 0.0
            for tap in range(taps):
                s = (tap + 0.5) * per_tap - 0.5
                pu, pv = u + s * mu, v + s * mv
                t = _texel(texels, start, log_w, log_h, pu, pv)
                red += fine * float(np.int64(t & mask))
                green += fine * float(np.int64((t >> np.uint64(20)) & mask))
                blue += fine * float(np.int64(t >> np.uint64(40)))
                if coarse > 0.0:
                    t = _texel(texels, start_up, log_w_up, log_h_up, pu, pv)
                    red += coarse * float(np.int64(t & mask))
                    green += coarse * float(np.int64((t >> np.uint64(20)) & mask))
                    blue += coarse * float(np.int64(t >> np.uint64(40)))
            f[RED * CAP + j + i] = np.float32(red * red)
            f[GREEN * CAP + j + i] = np.float32(green * green)
            f[BLUE * CAP + j + i] = np.float32(blue * blue)
            i += 1


@inlined
def _fill(f, j, m, gloss, glow, lift, share, mirror):
    """What m fragments have in common."""
    f0, f1, f2, f3, f4 = np.float32(gloss), np.float32(glow), np.float32(lift), np.float32(share), np.float32(mirror)
    for i in range(m):
        f[GLOSS * CAP + j + i] = f0
        f[GLOW * CAP + j + i] = f1
        f[LIFT * CAP + j + i] = f2
        f[SHARE * CAP + j + i] = f3
        f[MIRROR * CAP + j + i] = f4


@inlined
def _fill_colour(f, j, m, red, green, blue):
    r, g, b = np.float32(red), np.float32(green), np.float32(blue)
    for i in range(m):
        f[RED * CAP + j + i] = r
        f[GREEN * CAP + j + i] = g
        f[BLUE * CAP + j + i] = b


@inlined
def _fill_place(f, j, m):
    """Of the sky: anywhere in front, facing nowhere."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for i in range(m):
        f[PX * CAP + j + i] = zero
        f[PY * CAP + j + i] = zero
        f[PZ * CAP + j + i] = one
        f[NX * CAP + j + i] = zero
        f[NY * CAP + j + i] = zero
        f[NZ * CAP + j + i] = zero


@inlined
def _source(owner, rec_src, row, column):
    n = owner[row, column]
    return -1 if n < 0 else rec_src[n]


@inlined
def _group(owner, rec_src, top, left, s, source):
    """How many of a pixel's samples show the surface of sample s, and their middle; 0 when an earlier one does too."""
    count, sum_x, sum_y = 0, 0.0, 0.0
    for q in range(4):
        if _source(owner, rec_src, top + (q >> 1), left + (q & 1)) == source:
            if q < s:
                return 0, 0.0, 0.0
            count += 1
            sum_x += 0.25 + 0.5 * (q & 1)
            sum_y += 0.25 + 0.5 * (q >> 1)
    return count, sum_x / count, sum_y / count


@inlined
def _edge(f, j):
    """0 where the pane of fragment j is looked at head-on, to 1 at grazing angles; takes its colour away there."""
    x, y, z = float(f[PX * CAP + j]), float(f[PY * CAP + j]), float(f[PZ * CAP + j])
    across = x * float(f[NX * CAP + j]) + y * float(f[NY * CAP + j]) + z * float(f[NZ * CAP + j])
    away = 1.0 - min(1.0, abs(across) / math.sqrt(x * x + y * y + z * z))
    edge = away * away * away
    left = np.float32(1.0 - _EDGE_DARK * edge)
    f[RED * CAP + j] *= left
    f[GREEN * CAP + j] *= left
    f[BLUE * CAP + j] *= left
    return edge


@inlined
def _shares(layer, top, left, source, opacity, rec_src, k):
    """Shares of the pixel's colour and of its mirroring that a surface of this layer of records has. It takes from the
    light that is let through at its samples what it keeps: all, with an opacity of 1."""
    share, mirror = 0.0, 0.0
    for q in range(4):
        if _source(layer, rec_src, top + (q >> 1), left + (q & 1)) == source:
            through = k[_THROUGH + q]
            share += through * opacity
            mirror += through
            k[_THROUGH + q] = through * (1.0 - opacity)
    return 0.25 * share, 0.25 * mirror


@kernel
def list_surfaces(
    owner, behind, panes, any_panes, rec_src, rec_flags, faces, face_part, view_vertices, view_normals, uv,
    part_material, part_id, rgb, glow, lift, gloss, alpha, material_tex, uv_scale, texels, levels, level_count,
    focal_px, near, height, y0, begin, end, depth, ids, lattice, f, part, counts, g, k,
):  # fmt: skip
    """Fragments of the pixels from `begin` on, as far as they fit: the pixel after the last one, and their number.

    Pixels are numbered along the rows from row y0 on, up to `end`. owner (2 * rows, 2 * width) is who has their samples
    for ids and depth; behind, the nearest that is no glass; panes (2, 2 * rows, 2 * width), the nearest two of glass
    in front of that. counts: number of fragments of each pixel from `begin` on. part: that of each fragment, -1 sky.

    Depth (metres along the view axis, at the pixel's centre; infinity for sky) and id are those of the surface with
    most samples, the first of equals. `lattice` gets the ids that a survey (`survey_band`) finds.
    """
    width = depth.shape[1]
    half_w, half_h = width * 0.5, height * 0.5
    per_focal = 1.0 / focal_px
    loaded, loaded_side = -1, 0
    j = 0
    pixel = begin
    while pixel < end and j + MOST <= CAP:
        y, x = y0 + pixel // width, pixel % width
        top, left = 2 * (y - y0), 2 * x
        first = owner[top, left]
        # how many pixels in a row have only this one surface
        run = 0
        most = min(min(width - x, end - pixel), CAP - j)
        while run < most:
            c = left + 2 * run
            if (
                owner[top, c] != first
                or owner[top, c + 1] != first
                or owner[top + 1, c] != first
                or owner[top + 1, c + 1] != first
            ):
                break
            # all four are -1 where there is no pane
            if (
                any_panes
                and panes[0, top, c] & panes[0, top, c + 1] & panes[0, top + 1, c] & panes[0, top + 1, c + 1] >= 0
            ):
                break
            run += 1
        glazed = False
        if any_panes and run == 0:
            for q in range(4):
                glazed = glazed or panes[0, top + (q >> 1), left + (q & 1)] >= 0
            for q in range(4):
                k[_THROUGH + q] = 1.0
        begun = j
        best, best_id, best_z = 0, SKY_ID, np.inf
        for layer in range(0 if glazed else 2, 3):
            for s in range(4):
                row, column = top + (s >> 1), left + (s & 1)
                n = first
                m, count, mean_x, mean_y, share, mirror = 1, 4, 0.5, 0.5, 1.0, 1.0
                if run > 0:
                    m = run
                elif layer < 2:
                    n = panes[layer, row, column]
                    if n < 0:
                        continue
                    count, mean_x, mean_y = _group(panes[layer], rec_src, top, left, s, rec_src[n])
                else:
                    n = behind[row, column] if glazed else owner[row, column]
                    source = -1 if n < 0 else rec_src[n]
                    if glazed:
                        count, mean_x, mean_y = _group(behind, rec_src, top, left, s, source)
                    else:
                        count, mean_x, mean_y = _group(owner, rec_src, top, left, s, source)
                if count == 0:
                    continue
                source = -1 if n < 0 else rec_src[n]
                if not glazed:
                    share = 0.25 * count
                    mirror = share
                found, z = SKY_ID, np.inf
                p = -1
                if source < 0:
                    _fill_place(f, j, m)
                    _fill_colour(f, j, m, _SKY[0], _SKY[1], _SKY[2])
                    if glazed:
                        share, mirror = _shares(behind, top, left, source, 1.0, rec_src, k)
                    _fill(f, j, m, 0.0, 1.0, 0.0, share, mirror)
                else:
                    p = face_part[source]
                    material = part_material[p]
                    side = rec_flags[n] & 8
                    if source != loaded or side != loaded_side:
                        _load(
                            source, faces, view_vertices, view_normals, uv, uv_scale[material, 0],
                            uv_scale[material, 1], side != 0, near, k,
                        )  # fmt: skip
                        loaded, loaded_side = source, side
                    rx, ry = (x + mean_x - half_w) * per_focal, (half_h - (y + mean_y)) * per_focal
                    _place(rx, per_focal, ry, m, k, f, j, g)
                    tex = material_tex[material]
                    if tex >= 0:
                        _paint(x, half_w, per_focal, ry, m, tex, texels, levels, level_count, k, f, j, g)
                    else:
                        red, green, blue = rgb[material, 0], rgb[material, 1], rgb[material, 2]
                        _fill_colour(f, j, m, red * red, green * green, blue * blue)
                    if glazed and layer < 2:
                        edge = _edge(f, j)
                        kept = alpha[material]
                        kept += (1.0 - kept) * _EDGE_HIDES * edge
                        share, mirror = _shares(panes[layer], top, left, source, kept, rec_src, k)
                        mirror *= 1.0 - _EDGE_DULL * edge
                    elif glazed:
                        share, mirror = _shares(behind, top, left, source, 1.0, rec_src, k)
                    _fill(f, j, m, gloss[material], glow[material], lift[material], share, mirror)
                    found = part_id[p]
                    if run == 0:
                        z = _depth((x + 0.5 - half_w) * per_focal, (half_h - y - 0.5) * per_focal, k)
                for i in range(m):
                    part[j + i] = p
                if run > 0:
                    for i in range(m):
                        counts[pixel - begin + i] = 1
                        ids[y, x + i] = found
                        depth[y, x + i] = f[PZ * CAP + j + i]
                    if source < 0:
                        for i in range(m):
                            depth[y, x + i] = np.inf
                if count > best:
                    best, best_id, best_z = count, found, z
                j += m
                if run > 0:
                    break
        if run == 0:
            counts[pixel - begin] = j - begun
            if glazed:
                # who has the samples decides, not what is seen through what
                best = 0
                for s in range(4):
                    n = owner[top + (s >> 1), left + (s & 1)]
                    source = -1 if n < 0 else rec_src[n]
                    count, mean_x, mean_y = _group(owner, rec_src, top, left, s, source)
                    if count <= best:
                        continue
                    best, best_id, best_z = count, SKY_ID, np.inf
                    if source >= 0:
                        material = part_material[face_part[source]]
                        _load(
                            source, faces, view_vertices, view_normals, uv, uv_scale[material, 0],
                            uv_scale[material, 1], False, near, k,
                        )  # fmt: skip
                        loaded, loaded_side = source, 0
                        best_id = part_id[face_part[source]]
                        best_z = _depth((x + 0.5 - half_w) * per_focal, (half_h - y - 0.5) * per_focal, k)
            ids[y, x] = best_id
            depth[y, x] = best_z
        done = max(1, run)
        if y & 1 == 0:
            for i in range(x + (x & 1), x + done, 2):
                n = owner[2 * (y - y0) + 1, 2 * i + 1]
                lattice[y >> 1, i >> 1] = SKY_ID if n < 0 else part_id[face_part[rec_src[n]]]
        pixel += done
    return pixel, j


@kernel
def survey_band(owner, rec_src, face_part, part_id, y0, y1, lattice):
    """Ids only: rows y0..y1-1 of the lattice from owners indexed from y0."""
    for y in range(y0, y1):
        for x in range(lattice.shape[1]):
            n = owner[y - y0, x]
            lattice[y, x] = SKY_ID if n < 0 else part_id[face_part[rec_src[n]]]
