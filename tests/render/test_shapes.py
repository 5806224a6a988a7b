"""Meshes: closed, turned outwards, of the right size, and refused when they make no sense."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from iwreplay.errors import RenderError
from iwreplay.render.mesh import Mesh, segments_for
from iwreplay.render.prisms import triangles_of
from iwreplay.render.shapes import quad, tessellate
from iwreplay.scene.outline import outline_of

#: an L, a U with a slot, a spiral, a square with points in the middle of its sides, and clockwise ones
L = (0.0, 0.0, 2.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.0, 2.0)
U = (0.0, 0.0, 3.0, 0.0, 3.0, 3.0, 2.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 3.0, 0.0, 3.0)
SPIRAL = (0.0, 0.0, 5.0, 0.0, 5.0, 5.0, 1.0, 5.0, 1.0, 2.0, 3.0, 2.0, 3.0, 3.0, 2.0, 3.0, 2.0, 4.0, 4.0, 4.0,
          4.0, 1.0, 0.0, 1.0)  # fmt: skip
SQUARE = (0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 0.0, 2.0, 0.0, 1.0)
CLOCKWISE = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0)
STAR = (0.0, -0.1, 0.3, -0.9, 0.2, 0.0, 0.8, 0.3, 0.1, 0.2, 0.0, 1.0, -0.1, 0.2, -0.9, 0.2, -0.2, 0.0, -0.4, -0.7)
OUTLINES = [(L, 3.0), (U, 7.0), (SPIRAL, 15.0), (SQUARE, 4.0), (CLOCKWISE, 1.0), (STAR, 0.49)]


def _rounded(x: float, y: float, z: float, r: float) -> float:
    """Volume of a rounded box: its core, slabs, quarter rods and ball."""
    a, b, c = 2 * (x - r), 2 * (y - r), 2 * (z - r)
    return a * b * c + 2 * r * (a * b + b * c + c * a) + math.pi * r * r * (a + b + c) + 4 / 3 * math.pi * r**3


SOLIDS = [
    ("box", (0.1, 0.2, 0.3), 8 * 0.1 * 0.2 * 0.3),
    ("cylinder", (0.1, 0.2), math.pi * 0.01 * 0.4),
    ("sphere", (0.1,), 4 / 3 * math.pi * 1e-3),
    ("capsule", (0.1, 0.2), 4 / 3 * math.pi * 1e-3 + math.pi * 0.01 * 0.4),
    ("cone", (0.1, 0.05, 0.2), math.pi * 0.4 / 3 * (0.01 + 0.005 + 0.0025)),
    ("cone", (0.1, 0.0, 0.2), math.pi * 0.4 / 3 * 0.01),
    ("lathe", (0.0, 0.0, 0.1, 0.0, 0.1, 0.4, 0.0, 0.4), math.pi * 0.01 * 0.4),
    *[("prism", (0.25, *outline), 0.5 * area) for outline, area in OUTLINES],
    ("rounded_box", (0.3, 0.2, 0.1, 0.03), _rounded(0.3, 0.2, 0.1, 0.03)),
    ("rounded_box", (0.2, 0.05, 0.1, 0.05), _rounded(0.2, 0.05, 0.1, 0.05)),
    ("rounded_box", (0.1, 0.1, 0.1, 0.1), _rounded(0.1, 0.1, 0.1, 0.1)),
]


def _corners(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p = mesh.positions
    return p[mesh.faces[:, 0]], p[mesh.faces[:, 1]], p[mesh.faces[:, 2]]


@pytest.mark.parametrize(("kind", "size", "volume"), SOLIDS)
def test_solids_are_closed_and_of_the_right_volume(kind: str, size: tuple[float, ...], volume: float) -> None:
    mesh = tessellate(kind, size)
    _, welded = np.unique(np.round(mesh.positions, 9), axis=0, return_inverse=True)
    edges = Counter()
    for f in welded[mesh.faces]:
        for i in range(3):
            edges[(int(f[i]), int(f[(i + 1) % 3]))] += 1
    assert all(edges[(b, a)] == n for (a, b), n in edges.items())
    a, b, c = _corners(mesh)
    assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(volume, rel=0.05)


@pytest.mark.parametrize(("kind", "size", "volume"), SOLIDS)
def test_normals_are_unit_and_point_to_the_side_of_the_winding(
    kind: str, size: tuple[float, ...], volume: float
) -> None:
    mesh = tessellate(kind, size)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-12)
    a, b, c = _corners(mesh)
    geometric = np.cross(b - a, c - a)
    assert (np.linalg.norm(geometric, axis=1) > 0).all()
    assert ((geometric[:, None, :] * mesh.normals[mesh.faces]).sum(axis=2) > 0).all()


def test_sphere_normals_are_radial_and_box_normals_flat() -> None:
    sphere = tessellate("sphere", (0.5,))
    assert np.allclose(sphere.normals, sphere.positions / 0.5, atol=1e-9)
    box = tessellate("box", (1.0, 1.0, 1.0))
    assert sorted(set(np.abs(box.normals).ravel().tolist())) == [0.0, 1.0]


def test_a_lathe_is_drawn_from_both_sides_and_solids_are_not() -> None:
    assert tessellate("lathe", (0.04, 0.0, 0.05, 0.1)).two_sided
    assert not tessellate("cylinder", (0.04, 0.1)).two_sided


@pytest.mark.parametrize("size", [(2.0, 0.05, 0.4), (0.2, 0.05, 1.2), (0.05, 0.2, 1.2), (0.05, 2.0, 0.4)])
def test_courses_of_bricks_lie_level_on_every_side_whatever_its_proportions(size: tuple[float, ...]) -> None:
    mesh = tessellate("box", size, upright=True)
    sides = np.abs(mesh.normals[:, 2]) < 0.5
    assert sides.sum() == 16
    assert (mesh.uv[sides, 1] == mesh.positions[sides, 2]).all()
    grain = tessellate("box", size)
    longer = max(size[0], size[1]) >= size[2]
    front = np.abs(grain.normals[:, 0 if size[0] < size[1] else 1]) > 0.5
    assert (grain.uv[front, 1 if longer else 0] == grain.positions[front, 2]).all()


def test_bigger_circles_have_more_pieces() -> None:
    pieces = [segments_for(r) for r in (0.005, 0.02, 0.05, 0.2, 1.0)]
    assert pieces == sorted(set(pieces))


def test_meshes_are_cached_and_read_only() -> None:
    mesh = tessellate("sphere", (0.25,))
    assert tessellate("sphere", (0.25,)) is mesh
    with pytest.raises(ValueError, match="read-only"):
        mesh.positions[0, 0] = 1.0


@pytest.mark.parametrize(
    ("kind", "size", "match"),
    [
        ("torus", (1.0,), "torus"),
        ("box", (1.0, 1.0), "takes 3"),
        ("box", (1.0, 0.0, 1.0), "above zero"),
        ("sphere", (math.nan,), "finite"),
        ("cone", (0.0, 0.0, 1.0), "radii"),
        ("capsule", (0.1, -0.1), "below zero"),
        ("lathe", (0.1, 0.0, 0.1), "pairs"),
        ("lathe", (0.0, 0.0, 0.0, 1.0), "nothing"),
        ("lathe", (-0.1, 0.0, 0.1, 1.0), "below zero"),
        ("prism", (0.1, 0.0, 0.0, 1.0, 0.0), "at least 3 points"),
        ("prism", (0.1, 0.0, 0.0, 1.0, 0.0, 1.0), "at least 3 points"),
        ("prism", (0.0, *L), "half thickness of 0.0"),
        ("prism", (0.1, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0), r"crosses itself: \(0.0, 0.0\) to \(1.0, 1.0\) meets"),
        ("prism", (0.1, *L[:4], *L[2:]), r"point \(2.0, 0.0\) twice"),
        ("prism", (0.1, *L, 0.0, 0.0), r"point \(0.0, 0.0\) twice"),
        ("prism", (0.1, 0.0, 0.0, 1.0, 0.0, 2.0, 0.0), "turns back"),
        ("prism", (0.1, 0.0, 0.0, 2.0, 0.0, 2.0, 1.0, 1.0, 0.0, 0.0, 1.0), "crosses itself"),
        ("prism", (0.1, 0.0, 0.0, 2000.0, 0.0, 2.0, 1.0), "2000.0"),
        ("prism", (0.1, *(float(v) for i in range(300) for v in (i, i * i))), "300 points"),
        ("rounded_box", (0.1, 0.1, 0.1), "takes 4"),
        ("rounded_box", (0.1, 0.1, 0.1, 0.0), "above zero"),
        ("rounded_box", (0.1, 0.2, 0.05, 0.06), "radius of 0.06"),
    ],
)
def test_refuses_sizes_without_meaning(kind: str, size: tuple[float, ...], match: str) -> None:
    with pytest.raises(RenderError, match=match):
        tessellate(kind, size)


@pytest.mark.parametrize(("outline", "area"), OUTLINES)
def test_an_outline_is_cut_into_triangles_between_its_own_points(outline: tuple[float, ...], area: float) -> None:
    points = outline_of((1.0, *outline))
    triangles = triangles_of(points)
    assert len(triangles) == len(points) - 2
    doubled = []
    for a, b, c in triangles:
        (ax, ay), (bx, by), (cx, cy) = points[a], points[b], points[c]
        doubled.append((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    assert min(doubled) > 0.0
    assert sum(doubled) / 2 == pytest.approx(area)


def test_random_outlines_are_watertight() -> None:
    rng = random.Random(5)
    for n in range(3, 60):
        # a star around the middle is simple whatever its radii
        flat = [v for i in range(n) for v in _polar(rng.uniform(0.05, 1.0), 2 * math.pi * i / n)]
        points = outline_of((1.0, *flat))
        assert len(triangles_of(points)) == n - 2


def _polar(radius: float, angle: float) -> tuple[float, float]:
    return (radius * math.cos(angle), radius * math.sin(angle))


def test_a_prism_has_sharp_edges_where_it_bends_much_and_smooth_ones_where_it_bends_little() -> None:
    square = tessellate("prism", (0.1, *SQUARE))
    assert set(np.abs(square.normals).ravel().tolist()) == {0.0, 1.0}
    circle = tessellate("prism", (0.1, *(v for i in range(24) for v in _polar(1.0, 2 * math.pi * i / 24))))
    side = circle.normals[:, 2] == 0.0
    assert np.allclose(circle.normals[side, :2], circle.positions[side, :2], atol=1e-9)


def test_a_rounded_box_reaches_its_size_and_is_round_at_its_corners() -> None:
    box = tessellate("rounded_box", (0.3, 0.2, 0.1, 0.03))
    assert np.abs(box.positions).max(axis=0).tolist() == pytest.approx([0.3, 0.2, 0.1])
    core = np.clip(box.positions, [-0.27, -0.17, -0.07], [0.27, 0.17, 0.07])
    assert np.allclose(np.linalg.norm(box.positions - core, axis=1), 0.03)
    assert np.allclose(box.positions - core, 0.03 * box.normals, atol=1e-12)


def test_quad_faces_its_reader() -> None:
    mesh = quad(0.2, 0.1)
    a, b, c = _corners(mesh)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    with pytest.raises(RenderError, match="face"):
        quad(0.0, 0.1)
