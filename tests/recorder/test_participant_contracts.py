"""Every participant that this project ships passes the contract suite of its port."""

from __future__ import annotations

from functools import cache

from iwreplay.ports import Assistant, Human
from iwreplay.taskpack.model import OracleStep
from recorder.assistants import OracleAssistant, ScriptedAssistant, SilentAssistant, parse_lines
from recorder.humans import LiteralHuman
from replayer import Lines, LoggedAssistant, LoggedHuman, collect_lines
from tests.contracts.assistant import AssistantContract
from tests.contracts.human import HumanContract, human_view, outcome
from tests.loop.fakes import play


@cache
def logged_lines() -> Lines:
    return collect_lines(play()[0])


class TestOracle(AssistantContract):
    def make(self) -> Assistant:
        return OracleAssistant((OracleStep(say="Walk to the sink."), OracleStep(), OracleStep(say="Stop.")))


class TestSilent(AssistantContract):
    def make(self) -> Assistant:
        return SilentAssistant()


class TestScripted(AssistantContract):
    def make(self) -> Assistant:
        return ScriptedAssistant(parse_lines("Walk to the sink.\nsilent\ndone: Well done."))


class TestLoggedAssistant(AssistantContract):
    turns = 4

    def make(self) -> Assistant:
        return LoggedAssistant(logged_lines())


class TestLiteral(HumanContract):
    def make(self) -> Human:
        return LiteralHuman()

    def test_speaks_in_the_first_person(self) -> None:
        human = self.make()
        assert human.report((outcome(ok=True), outcome(ok=True))) is None
        said = human.report((outcome(ok=True), outcome(ok=False, code="CLOSED", sentence="The fridge is closed.")))
        assert said == "I could not do that: the fridge is closed."
        said = human.report((outcome(ok=False, code="HAND_FULL", sentence="I already hold the mug."),))
        assert said == "I already hold the mug."

    def test_follows_its_intent_only_while_nobody_speaks(self) -> None:
        assert self.make().act(human_view(intent="[Grab] red bottle")).from_intent
        told = self.make().act(human_view(instruction="Stop!", intent=None))
        assert told.commands == ()
        assert not told.from_intent


class TestLoggedHuman(HumanContract):
    instructions = ("Take the blue mug from the table.", None, "Turn left, then go forward two steps.")

    def make(self) -> Human:
        return LoggedHuman(logged_lines())
