"""The task bootstrap: tasks are drawn again within their family, and all that was recorded of a task goes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from iwreplay.errors import StatisticsError
from iwreplay.statistics.arrays import Floats
from iwreplay.statistics.results import Estimate, Interval, check_level, check_resamples

__all__ = ["Statistic", "bootstrap", "draw_tasks", "percentile_interval"]

#: (resamples, tasks), how often each task was drawn -> (resamples, figures); NaN where a figure is undefined
Statistic = Callable[[Floats], Floats]


def draw_tasks(families: Sequence[str], *, resamples: int, rng: np.random.Generator) -> Floats:
    """How often each task was drawn, (resamples, tasks): from each family as many as it has, with replacement.

    `families` has the family of each task. A resample of tasks is told completely by these counts, since the order of
    tasks says nothing; so a statistic is a function of weights, and thousands of resamples are one matrix.
    """
    check_resamples(resamples)
    counts = np.zeros((resamples, len(families)))
    for family in dict.fromkeys(families):
        places = np.array([i for i, f in enumerate(families) if f == family])
        picks = rng.integers(0, len(places), size=(resamples, len(places)))
        flat = picks + len(places) * np.arange(resamples)[:, None]
        counts[:, places] = np.bincount(flat.ravel(), minlength=picks.size).reshape(picks.shape)
    return counts


def percentile_interval(values: npt.ArrayLike, *, level: float = 0.95) -> Interval | None:
    """The middle `level` of resampled values (quantiles with linear interpolation); None when there are none."""
    check_level(level)
    found = np.asarray(values, dtype=np.float64)
    if not found.size:
        return None
    low, high = np.quantile(found, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(low=float(low), high=float(high), level=level)


def bootstrap(
    statistic: Statistic,
    *,
    families: Sequence[str],
    rng: np.random.Generator,
    resamples: int = 10_000,
    level: float = 0.95,
) -> tuple[Estimate, ...]:
    """Every figure of `statistic` with its percentile interval over stratified resamples of tasks.

    Figures of one call share their resamples, so their order and differences can be compared. Memory: 8 bytes x
    resamples x tasks, several times.
    """
    check_level(level)
    here = _checked(statistic(np.ones((1, len(families)))), rows=1)[0]
    drawn = _checked(statistic(draw_tasks(families, resamples=resamples, rng=rng)), rows=resamples)
    return tuple(_estimate(float(v), drawn[:, i], level=level) for i, v in enumerate(here))


def _checked(figures: Floats, *, rows: int) -> Floats:
    if figures.ndim != 2 or len(figures) != rows:
        raise StatisticsError(f"a statistic gives one row for each resample: {rows} rows, not shape {figures.shape}")
    return figures


def _estimate(value: float, drawn: Floats, *, level: float) -> Estimate:
    defined = drawn[~np.isnan(drawn)]
    there = not np.isnan(value)
    return Estimate(
        value=value if there else None,
        interval=percentile_interval(defined, level=level) if there else None,
        resamples=len(drawn),
        undefined=len(drawn) - len(defined),
        reason=None if there else "nothing was counted",
    )
