"""Reading where a thing is: from here, from nearer, bent down; and each reason why not."""

from __future__ import annotations

import math

import pytest

from iwreplay.actions.angles import heading
from iwreplay.actions.scope import NEAR_M
from iwreplay.body import key_poses
from iwreplay.events import BodyPosed, Happened
from iwreplay.pose import Pose, compose, inverse, transform_point
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import faces_of, thing_box, thing_of
from tests.actions.proving import World


def _eye_to_face_m(world: World, thing: str) -> float:
    """The least distance of the eyes from a thing's first face during the last command."""
    started = world.events[-1].started_s  # type: ignore[attr-defined]
    face = next(iter(faces_of(thing_of(world.state, thing), world.state))).pose[:3]
    bodies = [e.values for e in world.events if isinstance(e, BodyPosed) and e.sim_time_s >= started]
    return min(math.dist(key_poses(b).camera[:3], face) for b in bodies)


def _before_the_shelf(world: World, back_m: float) -> World:
    world.ok("[Walk] jar")
    x, y, *_ = world.state.body
    fx, fy = world.state.poses["shelf_1"][:2]
    away = math.hypot(x - fx, y - fy)
    yaw = math.atan2(fy - y, fx - x)
    return world.stand(x + back_m * (x - fx) / away, y + back_m * (y - fy) / away, yaw)


def test_letters_too_small_from_here_are_read_from_nearer(world: World) -> None:
    _before_the_shelf(world, 0.7)
    assert world.ok("[Read] jar").distance_m > 0.05
    assert world.happened("exposed_text")[-1].detail["text"] == "SALT"
    assert _eye_to_face_m(world, "jar_1") <= 0.009 / 0.012 + 0.01


def test_large_letters_are_read_from_where_one_stands(world: World) -> None:
    assert world.stand(6.2, 2.2, -math.pi / 2).ok("[Read] used bin").distance_m == 0.0


def test_a_reader_bends_down_when_that_helps_and_stands_up_again(world: World) -> None:
    world.place("price_card_1", "shelf_1.lower").settle().look_around()
    world.ok("[Walk] shelf", "[Read] price card")
    heights = [key_poses(e.values).camera[2] for e in world.events if isinstance(e, BodyPosed)]
    assert min(heights[-40:]) < 1.3 < heights[-1]
    assert world.attr(WEARER, "posture") == "stand"


def test_letters_too_small_even_from_close_by_are_told_from_hidden_ones(world: World) -> None:
    world.place("jar_1", "floor", 6.0, 4.4).settle().look_around().stand(6.0, 3.6, math.pi / 2)
    small = world.refused("[Read] jar")
    assert (small.code, small.blocker) == ("TOO_FAR", "jar_1")
    assert small.sentence == "The writing on the jar is too small to read from here; I have to pick it up."
    world.ok("[Grab] jar", "[Read] jar")
    assert world.happened("exposed_text")[-1].detail["text"] == "SALT"


def test_writing_that_faces_a_wall_is_told_so(world: World) -> None:
    world.place("jar_1", "shelf_1.middle", -0.25, 0.0, math.pi).settle().look_around()
    away = world.ok("[Walk] jar") and world.refused("[Read] jar")
    assert (away.code, away.sentence) == (
        "OCCLUDED",
        "The writing on the jar faces away from me; I have to pick it up.",
    )


def test_a_reader_steps_aside_of_what_hides_the_writing(world: World) -> None:
    world.place("price_card_1", "shelf_1.middle", 0.0, 0.08)
    world.place("milk_carton_1", "shelf_1.middle", 0.0, -0.04).settle().look_around()
    assert world.ok("[Walk] shelf", "[Read] price card").distance_m > 0.0


def test_what_hides_the_writing_is_named(world: World) -> None:
    world.ok("[Walk] jar")
    world.engine._planner.on_line_of_sight = lambda state, thing, point: "box_1"  # type: ignore[method-assign]
    hidden = world.refused("[Read] jar")
    assert (hidden.code, hidden.blocker) == ("OCCLUDED", "box_1")
    assert hidden.sentence == "The box hides the writing on the jar."


