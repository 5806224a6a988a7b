"""Motions start where the body is, end in the pose they state, and nothing jumps, slides or tips over between."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from iwreplay.body import fk, key_poses, reaching, sitting, standing, stooping
from iwreplay.body.postures import PostureName, ready_palm
from iwreplay.body.skeleton import ANKLE_HEIGHT_M, joint
from iwreplay.errors import GeometryError
from iwreplay.motion import Reach, Route, Stance, Trajectory
from iwreplay.motion import trajectories as move
from iwreplay.motion.blend import Blend, smooth
from iwreplay.pose import Vec3, from_xyz_yaw, inverse, rotate, transform_point, wrap_angle, yaw_of

Body = tuple[float, ...]

ROUTE = Route(((1.0, 1.0), (1.0, 2.0), (2.5, 2.0)), 2.5, Stance(2.5, 2.0, -1.0))
SPOT: Vec3 = (1.0, 1.6, 0.92)
REACH = Reach("stoop", ((1.16, 1.2, 1.155), (1.0, 1.35, 1.0), SPOT))


def start(*, carrying: bool = False) -> Body:
    return standing(1.0, 1.0, math.pi / 2, carrying=carrying)


def reached() -> Body:
    return move.reach(start(), REACH).end


MOTIONS: dict[str, tuple[Body, Trajectory, float]] = {
    "hold": (start(), move.hold(start(), 0.4), 0.4),
    "walk": (start(), move.walk(start(), ROUTE), 2.5 + (math.pi / 2 + 1.0) / math.radians(120)),
    "walk carrying": (start(carrying=True), move.walk(start(carrying=True), ROUTE), 2.5 + 2.5707963 / 2.0943951),
    "walk bent": (reached(), move.walk(reached(), ROUTE), 0.6 + 2.5 + 2.5707963 / 2.0943951),
    "turn": (start(carrying=True), move.turn(start(carrying=True), -math.pi / 2 + 0.1), (math.pi - 0.1) / 2.0943951),
    "stoop": (start(), move.posture(start(), "stoop"), 0.6),
    "crouch": (start(carrying=True), move.posture(start(carrying=True), "crouch"), 0.6),
    "reach": (start(), move.reach(start(), REACH), 0.8),
    "reach left": (
        start(carrying=True),
        move.reach(start(carrying=True), Reach("stand", ((0.9, 1.5, 1.1),), left=True)),
        0.8,
    ),
    "follow": (reached(), move.follow(reached(), [(1.0, 1.6 - 0.03 * k, 0.92) for k in range(8)], seconds=1.0), 1.0),
    "retract": (reached(), move.retract(reached()), 0.6),
    "retract looking": (reached(), move.retract(reached(), gaze=SPOT), 0.6),
    "retract empty": (reached(), move.retract(reached(), holding=False, via=((1.0, 1.35, 1.0),)), 0.6),
    "look": (start(), move.look(start(), (2.0, 1.5, 1.0)), 0.4),
    "sit": (start(carrying=True), move.sit(start(carrying=True), (1.0, 0.8, 0.45), 0.3), 1.2),
    "stand up": (
        sitting(1.0, 0.8, 0.3, seat_m=0.45),
        move.stand_up(sitting(1.0, 0.8, 0.3, seat_m=0.45), Stance(1.4, 0.8, 0.3)),
        1.2,
    ),
    "stroke": (reached(), move.stroke(reached(), ((0.9, 1.6, 0.92), (1.1, 1.6, 0.92)), seconds=1.0), 1.0),
}


def samples(motion: Trajectory, n: int = 80) -> list[Body]:
    return [motion.body_at(motion.duration_s * k / n) for k in range(n + 1)]


@pytest.mark.parametrize("name", MOTIONS)
def test_a_motion_begins_exactly_where_the_body_is_and_takes_its_time(name: str) -> None:
    body, motion, seconds = MOTIONS[name]
    assert motion.body_at(0.0) == body
    assert motion.body_at(-1.0) == body
    assert motion.duration_s == pytest.approx(seconds, abs=1e-6)
    assert motion.body_at(motion.duration_s + 5.0) == motion.end == motion.body_at(motion.duration_s)


@pytest.mark.parametrize("name", MOTIONS)
def test_nothing_jumps(name: str) -> None:
    _, motion, _ = MOTIONS[name]
    n = max(20, round(motion.duration_s * 50))
    for a, b in pairwise(samples(motion, n)):
        moved = max(math.dist(p[:3], q[:3]) for p, q in zip(fk(a), fk(b), strict=True))
        assert moved < 0.13, moved  # at 50 Hz; a crouch lets the knees move fast


@pytest.mark.parametrize("name", MOTIONS)
def test_feet_do_not_sink_into_the_floor(name: str) -> None:
    _, motion, _ = MOTIONS[name]
    for body in samples(motion, 40):
        at = fk(body)
        assert min(at[joint(f"{side}_ankle")][2] for side in ("left", "right")) > ANKLE_HEIGHT_M - 0.01


@pytest.mark.parametrize("name", ["walk carrying", "turn", "crouch", "sit"])
def test_what_is_carried_stays_upright(name: str) -> None:
    _, motion, _ = MOTIONS[name]
    for body in samples(motion, 40):
        up = rotate(key_poses(body).right_hand[3:], (0.0, 0.0, 1.0))
        assert up[2] > 1.0 - 1e-9


def test_a_walk_stays_on_its_route_and_ends_at_the_stance() -> None:
    _, motion, _ = MOTIONS["walk"]
    assert motion.distance_m == 2.5
    for body in samples(motion, 200):
        x, y = body[0], body[1]
        assert min(abs(x - 1.0) + max(0.0, 1.0 - y, y - 2.0), abs(y - 2.0) + max(0.0, 1.0 - x, x - 2.5)) < 1e-9
    assert motion.end[:3] == (2.5, 2.0, 0.0)
    assert yaw_of(motion.end[3:7]) == pytest.approx(-1.0)  # type: ignore[arg-type]
    assert motion.end[7:] == start()[7:]


def test_a_walk_goes_a_metre_in_a_second_and_faces_where_it_goes() -> None:
    _, motion, _ = MOTIONS["walk"]
    a, b = motion.body_at(0.25), motion.body_at(0.75)
    assert math.dist(a[:2], b[:2]) == pytest.approx(0.5)
    assert yaw_of(a[3:7]) == pytest.approx(math.pi / 2)  # type: ignore[arg-type]


def test_legs_swing_while_walking() -> None:
    _, motion, _ = MOTIONS["walk"]
    gaps = []
    for k in range(30):
        at = fk(motion.body_at(0.3 + 0.01 * k))
        ground = inverse(from_xyz_yaw(at[0][0], at[0][1], 0.0, math.pi / 2))
        left, right = (transform_point(ground, at[joint(f"{s}_ankle")][:3])[0] for s in ("left", "right"))
        gaps.append(left - right)
    assert max(gaps) - min(gaps) > 0.1


def test_walking_backwards_keeps_the_heading() -> None:
    body = standing(0.0, 0.0, 0.0)
    motion = move.walk(body, Route(((0.0, 0.0), (-0.5, 0.0)), 0.5, Stance(-0.5, 0.0, 0.0)))
    assert motion.duration_s == pytest.approx(0.5)
    assert all(abs(wrap_angle(yaw_of(b[3:7]))) < 1e-9 for b in samples(motion))  # type: ignore[arg-type]


def test_a_walk_to_where_one_is_only_turns() -> None:
    motion = move.walk(start(), Route(((1.0, 1.0),), 0.0, Stance(1.0, 1.0, math.pi / 2 + 0.5)))
    assert motion.duration_s == pytest.approx(0.5 / math.radians(120))
    assert motion.distance_m == 0.0


def test_a_walk_straightens_a_bent_body_and_levels_the_head() -> None:
    _, motion, _ = MOTIONS["walk bent"]
    assert motion.body_at(0.6)[2] == pytest.approx(0.0)
    assert motion.end == pytest.approx(standing(2.5, 2.0, -1.0, carrying=True))
    looked = move.walk(move.look(start(), (2.0, 1.5, 0.5)).end, ROUTE)
    assert looked.end == pytest.approx(standing(2.5, 2.0, -1.0))


def test_a_turn_takes_the_short_way_and_moves_nothing_else() -> None:
    body, motion, _ = MOTIONS["turn"]
    yaws = [yaw_of(b[3:7]) for b in samples(motion)]  # type: ignore[arg-type]
    total = sum(wrap_angle(b - a) for a, b in pairwise(yaws))
    assert total == pytest.approx(-math.pi + 0.1)
    assert all(b[:3] == body[:3] and b[7:] == body[7:] for b in samples(motion))


def test_the_palm_passes_the_waypoints_and_ends_on_the_target_looking_at_it() -> None:
    body, motion, _ = MOTIONS["reach"]
    palms = [key_poses(b).right_hand[:3] for b in samples(motion, 400)]
    for p in REACH.waypoints:
        assert min(math.dist(p, q) for q in palms) < 0.02
    assert math.dist(palms[-1], SPOT) < 1e-6
    x, y, z = transform_point(inverse(key_poses(motion.end).camera), SPOT)
    assert math.atan2(math.hypot(x, y), -z) < math.radians(3.0)
    assert motion.end == reaching(1.0, 1.0, yaw_of(body[3:7]), posture="stoop", target=SPOT)  # type: ignore[arg-type]


def test_a_reach_from_elsewhere_is_a_mistake_that_is_named() -> None:
    with pytest.raises(GeometryError, match=r"out of reach from \(5\.00, 5\.00\) in posture stoop"):
        move.reach(standing(5.0, 5.0, 0.0), REACH)


def test_retract_ends_standing_with_or_without_something_in_the_hand() -> None:
    yaw = yaw_of(start()[3:7])  # type: ignore[arg-type]
    assert MOTIONS["retract"][1].end == standing(1.0, 1.0, yaw, carrying=True)
    assert MOTIONS["retract empty"][1].end == standing(1.0, 1.0, yaw)


def test_seated_one_reaches_and_comes_back_to_sitting() -> None:
    seat = sitting(1.0, 0.8, 0.0, seat_m=0.45)
    assert move.is_seated(seat)
    assert not move.is_seated(start())
    target: Vec3 = (1.5, 0.75, 0.8)
    ready = transform_point(from_xyz_yaw(1.0, 0.8, 0.0, 0.0), ready_palm(0.58))
    motion = move.reach(seat, Reach("sit", (ready, target)))
    assert math.dist(key_poses(motion.end).right_hand[:3], target) < 1e-6
    assert motion.end[:3] == pytest.approx(seat[:3])
    back = move.retract(motion.end, holding=False)
    assert back.end == pytest.approx(seat)


def test_sitting_puts_the_pelvis_on_the_seat_and_the_feet_before_it() -> None:
    end = MOTIONS["sit"][1].end
    at = fk(end)
    assert at[0][:2] == pytest.approx((1.0, 0.8))
    assert 0.5 < at[0][2] < 0.65
    assert move.is_seated(end)
    assert MOTIONS["stand up"][1].end == standing(1.4, 0.8, 0.3)


@pytest.mark.parametrize("posture", ["stand", "stoop", "crouch"])
def test_postures_are_what_they_are_called(posture: PostureName) -> None:
    end = move.posture(stooping(1.0, 1.0, 0.2), posture).end
    eye = key_poses(end).camera[2]
    low, high = {"stand": (1.55, 1.65), "stoop": (1.3, 1.5), "crouch": (0.8, 1.1)}[posture]
    assert low < eye < high


def test_sitting_down_needs_a_seat() -> None:
    with pytest.raises(GeometryError, match="needs a seat"):
        move.posture(start(), "sit")


def test_a_stroke_leads_the_palm_and_leaves_the_rest() -> None:
    body, motion, _ = MOTIONS["stroke"]
    palms = [key_poses(b).right_hand[:3] for b in samples(motion, 400)]
    for p in ((0.9, 1.6, 0.92), (1.1, 1.6, 0.92)):
        assert min(math.dist(p, q) for q in palms) < 0.02
    arm = {7 + 3 * joint(f"right_{n}") + i for n in ("shoulder", "elbow", "wrist") for i in range(3)}
    assert all(abs(a - b) < 1e-9 for i, (a, b) in enumerate(zip(body, motion.end, strict=True)) if i not in arm)


def test_any_body_can_be_blended_from_even_a_t_pose() -> None:
    t_pose = (1.0, 1.0, 0.0, 1.0, *([0.0] * 159))
    blend = Blend(t_pose, start())
    assert blend.at(0.0) == t_pose
    assert blend.at(1.0) == start()
    assert max(abs(a - b) for a, b in zip(blend.at(1e-9), t_pose, strict=True)) < 1e-6
    assert max(abs(a - b) for a, b in zip(blend.at(1.0 - 1e-9), start(), strict=True)) < 1e-6


def test_easing_is_monotone_and_flat_at_its_ends() -> None:
    values = [smooth(k / 100) for k in range(-10, 111)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.0, 1.0)
    assert smooth(0.5) == 0.5
    assert smooth(0.001) < 1e-7


def test_the_same_motion_twice_is_the_same_to_the_bit() -> None:
    for name, (body, motion, _) in MOTIONS.items():
        if name == "walk":
            again = move.walk(body, ROUTE)
            assert samples(again) == samples(motion)
    assert samples(move.reach(start(), REACH)) == samples(MOTIONS["reach"][1])


def test_the_left_hand_reaches_as_the_right_one_does_while_that_carries() -> None:
    body = start(carrying=True)
    target = (0.85, 1.55, 1.05)
    end = move.reach(body, Reach("stand", (target,), left=True)).end
    at = key_poses(end)
    assert math.dist(at.left_hand[:3], target) < 2e-3
    assert math.dist(at.right_hand[:3], key_poses(body).right_hand[:3]) < 1e-6
    mirrored = (1.15, 1.55, 1.05)
    other = key_poses(move.reach(start(), Reach("stand", (mirrored,))).end)
    assert math.dist(other.right_hand[:3], mirrored) < 2e-3
    assert other.camera[2] == pytest.approx(at.camera[2], abs=1e-3)


def test_a_hand_follows_what_moves_and_lets_go_out_of_reach() -> None:
    body = reached()
    palm = key_poses(body).right_hand[:3]
    near = [(palm[0] + 0.02 * k, palm[1], palm[2]) for k in range(1, 6)]
    followed = move.follow(body, near, seconds=1.0)
    assert math.dist(key_poses(followed.end).right_hand[:3], near[-1]) < 0.03
    away = [(palm[0], palm[1] + 0.25 * k, palm[2]) for k in range(1, 9)]
    let_go = move.follow(body, away, seconds=1.0)
    assert math.dist(key_poses(let_go.end).right_hand[:3], away[-1]) > 0.5
    assert let_go.body_at(0.0) == body
    assert let_go.duration_s == 1.0


@pytest.mark.parametrize("aside_m", [-0.4, -0.2, 0.0, 0.2])
@pytest.mark.parametrize("elbow", [None, (-0.2, -0.7, 0.7), (0.0, 0.35, -0.9)])
def test_the_arm_flings_nowhere_whichever_way_the_elbow_points(elbow: Vec3 | None, aside_m: float) -> None:
    """One turn of a joint has several numbers; what lies between two of them must not depend on which."""
    for far_m in (0.5, 0.7, 0.9):
        plan = Reach("crouch", ((far_m, aside_m, 0.73),), elbow=elbow)
        try:
            there = move.reach(standing(0.0, 0.0, 0.0), plan).end
        except GeometryError:  # out of reach
            continue
        x, y, z = key_poses(there).right_hand[:3]
        motion = move.follow(there, [(x, y + 0.05 * k, z) for k in range(1, 5)], seconds=1.0)
        palms = [key_poses(motion.body_at(k / 100)).right_hand[:3] for k in range(101)]
        assert max(math.dist(a, b) for a, b in pairwise(palms)) < 0.06
