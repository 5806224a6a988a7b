"""A loaded trolley is pushed out of its bay."""

from __future__ import annotations

import pytest

from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.taskpack.model import Placement
from iwreplay.world.relations import holds
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World


@pytest.fixture(scope="module")
def loaded() -> World:
    boxes = [Placement(id=f"box_{side}", cls="box", at=f"hand_trolley_1.{side}") for side in ("left", "right")]
    cup = Placement(id="mug_1", cls="mug", at="box_left.main")
    world = World(Base(compile_scene(load_scene("storage_hall"), [*boxes, cup]), MujocoSimulator()))
    return world.stand(5.0, 6.7, 1.57).look_around()


def test_a_thing_is_not_inside_what_it_carries(loaded: World) -> None:
    """A box in the middle of the trolley is where the middle of the trolley is."""
    state = loaded.state.copy()
    y = state.poses["hand_trolley_1"][1]
    for box in ("box_left", "box_right"):
        bx, _, bz, *bq = state.poses[box]
        state.poses[box] = (bx, y + (0.0 if box == "box_left" else 0.4), bz, *bq)  # type: ignore[assignment]
    assert holds(state, "ontop", "box_left", "hand_trolley_1")
    assert not holds(state, "inside", "hand_trolley_1", "box_left")
    assert holds(state, "ontop", "hand_trolley_1", "floor_mark_2")


def test_the_load_keeps_its_place_and_a_mark_on_the_floor_has_no_edge(loaded: World) -> None:
    before = loaded.state.poses
    assert holds(loaded.state, "ontop", "hand_trolley_1", "floor_mark_2")
    start = {t: before[t][:2] for t in ("hand_trolley_1", "box_left", "box_right", "mug_1")}
    loaded.ok("[Push] trolley, 1.0")
    for thing, (x, y) in start.items():
        assert loaded.state.poses[thing][:2] == pytest.approx((x, y + 1.0), abs=0.01), thing
    assert loaded.attr("hand_trolley_1", "parent") == "floor"
    assert holds(loaded.state, "inside", "mug_1", "box_left")


def test_nothing_is_pulled_through_the_wearer(loaded: World) -> None:
    """A short pull brings it nearer, a long one is refused, and no number of pulls brings it past the body."""
    outcome = loaded.refused("[Pull] trolley, 0.8")
    assert outcome.code == "COLLISION"
    assert outcome.sentence == "The hand trolley would run into me; I have to pull it less far."
    start = loaded.state.poses["hand_trolley_1"][1]
    ahead = start > loaded.state.body[1]
    for _ in range(6):
        loaded.execute("[Pull] trolley, 0.1")
        assert (loaded.state.poses["hand_trolley_1"][1] > loaded.state.body[1]) == ahead
    assert loaded.state.poses["hand_trolley_1"][1] != start
