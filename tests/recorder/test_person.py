"""A person as Human and as Assistant: what is shown, what is taken, and what is told instead."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from iwreplay.actions.table import PRIMITIVES
from iwreplay.events import CommandIssued, Fault, HumanTurn, Observation
from iwreplay.loop import protocol_violations
from iwreplay.ports import AssistantAct, FrameView, HumanAct, HumanView, Said
from recorder.assistants.person import PersonAssistant
from recorder.humans.person import PersonHuman, command_completions
from tests.contracts.assistant import AssistantContract, assistant_view
from tests.contracts.console import ConsoleContract
from tests.contracts.human import HumanContract, human_view, outcome
from tests.loop.fakes import SCENE, TASK, FakeEngine, changed, play
from tests.recorder.console import ScriptedConsole

NAMES = ("blue mug", "mug on the table", "table", "kitchen")


def frame(n: int, value: int = 0) -> FrameView:
    pixels = np.full((48, 64, 3), value, dtype=np.uint8)
    return FrameView(frame_id=f"f{n:06d}", sim_time_s=float(n), pixels=lambda: pixels)


def view(turn: int = 1, **fields: object) -> HumanView:
    return msgspec.structs.replace(human_view(turn), names=lambda: NAMES, **fields)


def acted(console: ScriptedConsole, seen: HumanView | None = None) -> HumanAct:
    return PersonHuman(console).act(view() if seen is None else seen)


class TestScriptedConsole(ConsoleContract):
    def make(self, *lines: str) -> ScriptedConsole:
        return ScriptedConsole(*lines)


class TestPersonHuman(HumanContract):
    def make(self) -> PersonHuman:
        turn = ("[Walk] sink", "say: I go there.", "")
        return PersonHuman(ScriptedConsole(*turn * len(self.instructions)))


class TestPersonAssistant(AssistantContract):
    turns = 5

    def make(self) -> PersonAssistant:
        lines = ("", "Walk to the sink.", "?", "", "Stop.", "/done Thank you.")
        return PersonAssistant(ScriptedConsole(*lines))


# -- the Human ---------------------------------------------------------------------------------------------


def test_lines_are_commands_until_an_empty_one() -> None:
    act = acted(ScriptedConsole("[Walk] table", "say: I see it.", "  [Grab] blue mug ", "say: Shall I?", ""))
    assert act == HumanAct(commands=("[Walk] table", "[Grab] blue mug"), reply="I see it. Shall I?")


@pytest.mark.parametrize("lines", [("",), ("[NoOp]",), ("[noop]",)])
def test_nothing_is_an_empty_line_or_noop(lines: tuple[str, ...]) -> None:
    assert acted(ScriptedConsole(*lines)) == HumanAct()


def test_noop_beside_commands_is_told_and_changes_nothing() -> None:
    console = ScriptedConsole("[Walk] table", "[NoOp]", "")
    assert acted(console).commands == ("[Walk] table",)
    assert "[NoOp] stands alone" in console.told[-1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("walk table", "A command is written as a verb in square brackets"),
        ("[Fly] table", "I don't know how to Fly."),
        ("[Grab]", "The command [Grab] needs: object."),
        ("[TurnLeft] far", "The command [TurnLeft] takes a plain number of degrees"),
        ("[Grab] mug_1", "That is not a public name."),
        ("say: \udcff", "lone surrogate"),
    ],
)
def test_a_malformed_line_is_told_at_once_and_costs_nothing(line: str, said: str) -> None:
    console = ScriptedConsole(line, "[Grab] blue mug", "")
    assert acted(console) == HumanAct(commands=("[Grab] blue mug",))
    assert said in console.told[-1]


def test_a_turn_has_at_most_as_many_commands_as_the_protocol_allows() -> None:
    console = ScriptedConsole(*["[StandUp]"] * 33, "")
    assert len(acted(console).commands) == 32
    assert "at most 32 commands" in console.told[-1]


def test_what_a_human_may_know_is_shown_every_turn_and_the_role_once() -> None:
    console = ScriptedConsole("[Walk] table", "", "", "")
    human = PersonHuman(console)
    heard = (Said(turn=0, speaker="caller", text="It is for you."), Said(turn=1, speaker="assistant", text="Go."))
    human.act(view(instruction="Go.", dialogue=heard, frames=(frame(1), frame(2, 200))))
    first = console.text
    for part in ("You are at home.", "Never infer the answer", "Please help me.", "The caller said: It is for you."):
        assert part in first
    assert "The Assistant says: Go." in first
    assert "room: kitchen" in first
    assert "/seen/f000002.png" in first
    assert [int(p.max()) for p in console.shown] == [200]
    assert list(console.kept) == ["f000001", "f000002"]
    assert human.report((outcome(ok=False, code="CLOSED", sentence="The fridge is closed."),)) is not None
    assert console.told[-1] == "not done: [Grab] mug"
    human.act(view(2, dialogue=heard, failures=("The fridge is closed.",), frames=(frame(2, 200),)))
    second = console.told[-1]
    assert "Did not work: The fridge is closed." in second
    assert "The Assistant says: nothing" in second
    assert "You are at home." not in second
    assert "caller" not in second


def test_who_is_blind_gets_no_picture() -> None:
    console = ScriptedConsole("")
    acted(console, view(instruction="Reach to the left."))
    assert (console.kept, console.shown) == ({}, [])
    assert "You see" not in console.text


def test_the_own_intent_is_accepted_with_enter() -> None:
    intent = "[Grab] red bottle"
    told = ScriptedConsole("")
    assert acted(told, view(intent=intent)) == HumanAct(commands=(intent,), from_intent=True)
    assert f"You are about to do: {intent}" in told.text
    assert acted(ScriptedConsole("say: Hm.", ""), view(intent=intent)).from_intent
    assert acted(ScriptedConsole("[NoOp]"), view(intent=intent)) == HumanAct()
    own = acted(ScriptedConsole("[Grab] blue mug", ""), view(intent=intent))
    assert own == HumanAct(commands=("[Grab] blue mug",))


def test_help_has_a_line_for_each_command() -> None:
    console = ScriptedConsole("?", "")
    assert acted(console) == HumanAct()
    for row in PRIMITIVES:
        assert f"[{row.verbs[0]}]" in console.told[-1]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("[Pl", ["[PlaceOn] ", "[PlugIn] ", "[PlugOut] ", "[Plate] "]),
        ("stand", ["[StandUp]"]),
        ("[TurnA", ["[TurnAround]"]),
        ("sa", ["say: "]),
        ("[Walk] ", [f"[Walk] {n}" for n in NAMES]),
        ("[Walk]ta", ["[Walk] table", "[Walk] mug on the table"]),
        ("[Grab] bl", ["[Grab] blue mug"]),
        ("[PutOn] blue", ["[PutOn] blue mug, "]),
        ("[PutOn] blue mug, Ta", ["[PutOn] blue mug, table", "[PutOn] blue mug, mug on the table"]),
        ("[PutOn] blue mug, table, ", []),
        ("[TurnLeft] ", []),
        ("[Fly] ", []),
        ("say: ta", []),
    ],
)
def test_tab_completes_verbs_and_the_names_of_what_can_be_named(typed: str, offered: list[str]) -> None:
    console = ScriptedConsole(f"{typed}\t", "")
    acted(console)
    assert sorted(console.offered[typed]) == sorted(offered)


def test_every_completed_verb_is_understood() -> None:
    for completion in command_completions("", lambda: ()):
        assert completion.text == "say: " or completion.text.strip()[1:-1].isalpha()


def test_names_are_asked_for_only_when_they_are_wanted() -> None:
    def names() -> tuple[str, ...]:
        raise AssertionError("nobody pressed Tab")

    assert acted(ScriptedConsole("[Walk] table", ""), msgspec.structs.replace(view(), names=names)).commands


# -- the Assistant ---------------------------------------------------------------------------------------------


def test_a_line_is_spoken_an_empty_one_is_silence_and_done_ends() -> None:
    console = ScriptedConsole(" Take the mug. ", "", "/done", "/done Well done.", "/end", "")
    assistant = PersonAssistant(console)
    acts = [assistant.decide(msgspec.structs.replace(assistant_view(t), memory="m", frames=())) for t in range(1, 6)]
    assert acts == [
        AssistantAct(decision="interrupt", text="Take the mug.", memory="m"),
        AssistantAct(decision="silent", memory="m"),
        AssistantAct(decision="done", memory="m"),
        AssistantAct(decision="done", text="Well done.", memory="m"),
        AssistantAct(decision="silent", memory="m"),
    ]
    assert "/end is no command" in console.told[-1]


def test_what_can_not_be_logged_is_told() -> None:
    console = ScriptedConsole("\udcff", "Stop.")
    assert PersonAssistant(console).decide(assistant_view(1)).text == "Stop."
    assert "lone surrogate" in console.told[-1]


def test_all_pictures_are_kept_once_with_a_sheet_each_turn_and_the_latest_is_shown() -> None:
    console = ScriptedConsole("", "")
    assistant = PersonAssistant(console)
    for turn, frames in ((1, (frame(1, 10), frame(2, 20))), (2, (frame(2, 20), frame(3, 30)))):
        assistant.decide(msgspec.structs.replace(assistant_view(turn), frames=frames))
    assert list(console.kept) == ["f000001", "f000002", "turn-001", "f000003", "turn-002"]
    assert [int(p.max()) for p in console.shown] == [20, 30]
    # two pictures beside each other, in their order
    sheet = console.kept["turn-002"]
    assert [int(sheet[100, x].max()) for x in (160, 490)] == [20, 30]
    assert "/seen/turn-002.png" in console.text


def test_only_what_is_new_is_told_and_nothing_of_what_was_said_by_oneself() -> None:
    console = ScriptedConsole("", "")
    assistant = PersonAssistant(console)
    said = (
        Said(turn=1, speaker="human", text="Which one?"),
        Said(turn=1, speaker="assistant", text="The blue one."),
        Said(turn=1, speaker="courier", text="A parcel!"),
    )
    assistant.decide(msgspec.structs.replace(assistant_view(1), dialogue=said[:1], frames=()))
    assert "The wearer: Which one?" in console.told[-1]
    assistant.decide(msgspec.structs.replace(assistant_view(2), dialogue=said, frames=()))
    assert "Turn 2. The wearer asked: Please help me." in console.told[-1]
    assert "The courier: A parcel!" in console.told[-1]
    assert "Which one?" not in console.told[-1]
    assert "blue" not in console.told[-1]


# -- in the loop ---------------------------------------------------------------------------------------------


def test_an_episode_with_a_person_is_like_any_other() -> None:
    console = ScriptedConsole(
        "[Grab] bl\t", "[Grab] blue mug", "say: I have it.", "", "", "[TurnLeft]", "[Forward] 1", ""
    )
    log, result = play(human=PersonHuman(console))
    assert (result.reason, result.valid) == ("done", True)
    assert protocol_violations(log.events()) == ()
    turns = [e for e in log.events() if isinstance(e, HumanTurn)]
    assert [t.commands for t in turns] == [("[Grab] blue mug",), ("[NoOp]",), ("[TurnLeft]", "[Forward] 1")]
    assert turns[0].reply == "I have it."
    assert console.offered["[Grab] bl"] == ["[Grab] blue mug"]
    shown = [e.frames for e in log.events() if isinstance(e, Observation) and e.role == "human"]
    assert list(console.kept) == list(dict.fromkeys(f for frames in shown for f in frames))


def test_who_leaves_interrupts_the_episode() -> None:
    for human, assistant in ((PersonHuman(ScriptedConsole("[Walk] table")), None), (None, ScriptedConsole(""))):
        speaker = None if assistant is None else PersonAssistant(assistant)
        log, result = play(human=human, assistant=speaker)
        assert (result.reason, result.valid) == ("interrupted", False)
        assert [e.source for e in log.events() if isinstance(e, Fault)] == ["user"]
        assert not [e for e in log.events() if isinstance(e, CommandIssued) and e.source != "warmup"]


def test_a_hidden_name_is_never_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeEngine, "names", lambda self: ("blue mug", SCENE.things[1].id))
    console = ScriptedConsole("[Grab] \t", "")
    log, result = play(human=PersonHuman(console))
    assert not result.valid
    assert [(e.source, e.code) for e in log.events() if isinstance(e, Fault)] == [("participant:human", "LEAK")]
    assert console.offered == {}


def test_a_blind_person_sees_nothing_in_the_loop() -> None:
    role = msgspec.structs.replace(TASK.human, restriction="accessibility")
    console = ScriptedConsole("", "", "")
    play(changed(TASK, family="accessibility", human=role), human=PersonHuman(console))
    assert (console.kept, console.shown) == ({}, [])
    assert "You can't see." in console.text
