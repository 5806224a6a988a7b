"""The semantics by the book: a recursive definition over stored states, slow and without any cleverness.

It shares no code with the evaluator but the comparison of two values.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

from iwreplay.checks.language import compare
from iwreplay.events import (
    AssistantDecision,
    Contact,
    Event,
    Happened,
    PhaseChanged,
    PrimitiveOutcome,
    ScriptedEvent,
    WorldSnapshot,
)
from iwreplay.world.state import WorldState
from tests.checks.worlds import holds, support_of

DEFAULTS = {"exists": True, "cooked": "raw", "clean": True, "contains": {}, "held": False, "open": False}


class Reference:
    """`value(formula)` at the last step of a log."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.states: list[WorldState] = []
        self.base: int | None = None
        state = WorldState(events[0].scene)  # type: ignore[attr-defined]
        for i, event in enumerate(events):
            state.apply(event)
            self.states.append(state.copy())
            if isinstance(event, WorldSnapshot) and event.reason == "baseline" and self.base is None:
                self.base = i
        self.scene = state.scene
        self.things = {t.id: t for t in state.scene.things}

    def value(self, f: Any) -> bool:
        return self.at(f, len(self.events) - 1, {})

    def at(self, f: Any, i: int, env: dict[str, str]) -> bool:
        op, a = f[0], f[1:]
        state = self.states[i]
        get = lambda o: env.get(o, o)  # noqa: E731
        live = self.base is not None and i >= self.base
        n = len(self.events)
        if op == "true":
            return True
        if op == "attr":
            value = a[2]
            if a[1] in ("plugged", "plated_on", "sitting", "held") and isinstance(value, str):
                value = get(value)
            return compare(self.attr(get(a[0]), a[1], i), a[3] if len(a) > 3 else "==", value)
        if op == "rel":
            owner, dot, part = a[2].partition(".")
            return get(a[1]) != get(owner) and holds(state, a[0], get(a[1]), get(owner) + dot + part)
        if op == "held":
            return self.attr(get(a[0]), "held", i) is True
        if op == "baseline":
            return not live or self.same(get(a[0]), i)
        if op == "event":
            return self.match(a[0], i, env, "obj") is not None
        if op == "and":
            return all(self.at(x, i, env) for x in a)
        if op == "or":
            return any(self.at(x, i, env) for x in a)
        if op == "not":
            return not self.at(a[0], i, env)
        if op == "implies":
            return not self.at(a[0], i, env) or self.at(a[1], i, env)
        if op == "all":
            return all(self.at(a[2], i, {**env, a[0]: t}) for t in self.select(a[1], i, env))
        if op == "exists":
            return any(self.at(a[2], i, {**env, a[0]: t}) for t in self.select(a[1], i, env))
        if op == "count":
            return compare(len(self.select(a[0], i, env)), a[1], a[2])
        if op == "bag":
            return self.bag(a[0], a[1], i, env) == Counter(a[2])
        if op == "assign":
            found = [self.bag(["in", *cell], a[1], i, env, skip=[get(c[1]) for c in a[0]]) for cell in a[0]]
            return any(list(map(Counter, p)) == found for p in itertools.permutations(a[2]))
        if op == "sum":
            values = [self.attr(t, a[1], i) for t in self.select(a[0], i, env)]
            return compare(math.fsum(v for v in values if isinstance(v, int | float)), a[2], a[3])
        if op == "once":
            return any(self.at(a[0], j, env) for j in range(i + 1))
        if op == "hist":
            return all(self.at(a[0], j, env) for j in range(i + 1))
        if op == "prev":
            return i > 0 and self.at(a[0], i - 1, env)
        if op == "since":
            return any(
                self.at(a[1], j, env) and all(self.at(a[0], k, env) for k in range(j + 1, i + 1)) for j in range(i + 1)
            )
        if op == "at_last":
            triggers = [j for j in range(i + 1) if self.at(a[0], j, env)]
            return bool(triggers) and self.at(a[1], triggers[-1], env)
        if op == "ever":
            return any(self.at(a[0], j, env) for j in range(i, n))
        if op == "always":
            return all(self.at(a[0], j, env) for j in range(i, n))
        if op == "until":
            return any(self.at(a[1], j, env) and all(self.at(a[0], k, env) for k in range(i, j)) for j in range(i, n))
        if op == "gate":
            return all(
                not (self.base is not None and j >= self.base and self.at(a[0], j, env))
                or (j > 0 and self.at(a[1], j - 1, env))
                for j in range(i + 1)
            )
        if op == "never_moved":
            return all(
                not (self.base is not None and j >= self.base)
                or (self.same(get(a[0]), j) and self.attr(get(a[0]), "held", j) is not True)
                for j in range(i + 1)
            )
        if op == "bind":
            name, event, field, pick, body = a
            found = [self.match(event[1], j, env, field) for j in range(i + 1)]
            bound = [x for x in found if x in self.things and not (field == "tool" and self.fixed_tool(event[1], x))]
            if pick == "any":
                return any(self.at(body, i, {**env, name: x}) for x in bound)
            return bool(bound) and self.at(body, i, {**env, name: bound[0 if pick == "first" else -1]})
        if op == "clock":
            begun = 0.0 if not live else state.sim_time_s - self.states[self.base or 0].sim_time_s
            return compare(begun, a[0], a[1])
        assert op == "route_length"
        walked = [
            e.distance_m
            for j, e in enumerate(self.events[: i + 1])
            if isinstance(e, PrimitiveOutcome) and self.base is not None and j >= self.base
        ]
        return compare(sum(walked), a[0], a[1])

    def fixed_tool(self, fields: dict[str, Any], x: str) -> bool:
        return "tool" not in fields and self.things[x].fixed

    def attr(self, t: str, attr: str, i: int) -> Any:
        thing = self.things.get(t)
        if attr == "class":
            return thing.cls if thing else None
        if thing is not None and attr in thing.props:
            return thing.props[attr]
        if attr == "size_l":
            return None
        if attr.startswith("contains:"):
            contents = self.states[i].attrs[t].get("contains") or {}
            return contents.get(attr.split(":", 1)[1], 0.0)  # type: ignore[union-attr]
        value = self.states[i].attrs[t].get(attr)
        return DEFAULTS.get(attr, False) if value is None else value

    def same(self, t: str, i: int) -> bool:
        assert self.base is not None
        before, now = self.states[self.base], self.states[i]
        p, q = before.poses[t], now.poses[t]
        turned = 2.0 * math.acos(min(1.0, abs(sum(x * y for x, y in zip(p[3:], q[3:], strict=True)))))
        keys = {*before.attrs[t], *now.attrs[t]} - {"parent", "powered", "load_a"}
        return (
            math.dist(p[:3], q[:3]) <= 0.02
            and turned <= math.radians(10.0)
            and all(before.attrs[t].get(k) == now.attrs[t].get(k) for k in keys)
            and support_of(before, t) == support_of(now, t)
        )

    def select(self, s: Any, i: int, env: dict[str, str]) -> list[str]:
        if s[0] == "class":
            return [t for t, x in self.things.items() if x.cls == s[1] and self.attr(t, "exists", i) is True]
        if s[0] == "set":
            return list(dict.fromkeys(env.get(x, x) for x in s[1:]))
        if s[0] == "where":
            return [t for t in self.select(s[1], i, env) if self.at(s[3], i, {**env, s[2]: t})]
        if s[0] == "minus":
            taken = self.select(s[2], i, env)
            return [t for t in self.select(s[1], i, env) if t not in taken]
        return [t for t, x in self.things.items() if not x.fixed and self.at(["rel", s[1], t, s[2]], i, env)]

    def bag(self, s: Any, attr: str, i: int, env: dict[str, str], *, skip: Any = ()) -> Counter[Any]:
        return Counter(self.attr(t, attr, i) for t in self.select(s, i, env) if t not in skip)

    def ids(self, wanted: Any, env: dict[str, str]) -> list[str]:
        if isinstance(wanted, str):
            return [env.get(wanted, wanted)]
        if wanted[0] == "class":
            return [t for t, x in self.things.items() if x.cls == wanted[1]]
        if wanted[0] == "set":
            return [env.get(x, x) for x in wanted[1:]]
        taken = self.ids(wanted[2], env)
        return [t for t in self.ids(wanted[1], env) if t not in taken]

    def match(self, fields: dict[str, Any], i: int, env: dict[str, str], field: str) -> str | None:
        event = self.events[i]
        if "verb" in fields:
            if not isinstance(event, PrimitiveOutcome) or event.primitive != fields["verb"]:
                return None
            if "code" in fields and event.code != fields["code"]:
                return None
            if ("ok" in fields or "code" not in fields) and event.ok is not fields.get("ok", True):
                return None
            return self.named(fields, {"obj": event.obj, "dest": event.dest, "tool": event.tool}, env, field)
        kind = fields["kind"]
        if isinstance(event, Happened) and event.what == kind:
            for key, wanted in fields.get("detail", {}).items():
                cmp, value = wanted if isinstance(wanted, list) else ("==", wanted)
                if key not in event.detail or not compare(event.detail[key], cmp, value):
                    return None
            return self.named(fields, {"obj": event.obj, "dest": event.dest, "tool": event.tool}, env, field)
        if isinstance(event, Contact) and kind == "contact":
            one = self.named(fields, {"obj": event.a, "dest": event.b}, env, field)
            return one if one is not None else self.named(fields, {"obj": event.b, "dest": event.a}, env, field)
        if isinstance(event, ScriptedEvent) and kind == "scripted_event":
            return "" if fields.get("script", event.script) == event.script else None
        if isinstance(event, AssistantDecision) and kind == "assistant_decision":
            return "" if fields.get("decision", event.decision) == event.decision else None
        if isinstance(event, PhaseChanged) and kind == "phase_changed":
            return "" if fields.get("phase", event.phase) == event.phase else None
        return None

    def named(self, fields: Any, found: dict[str, str], env: dict[str, str], field: str) -> str | None:
        for key, value in found.items():
            if key in fields and value not in self.ids(fields[key], env):
                return None
        return found.get(field, "")
