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
from iwreplay.motion.arms import met_on_the_way
from iwreplay.motion.stances import options_at
from iwreplay.motion.touching import Aim, aim_at
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3
from iwreplay.world.geometry import grip_point, thing_of
from iwreplay.world.state import WorldState
from tests.motion.test_real_scenes import begun, used_points

REACHES = 30
#: moments of a reach that are looked at here, and how far the thinner arm of the test is smaller than the planner's
MOMENTS, THINNER_M = 40, 0.012


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

    def met(self, sim: Simulator, approach: Approach) -> set[tuple[str, str]]:
        """(part of the arm, what it is in), looked at in another way than the planner does: bones of the body that is
        played, as rows of boxes, at equal times."""
        motion = move.reach(move.walk(self.there.body, approach.route).end, approach.reach)
        bodies = [motion.body_at(motion.duration_s * k / MOMENTS) for k in range(MOMENTS + 1)]
        palms = [key_poses(b).right_hand[:3] for b in bodies]
        begun_at = min(range(MOMENTS), key=lambda k: math.dist(palms[k], approach.reach.waypoints[0])) + 1
        met: set[tuple[str, str]] = set()
        for body, palm in zip(bodies[begun_at:], palms[begun_at:], strict=True):
            at = fk(body)
            shoulder, elbow, wrist = (at[j][:3] for j in (RIGHT_ARM.upper, RIGHT_ARM.lower, RIGHT_ARM.end))
            there = math.dist(palm, self.point) < 0.13
            place = self.aim.around if there else ()
            bones = (
                ("upper arm", shoulder, elbow, 0.25, 1.0, 0.045, ()),
                ("forearm", elbow, wrist, 0.0, 0.65, 0.038, place),
                ("hand", wrist, palm, 0.0, 1.0, 0.026, place),
            )
            for part, a, b, first, last, radius, excused in bones:
                half = (radius - THINNER_M) / math.sqrt(3.0)
                for k in range(13):
                    t = first + (last - first) * k / 12
                    x, y, z = (p + t * (q - p) for p, q in zip(a, b, strict=True))
                    pose = (x, y, z, 1.0, 0.0, 0.0, 0.0)
                    hits = sim.overlap_box((half, half, half), pose, ignore=(*self.aim.ignore, *excused))
                    met |= {(part, h) for h in hits}
        return met


@pytest.fixture(scope="module")
def cases() -> tuple[Simulator, list[Case]]:
    plan, state = begun("city_apartment")
    points = list(used_points(state))
    random.Random(5).shuffle(points)
    return plan._sim, [Case(plan, state, t.id, p) for t, p in points[:REACHES]]


def test_the_hand_passes_through_nothing_and_the_arm_hardly_ever(
    cases: tuple[Simulator, list[Case]],
) -> None:
    sim, some = cases
    met = {c.target: c.met(sim, c.found) for c in some}
    parts = {part for m in met.values() for part, _ in m}
    assert "hand" not in parts, met
    assert sum(bool(m) for m in met.values()) <= 2, met


def test_what_the_planner_takes_for_free_is_free_and_the_other_way_round(cases: tuple[Simulator, list[Case]]) -> None:
    sim, some = cases
    usual = [Approach(c.found.route, c.found.reach.bent(None)) for c in some]
    told = [met_on_the_way(sim, c.there, a, target=c.target, point=c.point) for c, a in zip(some, usual, strict=True)]
    assert any(told), "nothing is in the way of any arm: the test shows nothing"
    for c, a, what in zip(some, usual, told, strict=True):
        assert {thing for _, thing in c.met(sim, a)} <= {m.thing for m in what}


def test_it_is_the_elbow_or_the_way_that_keeps_the_arm_clear(cases: tuple[Simulator, list[Case]]) -> None:
    sim, some = cases
    moved = [c for c in some if c.found.reach.elbow is not None]
    assert moved, "no elbow is moved: the test shows nothing"
    for c in moved:
        straight = Approach(c.found.route, c.found.reach.bent(None))
        before, after = (met_on_the_way(sim, c.there, a, target=c.target, point=c.point) for a in (straight, c.found))
        assert before
        assert not after or after[0].depth_m < before[0].depth_m


@pytest.mark.parametrize(("scene", "target"), [("dining_house", "onion_1"), ("classroom", "pencil_1")])
def test_one_turns_or_steps_aside_for_an_arm_that_would_meet_something(scene: str, target: str) -> None:
    plan, state = begun(scene)
    point = grip_point(thing_of(state, target), state)
    seen: list[Approach] = []

    def first(approach: Approach) -> bool:
        seen.append(approach)
        return True

    plan._approaching.approach(state, target, point, max_walk_m=math.inf, accept=first)
    found = plan.approach(state, target, point, max_walk_m=math.inf)
    assert isinstance(found, Approach)
    assert met_on_the_way(plan._sim, state, seen[0], target=target, point=point)
    assert found.route.stance != seen[0].route.stance
    assert met_on_the_way(plan._sim, state, found, target=target, point=point) == ()
    there, usual = found.route.stance, seen[0].route.stance
    assert math.dist((there.x, there.y), (usual.x, usual.y)) < 0.46


def test_one_plans_the_same_twice(cases: tuple[Simulator, list[Case]]) -> None:
    sim, some = cases
    plan = Planner(scene=some[0].there.scene, sim=sim)
    for c in some[:12]:
        assert plan.approach(c.there, c.target, c.point) == c.found


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
