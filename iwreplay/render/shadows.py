"""Shadows of lamps: for each lamp a map of what it sees looking straight down, made by the same exact rasteriser.

A map depends on the state alone; it is kept until something moves within its lamp's reach. The wearer's body casts no
shadow (its maps would have to be made anew at every step), nor does glass, nor anything nearer to the lamp than 25 cm
(its own shade and fitting).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iwreplay.render.shade import MAP_PX
from iwreplay.scene.model import CompiledScene, Light

__all__ = ["ROOM_FADE_M", "Lamp", "ShadowMaps", "lamps_of", "map_camera"]

#: a lamp's light ends softly within so much outside its room
ROOM_FADE_M = 0.8

#: a lamp of intensity 1 reaches so far; the range grows with the square root of intensity
_REACH_M = 7.0
#: a lamp outside all rooms is not held back by walls
_EVERYWHERE = (-1e9, -1e9, 1e9, 1e9)


@dataclass(frozen=True)
class Lamp:
    """A light with what drawing needs of it."""

    pos: tuple[float, float, float]
    intensity: float
    reach_m: float
    #: the room it hangs in (x0, y0, x1, y1): its light ends softly a little outside
    rect: tuple[float, float, float, float]


def lamps_of(scene: CompiledScene) -> tuple[Lamp, ...]:
    """The scene's lights, each with its range and room."""
    return tuple(_lamp(light, scene) for light in scene.lights)


def _lamp(light: Light, scene: CompiledScene) -> Lamp:
    x, y, _ = light.pos
    rect = _EVERYWHERE
    for room in scene.rooms:
        x0, y0, x1, y1 = room.rect
        if x0 <= x <= x1 and y0 <= y <= y1:
            rect = room.rect
            break
    return Lamp(light.pos, light.intensity, _REACH_M * float(np.sqrt(light.intensity)), rect)


def map_camera(lamp: Lamp) -> np.ndarray:
    """Rows right, up, forward and the position, as `raster.setup` takes them: from the lamp straight down."""
    x, y, z = lamp.pos
    return np.array([(1.0, 0.0, 0.0, x), (0.0, 1.0, 0.0, y), (0.0, 0.0, -1.0, z)])


class ShadowMaps:
    """The maps of a scene's lamps, and which of them are out of date."""

    def __init__(self, lamps: Sequence[Lamp]) -> None:
        self._lamps = tuple(lamps)
        #: (lamps, MAP_PX, MAP_PX) inverse depths below each lamp, 0 where nothing is
        self.maps = np.zeros((len(lamps), MAP_PX, MAP_PX), np.float32)
        self._stale = [True] * len(lamps)

    def changed(self, balls: np.ndarray) -> None:
        """Something moved, came or went within these balls (n, 4: centre, radius)."""
        if not len(balls):
            return
        for i, lamp in enumerate(self._lamps):
            if not self._stale[i]:
                d = balls[:, :3] - lamp.pos
                reach = balls[:, 3] + lamp.reach_m
                self._stale[i] = bool((d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] < reach * reach).any())

    def wanted(self, used: Sequence[int]) -> list[int]:
        """Those of the lamps in use whose map must be made anew."""
        return [i for i in sorted(set(used)) if self._stale[i]]

    def done(self, lamp: int) -> None:
        """The map of this lamp is up to date."""
        self._stale[lamp] = False
