"""Which way the hand takes and where the elbow goes, so that no part of the arm meets anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice

from iwreplay.motion.arms import Arm
from iwreplay.motion.model import Approach
from iwreplay.motion.touching import Aim
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3
from iwreplay.world.state import WorldState

__all__ = ["with_free_arm"]

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
#: other hand ways that are looked at for one reach; more where nothing else is left
_WAYS, _ALL_WAYS = 3, 12

#: other free ways of the hand from the same stance
OtherWays = Callable[[Approach], Iterator[tuple[Vec3, ...]]]


def with_free_arm(
    sim: Simulator,
    state: WorldState,
    approach: Approach,
    *,
    aim: Aim,
    other_ways: OtherWays,
    under_m: float = math.inf,
    thorough: bool = False,
) -> tuple[Approach, float]:
    """The approach from the same stance with the first elbow and way of the hand on which no part of the arm meets
    anything; where there is none, with those on which what is met is met least. And how bad that is, metres.

    under_m: one that is as bad as this is of no use; the badness is then any such.
    """
    best, arm = approach, Arm(sim, state, approach, aim=aim)
    least = arm.badness_m(enough_m=under_m)
    if least == 0.0:
        return best, 0.0
    # where the hand arrives, every way ends alike
    ends = [arm.at_end(pole) for pole in _POLES]
    if min(ends) >= min(least, under_m):
        return best, least
    hopeful = [pole for pole, bad in zip(_POLES, ends, strict=True) if bad == min(ends)]
    for way in (approach.reach.waypoints, *islice(other_ways(approach), _ALL_WAYS if thorough else _WAYS)):
        for pole in hopeful:
            trial = Approach(approach.route, approach.reach.along(way).bent(pole))
            if trial == approach:
                continue
            bad = Arm(sim, state, trial, aim=aim).badness_m(enough_m=min(least, under_m))
            if bad < least:
                best, least = trial, bad
            if least == 0.0:
                return best, 0.0
    return best, least
