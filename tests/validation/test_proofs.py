"""Each proof of a task can fail: a task that breaks exactly that one."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from iwreplay.app import validation
from iwreplay.app.evidence import prove_evidence
from iwreplay.app.families import family_findings
from iwreplay.app.proofs import guessing_finding
from iwreplay.app.shorter import Marks
from iwreplay.app.validation import TaskCheck, check_task
from iwreplay.checks.lint import choice_outcomes, expected_by_lot, lint_task
from iwreplay.frames.maker import FrameMaker
from iwreplay.loop import configured
from iwreplay.taskpack.loader import compile_task, load_task, validate_task
from iwreplay.taskpack.model import Choice, Evidence, NearMiss, OracleStep, TaskPack
from iwreplay.vocabulary import CAPABILITIES, FAMILIES
from recorder.assistants import OracleAssistant

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
EVIDENCE = "evidence is shown in time"
MUG_GRABBED = ["event", {"verb": "grab", "obj": ["class", "mug"]}]


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> TaskPack:
    """The task of docs/tasks.md, without near misses: they are others' business, and take time."""
    path = tmp_path_factory.mktemp("page") / "g90.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.S)), encoding="utf-8")
    return msgspec.structs.replace(load_task(path), near_misses=())


def _with(task: TaskPack, **changes: Any) -> TaskPack:
    return msgspec.structs.replace(task, **changes)


@cache
def _checked(raw: bytes) -> tuple[TaskCheck, ...]:
    """The proofs that rest on the oracle's episode; its other checks have tests of their own."""
    task = msgspec.json.decode(raw, type=TaskPack)
    scene, marks = validate_task(task), Marks()
    maker = FrameMaker(scene, config=configured(task, draw_frames=False), threads=1)
    with tempfile.TemporaryDirectory() as folder:
        oracle = OracleAssistant(task.oracle)
        played = validation._play(task, scene, Path(folder), oracle, name="o", maker=maker, engine=marks.engine)
    proofs = prove_evidence(task, scene, played.events, maker=maker)
    found = validation._proofs(task, scene, played, proofs=proofs, marks=marks, maker=maker, search="bounded")
    return (*found, validation._passes(played, validation._File("", "")))


def _failed(task: TaskPack) -> dict[str, str]:
    """Name and detail of every check that fails."""
    return {c.name: c.detail for c in _checked(msgspec.json.encode(task)) if not c.ok}


def test_the_task_itself_fails_nothing(task: TaskPack) -> None:
    assert _failed(task) == {}


# -- evidence


def test_a_read_in_the_same_breath_comes_too_late(task: TaskPack) -> None:
    said = "Read the note. Pick up the blue mug."
    steps = (OracleStep(say=said, do=("[Read] note", "[Grab] blue mug")), task.oracle[2])
    failed = _failed(_with(task, oracle=steps))
    assert set(failed) == {"evidence is shown in time"}
    assert "the text of note_1.top" in failed["evidence is shown in time"]
    assert "[Grab] blue mug in turn 1" in failed["evidence is shown in time"]
    assert "end the turn after the Read" in failed["evidence is shown in time"]


def test_a_gate_under_a_quantifier_asks_for_each_of_its_things(task: TaskPack) -> None:
    read = ["once", ["event", {"kind": "exposed_text", "obj": "n"}]]
    each = ["all", "n", ["set", "note_1"], ["gate", MUG_GRABBED, read]]
    said = "Read the note. Pick up the blue mug."
    steps = (OracleStep(say=said, do=("[Read] note", "[Grab] blue mug")), task.oracle[2])
    gates = (msgspec.structs.replace(task.gates[0], formula=each),)
    # the task declares it as well; without that only the gate asks for it
    failed = _failed(_with(task, oracle=steps, gates=gates, evidence=()))
    assert "[Grab] blue mug in turn 1" in failed["evidence is shown in time"]


@pytest.mark.slow
def test_what_was_seen_in_the_warmup_only_must_have_been(task: TaskPack) -> None:
    evidence = (Evidence(read="note_1.top", source="warmup", before=MUG_GRABBED),)
    failed = _failed(_with(task, evidence=evidence))
    assert set(failed) == {"evidence is shown in time"}
    assert "the text of note_1.top has capitals of 4.68 pixels; 4.75 are needed" in failed["evidence is shown in time"]
    assert "before: [Grab] blue mug in turn 2" in failed["evidence is shown in time"]


@pytest.mark.slow
def test_what_must_be_remembered_is_out_of_sight(task: TaskPack) -> None:
    evidence = (Evidence(see="mug_1", source="warmup", before=MUG_GRABBED, gone=True),)
    failed = _failed(_with(task, evidence=evidence))
    assert set(failed) == {"evidence is shown in time"}
    assert "mug_1 is still in view in f0" in failed["evidence is shown in time"]


@pytest.mark.slow
def test_evidence_for_what_never_happens_is_named(task: TaskPack) -> None:
    evidence = (Evidence(see="mug_1", before=["event", {"verb": "sit"}]),)
    failed = _failed(_with(task, evidence=evidence))
    assert set(failed) == {"evidence is shown in time"}
    assert "never does; mend `before`" in failed["evidence is shown in time"]


