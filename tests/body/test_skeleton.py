"""The skeleton is SMPL+H's, and forward kinematics is the textbook one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay import events
from iwreplay.body import (
    BODY_VALUES,
    JOINT_NAMES,
    PARENTS,
    REST_OFFSETS,
    fk,
    key_poses,
    standing,
)
from iwreplay.body.skeleton import STATURE_M, joint
from iwreplay.errors import GeometryError
from iwreplay.pose import rotate
from tests.body.matrix_fk import joint_matrices, quat_matrix

T_POSE = (0.0, 0.0, 0.0, 1.0, *([0.0] * 159))

bodies = st.tuples(
    st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3),
    st.floats(-math.pi, math.pi),
    st.lists(st.floats(-2.5, 2.5), min_size=156, max_size=156),
).map(lambda p: (*p[0], math.cos(p[1] / 2), 0.0, 0.0, math.sin(p[1] / 2), *p[2]))


def test_order_and_parents_are_those_of_smpl_h() -> None:
    assert len(JOINT_NAMES) == len(PARENTS) == len(REST_OFFSETS) == 52
    assert PARENTS[:22] == (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
    assert JOINT_NAMES[:22] == (
        *("pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle"),
        *("right_ankle", "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head"),
        *("left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist"),
    )
    fingers = [f"{f}{i}" for f in ("index", "middle", "pinky", "ring", "thumb") for i in (1, 2, 3)]
    assert JOINT_NAMES[22:37] == tuple(f"left_{f}" for f in fingers)
    assert JOINT_NAMES[37:] == tuple(f"right_{f}" for f in fingers)
    for j in range(22, 52):
        wrist = 20 if j < 37 else 21
        assert PARENTS[j] == (wrist if (j - 22) % 3 == 0 else j - 1)


def test_a_body_has_as_many_values_as_the_log_says() -> None:
    assert BODY_VALUES == events.BODY_VALUES == 163


def test_the_rest_pose_stands_on_the_floor_and_is_symmetric() -> None:
    at = fk(T_POSE)
    for name in JOINT_NAMES:
        if name.startswith("left_"):
            left, right = at[joint(name)], at[joint("right_" + name.removeprefix("left_"))]
            assert left[0] == pytest.approx(right[0])
            assert left[1] == pytest.approx(-right[1])
            assert left[2] == pytest.approx(right[2])
    assert min(p[2] for p in at) == pytest.approx(0.025)
    assert 0.15 < STATURE_M - at[joint("head")][2] < 0.25
    assert at[joint("left_wrist")][1] - at[joint("right_wrist")][1] == pytest.approx(1.43, abs=0.1)


@settings(max_examples=60, deadline=None)
@given(bodies)
def test_forward_kinematics_agrees_with_matrices(values: tuple[float, ...]) -> None:
    for pose, m in zip(fk(values), joint_matrices(values), strict=True):
        assert np.allclose(pose[:3], m[:3, 3], atol=1e-11)
        assert np.allclose(quat_matrix(pose[3:]), m[:3, :3], atol=1e-11)


@settings(max_examples=30, deadline=None)
@given(bodies)
def test_key_poses_are_rigid_on_head_and_wrists(values: tuple[float, ...]) -> None:
    at, keys = fk(values), key_poses(values)
    assert keys.root == values[:7]
    assert math.dist(keys.camera[:3], at[joint("head")][:3]) == pytest.approx(math.hypot(0.065, 0.095))
    for hand, wrist in ((keys.right_hand, "right_wrist"), (keys.left_hand, "left_wrist")):
        assert math.dist(hand[:3], at[joint(wrist)][:3]) == pytest.approx(math.hypot(0.09, 0.025))
    for pose in (keys.camera, keys.right_hand, keys.left_hand):
        assert math.sqrt(sum(q * q for q in pose[3:])) == pytest.approx(1.0, abs=1e-12)


def test_the_camera_looks_ahead_and_down_with_its_right_to_the_right() -> None:
    camera = key_poses(standing(0.0, 0.0, 0.0)).camera
    ahead = rotate(camera[3:], (0.0, 0.0, -1.0))
    assert ahead[0] > 0.9
    assert abs(ahead[1]) < 1e-12
    assert 20.0 <= math.degrees(math.asin(-ahead[2])) <= 25.0
    assert rotate(camera[3:], (1.0, 0.0, 0.0)) == pytest.approx((0.0, -1.0, 0.0))
    assert rotate(camera[3:], (0.0, 1.0, 0.0))[2] > 0.9


def test_a_wrong_number_of_values_is_refused_by_name() -> None:
    with pytest.raises(GeometryError, match=r"163 values, got 162"):
        fk((0.0,) * 162)
