"""Shares with Wilson intervals, and the tails of distributions that p-values need."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2, norm

from iwreplay.errors import StatisticsError
from iwreplay.statistics.proportions import share_of, wilson
from iwreplay.statistics.tails import binomial_p, chi_square_quantile_1df, chi_square_tail, two_sided_z

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVELS = st.floats(0.01, 0.999)


@given(COUNTS, LEVELS)
def test_wilson_holds_its_share_and_is_that_of_scipy(counts: tuple[int, int], level: float) -> None:
    k, n = counts
    found = wilson(k, n=n, level=level)
    assert found is not None
    assert 0.0 <= found.low <= k / n <= found.high <= 1.0
    theirs = binomtest(k, n).proportion_ci(level, method="wilson")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(COUNTS)
def test_wilson_of_failures_mirrors_that_of_successes(counts: tuple[int, int]) -> None:
    k, n = counts
    one, other = wilson(k, n=n), wilson(n - k, n=n)
    assert one is not None
    assert other is not None
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)


def test_the_ends_are_the_ends() -> None:
    none, every = wilson(0, n=20), wilson(20, n=20)
    assert none is not None
    assert every is not None
    assert none.low == 0.0
    assert every.high == 1.0
    assert none.high == pytest.approx(0.1611, abs=5e-5)


def test_nothing_of_nothing_is_undefined() -> None:
    found = share_of(0, n=0)
    assert (found.share, found.interval) == (None, None)
    assert share_of(5, n=20).share == 0.25


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2), (0, -1)])
def test_no_share(k: int, n: int) -> None:
    with pytest.raises(StatisticsError, match=str(k)):
        wilson(k, n=n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_no_level(level: float) -> None:
    with pytest.raises(StatisticsError, match="level"):
        wilson(1, n=2, level=level)
    with pytest.raises(StatisticsError, match="level"):
        wilson(0, n=0, level=level)


@given(st.floats(0, 300), st.integers(1, 40))
def test_chi_square_tails_are_those_of_scipy(x: float, df: int) -> None:
    assert chi_square_tail(x, df=df) == pytest.approx(chi2.sf(x, df), rel=1e-11, abs=1e-300)


def test_chi_square_at_its_ends() -> None:
    assert chi_square_tail(-1e-13, df=3) == 1.0
    assert chi_square_tail(5000.0, df=2) == 0.0
    with pytest.raises(StatisticsError, match="0"):
        chi_square_tail(1.0, df=0)


@given(LEVELS)
def test_quantiles_are_those_of_scipy(level: float) -> None:
    assert two_sided_z(level) == pytest.approx(norm.ppf((1 + level) / 2), rel=1e-9)
    assert chi_square_quantile_1df(level) == pytest.approx(chi2.ppf(level, 1), rel=1e-9)


@given(st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_binomial_p_is_that_of_scipy(counts: tuple[int, int]) -> None:
    k, n = counts
    theirs = binomtest(k, n).pvalue if n else 1.0
    assert binomial_p(k, n=n) == pytest.approx(theirs, rel=1e-9)
    assert binomial_p(k, n=n) == binomial_p(n - k, n=n)


def test_binomial_p_needs_a_count() -> None:
    with pytest.raises(StatisticsError, match="4"):
        binomial_p(4, n=3)
