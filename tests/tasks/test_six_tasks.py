"""The six real tasks with the literal Human: statements 28 to 31 of the protocol, and the audit of every episode."""

from __future__ import annotations

import re

import msgspec
import pytest

from iwreplay.app.validation import check_task
from iwreplay.checks.lint import lint_start
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EpisodeEnded,
    HumanTurn,
    PhaseChanged,
    PrimitiveOutcome,
    WorldSnapshot,
)
from iwreplay.loop import LeakScanner, protocol_violations
from iwreplay.ports import HumanView
from iwreplay.taskpack.model import OracleStep
from iwreplay.vocabulary import CAPABILITIES
from tests.tasks.playing import SIX, SMALL, failed_checks, misses, named, of, played, scene_of, task_of

EPISODES = named(SIX + SMALL)


def test_there_is_one_of_each_family() -> None:
    assert sorted(task_of(name).family for name in SIX) == [
        "accessibility", "decision", "finding", "guidance", "planning", "prevention",
    ]  # fmt: skip
    assert all(misses(name) for name in SIX)


@pytest.mark.parametrize("name", SIX + SMALL)
def test_the_oracle_passes_without_a_refusal_and_wins_every_point(name: str) -> None:
    done = played(name, "oracle")
    assert failed_checks(done.evaluation) == set()
    assert done.evaluation.passed
    assert done.evaluation.mcr == 1.0
    assert [o.command for o in of(done.events, PrimitiveOutcome) if not o.ok] == []
    assert {p.id: p.status for p in done.evaluation.points} == dict.fromkeys(
        (p.id for p in task_of(name).points), "clean_pass"
    )
    assert name in SMALL or done.evaluation.points
    assert of(done.events, EpisodeEnded)[0].reason == "done"


@pytest.mark.parametrize("name", SIX + SMALL)
def test_silence_passes_nothing(name: str) -> None:
    done = played(name, "silent")
    assert not done.evaluation.passed
    (ended,) = of(done.events, EpisodeEnded)
    assert (ended.reason, ended.valid) == ("turn_limit", True)
    assert {d.decision for d in of(done.events, AssistantDecision)} == {"silent"}
    if name in SIX:
        assert done.evaluation.mcr == 0.0


@pytest.mark.parametrize("name", SIX)
def test_no_help_fails_though_the_human_does_all_it_can_by_itself(name: str) -> None:
    done = played(name, "no_help")
    assert not done.evaluation.passed
    (ended,) = of(done.events, EpisodeEnded)
    assert ended.valid
    outcomes = [o for o in of(done.events, PrimitiveOutcome) if o.phase == "closed_loop"]
    assert [o.command for o in outcomes] == list(task_of(name).no_help)
    assert all(o.ok for o in outcomes), "a no-help sequence that is refused proves nothing"


@pytest.mark.parametrize(("name", "miss"), [(n, m) for n in SIX + SMALL for m in misses(n)])
def test_a_near_miss_fails_exactly_what_it_names(name: str, miss: str) -> None:
    wanted = {m.id: set(m.fails) for m in task_of(name).near_misses}[miss]
    done = played(name, miss)
    assert failed_checks(done.evaluation) == wanted
    assert wanted
    assert not done.evaluation.passed
    assert [o.command for o in of(done.events, PrimitiveOutcome) if not o.ok] == []


@pytest.mark.parametrize("name", SIX + SMALL)
def test_words_give_the_commands_that_the_task_says(name: str) -> None:
    """The oracle and its near misses speak; nothing but the literal Human makes commands of it."""
    task = task_of(name)
    for how, steps in [("oracle", task.oracle), *((m.id, m.oracle) for m in task.near_misses)]:
        turns = {t.turn: t.commands for t in of(played(name, how).events, HumanTurn)}
        for n, step in enumerate(steps, start=1):
            if step.say:
                assert turns[n] == (step.do or ("[NoOp]",)), (how, step.say)
                assert "[" not in step.say, "a person would not say a command"


@pytest.mark.parametrize("name", SIX + SMALL)
def test_objectives_are_false_and_keeps_true_at_the_start(name: str) -> None:
    assert lint_start(played(name, "oracle").events) == ()


