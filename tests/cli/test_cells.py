"""How values stand in a table."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import pytest

from iwreplay.cli.output import print_table


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (48.800000000000004, "48.8"),
        (48.8, "48.8"),
        (8.4804, "8.48"),
        (1.0, "1"),
        (100.0, "100"),
        (1234567.125, "1234567.125"),
        (1 / 3, "0.333"),
        (-0.0001, "0"),
        (float("inf"), "inf"),
        (None, "-"),
        (True, "yes"),
        (3, "3"),
    ],
)
def test_a_number_has_at_most_three_decimals_and_no_empty_ones(value: object, shown: str) -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        print_table(("value",), [(value,)])
    assert out.getvalue().split() == ["value", "-" * max(5, len(shown)), shown]


@pytest.mark.parametrize(("columns", "records"), [(60, True), (80, False), (100, False), (200, False)])
def test_a_name_that_must_be_typed_is_never_cut(
    columns: int, records: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("iwreplay.cli.output._terminal_width", lambda: columns)
    name = "V06-openai_gpt-5.5+memory-literal-s0"
    row = (name, "wide " * 40 + "end", 12345, "finding", 0.25)
    print_table(("episode", "statement", "number", "family", "usd"), [row, row])
    shown = capsys.readouterr().out
    assert shown.split().count(name) == shown.split().count("12345") == 2
    assert max(map(len, shown.splitlines())) <= columns
    # where even the least width of each column is too much, a row is a few lines with all there is
    assert (shown.split().count("end") == 2) == records
    assert shown.startswith("episode V06-openai" if records else "episode   ")


def test_the_arms_of_a_model_are_told_apart_however_narrow_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("iwreplay.cli.output._terminal_width", lambda: 80)
    arms = ("model:openai/a-long-name;memory=on", "model:openai/a-long-name")
    print_table(("assistant", "human", "note"), [(a, "model:openai/another", "prose " * 20) for a in arms], whole=2)
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()[2:]] == [
        [a, "model:openai/another"] for a in arms
    ]
