"""What the hand does to things: take, put, throw away, push, wear, touch."""

from __future__ import annotations

import math

import pytest

from iwreplay.events import Contact
from iwreplay.pose import rotate
from iwreplay.vocabulary import WEARER
from iwreplay.world.relations import holds
from tests.actions.proving import World


def test_grab_takes_into_the_hand(world: World) -> None:
    outcome = world.ok("[Walk] blue mug", "[Grab] blue mug")
    assert (outcome.obj, world.attr(WEARER, "held"), world.attr("mug_1", "held")) == ("mug_1", "mug_1", True)
    assert world.attr("mug_1", "parent") == "held"
    assert holds(world.state, "attached", "mug_1", WEARER)
    assert world.engine.perception.proprioception()["holding"] == "blue mug"


def test_a_carried_thing_stays_upright_and_in_the_hand(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[Walk] washing machine")
    up = rotate(world.state.poses["mug_1"][3:], (0.0, 0.0, 1.0))
    assert up[2] > 0.99
    assert math.dist(world.state.poses["mug_1"][:2], world.state.body[:2]) < 0.7


def test_put_on_stands_on_the_surface_beside_what_is_there(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[Walk] work table")
    outcome = world.ok("[PutOn] mug, work table")
    assert (outcome.obj, outcome.dest) == ("mug_1", "table_1")
    assert holds(world.state, "ontop", "mug_1", "table_1")
    assert (world.attr("mug_1", "parent"), world.attr(WEARER, "held")) == ("on:table_1.top", "")
    for other in ("cloth_1", "phone_1", "key_1"):
        assert not holds(world.state, "touching", "mug_1", other)


@pytest.mark.parametrize("where", [(6.0, 4.0, 0.0), (6.0, 4.0, 2.0), (2.0, 5.5, -1.6)])
def test_a_dropped_broom_does_not_stay_standing(world: World, where: tuple[float, float, float]) -> None:
    world.ok("[Walk] broom", "[Grab] broom")
    world.stand(*where).ok("[Drop] broom")
    world.settle(1.0)
    up = rotate(world.state.poses["broom_1"][3:], (0.0, 0.0, 1.0))
    assert up[2] < 0.7
    world.ok("[Walk] broom", "[Grab] broom")


def test_put_on_the_floor_and_in_what_is_carried(world: World) -> None:
    world.ok("[Walk] apple", "[Grab] bowl", "[PutOn] bowl, floor")
    assert world.attr("bowl_1", "parent") == "floor"
    assert holds(world.state, "inside", "apple_1", "bowl_1")


def test_a_held_plate_carries_its_food(world: World) -> None:
    world.place("apple_1", "plate_1.top").settle()
    world.ok("[Walk] dining table", "[Grab] left plate", "[Walk] service pass")
    assert holds(world.state, "ontop", "apple_1", "plate_1")
    assert math.dist(world.state.poses["apple_1"][:3], world.state.poses["plate_1"][:3]) < 0.1
    world.ok("[PutOn] plate, service pass")
    assert holds(world.state, "ontop", "plate_1", "service_pass_1")
    assert holds(world.state, "ontop", "apple_1", "plate_1")


def test_put_inside_a_cabinet_a_drawer_and_a_bowl(world: World) -> None:
    world.ok("[Walk] top drawer", "[Open] top drawer", "[Grab] pen", "[Walk] bowl", "[PutInside] pen, bowl")
    assert holds(world.state, "inside", "pen_1", "bowl_1")
    world.ok("[Walk] top drawer", "[Close] top drawer", "[Open] middle drawer", "[Walk] bowl", "[Grab] pen")
    world.ok("[Walk] middle drawer", "[PutInside] pen, middle drawer")
    assert holds(world.state, "inside", "pen_1", "drawer_unit_1_middle")
    world.ok("[Grab] pen", "[Walk] fridge")
    world.ok("[Open] fridge", "[PutIn] pen, fridge")
    assert holds(world.state, "inside", "pen_1", "fridge_1")


def test_put_on_a_named_shelf(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[Walk] shelf", "[PutOn] mug, lower shelf of the shelf")
    assert holds(world.state, "ontop", "mug_1", "shelf_1.lower")


def test_what_lies_in_the_way_of_a_second_one_gets_its_own_place(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[PutOn] mug, dining table")
    world.ok("[Grab] red mug", "[PutOn] mug, dining table")
    assert math.dist(world.state.poses["mug_1"][:2], world.state.poses["mug_2"][:2]) > 0.08


def test_drop_falls_and_a_fragile_thing_breaks(world: World) -> None:
    world.ok("[Walk] glass", "[Grab] glass")
    world.stand(6.0, 4.0).ok("[Drop] glass")
    assert world.attr("glass_1", "parent") == "floor"
    assert world.state.poses["glass_1"][2] < 0.1
    assert world.happened("fell")[0].detail["height_m"] > 0.5  # type: ignore[operator]
    assert (world.attr("glass_1", "broken"), [e.obj for e in world.happened("broke")]) == (True, ["glass_1"])


def test_what_is_on_a_dropped_tray_falls_with_it(world: World) -> None:
    world.place("glass_1", "tray_1.top").settle().look_around()
    world.ok("[Walk] tray", "[Grab] tray")
    world.stand(6.0, 4.0).ok("[Drop] tray")
    assert {e.obj for e in world.happened("fell")} == {"tray_1", "glass_1"}
    assert world.attr("glass_1", "broken") is True


def test_drop_of_a_sponge_breaks_nothing(world: World) -> None:
    world.ok("[Walk] sponge", "[Grab] sponge", "[Drop] sponge")
    assert world.happened("broke") == []
    assert world.attr(WEARER, "held") == ""


def test_discard_is_in_the_bin_for_good(world: World) -> None:
    world.ok("[Walk] tomato", "[Grab] tomato", "[Walk] trash bin", "[Discard] tomato, trash bin")
    assert holds(world.state, "inside", "tomato_1", "trash_bin_1")
    assert world.attr("tomato_1", "discarded") is True
    assert [(e.obj, e.dest) for e in world.happened("discard")] == [("tomato_1", "trash_bin_1")]
    world.ok("[Grab] tomato")
    assert world.attr("tomato_1", "discarded") is False


@pytest.mark.parametrize(("verb", "sign"), [("Push", 1.0), ("Slide", 1.0), ("Pull", -1.0)])
def test_push_moves_along_the_support(world: World, verb: str, sign: float) -> None:
    world.place("carton_1", "table_1.top", 0.0, 0.1).settle().look_around()
    world.stand(6.2, 1.85, math.pi / 2)
    before = world.state.poses["carton_1"]
    world.ok(f"[{verb}] carton on the work table, 0.08")
    after = world.state.poses["carton_1"]
    assert after[1] - before[1] == pytest.approx(sign * 0.08, abs=0.02)
    assert abs(after[0] - before[0]) < 0.02
    assert holds(world.state, "ontop", "carton_1", "table_1")


def test_wear_and_take_off(world: World) -> None:
    world.stand(11.0, 2.4).ok("[Walk] hat", "[Grab] hat", "[Wear] hat")
    assert (world.attr("hat_1", "worn"), world.attr("hat_1", "parent"), world.attr(WEARER, "held")) == (
        True,
        "worn",
        "",
    )
    world.ok("[Walk] sofa")
    assert world.engine.perception.proprioception()["wearing"] == "hat"
    assert math.dist(world.state.poses["hat_1"][:2], world.state.body[:2]) < 0.5
    world.ok("[TakeOff] hat")
    assert (world.attr("hat_1", "worn"), world.attr(WEARER, "held")) == (False, "hat_1")


def test_what_is_worn_gives_way_to_a_door(world: World) -> None:
    """As a long coat does that hangs where it swings; here a bucket, for want of one."""
    world.place("bucket_1", "floor", 0.8, 0.85).settle().look_around().stand(1.0, 1.7, -math.pi / 2)
    refused = world.refused("[Open] nearest cabinet")
    assert (refused.code, refused.blocker) == ("BLOCKED", "bucket_1")
    world.state.attrs["bucket_1"]["worn"] = True
    world.ok("[Open] nearest cabinet")


def test_touch_with_the_hand_and_with_what_it_holds(world: World) -> None:
    world.ok("[Walk] phone", "[Touch] phone")
    world.ok("[Grab] cloth", "[Touch] phone")
    touched = world.happened("touch")
    assert [(e.obj, e.tool) for e in touched] == [("phone_1", ""), ("phone_1", "cloth_1")]
    pairs = [(e.a, e.b) for e in world.events if isinstance(e, Contact)]
    assert ("phone_1", WEARER) in pairs
    assert ("cloth_1", "phone_1") in pairs


def test_placing_records_the_new_contact(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[Walk] work table", "[PutOn] mug, work table")
    assert ("mug_1", "table_1") in [(e.a, e.b) for e in world.events if isinstance(e, Contact)]
