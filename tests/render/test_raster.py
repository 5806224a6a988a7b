"""Coverage is exact: no holes, no sample twice, whatever the order; clipping keeps it so."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.render.layout import BODY_ID, LAMP_COLUMNS
from iwreplay.render.raster import BODY_NEAR_M, MAX_CORNERS, NEAR_M, count_bands, fill_bands, raster_band, setup

SIDE = 48
FOCAL = 40.0
_SHIFT, _OFFSET = 8, 128


def owners(
    vertices: npt.NDArray[np.float64],
    faces: npt.NDArray[np.int32],
    *,
    two_sided: bool = True,
    level: int = 4,
    part_id: int = 0,
    records: int = 4096,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Source triangle and inverse depth at the four samples of every pixel of a SIDE x SIDE image.

    The camera sits at the origin and looks along +y, with x right and z up.
    """
    n, t = len(vertices), len(faces)
    poses, turns = np.zeros((1, 3, 4)), np.eye(3)[None].copy()
    poses[0, :, :3] = np.eye(3)
    rec_xy, rec_iz = np.empty((records, 6), np.int32), np.empty((records, 3))
    rec_src, rec_flags = np.empty(records, np.int32), np.empty(records, np.uint8)
    camera = np.array([(1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 1.0, 0.0, 0.0)])
    wanted = setup(
        vertices, np.zeros((n, 3)), faces, np.array([[0, n]], np.int32), np.array([[0, t]], np.int32), np.ones(1,
        np.uint8), np.array([two_sided], np.uint8), np.array([level], np.uint8), np.array([part_id], np.int32),
        poses, turns, np.array([[0.0, 0.0, 0.0, 1e6]]), camera, FOCAL, NEAR_M, BODY_NEAR_M, SIDE, SIDE,
        np.zeros((0, LAMP_COLUMNS)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3), np.int32),
        np.zeros(1, np.int64), rec_xy, rec_iz, rec_src, rec_flags,
        np.empty((6 + 2 * MAX_CORNERS, 4)), np.empty((MAX_CORNERS, 2), np.int64),
    )  # fmt: skip
    assert wanted <= records
    rows = 2 * SIDE
    counts = np.empty(1, np.int64)
    count_bands(rec_xy, wanted, _SHIFT, _OFFSET, rows, rows, counts)
    order = np.empty(int(counts[0]), np.int32)
    fill_bands(rec_xy, wanted, _SHIFT, _OFFSET, rows, rows, np.zeros(1, np.int64), order)
    near_iz, owner = np.empty((rows, rows), np.float32), np.empty((rows, rows), np.int32)
    raster_band(
        rec_xy, rec_iz, rec_src, rec_flags, order, 0, int(counts[0]), _SHIFT, _OFFSET, rows, 0, rows, near_iz, owner,
        False, near_iz, owner, np.zeros((2, 0, 0), np.float32), np.zeros((2, 0, 0), np.int32),
    )  # fmt: skip
    source = np.where(owner >= 0, rec_src[np.maximum(owner, 0)] if wanted else -1, -1)
    return source.astype(np.int32), near_iz


@pytest.mark.parametrize(("part_id", "nearest_m"), [(0, NEAR_M), (BODY_ID, BODY_NEAR_M)])
def test_what_is_too_near_is_cut_off_and_the_body_later_than_things(part_id: int, nearest_m: float) -> None:
    """A plane across the view is seen whole a hair behind the limit, and not at all a hair before it."""
    faces = np.array([(0, 1, 2), (0, 2, 3)], np.int32)
    for depth, there in ((1.01 * nearest_m, True), (0.99 * nearest_m, False)):
        corners = np.array([(x * depth, depth, z * depth) for x, z in ((-9, -9), (9, -9), (9, 9), (-9, 9))])
        source, near_iz = owners(corners, faces, part_id=part_id)
        assert (source >= 0).all() == there
        assert (source >= 0).any() == there
        if there:
            assert np.allclose(near_iz, 1.0 / depth)


def jittered_grid(
    seed: int, cells: int, *, extent: float, depth: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """A plane facing the camera, cut into irregular triangles; its rim is straight."""
    rng = np.random.default_rng(seed)
    line = np.linspace(-extent, extent, cells + 1)
    x, z = np.meshgrid(line, line)
    step = 2 * extent / cells
    # less than a quarter of a step: no triangle turns over
    shake = rng.uniform(-0.24, 0.24, (2, cells + 1, cells + 1)) * step
    shake[:, [0, -1], :] = 0
    shake[:, :, [0, -1]] = 0
    vertices = np.stack([x + shake[0], np.full_like(x, depth), z + shake[1]], axis=-1).reshape(-1, 3)
    faces = []
    for j in range(cells):
        for i in range(cells):
            a, b, c, d = (
                j * (cells + 1) + i,
                j * (cells + 1) + i + 1,
                (j + 1) * (cells + 1) + i + 1,
                (j + 1) * (cells + 1) + i,
            )
            faces.extend([(a, b, c), (a, c, d)] if rng.random() < 0.5 else [(a, b, d), (b, c, d)])
    return vertices, np.array(faces, np.int32)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), cells=st.integers(1, 12))
