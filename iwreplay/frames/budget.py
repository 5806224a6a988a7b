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


def frame_indices(available: int, limit: int = FRAME_LIMIT) -> tuple[int, ...]:
    """Indices shown of `available` frames, rising.

    Up to 32 frames: all. More: the latest 8, and of the m older ones 24 at (i * (m - 1) + 11) // 23 for i = 0..23,
    which are distinct and hold the first and the last of them. A smaller `limit` is shared out alike: a quarter for the
    latest, and at least one. ValueError for a negative number.
    """
    if available < 0 or limit < 0:
        raise ValueError(f"number of frames {min(available, limit)} is negative")
    if available <= limit:
        return tuple(range(available))
    latest = min(limit, max(1, limit * LATEST_FRAMES // FRAME_LIMIT))
    older, places = available - latest, limit - latest
    # a single place has no two ends: it is in the middle
    steps = max(places - 1, 2)
    first = 1 if places == 1 else 0
    sampled = (((i + first) * (older - 1) + steps // 2) // steps for i in range(places))
    return (*sampled, *range(older, available))


def choose_frames(frames: Sequence[T], limit: int = FRAME_LIMIT) -> tuple[T, ...]:
    """The frames of a turn out of all captured so far, in time order."""
    return tuple(frames[i] for i in frame_indices(len(frames), limit))
