"""Scorers: pure functions `(events, task) -> Score | Unscorable` over whole logs, and their aggregates."""

from __future__ import annotations

from scorers.aggregate import CapabilityShare, FamilyMean, FamilyTable, Row, by_capability, by_family
from scorers.identity import judging_hash, modules_of, scorer_hash
from scorers.model import Score, Scorer, Unscorable
from scorers.registry import SCORERS, score_all, scorer_named

__all__ = [
    "SCORERS",
    "CapabilityShare",
    "FamilyMean",
    "FamilyTable",
    "Row",
    "Score",
    "Scorer",
    "Unscorable",
    "by_capability",
    "by_family",
    "judging_hash",
    "modules_of",
    "score_all",
    "scorer_hash",
    "scorer_named",
]
