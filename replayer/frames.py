"""State replay: the folded world at every event, and its frames drawn again from their recipes. No physics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from iwreplay.errors import LogError
from iwreplay.events import EpisodeConfig, EpisodeOpened, Event, FrameCaptured
from iwreplay.frames import pixels_sha256
from iwreplay.loop.engine import DrawnFrame, Frames
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

__all__ = ["ReplayedFrame", "replay_frames", "replay_states"]


class ReplayedFrame(NamedTuple):
    """A frame of the log, drawn again."""

    seq: int
    event: FrameCaptured
    frame: DrawnFrame
    #: whether the pixels have the logged hash; None for a frame that was never drawn and so has no hash
    ok: bool | None


def replay_states(log: Iterable[tuple[int, Event]]) -> Iterator[tuple[int, Event, WorldState]]:
    """(seq, event, world after it). The world is one object that changes: copy what is kept.

    LogError when the log does not begin with its opening.
    """
    state: WorldState | None = None
    for seq, event in log:
        if state is None:
            if not isinstance(event, EpisodeOpened):
                raise LogError(f"event {seq} is {type(event).__name__}; a log to replay begins with EpisodeOpened")
            state = WorldState(event.scene)
        state.apply(event)
        yield seq, event, state


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
    for seq, event, state in replay_states(log):
        if isinstance(event, EpisodeOpened):
            maker = frames(event.scene, event.config)
        if not isinstance(event, FrameCaptured) or (only is not None and event.frame_id not in only):
            continue
        assert maker is not None, "replay_states begins with the opening"
        frame = maker.draw(state, camera=event.camera, focal_px=event.focal_px, width=event.width, height=event.height)
        ok = None if event.pixels_sha256 is None else pixels_sha256(frame.rgb) == event.pixels_sha256
        yield ReplayedFrame(seq, event, frame, ok)
