"""Our own body is one closed skin around the skeleton, and keeps its shape when it is posed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from iwreplay.body import BodySkin, bone_poses, crouching, fk, own_skin, reaching, sitting, standing, stooping
from iwreplay.body.figure import _figure
from iwreplay.body.kinematics import quat_of
from iwreplay.body.skeleton import PELVIS_HEIGHT_M, STATURE_M, joint
from iwreplay.body.skin import BONES, REST_JOINTS, influences_with_twist
from tests.body.matrix_fk import quat_matrix

SKIN = own_skin()
REACHING = reaching(0.0, 0.0, 0.0, posture="stand", target=(0.5, 0.05, 1.1))
assert REACHING is not None
BODIES = {
    "standing": standing(0.0, 0.0, 0.0),
    "carrying": standing(0.0, 0.0, 0.0, carrying=True),
    "stooping": stooping(0.0, 0.0, 0.0),
    "crouching": crouching(0.0, 0.0, 0.0),
    "sitting": sitting(0.0, 0.0, 0.0, seat_m=0.45),
    "reaching": REACHING,
}
T_POSE = (0.0, 0.0, 0.0, 1.0, *([0.0] * 159))


def posed(skin: BodySkin, body: Sequence[float]) -> npt.NDArray[np.float64]:
    """Linear blending once more, with NumPy's matrices."""
    out = np.zeros_like(skin.positions)
    for b, pose in enumerate(bone_poses(body)):
        moved = (skin.positions - skin.origins[b]) @ quat_matrix(pose[3:]).T + np.array(pose[:3])
        out += (skin.shares * (skin.bones == b)).sum(axis=1)[:, None] * moved
    return out


