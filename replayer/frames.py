"""Frames of a log drawn again from their recipes, on the folded world. No physics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from iwreplay.events import EpisodeConfig, EpisodeOpened, Event, FrameCaptured
from iwreplay.frames import pixels_sha256
from iwreplay.loop.engine import DrawnFrame, Frames
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import fold

__all__ = ["ReplayedFrame", "replay_frames"]


class ReplayedFrame(NamedTuple):
    """A frame of the log, drawn again."""

    seq: int
    event: FrameCaptured
    frame: DrawnFrame
    #: whether the pixels have the logged hash; None for a frame that was never drawn and so has no hash
    ok: bool | None


def replay_frames(
    log: Iterable[tuple[int, Event]],
    *,
    frames: Callable[[CompiledScene, EpisodeConfig], Frames],
    only: Collection[str] | None = None,
) -> Iterator[ReplayedFrame]:
    """Every frame of a log in order (or those whose ids are in `only`), drawn from the folded state and verified.

    A renderer other than the recorded one is drawn with all the same: its frames are simply not `ok`.
    """
    maker: Frames | None = None
    for seq, event, state in fold(log):
        if isinstance(event, EpisodeOpened):
            maker = frames(event.scene, event.config)
        if not isinstance(event, FrameCaptured) or (only is not None and event.frame_id not in only):
            continue
        assert maker is not None, "a fold begins with the opening"
        frame = maker.draw(state, camera=event.camera, focal_px=event.focal_px, width=event.width, height=event.height)
        ok = None if event.pixels_sha256 is None else pixels_sha256(frame.rgb) == event.pixels_sha256
        yield ReplayedFrame(seq, event, frame, ok)
