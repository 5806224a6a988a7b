"""The way of a generation: what goes back, what is frozen, when it is given up, and how it goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from iwreplay.app import generating, reference
from iwreplay.app.generating import JOURNAL, GenerationPlan, generate_task, plan_generation
from iwreplay.app.validation import TaskCheck, TaskReport
from iwreplay.canonical import sha256_hex
from iwreplay.errors import ModelError, StoreError, TaskError, UnknownNameError
from iwreplay.generation import (
    ChecksReviewed,
    GenerationClosed,
    GenerationOpened,
    GenerationRecord,
    ModelCalled,
    PackChecked,
    ProposalReviewed,
    TargetFrozen,
)
from iwreplay.scene.loader import scene_ids
from iwreplay.store.journal import read_journal
from tests.generation.scripted import (
    ACCEPT,
    ScriptedModel,
    as_json,
    fenced,
    pack_text,
    proposal_of,
    target_of,
    task_from,
)

PLAN = GenerationPlan(task_id="G90", family="guidance", capability="C3", scene="family_kitchen")
GOOD = fenced(pack_text(), "toml")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Proposal and target."""
    task = task_from(tmp_path_factory.mktemp("task"))
    return [as_json(proposal_of(task)), as_json(target_of(task))]


@pytest.fixture(scope="module", autouse=True)
def read_once() -> Iterator[None]:
    """Scenes and classes, for all tests of this module."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((generating, "load_library"), (reference, "one_scene"), (reference, "classes")):
            patch.setattr(owner, name, cache(getattr(owner, name)))
        yield


@pytest.fixture
def all_is_well(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Running the task finds nothing; gives the files that were run. The tests over HTTP really run it."""
    run: list[str] = []

    def check(task: Any, *, path: str, pages: Path, **_: Any) -> TaskReport:
        run.append(path)
        bad = "never" in task.human.role
        pages.mkdir(exist_ok=True)
        (pages / f"{task.id}.html").write_text("page")
        return TaskReport(
            task=task.id,
            ok=not bad,
            checks=(
                TaskCheck(name="loads", ok=True),
                TaskCheck(name="oracle passes", ok=not bad, detail="mcr 0.50: note_was_read is false" if bad else ""),
            ),
        )

    monkeypatch.setattr(generating, "check_task", check)
    return run


def _generated(
    out: Path, author: list[str | Exception], reviewer: list[str | Exception], *, plan: GenerationPlan = PLAN
) -> tuple[Any, ScriptedModel, ScriptedModel]:
    a, r = ScriptedModel("x/author", author), ScriptedModel("y/reviewer", reviewer)
    return generate_task(plan, author=a, reviewer=r, out=out), a, r


def _of(out: Path, kind: type[Any]) -> list[Any]:
    return [r for r in read_journal(out / JOURNAL, GenerationRecord) if isinstance(r, kind)]


def test_a_good_task_is_accepted_at_once(tmp_path: Path, answers: list[str], all_is_well: list[str]) -> None:
    done, author, reviewer = _generated(tmp_path, [*answers, GOOD], [ACCEPT] * 3)
    assert (done.outcome, done.revisions, done.calls, done.reused, done.cost_usd) == ("accepted", 0, 6, 0, 1.5)
    assert (author.left, reviewer.left) == ([], [])
    assert (tmp_path / "G90.toml").read_text().strip() == pack_text().strip()
    assert {(r.seed, r.temperature) for r in (*author.asked, *reviewer.asked)} == {(11, 0.0)}
    kinds = [type(r).__name__ for r in read_journal(tmp_path / JOURNAL, GenerationRecord)]
    assert kinds == [
        "GenerationOpened", "ModelCalled", "ModelCalled", "ModelCalled", "ProposalReviewed", "ModelCalled",
        "TargetFrozen", "ModelCalled", "ModelCalled", "ChecksReviewed", "PackChecked", "GenerationClosed",
    ]  # fmt: skip
    # whole questions and whole answers
    calls = _of(tmp_path, ModelCalled)
    assert [c.answer for c in calls if c.role == "author"] == [*answers, GOOD]
    assert [tuple(t for _, t in c.messages) for c in calls if c.role == "reviewer"] == [
        tuple(m.text for m in r.messages) for r in reviewer.asked
    ]
    (closed,) = _of(tmp_path, GenerationClosed)
    assert closed.pack_sha256 == sha256_hex((tmp_path / "G90.toml").read_bytes())


def test_an_author_that_may_choose_is_shown_every_scene(
    tmp_path: Path, answers: list[str], all_is_well: list[str]
) -> None:
    _, author, _ = _generated(tmp_path, [*answers, GOOD], [ACCEPT] * 3, plan=msgspec.structs.replace(PLAN, scene=""))
    asked, _, last = (r.messages[1].text for r in author.asked)
    assert all(f"\n{name} (" in asked for name in scene_ids())
    assert "surface counter_1.top" in last


