"""A report as one HTML page that needs nothing else: no script from elsewhere, no style sheet, no picture file."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from iwreplay.reports.document import Cell, Figure, Number, Report, Section, Table
from iwreplay.reports.words import SHORT_NOTE, interval_words, value_words

__all__ = ["page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 78em; padding: 0 1.2em; color: #1a1a1a;
  background: #fff; }
h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 2.4em; border-bottom: 1px solid #bbb; }
h3 { font-size: 1em; margin: 1.6em 0 .4em; } nav { margin: 1em 0; columns: 3 16em; } nav a { display: block; }
p { max-width: 60em; } .scroll { overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: .3em .8em .3em 0; vertical-align: top; text-align: right; border-bottom: 1px solid #e4e4e4; }
th { border-bottom: 1px solid #888; } th:first-child, td:first-child, td.words, th.words { text-align: left; }
td.words { min-width: 5em; }
td small { display: block; color: #595959; white-space: nowrap; } tr.published { color: #555; font-style: italic; }
.note { color: #444; font-size: .92em; }
.warn { border-left: 4px solid #b36b00; padding: .2em .8em; background: #fff8ec; }
.empty { color: #444; border-left: 4px solid #bbb; padding: .2em .8em; }
figure { margin: 1em 0; } figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .92em; color: #444; } code { background: #f3f3f3; }
@media print { nav { display: none; } h2 { break-after: avoid; } }
"""


def page(report: Report) -> str:
    """The HTML text. A number's tooltip has the name by which `iwreplay report --trace` tells of its episodes."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{escape(report.title)}</h1>"
    for warning in report.warnings:
        yield f'<p class="warn">{escape(warning)}</p>'
    yield "<nav>"
    for section in report.sections:
        mark = " (nothing yet)" if section.empty else ""
        yield f'<a href="#{escape(section.id)}">{escape(section.title)}{mark}</a>'
    yield "</nav>"
    for section in report.sections:
        yield from _section(section)
    yield "</body></html>"


def _section(section: Section) -> Iterator[str]:
    yield f'<section id="{escape(section.id)}"><h2>{escape(section.title)}</h2>'
    if section.text:
        yield f"<p>{escape(section.text)}</p>"
    if section.empty:
        yield f'<p class="empty">{escape(section.empty)}</p>'
    for figure in section.figures:
        yield _figure(figure)
    for table in section.tables:
        yield from _table(table)
    yield "</section>"


def _figure(figure: Figure) -> str:
    svg = figure.svg.replace("<svg ", f'<svg role="img" aria-label="{escape(figure.alt)}" ', 1)
    return f"<figure>{svg}<figcaption>{escape(figure.title)}</figcaption></figure>"


def _table(table: Table) -> Iterator[str]:
    words = [all(isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))]
    yield f'<h3>{escape(table.title)}</h3><div class="scroll"><table><thead><tr>'
    yield "".join(
        f'<th scope="col"{" class=words" if plain else ""}>{escape(c)}</th>'
        for c, plain in zip(table.columns, words, strict=True)
    )
    yield "</tr></thead><tbody>"
    for row in table.rows:
        published = any(isinstance(c, Number) and c.published for c in row)
        yield f"<tr{' class=published' if published else ''}>" + "".join(map(_cell, row)) + "</tr>"
    yield "</tbody></table></div>"
    if table.note:
        yield f'<p class="note">{escape(table.note)}</p>'


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return f"<td class=words>{escape(cell)}</td>"
    small = []
    if cell.k is not None and cell.n is not None:
        small.append(f"{cell.k:g} of {cell.n}")
    small.append(interval_words(cell))
    if cell.note and len(cell.note) <= SHORT_NOTE:
        small.append(cell.note)
    more = "".join(f"<small>{escape(s)}</small>" for s in small if s)
    told = "; ".join(t for t in (cell.id and f"--trace '{cell.id}'", cell.note) if t)
    title = f' title="{escape(told)}"' if told else ""
    return f"<td{title}>{escape(value_words(cell))}{more}</td>"
