"""Ctrl-C while a command runs: a KeyboardInterrupt that can't get lost on its way."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["CtrlC", "Pressed"]

#: seconds after which an interrupt that got lost is raised again: by then whatever swallowed it has returned
_AGAIN_S = 0.02


class Pressed(KeyboardInterrupt):
    """Ctrl-C. A class of its own, because Python remembers a plain KeyboardInterrupt that went through `exec`, and
    then ends by the signal instead of with the exit code."""


class CtrlC:
    """A context in which Ctrl-C raises `Pressed` in the main thread, with nothing in its way.

    An exception that is raised while Python runs a finalizer or a callback of a C library (there are many below numba
    and Arrow) has nobody to go to: Python reports and forgets it. Here such an interrupt is raised once more.
    Outside the main thread, and where Ctrl-C is ignored, nothing is installed.
    """

    def __init__(self) -> None:
        self._handler: Any = None
        self._hook: Any = None

    def __enter__(self) -> CtrlC:
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self._handler, self._hook = signal.signal(signal.SIGINT, _raise), sys.unraisablehook
            sys.unraisablehook = self._unraisable
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            sys.unraisablehook = self._hook

    def _unraisable(self, lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(_AGAIN_S, _thread.interrupt_main)
            again.daemon = True
            again.start()
        else:
            self._hook(lost)

    @staticmethod
    def caused(error: BaseException | None) -> bool:
        """Whether an error is what somebody made of Ctrl-C."""
        while error is not None:
            if isinstance(error, KeyboardInterrupt):
                return True
            error = error.__cause__ or error.__context__
        return False


def _raise(number: int, frame: FrameType | None) -> None:
    raise Pressed
