"""Assistants: who sees what the wearer sees, and only speaks."""

from __future__ import annotations

from recorder.assistants.aimless import RandomAssistant
from recorder.assistants.lines import LinesError, load_lines, parse_lines
from recorder.assistants.oracle import OracleAssistant
from recorder.assistants.scripted import ScriptedAssistant
from recorder.assistants.silent import SilentAssistant

__all__ = [
    "LinesError",
    "OracleAssistant",
    "RandomAssistant",
    "ScriptedAssistant",
    "SilentAssistant",
    "load_lines",
    "parse_lines",
]
