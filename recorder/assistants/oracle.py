"""The oracle Assistant: speaks a task's oracle steps as a person would, one a turn, then says it is done."""

from __future__ import annotations

from iwreplay.events import Participant
from iwreplay.ports import AssistantAct, AssistantView
from iwreplay.taskpack.model import OracleStep

__all__ = ["OracleAssistant"]


class OracleAssistant:
    """Keeps to its script whatever the Human answers: turn t says step t, an empty `say` is a silent turn.

    Near-misses and no-help sequences are played by the same class with other steps. Stateless: its decision is a
    function of the turn.
    """

    def __init__(self, steps: tuple[OracleStep, ...], *, name: str = "oracle") -> None:
        self._steps = steps
        self._name = name

    def about(self) -> Participant:
        return Participant(name=self._name, version="1")

    def decide(self, view: AssistantView) -> AssistantAct:
        if view.turn > len(self._steps):
            return AssistantAct(decision="done", memory=view.memory)
        say = self._steps[view.turn - 1].say.strip()
        if not say:
            return AssistantAct(decision="silent", memory=view.memory)
        return AssistantAct(decision="interrupt", text=say, memory=view.memory)
