"""Link poses, boxes, and exact distances between convex solids."""

from __future__ import annotations

import math
import random

import pytest

from iwreplay.errors import GeometryError
from iwreplay.pose import IDENTITY, Pose, from_xyz_yaw, normalised, quat_about, transform_point
from iwreplay.scene.convex import shrunk, solid_aabb, solid_distance, solids_meet, top_at
from iwreplay.scene.geometry import (
    Box,
    Solid,
    initial_joints,
    link_poses_at,
    point_in_box,
    shape_half,
    thing_bounds,
)
from iwreplay.scene.model import CompiledScene, Joint, Link, Shape, Thing
from tests.scene.boxes import boxes_overlap

DOOR = Thing(
    id="door_1",
    cls="door",
    name="door",
    nouns=("door",),
    fixed=True,
    pose=from_xyz_yaw(1.0, 2.0, 0.0, math.pi / 2),
    links=(
        Link(
            name="base", shapes=(Shape(kind="box", size=(0.5, 0.05, 0.02), pose=(0, 0, 2.1, 1, 0, 0, 0), material="m"),)
        ),
        Link(
            name="leaf",
            parent=0,
            offset=(0.0, 0.0, 1.0, 1, 0, 0, 0),
            joint=Joint(
                name="hinge",
                kind="hinge",
                axis=(0, 0, 1),
                anchor=(-0.45, 0.0, 0.0),
                lo=0.0,
                hi=2.0,
                open_at=math.pi / 2,
                handle=(0.4, 0, 0),
            ),
            shapes=(Shape(kind="box", size=(0.45, 0.02, 1.0), material="m"),),
        ),
    ),
    bounds_half=(0.5, 0.05, 1.06),
)


def test_a_hinge_turns_its_link_about_its_anchor() -> None:
    closed = link_poses_at(DOOR, DOOR.pose, {})
    assert transform_point(closed[1], (0.4, 0.0, 0.0)) == pytest.approx((1.0, 2.4, 1.0))
    opened = link_poses_at(DOOR, DOOR.pose, {"door_1.hinge": math.pi / 2})
    # the hinge stands at (1, 1.55); a quarter turn takes the handle's arm of 0.85 m from +y to -x
    assert transform_point(opened[1], (0.4, 0.0, 0.0)) == pytest.approx((0.15, 1.55, 1.0))


def test_things_that_start_open_have_their_joints_open() -> None:
    scene = CompiledScene(
        id="s",
        format=1,
        rooms=(),
        portals=(),
        materials=(),
        lights=(),
        spawn=(0.0, 0.0, 0.0),
        things=(DOOR, _with(DOOR, id="door_2", attrs={"open": True})),
    )
    assert initial_joints(scene) == {"door_1.hinge": 0.0, "door_2.hinge": math.pi / 2}


def _with(thing: Thing, **changes: object) -> Thing:
    import msgspec

    return msgspec.structs.replace(thing, **changes)


def test_bounds_cover_all_links_closed() -> None:
    pos, half = thing_bounds(DOOR.links, attrs={})
    assert pos == pytest.approx((0.0, 0.0, 1.06))
    assert half == pytest.approx((0.5, 0.05, 1.06))


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("box", (1.0, 1.0)),
        ("sphere", (0.0,)),
        ("cylinder", (0.1, float("nan"))),
        ("lathe", (0.1, 0.0, 0.2)),
        ("capsule", (-1.0, 2.0)),
        ("prism", (0.1, 0.0, 0.0, 1.0, 0.0)),
        ("prism", (0.1, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0)),
        ("rounded_box", (0.1, 0.1, 0.1, 0.2)),
    ],
)
def test_sizes_without_meaning_are_refused(kind: str, size: tuple[float, ...]) -> None:
    with pytest.raises(GeometryError):
        shape_half(Shape(kind=kind, size=size, material="m"))  # type: ignore[arg-type]


def test_bounds_of_a_prism_fit_its_outline() -> None:
    prism = Shape(kind="prism", size=(0.1, 1.0, 0.0, 2.0, 0.0, 1.0, 3.0), material="m", role="visual")
    assert shape_half(prism) == (2.0, 3.0, 0.1)
    pos, half = thing_bounds((Link(name="base", shapes=(prism,)),), attrs={})
    assert pos == pytest.approx((1.5, 1.5, 0.0))
    assert half == pytest.approx((0.5, 1.5, 0.1))


def _random_pose(rng: random.Random, spread: float) -> Pose:
    q = normalised((rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1)))
    return (rng.uniform(-spread, spread), rng.uniform(-spread, spread), rng.uniform(-spread, spread), *q)


def _random_solid(rng: random.Random) -> Solid:
    kind = rng.choice(["box", "cylinder", "sphere", "capsule"])
    n = {"box": 3, "cylinder": 2, "sphere": 1, "capsule": 2}[kind]
    return Solid(kind, tuple(rng.uniform(0.05, 0.5) for _ in range(n)), _random_pose(rng, 1.0))


