"""Meshes: closed, turned outwards, of the right size, and refused when they make no sense."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from iwreplay.errors import RenderError
from iwreplay.render.shapes import Mesh, quad, segments_for, tessellate

SOLIDS = [
    ("box", (0.1, 0.2, 0.3), 8 * 0.1 * 0.2 * 0.3),
    ("cylinder", (0.1, 0.2), math.pi * 0.01 * 0.4),
    ("sphere", (0.1,), 4 / 3 * math.pi * 1e-3),
    ("capsule", (0.1, 0.2), 4 / 3 * math.pi * 1e-3 + math.pi * 0.01 * 0.4),
    ("cone", (0.1, 0.05, 0.2), math.pi * 0.4 / 3 * (0.01 + 0.005 + 0.0025)),
    ("cone", (0.1, 0.0, 0.2), math.pi * 0.4 / 3 * 0.01),
    ("lathe", (0.0, 0.0, 0.1, 0.0, 0.1, 0.4, 0.0, 0.4), math.pi * 0.01 * 0.4),
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
    ],
)
def test_refuses_sizes_without_meaning(kind: str, size: tuple[float, ...], match: str) -> None:
    with pytest.raises(RenderError, match=match):
        tessellate(kind, size)


def test_quad_faces_its_reader() -> None:
    mesh = quad(0.2, 0.1)
    a, b, c = _corners(mesh)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    with pytest.raises(RenderError, match="face"):
        quad(0.0, 0.1)
