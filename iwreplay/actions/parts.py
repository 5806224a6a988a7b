"""Parts of furniture by the words for them: shelves and compartments, doors, and the drawers, hooks and taps that come
with a composite and are things of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iwreplay.actions.phrases import HEIGHTS, HIGH, ORDINALS, side_ending, strip
from iwreplay.scene.hanging import is_hook
from iwreplay.scene.model import Thing

__all__ = ["is_front", "of_owner", "parts_named", "shelf_head"]

#: from which end is counted -> the word for it that is no drawer's own
_ENDS = {"top": "highest", "bottom": "lowest"}
_MIDDLE = ("middle", "center", "centre", "central")
#: what a joint moves, in words; a thing with several is opened as one
_FRONTS = frozenset(("door", "lid", "drawer", "cover", "flap"))
#: words that say no more than that a part is meant
_GENERAL = frozenset(("shelf", "part", "side", "compartment", "section"))


def of_owner(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(words of the part, words of its owner) of "cabinet's left door", for every "'s" in the words."""
    for i, word in enumerate(words[:-1]):
        if word.endswith(("'s", "s'")):
            owner = word.removesuffix("'s") if word.endswith("'s") else word.removesuffix("'")
            yield strip(words[i + 1 :]), strip((*words[:i], owner))


def shelf_head(head: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a part with what is said after its name before it: "second shelf from the top" is the second
    highest shelf, "drawer on the left" the left drawer."""
    before, side = side_ending(head)
    if not side and len(head) > 2 and head[-2] == "from" and head[-1] in _ENDS:
        before, side = head[:-2], head[-1]
    if not side:
        return head
    before = strip(before)
    counted = bool(before) and before[0] in ORDINALS and side in _ENDS
    return (before[0], _ENDS[side], *before[1:]) if counted else (side, *before)


def is_front(head: tuple[str, ...], thing: Thing) -> bool:
    """Whether the words name the doors, the lid or the like of a thing: "left door" of a cabinet with two."""
    joints = [k.joint for k in thing.links if k.joint is not None]
    words = {w for j in joints for text in (j.name, *j.nouns) for w in text.lower().replace("_", " ").split()}
    plain = tuple(w.removesuffix("s") if w.removesuffix("s") in _FRONTS else w for w in head)
    return bool(plain) and plain[-1] in _FRONTS and all(w in words for w in plain)


def parts_named(head: tuple[str, ...], thing: Thing) -> tuple[str, ...]:
    """The surfaces and interiors that the words name; shelves also by their height: "upper shelf", "bottom shelf"."""
    shelves = _shelves(thing) if "shelf" in head else ()
    if shelves:
        wanted = [w for w in head if w != "shelf"]
        named = tuple(s for s in shelves if wanted and all(w in s.lower().split("_") for w in wanted))
        if named or not wanted:
            return named or (shelves[1:] or shelves)
        return _shelf_counted(wanted, shelves)
    surfaces = [s.name for k in thing.links for s in k.surfaces]
    interiors = [i.name for k in thing.links for i in k.interiors]
    return tuple(part for part in (*surfaces, *interiors) if _part_fits(head, part))


def _shelf_counted(wanted: Sequence[str], shelves: tuple[str, ...]) -> tuple[str, ...]:
    """ "upper", "middle", "second lowest": a shelf by its place among the others; "second" counts from either end."""
    if len(wanted) == 1 and wanted[0] in _MIDDLE and len(shelves) % 2:
        return (shelves[len(shelves) // 2],)
    nth = ORDINALS.index(wanted[0]) if wanted[0] in ORDINALS else 0
    ends = wanted[1:] if wanted[0] in ORDINALS else wanted
    if nth >= len(shelves) or not all(w in HEIGHTS for w in ends):
        return ()
    if not ends:
        return tuple(dict.fromkeys((shelves[nth], shelves[-1 - nth])))
    return (shelves[-1 - nth] if ends[0] in HIGH else shelves[nth],)


def _shelves(thing: Thing) -> tuple[str, ...]:
    """The floor and shelves inside a thing, or the boards of an open one, the lowest first."""
    placed = [(s.pos[2] + k.offset[2], s, k) for k in thing.links for s in k.surfaces if not is_hook(s.name)]
    inner = [
        (z, s.name)
        for z, s, link in placed
        for i in link.interiors
        if all(abs(s.pos[k] - i.pos[k]) <= i.half[k] + 0.01 for k in range(3))
    ]
    over = not inner and len({round(z, 2) for z, _, _ in placed}) > 1
    return tuple(name for _, name in sorted(inner or ([(z, s.name) for z, s, _ in placed] if over else [])))


def _part_fits(head: tuple[str, ...], part: str) -> bool:
    names = part.lower().replace("_", " ").split()
    return all(w in names or w in _GENERAL for w in head) and any(w in names for w in head)
