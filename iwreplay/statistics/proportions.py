"""A share k of n with its Wilson interval."""

from __future__ import annotations

import math

import msgspec

from iwreplay.errors import StatisticsError
from iwreplay.statistics.results import Interval
from iwreplay.statistics.tails import two_sided_z

__all__ = ["Share", "share_of", "wilson"]


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """k of n, 0 to 1."""

    k: int
    n: int
    #: None when n is 0, and so is the interval
    share: float | None
    interval: Interval | None


def wilson(k: int, *, n: int, level: float = 0.95) -> Interval | None:
    """Wilson's (1927) score interval of a proportion, without continuity correction; None when n is 0.

    Right for independent trials: seeds of one task are none, the task bootstrap is for them.
    """
    z = two_sided_z(level)
    if not 0 <= k <= n:
        raise StatisticsError(f"{k!r} of {n!r} is no share: 0 <= k <= n")
    if n == 0:
        return None
    p, z2 = k / n, z * z / n
    middle = (p + z2 / 2.0) / (1.0 + z2)
    half = z * math.sqrt(p * (1.0 - p) / n + z2 / (4.0 * n)) / (1.0 + z2)
    # at the ends the bound is the end itself, which rounding misses
    low = 0.0 if k == 0 else middle - half
    high = 1.0 if k == n else middle + half
    return Interval(low=low, high=high, level=level)


def share_of(k: int, *, n: int, level: float = 0.95) -> Share:
    """k of n with its Wilson interval."""
    return Share(k=k, n=n, share=k / n if n else None, interval=wilson(k, n=n, level=level))
