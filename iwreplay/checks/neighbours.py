"""Whose support can have changed when something moved.

What a thing rests on or in depends on what is under its foot or around its core, and in turn on what that rests on.
So a moved thing concerns everything whose box met its old or new box from above or inside, and everything piled on
those. Fixed things end a pile.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable

from iwreplay.checks.derive import Region, Relations
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

__all__ = ["Neighbours"]

#: boxes this near each other meet
_MARGIN_M = 0.02
#: the core of a thing, which decides what it is in, is at this share of its height
_CORE = 0.25


class Neighbours:
    """Boxes of all things as they were at the last look, or boxes around those."""

    def __init__(self, scene: CompiledScene, relations: Relations) -> None:
        assert relations.region is not None, "these relations do not depend on neighbours"
        assert relations.loose_region is not None, "a region has a loose one"
        self._region, self._loose_region = relations.region, relations.loose_region
        self._movable = tuple(t.id for t in scene.things if not t.fixed)
        self._things = tuple(t.id for t in scene.things)
        self._boxes: dict[str, Region] = {}
        #: the thing that is known to concern nothing, and moved last; "" when there is none. As long as no face of its
        #: box is farther than `_free_m` from where it was in `_seen`, it concerns nothing
        self._apart = ""
        self._seen: Region = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self._free_m = 0.0

    def look(self, state: WorldState) -> None:
        """Takes all boxes."""
        self._boxes = {t: self._region(state, t) for t in self._things}
        self._apart = ""

    def moved(self, things: Iterable[str], state: WorldState) -> tuple[str, ...]:
        """The movable things whose support may have changed, in a fixed order; takes the boxes of the moved ones."""
        self._apart = ""
        seen: dict[str, None] = {}
        todo: list[Region] = []
        for t in things:
            todo.append(self._boxes[t])
            self._boxes[t] = self._region(state, t)
            todo.append(self._boxes[t])
        while todo:
            for t in self._met(todo.pop(), but=seen):
                seen[t] = None
                todo.append(self._boxes[t])
        return tuple(seen)

    def moved_apart(self, thing: str, state: WorldState) -> bool:
        """Whether a thing moved from where it concerned nothing to where it concerns nothing; if so, takes its box."""
        box = self._loose_region(state, thing)
        if self._apart == thing:
            x0, y0, z0, x1, y1, z1 = box
            a0, b0, c0, a1, b1, c1 = self._seen
            m, n = self._free_m, -self._free_m
            if (n < x0 - a0 < m and n < y0 - b0 < m and n < z0 - c0 < m
                    and n < x1 - a1 < m and n < y1 - b1 < m and n < z1 - c1 < m):  # fmt: skip
                self._boxes[thing] = box
                return True
        elif self._clearance_m(self._boxes[thing], but=thing) <= 0.0:
            return False
        free_m = self._clearance_m(box, but=thing)
        if free_m <= 0.0:
            box = self._region(state, thing)
            free_m = self._clearance_m(box, but=thing)
            if free_m <= 0.0:
                return False
        self._boxes[thing], self._apart, self._seen, self._free_m = box, thing, box, free_m
        return True

    def _clearance_m(self, box: Region, *, but: str) -> float:
        """How far the faces of the box may move until it meets something, as in `_met`; 0 or less when it does."""
        x0, y0, z0, x1, y1, z1 = box
        x0, y0, z0 = x0 - _MARGIN_M, y0 - _MARGIN_M, z0 - _MARGIN_M
        x1, y1, z1 = x1 + _MARGIN_M, y1 + _MARGIN_M, z1 + _MARGIN_M
        boxes = self._boxes
        least = math.inf
        for t in self._movable:
            if t != but:
                a0, b0, c0, a1, b1, c1 = boxes[t]
                gap = max(a0 - x1, x0 - a1, b0 - y1, y0 - b1, c0 - z1, z0 - (c0 + _CORE * (c1 - c0)))
                if gap < least:
                    least = gap
                    if gap <= 0.0:
                        break
        return least

    def _met(self, box: Region, *, but: Container[str]) -> list[str]:
        """The movable things but some that rest on or in what fills the box, if they rest on or in it at all."""
        x0, y0, z0, x1, y1, z1 = box
        x0, y0, z0 = x0 - _MARGIN_M, y0 - _MARGIN_M, z0 - _MARGIN_M
        x1, y1, z1 = x1 + _MARGIN_M, y1 + _MARGIN_M, z1 + _MARGIN_M
        boxes = self._boxes
        met: list[str] = []
        for t in self._movable:
            a0, b0, c0, a1, b1, c1 = boxes[t]
            if a0 > x1 or a1 < x0 or b0 > y1 or b1 < y0 or c0 > z1 or t in but:
                continue
            if c0 + _CORE * (c1 - c0) >= z0:
                met.append(t)
        return met
