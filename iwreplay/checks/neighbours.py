"""Whose support can have changed when something moved.

What a thing rests on or in depends on what is under its foot or around its core, and in turn on what that rests on.
So a moved thing concerns everything whose box met its old or new box from above or inside, and everything piled on
those. Fixed things end a pile.
"""

from __future__ import annotations

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
        #: the thing whose box is known to concern nothing, and is the last one taken; "" when there is none
        self._apart = ""

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
        if self._apart != thing and self._met(self._boxes[thing], but=(thing,)):
            return False
        box = self._loose_region(state, thing)
        if self._met(box, but=(thing,)):
            box = self._region(state, thing)
            if self._met(box, but=(thing,)):
                return False
        self._boxes[thing], self._apart = box, thing
        return True

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
