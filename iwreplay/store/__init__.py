"""The store: a directory of episodes, each one log with what was derived from it beside it."""

from __future__ import annotations

from iwreplay.store.contents import Contents
from iwreplay.store.directory import STORE_VERSION, Episode, Store, log_at, safe_id, write_whole
from iwreplay.store.pixels import KeptPixels
from iwreplay.store.present import PresentScorer, keep_present, present_scorers
from iwreplay.store.scorebook import BookedScore, ScoreBook, ScoreKey
from iwreplay.store.status import STATUSES, Status, status_of
from iwreplay.store.verdicts import (
    EnvironmentChange,
    FirstDivergence,
    KeptVerdict,
    ReplayVerdict,
    StepVerdict,
    VerdictClaim,
    kept_verdicts,
    verdicts_stamp,
)

__all__ = [
    "STATUSES",
    "STORE_VERSION",
    "BookedScore",
    "Contents",
    "EnvironmentChange",
    "Episode",
    "FirstDivergence",
    "KeptPixels",
    "KeptVerdict",
    "PresentScorer",
    "ReplayVerdict",
    "ScoreBook",
    "ScoreKey",
    "Status",
    "StepVerdict",
    "Store",
    "VerdictClaim",
    "keep_present",
    "kept_verdicts",
    "log_at",
    "present_scorers",
    "safe_id",
    "status_of",
    "verdicts_stamp",
    "write_whole",
]
