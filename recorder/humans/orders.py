"""What a sentence pattern is, and what is made of it."""

# ruff: noqa: E501 - a sentence pattern is read as one line

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from recorder.humans.referents import Role
from recorder.humans.words import QUANTITY, noun_phrase

__all__ = [
    "LIQUIDS",
    "MACROS",
    "Ask",
    "Build",
    "Made",
    "Order",
    "Rule",
    "ask",
    "forward",
    "pair",
    "put",
    "rule",
    "scanned",
    "timed",
    "to",
    "turned",
    "waited",
    "washed",
]


class Order(msgspec.Struct, frozen=True):
    """One command to be: a surface verb, named things with their role, numbers as they are."""

    verb: str
    #: (words, role) of each named argument
    names: tuple[tuple[str, Role], ...] = ()
    number: float | None = None


class Ask(msgspec.Struct, frozen=True):
    """A question back instead of a command."""

    question: str


Made = tuple[Order, ...] | Ask
Build = Callable[[dict[str, str]], Made]


class Rule(msgspec.Struct, frozen=True):
    """A pattern and what is made of its groups (those that did not take part are left out)."""

    pattern: re.Pattern[str]
    build: Build


#: what stands for a part of a pattern
MACROS = {
    "{x}": r"(?P<x>.+?)",
    "{y}": r"(?P<y>.+?)",
    "{dist}": QUANTITY.format(name="dist", tag="m"),
    "{angle}": QUANTITY.format(name="angle", tag="deg"),
    "{time}": QUANTITY.format(name="time", tag="s"),
    "{with}": r"(?: (?:with|using) .+)?",
    "{on}": r"(?:back |down |up |over |right |flat )*(?:on top of|onto|on to|on)",
    "{in}": r"(?:back |down |away |over |right )*(?:inside of|inside|into|in to|in)",
    "{bit}": r"(?:a (?:little )?bit|a little|slightly)",
}


def rule(pattern: str, build: Build) -> Rule:
    """A rule of a pattern with macros."""
    for macro, regex in MACROS.items():
        pattern = pattern.replace(macro, regex)
    return Rule(re.compile(pattern), build)


#: what a vessel may hold, and what is left in it
LIQUIDS = r"(?:some |all (?:of )?|the |any |remaining |rest of the )*(?:(?:half|some|all|a (?:little|bit)|the rest) of it|rest|contents?|water|milk|juice|[a-z]+ juice|oil|tea|coffee|soup|batter|wine|vodka|vinegar|liquid|drink|sauce|bleach|cleaner|lemonade|soda)"


def to(verb: str, role: Role) -> Build:
    """One command about {x}."""
    return lambda g: (Order(verb, ((g["x"], role),)),)


def pair(verb: str, first: Role, second: Role = "place") -> Build:
    """One command about {x} and {y}."""
    return lambda g: (Order(verb, ((g["x"], first), (g["y"], second))),)


def ask(question: str) -> Build:
    """A question back."""
    return lambda g: Ask(question.format(**g))


def forward(sign: float) -> Build:
    """Some steps along the way one faces; backwards when `sign` is negative."""

    def build(g: dict[str, str]) -> Made:
        if "dist" in g:
            return (Order("Forward", number=sign * float(g["dist"])),)
        if "bit" in g:
            return (Order("Forward", number=sign * 0.3),)
        return (Order("Forward", number=None if sign > 0 else -0.5),)

    return build


def turned(g: dict[str, str]) -> Made:
    """A turn to one side, by an angle if one was said."""
    verb = "TurnLeft" if g["side"] == "left" else "TurnRight"
    number = float(g["angle"]) if "angle" in g else 30.0 if "bit" in g else None
    return (Order(verb, number=number),)


def timed(verb: str, role: Role) -> Build:
    """One command about {x}, for as long as was said."""
    return lambda g: (Order(verb, ((g["x"], role),), float(g["time"]) if "time" in g else None),)


def waited(g: dict[str, str]) -> Made:
    """A pause, as long as was said."""
    return (Order("Wait", number=float(g["time"]) if "time" in g else None),)


def scanned(g: dict[str, str]) -> Made:
    """A look around."""
    return (Order("Scan", number=float(g["angle"]) if "angle" in g else None),)


def washed(verb: str, g: dict[str, str]) -> Made:
    """Washing {x}, at {y} if one was said."""
    names: tuple[tuple[str, Role], ...] = ((g["x"], "thing"),)
    if noun_phrase(g.get("y", "")) not in ("", "running water", "water"):
        names = (*names, (g["y"], "place"))
    return (Order(verb, names),)


def put(g: dict[str, str]) -> Made:
    """Putting {x} on or in {y}, as the preposition in group prep says."""
    prep = g["prep"].split()[-1]
    inside = prep in ("in", "into", "inside") or g["prep"].endswith(("in to", "inside of"))
    return (Order("PutIn" if inside else "PutOn", ((g["x"], "held"), (g["y"], "place"))),)
