"""Machines, boxes with lids, bags, panes and long tools of the library, used the way that tasks use them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from iwreplay.scene.files import SCENE_FORMAT, FurnitureSpec, RoomSpec, SceneFile
from iwreplay.scene.loader import compile_scene
from iwreplay.taskpack.model import Placement
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World


def _hall(furniture: Sequence[FurnitureSpec], objects: Sequence[Placement]) -> World:
    """A room with a counter, a table, and what a test brings."""
    hall = SceneFile(
        format=SCENE_FORMAT,
        id="hall",
        spawn=(3.0, 2.0, 0.0),
        rooms=(RoomSpec(id="hall", nouns=("hall",), rect=(0, 0, 8, 5)),),
        furniture=(
            FurnitureSpec(id="counter_1", cls="counter", pos=(2.0, 4.6), params={"w": 1.6}),
            FurnitureSpec(id="table_1", cls="table", pos=(5.5, 2.0)),
            *furniture,
        ),
    )
    return World(Base(compile_scene(hall, tuple(objects)), MujocoSimulator()))


def test_a_meal_is_heated_in_the_microwave() -> None:
    world = _hall(
        [FurnitureSpec(id="microwave_1", cls="microwave", pos=(2.0, 4.62, 0.9))],
        [
            Placement(id="plate_1", cls="plate", at="table_1.top"),
            Placement(id="lasagne_1", cls="lasagne", at="plate_1.top"),
        ],
    )
    world.ok("[Walk] plate", "[Grab] plate", "[Walk] microwave", "[Open] microwave", "[PutIn] plate, microwave")
    world.ok("[Close] microwave", "[SwitchOn] microwave", "[Wait] 45")
    assert world.attr("lasagne_1", "cooked") == "cooked"
    assert world.attr("microwave_1", "running") is False


def test_a_dishwasher_slides_out_and_washes() -> None:
    world = _hall(
        [FurnitureSpec(id="dishwasher_1", cls="dishwasher", pos=(4.4, 4.6))],
        [Placement(id="mug_1", cls="mug", at="table_1.top", attrs={"clean": False})],
    )
    world.ok("[Walk] dishwasher", "[Open] dishwasher", "[Walk] mug", "[Grab] mug", "[Walk] dishwasher")
    world.ok("[PutIn] mug, dishwasher", "[Close] dishwasher", "[SwitchOn] dishwasher", "[Wait] 95")
    assert world.attr("mug_1", "clean") is True


def test_each_burner_of_a_gas_hob_is_a_burner_of_its_own() -> None:
    world = _hall([FurnitureSpec(id="hob_1", cls="gas_hob", pos=(2.0, 4.62, 0.9))], [])
    world.ok("[Walk] hob", "[SwitchOn] back left burner", "[SwitchOn] front right burner")
    world.ok("[SwitchOff] back left burner")
    lit = [p for p in ("front_left", "front_right", "back_left", "back_right") if world.attr(f"hob_1_{p}", "on")]
    assert lit == ["front_right"]


def test_pills_go_from_their_bottle_into_the_cells() -> None:
    world = _hall(
        [FurnitureSpec(id="box_1", cls="pill_box", pos=(5.5, 1.85, 0.74))],
        [
            Placement(id="bottle_1", cls="pill_bottle", at="table_1.top", pos=(-0.4, -0.1)),
            Placement(id="pill_1", cls="pill", at="bottle_1.main"),
        ],
    )
    world.ok("[Walk] pill box", "[Open] noon cell", "[Open] pill bottle", "[Grab] capsule")
    world.ok("[PutIn] capsule, noon cell", "[Close] noon cell", "[Read] noon cell")
    assert world.attr("pill_1", "parent") == "in:box_1_noon.main"
    assert world.happened("exposed_text")[-1].detail["text"] == "NOON"


def test_the_espresso_machine_gives_its_tray_and_has_its_wand_wiped() -> None:
    world = _hall(
        [FurnitureSpec(id="coffee_1", cls="coffee_machine", pos=(2.0, 4.65, 0.9))],
        [Placement(id="cloth_1", cls="wiping_cloth", at="table_1.top")],
    )
    world.set("coffee_1_wand", clean=False)
    world.ok("[Walk] coffee machine", "[Grab] drip tray", "[Walk] table", "[PutOn] drip tray, table")
    world.ok("[Grab] drip tray", "[Walk] coffee machine", "[PutOn] drip tray, coffee machine")
    assert world.attr("coffee_1_tray", "parent") == "on:coffee_1.tray_slot"
    world.ok("[Walk] cloth", "[Grab] cloth", "[Walk] steam wand", "[Wipe] steam wand")
    assert world.attr("coffee_1_wand", "clean") is True


def test_a_suitcase_is_packed_and_closed() -> None:
    world = _hall(
        [],
        [
            Placement(id="case_1", cls="suitcase", at="floor", pos=(3.0, 1.0)),
            Placement(id="shirt_1", cls="shirt", at="table_1.top"),
            Placement(id="shoes_1", cls="shoes", at="table_1.top", pos=(-0.4, 0.0)),
        ],
    )
    world.ok("[Walk] suitcase", "[Open] suitcase")
    for thing in ("shirt", "shoes"):
        world.ok(f"[Walk] {thing}", f"[Grab] {thing}", "[Walk] suitcase", f"[PutIn] {thing}, suitcase")
    world.ok("[Close] suitcase")


def test_a_passport_comes_out_of_a_hanging_coat() -> None:
    world = _hall(
        [FurnitureSpec(id="rack_1", cls="coat_rack", pos=(2.0, 4.815, 1.45))],
        [
            Placement(id="coat_1", cls="overcoat", at="rack_1.hook_2"),
            Placement(id="passport_1", cls="passport", at="coat_1.pocket"),
            Placement(id="pouch_1", cls="pouch", at="table_1.top", attrs={"open": True}),
        ],
    )
    world.ok("[Walk] coat rack", "[Grab] passport", "[Walk] pouch", "[PutIn] passport, pouch", "[Close] pouch")
    assert world.attr("coat_1", "parent") == "on:rack_1.hook_2"


def test_a_label_is_read_through_a_closed_glass_door_but_not_taken_out() -> None:
    world = _hall(
        [FurnitureSpec(id="glass_1", cls="glass_cabinet", pos=(4.4, 4.7))],
        [Placement(id="jar_1", cls="spice_jar", at="glass_1.middle", texts={"front": "SAFFRON"})],
    )
    world.ok("[Walk] glass cabinet", "[LookAt] spice jar", "[Read] spice jar")
    assert world.happened("exposed_text")[-1].detail["text"] == "SAFFRON"
    assert world.attr("glass_1", "open") is False
    assert world.refused("[Grab] spice jar").code == "CLOSED"


@pytest.mark.parametrize("cls", ["cabinet", "wardrobe"])
def test_a_label_behind_a_wooden_door_is_not_read(cls: str) -> None:
    world = _hall(
        [FurnitureSpec(id="wood_1", cls=cls, pos=(4.4, 4.65))],
        [Placement(id="jar_1", cls="spice_jar", at="wood_1.shelf", texts={"front": "SAFFRON"})],
    )
    world.ok("[Walk] spice jar")
    assert world.refused("[Read] spice jar").code == "OCCLUDED"


def test_a_mop_wipes_the_floor_from_its_handle() -> None:
    world = _hall(
        [],
        [
            Placement(id="mop_1", cls="mop", at="floor", pos=(3.0, 1.0)),
            Placement(id="spill_1", cls="spill", at="floor", pos=(4.0, 3.2)),
        ],
    )
    world.ok("[Walk] mop", "[Grab] mop", "[Walk] spill", "[Wipe] spill")
    assert world.attr("spill_1", "exists") is False


def test_a_screen_is_read_while_it_is_on() -> None:
    world = _hall(
        [FurnitureSpec(id="desk_1", cls="desk", pos=(4.4, 4.5))],
        [Placement(id="scale_1", cls="scale", at="desk_1.top", texts={"display": "412 g"})],
    )
    world.ok("[Walk] scale")
    dark = world.refused("[Read] scale")
    assert dark.code == "NO_AFFORDANCE"
    assert dark.sentence == "I can't read the scale; nothing can be seen on it now."
    world.ok("[SwitchOn] scale", "[Read] scale")
    assert world.happened("exposed_text")[-1].detail["text"] == "412 g"
