"""Agreement of annotators and of executors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from iwreplay.errors import StatisticsError
from iwreplay.statistics.agreement import (
    NO_PAIRS,
    NO_VARIATION,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
    share_within,
)
from iwreplay.statistics.executors import executor_agreement

#: Krippendorff (2011): four observers, twelve units; a dot where one gave no value
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
UNITS = [[None if o[i] == "." else int(o[i]) for o in OBSERVERS] for i in range(12)]
#: the worked example of Fleiss' kappa: ten subjects, fourteen raters, counts of five categories
SUBJECTS = ("0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1", "7 7 0 0 0", "3 2 6 3 0", "2 5 3 2 2",
            "6 5 2 1 0", "0 2 2 3 7")  # fmt: skip
RATED = [[c for c, n in enumerate(map(int, row.split())) for _ in range(n)] for row in SUBJECTS]

LABELS = st.sampled_from(["R1", "R2", "R3"])
TWO = st.lists(st.tuples(LABELS, LABELS).map(list), min_size=1, max_size=30)


def test_the_published_table_of_krippendorff() -> None:
    assert krippendorff_alpha(UNITS).value == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(UNITS, metric="interval").value == pytest.approx(0.849, abs=5e-4)
    # unit 12 was rated once
    assert (krippendorff_alpha(UNITS).units, krippendorff_alpha(UNITS).ratings) == (11, 40)


def test_the_worked_example_of_fleiss() -> None:
    found = fleiss_kappa(RATED)
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert (found.units, found.ratings) == (10, 140)


def test_cohen_by_hand() -> None:
    """Of 50 units 35 agree; 0.5 is what chance gives."""
    rows = [["y", "y"]] * 20 + [["y", "n"]] * 5 + [["n", "y"]] * 10 + [["n", "n"]] * 15
    assert cohen_kappa(rows).value == pytest.approx(0.4)
    assert percent_agreement(rows).value == 0.7
    assert cohen_kappa([*rows, ["y", None]]) == cohen_kappa(rows)


@given(TWO)
def test_names_of_labels_do_not_matter(rows: list[list[str]]) -> None:
    renamed = [[{"R1": "z", "R2": "a", "R3": "m"}[v] for v in row] for row in rows]
    for measure in (cohen_kappa, fleiss_kappa, krippendorff_alpha, percent_agreement):
        one, other = measure(rows), measure(renamed)
        assert one.reason == other.reason
        assert one.value == pytest.approx(other.value)


@given(TWO)
def test_full_agreement_is_one_and_none_is_more(rows: list[list[str]]) -> None:
    for measure in (cohen_kappa, fleiss_kappa, krippendorff_alpha, percent_agreement):
        value = measure(rows).value
        assert value is None or -1.0 <= value <= 1.0
        agreeing = measure([[a, a] for a, _ in rows])
        if len({a for a, _ in rows}) > 1:
            assert agreeing.value == pytest.approx(1.0)
        elif measure is not percent_agreement:
            assert (agreeing.value, agreeing.reason) == (None, NO_VARIATION)


@given(st.lists(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=3, max_size=3), max_size=12))
def test_alpha_is_its_definition(rows: list[list[int | None]]) -> None:
    """The coincidence matrix, pair by pair."""
    for metric in ("nominal", "interval"):
        found = krippendorff_alpha(rows, metric=metric)  # type: ignore[arg-type]

        def distance(a: int, b: int, metric: str = metric) -> float:
            return float(a != b) if metric == "nominal" else float((a - b) ** 2)

        units = [[v for v in row if v is not None] for row in rows]
        units = [u for u in units if len(u) > 1]
        values = [v for u in units for v in u]
        n = len(values)
        expected = sum(distance(a, b) for a in values for b in values)
        if not expected:
            assert found.value is None
            assert found.reason == (NO_VARIATION if values else NO_PAIRS)
            continue
        observed = sum(distance(a, b) / (len(u) - 1) for u in units for a in u for b in u)
        assert found.value == pytest.approx(1 - (n - 1) * observed / expected)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(list), min_size=1), st.integers(-9, 9))
def test_an_interval_alpha_has_no_origin(rows: list[list[int]], shift: int) -> None:
    moved = [[v + shift for v in row] for row in rows]
    one, other = krippendorff_alpha(rows, metric="interval"), krippendorff_alpha(moved, metric="interval")
    assert one.value == pytest.approx(other.value)
    assume(one.value is not None)
    tenfold = [[10 * v for v in row] for row in rows]
    assert krippendorff_alpha(tenfold, metric="interval").value == pytest.approx(one.value)


def test_onsets_within_a_turn() -> None:
    onsets: list[list[int | None]] = [[3, 4], [3, 3], [3, 5], [9, None], [None, None]]
    assert share_within(onsets).value == pytest.approx(2 / 3)
    assert share_within(onsets, turns=2).value == 1.0
    assert share_within(onsets, turns=0).value == pytest.approx(1 / 3)
    # three annotators are three pairs
    assert share_within([[1, 2, 3]]).value == pytest.approx(2 / 3)
    with pytest.raises(StatisticsError, match="-1"):
        share_within(onsets, turns=-1)


@pytest.mark.parametrize("rows", [[], [["R1", None], [None, None]]])
def test_without_pairs(rows: list[list[Any]]) -> None:
    for measure in (cohen_kappa, krippendorff_alpha, percent_agreement, share_within):
        found = measure(rows)
        assert (found.value, found.reason, found.units, found.ratings) == (None, NO_PAIRS, 0, 0)
    assert fleiss_kappa([]).reason == NO_PAIRS
    assert fleiss_kappa([["R1"], ["R2"]]).reason == NO_PAIRS


def test_constant_annotators_that_differ_agree_as_chance_does() -> None:
    rows = [["R1", "R2"]] * 4
    assert cohen_kappa(rows).value == 0.0
    assert percent_agreement(rows).value == 0.0


def test_what_can_not_be() -> None:
    with pytest.raises(StatisticsError, match="two annotators"):
        cohen_kappa([["R1", "R1", "R2"]])
    for rows in ([["R1", "R1"], ["R1"]], [["R1", None]]):
        with pytest.raises(StatisticsError, match="same number"):
            fleiss_kappa(rows)
    with pytest.raises(StatisticsError, match="labels are nominal"):
        krippendorff_alpha([["R1", "R2"]], metric="interval")
    with pytest.raises(StatisticsError, match="finite"):
        krippendorff_alpha([[1.0, float("inf")]], metric="interval")


def row(passes: str) -> list[bool | None]:
    return [{"+": True, "-": False, ".": None}[c] for c in passes]


def test_executors_of_one_assistant() -> None:
    found = executor_agreement({"A": {"m": row("++--"), "p": row("+--+"), "q": row("+---")}})
    (one,) = found.assistants
    assert [(p.first, p.second, p.same, p.tasks, p.share) for p in one.pairs] == [
        ("m", "p", 2, 4, 0.5), ("m", "q", 3, 4, 0.75), ("p", "q", 3, 4, 0.75)]  # fmt: skip
    assert one.agreement == pytest.approx(2 / 3)
    assert found.pooled == one.agreement
    assert one.passes == (("m", 2, 4), ("p", 2, 4), ("q", 1, 4))
    assert (one.fewest, one.most) == (1, 2)


def test_both_definitions_differ_where_tasks_do() -> None:
    """B has one task with both executors: it is half of the mean over Assistants, and a fifth of the pooled share."""
    found = executor_agreement({"A": {"m": row("++++"), "p": row("+++-")}, "B": {"m": row("+."), "p": row("--")}})
    assert [a.agreement for a in found.assistants] == [0.75, 0.0]
    assert found.pooled == 0.6
    assert found.assistants[1].passes == (("m", 1, 1), ("p", 0, 2))


@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=6, max_size=6))
def test_complete_data_make_both_definitions_equal(rows: list[list[bool]]) -> None:
    outcomes = {a: dict(zip("mpq", rows[3 * i : 3 * i + 3], strict=True)) for i, a in enumerate("AB")}
    found = executor_agreement(outcomes)
    means = [a.agreement for a in found.assistants if a.agreement is not None]
    assert found.pooled == pytest.approx(sum(means) / 2)


def test_groups_of_executors() -> None:
    found = executor_agreement(
        {"A": {"m": row("++--"), "p": row("+--+"), "q": row("+---")}},
        groups={"m": "model", "p": "person", "q": "person"},
    )
    assert [(g.first, g.second, g.pairs, g.agreement) for g in found.groups] == [
        ("model", "person", 2, 0.625), ("person", "person", 1, 0.75)]  # fmt: skip
    with pytest.raises(StatisticsError, match="q"):
        executor_agreement({"A": {"m": row("+"), "q": row("+")}}, groups={"m": "model"})
    # groups come in the order in which they are named
    other = executor_agreement({"A": {"m": row("+"), "p": row("+")}}, groups={"p": "person", "m": "model"})
    assert [(g.first, g.second) for g in other.groups] == [("person", "model")]


def test_degenerate_executors() -> None:
    assert executor_agreement({}).pooled is None
    alone = executor_agreement({"A": {"m": row("+-")}, "B": {}})
    assert (alone.pooled, alone.pairs) == (None, ())
    assert [(a.agreement, a.fewest, a.most) for a in alone.assistants] == [(None, 1, 1), (None, None, None)]
    apart = executor_agreement({"A": {"m": row("+."), "p": row(".+")}})
    assert (apart.pooled, apart.pairs[0].share, apart.pairs[0].tasks) == (None, None, 0)
    with pytest.raises(StatisticsError, match="m has 1, p has 2"):
        executor_agreement({"A": {"m": row("+"), "p": row("++")}})
