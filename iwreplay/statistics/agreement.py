"""How far annotators agree: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha, onsets within a turn.

Ratings are a table: one row for each unit, one column for each annotator, None where one gave no value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import Any, Literal

import msgspec

from iwreplay.errors import StatisticsError

__all__ = [
    "NO_PAIRS",
    "NO_VARIATION",
    "Agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "percent_agreement",
    "share_within",
]

NO_PAIRS = "no unit was rated twice"
NO_VARIATION = "no variation"


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """One coefficient."""

    #: a share from 0 to 1, or a kappa or alpha: 1 is full agreement, 0 what chance gives, negative is worse
    value: float | None
    #: units with two ratings or more, and their ratings: what the value rests on
    units: int
    ratings: int
    #: why the value is None
    reason: str | None = None


def percent_agreement(ratings: Sequence[Sequence[Hashable | None]]) -> Agreement:
    """Share of pairs of ratings of one unit that are the same. Every pair of annotators of a unit is one pair."""
    return _share_of_pairs(ratings, same=lambda a, b: a == b)


def share_within(onsets: Sequence[Sequence[int | None]], *, turns: int = 1) -> Agreement:
    """Share of pairs of onsets of one unit that are at most `turns` turns apart."""
    if turns < 0:
        raise StatisticsError(f"onsets are some turns apart, 0 or more, not {turns!r}")
    return _share_of_pairs(onsets, same=lambda a, b: abs(a - b) <= turns)


def cohen_kappa(ratings: Sequence[Sequence[Hashable | None]]) -> Agreement:
    """Cohen (1960): two annotators; (po - pe) / (1 - pe), with pe from each one's own use of the labels.

    Units that one of them did not rate are left out. Undefined: both gave one and the same label throughout.
    """
    if any(len(row) != 2 for row in ratings):
        raise StatisticsError("Cohen's kappa is for two annotators: two ratings in each row, None for a missing one")
    rows = _paired_rows(ratings)
    n = len(rows)
    if not n:
        return _none(NO_PAIRS)
    first, second = Counter(r[0] for r in rows), Counter(r[1] for r in rows)
    observed = sum(r[0] == r[1] for r in rows)
    chance = sum(first[label] * second[label] for label in first)
    if chance == n * n:
        return _none(NO_VARIATION, units=n, ratings=2 * n)
    return Agreement(value=(observed * n - chance) / (n * n - chance), units=n, ratings=2 * n)


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> Agreement:
    """Fleiss (1971): the same number of ratings for every unit; pe from the pooled use of the labels.

    Raters may be others for each unit, so the order in a row says nothing. Undefined: one label throughout.
    """
    sizes = {len(row) for row in ratings}
    if len(sizes) > 1 or any(v is None for row in ratings for v in row):
        raise StatisticsError(
            "Fleiss' kappa needs the same number of ratings for every unit; alpha allows missing ones"
        )
    n = next(iter(sizes), 0)
    if n < 2:
        return _none(NO_PAIRS)
    units = len(ratings)
    pooled = Counter(v for row in ratings for v in row)
    if len(pooled) == 1:
        return _none(NO_VARIATION, units=units, ratings=units * n)
    agreeing = sum(c * (c - 1) for row in ratings for c in Counter(row).values())
    observed = agreeing / (units * n * (n - 1))
    chance = sum(c * c for c in pooled.values()) / (units * n) ** 2
    return Agreement(value=(observed - chance) / (1.0 - chance), units=units, ratings=units * n)


def krippendorff_alpha(
    ratings: Sequence[Sequence[Any]], *, metric: Literal["nominal", "interval"] = "nominal"
) -> Agreement:
    """Krippendorff (2011): 1 - observed / expected disagreement; any number of annotators, missing ratings allowed.

    The distance of two ratings is 0 or 1 (nominal), or their squared difference (interval; numbers only). Units with
    fewer than two ratings are left out. Undefined: all ratings that count are equal.
    """
    rows = _paired_rows(ratings)
    values = [v for row in rows for v in row]
    units, n = len(rows), len(values)
    if not n:
        return _none(NO_PAIRS)
    if all(v == values[0] for v in values):
        return _none(NO_VARIATION, units=units, ratings=n)
    if metric == "interval":
        if not all(isinstance(v, int | float) and math.isfinite(v) for v in values):
            raise StatisticsError("an interval scale has finite numbers only; labels are nominal")
        distances: Callable[[list[Any]], float] = _squared_differences
    else:
        distances = _unequal_pairs
    observed = math.fsum(distances(row) / (len(row) - 1) for row in rows) / n
    expected = distances(values) / (n * (n - 1))
    return Agreement(value=1.0 - observed / expected, units=units, ratings=n)


def _unequal_pairs(values: list[Any]) -> float:
    """Ordered pairs of values that differ."""
    return float(len(values) ** 2 - sum(c * c for c in Counter(values).values()))


def _squared_differences(values: list[Any]) -> float:
    """Sum of squared differences over ordered pairs: 2 n times the sum of squares about the mean."""
    mean = math.fsum(values) / len(values)
    return 2.0 * len(values) * math.fsum((v - mean) ** 2 for v in values)


def _paired_rows(ratings: Sequence[Sequence[Any]]) -> list[list[Any]]:
    rows = ([v for v in row if v is not None] for row in ratings)
    return [row for row in rows if len(row) >= 2]


def _share_of_pairs(ratings: Sequence[Sequence[Any]], *, same: Callable[[Any, Any], bool]) -> Agreement:
    rows = _paired_rows(ratings)
    if not rows:
        return _none(NO_PAIRS)
    pairs = [same(a, b) for row in rows for a, b in combinations(row, 2)]
    return Agreement(value=sum(pairs) / len(pairs), units=len(rows), ratings=sum(map(len, rows)))


def _none(reason: str, *, units: int = 0, ratings: int = 0) -> Agreement:
    return Agreement(value=None, units=units, ratings=ratings, reason=reason)
