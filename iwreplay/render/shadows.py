"""Shadows of lamps: for each lamp a map of what it sees looking straight down, made by the same exact rasteriser.

A map depends on the state alone; it is kept until something moves within its lamp's reach. The wearer's body casts no
shadow (its maps would have to be made anew at every step), nor does glass, nor anything nearer to the lamp than 25 cm
(its own fitting), nor the thing that shines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iwreplay.pose import Vec3
from iwreplay.render.lamps import Lit
from iwreplay.render.layout import MAP_PX

__all__ = ["ShadowMaps", "map_camera"]


def map_camera(pos: Vec3) -> np.ndarray:
    """Rows right, up, forward and the position, as `raster.setup` takes them: from a lamp straight down."""
    x, y, z = pos
    return np.array([(1.0, 0.0, 0.0, x), (0.0, 1.0, 0.0, y), (0.0, 0.0, -1.0, z)])


class ShadowMaps:
    """The maps of a scene's lamps, and which of them are out of date."""

    def __init__(self, lamps: int) -> None:
        #: (lamps, MAP_PX, MAP_PX) inverse depths below each lamp, 0 where nothing is; memory is used when one shines
        self.maps = np.zeros((lamps, MAP_PX, MAP_PX), np.float32)
        #: where each lamp was when its map was made, None when it is out of date
        self._made_at: list[Vec3 | None] = [None] * lamps
        self._reach_m = [0.0] * lamps

    def changed(self, balls: np.ndarray) -> None:
        """Something moved, came or went within these balls (n, 4: centre, radius)."""
        if not len(balls):
            return
        for i, pos in enumerate(self._made_at):
            if pos is not None:
                d = balls[:, :3] - pos
                reach = balls[:, 3] + self._reach_m[i]
                if bool((d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] < reach * reach).any()):
                    self._made_at[i] = None

    def wanted(self, used: Sequence[Lit]) -> list[Lit]:
        """Those of the lamps in use whose map must be made anew."""
        return [k for k in used if self._made_at[k.index] != k.pos]

    def done(self, lit: Lit) -> None:
        """The map of this lamp is up to date."""
        self._made_at[lit.index] = lit.pos
        self._reach_m[lit.index] = lit.lamp.reach_m
