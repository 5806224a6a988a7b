"""Frames of an episode: a folded state in, a `FrameCaptured` event or a picture out.

Pure in what it returns: the camera comes from the state's body values, and the same state gives the same event. So a
replay draws frames again from the log alone and compares hashes.
"""

from __future__ import annotations

import math
from typing import Literal, Protocol, cast

import numpy as np
import numpy.typing as npt

from iwreplay.body import BodySkin, bone_poses, key_poses, own_skin
from iwreplay.errors import RenderError
from iwreplay.events import EpisodeConfig, FrameCaptured
from iwreplay.frames.png import pixels_sha256
from iwreplay.pose import Pose
from iwreplay.render import RENDERER_NAME, Frame, Renderer, focal_from_fovy
from iwreplay.scene.model import CompiledScene
from iwreplay.vocabulary import AttrValue, Phase

__all__ = ["DrawnState", "FrameMaker", "FrameState", "visible_things"]

#: frame size that `EpisodeConfig.visible_px` is meant for
_REFERENCE_PX = 640 * 480
#: a lattice sample stands for so many pixels of the frame
_LATTICE_PX = 4

Cause = Literal["initial", "action", "idle", "script"]


class DrawnState(Protocol):
    """What a picture depends on: a `WorldState`, or anything with these fields."""

    poses: dict[str, Pose]
    joints: dict[str, float]
    attrs: dict[str, dict[str, AttrValue]]
    body: tuple[float, ...]


class FrameState(DrawnState, Protocol):
    """What a frame's event says besides."""

    sim_time_s: float
    turn: int
    phase: Phase
    step: int


def visible_things(
    lattice: npt.NDArray[np.int32], scene: CompiledScene, *, width: int, height: int, visible_px: int
) -> dict[str, int]:
    """Thing id -> pixels of the frame that show it, for things with enough of them; keys sorted.

    lattice: ids at one sample of every second pixel both ways, so a count is a multiple of 4. Enough is `visible_px`
    at 640 x 480 and in proportion to the area at other sizes.
    """
    counts = np.bincount(lattice[lattice >= 0].ravel(), minlength=len(scene.things)) * _LATTICE_PX
    enough = max(1, math.ceil(visible_px * width * height / _REFERENCE_PX))
    found = {t.id: int(n) for t, n in zip(scene.things, counts, strict=True) if n >= enough}
    return dict(sorted(found.items()))


class FrameMaker:
    """Draws one scene: what the wearer sees, or with the whole body what others see."""

    def __init__(
        self,
        scene: CompiledScene,
        *,
        config: EpisodeConfig,
        threads: int | None = None,
        whole_body: bool = False,
        body: BodySkin | None = None,
    ) -> None:
        """Size, field of view and whether to draw at all come from `config`. RenderError when they make no picture.

        whole_body: with the head, for views that are not the wearer's own. body: another body than our own figure;
        the renderer's name in the events then names it too, and such frames are compared with no others.
        """
        self.scene = scene
        self.config = config
        self.focal_px = focal_from_fovy(config.fovy_deg, height=config.frame_height)
        #: what drew the frames, as their events say
        self.renderer_name = RENDERER_NAME if body is None else f"{RENDERER_NAME} with {body.name}"
        skin = body or own_skin()
        self._renderer = Renderer(scene, body=skin if whole_body else skin.without_head(), threads=threads)
        self._last: tuple[str, npt.NDArray[np.uint8]] | None = None

    def event(self, state: FrameState, *, frame_id: str, cause: str, action: int | None = None) -> FrameCaptured:
        """The frame seen by the wearer now. Its pixels can be had from `pixels` until the next call.

        With `config.draw_frames` off nothing is drawn: the hash is None, what is visible is the same as if it were.
        """
        camera = key_poses(state.body).camera
        width, height = self.config.frame_width, self.config.frame_height
        self._last = None
        digest = None
        if self.config.draw_frames:
            frame = self.draw(state, camera=camera, focal_px=self.focal_px, width=width, height=height)
            lattice = frame.lattice
            digest = pixels_sha256(frame.rgb)
            self._last = (frame_id, frame.rgb)
        else:
            lattice = self._survey(state, camera=camera, focal_px=self.focal_px, width=width, height=height)
        return FrameCaptured(
            sim_time_s=state.sim_time_s,
            turn=state.turn,
            phase=state.phase,
            frame_id=frame_id,
            step=state.step,
            camera=camera,
            focal_px=self.focal_px,
            width=width,
            height=height,
            renderer=self.renderer_name,
            pixels_sha256=digest,
            visible=visible_things(lattice, self.scene, width=width, height=height, visible_px=self.config.visible_px),
            cause=cast("Cause", cause),  # the log admits no other
            action=action,
        )

    def pixels(self, frame_id: str) -> npt.NDArray[np.uint8]:
        """RGB of the frame that `event` made last. RenderError when that was another one, or was not drawn."""
        if self._last is None or self._last[0] != frame_id:
            kept = "none" if self._last is None else self._last[0]
            raise RenderError(f"pixels of frame {frame_id!r} are not at hand (kept: {kept}); draw it with `redraw`")
        return self._last[1]

    def draw(self, state: DrawnState, *, camera: Pose, focal_px: float, width: int, height: int) -> Frame:
        """RGB, depth and ids of a state from any camera (world_from_camera; looks along its -z, y up)."""
        return self._renderer.draw(
            state, camera=camera, focal_px=focal_px, width=width, height=height, body=bone_poses(state.body)
        )

    def draw_empty(self, state: DrawnState, *, camera: Pose, focal_px: float, width: int, height: int) -> Frame:
        """The same without a wearer."""
        return self._renderer.draw(state, camera=camera, focal_px=focal_px, width=width, height=height)

    def redraw(self, event: FrameCaptured, state: FrameState) -> Frame:
        """The frame of an event again, from the state that the log folds to at that event.

        RenderError when the event names another renderer or version: this one would give other pixels.
        """
        if event.renderer != self.renderer_name:
            raise RenderError(
                f"frame {event.frame_id} was made by renderer {event.renderer!r}; this is {self.renderer_name!r}"
            )
        return self.draw(state, camera=event.camera, focal_px=event.focal_px, width=event.width, height=event.height)

    def verify(self, event: FrameCaptured, state: FrameState) -> bool:
        """Whether the frame drawn again has the logged hash (if it was drawn) and shows the logged things.

        RenderError as in `redraw`.
        """
        frame = self.redraw(event, state)
        visible = visible_things(
            frame.lattice, self.scene, width=event.width, height=event.height, visible_px=self.config.visible_px
        )
        if event.pixels_sha256 is not None and pixels_sha256(frame.rgb) != event.pixels_sha256:
            return False
        return visible == event.visible

    def _survey(
        self, state: FrameState, *, camera: Pose, focal_px: float, width: int, height: int
    ) -> npt.NDArray[np.int32]:
        return self._renderer.survey(
            state, camera=camera, focal_px=focal_px, width=width, height=height, body=bone_poses(state.body)
        )