def volume(places: npt.NDArray[np.float64], faces: npt.NDArray[np.int32]) -> float:
    a, b, c = (places[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def unpaired(faces: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    edges = Counter((a, b) for f in faces for a, b in zip(f, (*f[1:], f[0]), strict=True))
    return [(a, b) for (a, b), n in edges.items() if n != 1 or edges[b, a] != 1]


def test_it_is_closed_and_its_outside_is_outside() -> None:
    assert unpaired([tuple(map(int, f)) for f in SKIN.faces]) == []
    # of a person of that height
    assert 0.055 < volume(SKIN.positions, SKIN.faces) < 0.085
    assert 2_000 < len(SKIN.positions) < 5_500
    # no vertex is left lying about
    assert len(set(SKIN.faces.ravel().tolist())) == len(SKIN.positions)


def test_a_hole_would_be_found() -> None:
    cage = _figure()
    cage.faces.pop()
    assert len(unpaired(cage.faces)) >= 3


def test_it_is_as_tall_as_the_skeleton_and_stands_on_its_soles() -> None:
    assert float(SKIN.positions[:, 1].max()) + PELVIS_HEIGHT_M == pytest.approx(STATURE_M, abs=0.01)
    for name in ("standing", "stooping", "crouching", "carrying", "reaching", "sitting"):
        low = float(posed(SKIN, BODIES[name])[:, 2].min())
        assert low == pytest.approx(0.0, abs=0.012), name


def test_left_and_right_are_the_same() -> None:
    mirror = SKIN.positions * (-1.0, 1.0, 1.0)
    for block in np.array_split(mirror, 20):
        gaps = np.abs(block[:, None, :] - SKIN.positions[None, :, :]).max(axis=2).min(axis=1)
        assert gaps.max() < 1e-12


def test_shares_add_up_and_are_of_bones() -> None:
    assert np.allclose(SKIN.shares.sum(axis=1), 1.0, atol=1e-12)
    assert SKIN.shares.min() >= 0.0
    assert 0 <= SKIN.bones.min() <= SKIN.bones.max() < BONES == len(SKIN.origins) == len(bone_poses(T_POSE))


def test_parts_cover_every_face_once_and_the_head_can_be_left_out() -> None:
    ends = [0, *(p.end_face for p in SKIN.parts)]
    assert [p.first_face for p in SKIN.parts] == ends[:-1]
    assert ends[-1] == len(SKIN.faces)
    bare = SKIN.without_head()
    seen = [p for p in bare.parts if p.seen]
    drawn = {v for p in seen for v in SKIN.faces[p.first_face : p.end_face].ravel().tolist()}
    top = SKIN.positions[sorted(drawn)][:, 1].max()
    assert top < REST_JOINTS[joint("head")][1]
    assert 0 < len(seen) < len(SKIN.parts)
    # they still cast their shadow
    assert len(bare.parts) == len(SKIN.parts)


def test_at_rest_the_skin_is_where_it_was_made() -> None:
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    expected = SKIN.positions @ axes.T + (0.0, 0.0, PELVIS_HEIGHT_M)
    assert np.allclose(posed(SKIN, T_POSE), expected, atol=1e-12)


def test_the_fingers_are_around_their_bones() -> None:
    at = fk(BODIES["carrying"])
    places = posed(SKIN, BODIES["carrying"])
    for side in ("left", "right"):
        for finger in ("index", "middle", "ring", "pinky", "thumb"):
            for k in (2, 3):
                d = np.linalg.norm(places - at[joint(f"{side}_{finger}{k}")][:3], axis=1)
                assert 0.005 < d.min() < 0.014, (side, finger, k)


@pytest.mark.parametrize("name", sorted(BODIES))
def test_it_keeps_its_volume_in_every_posture(name: str) -> None:
    rest = volume(SKIN.positions, SKIN.faces)
    assert 0.86 < volume(posed(SKIN, BODIES[name]), SKIN.faces) / rest < 1.1


@pytest.mark.parametrize("degrees", [-150, -80, 0, 80, 150])
def test_a_turned_wrist_does_not_wring_the_forearm(degrees: int) -> None:
    body = list(T_POSE)
    wrist, elbow = joint("right_wrist"), joint("right_elbow")
    body[7 + 3 * wrist] = math.radians(degrees)
    a, b = REST_JOINTS[elbow][0], REST_JOINTS[wrist][0]
    middle = [
        v
        for v, p in enumerate(SKIN.positions)
        if a - 0.06 > p[0] > b + 0.02 and math.hypot(p[1] - REST_JOINTS[wrist][1], p[2] - REST_JOINTS[wrist][2]) < 0.1
    ]
    assert len(middle) > 40

    def thickness(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        # the arm is along the world's y in the rest pose
        return np.hypot(places[middle][:, 0] - REST_JOINTS[wrist][2], places[middle][:, 2] - PELVIS_HEIGHT_M - 0.455)

    before, after = thickness(posed(SKIN, T_POSE)), thickness(posed(SKIN, body))
    assert (after / before).min() > 0.8


def test_half_a_turn_of_a_wrist_across_its_arm_is_no_turn_along_it() -> None:
    body = list(T_POSE)
    body[7 + 3 * joint("left_wrist") + 1] = math.pi
    poses = bone_poses(body)
    assert all(math.isfinite(v) for p in poses for v in p)
    quarter = quat_of((math.pi / 4, 0.0, 0.0))
    assert quarter[0] == pytest.approx(math.cos(math.pi / 8))


def test_the_bones_of_a_limb_share_its_turn_out() -> None:
    body = list(T_POSE)
    body[7 + 3 * joint("left_wrist")] = 1.2
    poses = bone_poses(body)
    elbow = joint("left_elbow")
    shares = [influences_with_twist((REST_JOINTS[elbow][0] + k * 0.255 / 4, 0.0, 0.0), {elbow: 1.0}) for k in range(5)]
    start = quat_matrix(poses[elbow][3:])
    for k, s in enumerate(shares):
        bone = max(s, key=lambda b, of=s: of[b])  # type: ignore[misc]
        assert s[bone] == pytest.approx(1.0)
        turn = start.T @ quat_matrix(poses[bone][3:])
        assert np.allclose(turn, quat_matrix(quat_of((0.3 * k, 0.0, 0.0))), atol=1e-12)
    # halfway between two of them, half of each
    assert sorted(influences_with_twist((REST_JOINTS[elbow][0] + 0.255 / 8, 0, 0), {elbow: 0.5}).values()) == (
        pytest.approx([0.25, 0.25])
    )


def test_an_upper_arm_turns_little_by_little_from_the_shoulder() -> None:
    body = list(T_POSE)
    shoulder = joint("right_shoulder")
    body[7 + 3 * shoulder : 10 + 3 * shoulder] = (1.0, 0.0, 0.0)
    poses = bone_poses(body)
    x = REST_JOINTS[shoulder][0]
    still, whole = (influences_with_twist((x - d, 0.0, 0.0), {shoulder: 1.0}) for d in (0.0, 0.275))
    rest = bone_poses(T_POSE)
    assert np.allclose(poses[next(iter(still))][3:], rest[shoulder][3:], atol=1e-12)
    assert max(whole, key=lambda b: whole[b]) == shoulder
