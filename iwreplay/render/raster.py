"""Kernels that turn meshes into covered samples: place, project, clip, rasterise.

Positions on the image are snapped to 1/512 pixel and from there on everything that decides coverage is integer
arithmetic: edge functions are exact and a sample on an edge belongs to one side by the top-left rule, so that a mesh
has no holes and no sample is covered twice. The nearest surface wins a sample; of equally near ones that with the
lower triangle number; so the order in which triangles are drawn does not matter.

Image axes: x right, y down, pixels; view axes: x right, y up, z forward (so z is the depth).
"""

# Kernels take arrays by position, and are typed by numba from what they get. min and max of three are nested, and
# floor is cast, because that is what numba compiles to plain instructions.
# ruff: noqa: PLR0917, PLW3301, RUF046
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import math

import numpy as np

from iwreplay.render.jit import OPTIONS_REVISION, inlined, kernel, shared
from iwreplay.render.layout import BODY_ID, LAMP_AT, LAMP_FADE, LAMP_REACH, LAMP_RECT, LAYOUT_REVISION

__all__ = [
    "BODY_NEAR_M",
    "FIXED",
    "MAX_CORNERS",
    "NEAR_M",
    "count_bands",
    "depth_band",
    "fill_bands",
    "place_parts",
    "raster_band",
    "setup",
]

assert OPTIONS_REVISION == 1
assert LAYOUT_REVISION == 17835415

#: fixed-point units in a pixel
FIXED = 512
#: things nearer to the eyes than this are cut off: what one holds before one's face must not take all of the view
NEAR_M = 0.02
#: of the wearer's own body only what is nearer than this: a forearm passes by closer, and is no hollow tube
BODY_NEAR_M = 0.002

# Projected points lie within so many pixels of the image's centre; beyond, triangles are clipped. 2**14 pixels are
# 2**23 units, products of two are 2**46: edge functions can't overflow 64 bits.
_GUARD_PX = 16000.0
# three corners, and at most one more for each of five clip planes
MAX_CORNERS = 8
_FLAT_COVERAGE = 4


@kernel
def place_parts(parts, poses, local_balls, balls):
    """World balls (np, 4: centre, radius) of the listed parts after their poses (np, 3, 4) changed."""
    for i in range(parts.shape[0]):
        p = parts[i]
        x, y, z = local_balls[p, 0], local_balls[p, 1], local_balls[p, 2]
        for r in range(3):
            balls[p, r] = poses[p, r, 0] * x + poses[p, r, 1] * y + poses[p, r, 2] * z + poses[p, r, 3]
        # a ball under a stretched pose: the longest column bounds it
        longest = 0.0
        for c in range(3):
            s = poses[p, 0, c] * poses[p, 0, c] + poses[p, 1, c] * poses[p, 1, c] + poses[p, 2, c] * poses[p, 2, c]
            longest = max(longest, s)
        balls[p, 3] = local_balls[p, 3] * math.sqrt(longest)


@inlined
def _lamps_reaching(x, y, z, radius, wx, wy, lamps):
    """Bit j: lamp j reaches into a ball (view axes x, y, z; world wx, wy)."""
    reaching = 0
    for j in range(lamps.shape[0]):
        outside_x = max(lamps[j, LAMP_RECT] - wx, wx - lamps[j, LAMP_RECT + 2])
        outside_y = max(lamps[j, LAMP_RECT + 1] - wy, wy - lamps[j, LAMP_RECT + 3])
        if max(outside_x, outside_y) - radius >= lamps[j, LAMP_FADE]:
            continue
        dx, dy, dz = lamps[j, LAMP_AT] - x, lamps[j, LAMP_AT + 1] - y, lamps[j, LAMP_AT + 2] - z
        # beyond its reach (kept as one over its square)
        gap = max(0.0, math.sqrt(dx * dx + dy * dy + dz * dz) - radius)
        if gap * gap * lamps[j, LAMP_REACH] < 1.0:
            reaching |= 1 << j
    return reaching


