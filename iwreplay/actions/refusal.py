"""How a planner of primitives says no: one exception that carries the refusal upwards to the engine."""

from __future__ import annotations

from iwreplay.errors import IwreplayError
from iwreplay.motion.model import Refusal

__all__ = ["RefusedError", "refuse"]


class RefusedError(IwreplayError):
    """A command cannot be carried out. Nothing has moved. Caught by the engine, which turns it into an outcome."""

    exit_code = 1

    def __init__(self, refusal: Refusal, *, verb: str = "", primitive: str = "") -> None:
        self.refusal, self.verb, self.primitive = refusal, verb, primitive
        super().__init__(f"{refusal.code}: {refusal.sentence}")


def refuse(code: str, sentence: str, *, blocker: str = "") -> RefusedError:
    """The exception to raise for `code`, with a sentence in public words."""
    return RefusedError(Refusal(code, sentence, blocker))
