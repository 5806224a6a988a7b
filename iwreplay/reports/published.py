"""What the paper prints, as numbers that say so. They rest on no episode here."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from iwreplay.reports.document import Number, Unit

__all__ = ["published", "published_number", "published_row"]


@cache
def published() -> dict[str, Any]:
    """By section, as in published.toml."""
    return tomllib.loads((files("iwreplay.reports") / "published.toml").read_text(encoding="utf-8"))


def published_number(value: float, *, unit: Unit = "percent") -> Number:
    """One of them: percent as printed, which is kept as a share."""
    return Number(id="", value=value / 100.0 if unit == "percent" else value, unit=unit, published=True)


def published_row(values: list[Any], *, unit: Unit = "percent") -> tuple[str | Number, ...]:
    """A row: its name, then its numbers."""
    name, *rest = values
    return (f"{name} (published)", *(published_number(float(v), unit=unit) for v in rest))
