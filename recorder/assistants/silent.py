"""The silent Assistant: no help at all. Its episodes run to their turn limit."""

from __future__ import annotations

from iwreplay.events import Participant
from iwreplay.ports import AssistantAct, AssistantView

__all__ = ["SilentAssistant"]


class SilentAssistant:
    """Never says a word, not even `done`: what happens without assistance must be seen to the end."""

    def about(self) -> Participant:
        return Participant(name="silent", version="1")

    def decide(self, view: AssistantView) -> AssistantAct:
        return AssistantAct(decision="silent", memory=view.memory)
