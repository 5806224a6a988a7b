"""Grid search is optimal, cuts no corner, and straightened ways stay on free floor."""

from __future__ import annotations

import heapq
import math
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.motion.grid import CELL_M, Grid
from iwreplay.motion.search import DIAGONAL, STRAIGHT, Search, line_is_free, pulled

cells_and_walls = st.tuples(st.integers(4, 14), st.integers(4, 14)).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.integers(0, 9), min_size=size[0] * size[1], max_size=size[0] * size[1])
    )
)


def grid_of(size: tuple[int, int], dice: list[int], *, share: int = 3) -> Grid:
    w, h = size[0] + 2, size[1] + 2
    blocked = bytearray([1] * (w * h))
    for j in range(size[1]):
        for i in range(size[0]):
            blocked[(j + 1) * w + i + 1] = int(dice[j * size[0] + i] < share)
    return Grid(x0=-0.3, y0=0.7, width=w, height=h, blocked=bytes(blocked))


def brute_force(grid: Grid, start: int) -> dict[int, int]:
    """Dijkstra over (column, row) pairs, written without the tricks of the real one."""

    def free(i: int, j: int) -> bool:
        return not grid.blocked[j * grid.width + i]

    dist = {start: 0}
    todo = [(0, start)]
    while todo:
        cost, cell = heapq.heappop(todo)
        if cost > dist[cell]:
            continue
        j, i = divmod(cell, grid.width)
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if (di, dj) == (0, 0) or not free(i + di, j + dj):
                    continue
                if di and dj and not (free(i + di, j) and free(i, j + dj)):
                    continue
                to = (j + dj) * grid.width + i + di
                new = cost + (DIAGONAL if di and dj else STRAIGHT)
                if new < dist.get(to, 1 << 40):
                    dist[to] = new
                    heapq.heappush(todo, (new, to))
    return dist


def free_cells(grid: Grid) -> list[int]:
    return [c for c in range(len(grid.blocked)) if not grid.blocked[c]]


@settings(max_examples=150, deadline=None)
@given(cells_and_walls, st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_star_is_as_short_as_brute_force(case: tuple[tuple[int, int], list[int]], pick_a: int, pick_b: int) -> None:
    grid = grid_of(*case)
    free = free_cells(grid)
    if not free:
        return
    start, goal = free[pick_a % len(free)], free[pick_b % len(free)]
    search = Search(grid, start, goals={goal}, towards=goal)
    found = next(iter(search), None)
    expected = brute_force(grid, start).get(goal)
    assert (found[1] if found else None) == expected
    assert search.found == (expected is not None)
    if found is None:
        return
    way = search.path(goal)
    assert (way[0], way[-1]) == (start, goal)
    cost = 0
    for a, b in pairwise(way):
        (ja, ia), (jb, ib) = divmod(a, grid.width), divmod(b, grid.width)
        assert not grid.blocked[b]
        assert max(abs(ia - ib), abs(ja - jb)) == 1
        if ia != ib and ja != jb:
            assert not grid.blocked[ja * grid.width + ib], "cut a corner"
            assert not grid.blocked[jb * grid.width + ia], "cut a corner"
            cost += DIAGONAL
        else:
            cost += STRAIGHT
    assert cost == expected


@settings(max_examples=80, deadline=None)
@given(cells_and_walls, st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0.5, 5.0))
def test_several_goals_come_nearest_first_and_all_of_them(
    case: tuple[tuple[int, int], list[int]], pick_a: int, pick_b: int, radius_cells: float
) -> None:
    grid = grid_of(*case)
    free = free_cells(grid)
    if not free:
        return
    start, centre = free[pick_a % len(free)], free[pick_b % len(free)]
    x, y = grid.centre(centre)
    goals = {c for c in grid.cells_within(x, y, radius_cells * CELL_M) if not grid.blocked[c]}
    found = list(Search(grid, start, goals=goals, towards=centre, slack_cells=radius_cells + 1.0))
    costs = [cost for _, cost in found]
    assert costs == sorted(costs)
    reachable = brute_force(grid, start)
    assert dict(found) == {c: reachable[c] for c in goals if c in reachable}


@settings(max_examples=100, deadline=None)
@given(cells_and_walls, st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_straightened_way_stays_free_and_gets_no_longer(
    case: tuple[tuple[int, int], list[int]], pick_a: int, pick_b: int
) -> None:
    grid = grid_of(*case, share=2)
    free = free_cells(grid)
    if not free:
        return
    start, goal = free[pick_a % len(free)], free[pick_b % len(free)]
    search = Search(grid, start, goals={goal}, towards=goal)
    if next(iter(search), None) is None:
        return
    points = [grid.centre(c) for c in search.path(goal)]
    line = pulled(grid, points)
    assert (line[0], line[-1]) == (points[0], points[-1])
    assert sum(math.dist(a, b) for a, b in pairwise(line)) <= 1e-9 + sum(math.dist(a, b) for a, b in pairwise(points))
    for a, b in pairwise(line):
        for k in range(201):
            x, y = a[0] + (b[0] - a[0]) * k / 200, a[1] + (b[1] - a[1]) * k / 200
            # a hair's breadth off the cell borders, where a point belongs to either side
            assert grid.free(x, y) or _on_border(grid, x, y)


def _on_border(grid: Grid, x: float, y: float) -> bool:
    return any(abs(v / CELL_M - round(v / CELL_M)) < 1e-6 for v in (x - grid.x0, y - grid.y0))


def test_a_line_through_a_corner_needs_both_neighbours() -> None:
    # . #
    # . .   from lower left to upper right is blocked by the corner cell at the upper left
    free = grid_of((2, 2), [9, 9, 9, 9])
    a, b = free.centre(1 * 4 + 1), free.centre(2 * 4 + 2)
    assert line_is_free(free, a, b)
    cut = grid_of((2, 2), [9, 9, 0, 9])
    assert not line_is_free(cut, a, b)


def test_the_same_question_gives_the_same_way() -> None:
    grid = grid_of((12, 12), [9] * 144)
    ways = []
    for _ in range(3):
        search = Search(grid, 1 * 14 + 1, goals={12 * 14 + 7}, towards=12 * 14 + 7)
        next(iter(search))
        ways.append(search.path(12 * 14 + 7))
    assert ways[0] == ways[1] == ways[2]
