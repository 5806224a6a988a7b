"""The engine: beginnings, time, scripts, determinism, and undoing what did not go well."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from iwreplay.actions import Perception
from iwreplay.errors import SceneError, SimulatorError, UnknownNameError
from iwreplay.events import BodyPosed, FrameCaptured, Happened, PosesSampled, PrimitiveOutcome, StateDelta
from iwreplay.vocabulary import WEARER
from iwreplay.world.relations import holds
from iwreplay.world.state import WorldState
from tests.actions.proving import Base, World, assert_parents_agree

_ROUND = (
    "[Walk] blue mug",
    "[Grab] blue mug",
    "[Walk] sink",
    "[SwitchOn] tap",
    "[Fill] blue mug, tap",
    "[SwitchOff] tap",
    "[Grab] unicorn",
    "[Walk] work table",
    "[PutOn] mug, work table",
    "[Walk] top drawer",
    "[Open] top drawer",
    "[Close] top drawer",
)


def test_begin_states_the_facts_and_the_first_frame(base: Base) -> None:
    first = base.events
    facts = {(e.thing, e.attr): e.new for e in first if isinstance(e, StateDelta)}
    assert facts[WEARER, "posture"] == "stand"
    assert facts[WEARER, "held"] == ""
    assert facts[WEARER, "room"] == "workshop"
    frames = [e for e in first if isinstance(e, FrameCaptured)]
    assert [(f.cause, f.step, f.action) for f in frames] == [("initial", 0, None)]
    assert any(isinstance(e, BodyPosed) for e in first)
    assert {e.sim_time_s for e in first} == {0.0}
    seen = [e.obj for e in first if isinstance(e, Happened) and e.what == "seen"]
    assert len(seen) == len(set(seen)) > 5
    assert_parents_agree(base.state)


def test_the_same_commands_give_the_same_events(base: Base) -> None:
    runs = []
    for _ in range(2):
        world = World(base)
        for command in _ROUND:
            world.execute(command)
        world.engine.idle(1.0)
        runs.append(world.events)
    assert runs[0] == runs[1]


def test_the_fold_of_the_events_is_the_state(base: Base) -> None:
    world = World(base)
    for command in _ROUND:
        world.execute(command)
    replayed = WorldState(base.scene)
    for event in (*base.events, *world.events):
        replayed.apply(event)
    assert vars(replayed) == vars(world.state)


def test_the_perception_is_rebuilt_from_the_log(base: Base) -> None:
    base.sim.load(base.scene)
    live = World(base, fresh=True, sees_all=False)
    live.engine.begin()
    for command in ("[Scan]", "[Walk] dining table", "[Grab] blue mug", "[Walk] work table", "[PutOn] mug, work table"):
        live.ok(command)
    state = WorldState(base.scene)
    rebuilt = Perception(state, sighted=True)
    for event in live.events:
        state.apply(event)
        rebuilt.apply(event)
    assert rebuilt.at_hand() == live.engine.perception.at_hand()
    assert rebuilt.proprioception() == live.engine.perception.proprioception()
    for name, value in vars(live.engine.perception).items():
        if name != "_state":
            assert getattr(rebuilt, name) == value, name


def test_the_state_is_where_the_simulator_is(base: Base) -> None:
    world = World(base)
    world.ok(*[c for c in _ROUND if "unicorn" not in c])
    for thing, pose in world.sim.poses().items():
        assert world.state.poses[thing] == pytest.approx(pose, abs=2e-4), thing
    for joint, position in world.sim.joints().items():
        assert world.state.joints[joint] == pytest.approx(position, abs=2e-4), joint


def test_samples_come_at_the_set_rate_and_only_of_what_moved(world: World) -> None:
    world.ok("[Walk] work table")
    samples = [e for e in world.events if isinstance(e, BodyPosed)]
    gaps = [b.sim_time_s - a.sim_time_s for a, b in pairwise(samples)]
    assert max(gaps) <= 0.1 + 1e-9
    moved = {t for e in world.events if isinstance(e, PosesSampled) for t in e.things}
    assert moved == set()


def test_causes_name_the_primitive_or_the_process(base: Base) -> None:
    world = World(base)
    for command in _ROUND:
        world.execute(command)
    causes = {e.cause for e in world.events if isinstance(e, StateDelta)}
    assert all(re.fullmatch(r"(primitive|process|script):[a-z_]+", c) for c in causes), causes


def test_idle_lets_processes_run_and_takes_one_frame(world: World) -> None:
    world.place("tomato_1", "pan_1.main").set("oven_1_cooktop", on=True)
    since = len(world.events)
    world.engine.idle(25.0)
    assert world.attr("tomato_1", "cooked") == "cooked"
    frames = [e for e in world.events[since:] if isinstance(e, FrameCaptured)]
    assert [(f.cause, f.action) for f in frames] == [("idle", None)]
    assert world.state.sim_time_s == pytest.approx(25.0, abs=0.03)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e9, float("nan")])
def test_idle_refuses_nonsense(world: World, seconds: float) -> None:
    with pytest.raises(SimulatorError, match="idle"):
        world.engine.idle(seconds)


# ---------------------------------------------------------------------- undone


class _Failing:
    """The simulator, failing after some steps."""

    def __init__(self, real: object, after: int) -> None:
        self._real, self._left = real, after

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def step(self, n: int = 1) -> None:
        self._left -= 1
        if self._left < 0:
            raise SimulatorError("the physics became unstable")
        self._real.step(n)  # type: ignore[attr-defined]


def test_a_failing_simulator_is_an_execution_failure_without_a_trace(world: World) -> None:
    world.ok("[Walk] blue mug")
    world.engine._sim = _Failing(world.sim, after=30)  # type: ignore[assignment]
    outcome = world.refused("[Grab] blue mug")
    assert (outcome.code, outcome.obj) == ("EXECUTION", "mug_1")
    world.engine._sim = world.sim
    world.ok("[Grab] blue mug")


def test_a_postcondition_that_fails_undoes_everything(world: World) -> None:
    world.place("phone_1", "counter_1.top", 0.0, -0.1).settle().look_around()
    world.stand(1.4, 4.9, 1.57).set("phone_1", ringing=True)
    # almost through: it stops while the hand is on its way
    world.engine.idle(29.4)
    outcome = world.refused("[AnswerPhone] phone")
    assert outcome.code == "POSTCONDITION"
    assert outcome.sentence == "The phone stopped ringing before I got to it."
    assert world.attr("phone_1", "ringing") is True
    # nothing has happened: the next attempt goes on from the same instant with the same result
    assert world.refused("[AnswerPhone] phone").sentence == outcome.sentence
    world.engine.idle(1.0)
    assert world.refused("[AnswerPhone] phone").code == "NOT_RINGING"


def test_an_undone_command_gives_the_same_future(base: Base) -> None:
    futures = []
    for fail in (False, True):
        world = World(base)
        world.ok("[Walk] blue mug", "[Grab] blue mug")
        if fail:
            world.engine._sim = _Failing(world.sim, after=25)  # type: ignore[assignment]
            assert world.refused("[Drop] mug").code == "EXECUTION"
            world.engine._sim = world.sim
            world.action -= 1
            world.events.pop()
        world.ok("[Walk] work table", "[PutOn] mug, work table")
        futures.append(world.events)
    assert futures[0] == futures[1]


# ---------------------------------------------------------------------- scripts


def test_a_scripted_delivery_comes_on_stage_and_is_unknown_until_seen(make: Callable[..., World]) -> None:
    world = make(sees_all=False)
    world.engine.set_attr("carton_1", "exists", False, cause="script:away")
    assert world.refused("[Grab] carton on the display table").code == "UNKNOWN_TARGET"
    world.engine.place("carton_1", "table_1.top", (-0.3, 0.15), 0.0, cause="script:delivery")
    assert world.attr("carton_1", "exists") is True
    assert holds(world.state, "ontop", "carton_1", "table_1")
    assert world.refused("[Grab] carton on the work table").code == "NOT_VISIBLE"
    world.stand(6.2, 1.6, 1.57).settle()
    world.ok("[Scan]", "[Grab] carton on the work table")


def test_a_scripted_move_of_what_is_held_empties_the_hand(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug")
    world.place("mug_1", "table_1.top", 0.0, 0.1).settle()
    assert (world.attr(WEARER, "held"), world.attr("mug_1", "held")) == ("", False)
    assert holds(world.state, "ontop", "mug_1", "table_1")


def test_a_taken_place_gives_way_to_the_nearest_free_one(world: World) -> None:
    x, y = -0.1, -0.2
    world.place("glass_1", "dining_table_1.top", x, y).settle()
    assert holds(world.state, "ontop", "glass_1", "dining_table_1")
    assert not holds(world.state, "touching", "glass_1", "mug_1")


def test_a_thing_goes_off_stage(world: World) -> None:
    world.place("mug_1", "off")
    assert (world.attr("mug_1", "exists"), world.attr("mug_1", "parent")) == (False, "off")
    assert world.refused("[Grab] blue mug").code == "UNKNOWN_TARGET"


def test_scripted_attributes_have_their_consequences(world: World) -> None:
    world.set("fridge_1", open=True).settle(1.5)
    assert all(world.state.joints[j] > 0.5 for j in world.state.joints if j.startswith("fridge_1."))
    world.set("phone_1", ringing=True)
    assert [(e.what, e.obj) for e in world.events if isinstance(e, Happened) and e.what.startswith("ring")] == [
        ("ring_started", "phone_1")
    ]
    cause = world.deltas("phone_1", "ringing")[0].cause
    assert cause == "script:test"


def test_scripts_name_things_of_the_scene(world: World) -> None:
    with pytest.raises(UnknownNameError, match="unicorn"):
        world.engine.set_attr("unicorn", "on", True, cause="script:x")
    with pytest.raises(UnknownNameError, match="unicorn"):
        world.engine.place("unicorn", "table_1.top", (0.0, 0.0), 0.0, cause="script:x")
    with pytest.raises(SceneError, match="fridge_1 is fixed"):
        world.engine.place("fridge_1", "table_1.top", (0.0, 0.0), 0.0, cause="script:x")


def test_a_spill_comes_up_where_it_is(world: World) -> None:
    world.set("spill_1", exists=False)
    assert world.refused("[LookAt] spill").code == "UNKNOWN_TARGET"
    world.set("spill_1", exists=True).look_around()
    assert world.attr("spill_1", "parent") == "on:table_1.top"
    world.ok("[Walk] cloth", "[Grab] cloth", "[Wipe] spill")


def test_a_spill_comes_up_on_what_it_belongs_to_wherever_that_is_now(world: World) -> None:
    assert world.attr("spill_2", "parent") == "off"
    world.place("tray_1", "dining_table_1.top", -0.05, 0.2, math.pi / 2).settle().set("spill_2", exists=True)
    assert holds(world.state, "ontop", "spill_2", "tray_1")
    assert math.dist(world.state.poses["spill_2"][:2], world.state.poses["tray_1"][:2]) < 0.01
    world.look_around().stand(3.0, 3.7, -1.57).ok("[Grab] tray")
    assert math.dist(world.state.poses["spill_2"][:3], world.state.poses["tray_1"][:3]) < 0.02
    assert_parents_agree(world.state)


def test_what_comes_to_exist_where_something_else_is_now_gives_way(world: World) -> None:
    world.set("spill_1", exists=False).place("carton_1", "table_1.top", 0.25, 0.1).settle()
    world.set("spill_1", exists=True).settle()
    assert holds(world.state, "ontop", "spill_1", "table_1")
    assert not holds(world.state, "touching", "spill_1", "carton_1")
    assert_parents_agree(world.state)


def test_a_spill_is_put_anywhere_by_a_script(world: World) -> None:
    world.place("spill_2", "dining_table_1.top", 0.0, 0.3).settle()
    assert world.attr("spill_2", "parent") == "on:dining_table_1.top"
    world.place("spill_2", "floor", 6.0, 4.0).settle()
    assert world.attr("spill_2", "parent") == "floor"


def test_what_is_taken_off_comes_back_where_it_was(world: World) -> None:
    world.ok("[Walk] blue mug", "[Push] blue mug, 0.05")
    at = world.state.poses["mug_1"]
    world.set("mug_1", exists=False).set("mug_1", exists=True).settle()
    assert math.dist(world.state.poses["mug_1"][:3], at[:3]) < 0.01


def test_a_delivery_to_the_floor_is_set_down_clear_of_everything(world: World) -> None:
    x, y = world.state.body[:2]
    world.place("box_1", "floor", x, y).settle()
    assert math.dist(world.state.poses["box_1"][:2], (x, y)) > 0.2
    x, y = world.state.poses["box_1"][:2]
    world.place("carton_1", "floor", x, y).settle()
    assert not holds(world.state, "touching", "carton_1", "box_1")
    assert (world.attr("box_1", "parent"), world.attr("carton_1", "parent")) == ("floor", "floor")


def test_a_taken_off_thing_leaves_the_hand(world: World) -> None:
    world.ok("[Walk] blue mug", "[Grab] blue mug")
    world.set("mug_1", exists=False)
    assert (world.attr(WEARER, "held"), world.attr("mug_1", "held"), world.attr("mug_1", "parent")) == (
        "",
        False,
        "off",
    )


def test_every_outcome_is_public(base: Base) -> None:
    world = World(base)
    for command in _ROUND:
        world.execute(command)
    for event in world.events:
        if isinstance(event, PrimitiveOutcome):
            assert not re.search(r"_\d", event.sentence)
