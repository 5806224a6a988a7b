"""What several tests of runs need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.models.provider import KEY, Provider, provider


@pytest.fixture
def hosted() -> Iterator[Callable[..., tuple[Provider, dict[str, str]]]]:
    """Starts a provider; gives it, and the environment in which it is asked."""
    open_ones: list[Any] = []

    def start(**answers: Any) -> tuple[Provider, dict[str, str]]:
        context = provider(answers)
        there = context.__enter__()
        open_ones.append(context)
        return there, {"OPENAI_API_BASE": there.url, "OPENAI_API_KEY": KEY}

    yield start
    for context in open_ones:
        context.__exit__(None, None, None)
