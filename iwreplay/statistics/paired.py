"""Two arms on the same instances: exact McNemar, and the sign-flip permutation by task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from iwreplay.errors import StatisticsError
from iwreplay.statistics.results import check_resamples, check_same_length
from iwreplay.statistics.tails import binomial_p

__all__ = ["EXACT_TASKS", "McNemar", "SignFlip", "mcnemar", "sign_flip"]

#: up to so many tasks with a difference, all 2^n sign patterns are looked at
EXACT_TASKS = 16
#: sums that differ by less, relative to the largest possible, are the same: rounding must not decide a tie
_TIE = 1e-9


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """Instances by what became of them in the two arms."""

    both: int
    only_first: int
    only_second: int
    neither: int
    #: exact and two-sided; 1 when the arms never differ; None without instances
    p: float | None


def mcnemar(first: Sequence[bool], *, second: Sequence[bool]) -> McNemar:
    """The exact test of McNemar (1947): among instances that differ, each way has probability one half.

    `first` and `second` have the outcomes of the same instances in the same order.
    """
    check_same_length(first=len(first), second=len(second))
    pairs = [(bool(a), bool(b)) for a, b in zip(first, second, strict=True)]
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    return McNemar(
        both=pairs.count((True, True)),
        only_first=only_first,
        only_second=only_second,
        neither=pairs.count((False, False)),
        p=binomial_p(only_first, n=only_first + only_second) if pairs else None,
    )


class SignFlip(msgspec.Struct, frozen=True, kw_only=True):
    """The paired permutation test of a mean difference, two-sided."""

    tasks: int
    #: tasks with a difference other than 0: only their signs can matter
    differing: int
    #: first less second, mean over tasks; None without tasks
    mean_difference: float | None
    #: None without tasks
    p: float | None
    method: Literal["exact", "monte_carlo"]
    #: sign patterns looked at: all of them, or those drawn
    patterns: int

    @property
    def statement(self) -> str:
        """How p was found, for a caption."""
        if self.method == "exact":
            return f"exact sign-flip permutation by task: all {self.patterns} patterns"
        return f"sign-flip permutation by task: {self.patterns} random patterns, p = (1 + #) / (1 + {self.patterns})"


def sign_flip(differences: Sequence[float], *, rng: np.random.Generator, resamples: int = 10_000) -> SignFlip:
    """Tests that a task's difference is as likely either way, by the absolute sum of differences.

    `differences` has one number for each task: the first arm's mean over seeds less the second's. With at most
    `EXACT_TASKS` differing tasks every pattern of signs is looked at and `rng` isn't asked; otherwise `resamples` of
    them are drawn and p = (1 + #{|sum*| >= |sum|}) / (1 + resamples), which is never 0.
    """
    check_resamples(resamples)
    if not all(math.isfinite(d) for d in differences):
        raise StatisticsError("a task's difference is a finite number")
    moving = np.array([d for d in differences if d != 0.0], dtype=np.float64)
    least = abs(float(moving.sum())) - _TIE * float(np.abs(moving).sum())
    exact = len(moving) <= EXACT_TASKS
    if exact:
        sums = np.zeros(1)
        for d in moving:
            sums = np.concatenate([sums + d, sums - d])
    else:
        sums = (2.0 * rng.integers(0, 2, size=(resamples, len(moving))) - 1.0) @ moving
    extreme = int(np.count_nonzero(np.abs(sums) >= least))
    p = extreme / len(sums) if exact else (1 + extreme) / (1 + resamples)
    return SignFlip(
        tasks=len(differences),
        differing=len(moving),
        mean_difference=math.fsum(differences) / len(differences) if differences else None,
        p=p if differences else None,
        method="exact" if exact else "monte_carlo",
        patterns=len(sums),
    )
