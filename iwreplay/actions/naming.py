"""Public words for things: never an id, a score or a hidden attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iwreplay.actions.phrases import word_set
from iwreplay.pose import inverse, transform_point
from iwreplay.processes.support import Parent, parent_of
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import thing_of
from iwreplay.world.state import WorldState

__all__ = [
    "COLOURS",
    "MOST_LISTED",
    "TACTILE",
    "a_or_an",
    "described",
    "lateral_m",
    "listed",
    "public_name",
    "room_name",
    "the",
    "touch_name",
    "where",
]

#: words that only eyes can check
COLOURS: frozenset[str] = word_set(
    """
    red orange yellow green blue navy purple violet pink brown black white grey gray beige cream gold golden silver
    turquoise teal cyan magenta maroon dark light bright pale striped spotted dotted patterned coloured colored
    transparent clear see-through shiny
    """
)

#: adjectives that a hand can check
TACTILE: frozenset[str] = word_set(
    """
    small big large little tiny tall short long thin thick wide narrow round square flat oval heavy cold warm hot wet
    dry damp soft hard smooth rough sharp blunt plastic glass metal steel tin wooden wood ceramic china paper
    cardboard cloth fabric leather rubber stone open closed ringing upright low high empty full folded
    """
)


def public_name(thing: Thing) -> str:
    """Adjectives and name, without a word said twice: "blue mug"."""
    words: list[str] = []
    name = thing.name.split()
    for adjective in thing.adjectives:
        words.extend(w for w in adjective.split() if w not in name and w not in words)
    return " ".join([*words, *name])


def touch_name(thing: Thing) -> str:
    """What it is to the hand: tactile adjectives and the touch noun. Furniture is known by its usual noun."""
    adjectives = [a for a in thing.adjectives if a.lower() in TACTILE]
    if thing.fixed:
        noun = thing.nouns[0] if thing.nouns else thing.name
    else:
        noun = thing.touch_nouns[0] if thing.touch_nouns else thing.cls.replace("_", " ")
    return " ".join([*(a for a in adjectives if a not in noun.split()), noun])


def the(state: WorldState, thing: str, *, sighted: bool = True) -> str:
    """ "the blue mug"; the wearer is "me"."""
    if thing == WEARER:
        return "me"
    found = thing_of(state, thing)
    return f"the {public_name(found) if sighted else touch_name(found)}"


def a_or_an(words: str) -> str:
    """ "a mug", "an orange bowl" """
    return f"{'an' if words[:1].lower() in 'aeiou' and words else 'a'} {words}"


def room_name(state: WorldState, room: str) -> str:
    """The usual noun of a room, or "" for none."""
    for r in state.scene.rooms:
        if r.id == room:
            return r.nouns[0]
    return ""


def where(state: WorldState, thing: str, *, sighted: bool = True) -> str:
    """ "on the counter", "in the fridge", "in my hand", or "" when there is nothing to say."""
    parent: Parent = parent_of(state, thing)
    if parent.how in ("on", "in") and parent.thing in state.attrs and parent.thing != WEARER:
        return f"{parent.how} {the(state, parent.thing, sighted=sighted)}"
    return {"held": "in my hand", "worn": "that I am wearing", "floor": "on the floor"}.get(parent.how, "")


def lateral_m(state: WorldState, thing: str) -> float:
    """Metres to the right of the wearer's present heading (negative: to the left)."""
    x, y, z = state.poses[thing][:3]
    b = state.body
    root = (b[0], b[1], b[2], b[3], b[4], b[5], b[6])
    return -transform_point(inverse(root), (x, y, z))[1]


#: most things that a sentence lists by name
MOST_LISTED = 6
_SIDES = {2: ("left", "right"), 3: ("left", "middle", "right")}


def described(state: WorldState, thing: str, *, known: Callable[[str], bool], sighted: bool = True) -> str:
    """ "the blue mug", or what tells it from others of that name that are known: "the left chair", "the mug on
    the desk"."""
    plain = the(state, thing, sighted=sighted)
    if thing == WEARER or parent_of(state, thing).how in ("held", "worn"):
        return plain
    same = [t.id for t in state.scene.things if t.id != thing and the(state, t.id, sighted=sighted) == plain]
    same = [t for t in same if known(t)]
    place = where(state, thing, sighted=sighted)
    if place and any(where(state, t, sighted=sighted) == place for t in same):
        place = ""
    if not same or place:
        return f"{plain} {place}".strip() if same else plain
    ranked = sorted((thing, *same), key=lambda t: (lateral_m(state, t), t))
    side = _SIDES[len(ranked)][ranked.index(thing)] if len(ranked) in _SIDES else ""
    return f"the {side} {plain.removeprefix('the ')}" if side else plain


def listed(texts: Iterable[str], *, most: int = MOST_LISTED, last: str = "and") -> str:
    """ "a, b and c", at most `most` of them."""
    items = list(texts)
    if len(items) > most:
        return ", ".join(items[:most]) + f" {last} {len(items) - most} more"
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + f" {last} {items[-1]}"
