"""Tails of the chi-square and the binomial distribution, and the normal quantile, without a library for them."""

from __future__ import annotations

import math
from statistics import NormalDist

from iwreplay.errors import StatisticsError
from iwreplay.statistics.results import check_level

__all__ = ["binomial_p", "chi_square_quantile_1df", "chi_square_tail", "two_sided_z"]


def chi_square_tail(x: float, *, df: int) -> float:
    """P(X >= x) for `df` degrees of freedom, a whole number from 1 on. A negative x, from rounding, counts as 0.

    Closed forms (Abramowitz and Stegun 26.4.4 and 26.4.5): exp(-x/2) times a finite sum, plus erfc for odd df.
    """
    if df < 1:
        raise StatisticsError(f"degrees of freedom are 1 or more, not {df!r}")
    half = max(0.0, x) / 2.0
    if df % 2:
        total, term = math.erfc(math.sqrt(half)), math.exp(-half) * math.sqrt(half) / math.gamma(1.5)
        for i in range(1, (df + 1) // 2):
            total += term
            term *= half / (i + 0.5)
    else:
        total, term = 0.0, math.exp(-half)
        for i in range(1, df // 2 + 1):
            total += term
            term *= half / i
    return min(1.0, total)


def two_sided_z(level: float) -> float:
    """The normal quantile that leaves (1 - level) / 2 above it: 1.96 for 0.95."""
    check_level(level)
    return NormalDist().inv_cdf(0.5 + level / 2.0)


def chi_square_quantile_1df(level: float) -> float:
    """What a chi-square with 1 degree of freedom stays under with probability `level`: 3.84 for 0.95."""
    return two_sided_z(level) ** 2


def binomial_p(k: int, *, n: int) -> float:
    """Two-sided p of k of n tosses of a fair coin: twice the smaller tail, at most 1; whole-number arithmetic."""
    if not 0 <= k <= n:
        raise StatisticsError(f"{k!r} of {n!r} is no count of successes")
    tail = sum(math.comb(n, i) for i in range(min(k, n - k) + 1))
    return min(1.0, 2 * tail / (1 << n))
