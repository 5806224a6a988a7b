"""Order of quaternions, degrees, axes and colours: converted here and nowhere else."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pxr import Gf, Usd, UsdGeom

from iwreplay.pose import Pose, Quat, Vec3, quat_about, rotate, transform_point
from iwreplay.usd.edge import (
    axis_of,
    drive_per_degree,
    linear_rgb,
    place,
    pose_of_matrix,
    quat_from_usd,
    quat_to_usd,
    turn_of_axis,
)

_UNIT = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: sum(c * c for c in v) > 0.01)


def test_the_real_part_comes_first() -> None:
    q = quat_to_usd((0.5, 0.1, -0.7, 0.5))
    length = math.sqrt(0.25 + 0.01 + 0.49 + 0.25)
    assert isinstance(q, Gf.Quatd)
    assert q.GetReal() == 0.5 / length
    assert tuple(q.GetImaginary()) == pytest.approx((0.1 / length, -0.7 / length, 0.5 / length), abs=1e-15)
    assert quat_from_usd(q) == pytest.approx((0.5 / length, 0.1 / length, -0.7 / length, 0.5 / length), abs=1e-15)


@given(_UNIT, st.floats(-3.0, 3.0), st.tuples(*[st.floats(-5.0, 5.0)] * 3))
def test_a_placed_prim_takes_points_where_the_pose_does(axis: Vec3, angle: float, at: Vec3) -> None:
    pose: Pose = (*at, *quat_about(axis, angle))
    stage = Usd.Stage.CreateInMemory()
    prim = UsdGeom.Xform.Define(stage, "/A").GetPrim()
    place(prim, pose, scale=(2.0, 3.0, 0.5))
    matrix = UsdGeom.Xformable(prim).GetLocalTransformation()
    moved = matrix.Transform(Gf.Vec3d(1.0, -1.0, 4.0))
    # USD takes a turn below some 1e-9 rad for none
    assert tuple(moved) == pytest.approx(transform_point(pose, (2.0, -3.0, 2.0)), abs=5e-8)
    back, scale = pose_of_matrix(matrix)
    assert scale == pytest.approx((2.0, 3.0, 0.5), abs=1e-9)
    assert back[:3] == pytest.approx(at, abs=1e-12)
    assert abs(sum(a * b for a, b in zip(back[3:], pose[3:], strict=True))) == pytest.approx(1.0, abs=1e-9)


@given(_UNIT)
def test_the_letter_turned_is_the_axis(axis: Vec3) -> None:
    letter, turn = turn_of_axis(axis)
    length = math.sqrt(sum(c * c for c in axis))
    assert rotate(turn, axis_of(letter)) == pytest.approx(tuple(c / length for c in axis), abs=1e-9)


@pytest.mark.parametrize("letter", "XYZ")
def test_axes_of_the_frame_are_not_turned(letter: str) -> None:
    x, y, z = axis_of(letter)
    assert turn_of_axis((x, y, z)) == (letter, (1.0, 0.0, 0.0, 0.0))
    name, turn = turn_of_axis((-x, -y, -z))
    assert name == letter
    assert rotate(turn, (x, y, z)) == pytest.approx((-x, -y, -z), abs=1e-15)


def test_a_drive_pulls_as_hard_in_degrees() -> None:
    assert drive_per_degree(1200.0) * 90.0 == pytest.approx(1200.0 * math.pi / 2)


def test_colours_are_linear_light() -> None:
    grey: Any = linear_rgb((0.5, 0.0, 1.0))
    assert tuple(grey) == pytest.approx((0.214041, 0.0, 1.0), abs=1e-6)


def test_a_turn_about_z_goes_from_x_to_y() -> None:
    q: Quat = quat_about((0.0, 0.0, 1.0), math.pi / 2)
    stage = Usd.Stage.CreateInMemory()
    prim = UsdGeom.Xform.Define(stage, "/A").GetPrim()
    place(prim, (0.0, 0.0, 0.0, *q))
    moved = UsdGeom.Xformable(prim).GetLocalTransformation().Transform(Gf.Vec3d(1.0, 0.0, 0.0))
    assert tuple(moved) == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)
