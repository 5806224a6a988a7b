"""Phone calls, deliveries, spoken corrections and a Human about to err, end to end in the real simulator.

Each kind of trigger (turn, after_s, formula, after, in both phases) and each action (say, set, place, ring, stop_ring,
intend) has its place in one of the four small tasks.
"""

from __future__ import annotations

import pytest

from iwreplay.events import (
    CommandIssued,
    Happened,
    HumanTurn,
    Observation,
    PhaseChanged,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
)
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.loop import dialogue_of, protocol_violations
from iwreplay.loop.limits import NOOP_IDLE_S
from iwreplay.taskpack.model import OracleStep
from iwreplay.world.relations import holds
from iwreplay.world.state import WorldState
from recorder.assistants import OracleAssistant
from recorder.simulators.mujoco_backend import MujocoSimulator
from replayer import reexecute
from tests.tasks.playing import SMALL, Played, failed_checks, of, play, played, scene_of, task_of


def _with(name: str, *says: str, key: str) -> Played:
    """The task with an Assistant that says just that, a turn each."""
    steps = tuple(OracleStep(say=s) for s in says)
    return play(task_of(name), OracleAssistant(steps), scene=scene_of(name), name=key)


def _fired(done: Played) -> list[tuple[str, int]]:
    return [(e.script, e.turn) for e in of(done.events, ScriptedEvent)]


def _said(done: Played) -> list[tuple[int, str, str]]:
    return [(u.turn, u.speaker, u.text) for u in of(done.events, Utterance)]


def test_every_trigger_and_action_is_in_one_of_them() -> None:
    scripts = [s for name in SMALL for s in task_of(name).script]
    triggers = {f for s in scripts for f in ("turn", "after_s", "formula", "after") if getattr(s.when, f) is not None}
    assert triggers == {"turn", "after_s", "formula", "after"}
    assert {s.when.phase for s in scripts} == {"warmup", "closed_loop"}
    assert {a.do for s in scripts for a in s.do} == {"say", "set", "place", "ring", "stop_ring", "intend"}


@pytest.mark.parametrize("name", SMALL)
def test_its_episodes_reexecute_exactly(name: str) -> None:
    """What the script did is not replayed from the log: it happens again."""
    with read_log(played(name, "oracle").path) as log:
        again = reexecute(
            log, simulator=MujocoSimulator, frames=lambda scene, config: FrameMaker(scene, config=config, threads=1)
        )
    assert again.first is None, str(again.first)
    assert again.exact


# -- a phone call


def test_a_call_rings_is_answered_and_ended() -> None:
    done = played("phone_call", "oracle")
    assert _fired(done) == [("call", 2), ("caller_speaks", 2)]
    rings = [h.what for h in of(done.events, Happened) if h.obj == "phone_1" and h.what.startswith("ring")]
    assert rings == ["ring_started", "ring_stopped"]
    assert _said(done) == [
        (2, "guest", "Your phone is ringing!"),
        (2, "caller", "Two bottles of water, please."),
    ]
    changes = [(d.attr, d.new, d.cause) for d in of(done.events, StateDelta) if d.thing == "phone_1"]
    assert ("ringing", True, "script:call") in changes
    assert [c[0:2] for c in changes if c[0] == "on_call"] == [("on_call", True), ("on_call", False)]
    heard = {line.text for line in done.assistant_views[2].dialogue}
    assert "Two bottles of water, please." in heard, "the Assistant hears the caller before its next decision"


def test_nobody_can_answer_before_it_rings_or_after_the_caller_gave_up() -> None:
    answer, pause = "Answer the phone.", "Wait 2 seconds."
    done = _with("phone_call", answer, pause, pause, answer, key="late")
    outcomes = [(o.turn, o.code) for o in of(done.events, PrimitiveOutcome) if o.primitive == "answer_phone"]
    assert outcomes == [(1, "NOT_RINGING"), (4, "NOT_RINGING")]
    assert _fired(done) == [("call", 2), ("caller_gives_up", 4)]
    stopped = [d for d in of(done.events, StateDelta) if d.cause == "script:caller_gives_up"]
    assert [(d.attr, d.new) for d in stopped] == [("ringing", False)]
    assert failed_checks(done.evaluation) == {"call_taken"}
    assert protocol_violations(done.events) == ()


# -- a delivery


def test_a_delivery_arrives_at_its_time_where_it_should_and_not_before() -> None:
    done = played("delivery", "oracle")
    state = WorldState(scene_of("delivery"))
    began, before, after = 0.0, None, None
    for event in done.events:
        if isinstance(event, PhaseChanged) and event.phase == "closed_loop":
            began = event.sim_time_s
        if isinstance(event, ScriptedEvent) and event.script == "delivery":
            before = (state.attr("water_bottle_1", "exists"), state.attr("glass_1", "exists"))
            assert event.sim_time_s - began >= 3.0
        state.apply(event)
        if isinstance(event, ScriptedEvent) and event.script == "evening":
            after = (state.attr("water_bottle_1", "exists"), state.attr("glass_1", "exists"))
            assert holds(state, "ontop", "water_bottle_1", "cabinet_1")
            assert holds(state, "ontop", "vodka_bottle_1", "cabinet_1")
    assert (before, after) == ((False, True), (True, False))
    assert _fired(done) == [("delivery", 1), ("evening", 1)], "one follows the other at the same instant"
    assert state.attr("floor_lamp_1", "on") is True
    lamp = [d for d in of(done.events, StateDelta) if (d.thing, d.attr) == ("floor_lamp_1", "on")]
    assert [(d.old, d.new, d.cause) for d in lamp] == [(False, True, "script:evening")]


