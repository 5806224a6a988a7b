"""From a valid formula to nodes: variables become things, derived operators become what they stand for.

`gate` and `never_moved` are histories of live interaction: what the warmup does is nobody's choice, so it neither
triggers a gate nor moves a thing. `["gate", t, c]` is hist((live and t) -> prev c), `["never_moved", o]` is
hist(live -> (baseline o and not held o)).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iwreplay.checks.attributes import ID_ATTRIBUTES, constant_of, is_constant, type_of, why_not
from iwreplay.checks.graph import Graph, Node
from iwreplay.checks.index import SceneIndex
from iwreplay.checks.language import FUTURE, MAX_NODES
from iwreplay.checks.matching import EventSpec
from iwreplay.checks.operators import bag_key
from iwreplay.checks.scope import static_ids
from iwreplay.checks.watch import Watch
from iwreplay.errors import CheckError

__all__ = ["Grounding"]

Env = Mapping[str, str]


class Grounding:
    """Builds the nodes of valid formulas in one graph."""

    def __init__(self, graph: Graph, watch: Watch, index: SceneIndex) -> None:
        self._graph, self._watch, self._index = graph, watch, index
        #: (formula, values of the variables in it) -> node; the formula is kept so that its id stays its own
        self._done: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[Any, Node]] = {}
        self._words: dict[int, frozenset[str]] = {}

    def formula(self, f: Any, env: Env) -> Node:
        """The node of formula `f`; `env` maps its free variables to things."""
        bound: tuple[tuple[str, str], ...] = ()
        if env:
            words = self._words.get(id(f))
            if words is None:
                words = self._words[id(f)] = frozenset(_words(f))
            bound = tuple(sorted((v, t) for v, t in env.items() if v in words))
        key = (id(f), bound)
        found = self._done.get(key)
        if found is None:
            if len(self._done) >= MAX_NODES:
                raise CheckError(f"expands to more than {MAX_NODES} instances; use narrower selectors")
            found = self._done[key] = (f, self._build(f, env))
        return found[1]

    def _build(self, f: Any, env: Env) -> Node:
        op: str = f[0]
        g = self._graph
        if op == "true":
            return g.constant(True)
        if op in ("and", "or"):
            return g.node(op, [self.formula(x, env) for x in f[1:]])
        if op == "not":
            return self._not(self.formula(f[1], env))
        if op == "implies":
            return g.node("or", [self._not(self.formula(f[1], env)), self.formula(f[2], env)])
        if op in ("once", "hist", "prev", "since", "at_last", *FUTURE):
            return g.node(op, [self.formula(x, env) for x in f[1:]])
        if op in ("all", "exists"):
            return self._quantifier(op, f, env)
        if op == "gate":
            trigger = g.node("and", [self._watch.live, self.formula(f[1], env)])
            return g.node("hist", [g.node("or", [self._not(trigger), g.node("prev", [self.formula(f[2], env)])])])
        if op == "never_moved":
            still = g.node("and", [self._baseline(f[1], env), self._not(self._held(f[1], env))])
            return g.node("hist", [g.node("or", [self._not(self._watch.live), still])])
        if op == "bind":
            return self._bind(f, env)
        return self._atom(op, f, env)

    def _atom(self, op: str, f: Any, env: Env) -> Node:
        g = self._graph
        if op == "attr":
            return self._attr(f, env)
        if op == "rel":
            return self._rel(f[1], _thing(f[2], env), f[3], env)
        if op == "held":
            return self._held(f[1], env)
        if op == "baseline":
            return self._baseline(f[1], env)
        if op == "event":
            return self._watch.event(event_spec(f[1], index=self._index, env=env), None)
        if op == "count":
            return g.node("count", [m for _, m in self._members(f[1], env)], (f[2], f[3]))
        if op == "bag":
            return g.node("bag", self._pairs(f[1], f[2], env), _bag(f[3]))
        if op == "sum":
            return g.node("sum", self._pairs(f[1], f[2], env), (f[3], f[4]))
        if op == "assign":
            cells = [self._pairs(["in", relation, cell], f[2], env, cells=f[1]) for relation, cell in f[1]]
            wanted = tuple(sorted(_bag(b) for b in f[3]))
            return g.node("assign", [node for cell in cells for node in cell], (len(cells[0]), wanted))
        leaf = self._watch.clock() if op == "clock" else self._watch.route()
        return g.node("compare", [leaf], (f[1], f[2]))

    def throughout(self, node: Node) -> Node:
        """Held at every step of live interaction so far."""
        return self._graph.node("hist", [self._graph.node("or", [self._not(self._watch.live), node])])

    def once_live(self, node: Node) -> Node:
        """Held at some step of live interaction so far."""
        return self._graph.node("once", [self._graph.node("and", [self._watch.live, node])])

    def _not(self, node: Node) -> Node:
        return self._graph.node("not", [node])

    def _attr(self, f: Any, env: Env) -> Node:
        thing, attr, value = _thing(f[1], env), f[2], f[3]
        cmp = f[4] if len(f) > 4 else "=="
        if why_not(self._index, thing, attr) is not None:
            return self._graph.constant(False)
        if attr in ID_ATTRIBUTES:
            value = env.get(value, value)
        return self._graph.node("compare", [self._value(thing, attr)], (cmp, value))

    def _value(self, thing: str, attr: str) -> Node:
        """Leaf with the attribute's value; None for a thing that cannot have it."""
        index = self._index
        if why_not(index, thing, attr) is not None:
            return self._graph.leaf("nothing", None, None)
        if is_constant(index, attr):
            return self._graph.leaf("constant_attr", (thing, attr), constant_of(index, thing, attr))
        return self._watch.attr(thing, attr, type_of(index, thing, attr))

    def _held(self, o: str, env: Env) -> Node:
        thing = _thing(o, env)
        if "grab" not in self._index.things[thing].affordances:
            return self._graph.constant(False)
        return self._graph.node("compare", [self._value(thing, "held")], ("==", True))

    def _baseline(self, o: str, env: Env) -> Node:
        return self._watch.baseline(_thing(o, env))

    def _rel(self, relation: str, a: str, place: str, env: Env) -> Node:
        owner, dot, part = place.partition(".")
        b = env.get(owner, owner)
        if a == b:
            return self._graph.constant(False)
        return self._watch.rel(relation, a, f"{b}{dot}{part}")

    def _members(self, selector: Any, env: Env) -> list[tuple[str, Node]]:
        """(thing, whether it is selected) for everything that can be."""
        op, g = selector[0], self._graph
        if op == "class":
            return [(t, self._on_stage(t)) for t in self._index.classes[selector[1]]]
        if op == "set":
            return [(t, g.constant(True)) for t in dict.fromkeys(_thing(x, env) for x in selector[1:])]
        if op == "where":
            inner = self._members(selector[1], env)
            return [(t, g.node("and", [m, self.formula(selector[3], {**env, selector[2]: t})])) for t, m in inner]
        if op == "minus":
            taken = dict(self._members(selector[2], env))
            out = []
            for t, m in self._members(selector[1], env):
                node = g.node("and", [m, self._not(taken[t])]) if t in taken else m
                if not (node.role == "constant" and not node.value):
                    out.append((t, node))
            return out
        owner = env.get(selector[2].split(".", 1)[0], selector[2].split(".", 1)[0])
        return [(t, self._rel(selector[1], t, selector[2], env)) for t in self._index.movable if t != owner]

    def _on_stage(self, thing: str) -> Node:
        return self._graph.node("compare", [self._watch.attr(thing, "exists", "bool")], ("==", True))

    def _pairs(self, selector: Any, attr: str, env: Env, *, cells: Any = ()) -> list[Node]:
        """(selected, value) for everything that can be selected, flattened. The cells of an `assign` are left out of
        every one of its selections, so that all have the same width."""
        owners = {env.get(c[1].split(".", 1)[0], c[1].split(".", 1)[0]) for c in cells}
        pairs: list[Node] = []
        for thing, member in self._members(selector, env):
            if thing not in owners:
                pairs += (member, self._value(thing, attr))
        return pairs

    def _quantifier(self, op: str, f: Any, env: Env) -> Node:
        parts = []
        for thing, member in self._members(f[2], env):
            body = self.formula(f[3], {**env, f[1]: thing})
            if op == "all":
                parts.append(self._graph.node("or", [self._not(member), body]))
            else:
                parts.append(self._graph.node("and", [member, body]))
        return self._graph.node("and" if op == "all" else "or", parts)

    def _bind(self, f: Any, env: Env) -> Node:
        _, name, event, field, pick, body = f
        ids = bind_ids(event[1], field, index=self._index, env=env)
        spec = event_spec(event[1], index=self._index, env=env, narrowed={field: frozenset(ids)})
        bound = self._graph.node(f"bound_{pick}", [self._watch.event(spec, field)])
        bodies = [self.formula(body, {**env, name: t}) for t in ids]
        positions = {t: i for i, t in enumerate(ids)}
        return self._graph.node("select_any" if pick == "any" else "select", [bound, *bodies], positions)


