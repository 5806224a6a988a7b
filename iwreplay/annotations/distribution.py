"""First errors of many episodes: counted over valid failures only, with everything that is left out beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from iwreplay.annotations.model import LABELS, ErrorLabel, InvalidReason
from iwreplay.annotations.results import Result

__all__ = ["Distribution", "distribution"]


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """First errors of a set of failed episodes."""

    #: valid failures: labelled + open + unlabelled
    failures: int
    #: valid failures with a label that holds; shares are of these
    labelled: int
    #: label -> how many of them
    counts: dict[ErrorLabel, int]
    #: label -> share of `labelled`; None while nothing is labelled
    shares: dict[ErrorLabel, float | None]
    #: somebody said something of it, and nothing holds yet
    open: int
    unlabelled: int
    #: failures that are invalid, as annotators found; in no share
    invalid: int
    #: reason -> invalid failures that it was given for; one may have several
    reasons: dict[InvalidReason, int]


def distribution(results: Iterable[Result]) -> Distribution:
    """Of the results of failed episodes (valid by their logs, and not passed)."""
    found = tuple(results)
    invalid = [r for r in found if r.outcome == "invalid"]
    counts = Counter(r.outcome for r in found if r.outcome is not None and r.outcome != "invalid")
    labelled = counts.total()
    return Distribution(
        failures=len(found) - len(invalid),
        labelled=labelled,
        counts={name: counts[name] for name in LABELS},
        shares={name: counts[name] / labelled if labelled else None for name in LABELS},
        open=sum(r.status == "open" for r in found),
        unlabelled=sum(r.status == "unlabelled" for r in found),
        invalid=len(invalid),
        reasons=dict(sorted(Counter(reason for r in invalid for reason in r.reasons).items())),
    )
