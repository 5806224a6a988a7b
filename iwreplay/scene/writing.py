"""How a text lies on a face, and whether it fits: the rule that the renderer draws by, from widths of letters alone.

Capitals have the face's `cap_height_m`; where the text then does not fit, they shrink in steps of 5 % to no less than
60 %; what still does not fit is cut off at the bottom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iwreplay.errors import SceneError
from iwreplay.scene.model import Face

__all__ = ["ABOVE", "BELOW", "CAP_PER_EM", "EM_PX", "PITCH", "SIDE", "TextFit", "check_fits", "laid_out", "line_px"]

#: of the font: height of a capital over the em, from its OS/2 table (1493 of 2048 units)
CAP_PER_EM = 1493.0 / 2048.0
#: font size that lengths are measured with
EM_PX = 27
#: in cap heights: from one line to the next, free space at the sides, above and below the lines
PITCH, SIDE, ABOVE, BELOW = 1.6, 0.4, 0.45, 0.5
_SHRINK = tuple(1.0 - 0.05 * i for i in range(9))
#: what kerning takes off a pair of letters at most, pixels at `EM_PX`
_KERNING_PX = 0.08
#: letters that are not listed count as much
_USUAL_PX = 16.0
#: widths of letters in pixels at `EM_PX`; a test compares them with the font
_WIDTHS: dict[float, str] = {
    7.0: "'",
    8.0: " ijlìíîïĩīĭįıĵĺļ",
    9.0: ",./IJ\\|¦·ÌÍÎÏĨĪĬĮİĴł‘’",
    10.0: "-:;",
    11.0: "!()[]f¡²³¹ſ",
    12.0: "_`rt§¨¯°´¸ľŕŗřţťŧ–",
    13.0: '"*',
    14.0: "?cszªº¿çćĉċčŀśŝşšźżž",
    15.0: "L¤¶ĹĻĽĿ",
    16.0: "aekvxy«»àáâãäåèéêëýÿāăąēĕėęěķĸŁŷ“”„•",
    17.0: "$0123456789EFTbdghnopqu{}¢£¥ÈÉÊËßðñòóôõöøùúûüþďđĒĔĖĘĚĝğġģĥĳńņňŋōŏőŢŤŦũūŭůűų€",
    18.0: "CPSYZµÇÝÞĆĈĊČĲŚŜŞŠŶŸŹŻŽ",
    19.0: "ABKRVXÀÁÂÃÄÅĀĂĄħĶŔŖŘ",
    20.0: "#+<=>DGHNU^~¬±ÐÑ×ÙÚÛÜ÷ĎĐĜĞĠĢĤŃŅŇŊŨŪŬŮŰŲ→←↑↓✓≤≥",
    21.0: "&OQÒÓÔÕÖØŌŎŐ",
    22.0: "wŵ",
    24.0: "%@M©®Ħŉ—…",
    25.0: "m¼½¾æ",
    26.0: "Æ",
    27.0: "WœŴ",
    28.0: "Œ",
}
_PX = {letter: px for px, letters in _WIDTHS.items() for letter in letters}


@dataclass(frozen=True)
class TextFit:
    """How a text lies on a face."""

    lines: tuple[str, ...]
    #: height of its capitals, metres; the face's own unless it had to shrink
    cap_height_m: float
    #: False: some of the text is cut off, or a word had to be broken
    fits: bool
    #: lines that there is room for, and cap heights that a line may be long, with capitals of that height
    room: int
    width_caps: float


def line_px(text: str) -> float:
    """Length of a line in pixels at `EM_PX`, never more than the font makes of it."""
    return sum(_PX.get(c, _USUAL_PX) for c in text) - _KERNING_PX * max(0, len(text) - 1)


def laid_out(text: str, face: Face, *, length_px: Callable[[str], float]) -> TextFit:
    """Lines, cap height and whether all of the text is on the face; `length_px` measures a line at `EM_PX`."""
    width_m, height_m = face.size

    def width_caps(line: str) -> float:
        return length_px(line) / (EM_PX * CAP_PER_EM)

    lines: tuple[str, ...] = ()
    cap_m, room, wide = face.cap_height_m, 0, 0.0
    for share in _SHRINK:
        cap_m = face.cap_height_m * share
        wide = width_m / cap_m - 2.0 * SIDE
        lines, whole = _wrapped(text, width_caps=wide, measure=width_caps)
        room = int((height_m / cap_m - ABOVE - BELOW - 1.0) / PITCH) + 1 if height_m / cap_m >= 1.0 else 0
        if whole and len(lines) <= room:
            return TextFit(lines, cap_m, True, room, wide)
    return TextFit(lines[:room], cap_m, False, room, wide)


def _wrapped(text: str, *, width_caps: float, measure: Callable[[str], float]) -> tuple[tuple[str, ...], bool]:
    """Lines no longer than `width_caps`, and whether no word had to be broken. Line breaks in the text are kept."""
    lines: list[str] = []
    whole = True
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if measure(longer) <= width_caps:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while measure(line) > width_caps and len(line) > 1:
                whole = False
                keep = len(line) - 1
                while keep > 1 and measure(line[:keep]) > width_caps:
                    keep -= 1
                lines.append(line[:keep])
                line = line[keep:]
        lines.append(line)
    return tuple(lines), whole


def check_fits(text: str, face: Face, *, where: str) -> None:
    """SceneError for a text that does not fit its face, with what would."""
    if not text:
        return
    fit = laid_out(text, face, length_px=line_px)
    if fit.fits:
        return
    letters = int(fit.width_caps * EM_PX * CAP_PER_EM / _USUAL_PX)
    width, height = face.size
    raise SceneError(
        f"{where}: {text!r} does not fit face {face.name!r} of {width:.3f} x {height:.3f} m: with capitals as small as "
        f"{fit.cap_height_m:.4f} m it has room for {fit.room} lines of about {letters} letters; it fits as far as "
        f"{' / '.join(fit.lines)!r}"
    )
