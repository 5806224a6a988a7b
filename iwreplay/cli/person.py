"""The console of a person who plays: this terminal. What is said to the person goes to stderr, since stdout is for what
the command prints in the end."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from iwreplay.cli.inline_pictures import Show, Way, as_blocks, as_iterm, as_kitty, fitted, way_of
from iwreplay.cli.output import note

if TYPE_CHECKING:
    import numpy as np

    from iwreplay.cli.line_editor import Complete, LineEditor

__all__ = ["TerminalConsole"]

#: narrower than this, words are left to the terminal to break
_MIN_WIDTH = 20


class TerminalConsole:
    """stdin and stderr. Where stdin is no terminal, its lines are read as they come."""

    def __init__(self, folder: Path, *, show: Show = "auto") -> None:
        """folder: for the pictures, made when the first one is kept."""
        self.tell("The episode is being set up, which takes some seconds.")
        self._folder = folder
        self._typed = _is_terminal(sys.stdin) and _is_terminal(sys.stderr)
        self._way: Way = _way() if show == "auto" else show
        self._editor = _editor() if self._typed else None
        if not self._typed and sys.stdin is not None and hasattr(sys.stdin, "reconfigure"):
            # bytes that are no text are refused as such, not lost
            sys.stdin.reconfigure(errors="surrogateescape")

    def facts(self) -> dict[str, str]:
        editing = "none" if self._editor is None else "completion"
        return {"interface": "terminal" if self._typed else "lines", "pictures": self._way, "editing": editing}

    def tell(self, text: str) -> None:
        """Lines on stderr, broken between words at the width of the terminal."""
        width = _size().columns if _is_terminal(sys.stderr) else 0
        for line in text.split("\n"):
            for piece in _broken(line, width - 1) if width >= _MIN_WIDTH else [line]:
                note(piece)

    def keep(self, rgb: np.ndarray, *, name: str) -> str:
        """As a PNG file in the folder."""
        from iwreplay.frames.png import png_bytes
        from iwreplay.store import write_whole

        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{name}.png"
        write_whole(path, png_bytes(rgb), durable=False)
        return str(path)

    def show(self, rgb: np.ndarray) -> None:
        """Within the text, when the terminal can."""
        from iwreplay.frames.png import png_bytes

        if self._way == "none" or sys.stderr is None:
            return
        size = _size()
        columns, rows = fitted(aspect=rgb.shape[1] / rgb.shape[0], columns=size.columns, lines=size.lines)
        if self._way == "blocks":
            picture = as_blocks(rgb, columns=columns, rows=rows)
        else:
            picture = (as_kitty if self._way == "kitty" else as_iterm)(png_bytes(rgb), columns=columns, rows=rows)
        sys.stderr.write(picture)
        sys.stderr.flush()

    def ask(self, prompt: str, *, complete: Complete) -> str:
        """A line of stdin. Ctrl-C, Ctrl-D and the end of the input are a KeyboardInterrupt."""
        try:
            if self._editor is not None:
                return self._editor.read(prompt, complete=complete)
            return self._plain_line(prompt)
        except (EOFError, KeyboardInterrupt):
            if self._typed and self._editor is None:
                # what comes now is not part of the line
                note("")
            raise KeyboardInterrupt("the person has left") from None

    def _plain_line(self, prompt: str) -> str:
        if self._typed:
            sys.stderr.write(prompt)
            sys.stderr.flush()
        line = sys.stdin.readline() if sys.stdin is not None else ""
        if not line:
            raise EOFError
        line = line.rstrip("\r\n")
        if not self._typed:
            # so that what is kept of stderr reads as a conversation
            note(f"{prompt}{line}")
        return line


def _broken(line: str, width: int) -> list[str]:
    """A path stays whole: the terminal breaks it where a click still finds it."""
    pieces = textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
    return pieces or [""]


def _is_terminal(stream: object) -> bool:
    return stream is not None and getattr(stream, "isatty", bool)()


def _size() -> os.terminal_size:
    """Of the terminal on stderr now; stdout may go elsewhere."""
    try:
        return os.get_terminal_size(sys.stderr.fileno())
    except OSError:
        return shutil.get_terminal_size()


def _way() -> Way:
    way = way_of(os.environ, terminal=_is_terminal(sys.stderr))  # noqa: TID251  what the terminal says of itself
    try:
        "▀".encode(sys.stderr.encoding or "utf-8")
    except (AttributeError, UnicodeEncodeError):
        return "none"
    return way


def _editor() -> LineEditor | None:
    try:
        from iwreplay.cli.line_editor import LineEditor
    except ModuleNotFoundError as e:
        if e.name is None or not e.name.startswith("prompt_toolkit"):
            raise
        note("Tab completes nothing here; for that: pip install 'iwreplay[person]'")
        return None
    return LineEditor()
