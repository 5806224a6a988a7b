"""Each operator, on small stories, where the right answer is plain."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.running import value, verdict
from tests.checks.worlds import Story


def live() -> Story:
    story = Story()
    story.live()
    return story


def test_attr_compares_and_falls_back_on_defaults() -> None:
    story = live()
    story.set("mug_1", "contains", {"milk": 0.1 + 0.2})
    assert value(["attr", "mug_1", "clean", False], story)
    assert value(["attr", "mug_2", "clean", True], story), "nothing was ever said about it"
    assert value(["attr", "mug_2", "exists", True], story)
    assert value(["attr", "dough_1", "cooked", "raw"], story)
    assert value(["attr", "dough_1", "cooked", "burnt", "!="], story)
    assert value(["attr", "mug_1", "contains:milk", 0.3], story), "0.1 + 0.2 litres are 0.3 litres"
    assert value(["attr", "mug_1", "contains:milk", 0.3, "<="], story)
    assert not value(["attr", "mug_1", "contains:milk", 0.3, "<"], story)
    assert value(["attr", "mug_1", "contains", {"milk": 0.3}], story)
    assert value(["attr", "mug_1", "contains", "milk", "has"], story)
    assert not value(["attr", "mug_2", "contains", "milk", "has"], story)
    assert value(["attr", "note_1", "text:front", "before", "has"], story)
    assert value(["attr", "mug_1", "size_l", 0.3], story)
    assert value(["attr", "mug_1", "class", "mug"], story)
    assert value(["attr", "oven_1", "cycle", 1, "<"], story)


def test_attr_of_the_wearer() -> None:
    story = live()
    story.set("wearer", "room", "hall")
    story.set("wearer", "held", "mug_1")
    assert value(["attr", "wearer", "room", "hall"], story)
    assert value(["attr", "wearer", "held", "mug_1"], story)
    assert value(["exists", "x", ["class", "mug"], ["attr", "wearer", "held", "x"]], story)
    assert not value(["exists", "x", ["class", "sponge"], ["attr", "wearer", "held", "x"]], story)


def test_rel_follows_every_pose_and_only_things_on_stage() -> None:
    story = live()
    assert value(["rel", "ontop", "mug_1", "table_1.top"], story)
    story.move("mug_1", 5.0, 0.0, 0.8)
    assert value(["rel", "ontop", "mug_1", "shelf_1"], story)
    assert value(["rel", "in_room", "mug_1", "hall"], story)
    story.set("mug_1", "exists", False)
    assert not value(["rel", "ontop", "mug_1", "shelf_1"], story)


def test_rel_notices_what_only_a_snapshot_says() -> None:
    story = live()
    story.jump("mug_1", 5.0, 0.0, 0.8)
    assert value(["and", ["rel", "ontop", "mug_1", "shelf_1"], ["held", "mug_1"]], story)


def test_baseline_wants_support_pose_and_attributes() -> None:
    story = live()
    f = ["baseline", "mug_1"]
    assert value(f, story)
    story.move("mug_1", 0.115, 0.1, 0.8)
    assert value(f, story), "1.5 cm is within the tolerance"
    story.move("mug_1", 0.1, 0.1, 0.8, yaw=0.17)
    assert value(f, story), "9.7 degrees are within the tolerance"
    story.move("mug_1", 0.1, 0.1, 0.8, yaw=0.18)
    assert not value(f, story)
    story.move("mug_1", 0.125, 0.1, 0.8)
    assert not value(f, story)
    story.move("mug_1", 0.1, 0.1, 0.8)
    story.set("mug_1", "parent", "on:somewhere")
    assert value(f, story), "what the recorder believes about the support is not compared"
    story.set("mug_1", "clean", True)
    assert not value(f, story)


def test_baseline_is_the_start_of_live_interaction_not_of_the_log() -> None:
    story = Story()
    story.warmup()
    story.move("mug_1", 5.0, 0.0, 0.8)
    assert value(["baseline", "mug_1"], story), "nothing to differ from yet"
    story.live()
    assert value(["baseline", "mug_1"], story)
    story.move("mug_1", 0.1, 0.1, 0.8)
    assert not value(["baseline", "mug_1"], story)


def test_never_moved_forgives_the_warmup_and_nothing_after() -> None:
    story = Story()
    story.warmup()
    story.set("mug_1", "held", True)
    story.set("mug_1", "held", False)
    story.live()
    assert value(["never_moved", "mug_1"], story)
    story.set("mug_1", "held", True)
    story.set("mug_1", "held", False)
    story.frame()
    assert not value(["never_moved", "mug_1"], story)


@pytest.mark.parametrize(
    ("fields", "matches"),
    [
        ({"verb": "wipe"}, True),
        ({"verb": "wipe", "obj": "table_1", "tool": "sponge_1"}, True),
        ({"verb": "wipe", "tool": ["class", "sponge"]}, True),
        ({"verb": "wipe", "tool": "sponge_2"}, False),
        ({"verb": "wipe", "tool": ["minus", ["class", "sponge"], ["set", "sponge_1"]]}, False),
        ({"verb": "wipe", "tool": ""}, False),
        ({"verb": "grab"}, False),
        ({"verb": "grab", "ok": False}, True),
        ({"verb": "grab", "code": "HAND_FULL"}, True),
        ({"verb": "grab", "code": "CLOSED"}, False),
        ({"kind": "pour", "obj": "mug_1", "dest": "mug_2"}, True),
        ({"kind": "pour", "obj": "mug_2"}, False),
        ({"kind": "pour", "detail": {"liquid": "vodka"}}, True),
        ({"kind": "pour", "detail": {"liquid": "water"}}, False),
        ({"kind": "pour", "detail": {"litres": [">=", 0.1]}}, True),
        ({"kind": "pour", "detail": {"litres": [">", 0.1]}}, False),
        ({"kind": "pour", "detail": {"colour": "red"}}, False),
        ({"kind": "contact", "obj": "sponge_2", "dest": "note_1"}, True),
        ({"kind": "contact", "obj": "note_1", "dest": "sponge_2"}, True),
        ({"kind": "contact", "obj": "note_1", "dest": "sponge_1"}, False),
        ({"kind": "scripted_event", "script": "call"}, True),
        ({"kind": "scripted_event", "script": "bell"}, False),
        ({"kind": "assistant_decision", "decision": "interrupt"}, True),
        ({"kind": "assistant_decision", "decision": "done"}, False),
        ({"kind": "phase_changed", "phase": "closed_loop"}, True),
        ({"kind": "phase_changed", "phase": "warmup"}, False),
    ],
)
def test_event_matches(fields: dict[str, Any], matches: bool) -> None:
    story = live()
    story.do("wipe", obj="table_1", tool="sponge_1")
    story.do("grab", obj="mug_1", code="HAND_FULL")
    story.happen("pour", obj="mug_1", dest="mug_2", liquid="vodka", litres=0.1)
    story.touch("sponge_2", "note_1")
    story.script("call")
    story.say("stop")
    assert value(["once", ["event", fields]], story) is matches
    assert not value(["event", fields], story) or fields.get("decision") == "interrupt"


def test_two_equal_events_in_a_row_count_twice() -> None:
    story = live()
    pour = ["event", {"kind": "pour", "obj": "mug_1"}]
    twice = ["once", ["and", pour, ["prev", ["once", pour]]]]
    story.happen("pour", obj="mug_1")
    assert not value(twice, story)
    story.happen("pour", obj="mug_1")
    assert value(twice, story)


def test_quantifiers_range_over_what_is_selected_now() -> None:
    story = live()
    assert value(["all", "x", ["class", "mug"], ["attr", "x", "class", "mug"]], story)
    assert not value(["all", "x", ["class", "mug"], ["attr", "x", "clean", True]], story)
    assert value(["exists", "x", ["in", "ontop", "shelf_1"], ["attr", "x", "class", "phone"]], story)
    assert value(["all", "x", ["in", "inside", "box_1"], ["not", ["true"]]], story), "all of nothing"
    where = ["where", ["class", "mug"], "x", ["attr", "x", "clean", False]]
    assert value(["count", where, "==", 1], story)
    story.set("mug_3", "exists", False)
    assert value(["count", ["class", "mug"], "==", 2], story), "what is off stage is in no class"
    assert value(["count", ["set", "mug_1", "mug_3"], "==", 2], story), "a named thing stays named"
    assert value(["count", ["minus", ["class", "mug"], ["set", "mug_1"]], "==", 1], story)
    another = ["exists", "x", ["class", "mug"], ["exists", "y", ["minus", ["class", "mug"], ["set", "x"]], ["true"]]]
    assert value(another, story)


def test_bag_is_an_exact_multiset() -> None:
    story = live()
    on_table = ["in", "ontop", "table_1"]
    assert value(["bag", on_table, "class", ["mug", "mug", "sponge", "sponge", "dough", "note"]], story)
    assert not value(["bag", on_table, "class", ["mug", "sponge", "sponge", "dough", "note"]], story)
    assert not value(["bag", on_table, "size_l", [0.3, 0.3]], story), "what has no size spoils the bag"
    assert value(["bag", ["class", "mug"], "size_l", [0.5, 0.3, 0.3]], story)
    assert value(["bag", ["in", "inside", "box_1"], "size_l", []], story)


def test_assign_is_some_permutation_of_the_bags() -> None:
    story = live()
    story.move("mug_1", 5.0, 5.0, 0.1)
    story.move("mug_2", 7.0, 5.0, 0.1)
    story.move("sponge_1", 7.1, 5.0, 0.1)
    cells = [["inside", "box_1"], ["inside", "box_2"]]
    assert value(["assign", cells, "class", [["mug"], ["mug", "sponge"]]], story)
    assert value(["assign", cells, "class", [["sponge", "mug"], ["mug"]]], story)
    assert value(["assign", cells[::-1], "class", [["mug"], ["mug", "sponge"]]], story), "cells in any order"
    assert not value(["assign", cells, "class", [["mug"], ["mug"]]], story)
    assert not value(["assign", cells, "class", [["mug", "mug"], ["sponge"]]], story), "the union alone is not enough"


def test_sum_and_budgets() -> None:
    story = Story()
    story.warmup()
    story.time_s = 50.0
    story.do("navigate_to", obj="shelf_1", distance_m=9.0)
    story.live()
    assert value(["and", ["clock", "==", 0], ["route_length", "==", 0]], story), "the warmup is not counted"
    story.time_s = 60.0
    story.do("navigate_to", obj="table_1", distance_m=2.5)
    assert value(["clock", "==", 10], story)
    assert value(["route_length", "<=", 2.5], story)
    assert not value(["route_length", "<", 2.5], story)
    assert value(["sum", ["in", "ontop", "table_1"], "size_l", "==", 0.6], story), "what has no size adds nothing"


def test_past_operators() -> None:
    story = live()
    opened: Any = ["attr", "fridge_1", "open", True]
    grab: Any = ["event", {"verb": "grab", "obj": "mug_1"}]
    assert not value(["once", opened], story)
    assert not value(["at_last", grab, ["true"]], story), "never triggered"
    story.set("fridge_1", "open", True)
    assert value(["and", opened, ["not", ["prev", opened]]], story)
    story.frame()
    assert value(["prev", opened], story)
    story.do("grab", obj="mug_1")
    assert value(["at_last", grab, opened], story)
    assert value(["since", opened, grab], story)
    story.set("fridge_1", "open", False)
    assert value(["once", opened], story)
    assert not value(["since", opened, grab], story)
    assert value(["at_last", grab, opened], story), "decided when it was triggered"
    assert not value(["hist", ["not", opened]], story)
    story.do("grab", obj="mug_1")
    assert not value(["at_last", grab, opened], story)


def test_future_operators_at_the_end_and_inside_the_past() -> None:
    story = live()
    opened: Any = ["attr", "fridge_1", "open", True]
    grab: Any = ["event", {"verb": "grab", "obj": "mug_1"}]
    story.do("grab", obj="mug_1")
    story.set("fridge_1", "open", True)
    story.set("fridge_1", "open", False)
    assert not value(["ever", opened], story), "at the last step only the last step is ahead"
    assert value(["once", ["and", grab, ["ever", opened]]], story)
    assert not value(["once", ["and", grab, ["always", ["not", opened]]]], story)
    assert value(["hist", ["implies", opened, ["ever", ["not", opened]]]], story)
    assert value(["once", ["and", grab, ["until", ["not", opened], opened]]], story)
    assert not value(["once", ["and", grab, ["until", ["not", opened], ["held", "mug_1"]]]], story)


def test_gate_looks_at_the_step_before_and_at_live_interaction_only() -> None:
    grab: Any = ["event", {"verb": "grab", "obj": "mug_1"}]
    opened: Any = ["attr", "fridge_1", "open", True]
    story = Story()
    story.warmup()
    story.do("grab", obj="mug_1")
    story.live()
    assert value(["gate", grab, opened], story), "the warmup triggers no gate"
    story.set("fridge_1", "open", True)
    story.do("grab", obj="mug_1")
    assert value(["gate", grab, opened], story)
    story.set("fridge_1", "open", False)
    bad = story.do("grab", obj="mug_1")
    story.set("fridge_1", "open", True)
    assert verdict(["gate", grab, opened], story).evidence == (bad,)
    assert not value(["gate", grab, opened], story)


def test_a_cause_in_the_same_step_is_too_late_for_a_gate() -> None:
    story = live()
    story.do("grab", obj="mug_1")
    grab: Any = ["event", {"verb": "grab", "obj": "mug_1"}]
    assert not value(["gate", grab, ["once", grab]], story)


@pytest.mark.parametrize(
    ("pick", "used"), [("first", ("sponge_1",)), ("last", ("sponge_2",)), ("any", ("sponge_1", "sponge_2"))]
)
def test_bind_follows_the_thing_that_was_used(pick: str, used: tuple[str, ...]) -> None:
    wipe: Any = ["event", {"verb": "wipe", "obj": "table_1"}]
    for moved in ("sponge_1", "sponge_2"):
        story = live()
        story.do("wipe", obj="table_1", tool="sponge_1")
        story.do("wipe", obj="table_1", tool="sponge_2")
        story.do("wipe", obj="table_1")
        story.move(moved, 5.0, 5.0, 0.1)
        f = ["bind", "x", wipe, "tool", pick, ["rel", "inside", "x", "box_1"]]
        assert value(f, story) is (moved in used)


def test_bind_without_the_event_is_false_and_its_formula_has_the_whole_past() -> None:
    story = live()
    wipe: Any = ["event", {"verb": "wipe"}]
    assert not value(["bind", "x", wipe, "tool", "last", ["true"]], story)
    story.set("sponge_2", "held", True)
    story.set("sponge_2", "held", False)
    story.do("wipe", obj="table_1", tool="sponge_2")
    assert value(["bind", "x", wipe, "tool", "last", ["once", ["held", "x"]]], story), "it was held before it was bound"
    assert value(["bind", "x", wipe, "obj", "first", ["attr", "x", "class", "table"]], story)
    nested = [
        "bind",
        "x",
        wipe,
        "tool",
        "last",
        ["bind", "y", ["event", {"verb": "wipe", "tool": "x"}], "obj", "last", ["attr", "y", "class", "table"]],
    ]
    assert value(nested, story)


def test_implies_and_the_constants() -> None:
    story = live()
    assert value(["implies", ["not", ["true"]], ["held", "mug_1"]], story)
    assert not value(["implies", ["true"], ["held", "mug_1"]], story)
    assert value(["or", ["true"], ["held", "mug_1"]], story)
    assert not value(["and", ["true"], ["held", "mug_1"]], story)
