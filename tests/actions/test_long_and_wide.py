"""Furniture longer than a few steps, and doors wider than an arm: what one stands at can be used all along."""

from __future__ import annotations

import msgspec
import pytest

from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.taskpack.model import Placement
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World

_ENDS = (
    Placement(id="left_mug", cls="mug", name="left mug", at="bench_1.top", pos=(-1.0, 0.1)),
    Placement(id="right_mug", cls="mug", name="right mug", at="bench_1.top", pos=(1.0, 0.1)),
    Placement(id="next_mug", cls="mug", name="other mug", at="bench_2.top", pos=(-1.0, 0.1)),
)


@pytest.fixture(scope="module")
def lab() -> Base:
    return Base(compile_scene(load_scene("teaching_lab"), _ENDS), MujocoSimulator())


@pytest.mark.parametrize("mug", ["left mug", "right mug"])
def test_after_the_walk_to_a_long_bench_what_is_at_its_ends_can_be_taken(lab: Base, mug: str) -> None:
    world = World(lab)
    world.ok("[Walk] front bench", f"[Grab] {mug}", "[PutOn] mug, front bench")
    world.ok("[Grab] right mug" if mug == "left mug" else "[Grab] left mug")


def test_what_is_on_another_bench_has_to_be_walked_to_first(lab: Base) -> None:
    world = World(lab)
    world.ok("[Walk] front bench", "[Grab] right mug", "[Drop] right mug")
    refused = world.execute("[Grab] other mug")
    assert (refused.code, refused.refused) == ("UNREACHABLE", True)
    assert "too far away" in refused.sentence


@pytest.mark.parametrize("width", [1.2, 1.4])
def test_a_wide_outer_door_is_closed_again_from_inside(width: float) -> None:
    scene = load_scene("electronics_shop")
    openings = tuple(
        msgspec.structs.replace(o, width=width) if o.fill is not None and o.fill.id == "shop_door" else o
        for o in scene.openings
    )
    base = Base(compile_scene(msgspec.structs.replace(scene, openings=openings)), MujocoSimulator())
    world = World(base)
    world.ok("[Walk] shop door", "[Open] shop door", "[Forward] -0.5", "[Close] shop door")
    assert world.state.attrs["shop_door"]["open"] is False
