"""What to say instead, when words fit several things: a description of each that can be typed as it stands.

Descriptions are tried from the plainest to the most roundabout, and each is looked up by the same rules that refused
the words before; the first that names the thing and nothing else is offered. So what is offered is understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from iwreplay.actions.naming import public_name, the, touch_name, where
from iwreplay.actions.phrases import ORDINALS
from iwreplay.processes.support import Parent, parent_of
from iwreplay.scene.model import Room, Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.composites import owner_of
from iwreplay.world.geometry import thing_of
from iwreplay.world.state import WorldState

__all__ = ["Lookup", "Named", "room_offer", "thing_offer"]

_SIDES = {2: ("left", "right"), 3: ("left", "middle", "right")}
#: names of surfaces that are shelves
_SHELVES = ("upper", "middle", "lower", "bottom")
#: superlatives, the ones that are said most first
_BY = ("nearest", "farthest", "highest", "lowest", "largest", "smallest", "tallest", "shortest")
#: one counts so far before it is easier to say it in another way
_FEW = 4
#: how many of the things beside it a description may name
_BESIDE = 6

#: (thing or room, part of the thing or "")
Named = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """How words are understood now."""

    state: WorldState
    sighted: bool
    #: text -> everything that it could mean; () when it is no description
    meant: Callable[[str], tuple[Named, ...]]
    #: (selector, thing) -> the number that the selector's choice has least of
    key: Callable[[str, str], float]


def thing_offer(lookup: Lookup, thing: str, part: str) -> str | None:
    """Words for a thing, or its `part`, that name it alone; None when nothing does."""
    if not part:
        return _first(lookup, (thing, ""), _whole(lookup, thing))
    # the thing may only be told with its part, when the part is what the others lack
    owner = thing_offer(lookup, thing, "") or the(lookup.state, thing, sighted=lookup.sighted)
    owners = (owner, *(f"the {n}" for n in _nouns(lookup, thing_of(lookup.state, thing))))
    return _first(lookup, (thing, part), (f"the {head} of {o}" for o in owners for head in _part_heads(part)))


def room_offer(lookup: Lookup, room: Room) -> str | None:
    """Words for a room that name it alone; None when nothing does."""
    return _first(lookup, (room.id, ""), (f"the {n}" for noun in room.nouns for n in (noun, f"{noun} room")))


def _first(lookup: Lookup, wanted: Named, texts: Iterable[str]) -> str | None:
    for text in texts:
        # a description has few words, and "the" is the one that says nothing
        for shorter in (text, text.replace("the ", "")):
            if lookup.meant(shorter) == (wanted,):
                return shorter
    return None


def _part_heads(part: str) -> tuple[str, ...]:
    words = part.replace("_", " ")
    counted = (f"{nth} {end} shelf" for end in ("highest", "lowest") for nth in ORDINALS[1:6])
    plain = (f"{words} shelf", words) if part in _SHELVES else (words, f"{words} shelf")
    return (*plain, f"{words} part", "top shelf", "bottom shelf", "middle shelf", *counted)


def _whole(lookup: Lookup, thing: str) -> Iterator[str]:
    """Descriptions of a thing, the plainest first."""
    nouns = _nouns(lookup, thing_of(lookup.state, thing))
    places = list(_places(lookup, thing))
    yield f"the {nouns[0]}"
    for place in places[:1]:
        yield f"the {nouns[0]} {place}"
    for most in (_FEW, len(ORDINALS)):
        for noun in nouns:
            for place in (*places[:1], "", *places[1:]):
                yield f"the {noun} {place}".rstrip()
                for before, after in _picks(lookup, thing, f"{noun} {place}".rstrip(), most=most):
                    yield " ".join(filter(None, ("the", before, noun, place, after)))


def _nouns(lookup: Lookup, one: Thing) -> tuple[str, ...]:
    """The public name, then shorter and other ones; furniture also with its room."""
    state = lookup.state
    if lookup.sighted:
        found = [public_name(one), one.name, *one.nouns]
    else:
        found = [touch_name(one), *((one.name, *one.nouns) if one.fixed else one.touch_nouns)]
    if one.fixed:
        found.extend(f"{noun} {n}" for room in _rooms_of(state, one.id) for noun in room.nouns for n in one.nouns)
    return tuple(dict.fromkeys(found))


def _rooms_of(state: WorldState, thing: str) -> list[Room]:
    x, y, _ = state.poses[thing][:3]
    return [r for r in state.scene.rooms if r.rect[0] <= x <= r.rect[2] and r.rect[1] <= y <= r.rect[3]]


def _places(lookup: Lookup, thing: str) -> Iterator[str]:
    """ "on the kitchen counter", then in other words, then what it is near."""
    state = lookup.state
    whole = owner_of(state, thing_of(state, thing))
    if whole is not None:
        owner = _first(lookup, (whole.id, ""), _owners(lookup, whole))
        yield f"of {owner or the(state, whole.id, sighted=lookup.sighted)}"
    first = where(state, thing, sighted=lookup.sighted)
    if first:
        yield first
    parent = parent_of(state, thing)
    for support in (parent, parent_of(state, parent.thing) if parent.thing in state.attrs else Parent("")):
        if support.thing in state.attrs and support.thing != WEARER:
            owners = _nouns(lookup, thing_of(state, support.thing))
            yield from (f"{support.how} the {owner}" for owner in owners)
            yield from (f"{support.how} the {h} of the {o}" for o in owners for h in _part_heads(support.part))
    yield from (f"in the {noun}" for room in _rooms_of(state, thing) for noun in room.nouns)
    x, y, z = state.poses[thing][:3]

    def away(other: str) -> tuple[float, str]:
        a, b, c = state.poses[other][:3]
        return (round((a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2, 6), other)

    here = (t.id for t in state.scene.things if t.id != thing and state.attrs[t.id].get("exists") is not False)
    for other in sorted(here, key=away)[:_BESIDE]:
        yield f"near {the(state, other, sighted=lookup.sighted)}"


def _owners(lookup: Lookup, whole: Thing) -> Iterator[str]:
    """A composite in few words, because its part is named with it."""
    for noun in _nouns(lookup, whole):
        yield f"the {noun}"
        for before, after in _picks(lookup, whole.id, noun, most=_FEW):
            yield " ".join(filter(None, ("the", before, noun, after)))


def _picks(lookup: Lookup, thing: str, words: str, *, most: int) -> Iterator[tuple[str, str]]:
    """(words before the name, words after it) that choose the thing among all that the words fit: by side, order,
    distance, height or size; counting to `most`, and beyond a few also by the side of those that agree."""
    others = [t for t, _ in lookup.meant(words)]
    if thing not in others:
        return
    at = _rank(lookup, "left", thing, others)
    if len(others) in _SIDES:
        yield _SIDES[len(others)][at], ""
    for side, k in (("left", at), ("right", len(others) - 1 - at)):
        if k < most:
            yield ORDINALS[k], f"from the {side}"
    by = []
    for word in _BY:
        k = _rank(lookup, word, thing, others)
        if k < most:
            by.append(f"{ORDINALS[k]} {word}" if k else word)
    yield from ((pick, "") for pick in by)
    if most > _FEW:
        yield from ((pick, f"on the {side}") for pick in by for side in ("left", "right"))


def _rank(lookup: Lookup, selector: str, thing: str, others: Sequence[str]) -> int:
    return sorted(others, key=lambda t: lookup.key(selector, t)).index(thing)