@pytest.mark.parametrize(("name", "how"), EPISODES)
def test_every_episode_follows_the_protocol(name: str, how: str) -> None:
    done = played(name, how)
    assert protocol_violations(done.events) == ()
    assert [p.phase for p in of(done.events, PhaseChanged)] == ["scene_init", "warmup", "closed_loop", "end"]
    warmup = [c for c in of(done.events, CommandIssued) if c.phase == "warmup"]
    assert [c.text for c in warmup] == list(task_of(name).warmup)
    assert {s.reason for s in of(done.events, WorldSnapshot)} >= {"initial", "baseline", "final"}


@pytest.mark.parametrize(("name", "how"), EPISODES)
def test_nobody_is_shown_a_secret(name: str, how: str) -> None:
    """Every string of every view, by the scanner and by a second, dumber reading of the task and the scene."""
    task, scene, done = task_of(name), scene_of(name), played(name, how)
    scanner = LeakScanner(task, scene)
    public = {w for t in scene.things for n in (t.name, *t.nouns) for w in (n, *n.split())}
    rooms = {r.id for r in scene.rooms}
    secrets = {t.id for t in scene.things} - public - rooms
    secrets |= {
        c.id for c in (*task.objectives, *task.gates, *task.keeps, *task.points, *task.near_misses, *task.script)
    }
    secrets = {s for s in secrets if "_" in s}
    assert len(secrets) >= 5
    checks = [c.text for c in (*task.objectives, *task.gates, *task.keeps, *task.points)]
    spoken = "\n".join([*(d.text or "" for d in of(done.events, AssistantDecision)),
                        *(c.text for c in of(done.events, CommandIssued))])  # fmt: skip
    assert done.assistant_views
    assert how == "silent" or done.human_views
    for view in (*done.assistant_views, *done.human_views):
        for text in _strings(msgspec.to_builtins(_shown(view))):
            assert not secrets & set(re.findall(r"[A-Za-z0-9_]+", text)), text
            assert not any(c in text for c in checks), text
            assert scanner.scan(text, spoken=spoken) == (), text


def _shown(view: object) -> object:
    """A view without its frames, whose ids are numbers (pixels say nothing in words), and without the names to be
    completed, which are those of a moment that is past."""
    without: dict[str, object] = {"frames": ()} | ({"names": ()} if isinstance(view, HumanView) else {})
    return msgspec.structs.replace(view, **without)  # type: ignore[type-var]


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for k, v in value.items() for s in (*_strings(k), *_strings(v))]
    if isinstance(value, list | tuple):
        return [s for v in value for s in _strings(v)]
    return []


def test_the_blind_human_is_shown_no_picture_and_the_others_are() -> None:
    for name in SIX:
        shown = [len(v.frames) for v in played(name, "oracle").human_views]
        assert all(n == 0 for n in shown) if name == "A04" else any(shown)
        assert all(0 < len(v.frames) <= 32 for v in played(name, "oracle").assistant_views)


def test_points_name_every_capability_that_their_tasks_test() -> None:
    for name in SIX:
        task = task_of(name)
        assert {p.capability for p in task.points} >= set(task.tests)
        assert {p.capability for p in task.points} <= set(CAPABILITIES)


def test_a_task_that_is_wrong_is_found_out() -> None:
    """The validation can fail: a forgotten step, a near miss that misses nothing, words for other deeds."""
    task = task_of("phone_call")
    miss = msgspec.structs.replace(task.near_misses[0], oracle=task.oracle)
    lazy = msgspec.structs.replace(task, oracle=task.oracle[:2], near_misses=(miss,))
    found = {c.name: c.ok for c in check_task(lazy).checks}
    assert not found["oracle passes"]
    assert not found["near miss still_on_the_phone"]
    other = (task.oracle[0], OracleStep(say="Answer the phone.", do=("[Grab] phone",)), task.oracle[2])
    found = {c.name: c.ok for c in check_task(msgspec.structs.replace(task, oracle=other, near_misses=())).checks}
    assert not found["oracle's words give its commands"]
    assert not found["near misses"]
    assert found["oracle passes"]
