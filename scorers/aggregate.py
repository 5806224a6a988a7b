"""From scores of episodes to figures of a benchmark: by family, and by capability. No intervals here."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from iwreplay.vocabulary import CAPABILITIES, FAMILIES, Family
from scorers.model import Score, Unscorable

__all__ = ["CapabilityShare", "FamilyMean", "FamilyTable", "Row", "by_capability", "by_family"]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer said about one episode."""

    family: Family
    task: str
    score: Score | Unscorable


class FamilyMean(msgspec.Struct, frozen=True, kw_only=True):
    """Mean over a family's scored episodes."""

    family: Family
    #: None when no episode of the family could be scored
    mean: float | None
    scored: int
    unscorable: int
    #: episodes for which the metric has no meaning
    undefined: int


class FamilyTable(msgspec.Struct, frozen=True, kw_only=True):
    """All six families."""

    metric: str
    families: tuple[FamilyMean, ...]
    #: mean of the six families' means (rule 33); None while a family has none
    average: float | None
    scored: int
    unscorable: int
    undefined: int


class CapabilityShare(msgspec.Struct, frozen=True, kw_only=True):
    """Points of one capability over all scored episodes, each weighing the same (rule 35)."""

    capability: str
    #: clean_pass / points; None when there are no points
    share: float | None
    points: int
    clean_pass: int
    assisted_pass: int
    fail: int
    not_reached: int


def by_family(rows: Iterable[Row], *, metric: str) -> FamilyTable:
    """Means by family of the rows of `metric`. Unscorable episodes are counted and left out, never taken as 0."""
    values: dict[str, list[float]] = {f: [] for f in FAMILIES}
    unscorable, undefined = dict.fromkeys(FAMILIES, 0), dict.fromkeys(FAMILIES, 0)
    for row in rows:
        if row.score.metric != metric:
            continue
        if isinstance(row.score, Score):
            values[row.family].append(row.score.value)
        elif row.score.undefined:
            undefined[row.family] += 1
        else:
            unscorable[row.family] += 1
    families = tuple(
        FamilyMean(
            family=f,
            mean=math.fsum(values[f]) / len(values[f]) if values[f] else None,
            scored=len(values[f]),
            unscorable=unscorable[f],
            undefined=undefined[f],
        )
        for f in FAMILIES
    )
    means = [f.mean for f in families if f.mean is not None]
    return FamilyTable(
        metric=metric,
        families=families,
        average=math.fsum(means) / len(means) if len(means) == len(FAMILIES) else None,
        scored=sum(f.scored for f in families),
        unscorable=sum(f.unscorable for f in families),
        undefined=sum(f.undefined for f in families),
    )


def by_capability(rows: Iterable[Row]) -> tuple[CapabilityShare, ...]:
    """C1 to C9 from the rows of the metric "capability"."""
    counts = {c: dict.fromkeys(("clean_pass", "assisted_pass", "fail", "not_reached"), 0) for c in CAPABILITIES}
    for row in rows:
        if isinstance(row.score, Score) and row.score.metric == "capability":
            for point in row.score.details["points"]:
                counts[point["capability"]][point["status"]] += 1
    return tuple(
        CapabilityShare(
            capability=c,
            share=n["clean_pass"] / sum(n.values()) if any(n.values()) else None,
            points=sum(n.values()),
            **n,
        )
        for c, n in counts.items()
    )