def _inside(solid: Solid, p: tuple[float, float, float]) -> bool:
    from iwreplay.pose import inverse

    x, y, z = transform_point(inverse(solid.pose), p)
    s = solid.size
    if solid.kind == "box":
        return abs(x) <= s[0] and abs(y) <= s[1] and abs(z) <= s[2]
    if solid.kind == "cylinder":
        return math.hypot(x, y) <= s[0] and abs(z) <= s[1]
    if solid.kind == "capsule":
        z = z - max(-s[1], min(s[1], z))
    return math.sqrt(x * x + y * y + z * z) <= s[0]


def test_distance_agrees_with_a_search_over_directions() -> None:
    """By convexity the distance is the largest gap over all separating directions; a fine random search bounds it."""
    from iwreplay.scene.convex import _conjugate, _support

    rng = random.Random(3)
    apart = 0
    for _ in range(150):
        a, b = _random_solid(rng), _random_solid(rng)
        d = solid_distance(a, b)
        assert d == pytest.approx(solid_distance(b, a), abs=1e-5)
        best = -math.inf
        u = (1.0, 0.0, 0.0)
        for k in range(400):
            step = 2.0 * 0.97**k
            v = (u[0] + rng.gauss(0, step), u[1] + rng.gauss(0, step), u[2] + rng.gauss(0, step))
            n = math.sqrt(sum(c * c for c in v))
            v = (v[0] / n, v[1] / n, v[2] / n)
            pa, pb = _support(a, _conjugate(a.pose), v), _support(b, _conjugate(b.pose), (-v[0], -v[1], -v[2]))
            gap = sum((pb[i] - pa[i]) * v[i] for i in range(3))
            if gap > best:
                best, u = gap, v
        assert best <= d + 1e-5
        if best > 0.0:
            apart += 1
            assert d == pytest.approx(best, abs=5e-3)
    assert apart > 30


def test_distances_that_are_known() -> None:
    box = Solid("box", (0.5, 0.5, 0.5), IDENTITY)
    ball = Solid("sphere", (0.25,), (2.0, 0.0, 0.0, 1, 0, 0, 0))
    assert solid_distance(box, ball) == pytest.approx(1.25, abs=1e-6)
    rod = Solid("capsule", (0.1, 0.4), (0.0, 1.0, 0.0, *quat_about((1, 0, 0), math.pi / 2)))
    assert solid_distance(box, rod) == pytest.approx(0.0, abs=1e-6)
    can = Solid("cylinder", (0.3, 0.2), (1.0, 1.0, 0.0, 1, 0, 0, 0))
    assert solid_distance(box, can) == pytest.approx(math.hypot(0.5, 0.5) - 0.3, abs=1e-5)
    assert solids_meet(box, can, within_m=0.41)
    assert not solids_meet(box, can, within_m=0.40)
    assert not solids_meet(shrunk(box, 0.01), Solid("box", (0.5, 0.5, 0.5), (1.0, 0, 0, 1, 0, 0, 0)))


def test_box_overlap_agrees_with_exact_distance() -> None:
    rng = random.Random(5)
    for _ in range(300):
        a = Box(_random_pose(rng, 0.5), (0.3, 0.1, 0.4))
        b = Box(_random_pose(rng, 0.5), (0.2, 0.5, 0.1))
        d = solid_distance(Solid("box", a.half, a.pose), Solid("box", b.half, b.pose))
        if d > 1e-4:
            assert not boxes_overlap(a, b)
        elif d == 0.0:
            assert boxes_overlap(a, b, margin_m=1e-6)


def test_top_is_where_a_drop_of_water_lands() -> None:
    rng = random.Random(7)
    landed = 0
    for _ in range(300):
        s = _random_solid(rng)
        x, y = s.pose[0] + rng.uniform(-0.4, 0.4), s.pose[1] + rng.uniform(-0.4, 0.4)
        z = top_at(s, x, y, 5.0)
        column = [i * 0.002 for i in range(-1000, 1001) if _inside(s, (x, y, i * 0.002))]
        if z is None:
            assert len(column) <= 1
            continue
        landed += 1
        x0, y0, z0, x1, y1, z1 = solid_aabb(s)
        assert x0 - 1e-9 <= x <= x1 + 1e-9
        assert y0 - 1e-9 <= y <= y1 + 1e-9
        assert z0 - 1e-9 <= z <= z1 + 1e-9
        if column:
            assert z == pytest.approx(max(column), abs=0.0021)
    assert landed > 100
    assert top_at(Solid("box", (1, 1, 1), IDENTITY), 0.0, 0.0, 0.5) is None


def test_a_point_in_a_box() -> None:
    box = Box(from_xyz_yaw(1.0, 0.0, 0.0, math.pi / 4), (1.0, 0.1, 0.1))
    assert point_in_box((1.5, 0.5, 0.0), box)
    assert not point_in_box((1.5, 0.0, 0.0), box)
    assert point_in_box((1.5, 0.5, 0.15), box, margin_m=0.06)
