"""An end to waiting.

The time-outs of HTTP clients are for one wait on a socket: a provider that sends a byte now and then is never late by
them. So a call is made in a thread of its own, and left alone there when its time is up; what it brings later is
dropped. A thread can't be stopped from outside; as a daemon it keeps no process from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["TooSlowError", "within"]

T = TypeVar("T")


class TooSlowError(Exception):
    """What was called did not end in time."""

    #: that of a request time-out in HTTP, by which it is told from what is not worth asking again
    status_code = 408


def within(seconds: float, call: Callable[[], T]) -> T:
    """What `call` returns, or raises, when it ends in so many seconds; else TooSlowError. Ctrl-C ends the wait."""
    came: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            came.append(call())
        except BaseException as e:  # noqa: BLE001  raised again by who waits
            failed.append(e)

    thread = threading.Thread(target=work, daemon=True, name="waiting for a provider")
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not came:
        raise TooSlowError(f"no whole answer in {seconds:g} s")
    return came[0]
