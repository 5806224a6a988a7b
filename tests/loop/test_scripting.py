"""Scripted events and the Human's own intent."""

from __future__ import annotations

from typing import TypeVar

import pytest

from iwreplay.errors import TaskError
from iwreplay.events import (
    CommandIssued,
    Event,
    Happened,
    HumanTurn,
    PosesSampled,
    ScriptedEvent,
    StateDelta,
    Utterance,
)
from iwreplay.log import MemoryLog
from iwreplay.loop import dialogue_of, protocol_violations
from iwreplay.taskpack.model import HumanRole, OracleStep, ScriptAction, ScriptedWorldEvent, TaskPack, Trigger
from recorder.assistants import OracleAssistant, SilentAssistant
from tests.loop.fakes import TASK, changed, play

T = TypeVar("T", bound=Event)

SILENT = OracleStep()


def of(log: MemoryLog, kind: type[T]) -> list[T]:
    return [e for e in log.events() if isinstance(e, kind)]


def scripted(*events: ScriptedWorldEvent, **fields: object) -> TaskPack:
    return changed(TASK, script=events, **fields)


def say(text: str) -> ScriptAction:
    return ScriptAction(do="say", speaker="caller", text=text)


def fired(log: MemoryLog) -> list[tuple[str, int, float]]:
    return [(e.script, e.turn, e.sim_time_s) for e in of(log, ScriptedEvent)]


def test_turn_and_time_triggers_fire_once_at_the_first_moment() -> None:
    task = scripted(
        ScriptedWorldEvent(id="late", when=Trigger(turn=2), do=(say("Hello."),)),
        ScriptedWorldEvent(id="timed", when=Trigger(after_s=3.5), do=(say("Still there?"),)),
        warmup=(),
    )
    log, _ = play(task, assistant=OracleAssistant((SILENT,) * 4))
    assert fired(log) == [("late", 2, 2.0), ("timed", 2, 4.0)]
    assert [(s.turn, s.speaker) for s in dialogue_of(log.events())] == [(2, "caller"), (2, "caller")]


def test_warmup_triggers_fire_in_warmup_only() -> None:
    task = scripted(
        ScriptedWorldEvent(id="w", when=Trigger(phase="warmup", after_s=0.5), do=(say("I dislike mint."),)),
        ScriptedWorldEvent(id="never", when=Trigger(phase="warmup", after_s=5.0), do=(say("Too late."),)),
    )
    log, _ = play(task, assistant=OracleAssistant((SILENT,) * 4))
    assert fired(log) == [("w", 0, 1.0)]
    assert of(log, Utterance)[0].phase == "warmup"


def test_one_may_follow_another_at_the_same_instant_whatever_their_order() -> None:
    task = scripted(
        ScriptedWorldEvent(id="second", when=Trigger(after="first"), do=(say("B"),)),
        ScriptedWorldEvent(id="first", when=Trigger(turn=1), do=(say("A"),)),
    )
    log, _ = play(task, assistant=OracleAssistant((SILENT,)))
    assert [f[:2] for f in fired(log)] == [("first", 1), ("second", 1)]


def test_formula_trigger_fires_when_it_has_become_true() -> None:
    task = scripted(
        ScriptedWorldEvent(id="held", when=Trigger(formula=["attr", "mug_1", "held", True]), do=(say("Mine!"),))
    )
    log, _ = play(task)
    assert [f[:2] for f in fired(log)] == [("held", 1)]


def test_ring_set_and_place_reach_the_engine() -> None:
    task = scripted(
        ScriptedWorldEvent(
            id="call",
            when=Trigger(turn=1),
            do=(
                ScriptAction(do="ring", thing="phone_1"),
                ScriptAction(do="set", thing="mug_1", attr="clean", value=False),
                ScriptAction(do="place", thing="mug_1", at="table_1.top", pos=(0.2, 0.1), yaw_deg=90.0),
            ),
        ),
        ScriptedWorldEvent(id="over", when=Trigger(turn=2), do=(ScriptAction(do="stop_ring", thing="phone_1"),)),
    )
    log, _ = play(task, assistant=OracleAssistant((SILENT,) * 2))
    deltas = [(d.thing, d.attr, d.new) for d in of(log, StateDelta) if d.cause.startswith("script:c")]
    assert deltas == [("phone_1", "ringing", True), ("mug_1", "clean", False), ("mug_1", "exists", True)]
    assert [h.what for h in of(log, Happened)] == ["ring_started", "ring_stopped"]
    assert any(p.things == ("mug_1",) and p.values[0] == 0.2 for p in of(log, PosesSampled))


def test_an_unknown_predecessor_is_refused_by_name() -> None:
    with pytest.raises(TaskError, match="'nobody'"):
        play(scripted(ScriptedWorldEvent(id="a", when=Trigger(after="nobody"), do=())))


PREVENTION = HumanRole(
    role="You tidy up.", restriction="prevention", intent=("[Grab] mug", "[TurnLeft]", "[Forward] 1", "[TurnRight]")
)


def test_intent_is_carried_out_one_command_a_silent_turn_until_interrupted() -> None:
    task = changed(TASK, human=PREVENTION, family="prevention", warmup=())
    steps = (SILENT, SILENT, OracleStep(say="Stop!"), SILENT, SILENT)
    log, _ = play(task, assistant=OracleAssistant(steps))
    assert [t.commands for t in of(log, HumanTurn)] == [
        ("[Grab] mug",), ("[TurnLeft]",), ("[NoOp]",), ("[NoOp]",), ("[NoOp]",),
    ]  # fmt: skip
    assert {c.source for c in of(log, CommandIssued)} == {"intent"}
    assert protocol_violations(log.events()) == ()


def test_without_assistance_the_whole_intent_is_carried_out() -> None:
    task = changed(TASK, human=PREVENTION, family="prevention", warmup=())
    log, _ = play(task, assistant=SilentAssistant())
    assert [c.text for c in of(log, CommandIssued)] == list(PREVENTION.intent)


def test_a_scripted_intent_is_a_new_one_after_an_interrupt() -> None:
    later = ScriptedWorldEvent(
        id="again", when=Trigger(turn=3), do=(ScriptAction(do="intend", commands=("[TurnRight]", "[TurnLeft]")),)
    )
    task = scripted(later, human=PREVENTION, family="prevention", warmup=())
    steps = (OracleStep(say="Stop!"), SILENT, SILENT, OracleStep(say="Stop!"), SILENT)
    log, _ = play(task, assistant=OracleAssistant(steps))
    assert [c.text for c in of(log, CommandIssued)] == ["[TurnRight]"]
    assert protocol_violations(log.events()) == ()
