"""Firth-penalised logistic regression of one data set: coefficients, profile intervals, likelihood-ratio tests.

Heinze and Schemper (2002), as R's logistf (1.24 and later) computes it: every likelihood has the penalty of the full
design, the null of the overall test too. Finite with complete separation as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from iwreplay.errors import StatisticsError
from iwreplay.statistics.arrays import Floats
from iwreplay.statistics.penalised import Maxima, full_rank, maximise
from iwreplay.statistics.results import Interval, Undefined, check_same_length
from iwreplay.statistics.tails import chi_square_quantile_1df, chi_square_tail

__all__ = ["DEPENDENT_COLUMNS", "INTERCEPT", "FirthFit", "FirthTerm", "fit_firth"]

INTERCEPT = "intercept"
DEPENDENT_COLUMNS = "a column of the design is a combination of the others"
_NOTHING = "there are no trials"

#: how near to the quantile twice the fall is at a bound; the second is for rounding, in proportion to the likelihood
_CLOSE, _CLOSE_OF_LOGLIK = 1e-10, 1e-13
_MAX_ROUNDS = 100


class FirthTerm(msgspec.Struct, frozen=True, kw_only=True):
    """One coefficient, on the logit scale."""

    name: str
    coefficient: float
    #: root of the diagonal of the inverse information of the data with h trials added to each row
    standard_error: float
    #: profile penalised likelihood; None when a bound was not found, as happens near saturation
    interval: Interval | None
    #: penalised likelihood ratio of this coefficient being 0, 1 degree of freedom; None when that null was not found
    chi_square: float | None
    p: float | None


class FirthFit(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted model."""

    #: the intercept first, then the columns in their order
    terms: tuple[FirthTerm, ...]
    #: penalised, without the binomial constant of grouped data
    loglik: float
    #: all coefficients but the intercept being 0; None without such coefficients, or when that null was not found
    chi_square: float | None
    df: int
    p: float | None
    trials: int
    cases: int


def fit_firth(
    columns: Mapping[str, Sequence[float]],
    *,
    cases: Sequence[int],
    trials: Sequence[int] | None = None,
    level: float = 0.95,
) -> FirthFit | Undefined:
    """Fits cases of trials (of one each, without `trials`) on `columns` and an intercept.

    Undefined: without trials, with a column that depends on others, or when the maximum is not found.
    """
    names = (INTERCEPT, *columns)
    if len(set(names)) < len(names):
        raise StatisticsError(f"a column can't be called {INTERCEPT!r}: that is the first term's name")
    check_same_length(cases=len(cases), **{name: len(values) for name, values in columns.items()})
    y = np.array(cases, dtype=np.float64)
    n = np.ones(len(y)) if trials is None else np.array(trials, dtype=np.float64)
    check_same_length(cases=len(y), trials=len(n))
    if not ((y >= 0) & (y <= n)).all():
        raise StatisticsError("each row has 0 <= cases <= trials")
    design = np.column_stack([np.ones(len(y)), *(np.array(v, dtype=np.float64) for v in columns.values())])
    if not np.isfinite(design).all():
        raise StatisticsError("the columns of a design are finite numbers")
    if not n.any():
        return Undefined(reason=_NOTHING)
    if not full_rank(design, trials=n[None])[0]:
        return Undefined(reason=DEPENDENT_COLUMNS)
    tried = n > 0
    return _fit(design[tried], names, y[tried], n[tried], level=level)


class _Turned:
    """The design in orthonormal columns, X P = Q R with the columns `held` moved last: coefficients are b = P inv(R) g.

    Columns that are nearly alike, or far from 0, cost no digits then; and since R is triangular, holding the last of g
    holds the last of b.
    """

    def __init__(self, design: Floats, y: Floats, n: Floats, *, held: Sequence[int]) -> None:
        self.order = [*(i for i in range(design.shape[1]) if i not in held), *held]
        self.q, self.r = np.linalg.qr(design[:, self.order])
        self.y, self.n = y, n
        #: what the penalty of Q lacks to that of X
        self.shift = float(np.log(np.abs(np.diagonal(self.r))).sum())
        self.free = np.arange(design.shape[1]) < design.shape[1] - len(held)

    def maximise(self, start: Floats) -> Maxima:
        """From each row of `start`, in terms of g, with the held ones staying there."""
        shape = (len(start), len(self.y))
        return maximise(
            self.q,
            cases=np.broadcast_to(self.y, shape),
            trials=np.broadcast_to(self.n, shape),
            start=start,
            free=np.broadcast_to(self.free, start.shape),
        )

    def null(self) -> float | None:
        """The largest penalised log-likelihood with what is held at 0; None when it was not found."""
        found = self.maximise(np.zeros((1, len(self.free))))
        return float(found.loglik[0]) + self.shift if found.converged[0] else None