@shared
def _clip(points, corners, plane, near, spread, kept):
    """Cuts a convex polygon (corners, 3) by one plane: 0 near, 1..4 the sides of the guard band. New corner count.

    A crossing is computed from the inside end to the outside end whichever way the edge runs, so that two triangles
    that share an edge are cut at the same point.
    """
    n = 0
    for k in range(corners):
        q = k + 1 if k + 1 < corners else 0
        if plane == 0:
            dk, dq = points[k, 2] - near, points[q, 2] - near
        elif plane == 1:
            dk, dq = spread * points[k, 2] - points[k, 0], spread * points[q, 2] - points[q, 0]
        elif plane == 2:
            dk, dq = spread * points[k, 2] + points[k, 0], spread * points[q, 2] + points[q, 0]
        elif plane == 3:
            dk, dq = spread * points[k, 2] - points[k, 1], spread * points[q, 2] - points[q, 1]
        else:
            dk, dq = spread * points[k, 2] + points[k, 1], spread * points[q, 2] + points[q, 1]
        if dk >= 0.0:
            for r in range(3):
                kept[n, r] = points[k, r]
            n += 1
        if (dk >= 0.0) != (dq >= 0.0):
            a, b, da, db = (k, q, dk, dq) if dk >= 0.0 else (q, k, dq, dk)
            s = da / (da - db)
            for r in range(3):
                kept[n, r] = points[a, r] + s * (points[b, r] - points[a, r])
            if plane == 0:
                kept[n, 2] = near
            n += 1
    for k in range(n):
        for r in range(3):
            points[k, r] = kept[k, r]
    return n


@shared
def _emit(
    n, capacity, ax, ay, az, bx, by, bz, cx, cy, cz, two_sided, level, source, limits,
    rec_xy, rec_iz, rec_src, rec_flags,
):  # fmt: skip
    """Writes a record of a projected triangle (fixed-point corners, depths) when it can be seen. New record count."""
    low_x, high_x = min(ax, min(bx, cx)), max(ax, max(bx, cx))
    low_y, high_y = min(ay, min(by, cy)), max(ay, max(by, cy))
    if high_x < 0 or high_y < 0 or low_x > limits[0] or low_y > limits[1]:
        return n
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area == 0:
        return n
    # image y runs down: a front face, counter-clockwise to the viewer, has a negative area
    if area > 0 and not two_sided:
        return n
    if n < capacity:
        rec_xy[n, 0], rec_xy[n, 1] = ax, ay
        rec_iz[n, 0] = 1.0 / az
        if area < 0:
            rec_xy[n, 2], rec_xy[n, 3], rec_xy[n, 4], rec_xy[n, 5] = cx, cy, bx, by
            rec_iz[n, 1], rec_iz[n, 2] = 1.0 / cz, 1.0 / bz
        else:
            rec_xy[n, 2], rec_xy[n, 3], rec_xy[n, 4], rec_xy[n, 5] = bx, by, cx, cy
            rec_iz[n, 1], rec_iz[n, 2] = 1.0 / bz, 1.0 / cz
        rec_src[n] = source
        # bits 0..2: samples of a pixel that it covers (4: all); bit 3: seen from behind
        rec_flags[n] = level + (8 if area > 0 else 0)
    return n + 1


