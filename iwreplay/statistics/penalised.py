"""Firth's penalised likelihood of a logistic model, maximised for many data sets over one design at once.

Firth (1993), Heinze and Schemper (2002): l*(b) = l(b) + 1/2 log|I(b)| with I the Fisher information X'WX. Its score is
X'(y - n p + h (1/2 - p)) with h the leverages. The steps are those of Newton for data with h trials and h/2 cases added
to each row, which is exact where the leverages stand still; where that is slow, near separation, the exact second
derivatives are used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iwreplay.statistics.arrays import Flags, Floats, Places, product

__all__ = ["Maxima", "full_rank", "maximise"]

#: a fit has converged when the next step would move no fitted log-odds by more
_CLOSE = 1e-10
#: no step moves a fitted log-odds by more
_MAX_MOVE = 5.0
_MAX_STEPS, _MAX_HALVINGS = 200, 40
#: so many steps are made before the exact second derivatives are asked for
_CHEAP_STEPS = 12
#: data sets that are fitted together: their arrays stay in the cache
_BLOCK = 1000
#: smallest eigenvalue of the columns' correlations that still counts as independent
_INDEPENDENT = 1e-10
#: condition number from which on a Fisher information is rounding
_WORST = 1e15


@dataclass(frozen=True, slots=True)
class Maxima:
    """One maximum for each of B data sets; rows that have not converged hold where they stopped."""

    #: (B, columns)
    coefficients: Floats
    #: (B,), the penalised log-likelihood without the constant of grouped data
    loglik: Floats
    #: (B, columns), the derivatives of `loglik`: 0 at coefficients that were free
    score: Floats
    #: (B, columns, columns), X' diag((n + h) p (1 - p)) X
    information: Floats
    #: (B,)
    converged: Flags


@dataclass(slots=True)
class _Point:
    """Where the search of each data set stands; the fields are as in `Maxima`."""

    at: Floats
    loglik: Floats
    score: Floats
    information: Floats
    #: of the Fisher information; of nothing where `loglik` is -inf
    inverse: Floats

    def keep(self, rows: Flags) -> _Point:
        return _Point(self.at[rows], self.loglik[rows], self.score[rows], self.information[rows], self.inverse[rows])

    def put(self, rows: Places, other: _Point) -> None:
        self.at[rows], self.loglik[rows], self.score[rows] = other.at, other.loglik, other.score
        self.information[rows], self.inverse[rows] = other.information, other.inverse


@dataclass(frozen=True, slots=True)
class _Data:
    """Data sets over one design."""

    #: (rows, columns), and the outer product of each row with itself
    design: Floats
    squares: Floats
    #: (B, rows)
    cases: Floats
    trials: Floats

    def of(self, sets: Places) -> _Data:
        return _Data(self.design, self.squares, self.cases[sets], self.trials[sets])

    def at(self, coefficients: Floats) -> _Point:
        """Likelihood, score and information; a likelihood of -inf where the Fisher information can't be inverted."""
        columns = self.design.shape[1]
        odds = product(coefficients, self.design.T)
        # p = 1 / (1 + exp(-odds)) without overflow
        small = np.exp(-np.abs(odds))
        p = np.where(odds >= 0, 1.0, small) / (1.0 + small)
        spread = small / (1.0 + small) ** 2
        weights = self.trials * spread
        fisher = product(weights, self.squares).reshape(-1, columns, columns)
        sign, logdet = np.linalg.slogdet(fisher)
        sound = (sign > 0) & np.isfinite(logdet)
        inverse = np.linalg.inv(np.where(sound[:, None, None], fisher, np.eye(columns)))
        sound &= _size(fisher) * _size(inverse) < _WORST
        leverages = weights * product(inverse.reshape(len(inverse), columns * columns), self.squares.T)
        loglik = (self.cases * odds - self.trials * (np.maximum(odds, 0.0) + np.log1p(small))).sum(axis=1)
        return _Point(
            at=coefficients,
            loglik=np.where(sound, loglik + 0.5 * logdet, -np.inf),
            score=product(self.cases - self.trials * p + leverages * (0.5 - p), self.design),
            information=product(weights + leverages * spread, self.squares).reshape(-1, columns, columns),
            inverse=inverse,
        )

    def curvature(self, now: _Point) -> Floats:
        """(B, columns, columns): less the second derivatives of l*, the leverages moving too."""
        count, columns = now.at.shape
        odds = product(now.at, self.design.T)
        small = np.exp(-np.abs(odds))
        tilt = -np.sign(odds) * (1.0 - small) / (1.0 + small)  # 1 - 2 p
        weights = self.trials * small / (1.0 + small) ** 2
        # h = w x'inv(I)x, and the derivative of inv(I) is -inv(I) I' inv(I) with I' = X' diag(w (1 - 2p) x_k) X
        moved = np.empty((count, columns, columns))
        sizes = product(now.inverse.reshape(count, columns * columns), self.squares.T)
        for k in range(columns):
            slope = weights * tilt * self.design[:, k]
            third = product(slope, self.squares).reshape(-1, columns, columns)
            sandwich = (now.inverse @ third @ now.inverse).reshape(count, columns * columns)
            leverage = slope * sizes - weights * product(sandwich, self.squares.T)
            moved[:, :, k] = product(0.5 * tilt * leverage, self.design)
        return np.asarray(now.information - (moved + moved.transpose(0, 2, 1)) / 2.0)

    def climb(self, now: _Point, step: Floats) -> _Point:
        """The points after `step`, halved where it would go down."""
        after = self.at(now.at + step)
        slack = 1e-12 * (1.0 + np.abs(now.loglik))
        for _ in range(_MAX_HALVINGS):
            lower = np.flatnonzero(~(after.loglik >= now.loglik - slack))
            if not len(lower):
                break
            step[lower] *= 0.5
            after.put(lower, self.of(lower).at(now.at[lower] + step[lower]))
        return after


