"""Piles, with the project's own relations: what a thing rests on changes although the thing itself does not."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from iwreplay.checks import Monitor, compile_check, derived_relations
from iwreplay.events import PosesSampled, StateDelta
from iwreplay.pose import Vec3, from_xyz_yaw
from iwreplay.scene.model import CompiledScene, Interior, Link, Material, Room, Shape, Thing
from iwreplay.vocabulary import RELATIONS, WEARER
from iwreplay.world.state import WorldState


def _block(id: str, half: Vec3, at: Vec3, *affordances: str, fixed: bool = False, hollow: bool = False) -> Thing:
    x, y, z = half
    floor = Shape(kind="box", size=(x, y, 0.005 if hollow else z), pose=from_xyz_yaw(0, 0, 0.005 if hollow else z, 0),
                  material="m")  # fmt: skip
    interiors = (Interior(name="main", pos=(0.0, 0.0, z), half=half),) if hollow else ()
    return Thing(
        id=id,
        cls="block",
        name="block",
        nouns=("block",),
        fixed=fixed,
        links=(Link(name="base", shapes=(floor,), interiors=interiors),),
        pose=from_xyz_yaw(*at, 0.0),
        affordances=("grab", *affordances),
        bounds_half=half,
        bounds_pos=(0.0, 0.0, z),
    )


#: mug on slice on plate on table; a coin in a crate beside them
SCENE = CompiledScene(
    id="piles",
    format=1,
    rooms=(Room(id="room", nouns=("room",), rect=(-5.0, -5.0, 5.0, 5.0)),),
    portals=(),
    materials=(Material(name="m", rgb=(9, 9, 9)),),
    things=(
        _block("table", (0.5, 0.5, 0.35), (0.0, 0.0, 0.0), "surface", fixed=True),
        _block("plate", (0.1, 0.1, 0.01), (0.0, 0.0, 0.7), "plate"),
        _block("slice", (0.05, 0.05, 0.03), (0.0, 0.0, 0.72)),
        _block("mug", (0.04, 0.04, 0.05), (0.0, 0.0, 0.78)),
        _block("crate", (0.15, 0.15, 0.1), (0.3, 0.3, 0.7), "container", hollow=True),
        _block("coin", (0.01, 0.01, 0.002), (0.3, 0.3, 0.71)),
    ),
    lights=(),
    spawn=(2.0, 2.0, 0.0),
)
ASKED = {
    "mug on slice": ["rel", "ontop", "mug", "slice"],
    "mug on plate": ["rel", "ontop", "mug", "plate"],
    "mug on table": ["rel", "ontop", "mug", "table"],
    "coin in crate": ["rel", "inside", "coin", "crate"],
    "coin as before": ["baseline", "coin"],
    "mug as before": ["baseline", "mug"],
}


class _Live:
    def __init__(self, *held: str) -> None:
        self.state = WorldState(SCENE)
        for thing in held:
            self.state.attrs[thing]["held"] = True
        self.state.phase = "closed_loop"
        self.seq = 0
        checks = {k: compile_check(f, task="T", check=k, scene=SCENE) for k, f in ASKED.items()}
        self.monitor = Monitor(checks, relations=derived_relations())
        #: the same, told only of the events that it can't see at once to change nothing
        self.skipping, self.skipped = self.monitor.unfed_copy(), 0
        self._feed(self.state.snapshot("baseline"))

    def _feed(self, event: Any) -> set[str]:
        self.state.apply(event)
        self.monitor.feed(self.seq, event, self.state)
        if self.seq and self.skipping.passes(event, self.state):
            self.skipping.skip(self.seq)
            self.skipped += 1
        else:
            self.skipping.feed(self.seq, event, self.state)
        self.seq += 1
        assert {k for k in ASKED if self.skipping.value(k)} == self.values()
        return self.values()

    def move(self, thing: str, x: float, y: float, z: float) -> set[str]:
        return self._feed(PosesSampled(sim_time_s=0.0, turn=1, phase="closed_loop", step=1, things=(thing,), joints=(),
                                       values=from_xyz_yaw(x, y, z, 0.0)))  # fmt: skip

    def set(self, thing: str, attr: str, value: bool) -> set[str]:
        return self._feed(StateDelta(sim_time_s=0.0, turn=1, phase="closed_loop", thing=thing, attr=attr, old=None,
                                     new=value, cause="x"))  # fmt: skip

    def values(self) -> set[str]:
        return {k for k in ASKED if self.monitor.value(k)}


class _Recording(dict[str, Any]):
    """Attributes of a thing that remember which were read."""

    read: ClassVar[set[str]] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)


def test_relations_read_the_attributes_that_they_are_said_to_read() -> None:
    relations = derived_relations()
    assert relations.reads is not None
    state = WorldState(SCENE)
    state.attrs = {t: _Recording(a) for t, a in state.attrs.items()}
    things = [t.id for t in SCENE.things]
    for relation in RELATIONS:
        for a in (*things, WEARER):
            for b in ("room",) if relation == "in_room" else (*things, WEARER):
                relations.holds(state, relation, a, b)
    for t in things:
        relations.support_of(state, t)
    assert _Recording.read - {"open"} == relations.reads, "`open` is looked up with an interior, and decides nothing"


@pytest.fixture
def live() -> _Live:
    return _Live()


def test_at_first(live: _Live) -> None:
    assert live.values() == {"mug on slice", "mug on plate", "coin in crate", "coin as before", "mug as before"}


def test_the_support_is_drawn_away(live: _Live) -> None:
    got = live.move("slice", 0.3, -0.3, 0.7)
    assert not got & {"mug on slice", "mug on plate", "mug as before"}


def test_what_is_two_below_is_drawn_away(live: _Live) -> None:
    got = live.move("plate", -0.3, -0.3, 0.7)
    assert "mug on slice" in got
    assert "mug on plate" not in got


def test_the_container_is_carried_off(live: _Live) -> None:
    assert not live.move("crate", -0.3, 0.3, 0.7) & {"coin in crate", "coin as before"}


def test_the_support_leaves_the_stage_or_is_taken_in_hand(live: _Live) -> None:
    assert not live.set("slice", "exists", False) & {"mug on slice", "mug on plate"}
    assert {"mug on slice", "mug on plate"} <= live.set("slice", "exists", True)


def test_something_is_pushed_underneath(live: _Live) -> None:
    live.move("plate", -0.3, -0.3, 0.7)
    live.move("slice", 0.3, -0.3, 0.7)
    assert "mug on plate" in live.move("plate", 0.0, 0.0, 0.76)


def test_what_is_carried_through_the_air_is_skipped(live: _Live) -> None:
    live.move("plate", 3.0, 0.0, 1.0)
    live.set("plate", "held", True)
    live.move("plate", 3.0, 0.1, 1.0)
    assert live.skipped == 1
    live.move("plate", 3.0, 0.2, 1.0)
    assert live.skipped == 2
    live.move("mug", 2.0, 0.2, 1.0)
    assert live.skipped == 2, "what is not carried may have fallen on something"
    live.set("mug", "wet", True)
    assert live.skipped == 2, "a baseline asks for every attribute"
    live.set("plate", "wet", True)
    assert live.skipped == 3


def test_what_is_carried_is_drawn_from_under_a_thing(live: _Live) -> None:
    assert "mug on plate" in live.set("plate", "held", True)
    assert "mug on plate" not in live.move("plate", 3.0, 0.0, 1.0)


def test_what_is_carried_is_pushed_under_a_thing(live: _Live) -> None:
    live.move("slice", 0.3, -0.3, 0.7)
    live.move("plate", 3.0, 0.0, 1.0)
    live.set("plate", "held", True)
    before = live.skipped
    live.move("plate", 3.0, 0.0, 1.1)
    assert live.skipped == before + 1
    assert "mug on plate" in live.move("plate", 0.0, 0.0, 0.76)
    assert live.skipped == before + 1


def test_something_is_put_on_what_is_carried_and_that_is_drawn_away(live: _Live) -> None:
    live.move("plate", 3.0, 0.0, 1.0)
    live.set("plate", "held", True)
    live.move("plate", 3.0, 0.0, 1.1)
    assert live.skipped == 1
    assert "mug on plate" in live.move("mug", 3.0, 0.0, 1.12)
    assert "mug on plate" not in live.move("plate", -3.0, 0.0, 1.1)


def test_one_hand_puts_something_on_what_is_in_the_other(live: _Live) -> None:
    for thing, x in (("plate", 3.0), ("mug", 2.0)):
        live.move(thing, x, 0.0, 1.0)
        live.set(thing, "held", True)
        live.move(thing, x, 0.0, 1.1)
    live.move("plate", 3.0, 0.0, 1.1)
    live.move("mug", 3.0, 0.0, 1.12)
    assert "mug on plate" in live.set("mug", "held", False)
    assert "mug on plate" not in live.move("plate", -3.0, 0.0, 1.1)


def test_what_was_carried_away_is_not_where_it_was(live: _Live) -> None:
    live.set("mug", "held", True)
    live.move("mug", 3.0, 0.0, 1.0)
    live.move("mug", 3.0, 0.0, 1.1)
    assert "mug as before" not in live.set("mug", "held", False)
    live.set("mug", "held", True)
    live.move("mug", 3.0, 0.0, 1.2)
    live.move("mug", 0.0, 0.0, 0.78)
    assert {"mug on slice", "mug on plate"} <= live.set("mug", "held", False)


def test_a_snapshot_that_says_other_than_what_was_skipped_is_heard(live: _Live) -> None:
    still = live.state.copy()
    live.set("mug", "held", True)
    live.move("mug", 3.0, 0.0, 1.0)
    live.move("mug", 3.0, 0.0, 1.1)
    assert live.skipped == 2
    assert {"mug on slice", "mug as before"} <= live._feed(still.snapshot("periodic"))


def test_what_is_in_the_hand_from_the_start_is_as_before_only_where_it_was() -> None:
    live = _Live("mug")
    x, y, z = live.state.poses["mug"][:3]
    assert "mug as before" in live.move("mug", x, y, z + 0.01)
    assert "mug as before" not in live.move("mug", 3.0, 0.0, 1.0)
    assert "mug as before" not in live.move("mug", 3.0, 0.0, 1.1)
    assert "mug as before" in live.move("mug", x, y, z)


def test_a_snapshot_puts_what_is_carried_back_under_a_thing(live: _Live) -> None:
    live.move("mug", 3.0, 0.5, 1.02)
    live.set("plate", "held", True)
    assert "mug on plate" in live.move("plate", 3.0, 0.5, 1.0)
    live.move("mug", 0.0, 3.0, 1.0)
    before = live.skipped
    live.move("plate", -3.0, 0.0, 1.0)
    assert live.skipped == before + 1
    assert "mug on plate" not in live.move("mug", 3.0, 0.5, 1.02)
    said = live.state.copy()
    said.poses["plate"] = from_xyz_yaw(3.0, 0.5, 1.0, 0.0)
    assert "mug on plate" in live._feed(said.snapshot("periodic"))
