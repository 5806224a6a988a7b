"""What was seen, and what was shown to whom."""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.events.base import Event
from iwreplay.pose import Pose

__all__ = ["FrameCaptured", "Observation"]


class FrameCaptured(Event, frozen=True, kw_only=True, tag="frame_captured"):
    """A frame as recipe plus hash: (scene, state at this event, camera, renderer, size) -> pixels."""

    #: "f000000", "f000001", ... in order of capture
    frame_id: str
    #: simulated physics step at which it was taken
    step: int
    #: world_from_camera; the camera looks along its -z, y up
    camera: Pose
    #: focal length in pixels, logged instead of the field of view so that no libm call is re-done
    focal_px: float
    #: pixels
    width: int
    #: pixels
    height: int
    #: name and version of what drew it
    renderer: str
    #: sha256 of the RGB bytes (row-major, height x width x 3), or None when it was never drawn
    pixels_sha256: str | None
    #: thing id -> number of pixels in the id buffer, keys sorted; for scorers and grounding only
    visible: dict[str, int]
    #: what it was taken for: the start, an action, a turn without any, a scripted event
    cause: Literal["initial", "action", "idle", "script"]
    #: index of the action that it belongs to, or None
    action: int | None = None


class Observation(Event, frozen=True, kw_only=True, tag="observation"):
    """What a participant was shown before it decided."""

    #: who was shown it
    role: Literal["assistant", "human"]
    #: ids of the frames shown, in time order (at most 32 for the Assistant; none for a blind Human)
    frames: tuple[str, ...]
    #: how many frames were available
    available: int
    #: the Human's own body and touch as words; empty for the Assistant
    proprioception: dict[str, str] = msgspec.field(default_factory=dict)
