"""A user's own SMPL+H model file as the body's mesh.

Read straight from the `.npz` with NumPy: no torch, no smplx, no pickle. The model's mesh is fitted onto our skeleton,
so that its joints lie where the log has them and its hands are where the held things are: its limbs are turned and
stretched along their bones to our lengths, the rest is scaled to our height. Its pose-dependent corrections
(`posedirs`) are left out. Frames drawn with it are not those that were seen, and are compared with no hash.

The model files may not be passed on; none is part of this project.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from iwreplay.body.figure import FIGURE_RGB
from iwreplay.body.skeleton import JOINT_NAMES, N_JOINTS, PARENTS, PELVIS_HEIGHT_M, joint
from iwreplay.body.skin import REST_JOINTS, BodySkin, SkinPart, influences_with_twist, skin_of
from iwreplay.errors import BodyModelError

__all__ = ["read_smplh"]

Array = npt.NDArray[np.float64]

#: a figure of another height is not in metres, or no person
_LEAST_M, _MOST_M = 0.5, 3.0
_MOST_VERTICES = 200_000
_NEEDED = ("v_template", "weights", "kintree_table", "J_regressor", "shapedirs", "f")

#: what the mesh wears where a joint has the greatest share
_WORN = {
    **dict.fromkeys(("pelvis", "left_hip", "right_hip", "left_knee", "right_knee"), "trousers"),
    **dict.fromkeys(("left_ankle", "right_ankle", "left_foot", "right_foot"), "shoes"),
    **dict.fromkeys(("spine1", "spine2", "spine3", "left_collar", "right_collar"), "shirt"),
    **dict.fromkeys((f"{s}_{j}" for s in ("left", "right") for j in ("shoulder", "elbow")), "shirt"),
}


def read_smplh(path: Path, *, betas: Sequence[float] = ()) -> BodySkin:
    """The mesh of a model file (`SMPLH_NEUTRAL.npz` and the like), with the shape that `betas` gives it.

    BodyModelError when the file can't be read, is a pickle, lacks an array, or holds one of another shape or with a
    number that is not finite; and for more betas than the file has shapes. None are left out in silence.
    """
    arrays = _arrays(path)
    template, weights, faces = _mesh(path, arrays)
    shapes = _numbers(path, arrays, "shapedirs", (len(template), 3, -1))
    if len(betas) > shapes.shape[2]:
        raise BodyModelError(path, f"{len(betas)} betas are given, and it has {shapes.shape[2]} shapes; give no more")
    if not all(np.isfinite(betas)):
        raise BodyModelError(path, f"a beta of {list(betas)} is not finite")
    places = template + shapes[:, :, : len(betas)] @ np.array(betas, np.float64)
    joints = _numbers(path, arrays, "J_regressor", (N_JOINTS, len(template))) @ places
    places, joints = places - joints[0], joints - joints[0]
    height = float(np.ptp(places[:, 1]))
    if not _LEAST_M <= height <= _MOST_M:
        raise BodyModelError(path, f"its figure is {height:.3g} m tall; {_LEAST_M:g} to {_MOST_M:g} m is a person")
    fitted = _fitted(path, places, joints, weights)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return _skin(f"SMPL+H model {path.name} {digest}", fitted, weights, faces)


def _arrays(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    try:
        if not zipfile.is_zipfile(path):
            with path.open("rb"):
                pass
            what = "a pickle, as for chumpy" if path.suffix.lower() in (".pkl", ".pickle") else "no .npz file"
            raise BodyModelError(path, f"it is {what}; get SMPLH_NEUTRAL.npz (or MALE, FEMALE) from the model's makers")
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in _NEEDED if name not in file.files]
            if missing:
                raise BodyModelError(path, f"it lacks {', '.join(missing)}; it is not an SMPL+H model")
            return {name: _array(path, file, name) for name in _NEEDED}
    except OSError as e:
        raise BodyModelError(path, e.strerror or str(e)) from e
    except (zipfile.BadZipFile, EOFError) as e:
        raise BodyModelError(path, f"it is damaged: {e}") from e


def _array(path: Path, file: np.lib.npyio.NpzFile, name: str) -> npt.NDArray[np.generic]:
    try:
        found: npt.NDArray[np.generic] = file[name]
    except ValueError as e:  # an array of Python objects, or a header that makes no sense
        raise BodyModelError(
            path, f"its {name} is no plain array ({e}); objects in it, as of chumpy or scipy, are not read"
        ) from e
    return found


def _numbers(path: Path, arrays: dict[str, npt.NDArray[np.generic]], name: str, shape: tuple[int, ...]) -> Array:
    found = arrays[name]
    fits = found.ndim == len(shape) and all(w in (-1, n) for w, n in zip(shape, found.shape, strict=True))
    if not fits or not np.issubdtype(found.dtype, np.number) or np.issubdtype(found.dtype, np.complexfloating):
        wanted = " x ".join("any" if n < 0 else str(n) for n in shape)
        raise BodyModelError(path, f"its {name} is {found.dtype} of shape {found.shape}; wanted numbers, {wanted}")
    numbers = found.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise BodyModelError(path, f"its {name} holds numbers that are not finite")
    return numbers


def _mesh(path: Path, arrays: dict[str, npt.NDArray[np.generic]]) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Template, shares of the joints (rows add up to 1) and faces."""
    parents = arrays["kintree_table"]
    if parents.shape != (2, N_JOINTS):
        has = parents.shape[1] if parents.ndim == 2 else "other"
        raise BodyModelError(path, f"it has {has} joints; SMPL+H has {N_JOINTS} (SMPL has 24, SMPL-X 55)")
    table = _numbers(path, arrays, "kintree_table", (2, N_JOINTS))
    if table[0, 1:].tolist() != list(PARENTS[1:]):
        raise BodyModelError(path, "its joints hang on one another in another way than those of SMPL+H")
    template = _numbers(path, arrays, "v_template", (-1, 3))
    if not 4 <= len(template) <= _MOST_VERTICES:
        raise BodyModelError(path, f"it has {len(template)} vertices; 4 to {_MOST_VERTICES} can be drawn")
    weights = _numbers(path, arrays, "weights", (len(template), N_JOINTS))
    sums = weights.sum(axis=1)
    if weights.min() < -1e-6 or abs(sums - 1.0).max() > 1e-3:
        raise BodyModelError(path, f"its weights are not shares: a vertex's add up to {sums[abs(sums - 1).argmax()]:g}")
    faces = _numbers(path, arrays, "f", (-1, 3)).astype(np.int64)
    if not len(faces) or faces.min() < 0 or faces.max() >= len(template):
        raise BodyModelError(path, f"its faces name vertices outside 0..{len(template) - 1}")
    return template, np.maximum(weights, 0.0), faces


