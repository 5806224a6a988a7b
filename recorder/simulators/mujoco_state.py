"""All of MuJoCo that the next step depends on: its own state, and what that leaves out, which bodies are asleep.

Bodies at rest fall asleep: they are left out of a step until something wakes them. A tree is a body with all that is
jointed to it; trees that fell asleep leaning on each other form a ring.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

__all__ = ["EngineState"]

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)

#: tree_asleep of a tree that has just been woken
_AWAKE = -(1 + int(mujoco.mjMINAWAKE))
_S_STATIC = int(mujoco.mjtSleepState.mjS_STATIC)
_S_ASLEEP = int(mujoco.mjtSleepState.mjS_ASLEEP)
_S_AWAKE = int(mujoco.mjtSleepState.mjS_AWAKE)


class EngineState:
    """Saves and restores the state of one model exactly, and wakes its trees."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data = model, data

    def physics(self) -> bytes:
        """MuJoCo's own state, float64 values of this machine."""
        physics = np.empty(mujoco.mj_stateSize(self._model, _STATE))
        mujoco.mj_getState(self._model, self._data, physics, _STATE)
        return physics.tobytes()

    def fits(self, physics: bytes) -> bool:
        """True when it has the size of this model's."""
        return len(physics) == 8 * int(mujoco.mj_stateSize(self._model, _STATE))

    def asleep(self) -> tuple[int, ...]:
        """What each tree's sleep is, as MuJoCo counts it."""
        return tuple(int(v) for v in self._data.tree_asleep)

    def restore(self, physics: bytes, *, asleep: Sequence[int]) -> None:
        """As it was when these were saved, from a model of the same trees."""
        m, d = self._model, self._data
        values = np.frombuffer(physics)
        mujoco.mj_resetData(m, d)
        mujoco.mj_setState(m, d, values, _STATE)
        # sleeping bodies are taken for moved, and woken, when their places do not fit their coordinates: so the
        # places are worked out with everything awake first, then what that touched is set again
        mujoco.mj_forward(m, d)
        mujoco.mj_setState(m, d, values, _STATE)
        d.tree_asleep[:] = asleep
        self._sync()

    def wake(self, trees: Iterable[int]) -> None:
        """These trees, and everything that fell asleep leaning on them. What is awake stays so for as long as if it had
        just been woken: a thing that is moved at every step is at rest whenever MuJoCo looks, also over an abyss."""
        d = self._data
        woken = False
        for tree in trees:
            at = tree
            if d.tree_asleep[at] < 0:
                d.tree_asleep[at] = _AWAKE
            while d.tree_asleep[at] >= 0:
                # the trees of one island point at each other in a ring
                following = int(d.tree_asleep[at])
                d.tree_asleep[at] = _AWAKE
                at, woken = following, True
        if woken:
            self._sync()

    def _sync(self) -> None:
        """MuJoCo's tables of what is awake, from `tree_asleep`, which alone holds that state."""
        m, d = self._model, self._data
        asleep = np.asarray(d.tree_asleep) >= 0
        d.tree_awake[:] = ~asleep
        d.ntree_awake = int((~asleep).sum())
        tree = m.body_treeid
        moving = np.where(asleep[tree], _S_ASLEEP, _S_AWAKE) if m.ntree else np.zeros(m.nbody, dtype=np.int64)
        body = np.where(tree < 0, _S_STATIC, moving)
        d.body_awake[:] = body
        for name, count, chosen in (
            ("body_awake_ind", "nbody_awake", np.flatnonzero(body != _S_ASLEEP)),
            ("parent_awake_ind", "nparent_awake", 1 + np.flatnonzero(body[m.body_parentid[1:]] != _S_ASLEEP)),
            ("dof_awake_ind", "nv_awake", np.flatnonzero(body[m.dof_bodyid] == _S_AWAKE)),
        ):
            getattr(d, name)[: len(chosen)] = chosen
            setattr(d, count, len(chosen))
