"""From words to things: public names and descriptions, for a Human who sees and for one who doesn't.

Never guesses: a description that fits several perceivable things is AMBIGUOUS, with the candidates in public words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from iwreplay.actions.grammar import entity_words
from iwreplay.actions.naming import COLOURS, MOST_LISTED, TACTILE, lateral_m, listed, public_name, the, touch_name
from iwreplay.actions.offers import Lookup, room_offer, thing_offer
from iwreplay.actions.parts import is_front, of_owner, parts_named, shelf_head
from iwreplay.actions.perception import Perception
from iwreplay.actions.phrases import (
    HEIGHTS,
    HIGH,
    ORDINALS,
    PRONOUNS,
    RANKED,
    head_fits,
    side_ending,
    splits,
    state_words,
    strip,
    thing_words,
)
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.pose import inverse, transform_point
from iwreplay.processes.support import ancestors
from iwreplay.scene.geometry import Aabb
from iwreplay.scene.model import Room, Thing
from iwreplay.world.composites import members_of
from iwreplay.world.geometry import exists, thing_aabb, thing_of
from iwreplay.world.relations import NEAR_M
from iwreplay.world.state import WorldState
from iwreplay.world.support import FLOOR, surface_under

__all__ = ["Grounded", "ground", "nameable"]

#: nearer to each other than this, things are not told apart by side, distance or size; nor, in a stack, by height
_SAME_M, _SAME_HEIGHT_M = 0.02, 0.002
#: a thing this near to a room's outline is in its wall
_WALL_M = 0.1


class Grounded(msgspec.Struct, frozen=True):
    """What an entity names: a thing, or a room; `part` is one of the thing's surfaces or interiors, or ""."""

    id: str
    is_room: bool = False
    part: str = ""


class _Fit(msgspec.Struct, frozen=True):
    thing: Thing
    selectors: tuple[str, ...]
    part: str = ""


def ground(
    words: tuple[str, ...],
    *,
    state: WorldState,
    perception: Perception,
    held: str = "",
    rooms: bool = False,
) -> Grounded:
    """The one thing (or, with `rooms`, room) that `words` name.

    `held` is given for an argument that must name the thing in the hand: it wins over others that fit.
    Raises RefusedError with UNKNOWN_TARGET, AMBIGUOUS, NOT_VISIBLE or NO_VISION_REF.
    """
    plain = strip(words)
    said = " ".join(words)
    if all(w in PRONOUNS for w in plain):
        raise refuse("UNKNOWN_TARGET", f"Just '{said}' could be anything. Name the thing and say where it is.")
    return _Search(state, perception, said, sighted=perception.sighted).find(plain, held=held, rooms=rooms)


def nameable(state: WorldState, perception: Perception) -> tuple[str, ...]:
    """What can be named this moment (`Perception.at_hand`, then rooms): descriptions that name one thing each, and may
    be typed as they stand. What no words single out is left out."""
    search = _Search(state, perception, "", sighted=perception.sighted)
    lookup = search._lookup(held="", rooms=True)
    offers = [thing_offer(lookup, thing, "") for thing in perception.at_hand()]
    offers += [room_offer(lookup, room) for room in state.scene.rooms]
    return tuple(dict.fromkeys(o.removeprefix("the ") for o in offers if o is not None))


def _meant(known: Sequence[_Fit], rooms: Sequence[Room]) -> tuple[Grounded, ...]:
    found = [*(Grounded(f.thing.id, part=f.part) for f in known), *(Grounded(r.id, is_room=True) for r in rooms)]
    return tuple(dict.fromkeys(found))


