"""The one episode loop, the information boundary, limits, scripted events, and the audit of a finished log."""

from __future__ import annotations

from iwreplay.loop.answers import AnswerError
from iwreplay.loop.audit import STATEMENTS, Audited, audit_episode
from iwreplay.loop.dialogue import dialogue_of
from iwreplay.loop.engine import Engine, EngineFactory, Frames, Watch, WatchFactory
from iwreplay.loop.episode import EpisodeResult, EpisodeStopped, Resumption, run_episode
from iwreplay.loop.fingerprint import environment_fingerprint
from iwreplay.loop.leaks import Leak, LeakScanner, find_leaks, leak_guard
from iwreplay.loop.limits import configured, limits_of
from iwreplay.loop.protocol import CHECKED_STATEMENTS, Violation, protocol_violations

__all__ = [
    "CHECKED_STATEMENTS",
    "STATEMENTS",
    "AnswerError",
    "Audited",
    "Engine",
    "EngineFactory",
    "EpisodeResult",
    "EpisodeStopped",
    "Frames",
    "Leak",
    "LeakScanner",
    "Resumption",
    "Violation",
    "Watch",
    "WatchFactory",
    "audit_episode",
    "configured",
    "dialogue_of",
    "environment_fingerprint",
    "find_leaks",
    "leak_guard",
    "limits_of",
    "protocol_violations",
    "run_episode",
]
