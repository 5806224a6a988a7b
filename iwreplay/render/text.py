"""Text on faces: wrapped, fitted and drawn with the font that comes with the package.

Rule of fit: capitals have the face's `cap_height_m`; where the text then does not fit, they shrink in steps of 5 % to
no less than 60 %; what still does not fit is cut off at the bottom and `fits` is False.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from iwreplay.errors import RenderError
from iwreplay.scene.model import Face

__all__ = ["FONT", "TextFit", "draw_text", "fit_text"]

#: font file in the package; its licence lies beside it
FONT = "DejaVuSansCondensed-Bold.ttf"
#: of the font: height of a capital over the em, from its OS/2 table (1493 of 2048 units)
_CAP_PER_EM = 1493.0 / 2048.0
#: font size that lengths are measured with, and text is drawn with where it may: capitals of 20 texels
_EM_PX = 27
#: longest side of a text's image; text on larger faces is drawn coarser
_MOST_PX = 1024
#: in cap heights: from one line to the next, free space at the sides, above and below the lines
_PITCH, _SIDE, _ABOVE, _BELOW = 1.6, 0.4, 0.45, 0.5
_SHRINK = tuple(1.0 - 0.05 * i for i in range(9))


@dataclass(frozen=True)
class TextFit:
    """How a text lies on a face."""

    lines: tuple[str, ...]
    #: height of its capitals, metres; the face's own unless it had to shrink
    cap_height_m: float
    #: False: some of the text is cut off, or a word had to be broken
    fits: bool


@lru_cache(maxsize=64)
def _font(em_px: int) -> ImageFont.FreeTypeFont:
    with as_file(files("iwreplay.render") / "fonts" / FONT) as path:
        # the basic layout: the other one depends on a library that may or may not be there
        return ImageFont.truetype(str(path), em_px, layout_engine=ImageFont.Layout.BASIC)


def _width_caps(text: str) -> float:
    """Length of a line in cap heights."""
    return _font(_EM_PX).getlength(text) / (_EM_PX * _CAP_PER_EM)


def _wrap(text: str, *, width_caps: float) -> tuple[tuple[str, ...], bool]:
    """Lines no longer than `width_caps`, and whether no word had to be broken. Line breaks in the text are kept."""
    lines: list[str] = []
    whole = True
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if _width_caps(longer) <= width_caps:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while _width_caps(line) > width_caps and len(line) > 1:
                whole = False
                keep = len(line) - 1
                while keep > 1 and _width_caps(line[:keep]) > width_caps:
                    keep -= 1
                lines.append(line[:keep])
                line = line[keep:]
        lines.append(line)
    return tuple(lines), whole


@lru_cache(maxsize=4096)
def fit_text(text: str, face: Face) -> TextFit:
    """Lines, cap height and whether all of the text is on the face. RenderError for a face without an extent."""
    width_m, height_m = face.size
    if not (width_m > 0.0 and height_m > 0.0 and face.cap_height_m > 0.0):
        raise RenderError(
            f"face {face.name!r}: size {face.size} and cap height {face.cap_height_m} m must be above zero"
        )
    lines: tuple[str, ...] = ()
    cap_m, room = face.cap_height_m, 0
    for share in _SHRINK:
        cap_m = face.cap_height_m * share
        lines, whole = _wrap(text, width_caps=width_m / cap_m - 2.0 * _SIDE)
        room = int((height_m / cap_m - _ABOVE - _BELOW - 1.0) / _PITCH) + 1 if height_m / cap_m >= 1.0 else 0
        if whole and len(lines) <= room:
            return TextFit(lines, cap_m, True)
    return TextFit(lines[:room], cap_m, False)


def draw_text(text: str, face: Face) -> tuple[npt.NDArray[np.uint8], tuple[float, float]]:
    """The face's image (h, w, 3) with sides that are powers of two, and the share of it that the face takes.

    The rest is paper, so that coarser mip levels don't bleed.
    """
    fit = fit_text(text, face)
    longest_m = max(face.size)
    em_px = min(_EM_PX, int(_MOST_PX * fit.cap_height_m / (longest_m * _CAP_PER_EM)))
    if em_px < 1:
        raise RenderError(
            f"face {face.name!r}: capitals of {fit.cap_height_m} m on a face of {longest_m} m are too small to draw"
        )
    cap_px = em_px * _CAP_PER_EM
    px_per_m = cap_px / fit.cap_height_m
    used = [max(1, min(_MOST_PX, int(side * px_per_m + 0.5))) for side in face.size]
    sides = [1 << (n - 1).bit_length() for n in used]
    image = Image.new("RGB", (sides[0], sides[1]), face.paper)
    pen = ImageDraw.Draw(image)
    font = _font(em_px)
    block_px = cap_px * (1.0 + _PITCH * (len(fit.lines) - 1))
    # middle of the free space, a little higher because letters hang below the line
    base = (used[1] - block_px) / 2.0 + cap_px - 0.5 * (_BELOW - _ABOVE) * cap_px
    for i, line in enumerate(fit.lines):
        left = _SIDE * cap_px
        if len(fit.lines) == 1:
            left = max(left, (used[0] - font.getlength(line)) / 2.0)
        # whole pixels: where a letter falls must not hang on how a fraction is rounded inside the font library
        pen.text((int(left + 0.5), int(base + i * _PITCH * cap_px + 0.5)), line, font=font, fill=face.ink, anchor="ls")
    pixels = np.asarray(image, np.uint8)
    return pixels, (used[0] / sides[0], used[1] / sides[1])
