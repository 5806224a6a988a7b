"""Kernels that turn samples into pixels: light, texture and colour of what `raster` found.

Each surface in a pixel is shaded once, at the middle of the samples it covers. Depth and the inverse of it are
planes over the view ray, so barycentric coordinates come from the original triangle, also where it was clipped.
Light is added up in linear space; 8-bit colours are its square roots (close to sRGB, and exact on any machine).
"""

# Kernels take arrays by position, and are typed by numba from what they get. min and max of three are nested, and
# floor is cast, because that is what numba compiles to plain instructions.
# ruff: noqa: PLR0917, PLW3301, RUF046
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import math

import numpy as np

from iwreplay.render.jit import OPTIONS_REVISION, inlined, kernel

__all__ = ["BODY_ID", "MAP_FOCAL_PX", "MAP_NEAR_M", "MAP_PX", "SCRATCH", "SKY_ID", "shade_band", "survey_band"]

assert OPTIONS_REVISION == 1

#: ids of what is no thing of the scene
SKY_ID = -1
BODY_ID = -2

#: linear RGB of the sky, of light from above and from below (cool), and of lamps (warm)
_SKY = (0.62, 0.76, 0.92)
_ABOVE = (0.47, 0.49, 0.52)
_BELOW = (0.33, 0.31, 0.29)
_LAMP = (0.95, 0.89, 0.79)

#: a lamp's light falls off as 1 / (1 + _FALLOFF d^2), and to nothing at its range
_FALLOFF = 0.22
#: brightness above which colours are pressed together instead of clipped
_SHOULDER = 0.62
_MOST_TAPS = 4
#: below 1: textures are read a little sharper than their average over a pixel
_SHARPNESS = 0.7

#: side of a lamp's shadow map, samples
MAP_PX = 768
#: it reaches 64 degrees to each side of straight down (384 / 187.5 = 2.05)
MAP_FOCAL_PX = 187.5
#: what is nearer to the lamp than this casts no shadow: its own shade and fitting
MAP_NEAR_M = 0.25

# layout of the scratch array: what is constant over a triangle
_E1, _E2, _INV = 0, 3, 6  # planes of b1/z, b2/z, 1/z over the ray (x, y, 1)
_INV_LOW, _INV_HIGH = 9, 10
_NORMALS = 11  # three corners
_UV = 20  # three corners
_UV_PLANES = 26  # u/z and v/z
_FLAT = 32
_SIDE = 33
#: length of the scratch array
SCRATCH = 40


@inlined
def _load(t, faces, view_vertices, view_normals, uv, scale_u, scale_v, seen_from_behind, near, k):
    """Fills the scratch array for triangle t."""
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
def _centre_depth(rx, ry, k):
    """Depth of the loaded triangle's plane along a ray, kept within the triangle's own range of depths."""
    inv = k[_INV] * rx + k[_INV + 1] * ry + k[_INV + 2]
    return 1.0 / min(k[_INV_HIGH], max(k[_INV_LOW], inv))


@inlined
def _texel(texels, start, log_w, log_h, u, v):
    """Bilinear sample of one mip level in integers: r, g, b each 0..255 * 65536. u, v in tiles."""
    w, h = 1 << log_w, 1 << log_h
    # 8 bits below the texel; u and v are within some thousand tiles
    x, y = int(math.floor(u * (w << 8))) - 128, int(math.floor(v * (h << 8))) - 128
    fx, fy = x & 255, y & 255
    x0, y0 = (x >> 8) & (w - 1), (y >> 8) & (h - 1)
    x1, y1 = (x0 + 1) & (w - 1), (y0 + 1) & (h - 1)
    row0, row1 = start + (y0 << log_w), start + (y1 << log_w)
    a, b, c, d = texels[row0 + x0], texels[row0 + x1], texels[row1 + x0], texels[row1 + x1]
    wa, wb, wc, wd = (256 - fx) * (256 - fy), fx * (256 - fy), (256 - fx) * fy, fx * fy
    red = (a & 255) * wa + (b & 255) * wb + (c & 255) * wc + (d & 255) * wd
    green = ((a >> 8) & 255) * wa + ((b >> 8) & 255) * wb + ((c >> 8) & 255) * wc + ((d >> 8) & 255) * wd
    blue = (a >> 16) * wa + (b >> 16) * wb + (c >> 16) * wc + (d >> 16) * wd
    return red, green, blue


