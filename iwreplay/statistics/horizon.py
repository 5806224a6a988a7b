"""Task horizon (rule 39): how the share of passes goes with the length of a task. An association, not a cause.

Oracle length is scaled to h from 0 to 1 within each family, and a Firth fit with one intercept for each family and one
slope in h is made over all episodes. Long tasks of a family may differ from short ones in more than their length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from iwreplay.errors import StatisticsError
from iwreplay.statistics.arrays import Floats, Places
from iwreplay.statistics.penalised import full_rank, maximise
from iwreplay.statistics.resampling import bootstrap
from iwreplay.statistics.results import Estimate, Interval, Undefined, check_resamples, check_same_length

__all__ = ["ModelHorizon", "PooledHorizon", "horizon_effect", "scaled_lengths"]

#: slopes that differ by less are the same: rounding must not decide a tie
_TIE = 1e-9
_NOTHING = "there are no episodes"
_ONE_LENGTH = "no family has recorded tasks of two lengths"
_NO_MAXIMUM = "a maximum of the penalised likelihood was not found"


class ModelHorizon(msgspec.Struct, frozen=True, kw_only=True):
    """The fit of one model's episodes alone."""

    model: str
    #: log-odds from h = 0 to h = 1; None when undefined, and so is the change
    slope: float | None
    #: probability at h = 1 less that at h = 0, mean of the families, in percentage points
    change_points: float | None
    #: probability at each value of the grid, mean of the families; empty when undefined
    curve: tuple[float, ...]
    reason: str | None = None


class PooledHorizon(msgspec.Struct, frozen=True, kw_only=True):
    """The fit of all episodes together, and one for each model."""

    #: h of each task, in the order given
    scaled: tuple[float, ...]
    #: log-odds from h = 0 to h = 1, with its task-bootstrap interval
    slope: Estimate
    #: probability at h = 1 less that at h = 0, mean of the families, in percentage points
    change_points: Estimate
    #: one-sided: (1 + permuted slopes <= slope) / (1 + permutations)
    p: float
    permutations: int
    #: permutations without a fit; they count as <=, which can only raise p
    unfitted: int
    #: values of h from 0 to 1
    grid: tuple[float, ...]
    #: probability at each, mean of the families
    curve: tuple[float, ...]
    #: pointwise task-bootstrap interval of the curve
    band: tuple[Interval | None, ...]
    models: tuple[ModelHorizon, ...]
    tasks: int
    episodes: int

    @property
    def statement(self) -> str:
        """How the figures were found, for a caption."""
        return (
            f"association of passing with oracle length over {self.tasks} tasks and {self.episodes} episodes: "
            f"{self.slope.resamples} resamples of tasks within family, {self.slope.undefined} of them without a fit; "
            f"{self.permutations} permutations of length within family, {self.unfitted} of them without a fit"
        )


def scaled_lengths(lengths: Sequence[float], *, families: Sequence[str]) -> tuple[float, ...]:
    """(length - shortest) / (longest - shortest) within each family; 0.5 where all of a family have one length."""
    check_same_length(lengths=len(lengths), families=len(families))
    of: dict[str, list[float]] = {}
    for length, family in zip(lengths, families, strict=True):
        if not (np.isfinite(length) and length > 0):
            raise StatisticsError(f"an oracle has a finite number of steps, more than 0; this length is {length!r}")
        of.setdefault(family, []).append(length)
    ends = {family: (min(found), max(found)) for family, found in of.items()}
    return tuple(
        (length - ends[f][0]) / (ends[f][1] - ends[f][0]) if ends[f][0] < ends[f][1] else 0.5
        for length, f in zip(lengths, families, strict=True)
    )


