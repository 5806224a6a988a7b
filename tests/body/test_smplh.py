"""A user's SMPL+H file gives the body its mesh; what is not such a file is refused by name."""

from __future__ import annotations

import importlib.util
import math
import pickle
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from iwreplay.body import PARENTS, BodySkin, bone_poses, fk, own_skin, standing
from iwreplay.body.skeleton import N_JOINTS, PELVIS_HEIGHT_M, joint
from iwreplay.body.skin import REST_JOINTS
from iwreplay.body.smplh import read_smplh
from iwreplay.errors import BodyModelError
from iwreplay.render.skinning import skin_vertices
from tests.body.matrix_fk import quat_matrix
from tests.body.synthetic_smplh import SHAPES, arrays, write

HAS_SMPLX = importlib.util.find_spec("smplx") is not None and importlib.util.find_spec("torch") is not None


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("model") / "SMPLH_NEUTRAL.npz")


def posed(skin: BodySkin, body: tuple[float, ...]) -> npt.NDArray[np.float64]:
    out = np.zeros_like(skin.positions)
    rows = np.zeros((len(skin.origins), 3, 4))
    skin_vertices(skin.positions, skin.bones, skin.shares, skin.origins, np.array(bone_poses(body)), rows, out)
    return out


def test_a_model_of_our_own_proportions_comes_back_as_it_was(model: Path) -> None:
    skin = read_smplh(model)
    ours = own_skin()
    assert np.allclose(skin.positions, ours.positions, atol=2e-3)
    assert "SMPLH_NEUTRAL.npz" in skin.name
    assert np.allclose(skin.shares.sum(axis=1), 1.0)
    assert sorted(map(tuple, skin.faces.tolist())) == sorted(map(tuple, ours.faces.tolist()))
    assert {p.head for p in skin.parts} == {True, False}
    assert np.allclose(posed(skin, standing(1, 2, 0.5)), posed(ours, standing(1, 2, 0.5)), atol=3e-3)


def test_a_model_of_other_proportions_is_brought_onto_our_joints(tmp_path: Path) -> None:
    tall = arrays(taller=1.2)
    # a figure with long, hanging arms
    far = np.abs(tall["v_template"][:, 0]) > 0.25
    moved = tall["v_template"].copy()
    moved[far, 1] -= 0.3 * (np.abs(moved[far, 0]) - 0.25)
    regressor = tall["J_regressor"].copy()
    wanted = np.array(REST_JOINTS) * (1.0, 1.2, 1.0) + (0.02, 0.9, -0.01)
    wanted[:, 1] -= 0.3 * np.maximum(np.abs(wanted[:, 0]) - 0.25, 0.0)
    regressor += np.linalg.lstsq(
        np.vstack([moved.T, np.ones(len(moved))]),
        np.vstack([(wanted - regressor @ moved).T, np.zeros(N_JOINTS)]),
        rcond=None,
    )[0].T
    path = tmp_path / "tall.npz"
    np.savez(path, **(tall | {"v_template": moved, "J_regressor": regressor}))
    skin = read_smplh(path)
    # the hands are around our finger bones, the soles on our floor
    for side in ("left", "right"):
        for finger in ("index", "middle", "ring", "pinky"):
            d = np.linalg.norm(skin.positions - REST_JOINTS[joint(f"{side}_{finger}3")], axis=1)
            assert 0.004 < d.min() < 0.02
    assert skin.positions[:, 1].min() == pytest.approx(-PELVIS_HEIGHT_M, abs=0.02)


def test_more_betas_than_the_file_has_are_refused_and_none_is_cut(model: Path) -> None:
    with pytest.raises(BodyModelError, match=r"17 betas are given, and it has 16 shapes"):
        read_smplh(model, betas=[0.1] * (SHAPES + 1))
    # the sixteenth counts (smplx would leave it out in silence), as far as fitting leaves it
    wide = read_smplh(model, betas=[3.0])
    assert float(np.ptp(wide.positions[:, 0])) != pytest.approx(float(np.ptp(own_skin().positions[:, 0])), abs=1e-6)
    last = read_smplh(model, betas=[0.0] * (SHAPES - 1) + [2.0])
    assert not np.array_equal(last.positions, read_smplh(model).positions)
    with pytest.raises(BodyModelError, match="not finite"):
        read_smplh(model, betas=[math.nan])


