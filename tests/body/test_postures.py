"""Postures keep the feet on the floor, hands reach what they go for, eyes look at it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from iwreplay.body import crouching, fk, key_poses, reaching, sitting, standing, stooping
from iwreplay.body.kinematics import quat_of
from iwreplay.body.limbs import LEFT_ARM, LEFT_LEG, RIGHT_ARM, RIGHT_LEG, Limb, rotation_of, solve_limb
from iwreplay.body.postures import PostureName, bend_for, gazing
from iwreplay.body.skeleton import ANKLE_HEIGHT_M, PELVIS_HEIGHT_M, joint
from iwreplay.pose import Pose, Vec3, compose, from_xyz_yaw, inverse, quat_mul, rotate, transform_point
from tests.body.matrix_fk import quat_matrix, rodrigues

ANKLES = (joint("left_ankle"), joint("right_ankle"))


@pytest.mark.parametrize(
    ("body", "eye_m"),
    [
        (standing(1.0, 2.0, 0.7), (1.58, 1.62)),
        (standing(1.0, 2.0, 0.7, carrying=True), (1.58, 1.62)),
        (stooping(1.0, 2.0, 0.7), (1.3, 1.5)),
        (crouching(1.0, 2.0, 0.7), (0.8, 1.15)),
        (sitting(1.0, 2.0, 0.7, seat_m=0.45), (1.15, 1.30)),
    ],
)
def test_feet_are_flat_on_the_floor_and_eyes_at_a_human_height(body: tuple[float, ...], eye_m: Vec3) -> None:
    at = fk(body)
    for ankle in ANKLES:
        assert at[ankle][2] == pytest.approx(ANKLE_HEIGHT_M, abs=0.006)
        up = rotate(at[ankle][3:], (0.0, 1.0, 0.0))
        assert up == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)
    assert eye_m[0] <= key_poses(body).camera[2] <= eye_m[1]
    assert body[:2] == (1.0, 2.0)


def test_on_a_bar_stool_the_feet_hang() -> None:
    at = fk(sitting(0.0, 0.0, 0.0, seat_m=0.78))
    assert all(at[a][2] > 0.2 for a in ANKLES)


def test_a_carried_thing_is_level_and_in_view() -> None:
    keys = key_poses(standing(0.0, 0.0, 1.2, carrying=True))
    assert keys.right_hand[3:] == pytest.approx(tuple(-q for q in from_xyz_yaw(0, 0, 0, 1.2)[3:])) or keys.right_hand[
        3:
    ] == pytest.approx(from_xyz_yaw(0, 0, 0, 1.2)[3:])
    x, y, z = transform_point(inverse(keys.camera), keys.right_hand[:3])
    # inside the lower edge of a frame with 60 degrees of vertical view
    assert -z > 0.0
    assert -y / -z < math.tan(math.radians(30.0)) + 0.05
    assert abs(x) / -z < math.tan(math.radians(37.0))


poses_in_reach = st.tuples(
    st.sampled_from(["stand", "stoop", "crouch"]),
    st.floats(0.15, 0.95),
    st.floats(-0.9, 0.9),
    st.floats(0.0, 1.85),
    st.floats(-3.1, 3.1),
)


@settings(max_examples=300, deadline=None)
@given(poses_in_reach)
def test_the_palm_gets_exactly_to_what_counts_as_reachable(
    case: tuple[PostureName, float, float, float, float],
) -> None:
    posture, d, bearing, z, yaw = case
    local = (d * math.cos(bearing), d * math.sin(bearing), z)
    assume(bend_for(posture, local) is not None)
    ground = from_xyz_yaw(0.4, -1.3, 0.0, yaw)
    target = transform_point(ground, local)
    body = reaching(0.4, -1.3, yaw, posture=posture, target=target)
    assert body is not None
    keys = key_poses(body)
    assert math.dist(keys.right_hand[:3], target) < 1e-3
    # level: whatever is held stays upright
    assert rotate(keys.right_hand[3:], (0.0, 0.0, 1.0)) == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)
    at = fk(body)
    assert all(at[a][2] == pytest.approx(ANKLE_HEIGHT_M, abs=0.003) for a in ANKLES)


@pytest.mark.parametrize(
    ("height_m", "posture"), [(0.01, "crouch"), (0.4, "crouch"), (0.75, "stoop"), (1.1, "stand"), (1.5, "stand")]
)
def test_every_height_has_its_posture(height_m: float, posture: PostureName) -> None:
    assert bend_for(posture, (0.45, 0.0, height_m)) is not None


def test_what_is_too_high_or_too_far_is_not_reached() -> None:
    for posture in ("stand", "stoop", "crouch"):
        assert reaching(0.0, 0.0, 0.0, posture=posture, target=(0.4, 0.0, 2.1)) is None
        assert reaching(0.0, 0.0, 0.0, posture=posture, target=(1.3, 0.0, 0.9)) is None


@pytest.mark.parametrize(
    ("posture", "target", "off_deg"),
    [("stand", (0.5, -0.1, 1.2), 1.0), ("stoop", (0.7, -0.1, 0.95), 1.0), ("stoop", (0.5, -0.1, 0.8), 20.0)],
)
def test_the_camera_looks_at_what_the_hand_goes_for(posture: PostureName, target: Vec3, off_deg: float) -> None:
    body = reaching(0.0, 0.0, 0.0, posture=posture, target=target)
    assert body is not None
    x, y, z = transform_point(inverse(key_poses(body).camera), target)
    assert math.degrees(math.atan2(math.hypot(x, y), -z)) < off_deg


@pytest.mark.parametrize("point", [(2.0, 1.5, 1.2), (1.0, -0.8, 0.2), (3.0, 0.0, 2.3)])
def test_gaze_turns_to_a_point_and_moves_nothing_else(point: Vec3) -> None:
    before = standing(0.0, 0.0, 0.0)
    body = gazing(before, point)
    x, y, z = transform_point(inverse(key_poses(body).camera), point)
    assert math.degrees(math.atan2(math.hypot(x, y), -z)) < 0.5
    head = {7 + 3 * joint(n) + i for n in ("neck", "head") for i in range(3)}
    assert all(a == b for i, (a, b) in enumerate(zip(before, body, strict=True)) if i not in head)


def test_the_neck_has_a_limit() -> None:
    camera = key_poses(gazing(standing(0.0, 0.0, 0.0), (-2.0, 0.1, 1.6))).camera
    ahead = rotate(camera[3:], (0.0, 0.0, -1.0))
    assert math.degrees(math.atan2(ahead[1], ahead[0])) == pytest.approx(74.5, abs=1.0)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([LEFT_ARM, RIGHT_ARM, LEFT_LEG, RIGHT_LEG]),
    st.tuples(*[st.floats(-2.0, 2.0)] * 3),
    st.tuples(*[st.floats(-1.0, 1.0)] * 3),
    st.floats(0.08, 0.99),
)
def test_two_bones_meet_their_target(limb: Limb, turn: Vec3, direction: Vec3, share: float) -> None:
    size = math.sqrt(sum(d * d for d in direction))
    assume(size > 0.05)
    dist = share * (limb.upper_m + limb.lower_m)
    base: Pose = (0.1, 0.2, 1.3, *quat_of(turn))
    target: Pose = (*(base[i] + direction[i] / size * dist for i in range(3)), *quat_of((0.3, -0.2, 0.5)))  # type: ignore[assignment]
    upper, lower, end = solve_limb(limb, base=base, target=target, pole=(0.3, -0.9, 0.1))
    q = quat_mul(base[3:], quat_of(upper))
    a = rotate(q, tuple(limb.upper_m * c for c in limb.along))  # type: ignore[arg-type]
    q = quat_mul(q, quat_of(lower))
    b = rotate(q, tuple(limb.lower_m * c for c in limb.along))  # type: ignore[arg-type]
    q = quat_mul(q, quat_of(end))
    assert [base[i] + a[i] + b[i] for i in range(3)] == pytest.approx(target[:3], abs=1e-9)
    assert np.allclose(quat_matrix(q), quat_matrix(target[3:]), atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.tuples(*[st.floats(-1.8, 1.8)] * 3))
def test_axis_angle_and_quaternion_are_inverse(r: Vec3) -> None:
    assert np.allclose(quat_matrix(quat_of(r)), rodrigues(r), atol=1e-12)
    assert rotation_of(quat_of(r)) == pytest.approx(r, abs=1e-9) or math.sqrt(sum(c * c for c in r)) > math.pi


def test_a_target_beyond_the_arm_is_approached_in_its_direction() -> None:
    base: Pose = (0.0, 0.0, 1.4, 1.0, 0.0, 0.0, 0.0)
    target: Pose = (3.0, 0.0, 1.4, 1.0, 0.0, 0.0, 0.0)
    upper, lower, _ = solve_limb(RIGHT_ARM, base=base, target=target, pole=(0.0, -1.0, 0.0))
    q = quat_of(upper)
    a = rotate(q, (-RIGHT_ARM.upper_m, 0.0, 0.0))
    b = rotate(quat_mul(q, quat_of(lower)), (-RIGHT_ARM.lower_m, 0.0, 0.0))
    assert a[0] + b[0] == pytest.approx(RIGHT_ARM.upper_m + RIGHT_ARM.lower_m, abs=1e-3)


def test_the_root_is_as_low_as_the_pelvis() -> None:
    assert standing(0.0, 0.0, 0.0)[2] == 0.0
    body = crouching(0.0, 0.0, 0.0)
    assert fk(body)[0][2] == pytest.approx(PELVIS_HEIGHT_M + body[2])
    assert compose(from_xyz_yaw(0, 0, 0, 0), body[:7])[2] < -0.4  # type: ignore[arg-type]
