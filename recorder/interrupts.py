"""Ctrl-C without a torn log: the episode stops at the next point where it may be left, or at once while it waits for a
participant."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from iwreplay.events import ModelCall, Participant, PrimitiveOutcome
from iwreplay.loop import EpisodeStopped
from iwreplay.ports import Assistant, AssistantAct, AssistantView, Consults, Human, HumanAct, HumanView

__all__ = ["Interrupts"]


class Interrupts:
    """A context in which the first Ctrl-C is remembered and the second one breaks off without an end in the log.

    Outside the main thread nothing is installed: there the signals go elsewhere anyway.
    """

    def __init__(self) -> None:
        self.requested = False
        #: True while a participant is asked: its answer may take minutes, and nothing is being written
        self.waiting = False
        self._previous: Any = None
        self._installed = False

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
            self._installed = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._previous)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise EpisodeStopped
        self.requested = True
        if self.waiting:
            raise KeyboardInterrupt

    def checkpoint(self) -> None:
        """Raises KeyboardInterrupt when Ctrl-C was pressed before."""
        if self.requested:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within, Ctrl-C raises KeyboardInterrupt at once, as does one that came before."""
        self.checkpoint()
        self.waiting = True
        try:
            yield
        finally:
            self.waiting = False

    def assistant(self, assistant: Assistant) -> Assistant:
        """The same Assistant, interruptible while it thinks."""
        return _WaitingAssistant(assistant, self)

    def human(self, human: Human) -> Human:
        """The same Human, interruptible while it thinks."""
        return _WaitingHuman(human, self)


def _calls_of(who: Assistant | Human) -> tuple[ModelCall, ...]:
    return who.take_calls() if isinstance(who, Consults) else ()


class _WaitingAssistant:
    def __init__(self, inner: Assistant, interrupts: Interrupts) -> None:
        self._inner, self._interrupts = inner, interrupts

    def take_calls(self) -> tuple[ModelCall, ...]:
        return _calls_of(self._inner)

    def about(self) -> Participant:
        return self._inner.about()

    def decide(self, view: AssistantView) -> AssistantAct:
        with self._interrupts.listening():
            return self._inner.decide(view)


class _WaitingHuman:
    def __init__(self, inner: Human, interrupts: Interrupts) -> None:
        self._inner, self._interrupts = inner, interrupts

    def take_calls(self) -> tuple[ModelCall, ...]:
        return _calls_of(self._inner)

    def about(self) -> Participant:
        return self._inner.about()

    def act(self, view: HumanView) -> HumanAct:
        with self._interrupts.listening():
            return self._inner.act(view)

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        with self._interrupts.listening():
            return self._inner.report(outcomes)
