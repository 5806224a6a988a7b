"""Pictures within the text of a terminal: as half blocks, or in the image protocols of kitty and iTerm2."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Show", "Way", "as_blocks", "as_iterm", "as_kitty", "fitted", "way_of"]

#: what a user may ask for
Show = Literal["auto", "blocks", "kitty", "iterm", "none"]
#: what is done
Way = Literal["blocks", "kitty", "iterm", "none"]

#: terminals that show no colours of 24 bits
_FEW_COLOURS_TERM, _FEW_COLOURS_PROGRAM = ("dumb", "linux", "vt100"), ("Apple_Terminal",)
_KITTY_PROGRAMS, _ITERM_PROGRAMS = ("ghostty",), ("iTerm.app", "WezTerm", "mintty", "rio")
#: most bytes of base64 in one escape sequence of kitty's protocol
_KITTY_CHUNK = 4096
#: lines that stay free for words beside a picture; a picture is not made lower than this for their sake
_WORDS, _LEAST_ROWS = 12, 18


def way_of(environment: Mapping[str, str], *, terminal: bool) -> Way:
    """How pictures are shown when nobody says how: in the protocol that the terminal is known to speak, else in blocks;
    not at all where there is no terminal, or one of few colours, or where colour is not wanted."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if not terminal or not term or environment.get("NO_COLOR"):
        return "none"
    if "TMUX" in environment or term.startswith(("screen", "tmux")):
        # what is below it is not known, and would not be reached
        return "blocks"
    if term in ("xterm-kitty", "xterm-ghostty") or "KITTY_WINDOW_ID" in environment or program in _KITTY_PROGRAMS:
        return "kitty"
    if program in _ITERM_PROGRAMS or environment.get("LC_TERMINAL") == "iTerm2":
        return "iterm"
    return "none" if term in _FEW_COLOURS_TERM or program in _FEW_COLOURS_PROGRAM else "blocks"


def fitted(*, aspect: float, columns: int, lines: int) -> tuple[int, int]:
    """(columns, rows) of a picture of that width over height, in a terminal of that size: as large as it gets beside a
    few lines of words. A character is taken to be twice as high as it is wide."""
    rows = max(1, min(lines - 1, max(lines - _WORDS, _LEAST_ROWS)))
    wide = max(1, min(columns, round(2 * rows * aspect)))
    return wide, max(1, min(rows, round(wide / aspect / 2)))


def as_blocks(rgb: np.ndarray, *, columns: int, rows: int) -> str:
    """Two pixels in each character: the upper one in the colour of the letter, the lower one in that of its ground."""
    from iwreplay.frames.pages import scaled

    small = scaled(rgb, width=columns, height=2 * rows).tolist()
    lines = []
    for upper, lower in zip(small[::2], small[1::2], strict=True):
        pieces, last = [], None
        for pair in zip(upper, lower, strict=True):
            if pair != last:
                (r, g, b), (s, h, c) = pair
                pieces.append(f"\x1b[38;2;{r};{g};{b};48;2;{s};{h};{c}m")
                last = pair
            pieces.append("▀")
        lines.append("".join(pieces) + "\x1b[0m\n")
    return "".join(lines)


def as_kitty(png: bytes, *, columns: int, rows: int) -> str:
    """https://sw.kovidgoyal.net/kitty/graphics-protocol: sent in pieces, shown at once, without an answer."""
    text = base64.standard_b64encode(png).decode()
    pieces = [text[i : i + _KITTY_CHUNK] for i in range(0, len(text), _KITTY_CHUNK)]
    head = f"a=T,f=100,q=2,c={columns},r={rows},"
    sent = [
        f"\x1b_G{head if i == 0 else ''}m={int(i < len(pieces) - 1)};{piece}\x1b\\" for i, piece in enumerate(pieces)
    ]
    return "".join(sent) + "\n"


def as_iterm(png: bytes, *, columns: int, rows: int) -> str:
    """https://iterm2.com/documentation-images.html"""
    text = base64.standard_b64encode(png).decode()
    size = f"size={len(png)};width={columns};height={rows}"
    return f"\x1b]1337;File=inline=1;preserveAspectRatio=1;{size}:{text}\x07\n"