def _fit(design: Floats, names: tuple[str, ...], y: Floats, n: Floats, *, level: float) -> FirthFit | Undefined:
    whole = _Turned(design, y, n, held=())
    best = whole.maximise(np.zeros((1, len(names))))
    each = [_Turned(design, y, n, held=(i,)) for i in range(len(names))]
    nulls = [t.null() for t in (*each, _Turned(design, y, n, held=range(1, len(names))))]
    if not best.converged[0]:
        return Undefined(reason="the maximum of the penalised likelihood was not found")
    at = np.linalg.solve(whole.r, best.coefficients[0])
    half = np.linalg.solve(whole.r, np.linalg.cholesky(np.linalg.inv(best.information[0])))
    errors = np.sqrt((half**2).sum(axis=1))
    top = float(best.loglik[0]) + whole.shift
    *falls, overall = [None if low is None else max(0.0, 2.0 * (top - low)) for low in nulls]
    if len(names) == 1:
        overall = None
    return FirthFit(
        terms=tuple(
            FirthTerm(
                name=name,
                coefficient=float(at[i]),
                standard_error=float(errors[i]),
                interval=_profile_interval(each[i], at=at, top=top, error=float(errors[i]), level=level),
                chi_square=falls[i],
                p=_tail(falls[i], df=1),
            )
            for i, name in enumerate(names)
        ),
        loglik=top,
        chi_square=overall,
        df=len(names) - 1,
        p=_tail(overall, df=len(names) - 1),
        trials=int(n.sum()),
        cases=int(y.sum()),
    )


def _tail(chi_square: float | None, *, df: int) -> float | None:
    return None if chi_square is None else chi_square_tail(chi_square, df=df)


def _profile_interval(turned: _Turned, *, at: Floats, top: float, error: float, level: float) -> Interval | None:
    """Where the profile of the held coefficient has fallen by the quantile, on both sides."""
    ends = [_bound(turned, at=at, top=top, error=side * error, level=level) for side in (-1.0, 1.0)]
    if ends[0] is None or ends[1] is None:
        return None
    return Interval(low=ends[0], high=ends[1], level=level)


def _bound(turned: _Turned, *, at: Floats, top: float, error: float, level: float) -> float | None:
    """The bound on the side of the sign of `error`; None when it was not found.

    Newton's steps, whose slope is the score of the held coefficient; halving between the nearest point known to lie
    outside and the farthest known to lie inside where a step would leave them; doubling while none is outside.
    """
    quantile, pivot = chi_square_quantile_1df(level), float(turned.r[-1, -1])
    close = _CLOSE + _CLOSE_OF_LOGLIK * abs(top)
    estimate = float(at[turned.order[-1]])
    start = (turned.r @ at[turned.order])[None]
    # multiples of the standard error
    inside, outside, away = 0.0, math.inf, math.sqrt(quantile)
    for _ in range(_MAX_ROUNDS):
        value = estimate + away * error
        start[0, -1] = pivot * value
        found = turned.maximise(start)
        if not found.converged[0]:
            outside = away
            away = (inside + outside) / 2.0
            continue
        start = found.coefficients
        over = 2.0 * (top - turned.shift - float(found.loglik[0])) - quantile
        if abs(over) <= close:
            return value
        if over < 0:
            inside = away
        else:
            outside = away
        slope = -2.0 * float(found.score[0, -1]) * pivot * error
        step = away - over / slope if slope > 0 else math.inf
        middle = 2.0 * away if outside == math.inf else (inside + outside) / 2.0
        away = step if inside < step < min(outside, 2.0 * middle) else middle
    return None