@pytest.mark.slow
def test_memory_is_declared(task: TaskPack) -> None:
    point = msgspec.structs.replace(task.points[0], id="remembered", capability="C4")
    failed = _failed(_with(task, tests=("C1", "C3", "C4"), points=(*task.points, point), evidence=msgspec.UNSET))
    assert set(failed) == {"evidence is shown in time"}
    assert "tests C4" in failed["evidence is shown in time"]


@pytest.mark.slow
def test_what_lies_upside_down_is_not_shown(task: TaskPack) -> None:
    things = tuple(msgspec.structs.replace(t, yaw_deg=180.0) if t.id == "note_1" else t for t in task.things)
    failed = _failed(_with(task, things=things))
    assert "the text of note_1.top is too small, turned away, upside down or cut off" in failed[EVIDENCE]


# -- the shortest oracle


def test_a_longer_oracle_is_found_out_and_the_shorter_one_printed(task: TaskPack) -> None:
    steps = (*task.oracle[:2], OracleStep(say="Wait for 3 seconds.", do=("[Wait] 3",)), task.oracle[2])
    failed = _failed(_with(task, oracle=steps))
    assert set(failed) == {"oracle is the shortest"}
    assert "without [Wait] 3 (turn 3) it passes too" in failed["oracle is the shortest"]
    assert "1. [Read] note; 2. [Grab] blue mug; 3. [Walk] dining table" in failed["oracle is the shortest"]


def test_the_search_goes_on_from_what_it_finds(task: TaskPack) -> None:
    """Three things too many, far from each other: no single one that is left out gives the shortest."""
    wait = OracleStep(say="Wait for 3 seconds.", do=("[Wait] 3",))
    read = OracleStep(say="Read the note.", do=("[Read] note",))
    steps = (wait, task.oracle[0], read, task.oracle[1], wait, task.oracle[2])
    failed = _failed(_with(task, oracle=steps))
    assert set(failed) == {"oracle is the shortest"}
    said = failed["oracle is the shortest"]
    assert said.count("without ") == 3
    assert said.split("only it gives): ")[1] == (
        "1. [Read] note; 2. [Grab] blue mug; 3. [Walk] dining table [PutOn] mug, dining table"
    )


@pytest.mark.slow
def test_a_turn_of_words_only_is_too_long_too(task: TaskPack) -> None:
    steps = (task.oracle[0], OracleStep(), *task.oracle[1:])
    failed = _failed(_with(task, oracle=steps))
    assert set(failed) == {"oracle is the shortest"}
    assert "without turn 2 (silent)" in failed["oracle is the shortest"]


def test_what_the_assistant_could_not_know_is_no_shorter_oracle(task: TaskPack) -> None:
    """Without gate and objective the note need not be read; what is declared as evidence still asks for it."""
    lax = _with(task, gates=(), objectives=task.objectives[1:], points=task.points[:1], tests=("C1",))
    assert set(_failed(lax)) == set()
    failed = _failed(_with(lax, evidence=msgspec.UNSET))
    assert set(failed) == {"oracle is the shortest"}
    assert "without [Read] note (turn 1)" in failed["oracle is the shortest"]


# -- hidden names


@pytest.mark.parametrize("where", ["do", "say", "request", "near miss", "no help"])
def test_a_hidden_name_is_found_wherever_it_is(task: TaskPack, where: str) -> None:
    step = OracleStep(
        say="Take mug_1." if where == "say" else "Take it.", do=("[Grab] mug_1",) if where == "do" else ()
    )
    miss = NearMiss(
        id="m", text="", oracle=(OracleStep(say="Take it.", do=("[Grab] mug_1",)),), fails=("note_was_read",)
    )
    wrong: dict[str, TaskPack] = {
        "request": _with(task, request="Please bring mug_1."),
        "near miss": _with(task, near_misses=(miss,)),
        "no help": _with(task, no_help=("[Grab] mug_1",)),
    }
    bad = wrong.get(where) or _with(task, oracle=(step, *task.oracle))
    found = validation._hidden_names(bad, compile_task(bad))
    assert not found.ok
    assert "identifier 'mug_1'" in found.detail
    assert validation._hidden_names(task, compile_task(task)).ok


# -- guessing


@pytest.mark.parametrize(
    ("choice", "outcomes"),
    [
        (Choice(text="", of=tuple("abc")), 3),
        (Choice(text="", of=tuple("abcdefghijkl"), take=3), 220),
        (Choice(text="", of=tuple("abcd"), take=4, places=2), 16),
        (Choice(text="", of=tuple("ab"), take=3), 0),
        (Choice(text="", of=tuple("ab"), places=0), 0),
    ],
)
def test_outcomes_are_counted(choice: Choice, outcomes: int) -> None:
    assert choice_outcomes(choice) == outcomes


