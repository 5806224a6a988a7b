"""How a number is written: in a page, in Markdown, in a CSV file."""

from __future__ import annotations

from iwreplay.reports.document import Cell, Number

__all__ = ["SHORT_NOTE", "interval_words", "value_words", "written"]

#: characters of a note that stands in its cell; longer ones are in the tooltip and the tables
SHORT_NOTE = 24


def value_words(number: Number) -> str:
    """The value with its unit's precision; a dash when there is none."""
    if number.value is None:
        return "-"
    value = number.value
    match number.unit:
        case "percent":
            return f"{100.0 * value:.1f}"
        case "points":
            return f"{value:+.1f}"
        case "times":
            return f"{value:.2f}x"
        case "count":
            return f"{value:,.0f}"
        case "usd":
            return f"{value:,.2f}"
        case "p":
            return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
        case "plain":
            return f"{value:.3f}"


def interval_words(number: Number) -> str:
    """In the unit of the value; "" without one."""
    if number.low is None or number.high is None or number.value is None:
        return ""
    ends = (number.low, number.high)
    match number.unit:
        case "percent":
            low, high = (f"{100.0 * v:.1f}" for v in ends)
        case "points":
            low, high = (f"{v:+.1f}" for v in ends)
        case _:
            low, high = (f"{v:.2f}" for v in ends)
    return f"[{low}, {high}]"


def written(cell: Cell) -> str:
    """A cell on one line: value, what of, interval, note."""
    if isinstance(cell, str):
        return cell
    parts = [value_words(cell)]
    if cell.k is not None and cell.n is not None:
        parts.append(f"({cell.k:g}/{cell.n})")
    parts.append(interval_words(cell))
    if cell.note and len(cell.note) <= SHORT_NOTE:
        parts.append(f"({cell.note})")
    return " ".join(p for p in parts if p)
