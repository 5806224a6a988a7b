"""What results are made of: an interval, a resampled figure, and the word for what is undefined."""

from __future__ import annotations

import msgspec

from iwreplay.errors import StatisticsError

__all__ = ["Estimate", "Interval", "Undefined", "check_level", "check_resamples", "check_same_length"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """Two bounds, both included, in the unit of the figure that they belong to."""

    low: float
    high: float
    #: the share of such intervals that should hold the true value, 0 < level < 1
    level: float


class Undefined(msgspec.Struct, frozen=True, kw_only=True):
    """Data that are legal and say nothing about what was asked."""

    reason: str


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with the interval of its resamples."""

    #: of the data as they are; None: undefined there
    value: float | None
    #: None: the value is undefined, or is in every resample
    interval: Interval | None
    resamples: int
    #: resamples in which the figure is undefined; the interval is of the others
    undefined: int
    #: why the value is None
    reason: str | None = None


def check_level(level: float) -> None:
    """Raises StatisticsError unless 0 < level < 1."""
    if not 0.0 < level < 1.0:
        raise StatisticsError(f"a level lies between 0 and 1, such as 0.95; this one is {level!r}")


def check_resamples(resamples: int) -> None:
    """Raises StatisticsError unless there is at least one."""
    if resamples < 1:
        raise StatisticsError(f"at least one resample is needed, not {resamples!r}; 10000 is usual")


def check_same_length(**rows: int) -> None:
    """Raises StatisticsError unless all the lengths are the same."""
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{name} has {length}" for name, length in rows.items())
        raise StatisticsError(f"one value for each is needed, in the same order: {lengths}")
