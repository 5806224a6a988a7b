"""Arms on their way to things in real scenes: the hand passes through nothing, the rest of the arm hardly ever."""

from __future__ import annotations

import math
import random

import pytest

from iwreplay.body import fk, key_poses
from iwreplay.body.limbs import RIGHT_ARM
from iwreplay.body.postures import PostureName
from iwreplay.motion import Approach, Planner, Route
from iwreplay.motion import trajectories as move
from iwreplay.motion.elbows import with_free_elbow
from iwreplay.motion.hand import segment_hit
from iwreplay.motion.stances import options_at
from iwreplay.motion.touching import Aim, aim_at
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3
from iwreplay.world.state import WorldState
from tests.motion.test_real_scenes import begun, used_points

REACHES = 30
#: half a hand that lies flat, and how near to its target it may touch what that stands on or in
HAND = (0.03, 0.02, 0.02)
ARRIVING_M = 0.12


class Case:
    def __init__(self, plan: Planner, state: WorldState, target: str, point: Vec3) -> None:
        route = plan.route_to(state, target, point=point)
        assert isinstance(route, Route)
        self.there = state.copy()
        self.there.body = move.walk(state.body, route).end
        self.target, self.point = target, point
        self.aim: Aim = aim_at(self.there, target, point)
        found = plan.approach(self.there, target, point)
        assert isinstance(found, Approach)
        self.found = found

    def met(self, sim: Simulator, approach: Approach) -> tuple[set[str], set[str]]:
        """(what the hand passes through, what the rest of the arm passes through)."""
        motion = move.reach(move.walk(self.there.body, approach.route).end, approach.reach)
        by_hand: set[str] = set()
        by_arm: set[str] = set()
        begun_at = next(
            k for k in range(33) if math.dist(self._palm(motion, k), approach.reach.waypoints[0]) < 0.05 or k == 32
        )
        for k in range(begun_at, 33):
            body = motion.body_at(motion.duration_s * k / 32)
            palm = key_poses(body).right_hand
            if math.dist(palm[:3], self.point) > ARRIVING_M:
                by_hand |= set(sim.overlap_box(HAND, palm, ignore=self.aim.ignore))
            at = fk(body)
            shoulder, elbow, wrist = (at[j][:3] for j in (RIGHT_ARM.upper, RIGHT_ARM.lower, RIGHT_ARM.end))
            hits = (
                segment_hit(sim, shoulder, elbow, ignore=self.aim.ignore),
                segment_hit(sim, elbow, wrist, ignore=self.aim.ignore, short_m=0.06),
            )
            by_arm |= {h for h in hits if h}
        return by_hand, by_arm

    @staticmethod
    def _palm(motion: move.Trajectory, k: int) -> Vec3:
        return key_poses(motion.body_at(motion.duration_s * k / 32)).right_hand[:3]


@pytest.fixture(scope="module")
def cases() -> tuple[Simulator, list[Case]]:
    plan, state = begun("city_apartment")
    points = list(used_points(state))
    random.Random(5).shuffle(points)
    return plan._sim, [Case(plan, state, t.id, p) for t, p in points[:REACHES]]


def test_the_hand_passes_through_nothing_and_the_arm_hardly_ever(cases: tuple[Simulator, list[Case]]) -> None:
    sim, some = cases
    met = {c.target: c.met(sim, c.found) for c in some}
    assert {t: m[0] for t, m in met.items() if m[0]} == {}
    arms = {t: m[1] for t, m in met.items() if m[1]}
    assert len(arms) <= 2, arms


def test_it_is_the_elbow_that_keeps_the_arm_clear(cases: tuple[Simulator, list[Case]]) -> None:
    sim, some = cases
    moved = [c for c in some if c.found.reach.elbow is not None]
    assert moved, "nothing is in the way of any elbow: the test shows nothing"
    as_usual = [Approach(c.found.route, c.found.reach.bent(None)) for c in moved]
    assert sum(bool(c.met(sim, a)[1]) for c, a in zip(moved, as_usual, strict=True)) > len(moved) // 2
    for c, a in zip(moved, as_usual, strict=True):
        again = with_free_elbow(sim, c.there, a, target=c.target, point=c.point)
        assert again == c.found


@pytest.mark.parametrize(
    ("height_m", "postures"),
    [
        (0.02, {"crouch"}),
        (0.30, {"crouch"}),
        (0.75, {"stand", "stoop"}),
        (1.10, {"stand"}),
        (1.60, {"stand"}),
    ],
)
def test_the_posture_follows_from_where_the_hand_must_go(height_m: float, postures: set[PostureName]) -> None:
    places = [(k * 0.05, 0.0) for k in range(6, 20)]
    options = [s for at in places for s in options_at((0.0, 0.0), (at[0], 0.0, height_m))]
    assert min(options, key=lambda s: s.cost_m).posture in postures
