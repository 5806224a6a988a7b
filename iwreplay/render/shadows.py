"""Shadows of lamps: for each lamp a map of what it sees looking straight down, made by the same exact rasteriser.

A map depends on the state alone. It is the nearest surface of what may cast a shadow, and a nearest one may be found in
any number of goes: so there are two layers. The base has what has not moved since it was made. What moved since then
(and the wearer's body, always) is drawn over a copy of it. Only when something leaves a base is that made anew, without
it. Which part is in which layer depends on the frames before, the map does not; tests hold it to that.

No shadow is cast by glass, by anything nearer to the lamp than 25 cm (its own fitting), or by the thing that shines.
The wearer's head casts one also where its own eyes do not see it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iwreplay.pose import Vec3
from iwreplay.render.lamps import Lit
from iwreplay.render.layout import BODY_ID, LAMP_COLUMNS, MAP_FOCAL_PX, MAP_NEAR_M, MAP_PX
from iwreplay.render.pool import for_each_band
from iwreplay.render.projection import Grid, Projection, View
from iwreplay.render.raster import depth_band
from iwreplay.render.stage import Stage

__all__ = ["ShadowMaps"]

_GRID = Grid(shift=9, offset=256, band_rows=64)
_BANDS = -(-MAP_PX // _GRID.band_rows)
_NO_LAMPS = np.zeros((0, LAMP_COLUMNS))
_OPAQUE = 4
#: what lies so far beyond the rectangle that a lamp shines in may still be asked for in its map: metres, and more with
#: the lamp's reach (a sample or two, and a step off a surface)
_BEYOND_M, _BEYOND_PER_M = 0.1, 0.04
#: once the layer above has so large a share of the base's triangles, what is at rest in it goes to the base
_FULL = 0.25

_Mask = npt.NDArray[np.bool_]


class _Kept:
    """What is in the map of one lamp."""

    def __init__(self, parts: int) -> None:
        #: where the lamp was; None: nothing is made yet
        self.lit: Lit | None = None
        #: change of the stage (`Stage.change`) that the map is up to date with
        self.change = -1
        #: parts in the base, and their changes as they are in it
        self.base: _Mask = np.zeros(parts, np.bool_)
        self.base_changed = np.zeros(parts, np.int64)
        #: parts that have left a base, so that they are not put into the next one
        self.loose: _Mask = np.zeros(parts, np.bool_)
        #: parts in the layer above
        self.over: _Mask = np.zeros(parts, np.bool_)
        #: bands of the map that are not those of the base
        self.covered: _Mask = np.zeros(_BANDS, np.bool_)


class ShadowMaps:
    """The maps of a scene's lamps."""

    def __init__(self, stage: Stage, *, lamps: int, threads: int) -> None:
        self._stage, self._threads = stage, threads
        #: (lamps, MAP_PX, MAP_PX) inverse depths below each lamp, 0 where nothing is; memory is used when one shines
        self.maps = np.zeros((lamps, MAP_PX, MAP_PX), np.float32)
        self._bases = np.zeros((lamps, MAP_PX, MAP_PX), np.float32)
        self._kept = [_Kept(len(stage.part_id)) for _ in range(lamps)]
        self._body: _Mask = stage.part_id == BODY_ID
        self._faces = (stage.part_faces[:, 1] - stage.part_faces[:, 0]).astype(np.int64)
        self._projection = Projection(stage, shaded=False)

    def follow(self, used: Sequence[Lit]) -> None:
        """Brings the maps of these lamps up to date with the stage."""
        for lit in used:
            kept = self._kept[lit.index]
            if kept.lit != lit or kept.change != self._stage.change:
                self._bring(kept, lit)
                kept.lit, kept.change = lit, self._stage.change

    def _bring(self, kept: _Kept, lit: Lit) -> None:
        changed, casters = self._stage.part_changed, self._casters(lit)
        base = self._bases[lit.index]
        gone = kept.base & ~(casters & (kept.base_changed == changed))
        anew = kept.lit is None or kept.lit.pos != lit.pos
        if anew or gone.any():
            kept.loose |= gone
            kept.base = casters & ~kept.loose & ~self._body
            kept.base_changed = changed.copy()
            base.fill(0.0)
            self._draw(kept.base, lit, base)
            kept.covered[:] = True
        over = casters & ~kept.base
        if not (anew or gone.any()) and np.array_equal(over, kept.over) and not (changed[over] > kept.change).any():
            return
        self._settle(kept, lit, over)
        over = casters & ~kept.base
        self._lay_over(kept, lit, over)

    def _casters(self, lit: Lit) -> _Mask:
        """Parts that may shade what this lamp shines on. Of the state alone, as all that decides what is in a map."""
        s = self._stage
        own = lit.lamp.thing if lit.lamp.thing >= 0 else BODY_ID - 1
        there: _Mask = (s.part_there != 0) & (s.part_level == _OPAQUE) & (s.part_id != own)
        x, y, z, radius = s.balls.T
        dx, dy, dz, reach = x - lit.pos[0], y - lit.pos[1], z - lit.pos[2], radius + lit.lamp.reach_m
        beyond = lit.fade_m + _BEYOND_M + _BEYOND_PER_M * lit.lamp.reach_m
        # a lamp that hangs outside of its rectangle shines into it from there
        x0, x1 = min(lit.rect[0], lit.pos[0]) - beyond, max(lit.rect[2], lit.pos[0]) + beyond
        y0, y1 = min(lit.rect[1], lit.pos[1]) - beyond, max(lit.rect[3], lit.pos[1]) + beyond
        there &= dx * dx + dy * dy + dz * dz < reach * reach
        there &= (x + radius > x0) & (x - radius < x1) & (y + radius > y0) & (y - radius < y1)
        return there

    def _settle(self, kept: _Kept, lit: Lit, over: _Mask) -> None:
        """Puts what is at rest above the base into it, when it has become much."""
        loose = over & ~self._body
        if self._faces[loose].sum() <= _FULL * self._faces[kept.base].sum():
            return
        resting = loose & (self._stage.part_changed < self._stage.change)
        if not resting.any():
            return
        self._draw(resting, lit, self._bases[lit.index])
        kept.base = kept.base | resting
        kept.base_changed[resting] = self._stage.part_changed[resting]
        kept.loose &= ~resting
        kept.covered[:] = True

    def _lay_over(self, kept: _Kept, lit: Lit, over: _Mask) -> None:
        base, target = self._bases[lit.index], self.maps[lit.index]
        for band in np.flatnonzero(kept.covered):
            rows = slice(band * _GRID.band_rows, (band + 1) * _GRID.band_rows)
            target[rows] = base[rows]
        kept.covered = self._draw(over, lit, target)
        kept.over = over

    def _draw(self, parts: _Mask, lit: Lit, target: npt.NDArray[np.float32]) -> _Mask:
        """Puts parts over what a map has. The bands that they touch."""
        if not parts.any():
            return np.zeros(_BANDS, np.bool_)
        p = self._projection
        p.project(
            View(_map_camera(lit.pos), _NO_LAMPS, MAP_NEAR_M, MAP_NEAR_M, MAP_FOCAL_PX, MAP_PX, MAP_PX),
            parts.view(np.uint8),
        )
        starts = p.bands(_GRID, rows=MAP_PX)

        def work(band: int, worker: int) -> None:
            row0 = band * _GRID.band_rows
            depth_band(
                p.xy, p.iz, p.order, starts[band], starts[band + 1], _GRID.shift, _GRID.offset, MAP_PX, row0,
                min(MAP_PX, row0 + _GRID.band_rows), target,
            )  # fmt: skip

        for_each_band(work, bands=_BANDS, threads=self._threads)
        touched: _Mask = np.diff(starts) > 0
        return touched


def _map_camera(pos: Vec3) -> npt.NDArray[np.float64]:
    """Rows right, up, forward and the position, as `raster.setup` takes them: from a lamp straight down."""
    x, y, z = pos
    return np.array([(1.0, 0.0, 0.0, x), (0.0, 1.0, 0.0, y), (0.0, 0.0, -1.0, z)])
