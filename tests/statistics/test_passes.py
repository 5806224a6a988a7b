"""Pass by family over fixed denominators."""

from __future__ import annotations

import numpy as np
import pytest

from iwreplay.errors import StatisticsError
from iwreplay.statistics.passes import TaskPasses, pass_difference, pass_table
from iwreplay.statistics.proportions import wilson
from iwreplay.vocabulary import FAMILIES


def rng(seed: int = 11) -> np.random.Generator:
    return np.random.default_rng(seed)


def tasks(passes: dict[str, int], *, recorded: int = 20, tried: int = 1) -> list[TaskPasses]:
    return [
        TaskPasses(family=f, task=f"{f}{i}", passed=tried * (i < k), tried=tried)
        for f, k in passes.items()
        for i in range(recorded)
    ]


def test_a_published_row() -> None:
    """20 25 30 85 50 40 %: an average of 41.7."""
    row = dict(zip(FAMILIES, (4, 5, 6, 17, 10, 8), strict=True))
    table = pass_table(tasks(row), rng=rng())
    assert [f.share for f in table.families] == [0.2, 0.25, 0.3, 0.85, 0.5, 0.4]
    assert [f.family for f in table.families] == list(FAMILIES)
    assert table.average.value == pytest.approx(50 / 120)
    assert table.average.interval is not None
    assert table.average.interval.low < 50 / 120 < table.average.interval.high
    # stratified: the variance is that of the six families' means
    half = 1.96 * sum(p * (1 - p) / 20 for p in (0.2, 0.25, 0.3, 0.85, 0.5, 0.4)) ** 0.5 / 6
    assert table.average.interval.high - table.average.interval.low == pytest.approx(2 * half, rel=0.1)
    assert [f.wilson for f in table.families] == [wilson(k, n=20) for k in row.values()]
    assert table.missing == 0


def test_a_missing_task_is_not_passed_and_is_told() -> None:
    some = [t for t in tasks(dict.fromkeys(FAMILIES, 10)) if t.task != "guidance0"]
    untried = [*some, TaskPasses(family="guidance", task="guidance0", passed=0, tried=0)]
    table = pass_table(some, rng=rng())
    assert table == pass_table(untried, rng=rng())
    guidance = table.families[0]
    assert (guidance.passed, guidance.denominator, guidance.missing, guidance.share) == (9.0, 20, 1, 0.45)
    assert table.missing == 1


def test_all_and_none_and_nothing() -> None:
    for k, average in ((20, 1.0), (0, 0.0)):
        table = pass_table(tasks(dict.fromkeys(FAMILIES, k)), rng=rng(), resamples=100)
        assert table.average.interval is not None
        assert (table.average.value, table.average.interval.low, table.average.interval.high) == (average,) * 3
    table = pass_table([], rng=rng(), resamples=100)
    assert (table.average.value, table.missing) == (0.0, 120)
    assert all(f.missing == 20 and f.share == 0.0 for f in table.families)


def test_several_episodes_of_a_task_weigh_as_one_task() -> None:
    table = pass_table(
        [TaskPasses(family="a", task="1", passed=1, tried=3), TaskPasses(family="a", task="2", passed=1, tried=1)],
        rng=rng(), denominator=2, families=["a"], resamples=50,
    )  # fmt: skip
    (family,) = table.families
    assert family.share == pytest.approx(2 / 3)
    assert family.wilson is None
    assert family.bootstrap is not None
    assert table.average.value == pytest.approx(2 / 3)


def test_one_family_of_six_tasks() -> None:
    table = pass_table(tasks({"finding": 3}, recorded=6), rng=rng(), denominator=6, families=["finding"])
    assert (table.families[0].share, table.average.value, table.missing) == (0.5, 0.5, 0)
    assert table.families[0].bootstrap == table.average.interval


def test_a_difference_pairs_tasks_by_name() -> None:
    one, other = tasks(dict.fromkeys(FAMILIES, 12)), tasks(dict.fromkeys(FAMILIES, 8))
    found = pass_difference(one, second=reversed(other), rng=rng())
    assert found.value == pytest.approx(0.2)
    assert found.interval is not None
    assert 0.0 < found.interval.low < 0.2 < found.interval.high
    same = pass_difference(one, second=list(one), rng=rng(), resamples=100)
    assert same.interval is not None
    assert (same.value, same.interval.low, same.interval.high) == (0.0, 0.0, 0.0)
    lacking = pass_difference(one, second=[], rng=rng(), resamples=100)
    assert lacking.value == pytest.approx(0.6)


def test_what_can_not_be() -> None:
    def table(*rows: TaskPasses, **options: object) -> None:
        pass_table(rows, rng=rng(), families=["a"], **options)  # type: ignore[arg-type]

    one = TaskPasses(family="a", task="T", passed=1, tried=1)
    with pytest.raises(StatisticsError, match="twice"):
        table(one, one)
    with pytest.raises(StatisticsError, match="'b'"):
        table(TaskPasses(family="b", task="T", passed=1, tried=1))
    with pytest.raises(StatisticsError, match="2 of 1"):
        table(TaskPasses(family="a", task="T", passed=2, tried=1))
    with pytest.raises(StatisticsError, match="denominator of 1"):
        table(one, TaskPasses(family="a", task="U", passed=1, tried=1), denominator=1)
    with pytest.raises(StatisticsError, match="0 each"):
        table(denominator=0)
    with pytest.raises(StatisticsError, match="a has 2 tasks"):
        pass_difference(
            [one], second=[TaskPasses(family="a", task="U", passed=1, tried=1)],
            rng=rng(), families=["a"], denominator=1,
        )  # fmt: skip
