"""Lints of tasks."""

from __future__ import annotations

from typing import Any

import pytest

from iwreplay.checks import lint_start, lint_task
from iwreplay.errors import LogError
from iwreplay.taskpack.model import (
    Gate,
    NearMiss,
    Objective,
    Point,
    ScriptAction,
    ScriptedWorldEvent,
    TaskPack,
    Trigger,
)
from tests.checks.worlds import TOY, Story, scene, task

SAY = (ScriptAction(do="say", speaker="caller", text="hello"),)


def messages(pack: TaskPack) -> list[str]:
    return [f"{f.level} {f.where}: {f.message}" for f in lint_task(pack, scene())]


def objective(formula: Any, id: str = "o") -> TaskPack:
    return task(objectives=(Objective(id=id, text="", formula=formula),))


def scripted(id: str, **when: Any) -> ScriptedWorldEvent:
    return ScriptedWorldEvent(id=id, when=Trigger(**when), do=SAY)


def test_a_good_task_has_no_findings() -> None:
    point = Point(id="p", capability="C1", text="", formula=["attr", "mug_1", "clean", True])
    assert messages(task(points=(point,), tests=("C1",))) == []


@pytest.mark.parametrize(
    ("pack", "text"),
    [
        (objective(["held", "mug_9"]), "error o: the scene has no thing 'mug_9'"),
        (task(objectives=()), "error : a task needs at least one objective"),
        (task(keeps=(Gate(id="clean", text="", formula=["true"]),)), "error clean: 2 checks have the id 'clean'"),
        (task(tests=("C99",)), "unknown capability 'C99'"),
        (task(tests=("C1",)), "error : tests C1 (object and state recognition), but no point measures it"),
        (task(points=(Point(id="p", capability="C1", text="", formula=["true"]),)), "error p: measures C1"),
        (task(near_misses=(NearMiss(id="m", text="", oracle=(), fails=("gone",)),)), "error m: fails 'gone'"),
        (task(near_misses=(NearMiss(id="m", text="", oracle=(), fails=()),)), "error m: a near-miss must fail"),
        (task(script=(scripted("a", after="b"),)), "error a: waits for unknown scripted event 'b'"),
        (task(script=(scripted("a", after="b"), scripted("b", after="a"))), "error a: waits for itself"),
        (task(script=(scripted("a", formula=["ever", ["true"]]),)), "error a: 'ever' looks ahead"),
        (
            task(script=(scripted("a", formula=["event", {"verb": "grab"}]),)),
            "warning a: an event holds for one step only",
        ),
        (objective(["event", {"verb": "grab"}]), "error o: an event holds for one step only"),
        (objective(["and", ["true"], ["event", {"verb": "grab"}]]), "error o: an event holds for one step only"),
        (objective(["ever", ["held", "mug_1"]]), "warning o: 'ever' looks ahead from the last step"),
        (objective(["not", ["count", ["class", "mug"], "==", 4]]), "error o: only 3 things can be selected"),
        (
            objective(["count", ["in", "ontop", "table_1"], ">=", 400]),
            "things can be selected, so that the count is never",
        ),
        (objective(["bag", ["class", "mug"], "size_l", [0.5, 0.5]]), "too few things with size_l 0.5"),
        (objective(["bag", ["in", "ontop", "table_1"], "class", ["phone"] * 2]), "too few things with class phone"),
        (
            objective(["assign", [["inside", "box_1"]], "class", [["dough", "dough"]]]),
            "too few things with class dough",
        ),
        (objective(["bag", ["class", "mug"], "clean", [True] * 4]), "4 values are asked of 3 things"),
    ],
)
def test_findings(pack: TaskPack, text: str) -> None:
    assert any(text in m for m in messages(pack)), messages(pack)


def test_a_finding_inside_a_formula_has_its_path_and_errors_come_first() -> None:
    pack = task(
        objectives=(
            Objective(id="w", text="", formula=["ever", ["true"]]),
            Objective(id="o", text="", formula=["not", ["count", ["class", "mug"], ">", 3]]),
        )
    )
    found = lint_task(pack, scene())
    assert [(f.level, f.path) for f in found] == [("error", (1,)), ("warning", ())]


def test_events_under_a_past_operator_are_fine() -> None:
    for f in (["once", ["event", {"verb": "grab"}]], ["or", ["true"], ["event", {"verb": "grab"}]]):
        assert messages(objective(f)) == []


def test_at_the_start_objectives_are_false_and_keeps_true() -> None:
    pack = task(
        objectives=(
            Objective(id="done", text="", formula=["attr", "mug_2", "clean", True]),
            Objective(id="todo", text="", formula=["attr", "mug_1", "clean", True]),
        ),
        keeps=(Gate(id="lost", text="", formula=["held", "mug_1"]), Gate(id="ok", text="", formula=["true"])),
        gates=(Gate(id="broken", text="", formula=["attr", "oven_1", "open", True]),),
    )
    s = Story(pack)
    s.warmup()
    s.live()
    s.set("mug_1", "clean", True)
    found = lint_start(s.events, relations=TOY)
    assert [(f.where, f.message) for f in found] == [
        ("done", "objective is true at the start of live interaction"),
        ("lost", "keep is false at the start of live interaction"),
        ("broken", "gate is false at the start of live interaction"),
    ]
    with pytest.raises(LogError, match="no baseline"):
        lint_start(s.events[:2], relations=TOY)
