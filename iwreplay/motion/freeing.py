"""From which stance the arm is free: the first one where it is, or the one where it meets the least."""

from __future__ import annotations

import math

from iwreplay.motion.approaching import Accept, Approaching, anything
from iwreplay.motion.arms import BRUSH_M, Arm, Met
from iwreplay.motion.elbows import with_free_arm
from iwreplay.motion.model import Approach
from iwreplay.motion.touching import Aim
from iwreplay.ports import Simulator
from iwreplay.world.state import WorldState

__all__ = ["Freeing"]

#: nobody steps farther aside for a sleeve while there is another way: the next thing on the same table shall stay
#: within reach
_ASIDE_M = 0.45
#: stances that are looked at for one reach, and farther ones where nothing frees it; each with the body turned and in
#: other postures too
_STANCES, _FARTHER = 6, 12


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
        self._looked_at: list[Approach] = []
        self._farther: list[Approach] = []
        #: every way of the hand is tried
        self._thorough = False
        self.best: Approach | None = None

    @property
    def is_free(self) -> bool:
        """Whether the arm of `best` meets nothing but what a sleeve may brush."""
        return self._least <= BRUSH_M

    def take(self, approach: Approach) -> bool:
        """Whether nothing better need be looked for."""
        stance = approach.route.stance
        aside = self._first is not None and math.dist(self._first, (stance.x, stance.y)) > _ASIDE_M
        if aside or self._left == 0:
            self._farther.append(approach)
            return False
        if self._frees(approach):
            return True
        self._looked_at.append(approach)
        if self.best is not None:
            self._first = self._first or (stance.x, stance.y)
            self._left -= 1
        return self.is_free

    def look_farther(self) -> None:
        """At the same stances for more ways of the hand, then at those that were passed over, until the arm is free."""
        self._thorough = True
        for approach in (*self._looked_at, *self._farther[:_FARTHER]):
            if self._frees(approach) or self.is_free:
                return

    def in_the_way(self) -> Met:
        """What the arm of `best` meets worst."""
        assert self.best is not None, "nothing was acceptable"
        return Arm(self._sim, self._state, self.best, aim=self._aim).met()[0]

    def _frees(self, approach: Approach) -> bool:
        """Whether the arm meets nothing from a stance, the body turned or bent otherwise where it must be."""
        if self._improves(approach):
            return True
        if self.best is None:  # what can't be done from there can't with the body turned either
            return False
        return any(
            map(self._improves, self._approaching.otherwise(self._state, self._aim, approach, thorough=self._thorough))
        )

    def _improves(self, approach: Approach) -> bool:
        """Whether it is acceptable and its arm meets nothing; keeps it when it is acceptable and better than before."""
        if not self._accept(approach):
            return False
        trial, bad = with_free_arm(
            self._sim,
            self._state,
            approach,
            aim=self._aim,
            other_ways=lambda a: self._approaching.other_ways(self._state, self._aim, a),
            under_m=self._least,
            thorough=self._thorough,
        )
        if bad >= self._least or (trial != approach and not self._accept(trial)):
            return False
        self._least, self.best = bad, trial
        return bad == 0.0