def horizon_effect(
    lengths: Sequence[float],
    *,
    families: Sequence[str],
    passed: Mapping[str, Sequence[int]],
    tried: Mapping[str, Sequence[int]],
    rng: np.random.Generator,
    resamples: int = 10_000,
    permutations: int = 10_000,
    level: float = 0.95,
    points: int = 51,
) -> PooledHorizon | Undefined:
    """The pooled fit with its intervals and p, and a curve for each model.

    `lengths` has the oracle steps of each task; `passed` and `tried` have, by model, episodes of each task in the same
    order, 0 tried where there is none. A resample draws tasks within family, with all models' episodes of a task; h
    stays that of the whole pack. A permutation shuffles h among the tasks of a family. Undefined: no episodes, or no
    family with recorded tasks of two lengths.
    """
    check_resamples(permutations)
    if points < 2:
        raise StatisticsError(f"a curve has 2 points or more, not {points!r}")
    scaled = scaled_lengths(lengths, families=families)
    if passed.keys() != tried.keys():
        raise StatisticsError(f"passed and tried name other models: {sorted(passed.keys() ^ tried.keys())}")
    counts = {m: _counts(m, passed[m], tried=tried[m], tasks=len(scaled)) for m in passed}
    cases, trials = np.sum([*counts.values(), np.zeros((2, len(scaled)))], axis=0)
    grid = np.linspace(0.0, 1.0, points)
    fit = _Fit.of(scaled, families, trials=trials, grid=grid)
    if isinstance(fit, Undefined):
        return fit
    here = fit.figures(cases[None], trials[None])[0]
    if np.isnan(here[0]):
        return Undefined(reason=_NO_MAXIMUM)
    figures = bootstrap(
        lambda w: fit.figures(w * cases, w * trials), families=families, rng=rng, resamples=resamples, level=level
    )
    order = _shuffled(families, count=permutations, rng=rng)
    slopes = fit.figures(cases[order], trials[order])[:, 0]
    unfitted = int(np.count_nonzero(np.isnan(slopes)))
    as_low = int(np.count_nonzero(slopes <= here[0] + _TIE)) + unfitted
    return PooledHorizon(
        scaled=scaled,
        slope=figures[0],
        change_points=figures[1],
        p=(1 + as_low) / (1 + permutations),
        permutations=permutations,
        unfitted=unfitted,
        grid=tuple(map(float, grid)),
        curve=tuple(map(float, here[2:])),
        band=tuple(f.interval for f in figures[2:]),
        models=tuple(_model(m, c, scaled=scaled, families=families, grid=grid) for m, c in counts.items()),
        tasks=int(np.count_nonzero(trials)),
        episodes=int(trials.sum()),
    )


class _Fit:
    """One design: an intercept for each family with episodes, and the slope last."""

    def __init__(self, design: Floats, *, grid: Floats) -> None:
        self.design, self.grid = design, grid

    @classmethod
    def of(cls, scaled: Sequence[float], families: Sequence[str], *, trials: Floats, grid: Floats) -> _Fit | Undefined:
        """Undefined when the episodes of `trials`, by task, don't determine a slope."""
        there = list(dict.fromkeys(f for f, n in zip(families, trials, strict=True) if n))
        if not there:
            return Undefined(reason=_NOTHING)
        design = np.array([[*(float(f == name) for name in there), h] for f, h in zip(families, scaled, strict=True)])
        return cls(design, grid=grid) if full_rank(design, trials=trials[None])[0] else Undefined(reason=_ONE_LENGTH)

    def figures(self, cases: Floats, trials: Floats) -> Floats:
        """(B, 2 + grid): slope, change in points, curve; NaN for data without a fit. Both arguments are (B, tasks)."""
        best = maximise(self.design, cases=cases, trials=trials)
        levels, slope = best.coefficients[:, :-1], best.coefficients[:, -1:]
        ends = np.array([0.0, 1.0])
        low, high = _curve(levels, slope, at=ends).T
        found = np.column_stack([slope, 100.0 * (high - low), _curve(levels, slope, at=self.grid)])
        found[~best.converged] = np.nan
        return found


def _curve(levels: Floats, slope: Floats, *, at: Floats) -> Floats:
    """(B, at): mean over families of the probability at each h."""
    total = np.zeros((len(levels), len(at)))
    for level in levels.T:
        # tanh does not overflow
        total += 0.5 + 0.5 * np.tanh(0.5 * (level[:, None] + slope * at))
    return np.asarray(total / levels.shape[1])


def _counts(model: str, passed: Sequence[int], *, tried: Sequence[int], tasks: int) -> Floats:
    """(2, tasks): episodes passed and tried."""
    check_same_length(tasks=tasks, passed=len(passed), tried=len(tried))
    found = np.array([passed, tried], dtype=np.float64).reshape(2, tasks)
    if not ((found[0] >= 0) & (found[0] <= found[1])).all():
        raise StatisticsError(f"model {model!r}: each task has 0 <= passed <= tried")
    return found


def _shuffled(families: Sequence[str], *, count: int, rng: np.random.Generator) -> Places:
    """(count, tasks): which task's episodes stand at each task's h."""
    order = np.empty((count, len(families)), dtype=np.intp)
    for family in dict.fromkeys(families):
        places = np.array([i for i, f in enumerate(families) if f == family])
        order[:, places] = rng.permuted(np.tile(places, (count, 1)), axis=1)
    return order


def _model(
    model: str, counts: Floats, *, scaled: Sequence[float], families: Sequence[str], grid: Floats
) -> ModelHorizon:
    fit = _Fit.of(scaled, families, trials=counts[1], grid=grid)
    if isinstance(fit, Undefined):
        return ModelHorizon(model=model, slope=None, change_points=None, curve=(), reason=fit.reason)
    slope, change, *curve = map(float, fit.figures(counts[0][None], counts[1][None])[0])
    if np.isnan(slope):
        return ModelHorizon(model=model, slope=None, change_points=None, curve=(), reason=_NO_MAXIMUM)
    return ModelHorizon(model=model, slope=slope, change_points=change, curve=tuple(curve))