class _Search:
    """One look-up."""

    def __init__(self, state: WorldState, perception: Perception, said: str, *, sighted: bool) -> None:
        self.state, self.perception, self.said = state, perception, said
        #: whether words that only eyes can check may be used
        self.sighted = sighted
        # many descriptions are tried before one is offered; their words come again and again
        self._words: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {}
        self._headed: dict[tuple[str, ...], list[_Fit]] = {}
        self._anchored: dict[tuple[str, ...], list[_Fit]] = {}

    def find(self, words: tuple[str, ...], *, held: str, rooms: bool) -> Grounded:
        room_fits = self._rooms(words) if rooms else ()
        fits = self._described(words)
        if held and any(f.thing.id == held for f in fits):
            return Grounded(held)
        if not fits and not room_fits:
            self._explain_no_fit(words)
        known = [f for f in fits if self.perception.knows(f.thing.id)]
        if not known and not room_fits:
            place = "in view" if self.sighted else "within reach of my hands"
            raise refuse("NOT_VISIBLE", f"I can't find the {' '.join(words)} {place}. Show me where it is.")
        known = self._select(known)
        meant = _meant(known, room_fits)
        if len(meant) == 1:
            return meant[0]
        lookup = self._lookup(held=held, rooms=rooms)
        offers = list(self._offers(known, lookup=lookup))
        offers.extend(room_offer(lookup, r) or f"the {r.nouns[0]}" for r in room_fits)
        raise refuse("AMBIGUOUS", f"Which one is '{self.said}': {listed(offers, last='or')}?")

    def _meant(self, words: tuple[str, ...], *, held: str, rooms: bool) -> tuple[Grounded, ...]:
        """Everything that the words could mean, without explaining why it is not exactly one."""
        fits = self._described(words)
        if held and any(f.thing.id == held for f in fits):
            return (Grounded(held),)
        known = self._select([f for f in fits if self.perception.knows(f.thing.id)])
        return _meant(known, self._rooms(words) if rooms else ())

    # ------------------------------------------------------------------ what to say instead

    def _offers(self, known: list[_Fit], *, lookup: Lookup) -> Iterator[str]:
        # of many, those that are the least of a walk away
        few = sorted(known, key=self._away_m) if len(known) > MOST_LISTED else known
        for fit in few[:MOST_LISTED]:
            found = thing_offer(lookup, fit.thing.id, fit.part)
            # the same thing in the same place twice over can only be called by its name
            yield found or the(self.state, fit.thing.id, sighted=self.sighted)
        yield from ("another",) * (len(known) - MOST_LISTED)

    def _lookup(self, *, held: str, rooms: bool) -> Lookup:
        things = {t.id: t for t in self.state.scene.things}

        def meant(text: str) -> tuple[tuple[str, str], ...]:
            try:
                words = strip(entity_words(text))
            except RefusedError:
                return ()
            return tuple((g.id, g.part) for g in self._meant(words, held=held, rooms=rooms))

        return Lookup(
            state=self.state,
            sighted=self.sighted,
            meant=meant,
            key=lambda selector, thing: self._key(selector, things[thing]),
        )

    def _away_m(self, fit: _Fit) -> float:
        return round(self._key("nearest", fit.thing), 6)

    # ------------------------------------------------------------------ candidates

    def _described(self, words: tuple[str, ...]) -> list[_Fit]:
        """Things that fit, whether they can be perceived or not."""
        fits = self._heads(words)
        if fits:
            return fits
        for part, owner in of_owner(words):
            fits = self._parts(part, owner)
            if fits:
                return fits
        before, side = side_ending(words)
        if side:
            fits = [_Fit(f.thing, _from_side(f.selectors, side), f.part) for f in self._heads(strip(before))]
            if fits:
                return fits
        for split in splits(words):
            if split.relation == "of":
                fits = self._parts(split.head, split.anchor)
            else:
                heads = self._heads(split.head)
                fits = self._with_anchor(heads, split.relation, self._anchors(split.anchor)) if heads else []
                if not fits and split.relation in ("in", "from"):
                    fits = [f for f in heads if self._within(f.thing, self._rooms(split.anchor))]
            if fits:
                return fits
        # "fridge door", "left rack top shelf"
        for i in range(len(words) - 1, 0, -1):
            fits = self._parts_of(words[i:], self._select(self._heads(words[:i])))
            if fits:
                return fits
        return []

    def _heads(self, head: tuple[str, ...]) -> list[_Fit]:
        if head not in self._headed:
            self._headed[head] = self._find_heads(head) if head else []
        return self._headed[head]

    def _find_heads(self, head: tuple[str, ...]) -> list[_Fit]:
        return self._named_among(head, self.state.scene.things)

    def _named_among(self, head: tuple[str, ...], things: Sequence[Thing]) -> list[_Fit]:
        fits: list[_Fit] = []
        for thing in things:
            if exists(self.state, thing.id):
                if thing.id not in self._words:
                    self._words[thing.id] = self._words_for(thing)
                nouns, allowed = self._words[thing.id]
                chosen = head_fits(head, nouns=nouns, allowed=allowed)
                if chosen is not None:
                    fits.append(_Fit(thing, chosen))
        # a word of its own says more than where it is among others: the "left top drawer" is a top drawer
        fewest = min((len(f.selectors) for f in fits), default=0)
        own = [f for f in fits if len(f.selectors) == fewest]
        # furniture is known to everybody by its full name: "counter" is the counter although a prep counter is one too
        named = [f for f in own if f.thing.fixed and public_name(f.thing).lower() == " ".join(head)]
        return named if len(named) == 1 else own

    def _words_for(self, thing: Thing) -> tuple[tuple[str, ...], frozenset[str]]:
        """(nouns, words allowed before them) by which this Human can name the thing."""
        attrs = self.state.attrs[thing.id]
        if self.sighted:
            printed = frozenset(self.perception.printed_words(thing))
            known = thing_words(thing) | state_words(thing, attrs) | printed
            return (thing.name, *thing.nouns), known | self._room_words(thing)
        words = frozenset(w for a in thing.adjectives for w in a.lower().split() if w in TACTILE)
        if thing.fixed:
            names = (thing.name, *thing.nouns)
            known = thing_words(thing) | state_words(thing, attrs) | self._room_words(thing)
            return names, frozenset(w for w in known if w not in COLOURS)
        touch = (*thing.touch_nouns, touch_name(thing))
        return touch, words | frozenset(w for t in touch for w in t.lower().split())

    def _room_words(self, thing: Thing) -> frozenset[str]:
        """ "bedroom window", "kitchen counter": furniture is also told by the room it is in, or looks into."""
        if not thing.fixed:
            return frozenset()
        x, y, _ = self.state.poses[thing.id][:3]
        here = [
            r
            for r in self.state.scene.rooms
            if r.rect[0] - _WALL_M <= x <= r.rect[2] + _WALL_M and r.rect[1] - _WALL_M <= y <= r.rect[3] + _WALL_M
        ]
        return frozenset(w for r in here for n in r.nouns for w in n.lower().split())

    def _anchors(self, words: tuple[str, ...]) -> list[_Fit]:
        if words not in self._anchored:
            fits = [] if all(w in PRONOUNS for w in words) else self._described(words)
            self._anchored[words] = self._select([f for f in fits if self.perception.knows(f.thing.id)])
        return self._anchored[words]

    def _parts(self, said: tuple[str, ...], owner: tuple[str, ...]) -> list[_Fit]:
        """ "upper shelf of the cabinet", "top drawer of the left unit": a surface, an interior, a thing that came with
        it, or the thing itself by its doors."""
        return self._parts_of(said, self._anchors(owner) or self._described(owner))

    def _parts_of(self, said: tuple[str, ...], owners: Sequence[_Fit]) -> list[_Fit]:
        head = shelf_head(said)
        fits = [f for o in owners for f in self._named_among(head, members_of(self.state, o.thing))]
        fits = fits or [_Fit(o.thing, (), part) for o in owners for part in parts_named(head, o.thing)]
        return fits or [_Fit(o.thing, ()) for o in owners if is_front(head, o.thing)]

    def _with_anchor(self, fits: list[_Fit], relation: str, anchors: list[_Fit]) -> list[_Fit]:
        return [
            f for f in fits if any(a.thing is not f.thing and self._related(f.thing.id, relation, a) for a in anchors)
        ]

    def _related(self, thing: str, relation: str, anchor: _Fit) -> bool:
        """Whether the thing is where the words say, as the wearer knows it."""
        if relation == "on" and anchor.thing.id == FLOOR:
            return any(p.how == "floor" for p in ancestors(self.state, thing))
        if relation in ("on", "in", "from"):
            return (
                any(
                    p.thing == anchor.thing.id and relation in ("from", p.how) and anchor.part in ("", p.part)
                    for p in ancestors(self.state, thing)
                )
                or self._on_shelf(thing, anchor)
                or (not anchor.part and thing_of(self.state, thing) in members_of(self.state, anchor.thing))
                or (relation == "on" and self._fixed_onto(thing, anchor.thing.id))
            )
        a = thing_aabb(thing_of(self.state, thing), self.state)
        b = thing_aabb(anchor.thing, self.state)
        if relation == "near":
            return _gap_m(a, b) <= NEAR_M
        if relation == "under":
            return a[5] <= b[5] and a[0] < b[3] and b[0] < a[3] and a[1] < b[4] and b[1] < a[4] and a[2] < b[2]
        if _gap_m(a, b) > 1.0:
            return False
        here, there = self._seen_from(thing), self._seen_from(anchor.thing.id)
        if relation == "left":
            return here[1] > there[1]
        if relation == "right":
            return here[1] < there[1]
        return here[0] > there[0] if relation == "behind" else here[0] < there[0]

    def _on_shelf(self, thing: str, anchor: _Fit) -> bool:
        """ "on the second shelf", inside of what has doors."""
        at = thing
        for p in ancestors(self.state, thing):
            if p.thing == anchor.thing.id and anchor.part:
                surface = surface_under(self.state, at, p.thing)
                return surface is not None and surface.name == anchor.part
            at = p.thing
        return False

    def _fixed_onto(self, thing: str, anchor: str) -> bool:
        """A switch on a wall, a label on a door: fixed things that touch."""
        one = thing_of(self.state, thing)
        if not one.fixed:
            return False
        return _gap_m(thing_aabb(one, self.state), thing_aabb(thing_of(self.state, anchor), self.state)) <= 0.05

    def _seen_from(self, thing: str) -> tuple[float, float]:
        """(metres ahead, metres to the left) of the wearer."""
        x, y, z = self.state.poses[thing][:3]
        b = self.state.body
        ahead, left, _ = transform_point(inverse((b[0], b[1], b[2], b[3], b[4], b[5], b[6])), (x, y, z))
        return ahead, left

    def _within(self, thing: Thing, rooms: Sequence[Room]) -> bool:
        """ "the chair in the meeting room" """
        x, y, _ = self.state.poses[thing.id][:3]
        return any(r.rect[0] <= x <= r.rect[2] and r.rect[1] <= y <= r.rect[3] for r in rooms)

    def _rooms(self, words: tuple[str, ...]) -> tuple[Room, ...]:
        text = " ".join(words)
        return tuple(r for r in self.state.scene.rooms if text in (n.lower() for n in r.nouns))

    # ------------------------------------------------------------------ choosing

    def _select(self, fits: list[_Fit]) -> list[_Fit]:
        """Applies the selectors that all candidates share, in the order in which they were said."""
        if not fits:
            return fits
        said = fits[0].selectors
        k = 0
        while k < len(said):
            # "second nearest": counted by distance, not from the left
            counted = said[k] in ORDINALS and k + 1 < len(said) and said[k + 1] in RANKED
            fits = self._by(said[k + 1], fits, nth=ORDINALS.index(said[k])) if counted else self._by(said[k], fits)
            k += 2 if counted else 1
        return fits

    def _by(self, selector: str, fits: list[_Fit], *, nth: int | None = None) -> list[_Fit]:
        if selector == "other":
            return self._other(fits)
        keys = {f.thing.id: self._key(selector, f.thing) for f in fits}
        ranked = sorted(fits, key=lambda f: keys[f.thing.id])
        if selector in ("middle", "center", "centre", "central"):
            return [ranked[len(ranked) // 2]] if len(ranked) % 2 else ranked
        if nth is None:
            nth = ORDINALS.index(word) if (word := selector.removesuffix("-right")) in ORDINALS else 0
        if nth >= len(ranked):
            return fits
        best = keys[ranked[nth].thing.id]
        same_m = _SAME_HEIGHT_M if selector in HEIGHTS else _SAME_M
        return [f for f in ranked if abs(keys[f.thing.id] - best) < same_m]

    def _key(self, selector: str, thing: Thing) -> float:
        """The number that the selector's choice has least of."""
        if selector.endswith("-right") or selector in ("right", "rightmost", "last"):
            return -lateral_m(self.state, thing.id)
        if selector in ("left", "leftmost", "middle", "center", "centre", "central") or selector in ORDINALS:
            return lateral_m(self.state, thing.id)
        x, y, _ = self.state.poses[thing.id][:3]
        away = math.hypot(x - self.state.body[0], y - self.state.body[1])
        if selector in ("nearest", "closest", "nearer", "closer", "near"):
            return away
        if selector in ("farthest", "furthest", "farther", "further", "far"):
            return -away
        box = thing_aabb(thing, self.state)
        if selector in HEIGHTS:
            middle = (box[2] + box[5]) / 2
            return -middle if selector in HIGH else middle
        hx, hy, hz = thing.bounds_half
        # sizes differ by less than the position tolerance, so they are compared in decimetres
        tall, volume = 20.0 * hz, 20.0 * math.pow(hx * hy * hz, 1.0 / 3.0)
        sizes = {"taller": -tall, "tallest": -tall, "shorter": tall, "shortest": tall}
        return sizes.get(selector, volume if selector in ("smaller", "smallest") else -volume)

    def _other(self, fits: list[_Fit]) -> list[_Fit]:
        """ "the other cup": of two, the one that was not handled last."""
        ids = [f.thing.id for f in fits]
        last = next((t for t in self.perception.recent if t in ids), None)
        return fits if last is None else [f for f in fits if f.thing.id != last]

    # ------------------------------------------------------------------ saying no

    def _explain_no_fit(self, words: tuple[str, ...]) -> None:
        if not self.sighted:
            seeing = _Search(self.state, self.perception, self.said, sighted=True)
            if any(w in COLOURS for w in words) or seeing._described(words):
                raise refuse(
                    "NO_VISION_REF",
                    f"I can't see, so '{self.said}' tells me nothing. Say what it feels like and where it is.",
                )
        for split in splits(words):
            if self._heads(split.head):
                hint = f"I know of no {' '.join(split.head)} there"
                raise refuse("UNKNOWN_TARGET", f"{hint}: '{self.said}' fits nothing.")
        raise refuse("UNKNOWN_TARGET", f"I know of nothing here called '{self.said}'.")


def _from_side(selectors: Sequence[str], side: str) -> tuple[str, ...]:
    """ "second ... from the right" counts from that side; otherwise the side selects after the others."""
    if selectors and selectors[-1] in ORDINALS and side in ("left", "right"):
        counted = selectors[-1] if side == "left" else f"{selectors[-1]}-right"
        return (*selectors[:-1], counted)
    return (*selectors, side)


def _gap_m(a: Aabb, b: Aabb) -> float:
    """Distance between two boxes."""
    gaps = [max(0.0, a[i] - b[i + 3], b[i] - a[i + 3]) for i in range(3)]
    return math.hypot(*gaps)
