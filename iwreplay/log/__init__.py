"""The log of an episode: append-only, verified, sealed. FORMAT.md is its specification.

Write with `LogWriter`, read with `read_log`, audit with `check`, end a killed recording with `seal`, salvage a damaged
one with `recover`. `state_at` gives the world at any event.
"""

from __future__ import annotations

from iwreplay.log.audit import LogCheck, check, seal
from iwreplay.log.format import FORMAT_VERSION, LostRange, Recovered
from iwreplay.log.reader import LogReader, read_log
from iwreplay.log.recovery import Recovery, recover
from iwreplay.log.scan import Problem, State
from iwreplay.log.seek import state_at
from iwreplay.log.sink import EventSink, MemoryLog
from iwreplay.log.writer import LogWriter

__all__ = [
    "FORMAT_VERSION",
    "EventSink",
    "LogCheck",
    "LogReader",
    "LogWriter",
    "LostRange",
    "MemoryLog",
    "Problem",
    "Recovered",
    "Recovery",
    "State",
    "check",
    "read_log",
    "recover",
    "seal",
    "state_at",
]
