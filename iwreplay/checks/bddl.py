"""BDDL, the language of BEHAVIOR's activity definitions: its state fragment to and from the check language.

Both ways: and, or, not, imply, forall, exists, and the predicates below. Other operators (forn, forpairs, fornpairs)
and predicates are refused by name, as is every check with time, events or multisets in it.

Names: an instance "mug.n.04_1" is the thing "mug_1", a category "mug.n.04" the class "mug", "agent.n.01_1" the
wearer. `names` overrides that (BDDL name -> ours), and gives the way back: without it our own names are written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from iwreplay.checks.sexpr import SExpr, parse_sexpr, write_sexpr
from iwreplay.errors import CheckError
from iwreplay.taskpack.model import Formula, Objective
from iwreplay.vocabulary import WEARER

__all__ = ["BddlActivity", "activity_from_bddl", "activity_to_bddl", "formula_from_bddl", "formula_to_bddl"]

#: BDDL unary predicate -> (attribute, value); the first of several with the same right side is the one written
_UNARY: dict[str, tuple[str, Any]] = {
    "open": ("open", True),
    "toggled_on": ("on", True),
    "cooked": ("cooked", "cooked"),
    "burnt": ("cooked", "burnt"),
    "sliced": ("cut", True),
    "soaked": ("soaked", True),
    "stained": ("clean", False),
    "dusty": ("clean", False),
    "broken": ("broken", True),
    "hot": ("hot", True),
}
#: BDDL binary predicate -> relation; the first of several with the same right side is the one written
_BINARY: dict[str, str] = {
    "ontop": "ontop",
    "onfloor": "ontop",
    "inside": "inside",
    "under": "under",
    "touching": "touching",
    "attached": "attached",
    "nextto": "near",
    "inroom": "in_room",
}
_CONNECTIVES: dict[str, str] = {"and": "and", "or": "or", "not": "not", "imply": "implies"}
_QUANTIFIERS: dict[str, str] = {"forall": "all", "exists": "exists"}
_SYNSET = re.compile(r"^(?P<lemma>.+?)\.[nvars]\.\d+(?P<number>_\d+)?$")
_AGENT = "agent.n.01_1"


class BddlActivity(msgspec.Struct, frozen=True, kw_only=True):
    """An activity definition in our terms."""

    name: str
    domain: str
    #: thing id -> class, in the order of declaration
    objects: dict[str, str]
    #: what holds at the start, one atomic formula each
    init: tuple[Formula, ...]
    #: the conjuncts of the goal
    goal: tuple[Formula, ...]

    def objectives(self) -> tuple[Objective, ...]:
        """The goal as objectives of a task."""
        return tuple(
            Objective(id=f"goal_{i}", text=formula_to_bddl(f), formula=f) for i, f in enumerate(self.goal, start=1)
        )


def activity_from_bddl(text: str, *, names: Mapping[str, str] | None = None) -> BddlActivity:
    """Reads a `(define (problem ...) ...)`. CheckError for what is malformed or outside the fragment."""
    tree = parse_sexpr(text)
    if not isinstance(tree, list) or not tree or tree[0] != "define":
        raise CheckError("an activity definition starts with (define (problem ...))")
    sections: dict[str, list[SExpr]] = {}
    for part in tree[1:]:
        if not isinstance(part, list) or not part or not isinstance(part[0], str):
            raise CheckError(f"expected a section such as (:goal ...), got {write_sexpr(part)}")
        sections[part[0]] = part[1:]
    missing = [s for s in ("problem", ":objects", ":goal") if not sections.get(s)]
    if missing:
        raise CheckError(f"the activity definition has no {missing[0]} section")
    reader = _Reader(names or {})
    objects = reader.objects(sections[":objects"])
    init = tuple(reader.formula(f, {}) for f in sections.get(":init", []))
    goal = reader.formula(sections[":goal"][0], {})
    return BddlActivity(
        name=str(sections["problem"][0]),
        domain=str((sections.get(":domain") or [""])[0]),
        objects=objects,
        init=init,
        goal=tuple(goal[1:]) if goal[0] == "and" else (goal,),
    )


def formula_from_bddl(text: str, *, names: Mapping[str, str] | None = None) -> Formula:
    """Reads one formula; what no quantifier binds is a thing."""
    return _Reader(names or {}).formula(parse_sexpr(text), {})


def activity_to_bddl(activity: BddlActivity, *, names: Mapping[str, str] | None = None) -> str:
    """Writes an activity definition. CheckError for a formula outside the fragment."""
    writer = _Writer(names or {})
    goal: SExpr = ["and", *[writer.formula(f, ()) for f in activity.goal]]
    tree: SExpr = [
        "define",
        ["problem", activity.name],
        [":domain", activity.domain],
        [":objects", *[x for o, c in activity.objects.items() for x in (writer.name(o), "-", writer.name(c))]],
        [":init", *[writer.formula(f, ()) for f in activity.init]],
        [":goal", goal],
    ]
    return write_sexpr(tree)


def formula_to_bddl(formula: Formula, *, names: Mapping[str, str] | None = None) -> str:
    """Writes one formula of the state fragment. CheckError when BDDL cannot say it."""
    return write_sexpr(_Writer(names or {}).formula(formula, ()))


class _Reader:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def objects(self, items: list[SExpr]) -> dict[str, str]:
        """`a b - category c - category` ..."""
        out: dict[str, str] = {}
        waiting: list[str] = []
        words = [w for w in items if isinstance(w, str)]
        i = 0
        while i < len(words):
            if words[i] == "-":
                if i + 1 >= len(words):
                    raise CheckError(":objects ends with '-' where a category should follow")
                out.update({self.name(o): self.name(words[i + 1]) for o in waiting})
                waiting, i = [], i + 2
            else:
                waiting.append(words[i])
                i += 1
        if waiting:
            raise CheckError(f"object {waiting[0]!r} has no category")
        return out

    def name(self, word: str) -> str:
        word = word.removeprefix("?")
        if word in self._names:
            return self._names[word]
        if word == _AGENT:
            return WEARER
        found = _SYNSET.match(word)
        plain = f"{found['lemma']}{found['number'] or ''}" if found else word
        return plain.replace("__", "_").replace(".", "_")

    def formula(self, tree: SExpr, bound: Mapping[str, str]) -> Formula:
        if not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
            raise CheckError(f"expected (predicate ...), got {write_sexpr(tree)}")
        op = tree[0]
        if op in _CONNECTIVES:
            return [_CONNECTIVES[op], *[self.formula(t, bound) for t in tree[1:]]]
        if op in _QUANTIFIERS:
            return self._quantifier(tree, bound)
        if any(not isinstance(t, str) for t in tree[1:]):
            raise CheckError(f"BDDL operator {op!r} has no counterpart here; see `count`, `assign` and `all`")
        args = [bound.get(str(t)) or self.name(str(t)) for t in tree[1:]]
        if len(args) == 1 and op in _UNARY:
            return ["attr", args[0], *_UNARY[op]]
        if len(args) == 2 and op in _BINARY:
            return ["rel", _BINARY[op], *args]
        if op == "contains" and len(args) == 2:
            return ["attr", args[0], "contains", args[1], "has"]
        if op == "grasped" and len(args) == 2 and args[0] == WEARER:
            return ["held", args[1]]
        known = ", ".join((*_UNARY, *_BINARY, "contains", "grasped"))
        raise CheckError(f"BDDL predicate {write_sexpr(tree)} has no counterpart here; known: {known}")

    def _quantifier(self, tree: list[SExpr], bound: Mapping[str, str]) -> Formula:
        head = tree[1] if len(tree) == 3 else None
        if not isinstance(head, list) or len(head) != 3 or head[1] != "-" or not str(head[0]).startswith("?"):
            raise CheckError(f"expected ({tree[0]} (?x - category) formula), got {write_sexpr(tree)}")
        variable = re.sub(r"\W", "_", str(head[0]).removeprefix("?"))
        body = self.formula(tree[2], {**bound, str(head[0]): variable})
        return [_QUANTIFIERS[str(tree[0])], variable, ["class", self.name(str(head[2]))], body]


class _Writer:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = {ours: theirs for theirs, ours in names.items()}
        self._attrs: dict[tuple[str, Any], str] = {}
        for predicate, pair in _UNARY.items():
            self._attrs.setdefault(pair, predicate)
        self._relations: dict[str, str] = {}
        for predicate, relation in _BINARY.items():
            self._relations.setdefault(relation, predicate)

    def name(self, ours: str) -> str:
        return self._names.get(ours, _AGENT if ours == WEARER else ours)

    def _arg(self, ours: str, bound: tuple[str, ...]) -> str:
        return f"?{ours}" if ours in bound else self.name(ours)

    def formula(self, f: Any, bound: tuple[str, ...]) -> SExpr:
        op = f[0]
        for theirs, own in _CONNECTIVES.items():
            if op == own:
                return [theirs, *[self.formula(x, bound) for x in f[1:]]]
        for theirs, own in _QUANTIFIERS.items():
            if op == own and f[2][0] == "class":
                return [theirs, [f"?{f[1]}", "-", self.name(f[2][1])], self.formula(f[3], (*bound, f[1]))]
        if op == "rel" and f[1] in self._relations and "." not in f[3]:
            return [self._relations[f[1]], self._arg(f[2], bound), self._arg(f[3], bound)]
        if op == "held":
            return ["grasped", self.name(WEARER), self._arg(f[1], bound)]
        if op == "attr":
            return self._attr(f, bound)
        raise CheckError(f"BDDL cannot say {f!r}")

    def _attr(self, f: Any, bound: tuple[str, ...]) -> SExpr:
        thing, attr, value = self._arg(f[1], bound), f[2], f[3]
        cmp = f[4] if len(f) > 4 else "=="
        if attr == "contains" and cmp == "has":
            return ["contains", thing, self.name(value)]
        if cmp == "!=":
            return ["not", self._attr(["attr", f[1], attr, value], bound)]
        if cmp == "==":
            if attr == "cooked" and value == "raw":
                return ["and", ["not", ["cooked", thing]], ["not", ["burnt", thing]]]
            if not isinstance(value, dict) and (attr, value) in self._attrs:
                return [self._attrs[(attr, value)], thing]
            if isinstance(value, bool) and (attr, not value) in self._attrs:
                return ["not", [self._attrs[(attr, not value)], thing]]
        raise CheckError(f"BDDL cannot say {f!r}")
