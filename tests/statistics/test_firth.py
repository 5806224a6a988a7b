"""Firth's logistic regression against published values, an independent library, and what can be worked out exactly.

Not here: the endometrial data (n = 79), because their licence is unclear. Checked once by hand, the fit agreed with the
published 3.77455951, 2.92927330, -0.03475175, -2.60416387 to 3e-7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from firthmodels import FirthLogisticRegression
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from iwreplay.errors import StatisticsError
from iwreplay.statistics import firth, penalised
from iwreplay.statistics.firth import DEPENDENT_COLUMNS, INTERCEPT, FirthFit, fit_firth
from iwreplay.statistics.penalised import full_rank, maximise
from iwreplay.statistics.results import Undefined

SPACE = " "
#: age oc vic vicl vis dia : cases / women
SEX2 = (
    "000010:1/2 001000:14/16 001010:3/4 001100:10/18 001110:12/30 001111:1/1 010000:44/86 010001:3/3 010010:0/1 "
    "011000:15/16 011001:1/1 011010:2/2 011100:7/12 011110:3/9 101000:2/2 101010:1/1 101011:1/1 101100:1/3 101110:0/4 "
    "101111:1/1 110000:5/19 110010:0/1 111000:3/4 111110:0/2"
).split(SPACE)
NAMES = ("age", "oc", "vic", "vicl", "vis", "dia")
COLUMNS = {name: [int(row[i]) for row in SEX2] for i, name in enumerate(NAMES)}
CASES = [int(row[7:].split("/")[0]) for row in SEX2]
WOMEN = [int(row[7:].split("/")[1]) for row in SEX2]

#: of logistf, intercept first
COEFFICIENTS = (0.12025405, -1.10598131, -0.06881673, 2.26887464, -2.11140817, -0.78831694, 3.09601166)
LOW = (-0.8185591, -1.9737884, -0.9414363, 1.2730216, -3.2608611, -1.6080879, 0.7745682)
HIGH = (1.07315122, -0.30742514, 0.78920202, 3.43543273, -1.11773495, 0.01518468, 8.03029352)
CHI_SQUARES = (0.06286298, 7.50773092, 0.02467044, 22.93139022, 19.10407252, 3.69740975, 7.89693139)
ERRORS = (0.4763429, 0.4149021, 0.4344026, 0.5384872, 0.5320395, 0.4089620, 1.5052197)


def fitted(columns: dict[str, Sequence[float]], cases: Sequence[int], trials: Sequence[int] | None = None) -> FirthFit:
    fit = fit_firth(columns, cases=cases, trials=trials)
    assert isinstance(fit, FirthFit)
    return fit


@pytest.fixture(scope="module")
def sex2() -> FirthFit:
    return fitted(dict(COLUMNS), CASES, WOMEN)


def test_sex2_has_the_published_values(sex2: FirthFit) -> None:
    assert (sex2.trials, sex2.cases) == (239, 130)
    assert [t.name for t in sex2.terms] == [INTERCEPT, *NAMES]
    # the published coefficients stop a little short of the maximum, see the next test
    assert [t.coefficient for t in sex2.terms] == pytest.approx(COEFFICIENTS, abs=2e-7)
    assert [t.standard_error for t in sex2.terms] == pytest.approx(ERRORS, abs=2e-6)
    assert [t.interval.low for t in sex2.terms if t.interval] == pytest.approx(LOW, abs=6e-8)
    assert [t.interval.high for t in sex2.terms if t.interval] == pytest.approx(HIGH, abs=6e-9)
    assert [t.chi_square for t in sex2.terms] == pytest.approx(CHI_SQUARES, abs=6e-9)
    assert [t.p for t in sex2.terms] == pytest.approx(chi2.sf(CHI_SQUARES, 1), rel=1e-7)
    assert sex2.loglik == pytest.approx(-132.53938, abs=6e-6)


def test_the_overall_null_has_the_penalty_of_the_full_design(sex2: FirthFit) -> None:
    assert sex2.chi_square == pytest.approx(49.09064, abs=6e-6)
    assert sex2.df == 6
    assert sex2.p == pytest.approx(chi2.sf(49.09064, 6), rel=1e-5)
    # fitting the intercept alone, with the penalty of its own, is another test
    alone = fitted({}, CASES, WOMEN)
    assert 2 * (sex2.loglik - alone.loglik) == pytest.approx(60.3156, abs=6e-5)
    assert (alone.chi_square, alone.df, alone.p) == (None, 0, None)


def test_our_maximum_is_the_nearer_one(sex2: FirthFit) -> None:
    design = np.column_stack([np.ones(len(CASES)), *COLUMNS.values()])
    both = np.array([COEFFICIENTS, [t.coefficient for t in sex2.terms]])
    held = maximise(
        design,
        cases=np.tile(CASES, (2, 1)).astype(float),
        trials=np.tile(WOMEN, (2, 1)).astype(float),
        start=both,
        free=np.zeros((2, 7), dtype=np.bool_),
    )
    theirs, ours = np.abs(held.score).max(axis=1)
    assert ours < 1e-9
    assert 1e-7 < theirs < 2e-7


def test_grouped_and_single_rows_are_the_same_fit(sex2: FirthFit) -> None:
    rows = [(k, i < c) for k, c, n in zip(range(24), CASES, WOMEN, strict=True) for i in range(n)]
    single = fitted({name: [v[k] for k, _ in rows] for name, v in COLUMNS.items()}, [int(c) for _, c in rows])
    for one, other in zip(sex2.terms, single.terms, strict=True):
        assert one.coefficient == pytest.approx(other.coefficient, abs=1e-9)
        assert one.chi_square == pytest.approx(other.chi_square, abs=1e-9)
        assert one.standard_error == pytest.approx(other.standard_error, abs=1e-9)
    # the leverages of a group are those of its rows together, so that is the likelihood but for what is constant
    assert single.loglik == pytest.approx(sex2.loglik, abs=1e-9)


# which of its last steps the library can make depends on how the machine rounds; it warns when it made fewer
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(st.integers(0, 2**32), st.integers(8, 60), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_the_library_agrees(seed: int, rows: int, columns: int) -> None:
    """On made-up data, separated or not. The library's intercept comes last."""
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(rows, columns))
    y = (chance.random(rows) < 1 / (1 + np.exp(-2 * x.sum(axis=1)))).astype(int)
    if len(set(y)) < 2:
        y[0] = 1 - y[0]
    theirs = FirthLogisticRegression(backend="numpy", gtol=1e-10, xtol=1e-10, max_iter=100).fit(x, y)
    ours = fitted({f"x{i}": x[:, i].tolist() for i in range(columns)}, y.tolist())
    assert [t.coefficient for t in ours.terms] == pytest.approx([theirs.intercept_, *theirs.coef_], abs=1e-6)
    assert ours.loglik == pytest.approx(theirs.loglik_, abs=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_library_agrees_about_intervals_and_tests(sex2: FirthFit) -> None:
    rows = [(k, i < c) for k, c, n in zip(range(24), CASES, WOMEN, strict=True) for i in range(n)]
    x = np.array([[v[k] for v in COLUMNS.values()] for k, _ in rows], dtype=float)
    y = np.array([int(c) for _, c in rows])
    best = FirthLogisticRegression(backend="numpy", gtol=1e-10, xtol=1e-10, max_iter=2000).fit(x, y)
    assert [t.coefficient for t in sex2.terms] == pytest.approx([best.intercept_, *best.coef_], abs=1e-7)
    # its constrained fits do not get so near
    theirs = FirthLogisticRegression(backend="numpy", gtol=1e-6, xtol=1e-6, max_iter=2000).fit(x, y).lrt()
    order = [6, 0, 1, 2, 3, 4, 5]
    assert [t.p for t in sex2.terms] == pytest.approx(theirs.lrt_pvalues_[order], rel=1e-9)
    bounds = theirs.conf_int(method="pl")[order]
    found = np.array([[t.interval.low, t.interval.high] for t in sex2.terms if t.interval])
    assert found == pytest.approx(bounds, abs=1e-7)


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4))
def test_a_table_of_four_cells_adds_a_half_to_each(cells: list[int]) -> None:
    a, b, c, d = cells
    fit = fit_firth({"x": [0, 1]}, cases=[a, c], trials=[a + b, c + d])
    if not (a + b and c + d):
        assert isinstance(fit, Undefined)
        return
    assert isinstance(fit, FirthFit)
    intercept, slope = (t.coefficient for t in fit.terms)
    assert intercept == pytest.approx(math.log((a + 0.5) / (b + 0.5)), abs=1e-9)
    assert slope == pytest.approx(math.log((c + 0.5) / (d + 0.5)) - math.log((a + 0.5) / (b + 0.5)), abs=1e-9)
    # saturated: each cell is known as well as a half more of it allows
    assert fit.terms[1].standard_error == pytest.approx(math.sqrt(sum(1 / (n + 0.5) for n in cells)), rel=1e-9)