@inlined
def _textured(tex, texels, levels, level_count, u, v, ux, vx, uy, vy):
    """Colour 0..1 of a texture over a footprint given by the change of (u, v) per pixel across and down."""
    w, h = float(1 << levels[tex, 0, 1]), float(1 << levels[tex, 0, 2])
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
    last = level_count[tex] - 1
    lod = 0
    while rho2 >= 4.0 and lod < last:
        rho2 *= 0.25
        lod += 1
    blend = 0.0
    if rho2 > 1.0 and lod < last:
        blend = min(1.0, math.sqrt(rho2) - 1.0)
    r, g, b = 0.0, 0.0, 0.0
    for i in range(taps):
        s = (i + 0.5) * per_tap - 0.5
        pu, pv = u + s * mu, v + s * mv
        tr, tg, tb = _texel(texels, levels[tex, lod, 0], levels[tex, lod, 1], levels[tex, lod, 2], pu, pv)
        fr, fg, fb = float(tr), float(tg), float(tb)
        if blend > 0.0:
            up = lod + 1
            tr, tg, tb = _texel(texels, levels[tex, up, 0], levels[tex, up, 1], levels[tex, up, 2], pu, pv)
            fr += (float(tr) - fr) * blend
            fg += (float(tg) - fg) * blend
            fb += (float(tb) - fb) * blend
        r += fr
        g += fg
        b += fb
    unit = per_tap * (1.0 / (255.0 * 65536.0))
    return r * unit, g * unit, b * unit


@inlined
def _lamp_share(lamp, wx, wy, wz, lights, maps):
    """How much of a lamp's light gets to a world point: 0..1, by its room and its shadow map."""
    outside_x = max(lights[lamp, 8] - wx, wx - lights[lamp, 10])
    outside_y = max(lights[lamp, 9] - wy, wy - lights[lamp, 11])
    share = min(1.0, 1.0 - max(outside_x, outside_y) / lights[lamp, 12])
    if share <= 0.0:
        return 0.0
    depth = lights[lamp, 7] - wz
    if depth <= MAP_NEAR_M:
        return share
    # the map's samples are the middles of its pixels; half a sample more centres the box
    inverse = 1.0 / depth
    x = MAP_PX * 0.5 - 1.0 + MAP_FOCAL_PX * (wx - lights[lamp, 5]) * inverse
    y = MAP_PX * 0.5 - 1.0 - MAP_FOCAL_PX * (wy - lights[lamp, 6]) * inverse
    edge = min(min(x, y), MAP_PX - 1.0 - max(x, y))
    if edge < 2.0:
        return share
    ix, iy = int(math.floor(x)), int(math.floor(y))
    fx, fy = x - ix, y - iy
    limit = 1.004 * inverse
    # a box of 2 x 2 samples that follows the point continuously
    dark = 0.0
    for j in range(3):
        across = 0.0
        if maps[lamp, iy + j, ix] > limit:
            across += 1.0 - fx
        if maps[lamp, iy + j, ix + 1] > limit:
            across += 1.0
        if maps[lamp, iy + j, ix + 2] > limit:
            across += fx
        dark += across * (1.0 - fy if j == 0 else fy if j == 2 else 1.0)
    # outside the map nothing is known: shadows fade out towards its edge
    return share * (1.0 - min(1.0, edge * (1.0 / 48.0)) * dark * 0.25)


