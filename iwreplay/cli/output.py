"""How answers are printed: JSON or aligned text on stdout; notes and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
import typer

__all__ = ["note", "print_json", "print_table", "progress", "say"]

#: decimals as numbers; times as ISO 8601 and bytes as base64, which is msgspec's way; anything unknown as text
_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=str)
#: widest column of a table, characters
_MAX_COLUMN = 72


def say(text: str = "") -> None:
    """A line on stdout."""
    typer.echo(text)


def note(text: str) -> None:
    """A line on stderr."""
    typer.echo(text, err=True)


def print_json(value: object) -> None:
    """`value` as indented JSON. NaN and infinities, which JSON has not, are null."""
    typer.echo(msgspec.json.format(_ENCODER.encode(value), indent=2).decode())


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows under their columns; numbers to the right. Long values are cut on screen only (JSON has all of it)."""
    cells = [[_cell(v) for v in row] for row in rows]
    widths = [max([len(c), *(len(r[i]) for r in cells)]) for i, c in enumerate(columns)]
    right = [bool(cells) and all(_is_number(r[i]) for r in cells) for i in range(len(columns))]
    for row in [list(columns), ["-" * w for w in widths], *cells]:
        line = "  ".join(v.rjust(w) if r else v.ljust(w) for v, w, r in zip(row, widths, right, strict=True))
        say(line.rstrip())


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, fed with (done, of); nothing when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if value == round(value, 3) else f"{value:.3f}"
    text = " ".join(str(value).split())
    return text if len(text) <= _MAX_COLUMN else text[: _MAX_COLUMN - 3] + "..."


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.lstrip("-").replace(".", "", 1).isdigit()
