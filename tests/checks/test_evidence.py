"""Evidence: which events made a formula true or false."""

from __future__ import annotations

from typing import Any

from iwreplay.checks.evidence import EVIDENCE_LIMIT
from tests.checks.running import verdict
from tests.checks.worlds import Story

OPENED: Any = ["attr", "fridge_1", "open", True]
GRAB: Any = ["event", {"verb": "grab", "obj": "mug_1"}]


def _story() -> tuple[Story, dict[str, int]]:
    s = Story()
    at = {"live": s.live()}
    at["open"] = s.set("fridge_1", "open", True)
    at["grab"] = s.do("grab", obj="mug_1")
    at["held"] = s.set("mug_1", "held", True)
    at["move"] = s.move("mug_1", 5.0, 0.0, 0.8)
    at["close"] = s.set("fridge_1", "open", False)
    at["grab2"] = s.do("grab", obj="mug_1")
    s.frame()
    at["frame"] = s.frame()
    s.end()
    return s, at


def test_every_kind_of_formula_names_the_events_that_decided_it() -> None:
    s, at = _story()
    cases: list[tuple[Any, bool, tuple[str, ...]]] = [
        (OPENED, False, ("close",)),
        (["not", OPENED], True, ("close",)),
        (["rel", "ontop", "mug_1", "shelf_1"], True, ("move",)),
        (["baseline", "mug_1"], False, ("held",)),
        (["once", OPENED], True, ("open",)),
        (["once", GRAB], True, ("grab",)),
        (["once", ["event", {"verb": "wipe"}]], False, ()),
        (["hist", ["not", OPENED]], False, ("open",)),
        (["hist", ["true"]], True, ()),
        (["since", ["held", "mug_1"], GRAB], True, ("grab2",)),
        (["since", OPENED, ["prev", GRAB]], False, ("frame",)),
        (["at_last", GRAB, OPENED], False, ("grab2",)),
        (["prev", OPENED], False, ("close",)),
        (["and", ["held", "mug_1"], ["once", OPENED]], True, ("open", "held")),
        (["and", ["held", "mug_1"], OPENED], False, ("close",)),
        (["or", ["held", "mug_1"], OPENED], True, ("held",)),
        (["count", ["in", "ontop", "shelf_1"], "==", 3], True, ("move",)),
        (["never_moved", "mug_1"], False, ("held",)),
        (["bind", "x", ["event", {"verb": "grab"}], "obj", "first", ["held", "x"]], True, ("grab", "held")),
        (["once", ["and", GRAB, ["ever", ["not", OPENED]]]], True, ("grab",)),
    ]
    for formula, expected, names in cases:
        got = verdict(formula, s)
        assert (got.value, got.evidence) == (expected, tuple(at[n] for n in names)), formula


def test_since_is_the_last_rise() -> None:
    s, at = _story()
    assert verdict(OPENED, s).since == at["open"]
    assert verdict(["held", "mug_1"], s).since == at["held"]
    assert verdict(["event", {"verb": "wipe"}], s).since is None
    assert verdict(["once", ["and", GRAB, ["ever", ["not", OPENED]]]], s).since == at["grab"]


def test_evidence_is_bounded_and_keeps_the_latest() -> None:
    s = Story()
    s.live()
    seqs = [s.set(f"mug_{1 + i % 3}", "clean", i % 2 == 0) for i in range(9)]
    parts: list[Any] = [["once", ["event", {"verb": "grab", "obj": "mug_1"}]]]
    marks = []
    for i in range(EVIDENCE_LIMIT + 8):
        s.happen("pour", obj="mug_1", litres=float(i + 1))
        marks.append(len(s.events) - 1)
    parts = [["once", ["event", {"kind": "pour", "detail": {"litres": float(i + 1)}}]] for i in range(len(marks))]
    got = verdict(["and", *parts], s)
    assert got.value
    assert got.evidence == tuple(marks[-EVIDENCE_LIMIT:])
    assert seqs[-1] < marks[0]