@inlined
def _shade(
    x, y, per_focal, half_w, half_h, material, rgb, glow, gloss, tex, texels, levels, level_count, lights,
    part_lights, p, maps, camera, k,
):  # fmt: skip
    """Linear r, g, b and the depth of the loaded triangle at image point (x, y)."""
    rx, ry = (x - half_w) * per_focal, (half_h - y) * per_focal
    inv = k[_INV] * rx + k[_INV + 1] * ry + k[_INV + 2]
    # snapped corners let a sample lie a hair outside the true triangle: keep depth and weights within it
    inv = min(k[_INV_HIGH], max(k[_INV_LOW], inv))
    z = 1.0 / inv
    b1 = min(1.0, max(0.0, (k[_E1] * rx + k[_E1 + 1] * ry + k[_E1 + 2]) * z))
    b2 = min(1.0 - b1, max(0.0, (k[_E2] * rx + k[_E2 + 1] * ry + k[_E2 + 2]) * z))
    b0 = 1.0 - b1 - b2
    nx, ny, nz = k[_NORMALS], k[_NORMALS + 1], k[_NORMALS + 2]
    if k[_FLAT] == 0.0:
        nx = b0 * nx + b1 * k[_NORMALS + 3] + b2 * k[_NORMALS + 6]
        ny = b0 * ny + b1 * k[_NORMALS + 4] + b2 * k[_NORMALS + 7]
        nz = b0 * nz + b1 * k[_NORMALS + 5] + b2 * k[_NORMALS + 8]
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        if length > 0.0:
            length = 1.0 / length
            nx, ny, nz = nx * length, ny * length, nz * length
    r, g, b = rgb[material, 0], rgb[material, 1], rgb[material, 2]
    if tex >= 0:
        u = b0 * k[_UV] + b1 * k[_UV + 1] + b2 * k[_UV + 2]
        v = b0 * k[_UV + 3] + b1 * k[_UV + 4] + b2 * k[_UV + 5]
        per_px = z * per_focal
        ux, uy = (k[_UV_PLANES] - u * k[_INV]) * per_px, (k[_UV_PLANES + 1] - u * k[_INV + 1]) * per_px
        vx, vy = (k[_UV_PLANES + 2] - v * k[_INV]) * per_px, (k[_UV_PLANES + 3] - v * k[_INV + 1]) * per_px
        r, g, b = _textured(tex, texels, levels, level_count, u, v, ux, vx, uy, vy)
    r, g, b = r * r, g * g, b * b
    hx, hy = rx * z, ry * z
    # light of the sky and of the floor, by how far the surface faces up
    up_x, up_y, up_z = camera[0, 2], camera[1, 2], camera[2, 2]
    facing_up = nx * up_x + ny * up_y + nz * up_z
    sky = 0.5 + 0.5 * facing_up
    lr = _BELOW[0] + (_ABOVE[0] - _BELOW[0]) * sky
    lg = _BELOW[1] + (_ABOVE[1] - _BELOW[1]) * sky
    lb = _BELOW[2] + (_ABOVE[2] - _BELOW[2]) * sky
    shine = 0.0
    shiny = gloss[material]
    ex, ey, ez, facing = 0.0, 0.0, 0.0, 0.0
    if shiny > 0.0:
        length = -1.0 / math.sqrt(hx * hx + hy * hy + z * z)
        ex, ey, ez = hx * length, hy * length, z * length
        facing = max(0.0, nx * ex + ny * ey + nz * ez)
        # what it mirrors: bright above, dark below, more of it at grazing angles
        mirrored = 2.0 * facing * facing_up - (ex * up_x + ey * up_y + ez * up_z)
        away = 1.0 - facing
        shine = shiny * (0.16 + 0.84 * away * away * away) * (0.32 + 0.30 * mirrored)
    for i in range(part_lights[p, 0]):
        j = part_lights[p, 1 + i]
        dx, dy, dz = lights[j, 0] - hx, lights[j, 1] - hy, lights[j, 2] - z
        toward = nx * dx + ny * dy + nz * dz
        if toward <= 0.0:
            continue
        d2 = dx * dx + dy * dy + dz * dz
        window = 1.0 - d2 * lights[j, 4]
        if window <= 0.0:
            continue
        d = math.sqrt(d2)
        # where the map is asked: a step off the surface, so that it does not shadow itself
        off = 0.003 + 1.6 * d / MAP_FOCAL_PX
        ox, oy, oz = hx + off * nx, hy + off * ny, z + off * nz
        share = _lamp_share(
            j, camera[0, 3] + camera[0, 0] * ox + camera[1, 0] * oy + camera[2, 0] * oz,
            camera[1, 3] + camera[0, 1] * ox + camera[1, 1] * oy + camera[2, 1] * oz,
            camera[2, 3] + camera[0, 2] * ox + camera[1, 2] * oy + camera[2, 2] * oz, lights, maps,
        )  # fmt: skip
        if share <= 0.0:
            continue
        per_d = 1.0 / d
        strength = share * lights[j, 3] * window * window / (1.0 + _FALLOFF * d2)
        amount = strength * toward * per_d
        lr += amount * _LAMP[0]
        lg += amount * _LAMP[1]
        lb += amount * _LAMP[2]
        if shiny > 0.0:
            sx, sy, sz = dx * per_d + ex, dy * per_d + ey, dz * per_d + ez
            s2 = sx * sx + sy * sy + sz * sz
            if s2 > 0.0:
                c = (nx * sx + ny * sy + nz * sz) / math.sqrt(s2)
                if c > 0.0:
                    c *= c
                    c *= c
                    c *= c
                    c *= c
                    c *= c
                    shine += shiny * 0.9 * strength * c
    own = glow[material]
    return r * (lr + own) + shine, g * (lg + own) + shine, b * (lb + own) + shine, z


