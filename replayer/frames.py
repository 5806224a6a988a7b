"""Frames of a log drawn again from their recipes, on the folded world. No physics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from iwreplay.errors import NotOpenedError
from iwreplay.events import EpisodeConfig, EpisodeOpened, Event, FrameCaptured
from iwreplay.frames import pixels_sha256
from iwreplay.loop.engine import Frames
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import FOLDED_KINDS, WorldState, fold

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Moment", "ReplayedFrame", "moments", "replay_frames"]


class ReplayedFrame(NamedTuple):
    """A frame of the log, drawn again or as it was kept."""

    seq: int
    event: FrameCaptured
    #: (height, width, 3)
    rgb: npt.NDArray[np.uint8]
    #: whether the pixels have the logged hash; None for a frame that was never drawn and so has no hash
    ok: bool | None
    #: they were kept, and not drawn again
    kept: bool = False


def replay_frames(
    log: Iterable[tuple[int, Event]],
    *,
    frames: Callable[[CompiledScene, EpisodeConfig], Frames],
    only: Collection[str] | None = None,
    kept: Callable[[FrameCaptured], npt.NDArray[np.uint8] | None] = lambda _event: None,
) -> Iterator[ReplayedFrame]:
    """Every frame of a log in order (or those whose ids are in `only`), drawn from the folded state and verified.

    kept: pixels that somebody kept, which are taken instead when they have the logged hash. A renderer other than the
    recorded one is drawn with all the same: its frames are simply not `ok`.
    """
    maker: Frames | None = None
    opened: EpisodeOpened | None = None
    wanted = None if only is None else len(only)
    for seq, event, state in fold(log):
        if isinstance(event, EpisodeOpened):
            opened = event
        if wanted == 0:
            return
        if not isinstance(event, FrameCaptured) or (only is not None and event.frame_id not in only):
            continue
        wanted = None if wanted is None else wanted - 1
        rgb = None if event.pixels_sha256 is None else kept(event)
        if rgb is not None and rgb.shape[:2] == (event.height, event.width) and _has_hash(rgb, event):
            yield ReplayedFrame(seq, event, rgb, True, True)
            continue
        if maker is None:
            assert opened is not None, "a fold begins with the opening"
            maker = frames(opened.scene, opened.config)
        frame = maker.draw(state, camera=event.camera, focal_px=event.focal_px, width=event.width, height=event.height)
        ok = None if event.pixels_sha256 is None else _has_hash(frame.rgb, event)
        yield ReplayedFrame(seq, event, frame.rgb, ok)


def _has_hash(rgb: npt.NDArray[np.uint8], event: FrameCaptured) -> bool:
    """Whether the bytes are the logged ones. What is drawn has the logged size; what was kept is asked for it."""
    return pixels_sha256(rgb) == event.pixels_sha256


class Moment(NamedTuple):
    """The world at an instant between two events."""

    sim_time_s: float
    #: one object that changes: use it before the next moment
    state: WorldState
    #: False: nothing has moved or changed since the moment before
    changed: bool


def moments(log: Iterable[tuple[int, Event]], *, fps: int, from_s: float, until_s: float) -> Iterator[Moment]:
    """The world at `fps` instants a second of simulated time, from `from_s` to `until_s` (both with them).

    Between two samples of the log a body stays where the earlier one has it. NotOpenedError as in `fold`.
    """
    state: WorldState | None = None
    k, changed = 0, True
    for seq, event in log:
        if state is None:
            if not isinstance(event, EpisodeOpened):
                raise NotOpenedError(type(event).__name__, seq=seq)
            state = WorldState(event.scene)
        while from_s + k / fps < event.sim_time_s:
            if from_s + k / fps > until_s:
                return
            yield Moment(from_s + k / fps, state, changed)
            k, changed = k + 1, False
        state.apply(event)
        changed = changed or type(event) in FOLDED_KINDS
    while state is not None and from_s + k / fps <= until_s:
        yield Moment(from_s + k / fps, state, changed)
        k, changed = k + 1, False