@kernel
def setup(
    vertices, normals, faces, part_vertices, part_faces, part_drawn, part_two_sided, part_level, part_id, poses, turns,
    balls, camera, focal_px, thing_near, body_near, width, height, lamps, view_vertices, view_normals, image,
    part_lamps, rec_xy, rec_iz, rec_src, rec_flags, scratch, corners_xy,
):  # fmt: skip
    """View-space vertices and normals of every part in view, and a record for every triangle piece that may be seen.

    camera (3, 4): rows right, up, forward, and in the last column the camera's position. thing_near, body_near: what is
    nearer of things and of the wearer's body is cut off. lamps (n, LAMP_COLUMNS); bit j
    of part_lamps is set for a part in view that lamp j may reach. scratch (6 + 2 * MAX_CORNERS, 4) and corners_xy
    (MAX_CORNERS, 2) are working space. When `view_normals` has no rows no normals are made. Returns the number of
    records wanted; when it is above the capacity of `rec_*` the caller makes room and calls again.
    """
    capacity = rec_src.shape[0]
    limits = (width * FIXED, height * FIXED)
    half_w, half_h = width * 0.5, height * 0.5
    scale = focal_px * FIXED
    side_w = math.sqrt(focal_px * focal_px + half_w * half_w)
    side_h = math.sqrt(focal_px * focal_px + half_h * half_h)
    spread = _GUARD_PX / focal_px
    # the kernels' scratch space: the view matrix of a part, its turn, and a polygon being clipped
    m, turn, polygon, kept = scratch[0:3], scratch[3:6], scratch[6 : 6 + MAX_CORNERS], scratch[6 + MAX_CORNERS :]
    shaded = view_normals.shape[0] > 0
    n = 0
    for p in range(part_drawn.shape[0]):
        part_lamps[p] = 0
        if part_drawn[p] == 0:
            continue
        near = body_near if part_id[p] == BODY_ID else thing_near
        dx, dy, dz = balls[p, 0] - camera[0, 3], balls[p, 1] - camera[1, 3], balls[p, 2] - camera[2, 3]
        x = camera[0, 0] * dx + camera[0, 1] * dy + camera[0, 2] * dz
        y = camera[1, 0] * dx + camera[1, 1] * dy + camera[1, 2] * dz
        z = camera[2, 0] * dx + camera[2, 1] * dy + camera[2, 2] * dz
        # a hair more, so that rounding never drops a part whose edge is just in view
        r = balls[p, 3] * 1.0001 + 1e-6
        if z + r < near:
            continue
        if abs(x) * focal_px - z * half_w > r * side_w or abs(y) * focal_px - z * half_h > r * side_h:
            continue
        part_lamps[p] = _lamps_reaching(x, y, z, r, balls[p, 0], balls[p, 1], lamps)
        tx, ty, tz = poses[p, 0, 3] - camera[0, 3], poses[p, 1, 3] - camera[1, 3], poses[p, 2, 3] - camera[2, 3]
        for i in range(3):
            for j in range(3):
                m[i, j] = camera[i, 0] * poses[p, 0, j] + camera[i, 1] * poses[p, 1, j] + camera[i, 2] * poses[p, 2, j]
                turn[i, j] = (
                    camera[i, 0] * turns[p, 0, j] + camera[i, 1] * turns[p, 1, j] + camera[i, 2] * turns[p, 2, j]
                )
            m[i, 3] = camera[i, 0] * tx + camera[i, 1] * ty + camera[i, 2] * tz
        for v in range(part_vertices[p, 0], part_vertices[p, 1]):
            x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
            vx = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3]
            vy = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3]
            vz = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3]
            view_vertices[v, 0], view_vertices[v, 1], view_vertices[v, 2] = vx, vy, vz
            if shaded:
                x, y, z = normals[v, 0], normals[v, 1], normals[v, 2]
                for i in range(3):
                    view_normals[v, i] = turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z
            image[v, 2] = 0
            if vz >= near and abs(vx) <= spread * vz and abs(vy) <= spread * vz:
                image[v, 0] = int(math.floor(half_w * FIXED + scale * vx / vz + 0.5))
                image[v, 1] = int(math.floor(half_h * FIXED - scale * vy / vz + 0.5))
                image[v, 2] = 1
        for t in range(part_faces[p, 0], part_faces[p, 1]):
            a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
            if image[a, 2] + image[b, 2] + image[c, 2] == 3:
                n = _emit(
                    n, capacity, image[a, 0], image[a, 1], view_vertices[a, 2], image[b, 0], image[b, 1],
                    view_vertices[b, 2], image[c, 0], image[c, 1], view_vertices[c, 2], part_two_sided[p] != 0,
                    part_level[p], t, limits, rec_xy, rec_iz, rec_src, rec_flags,
                )  # fmt: skip
                continue
            for i in range(3):
                polygon[0, i] = view_vertices[a, i]
                polygon[1, i] = view_vertices[b, i]
                polygon[2, i] = view_vertices[c, i]
            corners = 3
            for plane in range(5):
                if corners >= 3:
                    corners = _clip(polygon, corners, plane, near, spread, kept)
            for k in range(corners):
                corners_xy[k, 0] = int(math.floor(half_w * FIXED + scale * polygon[k, 0] / polygon[k, 2] + 0.5))
                corners_xy[k, 1] = int(math.floor(half_h * FIXED - scale * polygon[k, 1] / polygon[k, 2] + 0.5))
            for k in range(1, corners - 1):
                n = _emit(
                    n, capacity, corners_xy[0, 0], corners_xy[0, 1], polygon[0, 2], corners_xy[k, 0], corners_xy[k,
                    1], polygon[k, 2], corners_xy[k + 1, 0], corners_xy[k + 1, 1], polygon[k + 1, 2],
                    part_two_sided[p] != 0, part_level[p], t, limits, rec_xy, rec_iz, rec_src, rec_flags,
                )  # fmt: skip
    return n


