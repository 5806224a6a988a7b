"""Participants that read their lines from a log. They answer by turn, whatever they are shown, and tell the calls to
models that the log has for that turn; no model is asked."""

from __future__ import annotations

from collections.abc import Callable

from iwreplay.events import ModelCall, Participant, PrimitiveOutcome
from iwreplay.loop import AnswerError
from iwreplay.ports import AssistantAct, AssistantView, HumanAct, HumanView
from replayer.lines import Lines

__all__ = ["LoggedAssistant", "LoggedHuman"]


def _nothing(turn: int, calls: int) -> None:
    """Nobody interrupts."""


class _Logged:
    """What both have: their calls."""

    def __init__(self, lines: Lines, role: str) -> None:
        self._lines, self._role = lines, role
        self._calls: tuple[ModelCall, ...] = ()

    def _turn_of(self, turn: int) -> int:
        """Takes up the calls of a turn, and says how many there are."""
        self._calls = self._lines.calls.get((self._role, turn), ())
        return len(self._calls)

    def take_calls(self) -> tuple[ModelCall, ...]:
        """The calls of the turn that it was asked for last."""
        calls, self._calls = self._calls, ()
        return calls


def _fault(lines: Lines, role: str, turn: int) -> AnswerError | None:
    """The fault by which this participant ended the episode in this turn, to be raised word by word."""
    if lines.fault is None:
        return None
    _, at, fault = lines.fault
    if at != turn or fault.source != f"participant:{role}":
        return None
    return AnswerError(fault.code, fault.detail)


def _no_line(role: str, turn: int) -> AnswerError:
    return AnswerError("NO_LINE", f"the log holds no answer of the {role} for turn {turn}")


class LoggedAssistant(_Logged):
    """Decides as the Assistant of the log did. `no_answer(turn, calls)` is called where the log has none, after so many
    calls of that turn, and may raise."""

    def __init__(self, lines: Lines, *, no_answer: Callable[[int, int], None] = _nothing) -> None:
        super().__init__(lines, "assistant")
        self._no_answer = no_answer

    def about(self) -> Participant:
        """The recorded participant, so that the opening of the replay equals the log's."""
        return self._lines.opened.assistant

    def decide(self, view: AssistantView) -> AssistantAct:
        calls = self._turn_of(view.turn)
        act = self._lines.decisions.get(view.turn)
        if act is None:
            self._no_answer(view.turn, calls)
            raise _fault(self._lines, "assistant", view.turn) or _no_line("Assistant", view.turn)
        return act


class LoggedHuman(_Logged):
    """Acts as the Human of the log did. `no_answer(turn, calls)` is called where the log has none, after so many calls
    of that turn, and may raise."""

    def __init__(self, lines: Lines, *, no_answer: Callable[[int, int], None] = _nothing) -> None:
        super().__init__(lines, "human")
        self._no_answer = no_answer
        self._turn = 0

    def about(self) -> Participant:
        """The recorded participant."""
        return self._lines.opened.human

    def act(self, view: HumanView) -> HumanAct:
        self._turn = view.turn
        calls = self._turn_of(view.turn)
        act = self._lines.acts.get(view.turn)
        if act is None:
            self._no_answer(view.turn, calls)
            raise _fault(self._lines, "human", view.turn) or _no_line("Human", view.turn)
        return act

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        said = self._lines.reports.get(self._turn)
        if said is None:
            self._no_answer(self._turn, 0)
            fault = _fault(self._lines, "human", self._turn)
            if fault is not None:
                raise fault
        return said
