"""What is refused at load time, with task, check and path."""

from __future__ import annotations

from typing import Any

import pytest

from iwreplay.actions import table
from iwreplay.checks import Monitor, compile_check
from iwreplay.checks.language import MAX_DEPTH, PRIMITIVES
from iwreplay.errors import CheckError, LogError
from tests.checks.running import run
from tests.checks.worlds import TOY, Story, scene

EVENT: Any = ["event", {"verb": "grab"}]

CASES: list[tuple[Any, tuple[int, ...], str]] = [
    ("held", (), "expected an array"),
    ([], (), "expected an array"),
    (["and", ["frob"]], (1, 0), "unknown operator 'frob'"),
    (["not", ["true"], ["true"]], (), "takes 1 arguments, not 2"),
    (["and"], (), "takes at least 1"),
    (["attr", "mug_1", "clean"], (), "takes 3 to 4"),
    (["held", "mug_9"], (1,), "no thing 'mug_9'"),
    (["held", "x"], (1,), "no bound variable"),
    (["held", "fridge_1"], (1,), "can never be held"),
    (["held", "wearer"], (1,), "no thing 'wearer'"),
    (["not", ["attr", "mug_1", "cooked", "raw"]], (1, 2), "cannot have 'cooked': that needs cookable"),
    (["attr", "mug_1", "shiny", True], (2,), "no attribute 'shiny'"),
    (["attr", "sponge_1", "size_l", 0.3], (2,), "has no constant 'size_l'"),
    (["attr", "mug_1", "parent", "on:table_1"], (2,), "ask for the relation"),
    (["attr", "mug_1", "posture", "sit"], (2,), "attribute of the wearer"),
    (["attr", "wearer", "clean", True], (2,), "the wearer has no attribute"),
    (["attr", "mug_1", "text:front", "x"], (2,), "no face 'front'"),
    (["attr", "note_1", "text:back", "x"], (2,), "it has front"),
    (["attr", "sponge_1", "contains:milk", 0.1], (2,), "holds no liquid"),
    (["attr", "mug_1", "clean", "yes"], (3,), "takes a bool, not 'yes'"),
    (["attr", "mug_1", "clean", 1], (3,), "takes a bool"),
    (["attr", "mug_1", "size_l", True], (3,), "takes a number"),
    (["attr", "mug_1", "size_l", float("nan")], (3,), "takes a number"),
    (["attr", "dough_1", "cooked", "done"], (3,), "one of raw, cooked, burnt"),
    (["attr", "wearer", "room", "attic"], (3,), "no room 'attic'"),
    (["attr", "wearer", "sitting", "sofa_1"], (3,), "no thing 'sofa_1'"),
    (["attr", "mug_1", "contains", {"milk": "much"}], (3,), "table of liquid"),
    (["attr", "mug_1", "clean", True, "~"], (4,), "unknown comparison '~'"),
    (["attr", "mug_1", "clean", True, "<"], (4,), "compares numbers"),
    (["attr", "mug_1", "size_l", 0.3, "has"], (4,), "looks into texts"),
    (["rel", "above", "mug_1", "table_1"], (1,), "unknown relation 'above'"),
    (["rel", "ontop", "mug_1", "table_9"], (3,), "no thing 'table_9'"),
    (["rel", "ontop", "mug_1", "table_1.side"], (3,), "no surface 'side', only top"),
    (["rel", "inside", "mug_1", "table_1"], (3,), "has no interior"),
    (["rel", "inside", "mug_1", "fridge_1.drawer"], (3,), "no interior 'drawer', only main"),
    (["rel", "near", "mug_1", "table_1.top"], (3,), "leads to a whole thing"),
    (["rel", "in_room", "mug_1", "table_1"], (3,), "no room 'table_1'"),
    (["rel", "inside", "mug_1", "wearer"], (3,), "nothing is ever 'inside' the wearer"),
    (["rel", "inside", "wearer", "box_1"], (2,), "the wearer is never 'inside'"),
    (["rel", "left_of", "mug_1", "wearer"], (3,), "nothing is ever 'left_of' the wearer"),
    (["rel", "ontop", "mug_1", "floor"], (3,), "no thing 'floor'"),
    (["rel", "near", "mug_1", "mug_1"], (3,), "related to itself"),
    (["event", "grab"], (1,), "an event is a table"),
    (["event", {"obj": "mug_1"}], (1,), "either `verb`"),
    (["event", {"verb": "grab", "kind": "pour"}], (1,), "either `verb`"),
    (["event", {"verb": "Walk"}], (1,), "unknown verb 'Walk'"),
    (["event", {"kind": "sneeze"}], (1,), "unknown happening 'sneeze'"),
    (["event", {"verb": "grab", "colour": "red"}], (1,), "no field 'colour'"),
    (["event", {"kind": "pour", "ok": True}], (1,), "no field 'ok'"),
    (["event", {"verb": "grab", "code": "BAD"}], (1,), "unknown outcome code 'BAD'"),
    (["event", {"verb": "grab", "ok": "yes"}], (1,), "`ok` is true or false"),
    (["event", {"verb": "grab", "code": "CLOSED", "ok": True}], (1,), "never has ok = true"),
    (["event", {"verb": "grab", "obj": "mug_9"}], (1,), "no thing 'mug_9'"),
    (["event", {"verb": "grab", "obj": ["in", "ontop", "table_1"]}], (1,), "fixed membership"),
    (["event", {"kind": "scripted_event", "script": "bell"}], (1,), "no scripted event 'bell'"),
    (["event", {"kind": "assistant_decision", "decision": "shout"}], (1,), "unknown decision 'shout'"),
    (["event", {"kind": "pour", "detail": {"litres": ["~", 1]}}], (1,), "a value or [comparison, value]"),
    (["event", {"kind": "pour", "detail": {"liquid": ["<", "milk"]}}], (1,), "compares numbers"),
    (["all", "x", ["class", "cat"], ["true"]], (2, 1), "no thing of class 'cat'"),
    (["all", "x", ["klass", "mug"], ["true"]], (2, 0), "unknown selector 'klass'"),
    (["all", "mug_1", ["class", "mug"], ["true"]], (1,), "names something of the scene"),
    (["all", "x y", ["class", "mug"], ["true"]], (1,), "a variable is a word"),
    (["all", "x", ["class", "mug"], ["exists", "x", ["class", "mug"], ["true"]]], (3, 1), "already bound"),
    (["all", "x", ["class", "mug"], ["attr", "x", "cooked", "raw"]], (3, 2), "cannot have 'cooked'"),
    (["all", "x", ["set", "mug_1", "sponge_1"], ["attr", "x", "size_l", 0.3]], (3, 2), "no constant 'size_l'"),
    (["all", "x", ["minus", ["class", "mug"], ["class", "mug"]], ["true"]], (2,), "nothing is left"),
    (["count", ["class", "mug"], "==", 1.5], (3,), "whole number"),
    (["count", ["class", "mug"], "has", 1], (2,), "unknown comparison"),
    (["bag", ["class", "mug"], "size_l", 0.3], (3,), "a bag is a list"),
    (["bag", ["class", "mug"], "size_l", [0.3, "big"]], (3, 1), "takes a number"),
    (["bag", ["class", "mug"], "contains", []], (3,), "contains:<liquid>"),
    (["bag", ["in", "ontop", "table_1"], "running", []], (2,), "cannot have 'running'"),
    (["assign", [["inside", "box_1"]], "class", [["mug"], []]], (3,), "1 cells need a list of as many bags"),
    (["assign", [["inside", "table_1"]], "class", [[]]], (1, 0, 1), "has no interior"),
    (["assign", [["inside", "box_1"], ["inside", "box_1"]], "class", [[], []]], (1,), "listed twice"),
    (["sum", ["class", "mug"], "name", "==", 1], (2,), "a sum needs numbers"),
    (["bind", "x", ["held", "mug_1"], "obj", "last", ["true"]], (2,), "bind takes an event"),
    (["bind", "x", EVENT, "code", "last", ["true"]], (3,), "bind takes the thing from"),
    (["bind", "x", EVENT, "obj", "second", ["true"]], (4,), "bind picks"),
    (["bind", "x", ["event", {"kind": "scripted_event"}], "obj", "last", ["held", "y"]], (5, 1), "bound variables: x"),
    (["clock", "<=", -1], (2,), "finite number from 0 on"),
    (["route_length", "<=", float("inf")], (2,), "finite number"),
]


