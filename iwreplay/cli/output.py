"""How answers are printed: JSON or aligned text on stdout; notes and progress on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import msgspec
import typer

__all__ = ["OutputClosedError", "note", "print_json", "print_table", "progress", "say"]

#: decimals as numbers; times as ISO 8601 and bytes as base64, which is msgspec's way; anything unknown as text
_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=str)
#: control characters but for tab and newline
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: widest column of a table, characters
_MAX_COLUMN = 72


class OutputClosedError(Exception):
    """Whoever read stdout has closed it (`iwreplay show X | head`): there is nothing more to say, and nothing wrong."""


def say(text: str = "") -> None:
    """A line on stdout. Raises OutputClosedError when nobody reads it, OSError when it can't be written."""
    _write(text, _escaped)


def note(text: str) -> None:
    """A line on stderr; lost when there is no stderr that takes it (the exit code still tells)."""
    if sys.stderr is None:
        return
    try:
        typer.echo(_fitting(text, sys.stderr, _escaped), err=True)
    except OSError:
        sys.stderr = _nowhere()


def print_json(value: object) -> None:
    """`value` as indented JSON. NaN and infinities, which JSON has not, are null."""
    _write(msgspec.json.format(_ENCODER.encode(value), indent=2).decode(), _escaped_in_json)


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
    if sys.stderr is None or not sys.stderr.isatty():
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


def _write(text: str, escaped: Callable[[str], str]) -> None:
    if sys.stdout is None:
        raise OutputClosedError
    try:
        typer.echo(_fitting(text, sys.stdout, escaped))
    except OSError as e:
        # Python would try what is buffered once more when it ends, and complain
        sys.stdout = _nowhere()
        if isinstance(e, BrokenPipeError):
            raise OutputClosedError from e
        raise OSError(e.errno, e.strerror, "stdout") from e


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _fitting(text: str, stream: TextIO, escaped: Callable[[str], str]) -> str:
    """Escapes what would steer a terminal, and what the stream's encoding has not."""
    text = _STEERING.sub(lambda m: escaped(m[0]), text)
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(c if _has(encoding, c) else escaped(c) for c in text)
    return text


def _has(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _escaped_in_json(character: str) -> str:
    # outside its strings JSON has ASCII only
    return json.dumps(character)[1:-1]


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