def full_rank(design: Floats, *, trials: Floats) -> Flags:
    """(B,): whether the columns are independent over the rows that have trials. `trials` is (B, rows)."""
    columns = design.shape[1]
    grams = product((trials > 0).astype(np.float64), _squares(design)).reshape(-1, columns, columns)
    sizes = np.sqrt(np.einsum("bii->bi", grams))
    scale = np.where(sizes > 0, sizes, 1.0)
    lowest = np.linalg.eigvalsh(grams / scale[:, :, None] / scale[:, None, :])[:, 0]
    return np.asarray(lowest > _INDEPENDENT)


def maximise(
    design: Floats, *, cases: Floats, trials: Floats, start: Floats | None = None, free: Flags | None = None
) -> Maxima:
    """Maximises l* for every row of `cases` and `trials`, (B, rows), over `design`, (rows, columns).

    `free`, (B, columns), tells which coefficients may move; the others stay at `start`, and the penalty is that of the
    whole design all the same. A data set over which the design has not full rank does not converge.
    """
    count, columns = len(cases), design.shape[1]
    at = np.zeros((count, columns)) if start is None else start
    movable = np.ones((count, columns), dtype=np.bool_) if free is None else free
    whole = _Data(design, _squares(design), cases, trials)
    blocks = [
        _maximise_block(whole.of(b), at[b], movable[b])
        for b in (np.arange(i, min(i + _BLOCK, count)) for i in range(0, count, _BLOCK))
    ]
    return Maxima(
        coefficients=np.concatenate([b.coefficients for b in blocks]),
        loglik=np.concatenate([b.loglik for b in blocks]),
        score=np.concatenate([b.score for b in blocks]),
        information=np.concatenate([b.information for b in blocks]),
        converged=np.concatenate([b.converged for b in blocks]),
    )


def _maximise_block(data: _Data, start: Floats, free: Flags) -> Maxima:
    count, columns = start.shape
    converged = np.zeros(count, dtype=np.bool_)
    blank = np.zeros((count, columns, columns))
    found = _Point(start, np.full(count, -np.inf), np.zeros_like(start), blank, blank.copy())
    going = np.flatnonzero(full_rank(data.design, trials=data.trials))
    now = data.of(going).at(start[going])
    for made in range(_MAX_STEPS):
        found.put(going, now)
        bends = now.information if made < _CHEAP_STEPS else data.of(going).curvature(now)
        step = _step(now, bends, free[going])
        moves = np.abs(product(step, data.design.T)).max(axis=1, where=data.trials[going] > 0, initial=0.0)
        there = np.isfinite(now.loglik)
        converged[going] = there & (moves <= _CLOSE)
        on = there & ~converged[going]
        going, now, step, moves = going[on], now.keep(on), step[on], moves[on]
        if not len(going):
            break
        step *= np.minimum(1.0, _MAX_MOVE / moves)[:, None]
        now = data.of(going).climb(now, step)
    return Maxima(
        coefficients=found.at,
        loglik=found.loglik,
        score=found.score,
        information=found.information,
        converged=converged,
    )


def _step(now: _Point, bends: Floats, free: Flags) -> Floats:
    """Newton's step of the free coefficients; 0 for the others, and where there is no likelihood.

    `bends` is what the second derivatives are taken for: where it leads to no maximum, the information is.
    """
    able = free & np.isfinite(now.loglik)[:, None]
    both, one = able[:, :, None] & able[:, None, :], np.eye(free.shape[1])
    matrix = np.where(both, bends, one)
    ends = np.linalg.eigvalsh(matrix)[:, [0, -1]]
    matrix = np.where((ends[:, 0] > 1e-12 * ends[:, 1])[:, None, None], matrix, np.where(both, now.information, one))
    return np.asarray(np.linalg.solve(matrix, np.where(able, now.score, 0.0)[:, :, None])[:, :, 0])


def _size(matrices: Floats) -> Floats:
    """The norm by columns of each matrix."""
    return np.asarray(np.abs(matrices).sum(axis=1).max(axis=1))


def _squares(design: Floats) -> Floats:
    """(rows, columns x columns): the outer product of each row with itself."""
    return np.asarray((design[:, :, None] * design[:, None, :]).reshape(len(design), -1))
