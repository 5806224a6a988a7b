"""The horizon: how passing goes with length."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from firthmodels import FirthLogisticRegression
from hypothesis import given
from hypothesis import strategies as st

from iwreplay.errors import StatisticsError
from iwreplay.statistics.horizon import PooledHorizon, horizon_effect, scaled_lengths
from iwreplay.statistics.results import Undefined

FAMILIES = ["a"] * 12 + ["b"] * 9 + ["c"] * 9
LENGTHS = [4 + (7 * i) % 12 for i in range(12)] + [9 + 3 * i for i in range(9)] + [30 - i for i in range(9)]


def rng(seed: int = 11) -> np.random.Generator:
    return np.random.default_rng(seed)


def benchmark(*, models: int = 4, effect: float = 3.0, seed: int = 2) -> dict[str, list[int]]:
    """Passes by model: log-odds 1 at h = 0, and `effect` less at h = 1."""
    chance, h = np.random.default_rng(seed), np.array(scaled_lengths(LENGTHS, families=FAMILIES))
    p = 1 / (1 + np.exp(-(1 - effect * h)))
    return {f"m{i}": (chance.random(len(h)) < p).astype(int).tolist() for i in range(models)}


def effect(passed: dict[str, list[int]], **options: Any) -> PooledHorizon:
    given = {"families": FAMILIES, "resamples": 300, "permutations": 300, "rng": rng(), **options}
    tried = given.pop("tried", {m: [1] * len(row) for m, row in passed.items()})
    found = horizon_effect(given.pop("lengths", LENGTHS), passed=passed, tried=tried, **given)
    assert isinstance(found, PooledHorizon)
    return found


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 50)), min_size=1, max_size=12))
def test_lengths_are_scaled_within_their_family(tasks: list[tuple[str, int]]) -> None:
    scaled = scaled_lengths([n for _, n in tasks], families=[f for f, _ in tasks])
    for family in {f for f, _ in tasks}:
        of = [(n, h) for (f, n), h in zip(tasks, scaled, strict=True) if f == family]
        lengths = {n for n, _ in of}
        ends = (0.5, 0.5) if len(lengths) == 1 else (0.0, 1.0)
        assert (min(of)[1], max(of)[1]) == ends
        assert [h for _, h in sorted(of)] == sorted(h for _, h in of)


# what the library leaves off depends on how the machine rounds; it warns then
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_pooled_fit_is_that_of_the_library_over_single_episodes() -> None:
    passed = benchmark()
    found = effect(passed)
    x = np.array([[f == "a", f == "b", f == "c", h] for f, h in zip(FAMILIES, found.scaled, strict=True)], dtype=float)
    theirs = FirthLogisticRegression(backend="numpy", fit_intercept=False, gtol=1e-10, xtol=1e-10, max_iter=2000)
    theirs.fit(np.tile(x, (4, 1)), np.concatenate(list(passed.values())))
    *levels, slope = theirs.coef_
    assert found.slope.value == pytest.approx(slope, abs=1e-6)

    def at(h: float) -> float:
        return float(np.mean([1 / (1 + math.exp(-(level + slope * h))) for level in levels]))

    assert found.curve == pytest.approx([at(h) for h in found.grid], abs=1e-7)
    assert found.change_points.value == pytest.approx(100 * (at(1) - at(0)), abs=1e-5)
    one = theirs.fit(x, np.array(passed["m2"]))
    assert found.models[2].slope == pytest.approx(one.coef_[-1], abs=1e-6)


def test_an_effect_is_found_and_told() -> None:
    found = effect(benchmark())
    assert found.slope.value is not None
    assert found.slope.interval is not None
    assert found.slope.interval.low < found.slope.value < found.slope.interval.high < 0.0
    assert found.change_points.interval is not None
    assert -100.0 < found.change_points.interval.low < found.change_points.interval.high < 0.0
    assert found.p == 1 / 301
    assert (found.tasks, found.episodes, len(found.models)) == (30, 120, 4)
    assert (found.grid[0], found.grid[-1], len(found.grid)) == (0.0, 1.0, 51)
    assert all(b is not None and b.low <= p <= b.high for b, p in zip(found.band, found.curve, strict=True))
    assert list(found.curve) == sorted(found.curve, reverse=True)
    assert found.statement == (
        "association of passing with oracle length over 30 tasks and 120 episodes: "
        "300 resamples of tasks within family, 0 of them without a fit; 300 permutations of length "
        "within family, 0 of them without a fit"
    )


def test_longer_tasks_that_pass_more_often_are_no_evidence() -> None:
    """The test is one-sided: p is near 1 when the slope goes up."""
    found = effect(benchmark(effect=-4.0))
    assert found.slope.value is not None
    assert found.slope.value > 0
    assert found.p > 0.95


def test_turning_the_lengths_turns_the_slope() -> None:
    passed = benchmark()
    one, other = effect(passed), effect(passed, lengths=[100 - n for n in LENGTHS])
    assert one.slope.value == pytest.approx(-other.slope.value, abs=1e-8)  # type: ignore[operator]
    assert one.change_points.value == pytest.approx(-other.change_points.value, abs=1e-7)  # type: ignore[operator]


def test_p_is_that_of_all_permutations() -> None:
    """Three tasks of one family: 6 orders, of which the share with a slope as low can be counted."""
    passed, lengths = [2, 1, 0], [1, 2, 3]

    def slope(order: tuple[int, ...]) -> float:
        found = horizon_effect(
            lengths, families=["a"] * 3, passed={"m": [passed[i] for i in order]}, tried={"m": [2] * 3},
            rng=rng(), resamples=1, permutations=1,
        )  # fmt: skip
        assert isinstance(found, PooledHorizon)
        assert found.slope.value is not None
        return found.slope.value

    slopes = [slope(order) for order in permutations(range(3))]
    exact = sum(s <= slopes[0] + 1e-9 for s in slopes) / 6
    found = horizon_effect(
        lengths,
        families=["a"] * 3,
        passed={"m": passed},
        tried={"m": [2] * 3},
        rng=rng(),
        permutations=4000,
        resamples=1,
    )
    assert isinstance(found, PooledHorizon)
    assert exact == 1 / 6
    assert found.p == pytest.approx(exact, abs=0.02)


def test_without_an_effect_p_is_even() -> None:
    """Over made-up benchmarks without an effect p lies anywhere."""
    ps = [effect(benchmark(effect=0.0, seed=s), permutations=200, resamples=1).p for s in range(40)]
    assert 0.35 < sum(ps) / 40 < 0.65
    assert 0 < sum(p <= 0.25 for p in ps) < 20


@pytest.mark.parametrize("outcome", [0, 1])
def test_all_and_none_pass(outcome: int) -> None:
    """Nothing differs under a permutation, so p is 1; the curves are finite and flat."""
    found = effect({f"m{i}": [outcome] * 30 for i in range(5)})
    assert found.p == 1.0
    assert found.slope.value is not None
    assert abs(found.slope.value) < 0.3
    assert all((p > 0.9) == bool(outcome) for p in found.curve)


def test_a_seed_is_an_answer() -> None:
    passed = benchmark(effect=1.0)
    assert effect(passed) == effect(passed)
    other = effect(passed, rng=rng(12))
    assert other.slope.interval != effect(passed).slope.interval
    assert other.slope.value == effect(passed).slope.value


def test_one_model_and_one_family() -> None:
    passed = {"m": [1, 1, 1, 0, 1, 0, 0, 0]}
    found = effect(passed, families=["a"] * 8, lengths=list(range(1, 9)))
    assert found.models[0].slope == pytest.approx(found.slope.value)
    assert found.models[0].curve == pytest.approx(found.curve)
    assert found.p < 0.1


def test_missing_episodes_are_left_out() -> None:
    passed = benchmark()
    tried = {m: [1] * 30 for m in passed}
    for i in range(21, 30):
        for m in passed:
            passed[m][i] = tried[m][i] = 0
    # a family without episodes has no intercept
    found = effect(passed, tried=tried)
    short = effect({m: row[:21] for m, row in passed.items()}, families=FAMILIES[:21], lengths=LENGTHS[:21])
    assert (found.tasks, found.episodes) == (21, 84)
    assert found.slope.value == pytest.approx(short.slope.value, abs=1e-8)
    assert found.curve == pytest.approx(short.curve, abs=1e-8)


def test_a_model_without_episodes_has_no_curve() -> None:
    passed = {**benchmark(), "idle": [0] * 30, "once": [1] + [0] * 29}
    tried = {m: [1] * 30 for m in benchmark()} | {"idle": [0] * 30, "once": [1] + [0] * 29}
    found = effect(passed, tried=tried)
    *_, idle, once = found.models
    assert (idle.slope, idle.change_points, idle.curve, idle.reason) == (None, None, (), "there are no episodes")
    assert once.reason == "no family has recorded tasks of two lengths"


def test_resamples_without_a_slope_are_counted() -> None:
    """Two tasks: half of the resamples have one of them twice, and no slope. A permutation always has one."""
    found = effect({"m": [3, 1]}, tried={"m": [4, 4]}, families=["a", "a"], lengths=[1, 2], resamples=1000)
    assert 400 < found.slope.undefined < 600
    assert found.slope.interval is not None
    assert found.unfitted == 0
    assert 0.4 < found.p < 0.6


def test_permutations_without_a_slope_count_against_it() -> None:
    """One episode lies on each of two of three tasks; lengths 1, 1, 2: a third of the shuffles have no slope."""
    found = effect({"m": [1, 0, 0]}, tried={"m": [1, 0, 1]}, families=["a"] * 3, lengths=[1, 1, 2], permutations=900)
    assert 240 < found.unfitted < 360
    assert found.p > found.unfitted / 901


def test_undefined_with_its_reason() -> None:
    def of(lengths: list[int], families: list[str], tried: int = 1) -> object:
        rows = {"m": [0] * len(lengths)}
        return horizon_effect(
            lengths, families=families, passed=rows, tried={"m": [tried] * len(lengths)}, rng=rng(), resamples=2
        )

    assert of([5], ["a"]) == Undefined(reason="no family has recorded tasks of two lengths")
    assert of([5, 5, 7], ["a", "a", "b"]) == Undefined(reason="no family has recorded tasks of two lengths")
    assert of([], []) == Undefined(reason="there are no episodes")
    assert of([5, 6], ["a", "a"], tried=0) == Undefined(reason="there are no episodes")
    assert horizon_effect([5, 6], families=["a", "a"], passed={}, tried={}, rng=rng()) == Undefined(
        reason="there are no episodes"
    )


def test_a_family_of_one_length_keeps_its_own_level() -> None:
    found = effect({"m": [4, 1, 2, 2]}, tried={"m": [4] * 4}, families=["a", "a", "b", "b"], lengths=[1, 9, 5, 5])
    alone = effect({"m": [4, 1]}, tried={"m": [4] * 2}, families=["a", "a"], lengths=[1, 9])
    assert found.scaled == (0.0, 1.0, 0.5, 0.5)
    assert found.slope.value == pytest.approx(alone.slope.value, abs=1e-8)
    # half of the tasks of b pass: in the middle its curve is at a half, like that of no length at all
    assert found.curve[25] == pytest.approx((alone.curve[25] + 0.5) / 2, abs=1e-8)


def test_what_can_not_be() -> None:
    with pytest.raises(StatisticsError, match="0"):
        scaled_lengths([0, 1], families=["a", "a"])
    with pytest.raises(StatisticsError, match="families has 1"):
        scaled_lengths([1, 2], families=["a"])
    with pytest.raises(StatisticsError, match="'m'"):
        effect({"m": [2, 0]}, tried={"m": [1, 1]}, families=["a", "a"], lengths=[1, 2])
    with pytest.raises(StatisticsError, match="passed has 1"):
        effect({"m": [0]}, tried={"m": [1, 1]}, families=["a", "a"], lengths=[1, 2])
    with pytest.raises(StatisticsError, match="other models"):
        effect({"m": [0, 1]}, tried={"n": [1, 1]}, families=["a", "a"], lengths=[1, 2])
    with pytest.raises(StatisticsError, match="2 points"):
        effect(benchmark(), points=1)
    with pytest.raises(StatisticsError, match="0"):
        effect(benchmark(), permutations=0)
