"""How answers are printed: JSON or aligned text on stdout; notes and progress on stderr."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import msgspec
import typer

__all__ = [
    "OutputClosedError",
    "counted",
    "exit_with",
    "is_terminal",
    "note",
    "print_json",
    "print_json_line",
    "print_table",
    "progress",
    "say",
    "say_wrapped",
    "stages",
]

#: decimals as numbers; times as ISO 8601 and bytes as base64, which is msgspec's way; anything unknown as text
_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=str)
#: control characters but for tab and newline
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: a column of a table is not made narrower than this, characters; a terminal narrower than that is left to itself
_MIN_COLUMN, _MIN_WIDTH = 8, 40


class OutputClosedError(Exception):
    """Whoever read stdout has closed it (`iwreplay show X | head`): there is nothing more to say, and nothing wrong."""


def say(text: str = "") -> None:
    """A line on stdout. Raises OutputClosedError when nobody reads it, OSError when it can't be written."""
    _write(text, _escaped)


def say_wrapped(text: str, *, indent: int) -> None:
    """Lines on stdout. On a terminal each is broken at its width, and goes on under its own text, `indent` characters
    in; where it is not a terminal, a line stays one line."""
    width = _terminal_width()
    for line in text.split("\n"):
        if width is None or len(line) <= width or width < indent + _MIN_WIDTH // 2:
            say(line)
            continue
        wrapped = textwrap.wrap(
            line, width, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
        )
        for piece in wrapped:
            say(piece)


def counted(n: int, noun: str) -> str:
    """ "1 frame", "2 frames"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def note(text: str) -> None:
    """A line on stderr; lost when there is no stderr that takes it (the exit code still tells)."""
    if sys.stderr is None:
        return
    try:
        typer.echo(_fitting(text, sys.stderr, _escaped), err=True)
    except OSError:
        sys.stderr = _nowhere()


def exit_with(problems: Iterable[Exception]) -> None:
    """Names each problem on stderr, and ends with exit code 1 when there is any."""
    found = [" ".join(str(p).split()) for p in problems]
    for problem in found:
        note(f"error: {problem}")
    if found:
        raise typer.Exit(1)


def print_json(value: object) -> None:
    """`value` as indented JSON. NaN and infinities, which JSON has not, are null."""
    _write(msgspec.json.format(_ENCODER.encode(value), indent=2).decode(), _escaped_in_json)


def print_json_line(value: object) -> None:
    """`value` as JSON on one line."""
    _write(_ENCODER.encode(value).decode(), _escaped_in_json)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, whole: int = 1) -> None:
    """Rows under their columns; numbers to the right. A file or a pipe gets the whole of every value. On a terminal the
    widest columns are cut so that a row fits a line, but never the first `whole` ones, which are names to be typed, nor
    numbers; where that is not enough each row is a few lines, a name and its value in each."""
    cells = [[_cell(v) for v in row] for row in rows]
    widths = [max([len(c), *(len(r[i]) for r in cells)]) for i, c in enumerate(columns)]
    right = [bool(cells) and all(_is_number(r[i]) for r in cells) for i in range(len(columns))]
    least = [
        w if r or i < whole else min(w, max(_MIN_COLUMN, len(c)))
        for i, (c, w, r) in enumerate(zip(columns, widths, right, strict=True))
    ]
    room = _terminal_width()
    if room is not None and cells and _line(least) > max(room, _MIN_WIDTH):
        _print_records(columns, cells, room, whole)
        return
    widths = _fitted(widths, least, room)
    for row in [list(columns), ["-" * w for w in widths], *cells]:
        fit = [_cut(v, w) for v, w in zip(row, widths, strict=True)]
        line = "  ".join(v.rjust(w) if r else v.ljust(w) for v, w, r in zip(fit, widths, right, strict=True))
        say(line.rstrip())


def _print_records(columns: Sequence[str], cells: list[list[str]], room: int, whole: int) -> None:
    """Each row as "name value" pairs: the first `whole` ones and sentences on lines of their own, the others as many to
    a line as fit it; an empty line between two rows."""
    for n, row in enumerate(cells):
        if n:
            say()
        line = ""
        for i, (name, value) in enumerate(zip(columns, row, strict=True)):
            pair, alone = f"{name} {value}", i < whole or " " in value
            if line and (alone or len(line) + 3 + len(pair) > room):
                say(line)
                line = ""
            if alone:
                # a name that must be typed is broken nowhere
                say_wrapped(pair, indent=4)
            else:
                line = f"{line}   {pair}" if line else f"  {pair}"
        if line:
            say(line)


def _line(widths: list[int]) -> int:
    """Characters of a row."""
    return sum(widths) + 2 * (len(widths) - 1)


def _fitted(widths: list[int], least: list[int], room: int | None) -> list[int]:
    """Widths of columns that fit the terminal together: the widest gives way first, none below its least width."""
    widths = list(widths)
    while room is not None and _line(widths) > max(room, _MIN_WIDTH):
        wide = max(range(len(widths)), key=lambda i: (widths[i] - least[i] > 0, widths[i]))
        if widths[wide] <= least[wide]:
            break
        widths[wide] -= 1
    return widths


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody looks at it."""
    return stream is not None and stream.isatty()


def _terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None when it is none."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, fed with (done, of); nothing when stderr is not a terminal."""
    if not is_terminal(sys.stderr):
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


@contextmanager
def stages(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr with a word on how things stand and the time left, fed with (done, of, word); nothing when stderr
    is not a terminal."""
    if not is_terminal(sys.stderr):
        yield lambda _done, _of, _word: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[word]}"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=None, word="")
        yield lambda done, of, word: bar.update(task, completed=done, total=of, word=word)


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
        # plus zero: no minus before a zero
        return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")
    return " ".join(str(value).split())


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.lstrip("-").replace(".", "", 1).isdigit()
