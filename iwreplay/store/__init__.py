"""The store: a directory of episodes, each one log with what was derived from it beside it."""

from __future__ import annotations

from iwreplay.store.contents import Contents
from iwreplay.store.directory import (
    MARKER,
    STORE_VERSION,
    Episode,
    Store,
    decode_marker,
    encode_marker,
    log_at,
    natural,
    safe_id,
    write_whole,
)
from iwreplay.store.pixels import KeptPixels
from iwreplay.store.present import PresentScorer, keep_present, present_scorers
from iwreplay.store.scorebook import BookedScore, ScoreBook, ScoredTask, ScoreKey, joined_scores
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
    "MARKER",
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
    "ScoredTask",
    "Status",
    "StepVerdict",
    "Store",
    "VerdictClaim",
    "decode_marker",
    "encode_marker",
    "joined_scores",
    "keep_present",
    "kept_verdicts",
    "log_at",
    "natural",
    "present_scorers",
    "safe_id",
    "status_of",
    "verdicts_stamp",
    "write_whole",
]
