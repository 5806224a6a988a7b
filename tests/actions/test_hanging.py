"""Hooks: coats, shirts and keys hang below them, and nothing else goes there."""

from __future__ import annotations

import pytest

from iwreplay.errors import SceneError
from iwreplay.render.appearance import shape_is_drawn
from iwreplay.scene.files import SCENE_FORMAT, FurnitureSpec, RoomSpec, SceneFile
from iwreplay.scene.hanging import can_hang, hangs, is_hook
from iwreplay.scene.library import Wanted, load_library
from iwreplay.scene.loader import compile_scene, data_root
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.taskpack.model import Placement
from iwreplay.world.geometry import thing_of
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World


def _hall(*more: Placement) -> CompiledScene:
    """A hall with a table and, on its east wall, hooks for coats and for keys."""
    hall = SceneFile(
        format=SCENE_FORMAT,
        id="hall",
        spawn=(2.0, 2.0, 0.0),
        rooms=(RoomSpec(id="hall", nouns=("hall",), rect=(0, 0, 5, 4)),),
        furniture=(
            FurnitureSpec(id="table_1", cls="table", pos=(2.0, 0.6)),
            FurnitureSpec(id="rack_1", cls="coat_rack", pos=(4.81, 2.0, 1.5), yaw_deg=-90),
            FurnitureSpec(id="keys_1", cls="key_rack", pos=(2.0, 3.88, 1.4)),
        ),
    )
    things = (
        Placement(id="shirt_1", cls="shirt", at="table_1.top"),
        Placement(id="mug_1", cls="mug", at="table_1.top", pos=(0.4, 0.0)),
        Placement(id="key_1", cls="tagged_key", at="table_1.top", pos=(-0.35, -0.1), texts={"front": "214"}),
        Placement(id="coat_1", cls="overcoat", at="rack_1.hook_1"),
    )
    return compile_scene(hall, (*things, *more))


@pytest.fixture(scope="module")
def hall() -> Base:
    return Base(_hall(), MujocoSimulator())


def _drawn(thing: Thing, world: World) -> set[bool]:
    """Which of the looks that depend on hanging the thing has."""
    return {
        s.when["hung"] == (True,)
        for link in thing.links
        for s in link.shapes
        if "hung" in s.when and shape_is_drawn(s, world.state.attrs[thing.id])
    }


def test_a_shirt_hangs_and_lies_again(hall: Base) -> None:
    world = World(hall)
    shirt = thing_of(world.state, "shirt_1")
    assert _drawn(shirt, world) == {False}
    world.ok("[Walk] shirt", "[Grab] shirt", "[Walk] coat rack", "[PutOn] shirt, coat rack")
    assert str(world.attr("shirt_1", "parent")).startswith("on:rack_1.hook_")
    assert world.attr("shirt_1", "parent") != "on:rack_1.hook_1"
    assert _drawn(shirt, world) == {True}
    world.ok("[Grab] shirt", "[Walk] table", "[PutOn] shirt, table")
    assert _drawn(shirt, world) == {False}


def test_a_coat_is_placed_hanging_and_stays(hall: Base) -> None:
    world = World(hall).settle(2.0)
    assert world.attr("coat_1", "parent") == "on:rack_1.hook_1"
    assert _drawn(thing_of(world.state, "coat_1"), world) == {True}


def test_a_key_goes_to_its_hook(hall: Base) -> None:
    world = World(hall)
    world.ok("[Walk] key", "[Grab] key", "[Walk] second hook", "[PutOn] key, second hook")
    assert world.attr("key_1", "parent") == "on:keys_1_2.hook"
    assert _drawn(thing_of(world.state, "key_1"), world) == {True}


def test_a_mug_does_not_hang(hall: Base) -> None:
    world = World(hall)
    world.ok("[Walk] mug", "[Grab] mug", "[Walk] coat rack")
    outcome = world.refused("[PutOn] mug, coat rack")
    assert outcome.code == "NO_SPACE"
    assert "coat rack" in outcome.sentence


def test_a_scene_that_hangs_a_mug_is_refused() -> None:
    with pytest.raises(SceneError, match=r"mug_2.*hook"):
        _hall(Placement(id="mug_2", cls="mug", at="rack_1.hook_2"))


def test_hanging_follows_from_what_carries_a_thing() -> None:
    assert hangs({"parent": "on:rack_1.hook_1"})
    assert not hangs({"parent": "on:table_1.top"})
    assert not hangs({"parent": "in:hook_1.main"})
    assert not hangs({"parent": "held"})
    assert not hangs({})
    assert is_hook("hook")
    assert not is_hook("top")


def test_the_bounds_of_a_garment_are_those_of_the_folded_one() -> None:
    library = load_library(data_root() / "objects")
    for name in ("shirt", "trousers", "overcoat", "tagged_key"):
        thing = library.make(Wanted(id="a", cls=name), where="test")[0]
        assert can_hang(thing)
        assert thing.bounds_pos[2] - thing.bounds_half[2] >= -1e-9, name
    assert not can_hang(library.make(Wanted(id="a", cls="mug"), where="test")[0])
