"""From which stance the arm is free: the first one where it is, or the one where it meets the least."""

from __future__ import annotations

import math

from iwreplay.motion.approaching import Accept, Approaching, anything
from iwreplay.motion.arms import Arm
from iwreplay.motion.elbows import with_free_arm
from iwreplay.motion.model import Approach
from iwreplay.motion.touching import Aim
from iwreplay.ports import Simulator
from iwreplay.world.state import WorldState

__all__ = ["Freeing"]

#: nobody steps farther aside for a sleeve: the next thing on the same table shall stay within reach
_ASIDE_M = 0.45
#: a sleeve may brush what it gets no deeper into than this, a hand nothing: for that nobody steps aside
_BRUSH_M = 0.01
#: stances that are looked at for one reach; each with the body turned and in other postures too
_STANCES = 6


class Freeing:
    """One search: `take` is asked for each stance, the cheapest first, until it says that it is the one; `best` has the
    approach to take, None while none was acceptable."""

    def __init__(
        self, approaching: Approaching, sim: Simulator, state: WorldState, aim: Aim, accept: Accept | None
    ) -> None:
        self._approaching, self._sim, self._state, self._aim = approaching, sim, state, aim
        self._accept = accept or anything
        self._first: tuple[float, float] | None = None
        self._least = math.inf
        self._left = _STANCES
        self.best: Approach | None = None

    def take(self, approach: Approach) -> bool:
        """Whether nothing better need be looked for."""
        stance = approach.route.stance
        if self._first is not None and math.dist(self._first, (stance.x, stance.y)) > _ASIDE_M:
            return False
        if not self._is_free(approach):
            if self.best is None:  # what can't be done from there can't with the body turned either
                return False
            self._first = self._first or (stance.x, stance.y)
            others = self._approaching.otherwise(self._state, self._aim, approach)
            if not any(self._is_free(one) for one in others):
                self._left -= 1
                return self._left == 0 or (self._least <= _BRUSH_M and self._hand_is_free(self.best))
        return True

    def _hand_is_free(self, approach: Approach) -> bool:
        return Arm(self._sim, self._state, approach, aim=self._aim).hand_is_free()

    def _is_free(self, approach: Approach) -> bool:
        """Whether it is acceptable and its arm meets nothing; keeps it when it is acceptable and better than before."""
        if not self._accept(approach):
            return False
        trial, depth = with_free_arm(
            self._sim,
            self._state,
            approach,
            aim=self._aim,
            other_ways=lambda a: self._approaching.other_ways(self._state, self._aim, a),
            under_m=self._least,
        )
        if depth >= self._least or (trial != approach and not self._accept(trial)):
            return False
        self._least, self.best = depth, trial
        return depth == 0.0
