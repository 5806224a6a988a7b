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
