"""Two arms on the same instances."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from iwreplay.errors import StatisticsError
from iwreplay.statistics.paired import EXACT_TASKS, mcnemar, sign_flip

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)
#: halves and quarters, so that ties are ties
STEPS = st.integers(-4, 4).map(lambda i: i / 4)


def rng(seed: int = 11) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(PAIRS)
def test_mcnemar_is_a_binomial_test_of_what_differs(pairs: list[tuple[bool, bool]]) -> None:
    found = mcnemar([a for a, _ in pairs], second=[b for _, b in pairs])
    assert found.both + found.only_first + found.only_second + found.neither == len(pairs)
    differing = found.only_first + found.only_second
    assert found.p == pytest.approx(binomtest(found.only_first, differing).pvalue if differing else 1.0)
    other = mcnemar([b for _, b in pairs], second=[a for a, _ in pairs])
    assert (other.p, other.only_first) == (found.p, found.only_second)


def test_mcnemar_by_hand() -> None:
    found = mcnemar([True] * 6 + [False] * 2, second=[False] * 5 + [True, True, False])
    assert (found.both, found.only_first, found.only_second, found.neither) == (1, 5, 1, 1)
    assert found.p == 2 * (1 + 6) / 64
    assert mcnemar([], second=[]).p is None
    with pytest.raises(StatisticsError, match="first has 1, second has 0"):
        mcnemar([True], second=[])


@given(st.lists(STEPS, min_size=1, max_size=9))
def test_a_few_tasks_are_enumerated(differences: list[float]) -> None:
    found = sign_flip(differences, rng=rng())
    observed = abs(sum(differences))
    patterns = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
                for signs in product((1, -1), repeat=len(differences))]  # fmt: skip
    assert found.method == "exact"
    assert found.p == pytest.approx(sum(p >= observed - 1e-12 for p in patterns) / len(patterns))
    assert found.patterns == 2**found.differing


@given(st.lists(STEPS, min_size=20, max_size=40))
@settings(max_examples=30)
def test_p_is_never_zero_and_forgets_the_order_of_the_arms(differences: list[float]) -> None:
    found = sign_flip(differences, rng=rng(), resamples=200)
    assert found.p is not None
    assert 0.0 < found.p <= 1.0
    mirrored = sign_flip([-d for d in differences], rng=rng(), resamples=200)
    assert mirrored.p == found.p
    assert found.method == ("exact" if found.differing <= EXACT_TASKS else "monte_carlo")


def test_a_monte_carlo_p_is_near_the_exact_one() -> None:
    """All differences are 1 or -1, so that the exact p is binomial."""
    differences = [1.0] * 18 + [-1.0] * 7
    found = sign_flip(differences, rng=rng(), resamples=20_000)
    assert found.p == pytest.approx(binomtest(18, 25).pvalue, abs=0.004)
    assert found.statement == "sign-flip permutation by task: 20000 random patterns, p = (1 + #) / (1 + 20000)"
    assert found == sign_flip(differences, rng=rng(), resamples=20_000)


def test_an_extreme_p_is_one_of_those_drawn() -> None:
    found = sign_flip([1.0] * 100, rng=rng(), resamples=999)
    assert found.p == 1 / 1000


def test_degenerate_arms() -> None:
    same = sign_flip([0.0] * 5, rng=rng())
    assert (same.p, same.mean_difference, same.differing, same.patterns) == (1.0, 0.0, 0, 1)
    assert same.statement == "exact sign-flip permutation by task: all 1 patterns"
    nothing = sign_flip([], rng=rng())
    assert (nothing.p, nothing.mean_difference) == (None, None)
    one = sign_flip([0.5], rng=rng())
    assert one.p == 1.0
    with pytest.raises(StatisticsError, match="finite"):
        sign_flip([float("nan")], rng=rng())


def test_rounding_decides_no_tie() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floats; every pattern with that sum counts all the same."""
    assert sign_flip([0.1, 0.2, -0.3], rng=rng()).p == 1.0