@pytest.mark.parametrize(("formula", "path", "message"), CASES)
def test_a_bad_formula_is_refused_where_it_is_bad(formula: Any, path: tuple[int, ...], message: str) -> None:
    with pytest.raises(CheckError) as caught:
        compile_check(formula, task="G05", check="plated", scene=scene(), scripts=("call",))
    assert message in str(caught.value)
    assert (caught.value.task, caught.value.check, caught.value.path) == ("G05", "plated", path)


@pytest.mark.parametrize("op", ["ever", "always"])
def test_a_trigger_may_not_look_ahead(op: str) -> None:
    formula = ["once", [op, ["held", "mug_1"]]]
    compile_check(formula, task="T", check="c", scene=scene())
    with pytest.raises(CheckError, match="looks ahead") as caught:
        compile_check(formula, task="T", check="c", scene=scene(), live=True)
    assert caught.value.path == (1,)


def test_what_an_open_selector_gives_need_not_all_have_the_attribute() -> None:
    compile_check(
        ["exists", "x", ["in", "ontop", "table_1"], ["attr", "x", "size_l", 0.3]], task="T", check="c", scene=scene()
    )


def test_depth_and_size_are_limited() -> None:
    deep: Any = ["true"]
    for _ in range(MAX_DEPTH + 1):
        deep = ["not", deep]
    with pytest.raises(CheckError, match="nested deeper"):
        compile_check(deep, task="T", check="c", scene=scene())
    wide: Any = ["and", *[["rel", "near", a, b] for a, b in ("ab", "bc", "cd", "de")]]
    for name in "abcde":
        wide = ["exists", name, ["in", "ontop", "table_1"], wide]
    with pytest.raises(CheckError, match="expand to more than"):
        compile_check(wide, task="T", check="c", scene=scene())


def test_a_gap_in_the_log_is_refused() -> None:
    s = Story()
    s.live()
    checks = {"c": compile_check(["true"], task="T", check="c", scene=s.state.scene)}
    monitor = Monitor(checks, relations=TOY)
    monitor.feed(0, s.events[0], s.state)
    with pytest.raises(LogError, match="event 2 follows event 0"):
        monitor.feed(2, s.events[2], s.state)


def test_no_value_before_the_first_event() -> None:
    monitor = Monitor({"c": compile_check(["true"], task="T", check="c", scene=scene())}, relations=TOY)
    assert not monitor.value("c")
    with pytest.raises(LogError, match="no value"):
        monitor.verdicts()
    assert run({"c": ["true"]}, Story().events)["c"].value


def test_an_event_names_exactly_the_primitives_that_there_are() -> None:
    assert tuple(p.canonical for p in table.PRIMITIVES) == PRIMITIVES
