"""Figures of a benchmark from scores of episodes."""

from __future__ import annotations

import pytest

from iwreplay.vocabulary import CAPABILITIES, FAMILIES
from scorers import Row, Score, Unscorable, by_capability, by_family


def row(family: str, value: float | None, metric: str = "pass", **details: object) -> Row:
    score: Score | Unscorable
    if value is None:
        score = Unscorable(metric=metric, reason="x")
    else:
        score = Score(metric=metric, value=value, evidence=(), details=dict(details))
    return Row(family=family, task="T01", score=score)  # type: ignore[arg-type]


def test_the_average_is_the_mean_of_six_families_not_of_episodes() -> None:
    rows = [row(f, 0.0) for f in FAMILIES[:5]] + [row(FAMILIES[5], 1.0)] * 5
    table = by_family(rows, metric="pass")
    assert table.average == pytest.approx(1 / 6)
    assert [f.family for f in table.families] == list(FAMILIES)
    assert [f.mean for f in table.families] == [0.0] * 5 + [1.0]
    assert table.scored == 10


def test_unscorable_episodes_are_counted_and_left_out() -> None:
    rows = [row(f, 1.0) for f in FAMILIES] + [row("guidance", None), row("guidance", 0.25, metric="mcr")]
    table = by_family(rows, metric="pass")
    assert table.average == 1.0
    assert table.families[0].unscorable == 1
    assert table.families[0].mean == 1.0


def test_without_a_family_there_is_no_average() -> None:
    table = by_family([row("guidance", 1.0), row("finding", None)], metric="pass")
    assert table.average is None
    assert table.families[5].mean is None
    assert table.unscorable == 1


def test_capability_points_weigh_the_same_over_all_tasks() -> None:
    one = row("guidance", 1.0, "capability", points=[{"capability": "C1", "status": "clean_pass"}])
    four = row(
        "finding",
        0.0,
        "capability",
        points=[{"capability": "C1", "status": s} for s in ("assisted_pass", "fail", "not_reached")]
        + [{"capability": "C4", "status": "fail"}],
    )
    shares = {
        s.capability: s for s in by_capability([one, four, row("guidance", None, "capability"), row("finding", 1.0)])
    }
    assert list(shares) == list(CAPABILITIES)
    c1 = shares["C1"]
    assert (c1.share, c1.points, c1.clean_pass, c1.assisted_pass, c1.fail, c1.not_reached) == (0.25, 4, 1, 1, 1, 1)
    assert shares["C4"].share == 0.0
    assert shares["C9"].share is None
