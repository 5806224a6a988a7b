"""A stage as one camera sees it: its triangles on the image, sorted into bands of rows. Working arrays of the kernels.

The frame has one of these and so have the maps of the lamps, so that neither undoes what the other has worked out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iwreplay.render.raster import MAX_CORNERS, count_bands, fill_bands, setup
from iwreplay.render.stage import Stage

__all__ = ["Grid", "Projection", "View"]


@dataclass
class View:
    """What the kernels need to know of a camera."""

    #: rows right, up, forward; last column the camera's position
    camera: npt.NDArray[np.float64]
    #: columns as in `layout`
    lamps: npt.NDArray[np.float64]
    #: of things, and of the wearer's body: what is nearer is cut off
    near: float
    body_near: float
    focal_px: float
    width: int
    height: int


class Grid(NamedTuple):
    """Where samples are: every 2**shift fixed-point units from `offset` on, both ways; bands have so many rows."""

    shift: int
    offset: int
    band_rows: int


class Projection:
    """Records of the triangles of a stage in one view after another."""

    def __init__(self, stage: Stage, *, shaded: bool) -> None:
        """shaded: normals are wanted too."""
        self._stage = stage
        parts, vertices = len(stage.part_id), len(stage.vertices)
        self.view_vertices = np.zeros((vertices, 3))
        self.view_normals = np.zeros((vertices if shaded else 0, 3))
        #: bit j: lamp j of the view may reach the part, and it is in view
        self.part_lamps = np.zeros(parts, np.int64)
        #: how many records there are
        self.count = 0
        self._image = np.zeros((vertices, 3), np.int32)
        self._scratch = np.empty((6 + 2 * MAX_CORNERS, 4))
        self._corners = np.empty((MAX_CORNERS, 2), np.int64)
        self._make_room(max(1024, len(stage.faces) // 2))
        #: record numbers band by band
        self.order = np.zeros(4096, np.int32)

    def _make_room(self, records: int) -> None:
        self.xy = np.empty((records, 6), np.int32)
        self.iz = np.empty((records, 3))
        self.source = np.empty(records, np.int32)
        self.flags = np.empty(records, np.uint8)

    def project(self, view: View, drawn: npt.NDArray[np.uint8]) -> None:
        """Makes the records of the parts for which `drawn` is not 0."""
        s = self._stage
        while True:
            wanted = setup(
                s.vertices, s.normals, s.faces, s.part_vertices, s.part_faces, drawn, s.part_two_sided,
                s.part_level, s.part_id, s.poses, s.turns, s.balls, view.camera, view.focal_px, view.near,
                view.body_near, view.width, view.height, view.lamps, self.view_vertices, self.view_normals,
                self._image, self.part_lamps, self.xy, self.iz, self.source, self.flags, self._scratch, self._corners,
            )  # fmt: skip
            if wanted <= len(self.source):
                self.count = int(wanted)
                return
            self._make_room(wanted + wanted // 4)

    def bands(self, grid: Grid, *, rows: int) -> npt.NDArray[np.int64]:
        """Sorts the records into bands of sample rows; starts of the bands in `order`, with the end of the last one."""
        counts = np.empty(-(-rows // grid.band_rows), np.int64)
        count_bands(self.xy, self.count, grid.shift, grid.offset, rows, grid.band_rows, counts)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        if starts[-1] > len(self.order):
            self.order = np.empty(int(starts[-1]) * 5 // 4, np.int32)
        fill_bands(self.xy, self.count, grid.shift, grid.offset, rows, grid.band_rows, starts[:-1].copy(), self.order)
        return starts
