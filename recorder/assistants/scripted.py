"""The scripted Assistant: says the lines that somebody wrote down for it."""

from __future__ import annotations

from pathlib import Path

from iwreplay.canonical import struct_hash
from iwreplay.events import Participant
from iwreplay.ports import AssistantAct, AssistantView
from recorder.assistants.lines import load_lines

__all__ = ["ScriptedAssistant"]


class ScriptedAssistant:
    """Turn t gives decision t; after the last one it is done. A line without memory keeps the memory it had."""

    def __init__(self, lines: tuple[AssistantAct, ...], *, name: str = "scripted") -> None:
        self._lines = lines
        self._name = name

    @classmethod
    def from_file(cls, path: Path | str) -> ScriptedAssistant:
        """Lines from a text, TOML or JSON file; LinesError names the line and the value."""
        return cls(load_lines(path))

    def about(self) -> Participant:
        return Participant(name=self._name, version="1", params={"lines_sha256": struct_hash(self._lines)})

    def decide(self, view: AssistantView) -> AssistantAct:
        if view.turn > len(self._lines):
            return AssistantAct(decision="done", memory=view.memory)
        line = self._lines[view.turn - 1]
        return AssistantAct(decision=line.decision, text=line.text, memory=line.memory or view.memory)
