"""Text on faces: wrapped, fitted and drawn with the font that comes with the package.

`iwreplay.scene.writing` says how a text lies on a face.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from iwreplay.errors import RenderError
from iwreplay.scene.model import Face
from iwreplay.scene.writing import ABOVE, BELOW, CAP_PER_EM, EM_PX, PITCH, SIDE, TextFit, laid_out

__all__ = ["FONT", "TextFit", "draw_text", "fit_text"]

#: font file in the package; its licence lies beside it
FONT = "DejaVuSansCondensed-Bold.ttf"
#: font size that text is drawn with where it may: capitals of 20 texels
_EM_PX, _CAP_PER_EM = EM_PX, CAP_PER_EM
#: longest side of a text's image; text on larger faces is drawn coarser
_MOST_PX = 1024


@lru_cache(maxsize=64)
def _font(em_px: int) -> ImageFont.FreeTypeFont:
    with as_file(files("iwreplay.render") / "fonts" / FONT) as path:
        # the basic layout: the other one depends on a library that may or may not be there
        return ImageFont.truetype(str(path), em_px, layout_engine=ImageFont.Layout.BASIC)


def _length_px(text: str) -> float:
    return _font(_EM_PX).getlength(text)


@lru_cache(maxsize=4096)
def fit_text(text: str, face: Face) -> TextFit:
    """Lines, cap height and whether all of the text is on the face. RenderError for a face without an extent."""
    width_m, height_m = face.size
    if not (width_m > 0.0 and height_m > 0.0 and face.cap_height_m > 0.0):
        raise RenderError(
            f"face {face.name!r}: size {face.size} and cap height {face.cap_height_m} m must be above zero"
        )
    return laid_out(text, face, length_px=_length_px)


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
    block_px = cap_px * (1.0 + PITCH * (len(fit.lines) - 1))
    # middle of the free space, a little higher because letters hang below the line
    base = (used[1] - block_px) / 2.0 + cap_px - 0.5 * (BELOW - ABOVE) * cap_px
    for i, line in enumerate(fit.lines):
        left = SIDE * cap_px
        if len(fit.lines) == 1:
            left = max(left, (used[0] - font.getlength(line)) / 2.0)
        # whole pixels: where a letter falls must not hang on how a fraction is rounded inside the font library
        pen.text((int(left + 0.5), int(base + i * PITCH * cap_px + 0.5)), line, font=font, fill=face.ink, anchor="ls")
    pixels = np.asarray(image, np.uint8)
    return pixels, (used[0] / sides[0], used[1] / sides[1])
