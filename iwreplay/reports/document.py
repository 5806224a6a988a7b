"""What a report is made of: numbers with their episodes, tables, figures, sections. Inert."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Bar", "Cell", "Figure", "Number", "Report", "Section", "Table"]

#: how a value is written: a share as percent, points as such, a ratio with a times sign, counts, dollars, p, plain
Unit = Literal["percent", "points", "times", "count", "usd", "p", "plain"]


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a report. A share is kept as 0 to 1, points as percentage points."""

    #: by which it is asked where it comes from, "pass/guidance/MODEL/HUMAN"; "" for what was published
    id: str
    #: None: undefined, or not measured
    value: float | None
    unit: Unit = "percent"
    #: what it is a share of: k of n
    k: float | None = None
    n: int | None = None
    low: float | None = None
    high: float | None = None
    #: why there is no value, or what should be known about it
    note: str = ""
    #: ids of the episodes that it rests on
    episodes: tuple[str, ...] = ()
    published: bool = False


Cell = str | Number


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of cells; the first cell of a row names it."""

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    #: what a reader must know to read it
    note: str = ""


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A value to draw, with its interval."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    published: bool = False


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A drawing in SVG, and what it shows in words for who can't see it."""

    id: str
    title: str
    svg: str
    alt: str


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One question, with what answers it."""

    id: str
    title: str
    #: how it was worked out, in sentences
    text: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    #: why there is nothing to show, and what would change that; "" when there is something
    empty: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    title: str
    #: what the reader must know before any number, one sentence each
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]

    def numbers(self) -> tuple[Number, ...]:
        """Every number of it that rests on episodes, each once, in the order in which they stand."""
        found = {
            cell.id: cell
            for section in self.sections
            for table in section.tables
            for row in table.rows
            for cell in row
            if isinstance(cell, Number) and cell.id
        }
        return tuple(found.values())
