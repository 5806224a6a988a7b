"""The renderer: a stage and a camera in, a frame out.

The same state, camera and size give the same bytes on any processor and with any number of threads.

Glass is a material whose `alpha` is below 1. In colours it is mixed with what is behind it, sample by sample: the
nearest two panes in front of the nearest solid surface, whatever the order in which they are drawn; a third is not
there. What a pane mirrors is not thinned out by its `alpha`. Seen along its wall it hides more and is darker, so that
clear glass has an outline before something white. For ids and depth there is no mixing: a pane takes one to three of
the four samples of a pixel, by its `alpha`, another set in each pixel. So neither hides the other from a count of
samples (`lattice`, which says what the wearer sees), and a pixel's id and depth are of the surface with most samples.
Glass casts no shadow. Things nearer than 2 cm are cut off; of the wearer's own body, which passes by closer, only what
is nearer than 2 mm, so that one never looks into an arm.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iwreplay.errors import RenderError
from iwreplay.pose import Pose, quat_to_matrix
from iwreplay.render.lamps import Lamps
from iwreplay.render.layout import CAP, FLOATS, LAMP_COLUMNS
from iwreplay.render.lighting import light_surfaces
from iwreplay.render.pool import default_threads, for_each_band
from iwreplay.render.projection import Grid, Projection, View
from iwreplay.render.raster import BODY_NEAR_M, NEAR_M, raster_band
from iwreplay.render.shade import colour_pixels
from iwreplay.render.shadows import ShadowMaps
from iwreplay.render.stage import Posed, Skin, Stage
from iwreplay.render.surfaces import TRIANGLE, list_surfaces, survey_band
from iwreplay.scene.model import CompiledScene
from iwreplay.trig import tan

__all__ = ["MAX_SIDE_PX", "RENDERER_NAME", "Frame", "Renderer", "focal_from_fovy"]

#: Name and version of the reference renderer. The number rises with any change that alters a pixel, an id or a depth.
RENDERER_NAME = "iwreplay-raster/5"

#: longest side of a frame
MAX_SIDE_PX = 8192

# Samples, in fixed-point units of 1/512 pixel. A frame has four a pixel; a survey takes the lower right one of every
# second pixel both ways, which are samples of the frame as well: so what is visible is the same, drawn or not.
_FRAME = Grid(shift=8, offset=128, band_rows=32)
_SURVEY = Grid(shift=10, offset=384, band_rows=16)
_NO_PANE_IZ = np.zeros((2, 0, 0), np.float32)
_NO_PANES = np.zeros((2, 0, 0), np.int32)
_OPAQUE = 4


@dataclass(frozen=True)
class Frame:
    """What the camera sees. All arrays are the caller's own."""

    #: (height, width, 3) sRGB
    rgb: npt.NDArray[np.uint8]
    #: (height, width) metres along the viewing direction; infinity where nothing is
    depth: npt.NDArray[np.float32]
    #: (height, width) index into scene.things; -1 sky, -2 the wearer's own body
    ids: npt.NDArray[np.int32]
    #: (height/2, width/2) rounded up: ids at one sample of every second pixel, as `Renderer.survey` gives them
    lattice: npt.NDArray[np.int32]


class _Desk:
    """What one thread writes to while it draws a band."""

    def __init__(self, columns: int, *, peel: bool) -> None:
        rows = _FRAME.band_rows
        self.near_iz = np.empty((rows, columns), np.float32)
        self.owner = np.empty((rows, columns), np.int32)
        # without glass these stay empty
        deep = rows if peel else 0
        self.behind_iz = np.empty((deep, columns), np.float32)
        self.behind = np.empty((deep, columns), np.int32)
        self.pane_iz = np.empty((2, deep, columns), np.float32)
        self.panes = np.empty((2, deep, columns), np.int32)
        self.block = np.zeros(FLOATS, np.float32)
        self.part = np.empty(CAP, np.int32)
        self.counts = np.empty(CAP, np.uint8)
        self.weights = np.empty(2 * CAP)
        self.sums = np.empty(3 * CAP, np.float32)
        self.triangle = np.empty(TRIANGLE)


