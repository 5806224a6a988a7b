"""A report as Markdown, and its tables as CSV."""

from __future__ import annotations

import csv
import io
import re

from iwreplay.reports.document import Cell, Report, Section, Table
from iwreplay.reports.words import written

__all__ = ["csv_files", "markdown"]


def markdown(report: Report) -> str:
    """The whole report; figures are said in words."""
    parts = [f"# {_escaped(report.title)}\n"]
    parts += [f"> **Note.** {_escaped(w)}\n" for w in report.warnings]
    for section in report.sections:
        parts += _section(section)
    return "\n".join(parts).rstrip() + "\n"


def _section(section: Section) -> list[str]:
    parts = [f"## {section.title}\n"]
    parts += [f"{_escaped(t)}\n" for t in (section.text, section.empty) if t]
    for figure in section.figures:
        parts.append(f"*{_escaped(figure.alt)}*\n")
    for table in section.tables:
        parts.append(f"### {_escaped(table.title)}\n")
        lines = [table.columns, ("---",) * len(table.columns), *table.rows]
        parts.append("\n".join("| " + " | ".join(_escaped(written(c)) for c in line) + " |" for line in lines) + "\n")
        parts += [f"{_escaped(table.note)}\n"] if table.note else []
    return parts


def _escaped(text: str) -> str:
    """In a cell: nothing in it is read as a border, a tag or an end of the line."""
    for character, instead in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("`", "\\`")):
        text = text.replace(character, instead)
    return " ".join(text.splitlines())


#: what is in no name of a file, and how long one is at most
_UNSAFE, _LONGEST_NAME = re.compile(r"[^A-Za-z0-9+-]+"), 80


def csv_files(report: Report) -> dict[str, str]:
    """file name -> a table, a row for each number: everything that is known of it, and nothing rounded."""
    found: dict[str, str] = {}
    for section in report.sections:
        for table in section.tables:
            # ids of tables have names of Assistants in them
            plain = _UNSAFE.sub("_", table.id)[:_LONGEST_NAME]
            name, n = plain, 1
            while name in found:
                n += 1
                name = f"{plain}-{n}"
            found[name] = _csv(table)
    return {f"{name}.csv": text for name, text in found.items()}


_COLUMNS = ("row", "column", "value", "unit", "k", "n", "low", "high", "note", "published", "number", "text")


def _csv(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in table.rows:
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            writer.writerow([written(row[0]), column, *_fields(cell)])
    return out.getvalue()


def _fields(cell: Cell) -> list[object]:
    if isinstance(cell, str):
        return ["", "", "", "", "", "", "", "", "", cell]
    return [
        *("" if v is None else v for v in (cell.value, cell.unit, cell.k, cell.n, cell.low, cell.high)),
        cell.note,
        "yes" if cell.published else "no",
        cell.id,
        written(cell),
    ]
