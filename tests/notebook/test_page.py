"""docs/python.md: every example on it is run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_every_example_gives_what_the_page_shows(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(samples.parent)
    done = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert done.attempted > 30
    assert done.failed == 0


def test_no_example_is_left_out() -> None:
    """What stands in a Python block is an example; doctest takes a block without a prompt for prose."""
    blocks = PAGE.read_text(encoding="utf-8").split("```python\n")[1:]
    assert len(blocks) > 8
    assert all(block.startswith(">>> ") for block in blocks)