def test_chances_multiply_and_too_good_ones_fail(task: TaskPack) -> None:
    pair, four = Choice(text="a", of=("mug_1", "mug_2")), Choice(text="b", of=tuple("abcd"), right=2)
    assert expected_by_lot(_with(task, choices=(pair, four))) == 0.25
    assert guessing_finding(_with(task, choices=(pair, four))).ok
    lucky = guessing_finding(_with(task, choices=(Choice(text="b", of=tuple("abcd"), right=3),)))
    assert not lucky.ok
    assert lucky.detail.startswith("0.75 by lot (b: 3 of 4); at most 0.5")


def test_a_decision_task_says_what_is_chosen(task: TaskPack) -> None:
    assert guessing_finding(_with(task, choices=msgspec.UNSET)).ok
    found = guessing_finding(_with(task, family="decision", choices=msgspec.UNSET))
    assert not found.ok
    assert "[[choices]]" in found.detail


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"choices": (Choice(text="", of=("mug_1", "mug_9")),)}, "choices[0] of: the scene has no thing 'mug_9'"),
        ({"choices": (Choice(text="", of=("mug_1", "mug_1")),)}, "choices[0] of: 'mug_1' is there 2 times"),
        ({"choices": (Choice(text="", of=("mug_1", "mug_2"), right=2),)}, "choices[0] right: 2 of 2 outcomes"),
        ({"choices": (Choice(text="", of=("mug_1", "mug_2"), take=2),)}, "leaves nothing to choose"),
        ({"evidence": (Evidence(before="x"),)}, "evidence[0] has either `see` or `read`"),
        ({"evidence": (Evidence(see="mug_9", before="note_was_read"),)}, "no thing 'mug_9'"),
        ({"evidence": (Evidence(read="note_1.back", before="note_was_read"),)}, "no face 'back'"),
        ({"evidence": (Evidence(see="mug_1", before="nothing"),)}, "'nothing' is no objective"),
        ({"evidence": (Evidence(see="mug_1", before=["event", {"verb": "lift"}]),)}, "unknown verb 'lift'"),
    ],
)
def test_a_wrong_declaration_is_named(task: TaskPack, changes: dict[str, Any], said: str) -> None:
    wrong = _with(task, **changes)
    errors = [f"{f.where} {f.message}" for f in lint_task(wrong, compile_task(wrong)) if f.level == "error"]
    assert len(errors) == 1
    assert said in errors[0]


def test_a_wrong_declaration_does_not_load(task: TaskPack) -> None:
    report = check_task(_with(task, evidence=(Evidence(see="mug_9", before="note_was_read"),)))
    assert {c.name for c in report.checks if not c.ok} == {"loads"}
    assert (report.family, report.turns, report.actions, report.by_lot) == ("guidance", 3, 4, 0.5)


# -- families


SPREAD = [4, 5, 6, 7, 8, 12] + [4] * 14


def _family(task: TaskPack, family: str, lengths: list[int]) -> list[TaskPack]:
    points = tuple(msgspec.structs.replace(task.points[0], id=f"p{c.lower()}", capability=c) for c in CAPABILITIES)
    miss = NearMiss(id="m", text="", oracle=task.oracle, fails=("note_was_read",))
    return [
        _with(
            task,
            id=f"{family}{n:02}",
            family=family,
            oracle=(OracleStep(say="x", do=("[Wait]",) * k),),
            points=points,
            near_misses=(miss, miss),
        )
        for n, k in enumerate(lengths, start=1)
    ]


def _wrong(tasks: list[TaskPack]) -> dict[tuple[str, str], str]:
    return {(family, f.name): f.detail for family, f in family_findings(tasks) if not f.ok}


def test_families_that_are_not_whole_are_not_judged(task: TaskPack) -> None:
    assert list(family_findings(_family(task, "guidance", [3] * 19))) == []


def test_whole_families_are_judged_and_all_of_them_together(task: TaskPack) -> None:
    every = [t for family in FAMILIES for t in _family(task, family, SPREAD)]
    found = list(family_findings(every))
    assert [(family, f.ok) for family, f in found] == [(f, True) for f in FAMILIES for _ in range(2)] + [("all", True)]
    assert "C9 120 points in 120 tasks" in found[-1][1].detail
    without = [_with(t, points=t.points[:-1]) for t in every]
    assert list(_wrong(without)) == [("all", "points cover the capabilities")]
    assert "no point measures C9" in _wrong(without)[("all", "points cover the capabilities")]


def test_lengths_must_differ_and_spread(task: TaskPack) -> None:
    name = ("planning", "oracle lengths differ")
    few = _wrong(_family(task, "planning", [4, 5, 6, 7, 12] * 4))
    assert (list(few), "at least 6" in few[name]) == ([name], True)
    narrow = _wrong(_family(task, "planning", [5, 6, 7, 8, 9, 14] + [5] * 14))
    assert (list(narrow), "3 times the shortest" in narrow[name]) == ([name], True)


def test_two_near_misses_a_task(task: TaskPack) -> None:
    family = _family(task, "finding", SPREAD)
    family[3] = _with(family[3], near_misses=family[3].near_misses[:1])
    assert _wrong(family) == {
        ("finding", "near misses"): "39 in 20 tasks; at least 2 a task are asked for: finding04 has 1"
    }
