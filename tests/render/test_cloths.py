"""Cloths: closed sheets of the right thickness, bent as cloth is, whose layers and bands keep their order."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from iwreplay.errors import RenderError
from iwreplay.render import Renderer
from iwreplay.render.mesh import Mesh
from iwreplay.render.shapes import tessellate
from iwreplay.scene.cloths import bounds_of_cloth, folded_line
from iwreplay.world.state import WorldState
from tests.render.kitchen import look, shape, small_scene, thing

FLAT = (-0.2, 0.2, 0.01, 0.0, 1.0, 0.0, 0.005, 0.5, 0.005)
LYING = (-0.2, 0.2, 0.01, 0.004, 1.0, 0.0, 0.005, 0.5, 0.005)
HUNG = (-0.2, 0.2, 0.006, 0.03, 1.0, 0.0, 0.0, 0.0, -0.6)
GATHERED = (-0.2, 0.2, 0.006, 0.03, 0.3, 0.0, 0.0, 0.0, -0.6)
OVER = (-0.1, 0.1, 0.004, 0.01, 0.8, -0.02, -0.5, -0.02, 0.0, 0.0, 0.02, 0.02, 0.0, 0.02, -0.6)


def _folded(
    layers: int, *, waves: float, across: tuple[float, float] = (-0.1, 0.1), more: float = 0.0
) -> tuple[float, ...]:
    line, thickness = folded_line(0.08, 0.03, layers)
    return (*across, thickness + more, waves, 1.0, *(v for p in line for v in p))


ALL = [FLAT, LYING, HUNG, GATHERED, OVER, *(_folded(n, waves=0.003) for n in (1, 2, 3, 4, 6))]


def _volume(mesh: Mesh) -> float:
    a, b, c = (mesh.positions[mesh.faces[:, k]] for k in range(3))
    return float((np.cross(a, b) * c).sum() / 6.0)


@pytest.mark.parametrize("size", ALL)
def test_a_cloth_is_closed_and_faces_outwards(size: tuple[float, ...]) -> None:
    mesh = tessellate("cloth", size)
    _, welded = np.unique(np.round(mesh.positions, 9), axis=0, return_inverse=True)
    edges: Counter[tuple[int, int]] = Counter()
    for f in welded.reshape(-1)[mesh.faces]:
        edges.update((int(f[k]), int(f[(k + 1) % 3])) for k in range(3))
    assert all(n == edges[b, a] for (a, b), n in edges.items())
    # across, along the line, thick: without the corners that are rounded off
    line = list(zip(size[5::2], size[6::2], strict=True))
    long = sum(float(np.hypot(b[0] - a[0], b[1] - a[1])) for a, b in pairwise(line))
    slab = (size[1] - size[0]) * long * size[2]
    assert 0.75 * slab * min(1.0, size[4] + 0.2) < _volume(mesh) < 1.08 * slab
    assert np.allclose((mesh.normals**2).sum(axis=1), 1.0)


@pytest.mark.parametrize("size", ALL)
def test_it_stays_within_its_bounds_and_lies_where_it_lies(size: tuple[float, ...]) -> None:
    x0, y0, z0, x1, y1, z1 = bounds_of_cloth(size)
    low, high = tessellate("cloth", size).positions.min(axis=0), tessellate("cloth", size).positions.max(axis=0)
    assert (low >= np.array([x0, y0, z0]) - 1e-9).all()
    assert (high <= np.array([x1, y1, z1]) + 1e-9).all()
    # and nothing is below the ground that it lies on
    assert (low[2] >= 0.0) == (min(size[6::2]) > 0.0)


def test_what_lies_has_hollows_and_no_straight_edges() -> None:
    flat, lying = tessellate("cloth", FLAT).positions, tessellate("cloth", LYING).positions
    assert np.ptp(flat[flat[:, 2] > 0.009, 2]) < 1e-9
    top = lying[lying[:, 2] > 0.004]
    assert 0.002 < np.ptp(top[:, 2]) < 0.006
    assert np.ptp(lying[lying[:, 1] > 0.19, 1]) > np.ptp(flat[flat[:, 1] > 0.19, 1]) + 0.001


def test_what_hangs_falls_in_folds_that_grow_downwards() -> None:
    p = tessellate("cloth", HUNG).positions
    upper, lower = p[p[:, 2] > -0.02], p[p[:, 2] < -0.55]
    assert np.ptp(upper[:, 0]) < 0.5 * np.ptp(lower[:, 0])
    assert np.ptp(lower[:, 0]) > 0.045


def test_what_is_gathered_is_narrow_where_it_hangs_from() -> None:
    p = tessellate("cloth", GATHERED).positions
    upper, lower = np.ptp(p[p[:, 2] > -0.004, 1]), np.ptp(p[p[:, 2] < -0.55, 1])
    assert upper == pytest.approx(0.3 * 0.4, abs=0.03)
    assert lower == pytest.approx(0.4, abs=0.04)


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_layers_and_bands_keep_their_order(layers: int) -> None:
    """Straight down through the middle one comes upon every layer from above, and upon the band before its cloth."""
    cloth = tessellate("cloth", _folded(layers, waves=0.004))
    band = tessellate("cloth", _folded(layers, waves=0.004, across=(0.01, 0.03), more=0.0012))
    rng = np.random.default_rng(7)
    for x, y in rng.uniform((-0.03, 0.014), (0.03, 0.026), (40, 2)):
        ours, bands = _crossings(cloth, x, y), _crossings(band, x, y)
        assert len(ours) == len(bands) == 2 * layers
        assert all(up > 0.0 for _, up in ours[::2])
        assert all(up < 0.0 for _, up in ours[1::2])
        assert bands[0][0] > ours[0][0]


def _crossings(mesh: Mesh, x: float, y: float) -> list[tuple[float, float]]:
    """Heights at which the vertical through (x, y) goes through a mesh, from above, and which way it faces there."""
    a, b, c = (mesh.positions[mesh.faces[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)

    def side(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return (q[:, 0] - p[:, 0]) * (y - p[:, 1]) - (q[:, 1] - p[:, 1]) * (x - p[:, 0])

    s = np.stack([side(a, b), side(b, c), side(c, a)])
    hit = ((s > 0).all(axis=0) | (s < 0).all(axis=0)) & (np.abs(n[:, 2]) > 1e-12)
    z = a[hit, 2] - (n[hit, 0] * (x - a[hit, 0]) + n[hit, 1] * (y - a[hit, 1])) / n[hit, 2]
    return sorted(zip(z.tolist(), n[hit, 2].tolist(), strict=True), reverse=True)


def test_its_layers_are_told_from_behind_and_in_front_one_fold_goes_around() -> None:
    """Down the middle of a cloth that is folded twice: dark gaps between layers, and none over the outer fold."""
    line = shape("cloth", *_folded(4, waves=0.0), m="cloth")
    scene = small_scene(thing("towel_1", line))
    renderer, gaps = Renderer(scene, threads=1), {}
    for side, x in (("front", 0.4), ("back", -0.4)):
        camera = look((x, 0.0, 0.02), (0.0, 0.0, 0.015))
        frame = renderer.draw(WorldState(scene), camera=camera, focal_px=1200.0, width=80, height=160)
        bright = frame.rgb[:, 30:50].astype(float).mean(axis=(1, 2))[frame.ids[:, 40] == 0][:-3]
        # from the dark underside of a layer to the bright upper side of the next
        steps = np.concatenate([[False], bright[2:] - bright[:-2] >= 8.0])
        gaps[side] = int((np.diff(steps.astype(int)) == 1).sum())
    assert gaps == {"front": 0, "back": 2}


def test_a_cloth_has_the_same_bits_everywhere() -> None:
    h = hashlib.sha256()
    for size in ALL:
        mesh = tessellate("cloth", size)
        for array in (mesh.positions, mesh.normals, mesh.uv, mesh.faces):
            h.update(array.tobytes())
    assert h.hexdigest() == PINNED


PINNED = "ec98dc67ce29c6d5049fe00750c9cbd4ce4abc85035fb958ca7c52bafe0817fa"


@pytest.mark.parametrize(
    "size",
    [
        FLAT[:7],
        FLAT[:8],
        (0.2, -0.2, *FLAT[2:]),
        (-0.2, 0.2, 0.0, *FLAT[3:]),
        (*FLAT[:3], 0.2, *FLAT[4:]),
        (*FLAT[:4], 0.0, *FLAT[5:]),
        (*FLAT[:5], 0.1, 0.1, 0.1, 0.1),
    ],
)
def test_sizes_that_make_no_cloth_are_refused(size: tuple[float, ...]) -> None:
    with pytest.raises(RenderError, match="cloth"):
        tessellate("cloth", size)
