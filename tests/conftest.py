"""Options of this test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tasks-part", type=int, default=None, help="which part of the benchmark's tasks is run, instead of the day's"
    )
