"""The words of an entity, taken apart: determiners, heads, prepositions, sides and states."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from iwreplay.scene.model import Thing
from iwreplay.vocabulary import AttrValue

__all__ = [
    "HEIGHTS",
    "HIGH",
    "ORDINALS",
    "PRONOUNS",
    "RANKED",
    "SELECTORS",
    "Split",
    "head_fits",
    "side_ending",
    "splits",
    "state_words",
    "strip",
    "thing_words",
    "word_set",
]


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_DETERMINERS = word_set(
    """
    the a an my your his her our their this that these those some
    """
)

#: words that name nothing by themselves: the Human has to say what it means
PRONOUNS: frozenset[str] = word_set(
    """
    it them they this that these those one ones something anything thing things here there me myself you yourself
    everything all both
    """
)

#: words that count from the left, or from the right with "... from the right"
ORDINALS: tuple[str, ...] = (
    "first", "second", "third", "fourth", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
)  # fmt: skip

#: words that choose among several by where they are or how large they are
SELECTORS: frozenset[str] = frozenset(ORDINALS) | word_set(
    """
    left leftmost right rightmost middle center centre central nearest closest nearer closer near farthest furthest
    farther further far other last top upper uppermost higher highest bottom
    lower lowermost lowest bigger biggest larger largest smaller smallest taller tallest shorter shortest
    """
)

#: of these, the ones about height, the upper end first
HIGH: frozenset[str] = word_set("top upper uppermost higher highest")
HEIGHTS: frozenset[str] = HIGH | word_set("bottom lower lowermost lowest")

#: an ordinal before one of these counts by it: "second nearest", "third highest"
RANKED: frozenset[str] = HEIGHTS | word_set(
    "nearest closest farthest furthest biggest largest smallest tallest shortest"
)

#: phrase -> relation word; longer ones first
_PREPOSITIONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("on", "top", "of"), "on"),
    (("in", "front", "of"), "front"),
    (("to", "the", "left", "of"), "left"),
    (("to", "the", "right", "of"), "right"),
    (("left", "of"), "left"),
    (("right", "of"), "right"),
    (("next", "to"), "near"),
    (("close", "to"), "near"),
    (("on",), "on"),
    (("inside",), "in"),
    (("in",), "in"),
    (("from",), "from"),
    (("near",), "near"),
    (("beside",), "near"),
    (("by",), "near"),
    (("at",), "near"),
    (("under",), "under"),
    (("underneath",), "under"),
    (("below",), "under"),
    (("behind",), "behind"),
    (("of",), "of"),
)

#: endings that give a side: "the bottle on the left", "the second bottle from the right"
_SIDE_ENDINGS = tuple(
    ((*lead.split(), side), side)
    for lead in ("on the", "on my", "to my", "to the", "at the", "from the", "in the")
    for side in ("left", "right", "middle", "top", "bottom")
)

_FILLERS = frozenset(("and", "coloured", "colored", "labelled", "labeled", "marked", "called"))

#: state word -> (attribute, value); usable when the state can be seen on that thing
_STATES: dict[str, tuple[str, AttrValue]] = {
    "open": ("open", True),
    "opened": ("open", True),
    "closed": ("open", False),
    "shut": ("open", False),
    "cut": ("cut", True),
    "sliced": ("cut", True),
    "scored": ("cut", True),
    "uncut": ("cut", False),
    "whole": ("cut", False),
    "raw": ("cooked", "raw"),
    "uncooked": ("cooked", "raw"),
    "cooked": ("cooked", "cooked"),
    "burnt": ("cooked", "burnt"),
    "burned": ("cooked", "burnt"),
    "broken": ("broken", True),
    "moldy": ("mold_exposed", True),
    "mouldy": ("mold_exposed", True),
    "dirty": ("clean", False),
    "clean": ("clean", True),
    "wet": ("wet", True),
    "lit": ("on", True),
    "unlit": ("on", False),
}


class Split(msgspec.Struct, frozen=True):
    """A description that says where: head words, relation word, the words of what it is there with."""

    head: tuple[str, ...]
    relation: str
    anchor: tuple[str, ...]


def strip(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without leading determiners."""
    i = 0
    while i < len(words) - 1 and words[i] in _DETERMINERS:
        i += 1
    return words[i:]


def side_ending(words: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """(the words before, the side) of "... on the left"; (words, "") without such an ending."""
    for ending, side in _SIDE_ENDINGS:
        if len(words) > len(ending) and words[-len(ending) :] == ending:
            return words[: -len(ending)], side
    return words, ""


def splits(words: tuple[str, ...]) -> Iterator[Split]:
    """Every way to read the words as head, preposition and anchor, the leftmost preposition first."""
    for i in range(1, len(words)):
        for phrase, relation in _PREPOSITIONS:
            end = i + len(phrase)
            if words[i:end] == phrase and end < len(words):
                yield Split(strip(words[:i]), relation, strip(words[end:]))
                break


def thing_words(thing: Thing) -> frozenset[str]:
    """Every public word of a thing's name and adjectives, lower case."""
    texts = (*thing.adjectives, thing.name, *thing.nouns)
    return frozenset(w for text in texts for w in text.lower().split())


def state_words(thing: Thing, attrs: dict[str, AttrValue]) -> frozenset[str]:
    """The state words that anyone who sees the thing now would use."""
    shown = {a for link in thing.links for s in link.shapes for a in (*s.when, *s.repaint)}
    if any(link.joint is not None for link in thing.links):
        shown.add("open")
    return frozenset(w for w, (attr, value) in _STATES.items() if attr in shown and attrs.get(attr) == value)


def head_fits(head: tuple[str, ...], *, nouns: tuple[str, ...], allowed: frozenset[str]) -> tuple[str, ...] | None:
    """Whether the head words end in one of the nouns, the rest being allowed words or selectors.

    Returns the selectors in order, or None when it does not fit.
    """
    best: tuple[str, ...] | None = None
    for noun in nouns:
        tail = tuple(noun.lower().split())
        if not tail or head[-len(tail) :] != tail:
            continue
        chosen: list[str] = []
        for word in head[: -len(tail)]:
            # "of" in the name of one thing ("chest of drawers") makes it no part of another
            if (word in allowed and word != "of") or word in _FILLERS:
                continue
            if word not in SELECTORS:
                break
            chosen.append(word)
        else:
            if best is None or len(chosen) < len(best):
                best = tuple(chosen)
    return best