def test_complete_separation_is_finite() -> None:
    fit = fitted({"x": [0, 0, 0, 1, 1, 1]}, [0, 0, 0, 1, 1, 1])
    slope = fit.terms[1]
    assert slope.coefficient == pytest.approx(2 * math.log(7), abs=1e-9)
    assert slope.coefficient == pytest.approx(3.8918203, abs=5e-8)
    assert slope.interval is not None
    assert slope.interval.low < slope.coefficient < slope.interval.high


@given(st.integers(0, 2**32), st.sampled_from([0.5, 0.9, 0.99]))
@settings(max_examples=25, deadline=None)
def test_bounds_lie_where_the_profile_has_fallen(seed: int, level: float) -> None:
    chance = np.random.default_rng(seed)
    x, y = chance.normal(size=20), chance.integers(0, 2, size=20)
    fit = fit_firth({"x": x.tolist()}, cases=y.tolist(), level=level)
    assert isinstance(fit, FirthFit)
    design = np.column_stack([np.ones(20), x])
    for i, term in enumerate(fit.terms):
        assert term.interval is not None
        assert term.interval.low < term.coefficient < term.interval.high
        start = np.zeros((2, 2))
        start[:, i] = term.interval.low, term.interval.high
        free = np.array([[i != 0, i != 1]] * 2)
        y2, n2 = np.tile(y, (2, 1)).astype(float), np.ones((2, 20))
        profile = maximise(design, cases=y2, trials=n2, start=start, free=free)
        assert profile.converged.all()
        assert 2 * (fit.loglik - profile.loglik) == pytest.approx([chi2.ppf(level, 1)] * 2, abs=1e-8)


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_swapping_the_outcomes_turns_the_signs(seed: int) -> None:
    chance = np.random.default_rng(seed)
    x, y = chance.normal(size=15), chance.integers(0, 2, size=15)
    one, other = fitted({"x": x.tolist()}, y.tolist()), fitted({"x": x.tolist()}, (1 - y).tolist())
    assert [t.coefficient for t in one.terms] == pytest.approx([-t.coefficient for t in other.terms], abs=1e-8)
    assert one.chi_square == pytest.approx(other.chi_square, abs=1e-8)


