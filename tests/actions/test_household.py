"""Opening, locking, switching, plugging, cooking, pouring, cleaning and telephoning, done."""

from __future__ import annotations

import math

import pytest

from iwreplay.body import key_poses
from iwreplay.events import BodyPosed, FrameCaptured, PosesSampled
from iwreplay.pose import compose, inverse, rotate, transform_point
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import surface_at, thing_of
from iwreplay.world.relations import holds
from tests.actions.proving import World

# ---------------------------------------------------------------------- doors, drawers, lids, locks


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        ("fridge_1", "fridge"),
        ("cabinet_1", "cabinet beside the service pass"),
        ("drawer_unit_1_top", "top drawer"),
        ("oven_1", "oven"),
        ("washing_machine_1", "washing machine"),
        ("pedal_bin_1", "pedal bin"),
        ("box_1", "left box"),
        ("window_1", "window"),
        ("curtain_1", "curtain"),
        ("door_1", "side door"),
        ("wall_cabinet_1", "wall cabinet"),
    ],
)
def test_open_and_close_drive_the_joints(world: World, thing: str, name: str) -> None:
    if thing == "cabinet_1":
        world.stand(0.9, 1.3, -1.57)
        name = "nearest cabinet"
    elif thing == "box_1":
        world.ok("[Walk] display table")
    else:
        world.ok(f"[Walk] {name}")
    joints = [j for j in world.state.joints if j.startswith(f"{thing}.")]
    world.ok(f"[Open] {name}")
    assert world.attr(thing, "open") is True
    opened = {j: world.state.joints[j] for j in joints}
    assert all(abs(p) > 0.05 for p in opened.values())
    world.ok(f"[Close] {name}")
    assert world.attr(thing, "open") is False
    assert all(abs(world.state.joints[j]) < 0.03 for j in joints)


def test_what_is_in_a_drawer_rides_along(world: World) -> None:
    before = world.state.poses["pen_1"]
    world.ok("[Walk] top drawer", "[Open] top drawer")
    assert math.dist(world.state.poses["pen_1"][:3], before[:3]) > 0.15
    assert holds(world.state, "inside", "pen_1", "drawer_unit_1_top")
    world.ok("[Close] top drawer")
    assert math.dist(world.state.poses["pen_1"][:3], before[:3]) < 0.02
    assert holds(world.state, "inside", "pen_1", "drawer_unit_1_top")
    assert world.refused("[Grab] pen").code == "CLOSED"


def test_a_jar_is_opened_and_unsealed_without_joints(world: World) -> None:
    world.set("jar_1", sealed=True)
    world.ok("[Walk] jar", "[Open] jar")
    assert (world.attr("jar_1", "open"), world.attr("jar_1", "sealed")) == (True, False)
    world.ok("[Grab] jar", "[Close] jar")
    assert world.attr("jar_1", "open") is False


def test_lock_and_unlock_with_the_key_in_the_hand(world: World) -> None:
    world.ok("[Walk] key", "[Grab] key", "[Walk] side door", "[Lock] side door")
    assert world.attr("door_1", "locked") is True
    assert world.refused("[Open] side door").code == "LOCKED"
    outcome = world.ok("[Unlock] side door")
    assert (world.attr("door_1", "locked"), outcome.tool) == (False, "key_1")


# ---------------------------------------------------------------------- devices


def test_a_machine_starts_a_new_cycle_each_time_and_ends_by_itself(world: World) -> None:
    world.place("towel_1", "washing_machine_1.drum").set("towel_1", clean=False).look_around()
    world.ok("[Walk] washing machine", "[Start] washing machine")
    assert [world.attr("washing_machine_1", a) for a in ("on", "running", "cycle")] == [True, True, 1]
    assert world.refused("[Open] washing machine").code == "RUNNING"
    world.ok("[Stop] washing machine", "[Press] washing machine")
    assert world.attr("washing_machine_1", "cycle") == 2
    world.ok("[Wait] 92")
    assert (world.attr("washing_machine_1", "running"), world.attr("towel_1", "clean")) == (False, True)
    ended = world.happened("cycle_ended")
    assert [(e.detail["cycle"], e.detail["finished"]) for e in ended] == [(1, False), (2, True)]


def test_switch_on_and_off(world: World) -> None:
    world.ok("[Walk] light switch", "[SwitchOff] light switch")
    assert world.attr("light_switch_1", "on") is False
    world.ok("[TurnOn] light switch")
    assert world.attr("light_switch_1", "on") is True