class Renderer:
    """Draws one scene. Keeps the arrays of the last state, so that the next frame costs only what changed.

    Safe to call from several threads; calls on one Renderer wait for each other.
    """

    name = RENDERER_NAME

    def __init__(self, scene: CompiledScene, *, body: Skin | None = None, threads: int | None = None) -> None:
        """body: the skin whose bones `draw` is given. threads: None is as many as there are processors.

        SceneError for a material that the scene does not define; RenderError for a malformed shape, texture or light.
        """
        if threads is not None and threads < 1:
            raise RenderError(f"cannot draw with {threads} threads; give at least 1, or None")
        self.threads = threads or default_threads()
        self.stage = Stage(scene, body=body)
        self._lamps = Lamps(scene)
        self._shadows = ShadowMaps(self.stage, lamps=len(self._lamps.lamps), threads=self.threads)
        self._projection = Projection(self.stage, shaded=True)
        self._lock = threading.Lock()

    def draw(
        self, state: Posed, *, camera: Pose, focal_px: float, width: int, height: int, body: Sequence[Pose] = ()
    ) -> Frame:
        """RGB, depth and ids of a state. `camera` is world_from_camera, looking along its -z with y up.

        body: a pose for every bone of the skin given to the constructor, or none to leave the body out. RenderError for
        a size or camera that makes no picture.
        """
        with self._lock:
            view = self._prepare(state, camera=camera, focal_px=focal_px, width=width, height=height, body=body)
            frame = Frame(
                np.empty((height, width, 3), np.uint8),
                np.empty((height, width), np.float32),
                np.empty((height, width), np.int32),
                np.empty((-(-height // 2), -(-width // 2)), np.int32),
            )
            self._fill_frame(view, frame)
            return frame

    def survey(
        self, state: Posed, *, camera: Pose, focal_px: float, width: int, height: int, body: Sequence[Pose] = ()
    ) -> npt.NDArray[np.int32]:
        """The `lattice` of the frame that `draw` would give, without drawing it."""
        with self._lock:
            view = self._prepare(state, camera=camera, focal_px=focal_px, width=width, height=height, body=body)
            lattice = np.empty((-(-height // 2), -(-width // 2)), np.int32)
            self._fill_lattice(view, lattice)
            return lattice

    def _prepare(
        self, state: Posed, *, camera: Pose, focal_px: float, width: int, height: int, body: Sequence[Pose]
    ) -> View:
        if not (1 <= width <= MAX_SIDE_PX and 1 <= height <= MAX_SIDE_PX):
            raise RenderError(f"frame of {width} x {height} pixels: sides must be within 1..{MAX_SIDE_PX}")
        if not (math.isfinite(focal_px) and focal_px > 0.0):
            raise RenderError(f"focal length of {focal_px} pixels must be above zero and finite")
        if not all(math.isfinite(v) for v in camera):
            raise RenderError(f"camera pose {camera} is not finite")
        self.stage.follow(state, body=body)
        r = quat_to_matrix(camera[3:])
        rows = ((r[0][0], r[1][0], r[2][0]), (r[0][1], r[1][1], r[2][1]), (-r[0][2], -r[1][2], -r[2][2]))
        self._lamps.follow(state)
        lamps = [lit.row(rows, camera[:3]) for lit in self._lamps.lit]
        return View(
            camera=np.array([(*row, camera[i]) for i, row in enumerate(rows)]),
            lamps=np.array(lamps, np.float64).reshape(len(lamps), LAMP_COLUMNS),
            near=NEAR_M,
            body_near=BODY_NEAR_M,
            focal_px=float(focal_px),
            width=width,
            height=height,
        )

    def _fill_frame(self, view: View, frame: Frame) -> None:
        s, pal, p = self.stage, self.stage.palette, self._projection
        p.project(view, s.part_drawn)
        shining = int(np.bitwise_or.reduce(p.part_lamps, initial=0))
        self._shadows.follow([lit for j, lit in enumerate(self._lamps.lit) if shining >> j & 1])
        rows, columns = 2 * view.height, 2 * view.width
        starts = p.bands(_FRAME, rows=rows)
        peel = bool(((p.flags[: p.count] & 7) != _OPAQUE).any())
        desks = [_Desk(columns, peel=peel) for _ in range(self.threads)]
        rooms, maps = self._lamps.rooms, self._shadows.maps

        def work(band: int, worker: int) -> None:
            d = desks[worker]
            row0 = band * _FRAME.band_rows
            row1 = min(rows, row0 + _FRAME.band_rows)
            raster_band(
                p.xy, p.iz, p.source, p.flags, p.order, starts[band],
                starts[band + 1], _FRAME.shift, _FRAME.offset, columns, row0, row1, d.near_iz, d.owner, peel,
                d.behind_iz, d.behind, d.pane_iz, d.panes,
            )  # fmt: skip
            pixel, end = 0, (row1 - row0) // 2 * view.width
            while pixel < end:
                after, fragments = list_surfaces(
                    d.owner, d.behind, d.panes, peel, p.source, p.flags, s.faces, s.face_part,
                    p.view_vertices, p.view_normals, s.uv, s.part_material, s.part_id, pal.rgb, pal.glow,
                    pal.lift, pal.gloss, pal.alpha, pal.texture, pal.uv_scale, pal.texels, pal.levels,
                    pal.level_count, view.focal_px, view.body_near, view.height, row0 // 2, pixel, end, frame.depth,
                    frame.ids, frame.lattice, d.block, d.part, d.counts, d.weights, d.triangle,
                )  # fmt: skip
                light_surfaces(d.block, d.part, fragments, p.part_lamps, view.lamps, maps, rooms, view.camera)
                colour_pixels(d.block, fragments, d.counts, row0 // 2, pixel, after, frame.rgb, d.sums)
                pixel = after

        for_each_band(work, bands=len(starts) - 1, threads=self.threads)

    def _fill_lattice(self, view: View, lattice: npt.NDArray[np.int32]) -> None:
        s, p = self.stage, self._projection
        p.project(view, s.part_drawn)
        rows, columns = lattice.shape
        starts = p.bands(_SURVEY, rows=rows)
        near_iz = np.empty((self.threads, _SURVEY.band_rows, columns), np.float32)
        owner = np.empty((self.threads, _SURVEY.band_rows, columns), np.int32)

        def work(band: int, worker: int) -> None:
            row0 = band * _SURVEY.band_rows
            row1 = min(rows, row0 + _SURVEY.band_rows)
            raster_band(
                p.xy, p.iz, p.source, p.flags, p.order, starts[band],
                starts[band + 1], _SURVEY.shift, _SURVEY.offset, columns, row0, row1, near_iz[worker], owner[worker],
                False, near_iz[worker], owner[worker], _NO_PANE_IZ, _NO_PANES,
            )  # fmt: skip
            survey_band(owner[worker], p.source, s.face_part, s.part_id, row0, row1, lattice)

        for_each_band(work, bands=len(starts) - 1, threads=self.threads)


def focal_from_fovy(fovy_deg: float, *, height: int) -> float:
    """Focal length in pixels for a vertical field of view in degrees. RenderError outside 1..170."""
    if not 1.0 <= fovy_deg <= 170.0:
        raise RenderError(f"vertical field of view of {fovy_deg} degrees must be within 1..170")
    return 0.5 * height / tan(fovy_deg * (math.pi / 360.0))
