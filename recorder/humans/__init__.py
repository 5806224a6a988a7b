"""Humans: who carries out what the Assistant says."""

from __future__ import annotations

from recorder.humans.grammar import Understood, interpret
from recorder.humans.literal import LiteralHuman

__all__ = ["LiteralHuman", "Understood", "interpret"]