def test_the_reviews_are_independent(tmp_path: Path, answers: list[str], all_is_well: list[str]) -> None:
    _, _, reviewer = _generated(tmp_path, [*answers, GOOD], [ACCEPT] * 3)
    need, feasible = (r.messages[1].text for r in reviewer.asked[:2])
    assert "is help needed" in need
    assert "can it be done and checked" in feasible
    assert "verdict" not in need + feasible


def test_a_proposal_goes_back_with_what_both_reviewers_say(
    tmp_path: Path, answers: list[str], all_is_well: list[str]
) -> None:
    revise = '{"verdict": "revise", "problems": ["%s"]}'
    reviews: list[str | Exception] = [revise % "too easy", revise % "no such drawer", ACCEPT, ACCEPT, ACCEPT]
    first = answers[0].replace("Two mugs", "Mugs")
    done, author, _ = _generated(tmp_path, [first, *answers, GOOD], reviews)
    assert (done.outcome, done.revisions) == ("accepted", 1)
    again = author.asked[1].messages[1].text
    assert "- too easy\n- no such drawer" in again
    assert [len(r.problems) for r in _of(tmp_path, ProposalReviewed)] == [2, 0]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (("The note was read.", "The note was seen."), "the frozen target is broken: objectives: 'note_was_read' says"),
        (('fails = ["read_before_choosing"]', 'fails = ["red_mug_stays"]'), "the frozen target is broken: near_misses"),
        (('id = "G90"', 'id = "G91"'), "the frozen target is broken: id is 'G91', must be 'G90'"),
        (('cls = "mug"', 'cls = "mugg"'), "it does not load: "),
        (("[[objectives]]", "[[objectives]"), "it does not load: |is not a whole task file"),
    ],
)
def test_what_breaks_the_target_or_does_not_load_goes_back(
    tmp_path: Path, answers: list[str], all_is_well: list[str], broken: tuple[str, str], said: str
) -> None:
    bad = fenced(pack_text().replace(*broken), "toml")
    assert bad != GOOD
    done, author, _ = _generated(tmp_path, [*answers, bad, GOOD], [ACCEPT] * 3)
    assert (done.outcome, done.revisions) == ("accepted", 1)
    first, last = _of(tmp_path, PackChecked)
    assert re.search(said, " ".join(first.problems))
    assert first.checks == ()
    assert last.problems == ()
    # nothing was run that is not the frozen target
    assert all_is_well == [str(tmp_path / "attempts" / "G90-1.toml")]
    # the reasons and the whole answer are what the author is told
    assert " ".join(first.problems)[:40] in author.asked[-1].messages[1].text
    (frozen,) = _of(tmp_path, TargetFrozen)
    assert first.target_sha256 == last.target_sha256 == frozen.sha256


def test_what_fails_when_it_is_run_goes_back(tmp_path: Path, answers: list[str], all_is_well: list[str]) -> None:
    bad = fenced(pack_text().replace('role = "A host', 'role = "One who never hosts'), "toml")
    done, author, _ = _generated(tmp_path, [*answers, bad, GOOD], [ACCEPT] * 3)
    assert (done.outcome, done.revisions) == ("accepted", 1)
    assert "- oracle passes: mcr 0.50: note_was_read is false" in author.asked[-1].messages[1].text


def test_changed_formulas_are_reviewed_again_and_the_same_are_not(
    tmp_path: Path, answers: list[str], all_is_well: list[str]
) -> None:
    weak = fenced(pack_text().replace('formula = ["baseline", "mug_2"]', 'formula = ["true"]'), "toml")
    never = fenced(pack_text().replace('role = "A host', 'role = "One who never hosts'), "toml")
    weaker = '{"verdict": "revise", "problems": ["red_mug_stays is always true"]}'
    done, author, reviewer = _generated(tmp_path, [*answers, weak, never, GOOD], [ACCEPT, ACCEPT, weaker, ACCEPT])
    assert (done.outcome, done.revisions) == ("accepted", 2)
    assert "the reviewer of the formulas: red_mug_stays is always true" in author.asked[-2].messages[1].text
    # three versions, two kinds of formulas
    assert [r.review.verdict for r in _of(tmp_path, ChecksReviewed)] == ["revise", "accept"]
    assert reviewer.left == []
    assert all_is_well == [str(tmp_path / "attempts" / f"G90-{n}.toml") for n in (1, 2)]


