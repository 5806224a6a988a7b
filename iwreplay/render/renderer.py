"""The renderer: a stage and a camera in, a frame out.

The same state, camera and size give the same bytes on any processor and with any number of threads.

Glass is a material whose `alpha` is below 1. In colours it is mixed with what is behind it, sample by sample: the
nearest two panes in front of the nearest solid surface, whatever the order in which they are drawn; a third is not
there. What a pane mirrors is not thinned out by its `alpha`. For ids and depth there is no mixing: a pane takes one to
three of the four samples of a pixel, by its `alpha`, another set in each pixel. So neither hides the other from a
count of samples (`lattice`, which says what the wearer sees), and a pixel's id and depth are of the surface with most
samples. Glass casts no shadow.
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
from iwreplay.render.layout import BODY_ID, CAP, FLOATS, LAMP_COLUMNS, MAP_FOCAL_PX, MAP_NEAR_M, MAP_PX
from iwreplay.render.lighting import light_surfaces
from iwreplay.render.pool import default_threads, for_each_band
from iwreplay.render.raster import MAX_CORNERS, NEAR_M, count_bands, fill_bands, raster_band, setup
from iwreplay.render.shade import colour_pixels
from iwreplay.render.shadows import ShadowMaps, map_camera
from iwreplay.render.stage import Posed, Skin, Stage
from iwreplay.render.surfaces import TRIANGLE, list_surfaces, survey_band
from iwreplay.scene.model import CompiledScene
from iwreplay.trig import tan

__all__ = ["MAX_SIDE_PX", "RENDERER_NAME", "Frame", "Renderer", "focal_from_fovy"]

#: Name and version of the reference renderer. The number rises with any change that alters a pixel, an id or a depth.
RENDERER_NAME = "iwreplay-raster/2"

#: longest side of a frame
MAX_SIDE_PX = 8192

# Samples, in fixed-point units of 1/512 pixel. A frame has four a pixel; a survey takes the lower right one of every
# second pixel both ways, which are samples of the frame as well: so what is visible is the same, drawn or not.
_FRAME_SHIFT, _FRAME_OFFSET, _FRAME_BAND_ROWS = 8, 128, 32
_SURVEY_SHIFT, _SURVEY_OFFSET, _SURVEY_BAND_ROWS = 10, 384, 16
_MAP_SHIFT, _MAP_OFFSET, _MAP_BAND_ROWS = 9, 256, 64
_NO_LAMPS = np.zeros((0, LAMP_COLUMNS))
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


@dataclass
class _View:
    """What the kernels need to know of a camera."""

    #: rows right, up, forward; last column the camera's position
    camera: npt.NDArray[np.float64]
    #: columns as in `layout`
    lamps: npt.NDArray[np.float64]
    near: float
    focal_px: float
    width: int
    height: int


class _Desk:
    """What one thread writes to while it draws a band."""

    def __init__(self, columns: int, *, peel: bool) -> None:
        rows = _FRAME_BAND_ROWS
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
        self._shadows = ShadowMaps(len(self._lamps.lamps))
        self._lock = threading.Lock()
        parts, vertices = len(self.stage.part_id), len(self.stage.vertices)
        self._view_vertices = np.zeros((vertices, 3))
        self._view_normals = np.zeros((vertices, 3))
        self._image = np.zeros((vertices, 3), np.int32)
        self._part_lamps = np.zeros(parts, np.int64)
        self._scratch = np.empty((6 + 2 * MAX_CORNERS, 4))
        self._corners = np.empty((MAX_CORNERS, 2), np.int64)
        self._make_room(max(1024, len(self.stage.faces) // 2))
        self._order = np.zeros(4096, np.int32)

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
    ) -> _View:
        if not (1 <= width <= MAX_SIDE_PX and 1 <= height <= MAX_SIDE_PX):
            raise RenderError(f"frame of {width} x {height} pixels: sides must be within 1..{MAX_SIDE_PX}")
        if not (math.isfinite(focal_px) and focal_px > 0.0):
            raise RenderError(f"focal length of {focal_px} pixels must be above zero and finite")
        if not all(math.isfinite(v) for v in camera):
            raise RenderError(f"camera pose {camera} is not finite")
        self._shadows.changed(self.stage.follow(state, body=body))
        r = quat_to_matrix(camera[3:])
        rows = ((r[0][0], r[1][0], r[2][0]), (r[0][1], r[1][1], r[2][1]), (-r[0][2], -r[1][2], -r[2][2]))
        self._lamps.follow(state)
        lamps = [lit.row(rows, camera[:3]) for lit in self._lamps.lit]
        return _View(
            camera=np.array([(*row, camera[i]) for i, row in enumerate(rows)]),
            lamps=np.array(lamps, np.float64).reshape(len(lamps), LAMP_COLUMNS),
            near=NEAR_M,
            focal_px=float(focal_px),
            width=width,
            height=height,
        )

    def _make_room(self, records: int) -> None:
        self._rec_xy = np.empty((records, 6), np.int32)
        self._rec_iz = np.empty((records, 3))
        self._rec_src = np.empty(records, np.int32)
        self._rec_flags = np.empty(records, np.uint8)

    def _set_up(self, view: _View, drawn: npt.NDArray[np.uint8]) -> int:
        s = self.stage
        while True:
            wanted = setup(
                s.vertices, s.normals, s.faces, s.part_vertices, s.part_faces, drawn, s.part_two_sided,
                s.part_level, s.poses, s.turns, s.balls, view.camera, view.focal_px, view.near, view.width,
                view.height, view.lamps, self._view_vertices, self._view_normals, self._image, self._part_lamps,
                self._rec_xy, self._rec_iz, self._rec_src, self._rec_flags, self._scratch, self._corners,
            )  # fmt: skip
            if wanted <= len(self._rec_src):
                return int(wanted)
            self._make_room(wanted + wanted // 4)

    def _bin(self, records: int, *, shift: int, offset: int, rows: int, band_rows: int) -> npt.NDArray[np.int64]:
        """Sorts records into bands; starts of the bands in `self._order`, with the end of the last one."""
        counts = np.empty(-(-rows // band_rows), np.int64)
        count_bands(self._rec_xy, records, shift, offset, rows, band_rows, counts)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        if starts[-1] > len(self._order):
            self._order = np.empty(int(starts[-1]) * 5 // 4, np.int32)
        fill_bands(self._rec_xy, records, shift, offset, rows, band_rows, starts[:-1].copy(), self._order)
        return starts

    def _fill_frame(self, view: _View, frame: Frame) -> None:
        s, pal = self.stage, self.stage.palette
        records = self._set_up(view, s.part_drawn)
        if self._make_shadows():
            # the maps were made in the same working arrays
            records = self._set_up(view, s.part_drawn)
        rows, columns = 2 * view.height, 2 * view.width
        starts = self._bin(records, shift=_FRAME_SHIFT, offset=_FRAME_OFFSET, rows=rows, band_rows=_FRAME_BAND_ROWS)
        peel = bool(((self._rec_flags[:records] & 7) != _OPAQUE).any())
        desks = [_Desk(columns, peel=peel) for _ in range(self.threads)]
        rooms, maps = self._lamps.rooms, self._shadows.maps

        def work(band: int, worker: int) -> None:
            d = desks[worker]
            row0 = band * _FRAME_BAND_ROWS
            row1 = min(rows, row0 + _FRAME_BAND_ROWS)
            raster_band(
                self._rec_xy, self._rec_iz, self._rec_src, self._rec_flags, self._order, starts[band],
                starts[band + 1], _FRAME_SHIFT, _FRAME_OFFSET, columns, row0, row1, d.near_iz, d.owner, peel,
                d.behind_iz, d.behind, d.pane_iz, d.panes,
            )  # fmt: skip
            pixel, end = 0, (row1 - row0) // 2 * view.width
            while pixel < end:
                after, fragments = list_surfaces(
                    d.owner, d.behind, d.panes, peel, self._rec_src, self._rec_flags, s.faces, s.face_part,
                    self._view_vertices, self._view_normals, s.uv, s.part_material, s.part_id, pal.rgb, pal.glow,
                    pal.lift, pal.gloss, pal.alpha, pal.texture, pal.uv_scale, pal.texels, pal.levels,
                    pal.level_count, view.focal_px, view.near, view.height, row0 // 2, pixel, end, frame.depth,
                    frame.ids, frame.lattice, d.block, d.part, d.counts, d.weights, d.triangle,
                )  # fmt: skip
                light_surfaces(d.block, d.part, fragments, self._part_lamps, view.lamps, maps, rooms, view.camera)
                colour_pixels(d.block, fragments, d.counts, row0 // 2, pixel, after, frame.rgb, d.sums)
                pixel = after

        for_each_band(work, bands=len(starts) - 1, threads=self.threads)

    def _make_shadows(self) -> bool:
        """Brings the maps of all lamps that shine on a part in view up to date. Whether there was anything to do."""
        shining = int(np.bitwise_or.reduce(self._part_lamps, initial=0))
        used = [lit for j, lit in enumerate(self._lamps.lit) if shining >> j & 1]
        wanted = self._shadows.wanted(used)
        s = self.stage
        for lit in wanted:
            own = lit.lamp.thing if lit.lamp.thing >= 0 else BODY_ID
            casters = (s.part_drawn * (s.part_level == _OPAQUE) * (s.part_id != BODY_ID) * (s.part_id != own)).astype(
                np.uint8
            )
            view = _View(map_camera(lit.pos), _NO_LAMPS, MAP_NEAR_M, MAP_FOCAL_PX, MAP_PX, MAP_PX)
            self._fill_map(view, casters, self._shadows.maps[lit.index])
            self._shadows.done(lit)
        return bool(wanted)

    def _fill_map(self, view: _View, casters: npt.NDArray[np.uint8], target: npt.NDArray[np.float32]) -> None:
        records = self._set_up(view, casters)
        starts = self._bin(records, shift=_MAP_SHIFT, offset=_MAP_OFFSET, rows=MAP_PX, band_rows=_MAP_BAND_ROWS)
        owner = np.empty((self.threads, _MAP_BAND_ROWS, MAP_PX), np.int32)

        def work(band: int, worker: int) -> None:
            row0 = band * _MAP_BAND_ROWS
            raster_band(
                self._rec_xy, self._rec_iz, self._rec_src, self._rec_flags, self._order, starts[band],
                starts[band + 1], _MAP_SHIFT, _MAP_OFFSET, MAP_PX, row0, row0 + _MAP_BAND_ROWS, target[row0:],
                owner[worker], False, target, owner[worker], _NO_PANE_IZ, _NO_PANES,
            )  # fmt: skip

        for_each_band(work, bands=len(starts) - 1, threads=self.threads)

    def _fill_lattice(self, view: _View, lattice: npt.NDArray[np.int32]) -> None:
        s = self.stage
        records = self._set_up(view, s.part_drawn)
        rows, columns = lattice.shape
        starts = self._bin(records, shift=_SURVEY_SHIFT, offset=_SURVEY_OFFSET, rows=rows, band_rows=_SURVEY_BAND_ROWS)
        near_iz = np.empty((self.threads, _SURVEY_BAND_ROWS, columns), np.float32)
        owner = np.empty((self.threads, _SURVEY_BAND_ROWS, columns), np.int32)

        def work(band: int, worker: int) -> None:
            row0 = band * _SURVEY_BAND_ROWS
            row1 = min(rows, row0 + _SURVEY_BAND_ROWS)
            raster_band(
                self._rec_xy, self._rec_iz, self._rec_src, self._rec_flags, self._order, starts[band],
                starts[band + 1], _SURVEY_SHIFT, _SURVEY_OFFSET, columns, row0, row1, near_iz[worker], owner[worker],
                False, near_iz[worker], owner[worker], _NO_PANE_IZ, _NO_PANES,
            )  # fmt: skip
            survey_band(owner[worker], self._rec_src, s.face_part, s.part_id, row0, row1, lattice)

        for_each_band(work, bands=len(starts) - 1, threads=self.threads)


def focal_from_fovy(fovy_deg: float, *, height: int) -> float:
    """Focal length in pixels for a vertical field of view in degrees. RenderError outside 1..170."""
    if not 1.0 <= fovy_deg <= 170.0:
        raise RenderError(f"vertical field of view of {fovy_deg} degrees must be within 1..170")
    return 0.5 * height / tan(fovy_deg * (math.pi / 360.0))
