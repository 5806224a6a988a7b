"""Views of a world: the wearer's, that of somebody who walks beside, and from above."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from iwreplay.body import key_poses, root_of
from iwreplay.frames.cameras import Beside, Camera, from_above, rooms_open
from iwreplay.frames.maker import DrawnState, FrameMaker
from iwreplay.frames.obstacles import Obstacles
from iwreplay.render import focal_from_fovy

if TYPE_CHECKING:
    from iwreplay.body import BodySkin
    from iwreplay.events import EpisodeConfig
    from iwreplay.frames.pages import Pixels
    from iwreplay.scene.model import CompiledScene

__all__ = ["View", "ViewName", "view_of"]

ViewName = Literal["wearer", "third", "top"]


class View(NamedTuple):
    """Draws states of one scene from a camera that follows the wearer."""

    maker: FrameMaker
    camera: Callable[[DrawnState], Camera]
    width: int
    height: int
    #: the ceilings are taken off
    open_above: bool
    #: of the view from beside, the camera that walks along
    beside: Beside | None = None

    def follow(self, state: DrawnState) -> None:
        """Goes along with a state, as with every frame of a log before the next one is drawn."""
        if self.beside is not None:
            self.beside.follow(state, state.body)

    def drawn(self, state: DrawnState) -> Pixels:
        """(height, width, 3) of the state that was followed last. RenderError for a size that makes no picture."""
        camera = self.camera(state)
        shown = rooms_open(self.maker.scene, state) if self.open_above else state
        frame = self.maker.draw(
            shown, camera=camera.pose, focal_px=camera.focal_px, width=self.width, height=self.height
        )
        return frame.rgb


def view_of(
    name: ViewName,
    scene: CompiledScene,
    config: EpisodeConfig,
    *,
    size: tuple[int, int] | None,
    body: BodySkin | None = None,
) -> View:
    """The view of that name; in the size that the configuration says unless another is given. body: the wearer's, if
    it is not our own figure."""
    width, height = size or (config.frame_width, config.frame_height)
    maker = FrameMaker(scene, config=config, whole_body=name != "wearer", body=body)
    walker = Beside(Obstacles(scene))

    def eyes(state: DrawnState) -> Camera:
        return Camera(key_poses(state.body).camera, focal_from_fovy(config.fovy_deg, height=height))

    def beside(state: DrawnState) -> Camera:
        return walker.camera(state.body, height=height)

    def above(state: DrawnState) -> Camera:
        root = root_of(state.body)
        return from_above(scene, width=width, height=height, around=(root[0], root[1]))

    cameras = {"wearer": eyes, "third": beside, "top": above}
    return View(maker, cameras[name], width, height, name == "top", walker if name == "third" else None)