def test_every_sample_of_a_cut_up_plane_is_covered_exactly_once(seed: int, cells: int) -> None:
    vertices, faces = jittered_grid(seed, cells, extent=3.0, depth=2.0)
    times = np.zeros((2 * SIDE, 2 * SIDE), int)
    for t in range(len(faces)):
        source, _ = owners(vertices, faces[t : t + 1])
        times += source >= 0
    assert (times == 1).all()


def test_a_sample_on_a_shared_edge_belongs_to_one_side() -> None:
    # the diagonal runs exactly through sample points
    corners = np.array([(-1.2, 2.0, -1.2), (1.2, 2.0, -1.2), (1.2, 2.0, 1.2), (-1.2, 2.0, 1.2)])
    first, _ = owners(corners, np.array([(0, 1, 2)], np.int32))
    second, _ = owners(corners, np.array([(0, 2, 3)], np.int32))
    assert ((first >= 0).astype(int) + (second >= 0) == 1).all()


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_the_order_of_triangles_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # no two share a corner: along a fold they would be equally deep
    vertices = rng.uniform((-2, 0.5, -2), (2, 4, 2), (240, 3))
    faces = np.arange(240, dtype=np.int32).reshape(80, 3)
    shuffled = rng.permutation(len(faces))
    source, depth = owners(vertices, faces)
    moved, moved_depth = owners(vertices, faces[shuffled])
    assert (depth == moved_depth).all()
    # names follow the shuffle, except where two triangles lie at exactly the same depth
    same = np.where(moved >= 0, shuffled[np.maximum(moved, 0)], -1) == source
    assert same.mean() > 0.999


def test_of_equally_near_triangles_the_first_wins() -> None:
    corners = np.array([(-3.0, 2.0, -3.0), (3.0, 2.0, -3.0), (0.0, 2.0, 3.0)])
    source, _ = owners(corners, np.array([(0, 1, 2), (0, 1, 2), (1, 2, 0)], np.int32))
    assert set(np.unique(source)) == {-1, 0}


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), tilt=st.floats(-0.4, 0.4))
def test_a_floor_that_runs_under_and_behind_the_camera_has_no_holes(seed: int, tilt: float) -> None:
    vertices, faces = jittered_grid(seed, 8, extent=400.0, depth=0.0)
    # lay the grid down: its x stays, its z becomes y, height 1 m below the eye with a tilt across
    floor = np.stack([vertices[:, 0], vertices[:, 2], -1.0 + tilt * vertices[:, 0]], axis=-1)
    source, iz = owners(np.ascontiguousarray(floor), faces)
    rows = np.arange(2 * SIDE) * 0.5 + 0.25
    dx, dy = np.meshgrid((rows - SIDE / 2) / FOCAL, (SIDE / 2 - rows) / FOCAL)
    down = dy - tilt * dx  # the plane is met where this is below zero, at depth -1 / down
    depth = np.divide(-1.0, down, out=np.full_like(down, np.inf), where=down < -1e-6)
    inside = (depth < 390.0) & (np.abs(dx * depth) < 390.0)
    assert (source[inside] >= 0).all()
    assert np.allclose(1.0 / iz[inside], depth[inside], rtol=0.02)
    assert (source[down > 1e-3] < 0).all()


def test_nothing_behind_the_camera_appears() -> None:
    vertices = np.array(
        [(-1.0, -2.0, -1.0), (1.0, -2.0, -1.0), (0.0, -2.0, 1.0), (-1.0, 0.01, -1.0), (1.0, 0.01, 1.0), (0, -1, 0)]
    )
    source, _ = owners(vertices, np.array([(0, 1, 2), (3, 4, 5)], np.int32))
    assert (source < 0).all()


def test_back_faces_are_dropped_unless_two_sided() -> None:
    corners = np.array([(-3.0, 2.0, -3.0), (3.0, 2.0, -3.0), (0.0, 2.0, 3.0)])
    toward = np.array([(0, 1, 2)], np.int32)
    away = np.array([(0, 2, 1)], np.int32)
    covered = (owners(corners, toward, two_sided=False)[0] >= 0).sum()
    assert covered > 0
    assert (owners(corners, away, two_sided=False)[0] >= 0).sum() == 0
    assert (owners(corners, away, two_sided=True)[0] >= 0).sum() == covered


def test_degenerate_triangles_cover_nothing() -> None:
    line = np.array([(-1.0, 2.0, 0.0), (0.0, 2.0, 0.0), (1.0, 2.0, 0.0), (0.0, 2.0, 0.0)])
    assert (owners(line, np.array([(0, 1, 2), (1, 1, 1), (1, 3, 2)], np.int32))[0] < 0).all()


def test_far_off_corners_do_not_overflow() -> None:
    vertices = np.array([(-1e7, 1.0, -1e7), (1e7, 1.0, -1e7), (0.0, 1.0, 1e7)])
    source, iz = owners(vertices, np.array([(0, 1, 2)], np.int32))
    assert (source == 0).all()
    assert np.allclose(iz, 1.0, rtol=1e-3)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_see_through_surface_takes_that_many_samples_of_every_pixel(level: int) -> None:
    corners = np.array([(-9.0, 2.0, -9.0), (9.0, 2.0, -9.0), (0.0, 2.0, 19.0)])
    source, _ = owners(corners, np.array([(0, 1, 2)], np.int32), level=level)
    per_pixel = (source >= 0).reshape(SIDE, 2, SIDE, 2).sum(axis=(1, 3))
    assert (per_pixel == level).all()
