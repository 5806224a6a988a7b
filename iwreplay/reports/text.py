"""A report as Markdown, and its tables as CSV."""

from __future__ import annotations

import csv
import io

from iwreplay.reports.document import Cell, Report, Section, Table
from iwreplay.reports.words import written

__all__ = ["csv_files", "markdown"]


def markdown(report: Report) -> str:
    """The whole report; figures are said in words."""
    parts = [f"# {report.title}\n"]
    parts += [f"> **Note.** {w}\n" for w in report.warnings]
    for section in report.sections:
        parts += _section(section)
    return "\n".join(parts).rstrip() + "\n"


def _section(section: Section) -> list[str]:
    parts = [f"## {section.title}\n"]
    parts += [f"{t}\n" for t in (section.text, section.empty) if t]
    for figure in section.figures:
        parts.append(f"*{_escaped(figure.alt)}*\n")
    for table in section.tables:
        parts.append(f"### {table.title}\n")
        lines = [table.columns, ("---",) * len(table.columns), *table.rows]
        parts.append("\n".join("| " + " | ".join(_escaped(written(c)) for c in line) + " |" for line in lines) + "\n")
        parts += [f"{table.note}\n"] if table.note else []
    return parts


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def csv_files(report: Report) -> dict[str, str]:
    """file name -> a table, a row for each number: everything that is known of it, and nothing rounded."""
    return {f"{table.id}.csv": _csv(table) for section in report.sections for table in section.tables}


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
