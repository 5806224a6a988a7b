"""The growing record of one episode: every event goes to the log, into the fold and to whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from iwreplay.events import CommandIssued, Event, FrameCaptured, WorldSnapshot
from iwreplay.log import EventSink
from iwreplay.loop.answers import AnswerError
from iwreplay.loop.dialogue import line_of
from iwreplay.loop.engine import Frames
from iwreplay.ports import FrameView, Said
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Recording"]


class Recording:
    """Appends events, folds them, and keeps what the loop must remember: frames, dialogue, counts."""

    def __init__(self, scene: CompiledScene, *, log: EventSink, frames: Frames, snapshot_every: int) -> None:
        self.state = WorldState(scene)
        self.dialogue: list[Said] = []
        self.frames: list[FrameView] = []
        #: called with (seq, event, state) after each event was folded in
        self.listeners: list[Callable[[int, Event, WorldState], None]] = []
        self._log, self._frames = log, frames
        self._snapshot_every = snapshot_every
        self._since_snapshot = 0
        self._reasons: set[str] = set()

    def emit(self, event: Event) -> None:
        """Logs and folds one event; adds a periodic snapshot when one is due.

        A snapshot never comes right after a command, so that a refusal directly follows the command that it refuses;
        being one event early makes up for it.
        """
        self._put(event)
        if self._since_snapshot + 2 >= self._snapshot_every and not isinstance(event, CommandIssued):
            self._put(self.state.snapshot("periodic"))

    def replay(self, event: Event) -> None:
        """Logs and folds one event of what came before; snapshots are where they were."""
        self._put(event)

    def commit(self) -> None:
        """A commit point: what was emitted so far is never lost."""
        self._log.commit()

    def has_snapshot(self, reason: str) -> bool:
        return reason in self._reasons

    def capture(self, cause: str, action: int | None) -> FrameCaptured:
        """The frame of the present state, with the next free id; not emitted yet."""
        return self._frames.event(self.state, frame_id=f"f{len(self.frames):06d}", cause=cause, action=action)

    def _put(self, event: Event) -> None:
        seq = self._log.append(event)
        self.state.apply(event)
        self._since_snapshot += 1
        if isinstance(event, WorldSnapshot):
            self._since_snapshot = 0
            self._reasons.add(event.reason)
        elif isinstance(event, FrameCaptured):
            self.frames.append(_view(event, self.state, self._frames))
        line = line_of(event)
        if line is not None:
            self.dialogue.append(line)
        for listener in self.listeners:
            listener(seq, event, self.state)


def _view(event: FrameCaptured, state: WorldState, frames: Frames) -> FrameView:
    """A frame that is drawn from its recipe whenever somebody looks: an episode of pixels does not fit in memory."""
    then = state.copy()

    def pixels() -> np.ndarray:
        if event.pixels_sha256 is None:
            raise AnswerError("UNDRAWN", f"frame {event.frame_id} has no pixels: the episode draws no frames")
        size = {"width": event.width, "height": event.height}
        return frames.draw(then, camera=event.camera, focal_px=event.focal_px, **size).rgb

    return FrameView(frame_id=event.frame_id, sim_time_s=event.sim_time_s, pixels=pixels)
