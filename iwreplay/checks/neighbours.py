"""Whose support can have changed when something moved.

What a thing rests on or in depends on what is under its foot or around its core, and in turn on what that rests on.
So a moved thing concerns everything whose box met its old or new box from above or inside, and everything piled on
those. Fixed things end a pile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iwreplay.checks.derive import Region
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

__all__ = ["Neighbours"]

#: boxes this near each other meet
_MARGIN_M = 0.02
#: the core of a thing, which decides what it is in, is at this share of its height
_CORE = 0.25


class Neighbours:
    """Boxes of all things as they were at the last look."""

    def __init__(self, scene: CompiledScene, region: Callable[[WorldState, str], Region]) -> None:
        self._region = region
        self._movable = tuple(t.id for t in scene.things if not t.fixed)
        self._things = tuple(t.id for t in scene.things)
        self._boxes: dict[str, Region] = {}

    def look(self, state: WorldState) -> None:
        """Takes all boxes."""
        self._boxes = {t: self._region(state, t) for t in self._things}

    def moved(self, things: Iterable[str], state: WorldState) -> tuple[str, ...]:
        """The movable things whose support may have changed, in a fixed order; takes the boxes of the moved ones."""
        seen: dict[str, None] = {}
        todo: list[Region] = []
        for t in things:
            todo.append(self._boxes[t])
            self._boxes[t] = self._region(state, t)
            todo.append(self._boxes[t])
        while todo:
            x0, y0, z0, x1, y1, z1 = todo.pop()
            x0, y0, z0 = x0 - _MARGIN_M, y0 - _MARGIN_M, z0 - _MARGIN_M
            x1, y1, z1 = x1 + _MARGIN_M, y1 + _MARGIN_M, z1 + _MARGIN_M
            for t in self._movable:
                b = self._boxes[t]
                if b[0] > x1 or b[3] < x0 or b[1] > y1 or b[4] < y0 or b[2] > z1 or t in seen:
                    continue
                if b[2] + _CORE * (b[5] - b[2]) >= z0:
                    seen[t] = None
                    todo.append(b)
        return tuple(seen)