def bind_ids(fields: Any, field: str, *, index: SceneIndex, env: Env) -> tuple[str, ...]:
    """Things that the event's `field` can hold: what the event formula asks for there, else any thing (a tool can be
    moved)."""
    wanted = fields.get(field)
    if isinstance(wanted, str):
        return (env.get(wanted, wanted),)
    if wanted is not None:
        return static_ids(wanted, index=index, env=env)
    return index.movable if field == "tool" else tuple(index.things)


def event_spec(
    fields: Any, *, index: SceneIndex, env: Env, narrowed: Mapping[str, frozenset[str]] | None = None
) -> EventSpec:
    """The matcher of a valid event formula whose variables are bound to things. `narrowed` overrides fields."""

    def ids(field: str) -> frozenset[str] | None:
        if narrowed is not None and field in narrowed:
            return narrowed[field]
        wanted = fields.get(field)
        if wanted is None:
            return None
        if isinstance(wanted, str):
            return frozenset((env.get(wanted, wanted),))
        return frozenset(static_ids(wanted, index=index, env=env))

    if "verb" in fields:
        code = fields.get("code")
        ok = fields.get("ok", True if code is None else None)
        return EventSpec(
            key=("verb", fields["verb"]), obj=ids("obj"), dest=ids("dest"), tool=ids("tool"), code=code, ok=ok
        )
    detail = tuple(
        (k, v[0], v[1]) if isinstance(v, list | tuple) else (k, "==", v) for k, v in fields.get("detail", {}).items()
    )
    words = [fields[k] for k in ("script", "decision", "phase") if k in fields]
    return EventSpec(
        key=("kind", fields["kind"]),
        obj=ids("obj"),
        dest=ids("dest"),
        tool=ids("tool"),
        word=words[0] if words else None,
        detail=tuple(sorted(detail)),
    )


def _words(f: Any) -> list[str]:
    """Every text in a formula, also the first part of "x.top"."""
    if isinstance(f, str):
        return [f, f.split(".", 1)[0]]
    items = f.values() if isinstance(f, dict) else f if isinstance(f, list | tuple) else ()
    return [w for x in items for w in _words(x)]


def _thing(o: str, env: Env) -> str:
    return env.get(o, o)


def _bag(values: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(bag_key(v) for v in values))
