"""Parts of furniture in words: drawers of a unit, doors, shelves, and what is on them."""

from __future__ import annotations

import pytest

from iwreplay.actions.grounding import Grounded, ground
from iwreplay.actions.perception import Perception
from iwreplay.actions.refusal import RefusedError
from iwreplay.scene.files import FurnitureSpec, RoomSpec, SceneFile
from iwreplay.scene.loader import compile_scene
from iwreplay.taskpack.model import Placement
from iwreplay.world.state import WorldState
from recorder.humans import interpret
from tests.actions.tiny import seen_whole

_ROOM = SceneFile(
    format=1,
    id="store",
    spawn=(3.0, 1.0, 90.0),
    rooms=(RoomSpec(id="store", nouns=("store",), rect=(0.0, 0.0, 9.0, 6.0)),),
    furniture=(
        FurnitureSpec(id="unit_1", cls="drawer_unit", pos=(1.2, 5.0)),
        FurnitureSpec(id="unit_2", cls="drawer_unit", pos=(2.2, 5.0)),
        FurnitureSpec(id="cabinet_1", cls="cabinet", pos=(4.0, 5.0), adjectives=("blue",)),
        FurnitureSpec(id="cabinet_2", cls="cabinet", pos=(5.5, 5.0), adjectives=("white",)),
        FurnitureSpec(id="fridge_1", cls="fridge", pos=(7.0, 5.0)),
        FurnitureSpec(id="rack_1", cls="shelf_rack", pos=(1.5, 3.0)),
        FurnitureSpec(id="rack_2", cls="shelf_rack", pos=(4.0, 3.0)),
    ),
)
_THINGS = (
    Placement(id="cup_1", cls="mug", at="rack_1.middle"),
    Placement(id="cup_2", cls="mug", at="rack_1.upper"),
    Placement(id="cup_3", cls="mug", at="rack_2.middle"),
    Placement(id="cup_4", cls="mug", at="fridge_1.upper"),
    Placement(id="cup_5", cls="mug", at="fridge_1.lower"),
    Placement(id="fork_1", cls="fork", at="unit_2_top.floor"),
)


@pytest.fixture(scope="module")
def mind() -> tuple[WorldState, Perception]:
    return seen_whole(compile_scene(_ROOM, _THINGS))


def named(mind: tuple[WorldState, Perception], text: str) -> Grounded:
    return ground(tuple(text.split()), state=mind[0], perception=mind[1])


@pytest.mark.parametrize(
    ("text", "thing", "part"),
    [
        ("top drawer of the left drawer unit", "unit_1_top", ""),
        ("the left drawer unit's top drawer", "unit_1_top", ""),
        ("left top drawer of the drawer unit", "unit_1_top", ""),
        ("top drawer of drawer unit on the left", "unit_1_top", ""),
        ("left drawer unit top drawer", "unit_1_top", ""),
        ("bottom drawer in the right drawer unit", "unit_2_bottom", ""),
        ("lower drawer of the right chest of drawers", "unit_2_bottom", ""),
        ("second drawer from the top of right drawer unit", "unit_2_middle", ""),
        ("first drawer from bottom of right drawer unit", "unit_2_bottom", ""),
        ("top of the left drawer unit", "unit_1", "top"),
        ("left door of the blue cabinet", "cabinet_1", ""),
        ("the blue cabinet's left door", "cabinet_1", ""),
        ("doors of the white cabinet", "cabinet_2", ""),
        ("fridge door", "fridge_1", ""),
        ("freezer of the fridge", "fridge_1_freezer", ""),
        ("upper shelf of the fridge", "fridge_1", "upper"),
        ("second shelf from the top of left rack", "rack_1", "middle"),
        ("second lowest shelf of the left rack", "rack_1", "lower"),
        ("cup on the second shelf of the left rack", "cup_1", ""),
        ("cup on the left rack's top shelf", "cup_2", ""),
        ("cup on the middle shelf of the right rack", "cup_3", ""),
        ("cup on the upper shelf of the fridge", "cup_4", ""),
        ("cup on the bottom shelf of the fridge", "cup_5", ""),
        ("fork in the top drawer of right drawer unit", "fork_1", ""),
    ],
)
def test_a_part_is_named_with_its_owner(mind: tuple[WorldState, Perception], text: str, thing: str, part: str) -> None:
    assert named(mind, text) == Grounded(thing, part=part)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("top drawer", {"unit_1_top", "unit_2_top"}),
        ("top drawer of the drawer unit", {"unit_1_top", "unit_2_top"}),
        ("drawer of the left drawer unit", {"unit_1_top", "unit_1_middle", "unit_1_bottom"}),
        ("second drawer of the left drawer unit", {"unit_1_top", "unit_1_middle", "unit_1_bottom"}),
        ("second shelf of the left rack", {"rack_1"}),
        ("door of the cabinet", {"cabinet_1", "cabinet_2"}),
        ("cup on the rack", {"cup_1", "cup_2", "cup_3"}),
    ],
)
def test_what_could_be_several_parts_is_ambiguous_and_every_offer_names_one(
    mind: tuple[WorldState, Perception], text: str, fits: set[str]
) -> None:
    with pytest.raises(RefusedError) as refused:
        named(mind, text)
    assert refused.value.refusal.code == "AMBIGUOUS"
    said = refused.value.refusal.sentence.partition("': ")[2].removesuffix("?")
    offers = [o for most in said.split(" or ") for o in most.split(", ")]
    meant = [named(mind, o) for o in offers]
    assert {g.id for g in meant} == fits
    assert len(set(meant)) == len(offers)


def test_a_part_that_the_owner_lacks_is_unknown(mind: tuple[WorldState, Perception]) -> None:
    for text in ("left drawer of the fridge", "fork in the top drawer of the left drawer unit", "lid of the cabinet"):
        with pytest.raises(RefusedError) as refused:
            named(mind, text)
        assert refused.value.refusal.code == "UNKNOWN_TARGET", text


@pytest.mark.parametrize(
    ("sentence", "thing"),
    [
        ("Open the top drawer of the left drawer unit.", "unit_1_top"),
        ("Open the right drawer unit's bottom drawer.", "unit_2_bottom"),
        ("Open the top drawer of the drawer unit on the right.", "unit_2_top"),
        ("Open the left door of the blue cabinet.", "cabinet_1"),
        ("Open the white cabinet's left door.", "cabinet_2"),
        ("Take the cup on the second shelf of the left rack.", "cup_1"),
        ("Grab the cup from the top shelf of the left rack.", "cup_2"),
        ("Pick up the cup that is on the second shelf from the top of the right rack.", "cup_3"),
        ("Please get the cup from the fridge's upper shelf.", "cup_4"),
    ],
)
def test_what_the_literal_human_is_told_about_a_part_it_does_to_that_part(
    mind: tuple[WorldState, Perception], sentence: str, thing: str
) -> None:
    (command,) = interpret(sentence).commands
    assert named(mind, command.partition("] ")[2]).id == thing, command