def test_it_is_given_up_after_the_most_revisions(tmp_path: Path, answers: list[str], all_is_well: list[str]) -> None:
    never = fenced(pack_text().replace('role = "A host', 'role = "One who never hosts'), "toml")
    done, author, _ = _generated(tmp_path, [*answers, *[never] * 9], [ACCEPT] * 3)
    assert (done.outcome, done.revisions, done.file, author.left) == ("not_converged", 8, None, [])
    assert done.reason == (
        "after 8 revisions the pack still has problems: oracle passes: mcr 0.50: note_was_read is false"
    )
    assert not (tmp_path / "G90.toml").exists()
    assert len(_of(tmp_path, PackChecked)) == 9
    assert _of(tmp_path, GenerationClosed)[0].outcome == "not_converged"


@pytest.mark.parametrize("garbage", ["", "As a language model ...", '{"title": 3}', "```json\n{"])
def test_an_author_that_never_makes_sense_is_given_up(tmp_path: Path, all_is_well: list[str], garbage: str) -> None:
    plan = msgspec.structs.replace(PLAN, revisions=2)
    done, author, _ = _generated(tmp_path, [garbage] * 3, [], plan=plan)
    assert (done.outcome, done.revisions, author.left) == ("not_converged", 2, [])
    assert "after 2 revisions the proposal still has problems" in done.reason


def test_a_reviewer_that_never_makes_sense_is_given_up(
    tmp_path: Path, answers: list[str], all_is_well: list[str]
) -> None:
    done, _, reviewer = _generated(tmp_path, answers[:1], ["yes", "yes!", "yes!!", "yes!!!"])
    assert done.outcome == "not_converged"
    assert "the reviewer's answers could not be read" in done.reason
    assert [m.role for m in reviewer.asked[-1].messages] == ["system", "user", "assistant", "user"]


def test_a_reviewer_that_makes_sense_at_last_is_heard(
    tmp_path: Path, answers: list[str], all_is_well: list[str]
) -> None:
    said: list[str | Exception] = ["yes", "yes!", "yes!!", ACCEPT, ACCEPT, ACCEPT]
    done, _, reviewer = _generated(tmp_path, [*answers, GOOD], said)
    assert (done.outcome, reviewer.left) == ("accepted", [])


def test_it_goes_on_where_it_was(tmp_path: Path, answers: list[str], all_is_well: list[str]) -> None:
    away = ModelError("x/author", "it is away", transient=True)
    with pytest.raises(ModelError):
        _generated(tmp_path, [*answers, away], [ACCEPT] * 2)
    before = read_journal(tmp_path / JOURNAL, GenerationRecord)
    done, author, reviewer = _generated(tmp_path, [GOOD], [ACCEPT])
    assert (done.outcome, done.calls, done.reused) == ("accepted", 6, 4)
    assert (author.left, reviewer.left) == ([], [])
    after = read_journal(tmp_path / JOURNAL, GenerationRecord)
    assert after[: len(before)] == before
    # and once more, from the journal alone
    done, _, _ = _generated(tmp_path, [], [])
    assert (done.outcome, done.calls, done.reused) == ("accepted", 6, 6)
    assert read_journal(tmp_path / JOURNAL, GenerationRecord) == after
    assert len(all_is_well) == 1


def test_another_generation_is_not_mixed_in(tmp_path: Path, answers: list[str], all_is_well: list[str]) -> None:
    _generated(tmp_path, [*answers, GOOD], [ACCEPT] * 3)
    before = (tmp_path / JOURNAL).read_bytes()
    other = msgspec.structs.replace(PLAN, capability="C1", seed=12)
    with pytest.raises(StoreError, match=r"capability was 'C3', is 'C1'; seed was 11, is 12\. Choose another folder"):
        _generated(tmp_path, [], [], plan=other)
    assert (tmp_path / JOURNAL).read_bytes() == before
    opened = _of(tmp_path, GenerationOpened)
    assert [(o.author, o.reviewer, o.revisions) for o in opened] == [("x/author", "y/reviewer", 8)]


def test_author_and_reviewer_must_differ(tmp_path: Path) -> None:
    same = ScriptedModel("x/one", [])
    with pytest.raises(ModelError, match="it is the author and the reviewer"):
        generate_task(PLAN, author=same, reviewer=same, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"family": "guidence"}, UnknownNameError, "unknown family 'guidence'. Nearest: guidance"),
        ({"capability": "C10"}, UnknownNameError, "unknown capability 'C10'"),
        ({"scene": "the moon"}, UnknownNameError, "unknown scene 'the moon'"),
        ({"task_id": "G05"}, TaskError, "id 'G05' is taken; the next free one is G"),
        ({"task_id": "F90"}, TaskError, "id 'F90' is not G and two digits"),
    ],
)
def test_a_plan_with_a_wrong_name(change: dict[str, str], error: type[Exception], said: str) -> None:
    asked: dict[str, Any] = {"family": "guidance", "capability": "C3", **change}
    plan: Callable[..., GenerationPlan] = plan_generation
    with pytest.raises(error, match=said):
        plan(**asked)
