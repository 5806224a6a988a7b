"""Forward kinematics once more, with NumPy's 4x4 matrices, to hold the scalar one against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iwreplay.body.skeleton import PARENTS, PELVIS_HEIGHT_M, REST_OFFSETS

Matrix = npt.NDArray[np.float64]


def rodrigues(r: Sequence[float]) -> Matrix:
    v = np.asarray(r, dtype=np.float64)
    angle = float(np.linalg.norm(v))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = v / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def quat_matrix(q: Sequence[float]) -> Matrix:
    w, x, y, z = q
    s, v = w, np.array([x, y, z])
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (s * s - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * s * k


def rigid(rotation: Matrix, at: Sequence[float]) -> Matrix:
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = rotation, at
    return m


def joint_matrices(values: Sequence[float]) -> list[Matrix]:
    """World transforms of the 52 joints, as SMPL does it: parent @ translate(offset) @ rotate."""
    root = rigid(quat_matrix(values[3:7]), values[:3])
    # columns: SMPL's left, up and forward in the root frame
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    base = root @ rigid(np.eye(3), (0.0, 0.0, PELVIS_HEIGHT_M)) @ rigid(axes, (0.0, 0.0, 0.0))
    out: list[Matrix] = []
    for j, parent in enumerate(PARENTS):
        local = rigid(rodrigues(values[7 + 3 * j : 10 + 3 * j]), REST_OFFSETS[j])
        out.append((base if parent < 0 else out[parent]) @ local)
    return out
