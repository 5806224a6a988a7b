"""Random formulas (all operators, every nesting) and random logs."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.checks.worlds import Story

MUGS = ("mug_1", "mug_2", "mug_3")
MOVABLE = (*MUGS, "sponge_1", "sponge_2", "box_1")
PLACES = (
    (0.1, 0.1, 0.8),
    (5.1, 0.2, 0.8),
    (5.2, 5.1, 0.1),
    (0.0, 5.0, 0.2),
    (0.105, 0.1, 0.8),
    (0.22, 0.1, 0.8),
    (0.16, 0.1, 0.8),
    (0.3, 0.1, 0.8),
)


def stories(rng: Random, *, most: int = 14) -> Story:
    """A log with a warmup, a baseline somewhere (usually), happenings, moves, deltas and idle events."""
    story = Story()
    story.warmup()
    live_at = rng.randint(0, most // 2)
    for i in range(rng.randint(most // 2, most)):
        if i == live_at:
            story.live()
        story.time_s += rng.choice((0.0, 0.5))
        _step(rng, story)
    if rng.random() < 0.5:
        story.end()
    return story


def _step(rng: Random, story: Story) -> None:
    kind = rng.choice(
        ("attr", "attr", "held", "move", "move", "verb", "verb", "touch", "pour", "frame", "snapshot", "say", "script")
    )
    t = rng.choice(MOVABLE)
    if kind == "attr":
        which = rng.choice(
            (("mug_1", "clean"), ("mug_2", "clean"), ("fridge_1", "open"), ("mug_3", "exists"), ("sponge_1", "used"))
        )
        story.set(*which, rng.random() < 0.5)
    elif kind == "held":
        story.set(t, "held", rng.random() < 0.5)
    elif kind == "move":
        story.move(t, *rng.choice(PLACES), yaw=rng.choice((0.0, 0.1, 1.0)))
    elif kind == "verb":
        story.do(
            rng.choice(("grab", "wipe")),
            obj=rng.choice((*MOVABLE, "table_1")),
            tool=rng.choice(("", "sponge_1", "sponge_2")),
            code=rng.choice(("OK", "OK", "CLOSED")),
            distance_m=rng.choice((0.0, 1.0)),
        )
    elif kind == "touch":
        story.touch(t, rng.choice(("note_1", "sponge_2")))
    elif kind == "pour":
        story.happen("pour", obj=rng.choice(MUGS), dest=rng.choice(MUGS), litres=rng.choice((0.1, 0.2)))
    elif kind == "frame":
        story.frame()
    elif kind == "snapshot":
        story.periodic()
    elif kind == "say":
        story.say(rng.choice(("go", None)))
    elif kind == "jump":
        story.jump(t, *rng.choice(PLACES))
    else:
        story.script("call")


def _event(rng: Random, env: tuple[str, ...], *, free: str = "") -> Any:
    """An event formula; the field `free` is left open, or narrowed by a selector."""
    obj = rng.choice((None, *MUGS, *env, ["class", "mug"], ["minus", ["class", "mug"], ["set", *MUGS[:1]]]))
    fields: dict[str, Any]
    kind = rng.randint(0, 3 if not free else 2)
    if kind == 0:
        fields = {"verb": rng.choice(("grab", "wipe"))}
        fields.update(rng.choice(({}, {}, {"ok": False}, {"code": "CLOSED"})))
    elif kind == 1:
        fields = {"kind": "pour"}
        fields.update(rng.choice(({}, {"detail": {"litres": [">", 0.15]}})))
    elif kind == 2:
        fields = {"kind": "contact"}
    else:
        fields = rng.choice(
            (
                {"kind": "scripted_event", "script": "call"},
                {"kind": "assistant_decision", "decision": "interrupt"},
                {"kind": "phase_changed", "phase": "closed_loop"},
            )
        )
        return ["event", dict(fields)]
    if obj is not None:
        fields["obj"] = obj
    if free == "tool" and fields.get("kind") == "contact":
        fields = {"kind": "pour"}
    return ["event", fields]


def _selector(rng: Random, env: tuple[str, ...], depth: int, *, future: bool) -> Any:
    kind = rng.randint(0, 4 if depth > 0 else 2)
    if kind == 0:
        return ["class", "mug"]
    if kind == 1:
        return ["set", *rng.sample((*MUGS, *env), rng.randint(1, 3))]
    if kind == 2:
        return [
            "in",
            *rng.choice((("ontop", "table_1"), ("ontop", "shelf_1.top"), ("inside", "box_1"), ("in_room", "hall"))),
        ]
    if kind == 3:
        name = f"w{len(env)}"
        return ["where", ["class", "mug"], name, formula(rng, (*env, name), depth - 1, future=future)]
    return ["minus", ["class", "mug"], ["set", rng.choice(("mug_1", *env))]]


def formula(rng: Random, env: tuple[str, ...] = (), depth: int = 3, *, future: bool = True) -> Any:
    """A formula whose free variables are in `env`."""
    things = (*MUGS, "sponge_1", *env)
    if depth <= 0:
        kind = rng.choice((0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 8, 8))
        o = rng.choice(things)
        if kind == 0:
            return ["attr", rng.choice(("mug_1", "mug_2")), "clean", rng.random() < 0.5]
        if kind == 1:
            return ["attr", "fridge_1", "open", True, rng.choice(("==", "!="))]
        if kind == 2:
            return [
                "rel",
                *rng.choice(
                    (
                        ("ontop", o, "table_1"),
                        ("ontop", o, "shelf_1.top"),
                        ("inside", o, "box_1"),
                        ("left_of", o, "mug_2"),
                        ("in_room", o, "hall"),
                    )
                ),
            ]
        if kind == 3:
            return ["held", o]
        if kind == 4:
            return ["baseline", o]
        if kind == 5:
            return ["clock", rng.choice(("<", ">=")), 1.0]
        if kind == 6:
            return ["route_length", rng.choice(("<=", ">")), 1.0]
        if kind == 7:
            return ["true"]
        return _event(rng, env)
    sub = lambda: formula(rng, env, depth - 1, future=future)  # noqa: E731
    ahead = ("ever", "always", "until") if future else ()
    op = rng.choice(
        (
            "and",
            "or",
            "not",
            "implies",
            "all",
            "exists",
            "count",
            "bag",
            "assign",
            "sum",
            "once",
            "hist",
            "prev",
            "since",
            "at_last",
            "gate",
            "never_moved",
            "bind",
            "bind",
            *ahead,
        )
    )
    if op in ("not", "once", "hist", "prev", "ever", "always"):
        return [op, sub()]
    if op in ("and", "or"):
        return [op, *[sub() for _ in range(rng.randint(1, 3))]]
    if op in ("implies", "since", "at_last", "until", "gate"):
        return [op, sub(), sub()]
    if op in ("all", "exists"):
        name = f"x{len(env)}"
        selector = _selector(rng, env, depth - 1, future=future)
        return [op, name, selector, formula(rng, (*env, name), depth - 1, future=future)]
    if op == "count":
        return ["count", _selector(rng, env, depth - 1, future=future), rng.choice(("==", "<", ">=")), 1]
    if op == "bag":
        bag = rng.choices((0.3, 0.5), k=rng.randint(0, 3))
        return ["bag", rng.choice((["class", "mug"], ["in", "ontop", "table_1"])), "size_l", bag]
    if op == "assign":
        bags = rng.sample([[], ["mug"], ["mug", "mug"], ["mug", "sponge"], ["sponge"]], 2)
        return ["assign", [["ontop", "table_1"], ["inside", "box_1"]], "class", bags]
    if op == "sum":
        return ["sum", ["in", "ontop", "table_1"], "size_l", rng.choice(("==", "<=", ">")), 0.6]
    if op == "never_moved":
        return ["never_moved", rng.choice((*MUGS, *env))]
    name, field = f"x{len(env)}", rng.choice(("obj", "dest", "tool"))
    body = formula(rng, (*env, name), depth - 1, future=future)
    return ["bind", name, _event(rng, env, free=field), field, rng.choice(("first", "last", "any")), body]


def formulas(rng: Random, *, depth: int = 3, future: bool = True) -> Any:
    return formula(rng, (), rng.randint(0, depth), future=future)
