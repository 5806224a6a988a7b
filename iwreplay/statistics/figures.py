"""Figures as functions of task weights, to be given to `bootstrap`: ratios, means of families, shares, differences.

Each builder takes sums by task and returns a `Statistic`. The mean of ratios (action cost, rule 36) is `ratio` with the
sum of a task's ratios above and their number below; the ratio of sums has steps above and oracle steps below; a mean
over episodes (MCR) has their values above and their number below.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iwreplay.errors import StatisticsError
from iwreplay.statistics.arrays import Flags, Floats, product
from iwreplay.statistics.resampling import Statistic
from iwreplay.statistics.results import check_same_length

__all__ = ["difference", "family_mean", "label_shares", "ratio"]


def ratio(numerators: Sequence[float], *, denominators: Sequence[float]) -> Statistic:
    """One figure: the sum of numerators over that of denominators. Undefined where the latter is 0."""
    check_same_length(numerators=len(numerators), denominators=len(denominators))
    above, below = _column(numerators), _column(denominators)
    return lambda weights: _quotient(product(weights, above), product(weights, below))


def family_mean(numerators: Sequence[float], *, denominators: Sequence[float], families: Sequence[str]) -> Statistic:
    """One figure: the mean of the families' ratios, each family weighing the same (rule 33).

    Undefined where a family of `families` has nothing to divide by.
    """
    check_same_length(numerators=len(numerators), denominators=len(denominators), families=len(families))
    names = list(dict.fromkeys(families))
    member = np.array([[f == name for name in names] for f in families], dtype=np.float64)
    member = member.reshape(len(families), len(names))
    above, below = member * _column(numerators), member * _column(denominators)

    def figure(weights: Floats) -> Floats:
        ratios = _quotient(product(weights, above), product(weights, below))
        return ratios.mean(axis=1, keepdims=True) if ratios.shape[1] else np.full((len(weights), 1), np.nan)

    return figure


def label_shares(counts: Sequence[Sequence[float]], *, labels: int) -> Statistic:
    """`labels` figures: the share of each label among all labelled episodes. `counts` has a row for each task.

    For distributions of first errors (rule 37). All are undefined where nothing is labelled.
    """
    if any(len(row) != labels for row in counts):
        raise StatisticsError(f"each task has one count for each of {labels} labels")
    table = np.array(counts, dtype=np.float64).reshape(len(counts), labels)

    def figures(weights: Floats) -> Floats:
        totals = product(weights, table)
        return _quotient(totals, totals.sum(axis=1, keepdims=True))

    return figures


def difference(first: Statistic, second: Statistic) -> Statistic:
    """First less second, figure by figure, both over the same resample: the tasks are the same, in the same order."""

    def figures(weights: Floats) -> Floats:
        one, other = first(weights), second(weights)
        if one.shape != other.shape:
            raise StatisticsError(f"{one.shape[1]} figures less {other.shape[1]} figures: a difference is one by one")
        return one - other

    return figures


def _column(values: Sequence[float]) -> Floats:
    column = np.array(values, dtype=np.float64).reshape(-1, 1)
    if not np.isfinite(column).all():
        raise StatisticsError("a task's sums are finite numbers")
    return column


def _quotient(above: Floats, below: Floats) -> Floats:
    whole: Flags = np.broadcast_to(below > 0, above.shape)
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=whole))
