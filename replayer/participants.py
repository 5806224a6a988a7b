"""Participants that read their lines from a log. They answer by turn, whatever they are shown."""

from __future__ import annotations

from collections.abc import Callable

from iwreplay.events import Participant, PrimitiveOutcome
from iwreplay.loop import AnswerError
from iwreplay.ports import AssistantAct, AssistantView, HumanAct, HumanView
from replayer.lines import Lines

__all__ = ["LoggedAssistant", "LoggedHuman"]


def _nothing(turn: int) -> None:
    """Nobody interrupts."""


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


class LoggedAssistant:
    """Decides as the Assistant of the log did. `no_answer(turn)` is called where the log has none, and may raise."""

    def __init__(self, lines: Lines, *, no_answer: Callable[[int], None] = _nothing) -> None:
        self._lines, self._no_answer = lines, no_answer

    def about(self) -> Participant:
        """The recorded participant, so that the opening of the replay equals the log's."""
        return self._lines.opened.assistant

    def decide(self, view: AssistantView) -> AssistantAct:
        act = self._lines.decisions.get(view.turn)
        if act is None:
            self._no_answer(view.turn)
            raise _fault(self._lines, "assistant", view.turn) or _no_line("Assistant", view.turn)
        return act


class LoggedHuman:
    """Acts as the Human of the log did. `no_answer(turn)` is called where the log has none, and may raise."""

    def __init__(self, lines: Lines, *, no_answer: Callable[[int], None] = _nothing) -> None:
        self._lines, self._no_answer = lines, no_answer
        self._turn = 0

    def about(self) -> Participant:
        """The recorded participant."""
        return self._lines.opened.human

    def act(self, view: HumanView) -> HumanAct:
        self._turn = view.turn
        act = self._lines.acts.get(view.turn)
        if act is None:
            self._no_answer(view.turn)
            raise _fault(self._lines, "human", view.turn) or _no_line("Human", view.turn)
        return act

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        said = self._lines.reports.get(self._turn)
        if said is None:
            self._no_answer(self._turn)
            fault = _fault(self._lines, "human", self._turn)
            if fault is not None:
                raise fault
        return said