def test_plug_in_gives_power_and_plug_out_takes_it(world: World) -> None:
    world.ok(
        "[Walk] lamp on the desk",
        "[PlugIn] power strip, wall socket near the desk",
        "[PlugIn] lamp on the desk, power strip",
    )
    assert (world.attr("lamp_1", "plugged"), world.attr("lamp_1", "powered")) == ("power_strip_1", True)
    assert world.attr("power_strip_1", "load_a") == pytest.approx(0.2)
    world.ok("[SwitchOn] lamp on the desk", "[PlugOut] lamp on the desk")
    assert (world.attr("lamp_1", "on"), world.attr("lamp_1", "powered"), world.attr("power_strip_1", "load_a")) == (
        False,
        False,
        0.0,
    )


# ---------------------------------------------------------------------- food


def test_cut_shows_what_was_hidden_and_soils_knife_and_board(world: World) -> None:
    world.place("bread_1", "cutting_board_1.top").settle().look_around()
    world.ok("[Walk] knife", "[Grab] knife", "[Slice] bread")
    assert [world.attr("bread_1", a) for a in ("cut", "mold_exposed")] == [True, True]
    assert [world.attr("knife_1", a) for a in ("used", "clean")] == [True, False]
    assert world.attr("cutting_board_1", "clean") is False
    assert [(e.obj, e.tool) for e in world.happened("cut")] == [("bread_1", "knife_1")]


def test_cook_plate_and_serve(world: World) -> None:
    world.ok("[Walk] tomato", "[Grab] tomato", "[Walk] cooktop", "[PutInside] tomato, frying pan", "[SwitchOn] cooktop")
    outcome = world.ok("[Cook] tomato")
    assert [world.attr("tomato_1", a) for a in ("cooked", "browned", "hot")] == ["cooked", True, True]
    assert 15.0 < outcome.duration_s < 25.0
    world.ok(
        "[SwitchOff] cooktop",
        "[Walk] left plate",
        "[Grab] left plate",
        "[Walk] prep counter",
        "[PutOn] plate, prep counter",
    )
    assert world.refused("[Plate] tomato, plate on the prep counter").code == "NO_TOOL"
    world.ok("[Grab] spatula", "[Serve] tomato, plate on the prep counter")
    assert world.attr("tomato_1", "plated_on") == "plate_1"
    assert holds(world.state, "ontop", "tomato_1", "plate_1")
    assert world.attr(WEARER, "held") == "spatula_1"
    world.ok(
        "[PutOn] spatula, prep counter",
        "[Grab] plate on the prep counter",
        "[Walk] service pass",
        "[PutOn] plate, service pass",
    )
    assert holds(world.state, "ontop", "tomato_1", "plate_1")


def test_cook_for_too_long_burns(world: World) -> None:
    world.place("tomato_1", "pan_1.main").settle().look_around()
    world.ok("[Walk] cooktop", "[SwitchOn] cooktop", "[Fry] tomato, 70")
    assert world.attr("tomato_1", "cooked") == "burnt"


def test_the_frames_of_a_long_command_show_the_change(world: World) -> None:
    world.place("tomato_1", "pan_1.main").settle().look_around()
    world.ok("[Walk] cooktop", "[SwitchOn] cooktop", "[Cook] tomato, 40")
    frames = [e for e in world.events if isinstance(e, FrameCaptured)][-4:]
    cooked = next(d for d in world.deltas("tomato_1", "cooked") if d.new == "cooked")
    assert frames[0].sim_time_s < cooked.sim_time_s < frames[3].sim_time_s


def test_plate_cold_food_with_the_hand_and_from_the_hand(world: World) -> None:
    world.ok("[Walk] apple", "[Plate] apple, left plate")
    assert holds(world.state, "ontop", "apple_1", "plate_1")
    world.ok("[Grab] apple")
    assert world.attr("apple_1", "plated_on") == ""
    world.ok("[Plate] apple, left plate")
    assert (world.attr("apple_1", "plated_on"), world.attr(WEARER, "held")) == ("plate_1", "")


# ---------------------------------------------------------------------- liquids