def _bad(name: str) -> dict[str, npt.NDArray[np.generic] | None]:
    good = arrays()
    infinite = good["v_template"].copy()
    infinite[3, 1] = math.inf
    parents = good["kintree_table"].copy()
    parents[0, 22] = 21
    cases: dict[str, dict[str, npt.NDArray[np.generic] | None]] = {
        "lacks weights, f": {"weights": None, "f": None},
        "24 joints; SMPL\\+H has 52": {"kintree_table": good["kintree_table"][:, :24]},
        "hang on one another": {"kintree_table": parents},
        "v_template holds numbers that are not finite": {"v_template": infinite},
        "v_template is float64 of shape": {"v_template": good["v_template"][:, :2]},
        "weights are not shares": {"weights": good["weights"] * 0.5},
        "outside 0..": {"f": good["f"] + np.uint32(10)},
        "J_regressor is": {"J_regressor": good["J_regressor"][:24]},
        "J_regressor is no plain array": {"J_regressor": np.array({"sparse": 1}, dtype=object)},
        "shapedirs is": {"shapedirs": good["shapedirs"][:, :, 0]},
        "v_template is <U": {"v_template": np.full(good["v_template"].shape, "x")},
        "m tall": {"v_template": good["v_template"] * 100.0},
    }
    return cases[name]


@pytest.mark.parametrize(
    "reason",
    [
        "lacks weights, f", "24 joints; SMPL\\+H has 52", "hang on one another",
        "v_template holds numbers that are not finite", "v_template is float64 of shape", "weights are not shares",
        "outside 0..", "J_regressor is", "J_regressor is no plain array", "shapedirs is", "v_template is <U", "m tall",
    ],
)  # fmt: skip
def test_what_is_no_such_model_is_refused_by_name(tmp_path: Path, reason: str) -> None:
    path = write(tmp_path / "model.npz", **_bad(reason))
    with pytest.raises(BodyModelError, match=reason) as refused:
        read_smplh(path)
    assert str(path) in str(refused.value)


def test_a_pickle_is_refused_unread(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "ran",))  # type: ignore[return-value]

    path = tmp_path / "SMPLH_male.pkl"
    path.write_bytes(pickle.dumps({"v_template": Bomb()}))
    with pytest.raises(BodyModelError, match=r"a pickle, as for chumpy; get SMPLH_NEUTRAL\.npz"):
        read_smplh(path)
    assert not (tmp_path / "ran").exists()


def test_files_that_are_not_there_or_damaged_are_refused(tmp_path: Path, model: Path) -> None:
    with pytest.raises(BodyModelError, match="No such file"):
        read_smplh(tmp_path / "none.npz")
    with pytest.raises(BodyModelError, match="directory"):
        read_smplh(tmp_path)
    text = tmp_path / "text.npz"
    text.write_text("hello")
    with pytest.raises(BodyModelError, match=r"no \.npz file"):
        read_smplh(text)
    data = bytearray(model.read_bytes())
    # inside the first array
    data[4_000:9_000] = bytes(5_000)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(data)
    with pytest.raises(BodyModelError, match="damaged"):
        read_smplh(broken)
    assert zipfile.is_zipfile(broken)


@pytest.mark.skipif(not HAS_SMPLX, reason="smplx and torch are not installed (non-commercial; not part of any extra)")
def test_joints_and_vertices_are_those_of_smplx(model: Path) -> None:
    import smplx
    import torch

    ids = dict.fromkeys(
        (
            *("nose", "reye", "leye", "rear", "lear", "LBigToe", "LSmallToe", "LHeel", "RBigToe", "RSmallToe", "RHeel"),
            *(f"{side}{finger}" for side in "lr" for finger in ("thumb", "index", "middle", "ring", "pinky")),
        ),
        0,
    )
    theirs = smplx.SMPLH(
        str(model), vertex_ids=ids, use_pca=False, flat_hand_mean=True, dtype=torch.float64, num_betas=10, ext="npz"
    )
    assert [int(p) for p in theirs.parents][1:] == list(PARENTS[1:])
    draw = np.random.default_rng(7)
    for turned_along in (False, True):
        pose = draw.uniform(-1.2, 1.2, (N_JOINTS, 3))
        if not turned_along:  # where our skin shares the turn of a limb out, theirs does not
            for side in ("left", "right"):
                pose[joint(f"{side}_wrist"), 0] = pose[joint(f"{side}_shoulder"), 0] = 0.0
                pose[joint(f"{side}_hip"), 1] = 0.0
        values = torch.tensor(pose.reshape(1, -1))
        out = theirs(
            global_orient=values[:, :3], body_pose=values[:, 3:66],
            left_hand_pose=values[:, 66:111], right_hand_pose=values[:, 111:],
        )  # fmt: skip
        # with this root our world has SMPL's axes, and the pelvis is at the origin
        body = (0.0, -PELVIS_HEIGHT_M, 0.0, 0.5, -0.5, -0.5, -0.5, *pose.ravel().tolist())
        axes = quat_matrix(body[3:7]) @ np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        assert np.allclose(axes, np.eye(3), atol=1e-12)
        joints = out.joints[0, :N_JOINTS].detach().numpy()
        ours = np.array([p[:3] for p in fk(body)])
        assert np.allclose(ours - ours[0], joints - joints[0], atol=1e-6)
        if not turned_along:
            vertices = out.vertices[0].detach().numpy() - joints[0]
            assert np.allclose(posed(own_skin(), body) - ours[0], vertices, atol=1e-6)
