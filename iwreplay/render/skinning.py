"""Kernels for a mesh that deforms: its vertices and smooth normals from the poses of its bones."""

# Kernels take arrays by position, and are typed by numba from what they get.
# ruff: noqa: PLR0917
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import math

from iwreplay.render.jit import OPTIONS_REVISION, kernel
from iwreplay.render.layout import LAYOUT_REVISION

__all__ = ["copy_skin", "skin_normals", "skin_vertices"]

assert OPTIONS_REVISION == 1
assert LAYOUT_REVISION == 17835415


@kernel
def skin_vertices(rest, bones, shares, origins, poses, rows, out):
    """World places (n, 3) of vertices that hang on bones (linear blending).

    rest (n, 3), bones and shares (n, k), origins (b, 3) and poses (b, 7) of the bones; rows (b, 3, 4) is working space.
    """
    for b in range(poses.shape[0]):
        w, x, y, z = poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6]
        rows[b, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
        rows[b, 0, 1] = 2.0 * (x * y - w * z)
        rows[b, 0, 2] = 2.0 * (x * z + w * y)
        rows[b, 1, 0] = 2.0 * (x * y + w * z)
        rows[b, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
        rows[b, 1, 2] = 2.0 * (y * z - w * x)
        rows[b, 2, 0] = 2.0 * (x * z - w * y)
        rows[b, 2, 1] = 2.0 * (y * z + w * x)
        rows[b, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
        for r in range(3):
            rows[b, r, 3] = poses[b, r] - (
                rows[b, r, 0] * origins[b, 0] + rows[b, r, 1] * origins[b, 1] + rows[b, r, 2] * origins[b, 2]
            )
    for v in range(rest.shape[0]):
        px, py, pz = rest[v, 0], rest[v, 1], rest[v, 2]
        ox = oy = oz = 0.0
        for k in range(bones.shape[1]):
            s = shares[v, k]
            if s == 0.0:
                continue
            b = bones[v, k]
            ox += s * (rows[b, 0, 0] * px + rows[b, 0, 1] * py + rows[b, 0, 2] * pz + rows[b, 0, 3])
            oy += s * (rows[b, 1, 0] * px + rows[b, 1, 1] * py + rows[b, 1, 2] * pz + rows[b, 1, 3])
            oz += s * (rows[b, 2, 0] * px + rows[b, 2, 1] * py + rows[b, 2, 2] * pz + rows[b, 2, 3])
        out[v, 0], out[v, 1], out[v, 2] = ox, oy, oz


@kernel
def skin_normals(vertices, faces, normals):
    """Unit normals (n, 3): of each vertex the mean over its faces, weighed by their area. Up where there are none."""
    for v in range(normals.shape[0]):
        normals[v, 0] = normals[v, 1] = normals[v, 2] = 0.0
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ux, uy, uz = (
            vertices[b, 0] - vertices[a, 0],
            vertices[b, 1] - vertices[a, 1],
            vertices[b, 2] - vertices[a, 2],
        )
        wx, wy, wz = (
            vertices[c, 0] - vertices[a, 0],
            vertices[c, 1] - vertices[a, 1],
            vertices[c, 2] - vertices[a, 2],
        )
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        for k in range(3):
            v = faces[f, k]
            normals[v, 0] += nx
            normals[v, 1] += ny
            normals[v, 2] += nz
    for v in range(normals.shape[0]):
        n = math.sqrt(normals[v, 0] * normals[v, 0] + normals[v, 1] * normals[v, 1] + normals[v, 2] * normals[v, 2])
        if n > 0.0:
            normals[v, 0], normals[v, 1], normals[v, 2] = normals[v, 0] / n, normals[v, 1] / n, normals[v, 2] / n
        else:
            normals[v, 2] = 1.0


@kernel
def copy_skin(skinned, skinned_normals, source, part_vertices, first_part, vertices, normals, balls):
    """Copies places and normals to the vertices of the parts from `first_part` on, and puts a ball around each part.

    source: for each of these vertices, in order, the vertex of the skin that it is.
    """
    begin = part_vertices[first_part, 0]
    for p in range(first_part, part_vertices.shape[0]):
        low_x = low_y = low_z = math.inf
        high_x = high_y = high_z = -math.inf
        for v in range(part_vertices[p, 0], part_vertices[p, 1]):
            s = source[v - begin]
            for r in range(3):
                vertices[v, r] = skinned[s, r]
                normals[v, r] = skinned_normals[s, r]
            low_x, high_x = min(low_x, skinned[s, 0]), max(high_x, skinned[s, 0])
            low_y, high_y = min(low_y, skinned[s, 1]), max(high_y, skinned[s, 1])
            low_z, high_z = min(low_z, skinned[s, 2]), max(high_z, skinned[s, 2])
        x, y, z = (low_x + high_x) * 0.5, (low_y + high_y) * 0.5, (low_z + high_z) * 0.5
        most = 0.0
        for v in range(part_vertices[p, 0], part_vertices[p, 1]):
            dx, dy, dz = vertices[v, 0] - x, vertices[v, 1] - y, vertices[v, 2] - z
            most = max(most, dx * dx + dy * dy + dz * dz)
        balls[p, 0], balls[p, 1], balls[p, 2], balls[p, 3] = x, y, z, math.sqrt(most)
