"""What "it" and "that" stand for: what is held, and what was spoken of before."""

from __future__ import annotations

import re
from typing import Literal

from recorder.humans.words import is_container, is_document, noun_phrase, phrases_of

__all__ = ["PRONOUNS", "Referents", "Role"]

#: part that a name plays in an order; it decides what a pronoun may stand for
#: "spot" is where one went last, "container" what was opened last: without one, "there" and "inside" mean nothing
#: "document" is what has pages
Role = Literal["held", "thing", "target", "opened", "switched", "place", "spot", "container", "document"]

PRONOUNS = frozenset(
    phrases_of(
        """
    it; them; that; this; those; these; thing; object; item; one; that one; this one; the one; the thing; the object;
    the item; that thing; that object; that item; this thing; all of it; the lot; yours; what; whatever;
    what you are holding; what you're holding; what you hold; what you have; whatever you are holding; thing in hand;
    what is in hand; what's in hand; thing you are holding; object you are holding
    """
    )
)

_ONE = re.compile(r"\bones?$")
_RELATION = re.compile(r" (?:on|in|inside|under|by|near|next to|beside|from|of|with|behind) ")


class Referents:
    """Memory of one utterance and of those before it. Changed as orders are understood, one after the other."""

    def __init__(self, holding: str = "") -> None:
        self.holding = holding
        self._things: list[str] = []
        self._places: list[str] = []
        self._opened: list[str] = []
        self._switched: list[str] = []
        self._spots: list[str] = []

    def forget_hand(self, holding: str) -> None:
        """Sets what is held, keeping what was spoken of."""
        self.holding = holding

    def resolve(self, words: str, role: Role) -> str | None:
        """The name that the words give in that role; None when a pronoun stands for nothing known, "" for no words."""
        raw = words.strip(" ,.")
        if role == "spot":
            return self._spots[-1] if self._spots else None
        if role == "container":
            return next((s for s in reversed(self._spots) if s in self._opened or is_container(s)), None)
        name = noun_phrase(raw)
        if raw in PRONOUNS or name in PRONOUNS or (not name and raw):
            return self._pronoun(role)
        if _ONE.search(name) and self._things:
            kind = _RELATION.split(f"{self._things[-1]} ")[0].split()[-1]
            name = _ONE.sub(kind, name)
        return name

    def _pronoun(self, role: Role) -> str | None:
        spoken = [t for t in (*self._places[-1:], *self._things) if t != self.holding]
        last = spoken[-1] if spoken else None
        held = self.holding or None
        if role == "held":
            return held or last
        if role == "thing":
            return held or (self._things[-1] if self._things else last)
        if role == "document":
            spoken_of = (held or "", *reversed(self._opened), *reversed(self._things))
            return next((t for t in spoken_of if is_document(t)), held or (self._things[-1] if self._things else None))
        if role == "opened" and self._opened:
            return self._opened[-1]
        if role == "switched" and self._switched:
            return self._switched[-1]
        if role in ("opened", "switched"):
            return self._things[-1] if self._things else (held or last)
        return last or held

    def mention(self, name: str, role: Role) -> None:
        """Remembers a name that was used in an order."""
        (self._places if role in ("place", "spot") else self._things).append(name)
        if role == "place":
            self._spots.append(name)

    def carried_out(self, verb: str, first: str = "", second: str = "") -> None:
        """Follows what an order does to the hand and to doors and switches, as far as later words may depend on it."""
        if verb in ("Grab", "TakeOff"):
            self.holding = first
        elif verb in ("PutOn", "PutIn", "Drop", "Discard", "Wear"):
            self.holding = ""
            if verb == "PutIn":
                # what takes something in is open: "put it in the drawer and close it"
                self._opened.append(second)
        elif verb in ("Walk", "Run", "Sit"):
            self._spots.append(first)
        elif verb == "Open":
            self._opened.append(first)
            self._spots.append(first)
        elif verb in ("SwitchOn", "Start", "Press"):
            self._switched.append(first)
