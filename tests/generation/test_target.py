"""The assessment target: what is one, and what of it a task keeps."""

from __future__ import annotations

import re

import msgspec
import pytest

from iwreplay.checks.language import OPERATORS, SELECTORS
from iwreplay.generation import (
    PROMPT_NAMES,
    Proposal,
    Review,
    Statement,
    Target,
    check_lines,
    load_prompts,
    proposal_problems,
    read_pack_text,
    read_struct,
    target_changes,
    target_problems,
)
from iwreplay.generation.answers import MalformedAnswerError
from iwreplay.scene.loader import scene_ids
from iwreplay.taskpack.model import Objective, TaskPack
from tests.generation.scripted import ACCEPT, as_json, fenced, pack_text, proposal_of, target_of, task_from


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> TaskPack:
    return task_from(tmp_path_factory.mktemp("task"))


def _changes(task: TaskPack, changed: TaskPack) -> tuple[str, ...]:
    return target_changes(target_of(task), proposal_of(task), changed, task_id="G90", family="guidance")


def test_a_task_keeps_its_own_target_whatever_else_is_changed(task: TaskPack) -> None:
    other = msgspec.structs.replace(task, things=(), oracle=task.oracle[:1], warmup=(), choices=())
    formulas = tuple(msgspec.structs.replace(o, formula=["true"]) for o in task.objectives)
    assert _changes(task, task) == ()
    assert _changes(task, msgspec.structs.replace(other, objectives=formulas)) == ()


@pytest.mark.parametrize(
    ("field", "change", "said"),
    [
        ("id", lambda t: "G91", "id is 'G91', must be 'G90'"),
        ("family", lambda t: "finding", "family is 'finding', must be 'guidance'"),
        ("scene", lambda t: "library", "scene is 'library'"),
        ("request", lambda t: "Help!", "request is 'Help!'"),
        ("objectives", lambda t: t.objectives[1:], "objectives: 'note_was_read' is missing"),
        ("gates", lambda t: (), "gates: 'read_before_choosing' is missing"),
        ("points", lambda t: t.points[:1], "points: 'note_used' is missing"),
        (
            "objectives",
            lambda t: (*t.objectives, Objective(id="easy", text="It is easy.", formula=["true"])),
            "objectives: 'easy' is not part of the target",
        ),
        (
            "keeps",
            lambda t: (msgspec.structs.replace(t.keeps[0], text="The red mug may move."),),
            "keeps: 'red_mug_stays' says ('The red mug may move.',), must say ('The red mug is where it was.',)",
        ),
        (
            "points",
            lambda t: (msgspec.structs.replace(t.points[0], capability="C9"), t.points[1]),
            "points: 'mugs_told_apart' says ('The blue mug was picked up, and never the red one.', 'C9')",
        ),
        (
            "near_misses",
            lambda t: (msgspec.structs.replace(t.near_misses[0], fails=("red_mug_stays",)), *t.near_misses[1:]),
            "near_misses: 'red_mug' says",
        ),
    ],
)
def test_every_change_of_the_target_is_named(task: TaskPack, field: str, change: object, said: str) -> None:
    changed = msgspec.structs.replace(task, **{field: change(task)})  # type: ignore[operator]
    (found,) = _changes(task, changed)
    assert found.startswith(said)


def test_a_target_that_is_none(task: TaskPack) -> None:
    good = target_of(task)
    assert target_problems(good, capability="C3") == ()
    assert target_problems(good, capability="C8") == ("no point is for the capability C8, which was asked for",)
    bad = msgspec.structs.replace(
        good,
        objectives=(),
        keeps=(Statement(id="Red Mug", text=" "), Statement(id="read_before_choosing", text="twice")),
        points=(msgspec.structs.replace(good.points[0], capability="C11"),),
        near_misses=(msgspec.structs.replace(good.near_misses[0], fails=("nothing",)),),
    )
    assert target_problems(bad, capability="C3") == (
        "id 'Red Mug' must be lower-case letters, digits and _, beginning with a letter",
        "'Red Mug' has no text",
        "id 'read_before_choosing' is given 2 times",
        "there is no objective",
        "point 'mugs_told_apart': capability 'C11' is none of C1, C2, C3, C4, C5, C6, C7, C8, C9",
        "no point is for the capability C3, which was asked for",
        "there must be 2 near misses or more, there are 1",
        "near miss 'red_mug' fails 'nothing', which is no objective, gate or keep",
    )