def test_moving_and_scaling_a_column_moves_and_scales_its_term() -> None:
    """Years, say: a column far from 0 costs no digits."""
    chance = np.random.default_rng(4)
    x, y = chance.normal(size=(25, 2)), chance.integers(0, 2, size=25).tolist()
    near = fitted({"a": x[:, 0].tolist(), "b": x[:, 1].tolist()}, y)
    far = fitted({"a": (2026 + x[:, 0]).tolist(), "b": (1000 * x[:, 1]).tolist()}, y)
    for i, scale in ((1, 1.0), (2, 1000.0)):
        one, other = near.terms[i], far.terms[i]
        assert other.coefficient * scale == pytest.approx(one.coefficient, rel=1e-8)
        assert other.standard_error * scale == pytest.approx(one.standard_error, rel=1e-8)
        assert other.chi_square == pytest.approx(one.chi_square, abs=1e-8)
        assert one.interval is not None
        assert other.interval is not None
        assert (other.interval.low * scale, other.interval.high * scale) == pytest.approx(
            (one.interval.low, one.interval.high), rel=1e-7
        )
    assert far.terms[0].interval is not None
    assert far.chi_square == pytest.approx(near.chi_square, abs=1e-8)


def test_a_slow_fit_ends_with_exact_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first step on, the exact second derivatives lead to the same maximum, in fewer steps."""
    chance = np.random.default_rng(9)
    design = np.column_stack([np.ones(12), chance.normal(size=(12, 3))])
    trials = np.ones((40, 12))
    cases = (chance.random((40, 12)) < 0.3).astype(float)
    usual = maximise(design, cases=cases, trials=trials)
    monkeypatch.setattr(penalised, "_CHEAP_STEPS", 0)
    exact = maximise(design, cases=cases, trials=trials)
    assert usual.converged.all()
    assert exact.converged.all()
    assert exact.coefficients == pytest.approx(usual.coefficients, abs=1e-7)
    monkeypatch.setattr(penalised, "_MAX_STEPS", 8)
    assert maximise(design, cases=cases, trials=trials).converged.all()
    monkeypatch.setattr(penalised, "_CHEAP_STEPS", 100)
    assert not maximise(design, cases=cases, trials=trials).converged.all()


def test_a_bound_is_found_in_a_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firth, "_MAX_ROUNDS", 8)
    assert all(t.interval is not None for t in fitted(dict(COLUMNS), CASES, WOMEN).terms)
    # and where none is found, there is no interval
    monkeypatch.setattr(firth, "_MAX_ROUNDS", 1)
    assert all(t.interval is None for t in fitted(dict(COLUMNS), CASES, WOMEN).terms)


@pytest.mark.parametrize(
    ("seed", "shape", "far", "apart", "least"),
    [
        (1, (14, 4), 0.0, True, 200),
        (1, (14, 4), 3.0, True, 200),
        (1, (8, 5), 8.0, True, 187),
        (2, (14, 4), 20.0, False, 194),
        # from so far, some starts have an information that is all rounding: they are given up, not raised
        (2, (14, 4), 40.0, False, 160),
    ],
)
def test_the_search_comes_back_from_far_away(
    seed: int, shape: tuple[int, int], far: float, apart: bool, least: int
) -> None:
    """Starts where fitted log-odds are tens, with outcomes that a plane tells apart or not."""
    rows, columns = shape
    chance = np.random.default_rng(seed)
    design = np.column_stack([np.ones(rows), chance.normal(size=(rows, columns - 1))])
    log_odds = chance.normal(size=(200, columns)) @ design.T
    cases = log_odds > 0 if apart else chance.random((200, rows)) < 0.5
    start = far * chance.normal(size=(200, columns))
    found = maximise(design, cases=cases.astype(float), trials=np.ones((200, rows)), start=start)
    assert np.count_nonzero(found.converged) >= least


def test_many_at_once_are_each_alone() -> None:
    chance = np.random.default_rng(3)
    design = np.column_stack([np.ones(30), chance.normal(size=(30, 2))])
    trials = chance.integers(0, 4, size=(70, 30)).astype(float)
    cases = np.floor(trials * chance.random((70, 30)))
    together = maximise(design, cases=cases, trials=trials)
    assert together.converged.all()
    assert np.abs(together.score).max() < 1e-8
    for i in range(0, 70, 9):
        alone = maximise(design, cases=cases[i : i + 1], trials=trials[i : i + 1])
        assert together.coefficients[i] == pytest.approx(alone.coefficients[0], abs=1e-9)


def test_a_set_without_a_slope_spoils_no_other() -> None:
    """The second of three data sets has trials at one x only; the third has none."""
    design = np.column_stack([np.ones(3), [0.0, 1.0, 2.0]])
    trials = np.array([[2.0, 2.0, 2.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    assert full_rank(design, trials=trials).tolist() == [True, False, False]
    found = maximise(design, cases=np.array([[0.0, 1.0, 2.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]), trials=trials)
    assert found.converged.tolist() == [True, False, False]
    assert found.coefficients[0, 0] == pytest.approx(-found.coefficients[0, 1], abs=1e-9)


@pytest.mark.parametrize("outcome", [0, 1])
def test_all_alike_is_finite(outcome: int) -> None:
    fit = fitted({"x": [0.0, 1.0, 2.0, 3.0]}, [outcome] * 4)
    assert all(math.isfinite(t.coefficient) for t in fit.terms)
    assert (fit.terms[0].coefficient > 0) == bool(outcome)


def test_undefined_with_its_reason() -> None:
    twice = fit_firth({"x": [0, 1, 2], "y": [0, 2, 4]}, cases=[0, 1, 1])
    assert twice == Undefined(reason=DEPENDENT_COLUMNS)
    assert fit_firth({"x": [1, 1]}, cases=[0, 1]) == Undefined(reason=DEPENDENT_COLUMNS)
    assert fit_firth({"x": [1, 2]}, cases=[0, 0], trials=[0, 0]) == Undefined(reason="there are no trials")
    assert fit_firth({}, cases=[]) == Undefined(reason="there are no trials")


def test_what_can_not_be() -> None:
    with pytest.raises(StatisticsError, match="x has 1"):
        fit_firth({"x": [1]}, cases=[0, 1])
    with pytest.raises(StatisticsError, match="cases <= trials"):
        fit_firth({"x": [1, 2]}, cases=[0, 3], trials=[1, 2])
    with pytest.raises(StatisticsError, match="finite"):
        fit_firth({"x": [1, math.inf]}, cases=[0, 1])
    with pytest.raises(StatisticsError, match=INTERCEPT):
        fit_firth({INTERCEPT: [1, 2]}, cases=[0, 1])
