"""Where the names on a map go: near what they name, and never one over another. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iwreplay.trig import sin_cos

__all__ = ["Label", "PlacedLabel", "place_labels"]

Box = tuple[int, int, int, int]

#: free space between two labels, pixels
_GAP_PX = 2
#: ways to shift a label: rings of that many places, this far apart, up to so far
_PLACES, _RING_PX = 20, 9
_FARTHEST_PX = 150


@dataclass(frozen=True)
class Label:
    """Words of a size at a point of the page."""

    text: str
    at: tuple[int, int]
    #: of the box that the words take
    width: int
    height: int


@dataclass(frozen=True)
class PlacedLabel:
    """A label with its box: x0, y0, x1, y1."""

    label: Label
    box: Box

    @property
    def led(self) -> bool:
        """Whether it lies so far off that a line must lead to what it names."""
        x, y = self.label.at
        x0, y0, x1, y1 = self.box
        return not (x0 <= x <= x1 and y0 <= y <= y1)


def _offsets() -> tuple[tuple[int, int], ...]:
    found = [(0, 0)]
    for ring in range(1, _FARTHEST_PX // _RING_PX + 1):
        r = ring * _RING_PX
        for k in range(_PLACES):
            sine, cosine = sin_cos(2.0 * math.pi * k / _PLACES)
            found.append((math.floor(r * cosine * 1.6 + 0.5), math.floor(r * sine + 0.5)))
    return tuple(found)


_OFFSETS = _offsets()


def place_labels(labels: Sequence[Label], *, within: Box) -> tuple[list[PlacedLabel], list[Label]]:
    """Boxes for the labels, the first ones first, at or near their points, inside of `within`; and the labels for
    which there is no room."""
    placed: list[PlacedLabel] = []
    left: list[Label] = []
    for label in labels:
        box = next((b for b in _boxes(label) if _free(b, placed, within)), None)
        if box is None:
            left.append(label)
        else:
            placed.append(PlacedLabel(label, box))
    return placed, left


def _boxes(label: Label) -> Iterator[Box]:
    """Where a label may lie, the best places first."""
    w, h = label.width, label.height
    for dx, dy in _OFFSETS:
        x0, y0 = label.at[0] + dx - w // 2, label.at[1] + dy - h // 2
        yield (x0, y0, x0 + w, y0 + h)


def _free(box: Box, placed: Sequence[PlacedLabel], within: Box) -> bool:
    x0, y0, x1, y1 = box
    if x0 < within[0] or y0 < within[1] or x1 > within[2] or y1 > within[3]:
        return False
    return not any(
        x0 < b[2] + _GAP_PX and b[0] < x1 + _GAP_PX and y0 < b[3] + _GAP_PX and b[1] < y1 + _GAP_PX
        for b in (p.box for p in placed)
    )
