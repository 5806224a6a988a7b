"""What rests on or in what, as the semantic layer believes it: the attribute `parent` and its chains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from iwreplay.pose import Pose, compose, inverse
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import link_pose, thing_of
from iwreplay.world.state import WorldState

__all__ = [
    "Parent",
    "ancestors",
    "closed_around",
    "dependents",
    "parent_of",
    "parent_text",
    "part_link",
    "relative_pose",
]


class Parent(NamedTuple):
    """A thing's support: `how` is on, in, held, worn, floor, off or fixed; `thing` and `part` only for on and in."""

    how: str
    thing: str = ""
    part: str = ""


def parent_of(state: WorldState, thing: str) -> Parent:
    """Parses the attribute `parent`; a thing without one is on the floor, or fixed."""
    text = state.attrs[thing].get("parent")
    if not isinstance(text, str) or not text:
        return Parent("fixed" if thing_of(state, thing).fixed else "floor")
    how, _, rest = text.partition(":")
    owner, _, part = rest.partition(".")
    return Parent(how, owner, part)


def parent_text(how: str, thing: str = "", part: str = "") -> str:
    """The attribute's value: "on:table_1.top", "held" ..."""
    return f"{how}:{thing}.{part}" if thing else how


def ancestors(state: WorldState, thing: str) -> Iterator[Parent]:
    """The support, its support and so on. Ends at the floor, the hand or a fixed thing, and after 32 steps."""
    at = thing
    for _ in range(32):
        parent = parent_of(state, at)
        yield parent
        if not parent.thing:
            return
        at = parent.thing


def closed_around(state: WorldState, thing: str) -> str:
    """Id of the nearest closed thing that `thing` is inside of, or ""."""
    for parent in ancestors(state, thing):
        if parent.how == "in" and _shuts(thing_of(state, parent.thing), parent.part) and _is_shut(state, parent.thing):
            return parent.thing
    return ""


def _shuts(owner: Thing, part: str) -> bool:
    return any(i.name == part and i.closed_by for k in owner.links for i in k.interiors) or (
        "open" in owner.affordances and not any(i.name == part for k in owner.links for i in k.interiors)
    )


def _is_shut(state: WorldState, thing: str) -> bool:
    return state.attrs[thing].get("open") is False


def dependents(state: WorldState, thing: str) -> tuple[str, ...]:
    """Everything that rests on or in `thing`, directly or not, in scene order."""
    out: list[str] = []
    found = {thing}
    for other in state.scene.things:
        chain = [p.thing for p in ancestors(state, other.id) if p.thing]
        if state.attrs[other.id].get("exists") is not False and found.intersection(chain):
            out.append(other.id)
    return tuple(out)


def part_link(owner: Thing, part: str) -> int:
    """Number of the link that has the surface or interior `part`; 0 when none has."""
    for n, link in enumerate(owner.links):
        if any(s.name == part for s in link.surfaces) or any(i.name == part for i in link.interiors):
            return n
    return 0


def relative_pose(state: WorldState, thing: str) -> tuple[Parent, Pose]:
    """A thing's support and its pose in the support's link frame (in the world's when nothing carries it)."""
    parent = parent_of(state, thing)
    if not parent.thing:
        return parent, state.poses[thing]
    owner = thing_of(state, parent.thing)
    frame = link_pose(owner, part_link(owner, parent.part), state)
    return parent, compose(inverse(frame), state.poses[thing])
