"""The task bootstrap and the figures that are made for it."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.errors import StatisticsError
from iwreplay.statistics.arrays import Floats, product
from iwreplay.statistics.figures import difference, family_mean, label_shares, ratio
from iwreplay.statistics.resampling import bootstrap, draw_tasks, percentile_interval

FAMILIES = st.lists(st.sampled_from("abc"), min_size=1, max_size=12)


def rng(seed: int = 11) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(FAMILIES, st.integers(1, 40), st.integers(0, 2**32))
def test_each_family_keeps_its_size(families: list[str], resamples: int, seed: int) -> None:
    drawn = draw_tasks(families, resamples=resamples, rng=rng(seed))
    assert drawn.shape == (resamples, len(families))
    for family, size in Counter(families).items():
        of = [f == family for f in families]
        assert (drawn[:, of].sum(axis=1) == size).all()


def test_tasks_are_drawn_evenly() -> None:
    drawn = draw_tasks(["a"] * 4 + ["b"] * 2, resamples=20_000, rng=rng())
    assert drawn.mean(axis=0) == pytest.approx(np.ones(6), abs=0.03)
    # binomial: 4 draws with probability 1/4, 2 with 1/2
    assert drawn.var(axis=0) == pytest.approx([0.75] * 4 + [0.5] * 2, abs=0.03)


@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 5))
def test_a_product_in_slices_is_the_product(rows: int, inner: int, columns: int) -> None:
    a, b = rng().random((rows, inner)), rng(1).random((inner, columns))
    assert product(a, b) == pytest.approx(a @ b, rel=1e-12)


@given(FAMILIES, st.floats(-1e3, 1e3), st.integers(0, 99))
@settings(max_examples=50)
def test_constant_data_are_a_point(families: list[str], value: float, seed: int) -> None:
    ones = [1.0] * len(families)
    statistics = (
        ratio([value] * len(families), denominators=ones),
        family_mean([value] * len(families), denominators=ones, families=families),
    )
    for statistic in statistics:
        (found,) = bootstrap(statistic, families=families, rng=rng(seed), resamples=50)
        assert found.interval is not None
        assert (found.value, found.interval.low, found.interval.high) == pytest.approx((value,) * 3)
        assert found.undefined == 0


@given(FAMILIES, st.data())
@settings(max_examples=50)
def test_a_resample_is_what_a_loop_over_its_tasks_gives(families: list[str], data: st.DataObject) -> None:
    numbers = st.lists(st.integers(0, 5).map(float), min_size=len(families), max_size=len(families))
    above, below = data.draw(numbers), data.draw(numbers)
    seen: list[Floats] = []
    whole = family_mean(above, denominators=below, families=families)

    def watched(weights: Floats) -> Floats:
        seen.append(weights)
        return whole(weights)

    (found,) = bootstrap(watched, families=families, rng=rng(), resamples=20)
    figures = []
    for weights in seen[-1]:
        tasks = [i for i, w in enumerate(weights) for _ in range(int(w))]
        means = []
        for family in dict.fromkeys(families):
            of = [i for i in tasks if families[i] == family]
            bottom = sum(below[i] for i in of)
            means.append(sum(above[i] for i in of) / bottom if bottom else math.nan)
        figures.append(sum(means) / len(means))
    defined = [f for f in figures if not math.isnan(f)]
    assert found.undefined == 20 - len(defined)
    if found.value is not None and defined:
        assert found.interval is not None
        assert (found.interval.low, found.interval.high) == pytest.approx(
            tuple(np.quantile(defined, [0.025, 0.975])), abs=1e-12
        )


def test_the_strata_matter() -> None:
    """Families that differ from each other and not within: a stratified bootstrap has nothing to vary."""
    families = ["a"] * 5 + ["b"] * 5
    statistic = ratio([0.0] * 5 + [1.0] * 5, denominators=[1.0] * 10)
    (found,) = bootstrap(statistic, families=families, rng=rng(), resamples=200)
    assert found.interval is not None
    assert (found.value, found.interval.low, found.interval.high) == (0.5, 0.5, 0.5)


def test_all_episodes_of_a_task_go_together() -> None:
    """Ten seeds of each of two tasks say no more than the two tasks: the share is 0, a half or 1."""
    statistic = ratio([10.0, 0.0], denominators=[10.0, 10.0])
    (found,) = bootstrap(statistic, families=["a", "a"], rng=rng(), resamples=2000)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)


def test_a_seed_is_an_answer() -> None:
    families = ["a"] * 6 + ["b"] * 6
    statistic = ratio([float(i) for i in range(12)], denominators=[1.0] * 12)
    one, same, other = (bootstrap(statistic, families=families, rng=rng(s), resamples=500) for s in (1, 1, 2))
    assert one == same
    assert one != other


def test_coverage_of_a_mean() -> None:
    """Of 200 made-up benchmarks nine in ten intervals or more hold the truth: percentiles are a bit short."""
    families, held, chance = ["a"] * 20 + ["b"] * 20, 0, rng(5)
    for _ in range(200):
        passed = [float(v) for v in np.concatenate([chance.random(20) < 0.3, chance.random(20) < 0.7])]
        (found,) = bootstrap(ratio(passed, denominators=[1.0] * 40), families=families, rng=chance, resamples=400)
        assert found.interval is not None
        held += found.interval.low <= 0.5 <= found.interval.high
    assert 176 <= held <= 199


def test_action_cost_is_a_mean_of_ratios_over_what_passed() -> None:
    # task 1: ratios 1 and 2; task 2: none passed; task 3: ratio 6
    (found,) = bootstrap(ratio([3.0, 0.0, 6.0], denominators=[2.0, 0.0, 1.0]), families=["a"] * 3, rng=rng())
    assert found.value == 3.0
    # a resample of task 2 alone has no ratio: 1 of 27
    assert found.undefined == pytest.approx(10_000 / 27, rel=0.2)


def test_shares_of_labels() -> None:
    counts = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    found = bootstrap(label_shares(counts, labels=3), families=["a", "a", "b", "b"], rng=rng(), resamples=2000)
    assert [f.value for f in found] == [0.75, 0.25, 0.0]
    assert all(f.interval is not None and f.interval.low <= f.interval.high for f in found)
    assert (found[2].interval.low, found[2].interval.high) == (0.0, 0.0)  # type: ignore[union-attr]
    nothing = bootstrap(label_shares([[0.0, 0.0]], labels=2), families=["a"], rng=rng(), resamples=5)
    assert [(f.value, f.interval, f.undefined, f.reason) for f in nothing] == [
        (None, None, 5, "nothing was counted")
    ] * 2


def test_a_difference_is_of_the_same_tasks() -> None:
    """Two arms that are alike on every task do not differ in any resample, whatever the tasks vary."""
    one = ratio([0.0, 1.0, 5.0], denominators=[1.0] * 3)
    (found,) = bootstrap(difference(one, one), families=["a"] * 3, rng=rng(), resamples=100)
    assert found.interval is not None
    assert (found.value, found.interval.low, found.interval.high) == (0.0, 0.0, 0.0)


def test_no_tasks_at_all() -> None:
    for statistic in (
        ratio([], denominators=[]),
        family_mean([], denominators=[], families=[]),
        label_shares([], labels=1),
    ):
        (found,) = bootstrap(statistic, families=[], rng=rng(), resamples=3)
        assert (found.value, found.interval, found.undefined) == (None, None, 3)
    assert percentile_interval([]) is None


def test_what_can_not_be() -> None:
    statistic = ratio([1.0], denominators=[1.0])
    with pytest.raises(StatisticsError, match="0"):
        bootstrap(statistic, families=["a"], rng=rng(), resamples=0)
    with pytest.raises(StatisticsError, match=r"2\.0"):
        bootstrap(statistic, families=["a"], rng=rng(), level=2.0)
    with pytest.raises(StatisticsError, match="denominators has 1"):
        ratio([1.0, 2.0], denominators=[1.0])
    with pytest.raises(StatisticsError, match="finite"):
        ratio([math.nan], denominators=[1.0])
    with pytest.raises(StatisticsError, match="2 labels"):
        label_shares([[1.0]], labels=2)
    with pytest.raises(StatisticsError, match="one by one"):
        bootstrap(difference(statistic, label_shares([[1.0, 1.0]], labels=2)), families=["a"], rng=rng())
    with pytest.raises(StatisticsError, match="1 rows"):
        bootstrap(lambda w: w[0], families=["a"], rng=rng())
