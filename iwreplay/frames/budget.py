"""Which frames an Assistant is shown: at most 32 a turn, the newest ones and a sample of all the older ones. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["FRAME_LIMIT", "LATEST_FRAMES", "choose_frames", "frame_indices"]

T = TypeVar("T")

#: frames that may be shown at one turn
FRAME_LIMIT = 32
#: of them, taken from the end when there are more than fit
LATEST_FRAMES = 8
_OLDER = FRAME_LIMIT - LATEST_FRAMES


def frame_indices(available: int) -> tuple[int, ...]:
    """Indices shown of `available` frames, rising.

    Up to 32 frames: all. More: the latest 8, and of the m older ones 24 at (i * (m - 1) + 11) // 23 for i = 0..23,
    which are distinct and hold the first and the last of them. ValueError when `available` is negative.
    """
    if available < 0:
        raise ValueError(f"number of frames {available} is negative")
    if available <= FRAME_LIMIT:
        return tuple(range(available))
    older = available - LATEST_FRAMES
    steps = _OLDER - 1
    sampled = ((i * (older - 1) + steps // 2) // steps for i in range(_OLDER))
    return (*sampled, *range(older, available))


def choose_frames(frames: Sequence[T]) -> tuple[T, ...]:
    """The frames of a turn out of all captured so far, in time order."""
    return tuple(frames[i] for i in frame_indices(len(frames)))
