"""Plans are good, refusals say why and name what blocks, and planning changes nothing."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from iwreplay.body import reaching, sitting, standing
from iwreplay.body.kinematics import key_poses
from iwreplay.motion import Approach, Planner, Refusal, Route, Stance
from iwreplay.motion.arms import met_on_the_way
from iwreplay.motion.footprints import point_gap
from iwreplay.motion.grid import BODY_RADIUS_M, OccupancyGrid
from iwreplay.motion.stances import swept_prints
from iwreplay.pose import Vec3, compose, from_xyz_yaw, wrap_angle
from iwreplay.scene.model import CompiledScene, Link, Thing
from iwreplay.vocabulary import FAILURE_CODES, WEARER
from iwreplay.world.geometry import grip_point, handle_point, thing_of
from iwreplay.world.state import WorldState
from tests.motion.world import BoxSim, begin, block, box, flat, opened, thing, top


def planner(scene: CompiledScene, at: Vec3 | None = None) -> tuple[Planner, WorldState, BoxSim]:
    state = begin(scene, at)
    sim = BoxSim(state)
    return Planner(scene=scene, sim=sim), state, sim  # type: ignore[arg-type]


def grip(state: WorldState, name: str) -> Vec3:
    return grip_point(thing_of(state, name), state)


def hold(state: WorldState, name: str) -> None:
    """Puts a thing into the right hand, level."""
    t = thing_of(state, name)
    x, y, yaw = state.body[0], state.body[1], 2.0 * math.atan2(state.body[6], state.body[3])
    state.body = standing(x, y, yaw, carrying=True)
    palm = key_poses(state.body).right_hand
    state.poses[name] = compose(palm, (-t.grip[0], -t.grip[1], -t.grip[2], 1.0, 0.0, 0.0, 0.0))
    state.attrs[name].update(held=True, parent="held")
    state.attrs[WEARER]["held"] = name


def assert_free_route(state: WorldState, route: Route) -> None:
    grids = OccupancyGrid(state.scene)
    grid = grids.at(state)
    assert route.points[0] == pytest.approx(state.body[:2])
    assert route.points[-1] == (route.stance.x, route.stance.y)
    assert grid.free(*route.points[-1])
    length = sum(math.dist(a, b) for a, b in pairwise(route.points))
    assert route.length_m == pytest.approx(length)
    prints = grids.footprints(state)
    for a, b in pairwise(route.points):
        for k in range(51):
            p = (a[0] + (b[0] - a[0]) * k / 50, a[1] + (b[1] - a[1]) * k / 50)
            assert min(point_gap(p, f.outline) for f in prints) > BODY_RADIUS_M - 0.08


def assert_reaches(state: WorldState, plan: Approach, point: Vec3) -> None:
    s = plan.route.stance
    body = reaching(s.x, s.y, s.yaw, posture=plan.reach.posture, target=point)
    assert body is not None
    assert math.dist(key_poses(body).right_hand[:3], point) < 1e-3
    assert plan.reach.waypoints[-1] == point
    assert abs(wrap_angle(math.atan2(point[1] - s.y, point[0] - s.x) - s.yaw)) < 0.61


class TestWalking:
    @pytest.mark.parametrize("target", ["mug_1", "counter_1", "table_1", "chair_1", "fridge_1", "milk_1", "door_1"])
    def test_routes_are_free_and_end_before_the_target(self, target: str) -> None:
        plan, state, _ = planner(flat())
        route = plan.route_to(state, target)
        assert isinstance(route, Route), route
        assert_free_route(state, route)
        where = state.poses["fridge_1" if target == "milk_1" else target]
        assert math.dist(route.points[-1], where[:2]) < 1.5
        bearing = math.atan2(where[1] - route.stance.y, where[0] - route.stance.x)
        assert abs(wrap_angle(bearing - route.stance.yaw)) < 1.0

    def test_after_the_walk_the_hand_needs_no_further_step(self) -> None:
        plan, state, _ = planner(flat())
        route = plan.route_to(state, "mug_1")
        assert isinstance(route, Route)
        state.body = standing(route.stance.x, route.stance.y, route.stance.yaw)
        found = plan.approach(state, "mug_1", grip(state, "mug_1"), max_walk_m=0.0)
        assert isinstance(found, Approach), found
        assert found.route.length_m == 0.0
        assert found.route.stance.yaw == pytest.approx(route.stance.yaw)

    def test_a_closed_door_is_named_and_an_open_one_walked_through(self) -> None:
        plan, state, _ = planner(flat())
        for target in ("hall", "key_1", "cupboard_1"):
            refusal = plan.route_to(state, target)
            assert isinstance(refusal, Refusal)
            assert (refusal.code, refusal.blocker) == ("NO_PATH", "door_1")
            assert "hall door is closed" in refusal.sentence
            assert "_1" not in refusal.sentence
        opened(state, "door_1")
        for target in ("hall", "key_1", "cupboard_1"):
            route = plan.route_to(state, target)
            assert isinstance(route, Route), route
            assert_free_route(state, route)
            assert route.stance.x > 5.0

    def test_a_box_in_the_doorway_is_named(self) -> None:
        plan, state, _ = planner(flat(block("crate_1", (0.3, 0.3, 0.3), 5.2, 2.0, 0.0, name="big crate")))
        opened(state, "door_1")
        refusal = plan.route_to(state, "hall")
        assert isinstance(refusal, Refusal)
        assert (refusal.code, refusal.blocker) == ("NO_PATH", "crate_1")
        assert refusal.sentence.endswith("The big crate is in the way.")

    def test_a_room_is_entered_towards_its_middle(self) -> None:
        plan, state, _ = planner(flat())
        opened(state, "door_1")
        route = plan.route_to(state, "hall")
        assert isinstance(route, Route)
        assert math.dist(route.points[-1], (6.5, 2.0)) < 0.15

    def test_no_stance_on_the_far_side_of_a_wall(self) -> None:
        shelf = thing(
            "shelf_1",
            Link(name="base", shapes=(box((0.4, 0.1, 0.5), (0, 0, 0.5)),), surfaces=top((0.4, 0.1), 1.0)),
            pose=from_xyz_yaw(5.17, 0.6, 0.0, math.pi / 2),
        )
        plan, state, _ = planner(flat(shelf))
        refusal = plan.route_to(state, "shelf_1")
        assert isinstance(refusal, Refusal), refusal
        assert refusal.blocker == "door_1"
        opened(state, "door_1")
        route = plan.route_to(state, "shelf_1")
        assert isinstance(route, Route)
        assert route.stance.x > 5.0

    def test_who_sits_has_to_stand_up_first(self) -> None:
        plan, state, _ = planner(flat())
        state.body = sitting(1.0, 1.0, math.pi / 2, seat_m=0.45)
        state.attrs[WEARER].update(posture="sit", sitting="chair_1")
        for answer in (
            plan.route_to(state, "mug_1"),
            plan.forward(state, 0.5),
            plan.approach(state, "mug_1", grip(state, "mug_1")),
        ):
            assert isinstance(answer, Refusal)
            assert answer.code == "POSTURE"

    def test_one_steps_out_of_a_tight_place(self) -> None:
        # 0.1 m from the counter no body fits, but somebody who reached over it stands there
        plan, state, _ = planner(flat(), (1.6, 3.2, math.pi / 2))
        route = plan.route_to(state, "table_1")
        assert isinstance(route, Route)
        assert route.points[1][1] < 3.1
        assert OccupancyGrid(state.scene).at(state).free(*route.points[1])


class TestReaching:
    @pytest.mark.parametrize(
        ("name", "at"), [("mug_1", (1.6, 2.4, 1.5)), ("mug_1", (2.6, 2.9, 0.0)), ("key_1", (6.4, 2.2, 0.0))]
    )
    def test_the_hand_gets_there_from_a_free_stance(self, name: str, at: Vec3) -> None:
        plan, state, _ = planner(flat(), at)
        found = plan.approach(state, name, grip(state, name))
        assert isinstance(found, Approach), found
        assert_reaches(state, found, grip(state, name))
        assert found.route.length_m <= 1.5
        if found.route.length_m:
            assert_free_route(state, found.route)

    def test_nobody_moves_who_can_reach_already(self) -> None:
        plan, state, _ = planner(flat(), (1.7, 2.95, 1.9))
        found = plan.approach(state, "mug_1", grip(state, "mug_1"))
        assert isinstance(found, Approach)
        assert found.route.points == ((1.7, 2.95),)
        assert found.route.stance.yaw == pytest.approx(1.9)

    @pytest.mark.parametrize(("z", "posture"), [(0.0, "crouch"), (0.4, "crouch"), (0.8, "stoop"), (1.15, "stand")])
    def test_the_height_decides_the_posture(self, z: float, posture: str) -> None:
        stand = thing(
            "stand_1",
            Link(name="base", shapes=(box((0.1, 0.1, max(z, 0.02) / 2), (0, 0, z / 2)),)),
            pose=from_xyz_yaw(2.5, 2.2, 0.0, 0.0),
        )
        ball = block("ball_1", (0.03, 0.03, 0.03), 2.5, 2.2, z)
        plan, state, _ = planner(flat(stand, ball))
        found = plan.approach(state, "ball_1", grip(state, "ball_1"))
        assert isinstance(found, Approach), found
        assert found.reach.posture == posture

    def test_too_high(self) -> None:
        plan, state, _ = planner(flat(block("hat_1", (0.1, 0.1, 0.05), 1.6, 3.6, 2.0)))
        refusal = plan.approach(state, "hat_1", grip(state, "hat_1"))
        assert refusal == Refusal("UNREACHABLE", "The hat is too high to reach.")

    def test_too_far_to_step(self) -> None:
        plan, state, _ = planner(flat(), (4.4, 0.4, 0.0))
        refusal = plan.approach(state, "mug_1", grip(state, "mug_1"))
        assert isinstance(refusal, Refusal)
        assert refusal.code == "TOO_FAR"
        assert "walk there first" in refusal.sentence
        found = plan.approach(state, "mug_1", grip(state, "mug_1"), max_walk_m=9.0)
        assert isinstance(found, Approach)
        assert found.route.length_m > 1.5

    def test_behind_a_closed_door_there_is_no_path(self) -> None:
        plan, state, _ = planner(flat())
        refusal = plan.approach(state, "key_1", grip(state, "key_1"), max_walk_m=9.0)
        assert isinstance(refusal, Refusal)
        assert (refusal.code, refusal.blocker) == ("NO_PATH", "door_1")

    def test_nowhere_to_stand(self) -> None:
        wide = thing(
            "pool_1",
            Link(name="base", shapes=(box((1.4, 1.4, 0.25), (0, 0, 0.25)),)),
            pose=from_xyz_yaw(6.4, 2.0, 0, 0),
        )
        duck = block("duck_1", (0.05, 0.05, 0.05), 6.4, 2.0, 0.5)
        plan, state, _ = planner(flat(wide, duck))
        opened(state, "door_1")
        refusal = plan.approach(state, "duck_1", grip(state, "duck_1"), max_walk_m=9.0)
        assert isinstance(refusal, Refusal)
        assert refusal.code == "UNREACHABLE"

    def test_shut_in_a_cabinet_the_cabinet_is_in_the_way(self) -> None:
        plan, state, _ = planner(flat(), (3.4, 2.7, 1.57))
        refusal = plan.approach(state, "milk_1", grip(state, "milk_1"))
        assert refusal == Refusal("COLLISION", "The fridge is in the way of my hand.", "fridge_1")
        opened(state, "fridge_1")
        found = plan.approach(state, "milk_1", grip(state, "milk_1"))
        assert isinstance(found, Approach), found
        assert_reaches(state, found, grip(state, "milk_1"))

    def test_the_hand_goes_over_what_stands_before_the_target(self) -> None:
        screen = block("box_1", (0.3, 0.03, 0.1), 1.6, 3.42, 0.9)
        plan, state, sim = planner(flat(screen), (1.6, 2.9, 1.57))
        state.poses["mug_1"] = from_xyz_yaw(1.6, 3.55, 0.9, 0.0)
        found = plan.approach(state, "mug_1", grip(state, "mug_1"))
        assert isinstance(found, Approach), found
        assert len(found.reach.waypoints) > 2
        for a, b in pairwise(found.reach.waypoints):
            n = math.dist(a, b)
            hit = sim.ray(a, tuple((b[i] - a[i]) / n for i in range(3)), n - 0.03, ignore=("mug_1",))  # type: ignore[arg-type]
            assert hit is None

    def test_what_is_walled_in_names_the_wall(self) -> None:
        lid = block("bell_1", (0.3, 0.3, 0.01), 1.6, 3.6, 1.02, name="glass cover")
        sides = [
            block(f"pane_{k}", (hx, hy, 0.06), 1.6 + dx, 3.6 + dy, 0.9, name="pane")
            for k, (hx, hy, dx, dy) in enumerate([(0.01, 0.3, 0.3, 0), (0.01, 0.3, -0.3, 0), (0.3, 0.01, 0, -0.29)])
        ]
        plan, state, _ = planner(flat(lid, *sides), (1.6, 2.9, 1.57))
        refusal = plan.approach(state, "mug_1", grip(state, "mug_1"))
        assert isinstance(refusal, Refusal)
        assert refusal.code == "COLLISION"
        assert refusal.blocker in ("pane_2", "bell_1")

    @pytest.mark.parametrize("length", [0.65, 0.2])
    def test_where_the_hand_fits_but_not_the_arm_it_is_refused(self, length: float) -> None:
        half = length / 2
        shell = (
            *(box((0.1, half, 0.01), (0.0, 0.0, z)) for z in (-0.1, 0.1)),
            *(box((0.01, half, 0.09), (x, 0.0, 0.0)) for x in (-0.09, 0.09)),
        )
        pipe = thing("pipe_1", Link(name="base", shapes=shell), pose=from_xyz_yaw(1.6, 3.6 - half, 1.1, 0.0))
        nut = block("nut_1", (0.015, 0.015, 0.015), 1.6, 3.52, 1.01, attrs={"parent": "on:pipe_1.bottom"})
        plan, state, sim = planner(flat(pipe, nut), (1.6, 2.5, 1.57))
        found = plan.approach(state, "nut_1", grip(state, "nut_1"))
        if length > 0.5:
            assert found == Refusal("COLLISION", "The pipe is in the way of my arm.", "pipe_1")
        else:
            assert isinstance(found, Approach), found
            met = met_on_the_way(sim, state, found, target="nut_1", point=grip(state, "nut_1"))  # type: ignore[arg-type]
            assert not any(m.is_harmful for m in met), met

    @pytest.mark.parametrize(
        ("name", "at"), [("fridge_1", (3.3, 2.2, 1.5)), ("door_1", (3.8, 2.3, 0.0)), ("door_1", (6.2, 2.0, 3.1))]
    )
    def test_before_a_door_one_stands_clear_of_its_swing(self, name: str, at: Vec3) -> None:
        plan, state, _ = planner(flat(), at)
        owner = thing_of(state, name)
        handle = handle_point(owner, state)
        assert handle is not None
        found = plan.approach(state, name, handle)
        assert isinstance(found, Approach), found
        assert_reaches(state, found, handle)
        p = found.route.points[-1]
        assert min(point_gap(p, f.outline) for f in swept_prints(owner, state)) > 0.2
        # and having opened it, one is not shut in
        opened(state, name)
        assert OccupancyGrid(state.scene).at(state).free(*p)

    def test_from_a_seat_the_arm_reaches_what_is_before_it(self) -> None:
        cup = block("cup_1", (0.03, 0.03, 0.04), 1.0, 1.55, 0.8)
        plan, state, _ = planner(flat(cup))
        state.body = sitting(1.0, 1.0, math.pi / 2, seat_m=0.45)
        state.attrs[WEARER].update(posture="sit", sitting="chair_1")
        found = plan.approach(state, "cup_1", grip(state, "cup_1"))
        assert isinstance(found, Approach), found
        assert found.reach.posture == "sit"
        assert found.route.length_m == 0.0

    def test_a_preferred_stance_is_taken(self) -> None:
        tap = thing(
            "tap_1",
            Link(name="base", shapes=(box((0.02, 0.02, 0.1), (0, 0, 0.1)),)),
            pose=from_xyz_yaw(1.0, 3.6, 0.9, 0.0),
            grip=(0.0, 0.0, 0.15),
            stances=((0.3, -0.75, math.pi / 2),),
        )
        plan, state, _ = planner(flat(tap), (0.6, 2.2, 1.5))
        found = plan.approach(state, "tap_1", grip(state, "tap_1"))
        assert isinstance(found, Approach), found
        assert math.dist(found.route.points[-1], (1.3, 2.85)) < 0.08


class TestForwardTurnSeatSight:
    def test_forward_is_straight_and_stops_at_things(self) -> None:
        plan, state, _ = planner(flat())
        route = plan.forward(state, 1.0)
        assert isinstance(route, Route)
        assert route.stance.y == pytest.approx(2.0)
        assert route.stance.yaw == pytest.approx(math.pi / 2)
        refusal = plan.forward(state, 2.5)
        assert refusal == Refusal("COLLISION", "The counter is in the way.", "counter_1")
        back = plan.forward(state, -0.5)
        assert isinstance(back, Route)
        assert back.stance.y == pytest.approx(0.5)

    def test_forward_does_not_leave_the_floor(self) -> None:
        scene = flat()
        scene = type(scene)(
            **{f: getattr(scene, f) for f in scene.__struct_fields__ if f != "things"},
            things=tuple(t for t in scene.things if t.id != "wall_3"),
        )
        plan, state, _ = planner(scene, (0.5, 2.5, math.pi))
        refusal = plan.forward(state, 1.0)
        assert isinstance(refusal, Refusal)
        assert refusal.code == "COLLISION"

    def test_a_held_thing_may_not_be_swept_through_another(self) -> None:
        post = thing(
            "post_1",
            Link(name="base", shapes=(box((0.05, 0.05, 0.8), (0, 0, 0.8)),)),
            pose=from_xyz_yaw(1.62, 1.2, 0, 0),
        )
        plan, state, _ = planner(flat(post, block("tray_1", (0.25, 0.15, 0.02), 2.0, 1.3, 0.0)))
        assert plan.turn(state, math.pi) is None
        hold(state, "tray_1")
        refusal = plan.turn(state, math.pi)
        assert refusal == Refusal("COLLISION", "The post is in the way.", "post_1")
        assert plan.turn(state, 0.3) is None

    def test_what_is_in_the_way_of_the_held_thing_only_is_told_so_and_the_left_hand_gets_there(self) -> None:
        # a slot in a screen all across the room: a hand goes through, a board does not
        def screen(name: str, x: float) -> Thing:
            return thing(
                name, Link(name="base", shapes=(box((2.9, 0.02, 1.2), (0, 0, 1.2)),)), pose=from_xyz_yaw(x, 1.75, 0, 0)
            )

        knob = thing(
            "knob_1",
            Link(name="base", shapes=(box((0.02, 0.02, 0.5), (0, 0, 0.5)),)),
            pose=from_xyz_yaw(2.0, 2.05, 0, 0),
        )
        board = block("board_1", (0.04, 0.45, 0.3), 3.4, 1.0, 0.0)
        plan, state, _ = planner(
            flat(knob, screen("screen_1", -1.05), screen("screen_2", 5.05), board), (2.0, 1.4, math.pi / 2)
        )
        point = (2.0, 2.05, 1.0)
        assert isinstance(plan.approach(state, "knob_1", point, max_walk_m=0.0), Approach)
        hold(state, "board_1")
        refusal = plan.approach(state, "knob_1", point)
        assert isinstance(refusal, Refusal)
        assert (refusal.code, refusal.sentence) == ("COLLISION", "The screen is in the way of the board.")
        found = plan.approach(state, "knob_1", point, left=True)
        assert isinstance(found, Approach)
        assert found.reach.left

    def test_a_held_thing_is_minded_walking_straight(self) -> None:
        shelf = thing(
            "shelf_1",
            Link(name="base", shapes=(box((0.5, 0.1, 0.05), (0, 0, 1.3)),)),
            pose=from_xyz_yaw(2.0, 2.3, 0, 0),
        )
        plan, state, _ = planner(flat(shelf, block("pole_1", (0.02, 0.5, 0.02), 3.0, 2.0, 0.0)))
        assert isinstance(plan.forward(state, 0.9), Route)
        hold(state, "pole_1")
        refusal = plan.forward(state, 0.9)
        assert isinstance(refusal, Refusal)
        assert refusal.blocker == "shelf_1"

    def test_standing_up_leads_to_a_free_place_in_front_of_the_seat(self) -> None:
        plan, state, _ = planner(flat())
        state.body = sitting(1.0, 1.0, math.pi / 2, seat_m=0.45)
        state.attrs[WEARER].update(posture="sit", sitting="chair_1")
        stance = plan.stand_up_stance(state)
        assert isinstance(stance, Stance)
        assert OccupancyGrid(state.scene).at(state).free(stance.x, stance.y)
        assert stance.y > 1.3

    def test_a_seat_that_is_walled_in_cannot_be_left(self) -> None:
        crates = [
            block(f"crate_{k}", (0.5, 0.5, 0.4), 1.0 + dx, 1.0 + dy, 0.0, name="crate")
            for k, (dx, dy) in enumerate([(0.75, 0.0), (-0.75, 0.0), (0.0, 0.75), (0.0, -0.75)])
        ]
        plan, state, _ = planner(flat(*crates))
        state.body = sitting(1.0, 1.0, math.pi / 2, seat_m=0.45)
        state.attrs[WEARER].update(posture="sit", sitting="chair_1")
        refusal = plan.stand_up_stance(state)
        assert isinstance(refusal, Refusal)
        assert refusal.blocker.startswith("crate_")

    def test_sight_is_stopped_by_doors_and_walls_but_not_by_glass(self) -> None:
        plan, state, _ = planner(flat(), (3.4, 2.2, 1.57))
        assert plan.sees(state, "mug_1", grip(state, "mug_1"))
        assert not plan.sees(state, "milk_1", grip(state, "milk_1"))
        assert plan.hidden_by(state, "milk_1", grip(state, "milk_1")) == "fridge_1"
        opened(state, "fridge_1")
        assert plan.sees(state, "milk_1", grip(state, "milk_1"))
        assert not plan.sees(state, "key_1", grip(state, "key_1"))

        def pane(material: str) -> Thing:
            return thing(
                "pane_1",
                Link(name="base", shapes=(box((2.0, 0.01, 1.3), (0, 0, 1.3), material),)),
                pose=from_xyz_yaw(2.5, 3.0, 0.0, 0.0),
            )

        for material, seen in (("glass", True), ("wood", False)):
            plan, state, _ = planner(flat(pane(material)), (1.6, 2.2, 1.57))
            assert plan.sees(state, "mug_1", grip(state, "mug_1")) is seen

    def test_a_part_in_sight_is_enough(self) -> None:
        screen = block("book_1", (0.06, 0.01, 0.12), 1.6, 3.4, 0.9)
        plan, state, _ = planner(flat(screen), (1.6, 2.6, 1.57))
        assert plan.sees(state, "counter_1", (1.6, 3.6, 0.9))
        wide = block("board_1", (0.3, 0.01, 0.3), 1.6, 3.4, 0.9)
        plan, state, _ = planner(flat(wide), (1.6, 2.6, 1.57))
        assert not plan.sees(state, "mug_1", grip(state, "mug_1"))


def everything(plan: Planner, state: WorldState) -> list[object]:
    targets = ("mug_1", "milk_1", "key_1", "fridge_1", "counter_1", "chair_1", "hall", "door_1")
    out: list[object] = [plan.route_to(state, t) for t in targets]
    for t in ("mug_1", "milk_1", "key_1"):
        out += [plan.approach(state, t, grip(state, t)), plan.sees(state, t, grip(state, t))]
    return [*out, plan.forward(state, 3.0), plan.turn(state, 2.0), plan.stand_up_stance(state)]


@pytest.mark.parametrize("is_open", [False, True])
def test_planning_changes_nothing_and_is_the_same_for_everyone(is_open: bool) -> None:
    plan, state, _ = planner(flat())
    if is_open:
        opened(state, "door_1")
        opened(state, "fridge_1")
    before = state.copy()
    answers = everything(plan, state)
    assert vars(before) == vars(state)
    assert everything(plan, state) == answers
    fresh, same, _ = planner(flat())
    same.joints, same.attrs = dict(state.joints), {k: dict(v) for k, v in state.attrs.items()}
    assert everything(fresh, same) == answers
    codes = {c for group in FAILURE_CODES.values() for c in group}
    for a in answers:
        if isinstance(a, Refusal):
            assert a.code in codes
            assert a.sentence.endswith(".")
            assert not any(t.id in a.sentence for t in state.scene.things)