def test_fill_pour_and_empty(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[Walk] sink", "[SwitchOn] tap", "[Fill] blue mug, tap")
    assert world.attr("mug_1", "contains") == {"water": 0.35}
    world.ok("[SwitchOff] tap", "[Walk] glass", "[Pour] mug, glass")
    assert world.attr("glass_1", "contains") == {"water": 0.3}
    assert world.attr("mug_1", "contains") == {"water": 0.05}
    poured = world.happened("pour")[0]
    assert (poured.obj, poured.dest, poured.detail) == ("mug_1", "glass_1", {"liquid": "water", "litres": 0.3})
    world.ok("[Walk] sink", "[Empty] mug, sink")
    assert world.attr("mug_1", "contains") == {}
    world.ok("[PutInside] mug, sink", "[SwitchOn] tap", "[Wait] 5")
    assert world.attr("mug_1", "contains") == {"water": 0.35}


def test_pour_keeps_the_mixture(world: World) -> None:
    world.set("mug_1", contains={"milk": 0.1, "tea": 0.2}).set("glass_1", contains={"water": 0.15})
    world.ok("[Walk] blue mug", "[Grab] blue mug", "[Pour] mug, glass")
    assert world.attr("glass_1", "contains") == pytest.approx({"milk": 0.05, "tea": 0.1, "water": 0.15})
    assert world.attr("mug_1", "contains") == pytest.approx({"milk": 0.05, "tea": 0.1})


def test_empty_loose_things_into_the_bin(world: World) -> None:
    world.place("crumbs_1", "dustpan_1.main").settle().look_around()
    world.ok("[Walk] dustpan", "[Grab] dustpan", "[Walk] trash bin", "[Empty] dustpan, trash bin")
    assert world.attr("crumbs_1", "discarded") is True
    assert holds(world.state, "inside", "crumbs_1", "trash_bin_1")


def test_soak_a_cloth(world: World) -> None:
    world.ok("[Walk] cloth", "[Grab] cloth", "[Walk] bucket", "[Soak] cloth, bucket")
    assert (world.attr("cloth_1", "soaked"), world.attr("cloth_1", "wet")) == (True, True)


# ---------------------------------------------------------------------- cleaning


def test_wash_under_the_running_tap(world: World) -> None:
    world.ok("[Walk] red mug", "[Grab] red mug", "[Walk] sink", "[SwitchOn] tap", "[Wash] red mug")
    assert (world.attr("mug_2", "clean"), world.attr("mug_2", "wet")) == (True, True)
    assert [(e.obj, e.dest) for e in world.happened("wash")] == [("mug_2", "sink_1")]


def test_wash_what_lies_in_the_sink(world: World) -> None:
    world.place("mug_2", "sink_1.basin").settle().look_around()
    world.ok("[Walk] sink", "[SwitchOn] tap", "[Scrub] red mug, sink")
    assert world.attr("mug_2", "clean") is True


def test_wipe_takes_the_spill_and_uses_the_cloth(world: World) -> None:
    world.set("table_1", clean=False, wet=True)
    world.ok("[Walk] cloth", "[Grab] cloth", "[Wipe] work table")
    assert [world.attr("table_1", a) for a in ("clean", "wet")] == [True, False]
    assert [world.attr("cloth_1", a) for a in ("used", "clean")] == [True, False]
    assert world.attr("spill_1", "exists") is False
    assert [(e.obj, e.tool) for e in world.happened("wipe")] == [("table_1", "cloth_1"), ("spill_1", "cloth_1")]
    assert world.refused("[Wipe] spill").code == "UNKNOWN_TARGET"


def test_a_wet_surface_stays_wet(world: World) -> None:
    world.set("table_1", wet=True).ok("[Wait] 60")
    assert world.attr("table_1", "wet") is True


def test_sweep_debris_onto_the_pan_and_into_the_bin(world: World) -> None:
    world.ok("[Walk] broom", "[Grab] broom", "[Walk] debris", "[Sweep] debris")
    assert holds(world.state, "inside", "crumbs_1", "dustpan_1")
    assert world.attr("broom_1", "used") is True
    assert [(e.obj, e.dest, e.tool) for e in world.happened("sweep")] == [("crumbs_1", "dustpan_1", "broom_1")]


# ---------------------------------------------------------------------- phone


def test_answer_and_hang_up_with_full_hands(world: World) -> None:
    world.ok("[Walk] cloth", "[Grab] cloth")
    world.set("phone_1", ringing=True).ok("[AnswerPhone] phone")
    assert (world.attr("phone_1", "ringing"), world.attr("phone_1", "on_call")) == (False, True)
    assert [e.what for e in world.events if getattr(e, "what", "").startswith("ring")] == [
        "ring_started",
        "ring_stopped",
    ]
    world.ok("[HangUp] phone")
    assert world.attr("phone_1", "on_call") is False


def test_answer_a_phone_in_the_hand(world: World) -> None:
    world.ok("[Walk] phone", "[Grab] phone")
    world.set("phone_1", ringing=True).ok("[AnswerPhone] phone", "[HangUp] phone")
    assert world.attr("phone_1", "held") is True


# ---------------------------------------------------------------------- how it looks


def test_the_mouth_of_a_pouring_bottle_is_over_the_glass(world: World) -> None:
    world.ok("[Walk] water bottle", "[Grab] water bottle", "[Walk] glass", "[Pour] water bottle, glass")
    started = world.events[-1].started_s  # type: ignore[attr-defined]
    state = world.base.state.copy()
    best = math.inf
    for event in world.events:
        state.apply(event)
        if isinstance(event, PosesSampled) and event.sim_time_s > started:
            tilt = rotate(state.poses["water_bottle_1"][3:], (0.0, 0.0, 1.0))[2]
            if tilt < 0.3:
                owner = thing_of(state, "water_bottle_1")
                mouth = transform_point(state.poses["water_bottle_1"], (0.0, 0.0, 2 * owner.bounds_half[2]))
                best = min(best, math.dist(mouth[:2], state.poses["glass_1"][:2]))
    assert best < 0.06
    upright = rotate(world.state.poses["water_bottle_1"][3:], (0.0, 0.0, 1.0))[2]
    assert upright > 0.99


def test_a_vessel_is_filled_under_the_stream(world: World) -> None:
    world.ok(
        "[Walk] tap", "[SwitchOn] tap", "[Walk] blue mug", "[Grab] blue mug", "[Walk] sink", "[Fill] blue mug, tap"
    )
    started = world.events[-1].started_s  # type: ignore[attr-defined]
    tap = world.base.state.poses["sink_1_tap"]
    reach = next(s.pose for k in thing_of(world.state, "sink_1_tap").links for s in k.shapes if s.when.get("on"))
    stream = transform_point(tap, reach[:3])
    state = world.base.state.copy()
    near = []
    for event in world.events:
        state.apply(event)
        if isinstance(event, PosesSampled) and event.sim_time_s > started:
            near.append(math.dist(state.poses["mug_1"][:2], stream[:2]))
    assert min(near) < 0.04


def test_one_sits_where_a_wide_seat_is_free(world: World) -> None:
    world.set("door_1", open=True).place("towel_1", "bed_1.cover", 0.0, -0.4).settle(1.5).look_around()
    world.ok("[Walk] bed", "[Sit] bed")
    assert world.attr(WEARER, "sitting") == "bed_1"
    towel = world.state.poses["towel_1"]
    assert math.dist(world.state.body[:2], towel[:2]) > 0.3


def test_a_plug_prefers_a_socket_that_has_power(world: World) -> None:
    world.stand(7.2, 4.9, 1.57).ok("[PlugIn] heater")
    assert world.attr("heater_1", "plugged") == "wall_socket_1"
    world.ok("[PlugOut] heater", "[PlugIn] heater, power strip")
    no = world.refused("[SwitchOn] heater")
    assert no.sentence == "The electric heater has no power; it is plugged into the power strip, which has none."


def test_a_wiping_hand_moves(world: World) -> None:
    world.ok("[Walk] cloth", "[Grab] cloth", "[Wipe] work table")
    started = world.events[-1].started_s  # type: ignore[attr-defined]
    hands = [
        key_poses(e.values).right_hand[:2]
        for e in world.events
        if isinstance(e, BodyPosed) and started + 0.9 < e.sim_time_s < started + 2.6
    ]
    assert max(math.dist(a, b) for a in hands for b in hands) > 0.12


def test_the_eyes_are_on_the_furniture_after_a_walk(world: World) -> None:
    for name, thing, surface in (("counter", "counter_1", "top"), ("drawer unit", "drawer_unit_1", "top")):
        world.ok(f"[Walk] {name}")
        camera = key_poses(world.state.body).camera
        spot = transform_point(inverse(camera), surface_at(world.state, f"{thing}.{surface}").pose[:3])
        assert spot[2] < 0.0, name
        assert abs(spot[1] / spot[2]) < math.tan(math.radians(30.0)), name


def test_a_full_right_hand_leaves_switches_and_doors_to_the_left(world: World) -> None:
    world.ok("[Walk] cooktop", "[Grab] pot", "[Walk] sink")
    held = [compose(inverse(key_poses(world.state.body).right_hand), world.state.poses["pot_1"])[k] for k in range(3)]
    world.ok("[SwitchOn] tap")
    assert world.attr("sink_1_tap", "on") is True
    started = world.events[-1].started_s  # type: ignore[attr-defined]
    bodies = [e.values for e in world.events if isinstance(e, BodyPosed) and e.sim_time_s > started]
    tap = world.state.poses["sink_1_tap"][:3]
    assert min(math.dist(key_poses(b).left_hand[:3], tap) for b in bodies) < 0.15
    assert min(math.dist(key_poses(b).right_hand[:3], tap) for b in bodies) > 0.3
    now = compose(inverse(key_poses(world.state.body).right_hand), world.state.poses["pot_1"])
    assert now[:3] == pytest.approx(held, abs=2e-3)
    world.ok("[Walk] fridge", "[Open] fridge")
    assert world.attr(WEARER, "held") == "pot_1"
