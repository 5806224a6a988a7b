"""Where one stands, which way the hand takes and where the elbow goes, so that no part of the arm meets anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from iwreplay.motion.arms import Arm
from iwreplay.motion.model import Approach, Route
from iwreplay.motion.touching import Aim
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3
from iwreplay.world.geometry import room_at
from iwreplay.world.state import WorldState

__all__ = ["FreeArm"]

#: where the elbow may point, of a right arm in the axes of the stance: as is usual, out, down, out and down, up, in,
#: back, high
_POLES: tuple[Vec3 | None, ...] = (
    None,
    (-0.2, -0.95, 0.15),
    (-0.15, -0.25, -0.95),
    (-0.1, -0.8, -0.6),
    (-0.2, -0.7, 0.7),
    (0.0, 0.35, -0.9),
    (-0.9, -0.3, -0.3),
    (0.2, -0.4, 0.9),
    (0.1, 0.5, 0.85),
)
#: other hand ways and stances that are looked at for one reach, how far apart stances of one posture are to tell
#: anything new, and how much more one walks to touch nothing. The first stance is kept: who steps aside for a sleeve
#: may be too far from the next thing on the same table
_WAYS, _STANCES = 3, 1
_APART_M = 0.15
_DETOUR_M = 1.0

#: other free ways of the hand from the same stance
OtherWays = Callable[[Approach], Iterator[tuple[Vec3, ...]]]


class FreeArm:
    """The first approach, in the order in which they are offered, on which no part of the arm meets anything; where
    there is none, that on which what is met is met least."""

    def __init__(
        self,
        sim: Simulator,
        state: WorldState,
        *,
        aim: Aim,
        ways: OtherWays,
        accept: Callable[[Approach], bool],
    ) -> None:
        self._sim, self._state, self._aim = sim, state, aim
        self._ways, self._accept = ways, accept
        self._looked_at: list[Approach] = []
        #: the best so far, and how deep its arm is in something
        self._best: Approach | None = None
        self.depth_m = 0.0

    def take(self, approach: Approach) -> bool:
        """Looks at one more stance; whether the search is over."""
        if any(_alike(approach, seen) for seen in self._looked_at):
            return False
        if self._looked_at and self._is_detour(self._looked_at[0].route, approach.route):
            return True
        trial, depth = self._least(approach)
        if (self._best is None or depth < self.depth_m) and self._accept(trial):
            self._best, self.depth_m = trial, depth
        if self._best is None:
            return False
        self._looked_at.append(approach)
        return self.depth_m == 0.0 or len(self._looked_at) >= _STANCES

    def result(self) -> Approach | None:
        """The best that was taken; when there were several, `accept` is asked of it once more, the last."""
        if self._best is not None and len(self._looked_at) > 1:
            self._accept(self._best)
        return self._best

    def _is_detour(self, first: Route, other: Route) -> bool:
        """Whether it is better to touch something than to walk there."""
        a, b = (room_at(self._state.scene, r.stance.x, r.stance.y) for r in (first, other))
        return a != b or other.length_m > first.length_m + _DETOUR_M

    def _least(self, approach: Approach) -> tuple[Approach, float]:
        """From one stance: the first elbow and way that meet nothing, or those that meet least."""
        best, arm = approach, self._arm(approach)
        least = arm.deepest_m()
        if least == 0.0:
            return best, least
        # where the hand arrives, every way ends alike
        ends = [arm.at_end(pole) for pole in _POLES]
        if min(ends) >= least:
            return best, least
        hopeful = [pole for pole, depth in zip(_POLES, ends, strict=True) if depth == min(ends)]
        for way in (approach.reach.waypoints, *islice(self._ways(approach), _WAYS)):
            for pole in hopeful:
                trial = Approach(approach.route, approach.reach.along(way).bent(pole))
                if trial == approach:
                    continue
                depth = self._arm(trial).deepest_m(enough_m=least)
                if depth < least:
                    best, least = trial, depth
                if least == 0.0:
                    return best, least
        return best, least

    def _arm(self, approach: Approach) -> Arm:
        return Arm(self._sim, self._state, approach, aim=self._aim)


def _alike(a: Approach, b: Approach) -> bool:
    """Whether one stance tells no more than the other."""
    p, q = a.route.stance, b.route.stance
    near = (p.x - q.x) ** 2 + (p.y - q.y) ** 2 < _APART_M * _APART_M
    return a.reach.posture == b.reach.posture and near
