"""The state fragment to and from BDDL."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from iwreplay.checks import compile_check
from iwreplay.checks.bddl import activity_from_bddl, activity_to_bddl, formula_from_bddl, formula_to_bddl
from iwreplay.errors import CheckError
from tests.checks.worlds import scene

ACTIVITY = """
; written by hand in the manner of BEHAVIOR
(define (problem tidying_mugs_0)
    (:domain igibson)
    (:objects
        mug.n.04_1 mug.n.04_2 - mug.n.04
        electric_refrigerator.n.01_1 - electric_refrigerator.n.01
        agent.n.01_1 - agent.n.01
    )
    (:init
        (inroom electric_refrigerator.n.01_1 kitchen)
        (stained mug.n.04_1)
    )
    (:goal
        (and
            (forall (?mug.n.04 - mug.n.04)
                (and (inside ?mug.n.04 ?electric_refrigerator.n.01_1) (not (stained ?mug.n.04))))
            (not (open ?electric_refrigerator.n.01_1))
        )
    )
)
"""
NAMES = {
    "electric_refrigerator.n.01_1": "fridge_1",
    "electric_refrigerator.n.01": "fridge",
    "mug.n.04": "mug",
    "mug.n.04_1": "mug_1",
    "mug.n.04_2": "mug_2",
    "agent.n.01": "agent",
}


def test_an_activity_is_read_and_its_goal_can_be_run() -> None:
    activity = activity_from_bddl(ACTIVITY, names=NAMES)
    assert activity.objects == {"mug_1": "mug", "mug_2": "mug", "fridge_1": "fridge", "wearer": "agent"}
    assert activity.init == (["rel", "in_room", "fridge_1", "kitchen"], ["attr", "mug_1", "clean", False])
    inside = ["and", ["rel", "inside", "mug_n_04", "fridge_1"], ["not", ["attr", "mug_n_04", "clean", False]]]
    assert activity.goal == (
        ["all", "mug_n_04", ["class", "mug"], inside],
        ["not", ["attr", "fridge_1", "open", True]],
    )
    for o in activity.objectives():
        compile_check(o.formula, task=activity.name, check=o.id, scene=scene())


def test_an_activity_survives_the_round_trip() -> None:
    activity = activity_from_bddl(ACTIVITY, names=NAMES)
    again = activity_to_bddl(activity, names=NAMES)
    assert activity_from_bddl(again, names=NAMES) == activity
    assert "(inside ?mug_n_04 electric_refrigerator.n.01_1)" in again


def test_synsets_become_plain_names() -> None:
    f = formula_from_bddl("(ontop can__of__soda.n.01_2 table.n.02_1)")
    assert f == ["rel", "ontop", "can_of_soda_2", "table_1"]


def _random(rng: Random, env: tuple[str, ...], depth: int) -> Any:
    thing = rng.choice(("mug_1", "mug_2", *env))
    if depth == 0:
        return rng.choice(
            (
                ["attr", thing, "clean", False],
                ["attr", "fridge_1", "open", True],
                ["attr", "dough_1", "cooked", rng.choice(("cooked", "burnt"))],
                ["attr", thing, "contains", "milk", "has"],
                ["held", thing],
                ["rel", rng.choice(("ontop", "touching", "near", "under")), thing, "table_1"],
                ["rel", "in_room", thing, "hall"],
            )
        )
    op = rng.choice(("and", "or", "not", "implies", "all", "exists"))
    if op in ("all", "exists"):
        name = f"x{len(env)}"
        return [op, name, ["class", "mug"], _random(rng, (*env, name), depth - 1)]
    n = {"not": 1, "implies": 2}.get(op, rng.randint(1, 3))
    return [op, *[_random(rng, env, depth - 1) for _ in range(n)]]


@pytest.mark.parametrize("seed", range(60))
def test_export_then_import_is_the_same_formula(seed: int) -> None:
    formula = _random(Random(seed), (), seed % 4)
    assert formula_from_bddl(formula_to_bddl(formula)) == formula


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["attr", "mug_1", "clean", True], "(not (stained mug_1))"),
        (["attr", "mug_1", "clean", False, "!="], "(not (stained mug_1))"),
        (["attr", "fridge_1", "open", False], "(not (open fridge_1))"),
        (["attr", "dough_1", "cooked", "raw"], "(and (not (cooked dough_1)) (not (burnt dough_1)))"),
        (["held", "mug_1"], "(grasped agent.n.01_1 mug_1)"),
    ],
)
def test_what_bddl_says_in_another_way(ours: Any, theirs: str) -> None:
    assert formula_to_bddl(ours) == theirs


@pytest.mark.parametrize(
    "formula",
    [
        ["once", ["held", "mug_1"]],
        ["count", ["class", "mug"], "==", 1],
        ["rel", "ontop", "mug_1", "table_1.top"],
        ["rel", "left_of", "mug_1", "mug_2"],
        ["all", "x", ["set", "mug_1"], ["held", "x"]],
        ["attr", "mug_1", "clean", True, ">"],
        ["attr", "note_1", "text:front", "hi"],
    ],
)
def test_what_bddl_cannot_say_is_refused(formula: Any) -> None:
    with pytest.raises(CheckError, match="BDDL cannot say"):
        formula_to_bddl(formula)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(ontop a b", "1 '(' without ')'"),
        ("ontop a b)", "')' without '('"),
        ("(open a) (open b)", "expected one expression, found 2"),
        ("(frozen peach_1)", "BDDL predicate (frozen peach_1) has no counterpart"),
        ("(open a b)", "has no counterpart"),
        ("(forn (3) (?x - mug) (open ?x))", "BDDL operator 'forn' has no counterpart"),
        ("(forall (?x mug) (open ?x))", "expected (forall (?x - category) formula)"),
        ("open", "expected (predicate ...)"),
        ("(" * 200 + ")" * 200, "nested deeper"),
    ],
)
def test_what_is_malformed_or_outside_the_fragment_is_refused(text: str, message: str) -> None:
    with pytest.raises(CheckError) as caught:
        formula_from_bddl(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(problem x)", "starts with (define"),
        ("(define (problem x) (:objects a - b))", "no :goal section"),
        ("(define (problem x) (:objects a) (:goal (open a)))", "has no category"),
        ("(define (problem x) (:objects a -) (:goal (open a)))", "should follow"),
        ("(define x)", "expected a section"),
    ],
)
def test_malformed_activities_are_refused(text: str, message: str) -> None:
    with pytest.raises(CheckError) as caught:
        activity_from_bddl(text)
    assert message in str(caught.value)
