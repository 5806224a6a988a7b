"""A page to compose on: pictures, letters, lines. What sheets, captions and maps are made with.

Letters come from the font of the package, at whole pixels, so the same page has the same pixels everywhere.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from iwreplay.errors import RenderError
from iwreplay.render.text import FONT

__all__ = ["Page", "Pixels", "Rgb", "jpeg_bytes", "scaled", "text_width", "wrapped"]

Pixels = npt.NDArray[np.uint8]
Rgb = tuple[int, int, int]
Box = tuple[int, int, int, int]

#: JPEG qualities that are tried, best first
_QUALITIES = (88, 82, 76, 70, 62, 54, 46, 38)


@lru_cache(maxsize=32)
def _font(px: int) -> ImageFont.FreeTypeFont:
    with as_file(files("iwreplay.render") / "fonts" / FONT) as path:
        return ImageFont.truetype(str(path), px, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def text_width(text: str, *, px: int) -> int:
    """Length of a line of letters of `px` pixels, rounded up."""
    return int(_font(px).getlength(text)) + 1


def wrapped(text: str, *, px: int, width: int) -> tuple[str, ...]:
    """Lines no longer than `width` pixels. A word that is longer than a line is broken; one letter always fits."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if text_width(longer, px=px) <= width:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while len(line) > 1 and text_width(line, px=px) > width:
                keep = max(1, next(n for n in range(len(line) - 1, -1, -1) if text_width(line[:n], px=px) <= width))
                lines.append(line[:keep])
                line = line[keep:]
        lines.append(line)
    return tuple(lines)


def scaled(rgb: Pixels, *, width: int, height: int) -> Pixels:
    """The picture in another size, by the mean of what falls into each pixel."""
    if rgb.shape[:2] == (height, width):
        return rgb
    return np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.BOX), np.uint8)


def jpeg_bytes(rgb: Pixels, *, most_bytes: int) -> bytes:
    """A JPEG of at most so many bytes, in the best quality that fits. RenderError when none does."""
    image = Image.fromarray(rgb)
    size = 0
    for quality in _QUALITIES:
        out = io.BytesIO()
        image.save(out, "JPEG", quality=quality, subsampling=2, optimize=True)
        size = out.tell()
        if size <= most_bytes:
            return out.getvalue()
    raise RenderError(f"a picture of {rgb.shape[1]} x {rgb.shape[0]} pixels takes {size} bytes, more than {most_bytes}")


class Page:
    """An RGB page; x to the right, y down, whole pixels."""

    def __init__(self, width: int, height: int, *, paper: Rgb = (255, 255, 255)) -> None:
        self.width, self.height = width, height
        self._image = Image.new("RGB", (width, height), paper)
        self._pen = ImageDraw.Draw(self._image)

    def pixels(self) -> Pixels:
        """(height, width, 3), the caller's own."""
        return np.array(self._image, np.uint8)

    def picture(self, rgb: Pixels, x: int, y: int) -> None:
        """Puts a picture; what lies outside is cut off."""
        self._image.paste(Image.fromarray(rgb), (x, y))

    def fill(self, box: Box, colour: Rgb, *, edge: Rgb | None = None) -> None:
        """A rectangle from (x0, y0) to before (x1, y1)."""
        x0, y0, x1, y1 = box
        self._pen.rectangle((x0, y0, x1 - 1, y1 - 1), fill=colour, outline=edge)

    def text(self, text: str, x: int, y: int, *, px: int, ink: Rgb = (20, 20, 20)) -> None:
        """A line of letters: x of its left end, y of the line it stands on."""
        self._pen.text((x, y), text, font=_font(px), fill=ink, anchor="ls")

    def line(self, points: Sequence[tuple[int, int]], colour: Rgb, *, width: int = 1) -> None:
        """Straight lines from point to point."""
        self._pen.line(list(points), fill=colour, width=width, joint="curve")

    def area(self, points: Sequence[tuple[int, int]], colour: Rgb, *, edge: Rgb | None = None) -> None:
        """A filled outline."""
        self._pen.polygon(list(points), fill=colour, outline=edge)

    def disc(self, x: int, y: int, radius: int, colour: Rgb, *, edge: Rgb | None = None) -> None:
        """A filled circle."""
        self._pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour, outline=edge)
