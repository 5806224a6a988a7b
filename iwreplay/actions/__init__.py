"""The semantic layer: commands, their grounding, the 36 primitives, and the engine that carries them out."""

from __future__ import annotations

from iwreplay.actions.engine import ActionEngine
from iwreplay.actions.grammar import Command, Turn, parse_command, parse_turn
from iwreplay.actions.perception import Perception
from iwreplay.actions.refusal import RefusedError
from iwreplay.actions.table import COMMON_CODES, PRIMITIVES, Arg, Primitive

__all__ = [
    "COMMON_CODES",
    "PRIMITIVES",
    "ActionEngine",
    "Arg",
    "Command",
    "Perception",
    "Primitive",
    "RefusedError",
    "Turn",
    "parse_command",
    "parse_turn",
]
