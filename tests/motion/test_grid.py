"""What blocks the floor: everything at body height that is there now, and nothing else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.motion.footprints import convex_hull, footprints_of, nearest_on, point_gap, segment_gap
from iwreplay.motion.grid import BODY_RADIUS_M, OccupancyGrid
from iwreplay.pose import from_xyz_yaw
from tests.motion.world import begin, block, flat, opened

SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))

points = st.tuples(st.floats(-2, 3), st.floats(-2, 3))


def test_hull_is_counter_clockwise_and_without_inner_points() -> None:
    assert convex_hull([(0, 0), (1, 1), (0.5, 0.5), (1, 0), (0, 1), (0.5, 0.0)]) == ((0, 0), (1, 0), (1, 1), (0, 1))
    assert convex_hull([(1, 1), (1, 1)]) == ((1, 1),)


@settings(max_examples=200, deadline=None)
@given(points, points)
def test_gaps_agree_with_sampling(a: tuple[float, float], b: tuple[float, float]) -> None:
    def to_square(x: float, y: float) -> float:
        return math.hypot(max(-x, 0.0, x - 1.0), max(-y, 0.0, y - 1.0))

    sampled = min(to_square(a[0] + (b[0] - a[0]) * k / 400, a[1] + (b[1] - a[1]) * k / 400) for k in range(401))
    gap = segment_gap(a, b, SQUARE)
    assert gap <= sampled + 1e-9
    assert gap == pytest.approx(sampled, abs=0.02)
    assert point_gap(a, SQUARE) == pytest.approx(to_square(*a), abs=1e-9)
    foot = nearest_on(a, SQUARE)
    if point_gap(a, SQUARE) > 0.0:
        assert math.dist(a, foot) == pytest.approx(point_gap(a, SQUARE))


def test_only_what_meets_the_body_has_a_footprint() -> None:
    low = block("mat_1", (0.3, 0.3, 0.01), 0, 0, 0.0)
    high = block("lamp_1", (0.3, 0.3, 0.1), 0, 0, 1.8)
    crate = block("crate_1", (0.3, 0.2, 0.2), 0, 0, 0.0)
    at = from_xyz_yaw(1.0, 2.0, 0.0, math.pi / 2)
    assert footprints_of(low, low.pose, {}) == ()
    assert footprints_of(high, high.pose, {}) == ()
    (f,) = footprints_of(crate, at, {})
    xs, ys = [p[0] for p in f.outline], [p[1] for p in f.outline]
    assert (min(xs), max(xs), min(ys), max(ys)) == pytest.approx((0.8, 1.2, 1.7, 2.3))


def test_cells_keep_the_body_off_everything() -> None:
    state = begin(flat())
    grids = OccupancyGrid(state.scene)
    grid = grids.at(state)
    prints = grids.footprints(state)
    for cell in range(len(grid.blocked)):
        p = grid.centre(cell)
        gap = min(point_gap(p, f.outline) for f in prints)
        if grid.blocked[cell]:
            assert gap < BODY_RADIUS_M + 1e-9 or not grids.has_floor(*p)
        else:
            assert gap >= BODY_RADIUS_M - 1e-9
            assert grids.has_floor(*p)


def test_the_doorway_is_open_only_while_the_door_is() -> None:
    state = begin(flat())
    grids = OccupancyGrid(state.scene)
    assert not grids.at(state).free(5.0, 2.0)
    assert "door_1" in grids.owners(state, grids.at(state).cell(5.0, 2.0))  # type: ignore[arg-type]
    opened(state, "door_1")
    assert grids.at(state).free(5.0, 2.0)
    # the open leaf stands in the kitchen now
    assert not grids.at(state).free(4.6, 1.6)


def test_a_grid_follows_every_change_and_equals_one_made_from_nothing() -> None:
    state = begin(flat(block("crate_1", (0.2, 0.2, 0.2), 2.5, 2.0, 0.0)))
    grids = OccupancyGrid(state.scene)
    first = grids.at(state)
    assert grids.at(state) is first
    assert not first.free(2.5, 2.0)
    changes = [
        lambda: state.poses.update(crate_1=from_xyz_yaw(1.0, 2.5, 0.0, 0.3)),
        lambda: opened(state, "fridge_1"),
        lambda: state.attrs["crate_1"].update(held=True),
        lambda: state.attrs["crate_1"].update(held=False, exists=False),
        lambda: state.attrs["crate_1"].update(exists=True),
    ]
    for change in changes:
        change()
        assert grids.at(state).blocked == OccupancyGrid(state.scene).at(state).blocked
    assert not grids.at(state).free(1.0, 2.5)
    state.attrs["crate_1"]["held"] = True
    assert grids.at(state).free(1.0, 2.5)


def test_a_thing_can_be_thought_away() -> None:
    state = begin(flat())
    grids = OccupancyGrid(state.scene)
    assert grids.without(state, ("door_1",)).free(5.0, 2.0)
    assert not grids.at(state).free(5.0, 2.0)