def test_a_reader_goes_around_the_table_to_a_card_that_faces_the_other_side(world: World) -> None:
    world.place("price_card_1", "table_1.top", 0.0, 0.0, math.pi).settle().look_around()
    outcome = world.stand(6.2, 1.875, math.pi / 2).ok("[Read] price card")
    # farther than what is near elsewhere
    assert outcome.distance_m > NEAR_M
    assert world.happened("exposed_text")[-1].detail["text"] == "12.50"


def test_what_could_be_read_after_a_walk_is_too_far(world: World) -> None:
    far = world.stand(8.5, 2.6, math.pi).refused("[Read] jar")
    assert (far.code, far.sentence) == ("TOO_FAR", "The jar is too far away to read; I have to walk there first.")


def test_a_seated_reader_says_what_is_wrong(world: World) -> None:
    world.place("book_1", "dining_table_1.top", 0.35, 0.25).settle().look_around()
    world.ok("[Walk] chair", "[Sit] chair")
    assert world.refused("[Read] jar").code in ("TOO_FAR", "OCCLUDED")


def in_hand(world: World, thing: str) -> Pose:
    """hand_from_thing."""
    return compose(inverse(key_poses(world.state.body).right_hand), world.state.poses[thing])


def test_what_is_read_in_the_hand_is_held_by_its_edge_and_looked_at_afterwards(world: World) -> None:
    world.place("price_card_1", "shelf_1.middle").settle().look_around()
    for words, thing in (("jar", "jar_1"), ("price card", "price_card_1")):
        world.ok(f"[Walk] {words}", f"[Grab] {words}")
        carried, since = in_hand(world, thing), len(world.events)
        world.ok(f"[Read] {words}")
        state, card, away = world.base.state.copy(), thing_of(world.state, thing), 0.0
        for n, event in enumerate(world.events):
            state.apply(event)
            if n > since and isinstance(event, Happened) and event.what == "exposed_text":
                palm = transform_point(inverse(thing_box(card, state).pose), key_poses(state.body).right_hand[:3])
                beyond = (max(0.0, abs(p) - h) for p, h in zip(palm, thing_box(card, state).half, strict=True))
                away = max(away, math.hypot(*beyond))
                face = next(f for f in faces_of(card, state) if f.name == event.detail["face"])
                x, y, z = transform_point(inverse(key_poses(state.body).camera), face.pose[:3])
                assert math.hypot(x, y) < 0.01, "the face is not straight before the eyes"
                assert -0.6 < z < -0.3
        assert 0.0 <= away < 0.02, f"the hand is {away:.3f} m beside {thing}"
        x, y, z = transform_point(inverse(key_poses(world.state.body).camera), thing_box(card, world.state).pose[:3])
        assert math.hypot(x, y) < -0.35 * z, "the eyes left it"
        assert in_hand(world, thing) == pytest.approx(carried, abs=1e-6)
        world.ok(f"[Drop] {words}")


def test_one_turns_to_where_there_is_room_to_hold_it_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.settle().look_around()
    world.ok("[Walk] jar", "[Grab] jar")
    before = heading(world.state)
    # at the shelf there is a board where it would be held
    world.ok("[Read] jar")
    turned = heading(world.state)
    assert abs(turned - before) == pytest.approx(math.radians(30.0), abs=1e-6)
    # where there is room, nobody turns
    world.ok("[Read] jar")
    assert heading(world.state) == pytest.approx(turned, abs=1e-6)
    monkeypatch.setattr(world.sim, "overlap_box", lambda *args, **more: ("shelf_1",))
    refused = world.refused("[Read] jar")
    assert (refused.code, refused.blocker) == ("OCCLUDED", "shelf_1")
    assert refused.sentence == "I have no room to hold the jar before my eyes: the shelf is in the way."
