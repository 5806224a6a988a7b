"""Relations as the checks ask for them. Derived from poses and geometry, never read from the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iwreplay.world.geometry import loose_box_of, region_of, thing_of
from iwreplay.world.relations import RELATIONS_VERSION, holds, support_of
from iwreplay.world.state import WorldState
from iwreplay.world.support import carried

__all__ = ["NO_RELATIONS", "Region", "Relations", "Support", "derived_relations"]

#: ("on", thing, surface), ("in", thing, interior) or None for neither
Support = tuple[str, str, str] | None
#: x0 y0 z0 x1 y1 z1, metres, world frame
Region = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Relations:
    """The functions that decide relations; tests put simpler ones here."""

    #: (state, relation, a, b) -> does it hold; b may be "thing.surface", "thing.interior", a room, "wearer"
    holds: Callable[[WorldState, str, str, str], bool]
    #: what a thing rests on or in
    support_of: Callable[[WorldState, str], Support]
    version: str
    #: box around a thing and its interiors: whether something rests on or in something depends on what meets its box,
    #: and in turn on what that rests on. None: `holds` and `support_of` depend on the things that they name only.
    region: Callable[[WorldState, str], Region] | None = None
    #: attributes that `holds` and `support_of` read; None: any
    reads: frozenset[str] | None = None
    #: a box around that of `region`, which costs less; needed with `region`
    loose_region: Callable[[WorldState, str], Region] | None = None
    #: True: the thing is on and in nothing wherever it is, and has no support; needed with `region`
    carried: Callable[[WorldState, str], bool] | None = None


#: what `iwreplay.world.relations` reads of a thing besides its pose and joints; a test watches it read
_READS = frozenset({"exists", "held", "worn", "plugged", "sitting"})


def derived_relations() -> Relations:
    """The project's own, from `iwreplay.world.relations`."""
    return Relations(
        holds=holds,
        support_of=support_of,
        version=str(RELATIONS_VERSION),
        region=_region,
        reads=_READS,
        loose_region=_loose_region,
        carried=carried,
    )


def _region(state: WorldState, thing: str) -> Region:
    return region_of(thing_of(state, thing), state)


def _loose_region(state: WorldState, thing: str) -> Region:
    return loose_box_of(thing_of(state, thing), state)


def _never(*_: object) -> bool:
    raise AssertionError("compiling a formula asks for no relation")


#: for graphs that are built to be measured, not evaluated
NO_RELATIONS = Relations(holds=_never, support_of=_never, version="none")  # type: ignore[arg-type]