def test_a_delivery_arrives_while_nobody_does_anything() -> None:
    """Idle time counts, and a script is looked at when it has passed, not at the next turn."""
    done = played("delivery", "silent")
    at = next(n for n, e in enumerate(done.events) if isinstance(e, ScriptedEvent) and e.script == "delivery")
    began = next(e.sim_time_s for e in done.events if isinstance(e, PhaseChanged) and e.phase == "closed_loop")
    assert 3.0 <= done.events[at].sim_time_s - began <= 3.0 + NOOP_IDLE_S
    before = [e for e in done.events[:at] if isinstance(e, HumanTurn | Observation)][-1]
    assert isinstance(before, HumanTurn)
    assert before.turn == done.events[at].turn


def test_what_is_not_delivered_yet_can_not_be_taken_nor_what_is_gone() -> None:
    take, look = "Take the water bottle.", "Look at the cabinet, then take the water bottle."
    done = _with("delivery", take, "Wait 4 seconds.", "Take the glass.", look, key="early")
    grabs = [(o.turn, o.ok, o.obj) for o in of(done.events, PrimitiveOutcome) if o.primitive == "grab"]
    assert grabs == [(1, False, ""), (3, False, ""), (4, True, "water_bottle_1")]
    assert protocol_violations(done.events) == ()
    assert done.evaluation.passed


# -- a spoken correction


def test_a_correction_is_heard_by_both_at_the_moment_that_calls_for_it() -> None:
    done = played("correction", "oracle")
    assert _fired(done) == [("first_wish", 0), ("correction", 1)]
    assert _said(done) == [(0, "wearer", "I would like the glass."), (1, "wearer", "No, I meant the bottle!")]
    grabbed = next(i for i, e in enumerate(done.events) if isinstance(e, PrimitiveOutcome) and e.primitive == "grab")
    corrected = next(i for i, e in enumerate(done.events) if isinstance(e, ScriptedEvent) and e.script == "correction")
    assert grabbed < corrected, "formulas are looked at after every action"
    first, second = done.assistant_views[:2]
    assert [line.text for line in first.dialogue] == ["I would like the glass."]
    assert [line.text for line in second.dialogue][-1] == "No, I meant the bottle!"
    assert done.human_views[1].dialogue[: len(second.dialogue)] == second.dialogue
    assert [s.text for s in dialogue_of(done.events) if s.speaker == "wearer"] == [t for _, _, t in _said(done)]


def test_without_the_moment_there_is_no_correction() -> None:
    done = played("correction", "silent")
    assert _fired(done) == [("first_wish", 0)]


# -- a Human about to err


def test_a_human_about_to_err_is_stopped_twice() -> None:
    done = played("about_to_err", "oracle")
    assert _fired(done) == [("reaches_out", 1), ("tries_again", 4)]
    commands = [(c.turn, c.source, c.text) for c in of(done.events, CommandIssued) if c.phase == "closed_loop"]
    assert commands == [
        (1, "intent", "[Grab] vodka bottle"),
        (2, "human", "[PutOn] vodka bottle, cabinet"),
    ], "the pouring was given up for good, and the second intent was interrupted before it began"
    assert [v.intent for v in done.human_views] == ["[Grab] vodka bottle", None, None, None]
    assert done.evaluation.passed


def test_nobody_stops_it_and_it_errs() -> None:
    done = played("about_to_err", "silent")
    commands = [c.text for c in of(done.events, CommandIssued) if c.source == "intent"]
    assert commands == ["[Grab] vodka bottle", "[Pour] vodka bottle, glass"]
    assert failed_checks(done.evaluation) == {"vodka_put_back", "glass_stays_dry"}
    assert [h.what for h in of(done.events, Happened) if h.what == "pour"] == ["pour"]


def test_an_interrupt_that_asks_for_nothing_still_stops_it() -> None:
    done = _with("about_to_err", "Stop!", key="stop")
    assert [t.commands for t in of(done.events, HumanTurn)] == [("[NoOp]",)]
    assert not [c for c in of(done.events, CommandIssued) if c.phase == "closed_loop"]


def test_the_second_intent_is_carried_out_when_nobody_speaks() -> None:
    put_back = "Stop! Put the vodka bottle back on the cabinet."
    done = _with("about_to_err", "", put_back, "", "", "", key="again")
    live = [(c.turn, c.source) for c in of(done.events, CommandIssued) if c.phase == "closed_loop"]
    assert live == [(1, "intent"), (2, "human"), (4, "intent")]
