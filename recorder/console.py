"""A screen and a keyboard with one person at them: what a participant who is a person needs, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Completer", "Completion", "Console", "no_completion"]


class Completion(msgspec.Struct, frozen=True):
    """What a line that is being typed may become."""

    text: str
    #: so many of the last characters that were typed give way to it
    replaces: int


#: what was typed so far -> what it may become
Completer = Callable[[str], tuple[Completion, ...]]


class Console(Protocol):
    """One person's screen and keyboard."""

    def facts(self) -> dict[str, str]:
        """How the person sees and types, as parameters of a participant; the same throughout an episode."""
        ...

    def tell(self, text: str) -> None:
        """Shows text, which may have several lines."""
        ...

    def keep(self, rgb: np.ndarray, *, name: str) -> str:
        """Keeps a picture, uint8 (height, width, 3), for the person to look at; says where it is. OSError when the disk
        refuses."""
        ...

    def show(self, rgb: np.ndarray) -> None:
        """Shows a picture right away, where the screen can."""
        ...

    def ask(self, prompt: str, *, complete: Completer) -> str:
        """A line that the person types, without its end. KeyboardInterrupt when the person leaves, or input ends."""
        ...


def no_completion(typed: str) -> tuple[Completion, ...]:
    """For what is free text."""
    return ()
