"""A console whose person has decided beforehand what to type."""

from __future__ import annotations

import numpy as np

from recorder.console import Completer

__all__ = ["ScriptedConsole"]


class ScriptedConsole:
    """Types these lines, then leaves. A line that ends in a tab is what was typed when Tab was pressed: what it was
    offered is in `offered`."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.told: list[str] = []
        self.kept: dict[str, np.ndarray] = {}
        self.shown: list[np.ndarray] = []
        self.offered: dict[str, list[str]] = {}

    @property
    def text(self) -> str:
        """All that was told."""
        return "\n".join(self.told)

    def facts(self) -> dict[str, str]:
        return {"interface": "scripted"}

    def tell(self, text: str) -> None:
        self.told.append(text)

    def keep(self, rgb: np.ndarray, *, name: str) -> str:
        assert name not in self.kept, f"{name} is kept twice"
        self.kept[name] = rgb
        return f"/seen/{name}.png"

    def show(self, rgb: np.ndarray) -> None:
        self.shown.append(rgb)

    def ask(self, prompt: str, *, complete: Completer) -> str:
        while self._lines and self._lines[0].endswith("\t"):
            typed = self._lines.pop(0)[:-1]
            found = complete(typed)
            self.offered[typed] = [typed[: len(typed) - c.replaces] + c.text for c in found]
        if not self._lines:
            raise KeyboardInterrupt
        return self._lines.pop(0)
