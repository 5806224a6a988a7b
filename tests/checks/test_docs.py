"""Every example in docs/checks.md is accepted and has the value that it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from iwreplay.checks.evidence import EVIDENCE_LIMIT
from iwreplay.checks.language import EVENT_KINDS, MAX_DEPTH, MAX_NODES, OPERATORS, SELECTORS
from iwreplay.checks.watch import BASELINE_ANGLE_RAD, BASELINE_DISTANCE_M
from iwreplay.vocabulary import HAPPENINGS, RELATIONS
from tests.checks.running import value
from tests.checks.worlds import Story

DOC = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")


def _examples() -> list[tuple[Any, bool]]:
    out = []
    for block in re.findall(r"```check\n(.*?)```", DOC, flags=re.DOTALL):
        for formula, expected in re.findall(r"(\[.*?)\n=> (true|false)\n", block, flags=re.DOTALL):
            out.append((json.loads(formula), expected == "true"))
    return out


def story() -> Story:
    s = Story()
    s.warmup()
    s.do("wipe", obj="table_1", tool="sponge_2", source="warmup")
    s.time_s = 10.0
    s.live()
    s.say("move the dirty mug to the shelf")
    s.do("open", obj="fridge_1")
    s.set("fridge_1", "open", True)
    s.do("read", obj="note_1")
    s.do("grab", obj="mug_2", code="HAND_FULL")
    s.do("grab", obj="mug_1")
    s.set("mug_1", "held", True)
    s.move("mug_1", 2.5, 0.0, 1.1)
    s.do("navigate_to", obj="shelf_1", distance_m=3.0)
    s.set("mug_1", "held", False)
    s.move("mug_1", 5.0, 0.2, 0.8)
    s.do("put_on", obj="mug_1", dest="shelf_1")
    s.happen("pour", obj="mug_2", dest="mug_3", liquid="milk", litres=0.1)
    s.set("mug_3", "contains", {"milk": 0.1})
    s.set("fridge_1", "open", False)
    s.do("cut", obj="dough_1")
    s.set("dough_1", "cut", True)
    s.do("switch_on", obj="oven_1")
    s.set("oven_1", "running", True)
    s.happen("cycle_started", obj="oven_1", cycle=1)
    s.set("wearer", "room", "hall")
    s.time_s = 50.0
    s.end()
    return s


@pytest.mark.parametrize(("formula", "expected"), _examples(), ids=lambda x: json.dumps(x)[:60])
def test_example(formula: Any, expected: bool) -> None:
    assert value(formula, story()) is expected


def test_every_operator_and_selector_has_an_example() -> None:
    used: set[str] = set()

    def walk(f: Any) -> None:
        if isinstance(f, list) and f:
            used.update([f[0]] if isinstance(f[0], str) else [])
            for x in f:
                walk(x)

    for formula, _ in _examples():
        walk(formula)
    assert not {*OPERATORS, *SELECTORS} - used


def test_numbers_and_names_in_the_text_are_those_of_the_code() -> None:
    assert f"at most {EVIDENCE_LIMIT}" in DOC
    assert f"deeper than {MAX_DEPTH}" in DOC
    assert f"more than {MAX_NODES:,} instances" in DOC
    assert f"{BASELINE_DISTANCE_M * 100:.0f} cm and {BASELINE_ANGLE_RAD * 57.29577951308232:.0f} degrees" in DOC
    for name in (*RELATIONS, *(k for k in EVENT_KINDS if k not in HAPPENINGS)):
        assert f"`{name}`" in DOC
