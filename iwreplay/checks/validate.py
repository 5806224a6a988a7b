"""Is a formula acceptable for a scene? Every refusal is a CheckError with task, check and the path to the spot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from iwreplay.checks.attributes import ID_ATTRIBUTES, comparison_problem, type_of, value_problem, why_not
from iwreplay.checks.index import SceneIndex
from iwreplay.checks.language import (
    BIND_FIELDS,
    COMPARISONS,
    FUTURE,
    MAX_DEPTH,
    OPERATORS,
    PICKS,
    SELECTORS,
)
from iwreplay.checks.scope import Domain, domain_of
from iwreplay.checks.validate_event import event_problem
from iwreplay.checks.validate_place import FROM_WEARER, place_problem
from iwreplay.errors import CheckError
from iwreplay.vocabulary import RELATIONS, WEARER

__all__ = ["Validator"]

Path = tuple[int, ...]
Env = Mapping[str, Domain]


class Validator:
    """Walks one formula. After it: does it look ahead, and which things does it name."""

    def __init__(
        self, *, task: str, check: str, index: SceneIndex, scripts: tuple[str, ...] | None, live: bool
    ) -> None:
        self._task, self._check, self._index, self._scripts, self._live = task, check, index, scripts, live
        self.looks_ahead = False
        self.things: dict[str, None] = {}

    def fail(self, message: str, path: Path) -> NoReturn:
        raise CheckError(message, task=self._task, check=self._check, path=path)

    # -- formulas ----------------------------------------------------------------------------------------------

    def formula(self, f: Any, path: Path, env: Env) -> None:
        """Raises CheckError unless `f` is a formula whose free variables are in `env`."""
        op = self._operator(f, path, OPERATORS, "operator")
        if op in FUTURE:
            if self._live:
                self.fail(f"{op!r} looks ahead, and a trigger must be decided from what has happened so far", path)
            self.looks_ahead = True
        if op in ("and", "or", "not", "implies", "once", "hist", "prev", "since", "at_last", *FUTURE, "gate"):
            for i in range(1, len(f)):
                self.formula(f[i], (*path, i), env)
        elif op in ("held", "baseline", "never_moved"):
            self._thing_with(f[1], (*path, 1), env, "grab" if op == "held" else None)
        elif op == "attr":
            self._attr(f, path, env)
        elif op == "rel":
            self._rel(f, path, env)
        elif op == "event":
            self._event(f[1], (*path, 1), env)
        elif op in ("all", "exists"):
            self.selector(f[2], (*path, 2), env)
            domain = domain_of(f[2], index=self._index, env=env)
            self.formula(f[3], (*path, 3), self._bound(f[1], (*path, 1), env, domain))
        elif op == "bind":
            self._bind(f, path, env)
        elif op in ("count", "bag", "sum", "assign"):
            self._aggregate(op, f, path, env)
        elif op in ("clock", "route_length"):
            self._comparison(f[1], (*path, 1), number=True)
            self._number(f[2], (*path, 2), least=0.0)

    def _attr(self, f: Any, path: Path, env: Env) -> None:
        domain = self._thing(f[1], (*path, 1), env, wearer=True)
        cmp = f[4] if len(f) > 4 else "=="
        if len(f) > 4:
            self._comparison(cmp, (*path, 4), number=False)
        able = self._able(domain, f[2], (*path, 2))
        value = f[3]
        if f[2] in ID_ATTRIBUTES and isinstance(value, str) and value in env:
            return
        type_name = type_of(self._index, able, f[2])
        problem = comparison_problem(f[2], type_name, cmp)
        if problem is not None:
            self.fail(problem, (*path, 4))
        problem = value_problem(self._index, attr=f[2], type_name=type_name, value=value, cmp=cmp)
        if problem is not None:
            self.fail(problem, (*path, 3))

    def _able(self, domain: Domain, attr: Any, path: Path) -> str:
        """A thing of the domain that can have the attribute; all must when the author named them."""
        if not isinstance(attr, str):
            self.fail(f"an attribute is a name, not {attr!r}", path)
        reasons = [why_not(self._index, t, attr) for t in domain.ids]
        bad = [r for r in reasons if r is not None]
        if bad and (domain.strict or len(bad) == len(reasons)):
            self.fail(bad[0], path)
        able = [t for t, r in zip(domain.ids, reasons, strict=True) if r is None]
        if not able:
            self.fail(f"nothing can be selected here, so that nothing has {attr!r}", path)
        return able[0]

    def _rel(self, f: Any, path: Path, env: Env) -> None:
        domain = self._thing(f[2], (*path, 2), env, wearer=True)
        self._place(f[1], f[3], env, at=(*path, 1), path=(*path, 3))
        if domain.ids == (WEARER,) and f[1] not in FROM_WEARER:
            self.fail(f"the wearer is never {f[1]!r} something; ask for {', '.join(FROM_WEARER)}", (*path, 2))
        if f[2] == f[3]:
            self.fail(f"{f[2]!r} cannot be related to itself", (*path, 3))

    def _place(self, relation: Any, place: Any, env: Env, *, at: Path, path: Path) -> None:
        """`at` is the path of the relation, `path` that of the place."""
        if relation not in RELATIONS:
            self.fail(f"unknown relation {relation!r}; known: {', '.join(RELATIONS)}", at)
        if not isinstance(place, str) or not place:
            self.fail(f"a place is the name of a thing, a room, or thing.part, not {place!r}", path)
        owner, _, part = place.partition(".")
        owners = env[owner].ids if owner in env else (owner,)
        strict = env[owner].strict if owner in env else True
        problems = [place_problem(self._index, relation=relation, owner=o, part=part) for o in owners]
        bad = [p for p in problems if p is not None]
        if bad and (strict or len(bad) == len(problems)):
            self.fail(bad[0], path)
        self._named(owner, env)

    def _event(self, fields: Any, path: Path, env: Env) -> None:
        problem = event_problem(fields, scripts=self._scripts)
        if problem is not None:
            self.fail(problem, path)
        for field in BIND_FIELDS:
            wanted = fields.get(field)
            if wanted is None or wanted == "":
                continue
            if isinstance(wanted, str):
                if wanted not in self._index.rooms:
                    self._thing(wanted, path, env, wearer=True)
                continue
            self.selector(wanted, path, env)
            if any(op in ("where", "in") for op in _operators(wanted)):
                self.fail(
                    f"{field} of an event takes a thing or a selector of fixed membership (class, set, minus); "
                    'quantify outside: ["exists", "x", SEL, ["event", {..., "' + field + '": "x"}]]',
                    path,
                )

    def _bind(self, f: Any, path: Path, env: Env) -> None:
        event = f[2]
        if self._operator(event, (*path, 2), OPERATORS, "operator") != "event":
            self.fail('bind takes an event: ["event", {...}]', (*path, 2))
        self._event(event[1], (*path, 2, 1), env)
        if f[3] not in BIND_FIELDS:
            self.fail(f"bind takes the thing from {', '.join(BIND_FIELDS)}, not {f[3]!r}", (*path, 3))
        if f[4] not in PICKS:
            self.fail(f"bind picks {', '.join(PICKS)}, not {f[4]!r}", (*path, 4))
        wanted = event[1].get(f[3])
        if "script" in event[1] or "decision" in event[1] or "phase" in event[1] or wanted == "":
            self.fail(f"this event never names a thing in {f[3]!r}", (*path, 3))
        domain = self._bind_domain(wanted, f[3], env)
        self.formula(f[5], (*path, 5), self._bound(f[1], (*path, 1), env, domain))

    def _bind_domain(self, wanted: Any, field: str, env: Env) -> Domain:
        if isinstance(wanted, str):
            return env[wanted] if wanted in env else Domain((wanted,), True)
        if wanted is not None:
            return Domain(domain_of(wanted, index=self._index, env=env).ids, True)
        return Domain(self._index.movable if field == "tool" else tuple(self._index.things), False)

    def _aggregate(self, op: str, f: Any, path: Path, env: Env) -> None:
        if op == "assign":
            self._assign(f, path, env)
            return
        self.selector(f[1], (*path, 1), env)
        domain = domain_of(f[1], index=self._index, env=env)
        if op == "count":
            self._comparison(f[2], (*path, 2), number=True)
            n = f[3]
            if not isinstance(n, int) or isinstance(n, bool) or n < 0:
                self.fail(f"a count is compared with a whole number from 0 on, not {n!r}", (*path, 3))
            return
        able = self._able(domain, f[2], (*path, 2))
        if op == "bag":
            self._bag(f[2], able, f[3], (*path, 3))
            return
        if type_of(self._index, able, f[2]) != "number":
            self.fail(f"a sum needs numbers; {f[2]!r} is a {type_of(self._index, able, f[2])}", (*path, 2))
        self._comparison(f[3], (*path, 3), number=True)
        self._number(f[4], (*path, 4), least=-math.inf)

    def _assign(self, f: Any, path: Path, env: Env) -> None:
        cells, bags = f[1], f[3]
        if not isinstance(cells, list | tuple) or not cells:
            self.fail("assign takes a list of cells, each [relation, place]", (*path, 1))
        for i, cell in enumerate(cells):
            if not isinstance(cell, list | tuple) or len(cell) != 2:
                self.fail(f"a cell is [relation, place], not {cell!r}", (*path, 1, i))
            self._place(cell[0], cell[1], env, at=(*path, 1, i, 0), path=(*path, 1, i, 1))
        if len({tuple(c) for c in cells}) != len(cells):
            self.fail("the same cell is listed twice", (*path, 1))
        able = self._able(Domain(self._index.movable, False), f[2], (*path, 2))
        if not isinstance(bags, list | tuple) or len(bags) != len(cells):
            self.fail(f"{len(cells)} cells need a list of as many bags", (*path, 3))
        for i, bag in enumerate(bags):
            self._bag(f[2], able, bag, (*path, 3, i))

    def _bag(self, attr: str, able: str, values: Any, path: Path) -> None:
        if not isinstance(values, list | tuple):
            self.fail(f"a bag is a list of values, not {values!r}", path)
        type_name = type_of(self._index, able, attr)
        if type_name == "dict":
            self.fail(f'{attr!r} is a table; take one liquid of it with "contains:<liquid>"', path)
        for i, value in enumerate(values):
            problem = value_problem(self._index, attr=attr, type_name=type_name, value=value, cmp="==")
            if problem is not None:
                self.fail(problem, (*path, i))

    # -- selectors ---------------------------------------------------------------------------------------------

    def selector(self, s: Any, path: Path, env: Env) -> None:
        """Raises CheckError unless `s` is a selector."""
        op = self._operator(s, path, SELECTORS, "selector")
        if op == "class":
            if not isinstance(s[1], str) or s[1] not in self._index.classes:
                known = ", ".join(sorted(self._index.classes))
                self.fail(f"the scene has no thing of class {s[1]!r}; its classes: {known}", (*path, 1))
            self.things.update(dict.fromkeys(self._index.classes[s[1]]))
        elif op == "set":
            for i in range(1, len(s)):
                self._thing(s[i], (*path, i), env, wearer=False)
        elif op == "minus":
            self.selector(s[1], (*path, 1), env)
            self.selector(s[2], (*path, 2), env)
            if not domain_of(s, index=self._index, env=env).ids:
                self.fail("nothing is left to select", path)
        elif op == "where":
            self.selector(s[1], (*path, 1), env)
            domain = domain_of(s[1], index=self._index, env=env)
            self.formula(s[3], (*path, 3), self._bound(s[2], (*path, 2), env, domain))
        else:
            self._place(s[1], s[2], env, at=(*path, 1), path=(*path, 2))

    # -- names -------------------------------------------------------------------------------------------------

    def _operator(self, f: Any, path: Path, table: Mapping[str, tuple[int, int | None]], what: str) -> str:
        if len(path) > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH}", path)
        if not isinstance(f, list | tuple) or not f or not isinstance(f[0], str):
            self.fail(f"expected an array whose first item names the {what}, got {f!r}", path)
        op: str = f[0]
        if op not in table:
            self.fail(f"unknown {what} {op!r}; known: {', '.join(table)}", (*path, 0))
        least, most = table[op]
        if len(f) - 1 < least or (most is not None and len(f) - 1 > most):
            wanted = str(least) if most == least else f"{least} to {most}" if most is not None else f"at least {least}"
            self.fail(f"{op!r} takes {wanted} arguments, not {len(f) - 1}", path)
        return op

    def _bound(self, name: Any, path: Path, env: Env, domain: Domain) -> dict[str, Domain]:
        """`env` with one more variable."""
        if not isinstance(name, str) or not name.isidentifier():
            self.fail(f"a variable is a word, not {name!r}", path)
        if name in env:
            self.fail(f"variable {name!r} is already bound further out", path)
        if name in self._index.things or name in self._index.rooms or name == WEARER:
            self.fail(f"{name!r} names something of the scene; a variable needs a name of its own", path)
        return {**env, name: domain}

    def _thing(self, o: Any, path: Path, env: Env, *, wearer: bool) -> Domain:
        known = isinstance(o, str) and (o in env or o in self._index.things or (wearer and o == WEARER))
        if not known:
            near = f"; bound variables: {', '.join(env)}" if env else ""
            self.fail(f"the scene has no thing {o!r}, and it is no bound variable{near}", path)
        self._named(o, env)
        return env[o] if o in env else Domain((o,), True)

    def _thing_with(self, o: Any, path: Path, env: Env, affordance: str | None) -> None:
        domain = self._thing(o, path, env, wearer=False)
        if affordance is None:
            return
        bad = [t for t in domain.ids if affordance not in self._index.things[t].affordances]
        if bad and (domain.strict or len(bad) == len(domain.ids)):
            self.fail(f"{bad[0]} (class {self._index.things[bad[0]].cls}) can never be held", path)

    def _named(self, name: str, env: Env) -> None:
        ids = env[name].ids if name in env and env[name].strict else (name,)
        self.things.update(dict.fromkeys(i for i in ids if i in self._index.things))

    def _comparison(self, cmp: Any, path: Path, *, number: bool) -> None:
        known = tuple(c for c in COMPARISONS if c != "has") if number else COMPARISONS
        if cmp not in known:
            self.fail(f"unknown comparison {cmp!r}; known: {' '.join(known)}", path)

    def _number(self, value: Any, path: Path, *, least: float) -> None:
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < least:
            self.fail(f"expected a finite number{' from 0 on' if least == 0.0 else ''}, not {value!r}", path)


def _operators(selector: Any) -> tuple[str, ...]:
    if selector[0] == "minus":
        return (*_operators(selector[1]), *_operators(selector[2]))
    return (selector[0],)