@inlined
def _display(light):
    """8-bit value of linear light: its square root, with a soft shoulder instead of a hard limit."""
    if light > _SHOULDER:
        over = (light - _SHOULDER) / (1.0 - _SHOULDER)
        light = _SHOULDER + (1.0 - _SHOULDER) * over / (1.0 + over)
    return np.uint8(int(math.sqrt(max(0.0, light)) * 255.0 + 0.5))


@inlined
def _group(owner, rec_src, top, left, s, source):
    """How many of a pixel's samples show the surface of sample s, and their middle; 0 when an earlier one does too."""
    share, sum_x, sum_y = 0, 0.0, 0.0
    for q in range(4):
        m = owner[top + (q >> 1), left + (q & 1)]
        if (-1 if m < 0 else rec_src[m]) == source:
            if q < s:
                return 0, 0.0, 0.0
            share += 1
            sum_x += 0.25 + 0.5 * (q & 1)
            sum_y += 0.25 + 0.5 * (q >> 1)
    return share, sum_x / share, sum_y / share


@kernel
def shade_band(
    owner, rec_src, rec_flags, faces, face_part, view_vertices, view_normals, uv, part_material, part_id, part_lights,
    rgb, glow, gloss, material_tex, uv_scale, texels, levels, level_count, lights, maps, camera, focal_px, near, y0, y1,
    pixels, depth, ids, lattice, scratch,
):  # fmt: skip
    """Rows y0..y1-1 of the image from the owners (2 * rows, 2 * width) of their four samples a pixel.

    Depth (metres along the view axis, at the pixel's centre; infinity for sky) and id are those of the surface with
    most samples, the first of equals. `lattice` gets the ids that a survey (`survey_band`) finds.
    """
    width, height = pixels.shape[1], pixels.shape[0]
    half_w, half_h = width * 0.5, height * 0.5
    per_focal = 1.0 / focal_px
    loaded, loaded_side = -1, 0
    for y in range(y0, y1):
        for x in range(width):
            red, green, blue = 0.0, 0.0, 0.0
            best, best_id, best_z = 0, SKY_ID, np.inf
            top, left = 2 * (y - y0), 2 * x
            first = owner[top, left]
            alone = (
                first == owner[top, left + 1] and first == owner[top + 1, left] and first == owner[top + 1, left + 1]
            )
            for s in range(4):
                n = owner[top + (s >> 1), left + (s & 1)]
                source = -1 if n < 0 else rec_src[n]
                # each surface once, when its first sample comes, at the middle of its samples
                share, mean_x, mean_y = 4, 0.5, 0.5
                if not alone:
                    share, mean_x, mean_y = _group(owner, rec_src, top, left, s, source)
                    if share == 0:
                        continue
                found, z = SKY_ID, np.inf
                if source < 0:
                    r, g, b = _SKY
                else:
                    p = face_part[source]
                    material = part_material[p]
                    side = rec_flags[n] & 8
                    if source != loaded or side != loaded_side:
                        _load(
                            source, faces, view_vertices, view_normals, uv, uv_scale[material, 0],
                            uv_scale[material, 1], side != 0, near, scratch,
                        )  # fmt: skip
                        loaded, loaded_side = source, side
                    r, g, b, z = _shade(
                        x + mean_x, y + mean_y, per_focal, half_w, half_h, material, rgb, glow,
                        gloss, material_tex[material], texels, levels, level_count, lights, part_lights, p, maps,
                        camera, scratch,
                    )  # fmt: skip
                    found = part_id[p]
                    if not alone:
                        z = _centre_depth((x + 0.5 - half_w) * per_focal, (half_h - y - 0.5) * per_focal, scratch)
                red += r * share
                green += g * share
                blue += b * share
                if share > best:
                    best, best_id, best_z = share, found, z
                if share == 4:
                    break
            pixels[y, x, 0] = _display(0.25 * red)
            pixels[y, x, 1] = _display(0.25 * green)
            pixels[y, x, 2] = _display(0.25 * blue)
            ids[y, x] = best_id
            depth[y, x] = best_z
            if (x | y) & 1 == 0:
                n = owner[2 * (y - y0) + 1, 2 * x + 1]
                lattice[y >> 1, x >> 1] = SKY_ID if n < 0 else part_id[face_part[rec_src[n]]]


@kernel
def survey_band(owner, rec_src, face_part, part_id, y0, y1, lattice):
    """Ids only: rows y0..y1-1 of the lattice from owners indexed from y0."""
    for y in range(y0, y1):
        for x in range(lattice.shape[1]):
            n = owner[y - y0, x]
            lattice[y, x] = SKY_ID if n < 0 else part_id[face_part[rec_src[n]]]
