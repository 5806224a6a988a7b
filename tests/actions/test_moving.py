"""Locomotion, posture and looking, done."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from iwreplay.events import BodyPosed, FrameCaptured
from iwreplay.pose import wrap_angle, yaw_of
from iwreplay.vocabulary import WEARER
from tests.actions.proving import World


def _yaw(world: World) -> float:
    return yaw_of(world.state.body[3:7])  # type: ignore[arg-type]


def test_walk_ends_near_the_target_and_facing_it(world: World) -> None:
    outcome = world.ok("[Walk] dining table")
    assert outcome.primitive == "navigate_to"
    assert outcome.obj == "dining_table_1"
    assert outcome.distance_m > 0.3
    assert math.dist(world.state.body[:2], world.state.poses["dining_table_1"][:2]) < 1.3
    # walked at one metre a second and turned, not jumped
    assert outcome.duration_s >= outcome.distance_m


def test_run_is_walk(world: World) -> None:
    assert world.ok("[Run] dining table").primitive == "navigate_to"


def test_walking_through_the_open_door_changes_the_room(world: World) -> None:
    assert world.attr(WEARER, "room") == "workshop"
    world.ok("[Walk] side door", "[Open] side door", "[Walk] side room")
    assert world.attr(WEARER, "room") == "side_room"
    assert [d.cause for d in world.deltas(WEARER, "room")] == ["primitive:navigate_to"]


def test_walking_again_to_the_same_place_is_no_walk(world: World) -> None:
    world.ok("[Walk] dining table")
    again = world.ok("[Walk] dining table")
    assert again.distance_m == 0.0


def test_forward_and_back(world: World) -> None:
    world.stand(6.0, 4.0, 0.0).ok("[Forward] 0.8")
    assert world.state.body[:2] == pytest.approx((6.8, 4.0), abs=1e-6)
    world.ok("[Forward] -0.3")
    assert world.state.body[:2] == pytest.approx((6.5, 4.0), abs=1e-6)
    assert abs(_yaw(world)) < 1e-6


@pytest.mark.parametrize(
    ("command", "degrees"),
    [
        ("[TurnLeft] 30", 30),
        ("[TurnRight] 45", -45),
        ("[TurnLeft]", 90),
        ("[TurnAround]", 180),
        ("[TurnLeft] 270", 270),
    ],
)
def test_turns(world: World, command: str, degrees: float) -> None:
    world.stand(6.0, 4.0, 0.5).ok(command)
    assert abs(wrap_angle(_yaw(world) - 0.5 - math.radians(degrees))) < 1e-6
    turned = world.events[-1]
    assert turned.duration_s >= degrees / 120.0 - 0.1  # type: ignore[attr-defined]


def test_turning_keeps_what_is_carried(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[TurnLeft] 120")
    assert world.attr("mug_1", "held") is True
    assert math.dist(world.state.poses["mug_1"][:2], world.state.body[:2]) < 0.7


def test_sit_anchors_the_body_on_the_seat_and_stand_up_steps_away(world: World) -> None:
    world.ok("[Walk] chair", "[Sit] chair")
    assert (world.attr(WEARER, "sitting"), world.attr(WEARER, "posture")) == ("chair_1", "sit")
    assert math.dist(world.state.body[:2], world.state.poses["chair_1"][:2]) < 0.35
    assert world.state.body[2] < -0.2
    world.ok("[StandUp]")
    assert (world.attr(WEARER, "sitting"), world.attr(WEARER, "posture")) == ("", "stand")
    assert math.dist(world.state.body[:2], world.state.poses["chair_1"][:2]) > 0.35
    assert world.state.body[2] == 0.0


def test_face_turns_only_as_far_as_needed(world: World) -> None:
    world.stand(6.0, 4.0, 0.0).ok("[Face] dining table")
    x, y = world.state.poses["dining_table_1"][:2]
    wanted = math.atan2(y - 4.0, x - 6.0)
    assert abs(wrap_angle(_yaw(world) - wanted)) < math.radians(6.0)
    here = _yaw(world)
    world.ok("[TurnTo] dining table, 20")
    assert _yaw(world) == here


def test_face_a_room(world: World) -> None:
    world.stand(6.0, 3.0, math.pi).ok("[Face] side room")
    assert abs(_yaw(world)) < 0.2


def test_look_at_moves_the_head_and_is_seen(world: World) -> None:
    world.stand(3.0, 4.2, -1.57).ok("[LookAt] blue mug")
    assert world.happened("seen")[-1].obj == "mug_1"
    frame = [e for e in world.events if isinstance(e, FrameCaptured)][-1]
    eye, mug = frame.camera, world.state.poses["mug_1"]
    ahead = yaw_of(world.state.body[3:7])  # type: ignore[arg-type]
    assert abs(wrap_angle(math.atan2(mug[1] - eye[1], mug[0] - eye[0]) - ahead)) < math.radians(65)


def test_look_behind_turns_the_body(world: World) -> None:
    world.stand(3.0, 4.2, 1.57).ok("[Look] dining table")
    assert abs(wrap_angle(_yaw(world) + 1.57)) < 0.6


@pytest.mark.parametrize("arc", ["", " 120", " 360"])
def test_scan_looks_over_its_arc_and_ends_where_it_began(world: World, arc: str) -> None:
    world.stand(6.0, 4.0, 0.5).ok(f"[Scan]{arc}")
    assert abs(wrap_angle(_yaw(world) - 0.5)) < 1e-6
    frames = [e for e in world.events if isinstance(e, FrameCaptured)][-4:]
    assert len({f.camera for f in frames}) >= 3


def test_scan_from_a_seat_moves_the_head_only(world: World) -> None:
    world.ok("[Walk] chair", "[Sit] chair")
    root = world.state.body[:7]
    world.ok("[LookAround] 90")
    assert world.state.body[:7] == root
    assert len({e.values[7:] for e in world.events if isinstance(e, BodyPosed)}) > 3


def test_scan_finds_what_was_not_in_view(make: Callable[..., World]) -> None:
    world = make(sees_all=False)
    world.stand(6.2, 4.2, math.pi / 2)
    assert world.refused("[LookAt] cloth").code == "NOT_VISIBLE"
    world.ok("[Scan]")
    assert "cloth_1" in world.engine.perception.seen
    assert {"cloth_1"} <= {e.obj for e in world.happened("seen")}
    world.ok("[LookAt] cloth")


def test_wait_lets_time_pass_and_nothing_else(world: World) -> None:
    outcome = world.ok("[Wait] 3")
    assert outcome.duration_s == pytest.approx(3.0, abs=0.08)
    assert world.ok("[Idle]").duration_s == pytest.approx(2.0, abs=0.08)


# ---------------------------------------------------------------------- reading


def test_read_walks_up_and_exposes_the_text_that_shows(world: World) -> None:
    world.stand(7.3, 2.4, -1.57).ok("[Read] notice board")
    assert [(e.obj, e.detail["text"]) for e in world.happened("exposed_text")] == [
        ("notice_board_1", "NOTICE\nWash hands first")
    ]


def test_read_in_the_hand_shows_every_face_to_the_eyes(world: World) -> None:
    world.ok("[Walk] display table", "[Grab] carton on the display table", "[Inspect] axo carton")
    exposed = world.happened("exposed_text")
    assert [e.detail["face"] for e in exposed] == ["front"]
    close_ups = [e for e in world.events if isinstance(e, FrameCaptured)][-4:-1]
    assert len(close_ups) == 3
    assert world.attr("carton_1", "held") is True


def test_a_book_read_where_it_lies(world: World) -> None:
    world.ok("[Walk] shelf", "[Read] book")
    assert world.happened("exposed_text")[0].detail["text"] == "GARDEN"
