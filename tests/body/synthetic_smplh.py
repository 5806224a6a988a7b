"""A model file in the shape of SMPL+H, made from our own figure: no part of the real one is in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from iwreplay.body import PARENTS, own_skin
from iwreplay.body.figure import _figure
from iwreplay.body.skeleton import N_JOINTS
from iwreplay.body.skin import REST_JOINTS

__all__ = ["arrays", "write"]

SHAPES = 16


def arrays(*, taller: float = 1.0) -> dict[str, npt.NDArray[np.generic]]:
    """What the file holds. taller: stretches the figure upwards, joints and all."""
    mesh = _figure().refined()
    places = np.array(mesh.positions) * (1.0, taller, 1.0) + (0.02, 0.9, -0.01)
    weights = np.zeros((len(places), N_JOINTS))
    for v, shares in enumerate(mesh.influences):
        for j, share in shares.items():
            weights[v, j] = share
    wanted = np.array(REST_JOINTS) * (1.0, taller, 1.0) + (0.02, 0.9, -0.01)
    # a joint as a sum over all vertices: the average, and a smallest correction that makes it exact
    ones = np.vstack([places.T, np.ones(len(places))])
    regressor = np.linalg.lstsq(ones, np.vstack([wanted.T, np.ones(N_JOINTS)]), rcond=None)[0].T
    shapes = np.zeros((len(places), 3, SHAPES))
    shapes[:, 0, 0] = 0.01 * np.sign(places[:, 0])
    shapes[:, 1, SHAPES - 1] = 0.05 * places[:, 1]
    parents = np.array([[2**32 - 1, *PARENTS[1:]], list(range(N_JOINTS))], np.int64)
    return {
        "v_template": places,
        "weights": weights,
        "kintree_table": parents,
        "J_regressor": regressor,
        "shapedirs": shapes,
        "posedirs": np.zeros((len(places), 3, 9 * (N_JOINTS - 1))),
        "f": own_skin().faces.astype(np.uint32),
        "hands_componentsl": np.eye(45),
        "hands_componentsr": np.eye(45),
        "hands_meanl": np.zeros(45),
        "hands_meanr": np.zeros(45),
    }


def write(path: Path, **changed: npt.NDArray[np.generic] | None) -> Path:
    """The file, with some arrays changed or (None) left out."""
    content = {k: v for k, v in (arrays() | changed).items() if v is not None}
    with path.open("wb") as out:
        np.savez(out, **content)  # type: ignore[arg-type]
    return path
