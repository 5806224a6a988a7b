"""Ctrl-C while DuckDB works: the library looks at signals only now and then, and in some queries never."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import TypeVar

import duckdb

__all__ = ["interruptibly"]

Result = TypeVar("Result")

#: how often the waiting thread looks up: a wait without an end can't be interrupted on every platform
_LOOK_UP_S = 0.2


def interruptibly(con: duckdb.DuckDBPyConnection, work: Callable[[], Result]) -> Result:
    """What `work` gives. It runs in a thread of its own, so that Ctrl-C in this one stops what `con` is at."""
    given: list[Result] = []
    raised: list[BaseException] = []
    # not Thread.join: an interrupted one takes the thread for ended before Python 3.13
    ended = Event()

    def run() -> None:
        try:
            given.append(work())
        except BaseException as e:  # noqa: BLE001 - raised below, in the thread that asked
            raised.append(e)
        finally:
            ended.set()

    Thread(target=run, name="duckdb", daemon=True).start()
    try:
        while not ended.wait(_LOOK_UP_S):
            pass
    except KeyboardInterrupt:
        con.interrupt()
        ended.wait()
        raise
    if raised:
        raise raised[0]
    return given[0]