@inlined
def _sample_rows(rec_xy, n, shift, offset, rows):
    """First and last sample row that a record can touch, clipped to the image (first > last: none)."""
    low = min(rec_xy[n, 1], min(rec_xy[n, 3], rec_xy[n, 5]))
    high = max(rec_xy[n, 1], max(rec_xy[n, 3], rec_xy[n, 5]))
    # arithmetic shifts round down; minus twice rounds up
    first = -((offset - low) >> shift)
    last = (high - offset) >> shift
    return max(0, first), min(rows - 1, last)


@kernel
def count_bands(rec_xy, records, shift, offset, rows, band_rows, counts):
    """How many records touch each band of `band_rows` sample rows."""
    for b in range(counts.shape[0]):
        counts[b] = 0
    for n in range(records):
        first, last = _sample_rows(rec_xy, n, shift, offset, rows)
        if first <= last:
            for b in range(first // band_rows, last // band_rows + 1):
                counts[b] += 1


@kernel
def fill_bands(rec_xy, records, shift, offset, rows, band_rows, starts, order):
    """Record numbers band by band into `order`; band b begins at starts[b]. `starts` is used up."""
    for n in range(records):
        first, last = _sample_rows(rec_xy, n, shift, offset, rows)
        if first <= last:
            for b in range(first // band_rows, last // band_rows + 1):
                order[starts[b]] = n
                starts[b] += 1


@inlined
def _edge(ax, ay, bx, by):
    """a, b, c of an edge from A to B: a * x + b * y + c is 0 or more inside, also on a left or top edge."""
    a, b = ay - by, bx - ax
    # a sample exactly on an edge belongs to it only on a left or top edge
    return a, b, ax * by - bx * ay - (0 if a > 0 or (a == 0 and b > 0) else 1)


@inlined
def _covers(column, row, shift, offset, level):
    """Whether a see-through surface takes this sample: `level` of the four of every pixel, another set each pixel."""
    sx, sy = (offset + (column << shift)) >> 8, (offset + (row << shift)) >> 8
    rank = (sx & 1) + 2 * (sy & 1) + (sx >> 2) + 3 * (sy >> 2)
    return (rank & 3) < level


@shared
def _insert_pane(n, iz, source, y, x, rec_src, pane_iz, panes):
    """Keeps the nearest two; of equally near ones those with the lower triangle number."""
    at = 0
    while at < 2:
        held = panes[at, y, x]
        if held < 0 or iz > pane_iz[at, y, x] or (iz == pane_iz[at, y, x] and source < rec_src[held]):
            break
        at += 1
    if at == 0:
        panes[1, y, x] = panes[0, y, x]
        pane_iz[1, y, x] = pane_iz[0, y, x]
    if at < 2:
        panes[at, y, x] = n
        pane_iz[at, y, x] = iz


@kernel
def raster_band(
    rec_xy, rec_iz, rec_src, rec_flags, order, begin, end, shift, offset, columns, row0, row1, near_iz, owner, peel,
    behind_iz, behind, pane_iz, panes,
):  # fmt: skip
    """Finds the record seen at every sample of rows row0..row1-1.

    Sample (column, row) lies at offset + (column, row) * 2**shift fixed-point units. `near_iz` (rows, columns) gets
    1/depth in float32, 0 where nothing is; `owner` the record number or -1. Both are indexed from row0. Glass takes as
    many of the four samples of a pixel as its level says.

    With `peel`, further arrays get what is needed to look through glass: `behind` (rows, columns) the nearest record
    that is no glass, `panes` (2, rows, columns) the nearest two of glass in front of it, -1 where there is none, and
    `behind_iz`, `pane_iz` their inverse depths.
    """
    for y in range(row1 - row0):
        for x in range(columns):
            near_iz[y, x] = 0.0
            owner[y, x] = -1
    _fill_band(
        rec_xy, rec_iz, rec_src, rec_flags, order, begin, end, shift, offset, columns, row0, row1, near_iz, owner,
        1 if peel else 0, behind_iz, pane_iz, panes,
    )  # fmt: skip
    if peel:
        for y in range(row1 - row0):
            for x in range(columns):
                behind_iz[y, x] = near_iz[y, x]
                behind[y, x] = owner[y, x]
                panes[0, y, x] = -1
                panes[1, y, x] = -1
        _fill_band(
            rec_xy, rec_iz, rec_src, rec_flags, order, begin, end, shift, offset, columns, row0, row1, near_iz, owner,
            2, behind_iz, pane_iz, panes,
        )  # fmt: skip


@shared
def _fill_band(
    rec_xy, rec_iz, rec_src, rec_flags, order, begin, end, shift, offset, columns, row0, row1, near_iz, owner, which,
    behind_iz, pane_iz, panes,
):  # fmt: skip
    """The work of `raster_band` for all records (0), for those that are no glass (1), or for glass (2)."""
    for i in range(begin, end):
        n = order[i]
        level = rec_flags[n] & 7
        if which != 0 and (which == 1) != (level == _FLAT_COVERAGE):
            continue
        x0, y0, x1, y1, x2, y2 = (
            np.int64(rec_xy[n, 0]), np.int64(rec_xy[n, 1]), np.int64(rec_xy[n, 2]),
            np.int64(rec_xy[n, 3]), np.int64(rec_xy[n, 4]), np.int64(rec_xy[n, 5]),
        )  # fmt: skip
        top, bottom = _sample_rows(rec_xy, n, shift, offset, row1)
        top = max(top, row0)
        left = max(0, -((offset - min(x0, min(x1, x2))) >> shift))
        right = min(columns - 1, (max(x0, max(x1, x2)) - offset) >> shift)
        if top > bottom or left > right:
            continue
        a0, b0, c0 = _edge(x1, y1, x2, y2)
        a1, b1, c1 = _edge(x2, y2, x0, y0)
        a2, b2, c2 = _edge(x0, y0, x1, y1)
        area = float(a0 * (x0 - x1) + b0 * (y0 - y1))
        step1, step2 = rec_iz[n, 1] - rec_iz[n, 0], rec_iz[n, 2] - rec_iz[n, 0]
        slope_x = (float(a1) * step1 + float(a2) * step2) / area
        slope_y = (float(b1) * step1 + float(b2) * step2) / area
        iz0 = rec_iz[n, 0]
        source = rec_src[n]
        s0, s1, s2 = a0 << shift, a1 << shift, a2 << shift
        fx = offset + (left << shift)
        for y in range(top, bottom + 1):
            fy = offset + (y << shift)
            e0, e1, e2 = a0 * fx + b0 * fy + c0, a1 * fx + b1 * fy + c1, a2 * fx + b2 * fy + c2
            first, last = left, right
            if right - left >= 6:
                # solve each edge for the columns inside it
                for e, s in ((e0, s0), (e1, s1), (e2, s2)):
                    if s > 0:
                        if e < 0:
                            first = max(first, left + (s - 1 - e) // s)
                    elif e < 0:
                        last = -1
                    elif s < 0:
                        last = min(last, left + e // (-s))
            iz_row = iz0 + slope_y * float(fy - y0)
            for x in range(first, last + 1):
                k = x - left
                if (e0 + k * s0) | (e1 + k * s1) | (e2 + k * s2) < 0:
                    continue
                iz = np.float32(iz_row + slope_x * float(offset + (x << shift) - x0))
                if which == 2 and iz > behind_iz[y - row0, x]:
                    _insert_pane(n, iz, source, y - row0, x, rec_src, pane_iz, panes)
                held = near_iz[y - row0, x]
                if iz < held:
                    continue
                if iz == held and owner[y - row0, x] >= 0 and rec_src[owner[y - row0, x]] <= source:
                    continue
                if level < _FLAT_COVERAGE and not _covers(x, y, shift, offset, level):
                    continue
                near_iz[y - row0, x] = iz
                owner[y - row0, x] = n


@kernel
def depth_band(rec_xy, rec_iz, order, begin, end, shift, offset, columns, row0, row1, near_iz):
    """Puts the records order[begin:end] over sample rows row0..row1-1 of `near_iz` (indexed from row 0): the nearest
    inverse depth of each sample, be it of a record or what was there before.

    The same inverse depths as from `raster_band`, and a greatest number: so it does not matter in how many goes, and
    in which order, records are put there.
    """
    for i in range(begin, end):
        n = order[i]
        x0, y0, x1, y1, x2, y2 = (
            np.int64(rec_xy[n, 0]), np.int64(rec_xy[n, 1]), np.int64(rec_xy[n, 2]),
            np.int64(rec_xy[n, 3]), np.int64(rec_xy[n, 4]), np.int64(rec_xy[n, 5]),
        )  # fmt: skip
        top, bottom = _sample_rows(rec_xy, n, shift, offset, row1)
        top = max(top, row0)
        left = max(0, -((offset - min(x0, min(x1, x2))) >> shift))
        right = min(columns - 1, (max(x0, max(x1, x2)) - offset) >> shift)
        if top > bottom or left > right:
            continue
        a0, b0, c0 = _edge(x1, y1, x2, y2)
        a1, b1, c1 = _edge(x2, y2, x0, y0)
        a2, b2, c2 = _edge(x0, y0, x1, y1)
        area = float(a0 * (x0 - x1) + b0 * (y0 - y1))
        step1, step2 = rec_iz[n, 1] - rec_iz[n, 0], rec_iz[n, 2] - rec_iz[n, 0]
        slope_x = (float(a1) * step1 + float(a2) * step2) / area
        slope_y = (float(b1) * step1 + float(b2) * step2) / area
        iz0 = rec_iz[n, 0]
        s0, s1, s2 = a0 << shift, a1 << shift, a2 << shift
        fx = offset + (left << shift)
        wide = right - left >= 6
        for y in range(top, bottom + 1):
            fy = offset + (y << shift)
            e0, e1, e2 = a0 * fx + b0 * fy + c0, a1 * fx + b1 * fy + c1, a2 * fx + b2 * fy + c2
            iz_row = iz0 + slope_y * float(fy - y0)
            if wide:
                # solve each edge for the columns inside it
                first, last = left, right
                for e, s in ((e0, s0), (e1, s1), (e2, s2)):
                    if s > 0:
                        if e < 0:
                            first = max(first, left + (s - 1 - e) // s)
                    elif e < 0:
                        last = -1
                    elif s < 0:
                        last = min(last, left + e // (-s))
                # whole numbers below 2**53, in floats: the same products as below, several at a time
                begun, stride = float(offset + (first << shift) - x0), float(1 << shift)
                for k in range(np.int32(last - first + 1)):
                    iz = np.float32(iz_row + slope_x * (begun + float(np.int32(k)) * stride))
                    column = np.uint64(first + k)
                    near_iz[np.uint64(y), column] = max(near_iz[np.uint64(y), column], iz)
                continue
            for x in range(left, right + 1):
                k = x - left
                if (e0 + k * s0) | (e1 + k * s1) | (e2 + k * s2) < 0:
                    continue
                iz = np.float32(iz_row + slope_x * float(offset + (x << shift) - x0))
                near_iz[y, x] = max(near_iz[y, x], iz)