def test_a_proposal_that_is_none(task: TaskPack) -> None:
    good = proposal_of(task)
    assert proposal_problems(good, scenes=scene_ids()) == ()
    assert proposal_problems(good, scenes=scene_ids(), scene="library") == (
        f"scene {task.scene!r} was not asked for, 'library' was",
    )
    bad = msgspec.structs.replace(good, title=" ", steps=(), scene="libary")
    found = proposal_problems(bad, scenes=scene_ids())
    assert found[:2] == ("title is empty", "steps is empty")
    assert found[2].startswith("scene 'libary' does not exist. Nearest: library")


def test_checks_are_shown_with_their_formulas(task: TaskPack) -> None:
    lines = check_lines(task)
    assert len(lines) == len(task.objectives) + len(task.gates) + len(task.keeps) + len(task.points)
    assert 'keep red_mug_stays: The red mug is where it was. :: formula = ["baseline","mug_2"]' in lines
    assert any(line.startswith("point for C3 note_used: ") and "reached = " in line for line in lines)


def test_answers_are_found_between_words(task: TaskPack) -> None:
    wanted = proposal_of(task)
    for text in (as_json(wanted), fenced(as_json(wanted), "json"), f"Sure! {as_json(wanted)} Is that right?"):
        assert read_struct(text, Proposal) == wanted
    assert read_struct(ACCEPT, Review) == Review(verdict="accept")
    for text in (pack_text(), fenced(pack_text(), "toml"), fenced(pack_text(), "")):
        assert read_pack_text(text).strip() == pack_text().strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the answer is empty"),
        ("I can't help with that.", "there is no JSON object in the answer, which begins \"I can't help"),
        ('{"verdict": "accept"', "the JSON object can't be used|there is no JSON object"),
        ('{"verdict": "maybe"}', "Invalid enum value 'maybe'"),
        ('{"verdict": "accept", "score": 5}', "unknown field `score`"),
        ('```json\n{"verdict": "acc', "the fenced block is not closed: the answer was cut off"),
        (f"```json\n{ACCEPT}\n```\n```json\n{ACCEPT}\n```\n", "there are 2 fenced blocks"),
        ("{" * 200_001, "at most 200000 are read"),
        ('{"verdict": "revise", "problems": ["\ud800"]}', "the JSON object can't be used"),
    ],
)
def test_an_answer_that_is_none_says_why(text: str, said: str) -> None:
    with pytest.raises(MalformedAnswerError, match=said):
        read_struct(text, Review)


def test_a_pack_that_is_none_says_why() -> None:
    with pytest.raises(MalformedAnswerError, match="is not a whole task file; it begins 'I am sorry'"):
        read_pack_text("I am sorry")


def test_prompts_have_all_that_they_are_filled_with() -> None:
    prompts = load_prompts()
    assert tuple(prompts.hashes()) == PROMPT_NAMES
    for role in ("author", "reviewer"):
        assert "scene-text reading" in prompts.system(role, family="guidance", capability="C3")
    with pytest.raises(KeyError):
        prompts.fill("review_need", {})
    assert Target.__struct_fields__ == ("objectives", "gates", "keeps", "points", "near_misses")


def test_the_author_is_told_every_operator_and_selector() -> None:
    """What the check language gains, the prompt must say."""
    prompt = load_prompts().texts["pack"]
    assert [name for name in (*OPERATORS, *SELECTORS) if not re.search(rf"\b{name}\b", prompt)] == []
