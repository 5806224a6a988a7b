"""Contact sheets: small pictures in rows, a line under each; and the strip of captions below a picture. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from iwreplay.frames.captions import VOICES, Caption, Voice
from iwreplay.frames.pages import Page, Pixels, Rgb, scaled, text_width, wrapped

__all__ = ["SHEET_CELLS", "CaptionStrip", "SheetPage"]

_COLUMNS, _ROWS = 5, 6
#: pictures on one page
SHEET_CELLS = _COLUMNS * _ROWS
_CELL_PX, _GAP_PX, _LETTER_PX = 320, 8, 15
_PAPER: Rgb = (250, 250, 248)


class SheetPage:
    """One page of a contact sheet, filled picture by picture, row by row."""

    def __init__(self, *, aspect: float, cells: int, columns: int = _COLUMNS, cell_px: int = _CELL_PX) -> None:
        """aspect: width over height of its pictures. cells: how many there will be."""
        self._width = cell_px
        self._height = max(1, int(cell_px / aspect + 0.5))
        self._columns = min(columns, max(1, cells))
        rows = -(-cells // self._columns)
        self._line = _LETTER_PX + 2 * _GAP_PX // 2
        self._page = Page(
            self._columns * (cell_px + _GAP_PX) + _GAP_PX,
            rows * (self._height + self._line + _GAP_PX) + _GAP_PX,
            paper=_PAPER,
        )
        self._filled = 0

    def add(self, rgb: Pixels, label: str) -> None:
        """The next picture; a label that is too long is cut."""
        row, column = divmod(self._filled, self._columns)
        x = _GAP_PX + column * (self._width + _GAP_PX)
        y = _GAP_PX + row * (self._height + self._line + _GAP_PX)
        self._page.picture(scaled(rgb, width=self._width, height=self._height), x, y)
        self._page.text(_cut(label, self._width), x + 2, y + self._height + _LETTER_PX, px=_LETTER_PX)
        self._filled += 1

    @property
    def filled(self) -> int:
        """Pictures on it so far."""
        return self._filled

    def pixels(self) -> Pixels:
        return self._page.pixels()


def _cut(text: str, width: int) -> str:
    while text and text_width(text, px=_LETTER_PX) > width:
        text = text[:-1]
    return text


_INK: dict[Voice, Rgb] = {"assistant": (250, 220, 120), "human": (190, 225, 255), "command": (190, 240, 180)}
#: lines that each voice has
_LINES: dict[Voice, int] = {"assistant": 3, "human": 2, "command": 2}
_DARK: Rgb = (24, 26, 30)
_FAINT: Rgb = (150, 154, 160)
#: narrower than this, words can't be read below a picture
_LEAST_WIDTH = 320


class CaptionStrip:
    """Puts a picture above the words that belong to its moment. All results have one size, with even sides."""

    def __init__(self, captions: Sequence[Caption], *, width: int, height: int) -> None:
        """width, height: of the pictures."""
        self._captions = captions
        self._picture = (width, height)
        self._px = max(13, min(40, width // 40))
        self._pitch = self._px * 4 // 3
        self._strip = self._pitch * (2 + sum(_LINES.values())) + self._pitch // 2
        wide = max(width, _LEAST_WIDTH)
        self.width, self.height = wide + wide % 2, height + self._strip + (height + self._strip) % 2

    def at(self, t_s: float) -> tuple[str, ...]:
        """Lines at a moment, three voices one after the other; "" where a line stays free. Words that take more lines
        than there are come piece by piece, each for its share of the time."""
        lines: list[str] = []
        for voice in VOICES:
            found = [c for c in self._captions if c.voice == voice and c.shown_at(t_s)]
            free = _LINES[voice]
            shown: tuple[str, ...] = ()
            if found:
                c = found[-1]
                text = wrapped(c.text, px=self._px, width=self.width - 2 * self._px)
                pieces = -(-len(text) // free)
                k = min(pieces - 1, int((t_s - c.start_s) / (c.end_s - c.start_s) * pieces))
                shown = text[k * free : (k + 1) * free]
            lines += [*shown, *[""] * (free - len(shown))]
        return tuple(lines)

    def composed(self, rgb: Pixels, *, heading: str, lines: Sequence[str]) -> Pixels:
        """The picture, a heading and the lines below it."""
        page = Page(self.width, self.height, paper=_DARK)
        page.picture(rgb, (self.width - self._picture[0]) // 2, 0)
        x, y = self._px, self._picture[1] + self._pitch
        page.text(heading, x, y, px=self._px, ink=_FAINT)
        inks = [_INK[v] for v in VOICES for _ in range(_LINES[v])]
        for k, line in enumerate(lines):
            page.text(line, x, y + self._pitch * (k + 1), px=self._px, ink=inks[k])
        return page.pixels()
