"""What an arm meets on its way: a command that would push it into something is refused, and says what is there."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest

from iwreplay.motion.arms import BRUSH_M, GIVES_M, HAIR_M, Met
from iwreplay.pose import Vec3
from tests.actions.proving import World
from tests.actions.test_tried import WORKS

#: one of each kind of reach
REACH = ("touch", "grab", "put_on", "put_inside", "push", "open", "close", "switch_on", "pour", "wipe")
#: radius of the hand, the slimmest part
HAND_M = 0.026

Depths = tuple[tuple[str, float], ...]


def _everywhere(world: World, monkeypatch: pytest.MonkeyPatch, depth_of: Callable[[float], float]) -> None:
    """The dining table is around every arm, so deep as its thickness says."""

    def depths(a: Vec3, b: Vec3, radius_m: float, *, ignore: Collection[str] = ()) -> Depths:
        return (("dining_table_1", depth_of(radius_m)),)

    monkeypatch.setattr(world.sim, "capsule_depths", depths)


@pytest.mark.parametrize("canonical", REACH)
def test_what_no_arm_gets_to_freely_is_refused(world: World, monkeypatch: pytest.MonkeyPatch, canonical: str) -> None:
    setup, command = WORKS[canonical]
    setup(world)
    with monkeypatch.context() as patch:
        _everywhere(world, patch, lambda radius_m: 0.05)
        refused = world.refused(command)
        assert (refused.code, refused.blocker) == ("UNREACHABLE", "dining_table_1")
        assert refused.sentence == "The dining table is in the way of my hand."
    world.ok(command)


def test_a_sleeve_may_brush_something_and_a_hand_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.ok("[Walk] blue mug")
    brushes = GIVES_M + BRUSH_M - 1e-6
    with monkeypatch.context() as patch:
        _everywhere(world, patch, lambda radius_m: brushes if radius_m > HAND_M else 0.0)
        world.ok("[Grab] blue mug", "[Drop] mug")
        _everywhere(world, patch, lambda radius_m: brushes + 2e-6 if radius_m > HAND_M else 0.0)
        assert world.refused("[Grab] blue mug").sentence == "The dining table is in the way of my arm."
        _everywhere(world, patch, lambda radius_m: 0.0 if radius_m > HAND_M else GIVES_M + HAIR_M + 1e-6)
        assert world.refused("[Grab] blue mug").sentence == "The dining table is in the way of my hand."


def test_a_hand_in_something_is_worse_than_a_sleeve() -> None:
    hand, sleeve = Met("a", HAIR_M + 1e-6, "hand"), Met("b", BRUSH_M, "forearm")
    assert hand.badness_m > sleeve.badness_m
    assert (hand.is_harmful, sleeve.is_harmful, Met("c", BRUSH_M + 1e-6, "upper arm").is_harmful) == (True, False, True)
