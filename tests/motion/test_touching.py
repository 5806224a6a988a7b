"""What a hand may touch where it arrives: also what a mat lies on, and the coins beside a coin."""

from __future__ import annotations

from functools import cache

import pytest

from iwreplay.app.tasks import find_task
from iwreplay.motion.touching import aim_at
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.loader import compile_task
from iwreplay.world.state import WorldState


@cache
def _scene(task: str) -> CompiledScene:
    return compile_task(find_task(task))


def _state(task: str, **parents: str) -> WorldState:
    state = WorldState(_scene(task))
    for thing, parent in parents.items():
        state.attrs[thing]["parent"] = parent
    return state


def _above(state: WorldState, thing: str) -> tuple[float, float, float]:
    x, y, z = state.poses[thing][:3]
    return x, y, z + 0.02


def test_what_a_fixed_mat_lies_on_may_be_touched_with_it() -> None:
    state = _state("G15", left_mat_1="on:dining_table_1.top")
    aim = aim_at(state, "left_mat_1", _above(state, "left_mat_1"))
    assert aim.place == "left_mat_1"
    assert "dining_table_1" in aim.around
    assert "dining_table_1" not in aim.ignore


@pytest.mark.parametrize(("other", "flat"), [("coin_5", True), ("vending_machine_1", False)])
def test_flat_things_in_the_same_place_may_be_touched(other: str, flat: bool) -> None:
    parents = {"coin_tray_1": "on:snack_counter_1.top", "coin_50": "in:coin_tray_1.main", other: "in:coin_tray_1.main"}
    state = _state("D15", **parents)
    aim = aim_at(state, "coin_tray_1", _above(state, "coin_tray_1"))
    assert aim.place == "coin_tray_1"
    assert "snack_counter_1" in aim.around
    assert (other in aim.around) is flat
