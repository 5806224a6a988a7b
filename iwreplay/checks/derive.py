"""Relations as the checks ask for them. Derived from poses and geometry, never read from the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iwreplay.world.state import WorldState

__all__ = ["NO_RELATIONS", "Relations", "Support", "derived_relations"]

#: ("on", thing, surface), ("in", thing, interior) or None for neither
Support = tuple[str, str, str] | None


@dataclass(frozen=True, slots=True)
class Relations:
    """The functions that decide relations; tests put simpler ones here."""

    #: (state, relation, a, b) -> does it hold; b may be "thing.surface", "thing.interior", a room, "wearer", "floor"
    holds: Callable[[WorldState, str, str, str], bool]
    #: what a thing rests on or in
    support_of: Callable[[WorldState, str], Support]
    version: str


def derived_relations() -> Relations:
    """The project's own, from `iwreplay.world.relations`."""
    from iwreplay.world import relations

    return Relations(holds=relations.holds, support_of=relations.support_of, version=str(relations.RELATIONS_VERSION))


def _never(*_: object) -> bool:
    raise AssertionError("compiling a formula asks for no relation")


#: for graphs that are built to be measured, not evaluated
NO_RELATIONS = Relations(holds=_never, support_of=_never, version="none")  # type: ignore[arg-type]