def _fitted(path: Path, places: Array, joints: Array, weights: Array) -> Array:
    """The mesh at rest with its joints where ours are."""
    ours = np.array(REST_JOINTS)
    scale = (ours[joint("head"), 1] + PELVIS_HEIGHT_M) / float(joints[joint("head"), 1] - places[:, 1].min())
    if not 0.2 < scale < 5.0:
        raise BodyModelError(path, "its head joint is not near the top of its figure")
    turns = np.tile(np.eye(3) * scale, (N_JOINTS, 1, 1))
    # the sole comes onto the floor without being tilted
    for side in ("left", "right"):
        ankle = joint(f"{side}_ankle")
        sole = float(joints[ankle, 1] - places[:, 1].min())
        for j in (ankle, joint(f"{side}_foot")):
            turns[j, 1, 1] = (ours[ankle, 1] + PELVIS_HEIGHT_M) / max(sole, 0.01)
    for j, child in _BONES:
        turns[j] = _along(joints[child] - joints[j], ours[child] - ours[j], scale)
    for j in _TIPS:
        turns[j] = turns[PARENTS[j]]
    out = np.zeros_like(places)
    for j in range(N_JOINTS):
        out += weights[:, j : j + 1] * ((places - joints[j]) @ turns[j].T + ours[j])
    return out


def _limbs() -> tuple[tuple[int, int], ...]:
    pairs = [("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"), ("wrist", "middle1")]
    pairs += [(f"{f}{k}", f"{f}{k + 1}") for f in ("index", "middle", "pinky", "ring", "thumb") for k in (1, 2)]
    return tuple((joint(f"{s}_{a}"), joint(f"{s}_{b}")) for s in ("left", "right") for a, b in pairs)


#: bones whose direction and length become ours, and the joints at the ends of fingers, which go on as the bone before
_BONES = _limbs()
_TIPS = tuple(j for j, name in enumerate(JOINT_NAMES) if name.endswith("3") and j >= 22)


def _along(theirs: Array, ours: Array, scale: float) -> Array:
    """The shortest turn of one bone onto another, stretched along it to the other's length and scaled across it."""
    a, b = float(np.sqrt((theirs * theirs).sum())), float(np.sqrt((ours * ours).sum()))
    if a < 1e-6:
        return np.eye(3) * scale
    u, v = theirs / a, ours / b
    stretch = np.eye(3) * scale + np.outer(u, u) * (b / a - scale)
    cos = float((u * v).sum())
    if cos < -0.999:
        return stretch
    x, y, z = np.cross(u, v)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Array = (np.eye(3) + k + k @ k / (1.0 + cos)) @ stretch
    return turned


def _skin(name: str, places: Array, weights: Array, faces: npt.NDArray[np.int64]) -> BodySkin:
    at = [(float(x), float(y), float(z)) for x, y, z in places]
    shares = []
    for p, row in zip(at, weights, strict=True):
        shares.append(influences_with_twist(p, {int(j): float(row[j]) for j in np.flatnonzero(row)}))
    # of a face, the joint with the greatest share in its corners
    leading = weights[faces].sum(axis=1).argmax(axis=1)
    looks = [(JOINT_NAMES[j] == "head", _WORN.get(JOINT_NAMES[j], "skin"), _region(int(j))) for j in leading]
    order = sorted(range(len(faces)), key=lambda f: (looks[f], f))
    corners: list[tuple[int, int, int]] = []
    parts: list[SkinPart] = []
    for n, f in enumerate(order):
        a, b, c = (int(v) for v in faces[f])
        corners.append((a, b, c))
        head, worn, _ = looks[f]
        if n and looks[f] == looks[order[n - 1]]:
            parts[-1] = SkinPart(parts[-1].first_face, n + 1, FIGURE_RGB[worn], head)
        else:
            parts.append(SkinPart(n, n + 1, FIGURE_RGB[worn], head))
    return skin_of(name, at, shares, corners, parts)


def _region(j: int) -> str:
    """Parts are kept small, so that what is out of sight costs nothing."""
    name = JOINT_NAMES[j]
    return f"{name.split('_')[0]}_hand" if j >= 20 else name
