"""The example of docs/statistics.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = "".join(line[4:] + "\n" for line in re.findall(r"^(?: {4}.*)?$", PAGE.partition("\n## ")[0], re.M))
    exec(compile(code, "docs/statistics.md", "exec"), {})  # our own page
    value, rest = capsys.readouterr().out.split(" ", 1)
    assert float(value) == pytest.approx(8 / 6)
    assert rest.startswith("Interval(low=1.0, high=1.4, ")
