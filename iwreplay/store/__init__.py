"""The store: a directory of episodes, each one log with what was derived from it beside it."""

from __future__ import annotations

from iwreplay.store.directory import STORE_VERSION, Episode, Store, log_at, write_whole
from iwreplay.store.scorebook import BookedScore, ScoreBook, ScoreKey

__all__ = [
    "STORE_VERSION",
    "BookedScore",
    "Episode",
    "ScoreBook",
    "ScoreKey",
    "Store",
    "log_at",
    "write_whole",
]
