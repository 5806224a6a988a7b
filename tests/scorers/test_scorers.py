"""Pass, MCR, capability, and when a log supports none of them."""

from __future__ import annotations

from typing import Any

import pytest

from iwreplay.checks import Relations
from iwreplay.errors import CheckError, UnknownNameError
from iwreplay.events import Event, Fault
from iwreplay.taskpack.model import Gate, Objective, Point, TaskPack
from scorers import SCORERS, Score, Unscorable, score_all, scorer_named
from tests.checks.worlds import TOY, Story, task

CLEAN: Any = ["attr", "mug_1", "clean", True]
SHUT: Any = ["not", ["attr", "oven_1", "open", True]]


def pack(**changes: Any) -> TaskPack:
    base: dict[str, Any] = {
        "objectives": (
            Objective(id="clean", text="", formula=CLEAN),
            Objective(id="dough", text="", formula=["attr", "dough_1", "cut", True], credit_if=CLEAN),
        ),
        "gates": (Gate(id="shut", text="", formula=SHUT),),
        "keeps": (Gate(id="other", text="", formula=["baseline", "mug_2"]),),
        "points": (
            Point(id="p1", capability="C1", text="", formula=CLEAN),
            Point(id="p2", capability="C5", text="", formula=["attr", "dough_1", "cut", True]),
        ),
    }
    return task(**{**base, **changes})


def story(pack: TaskPack, *, wash: bool = True, cut: bool = True) -> tuple[Story, dict[str, int]]:
    s = Story(pack)
    s.warmup()
    at = {"live": s.live()}
    s.say("wash the mug, then cut the dough")
    if wash:
        s.do("wash", obj="mug_1")
        at["clean"] = s.set("mug_1", "clean", True)
    if cut:
        s.do("cut", obj="dough_1")
        at["cut"] = s.set("dough_1", "cut", True)
    return s, at


def scores(events: Any, **kwargs: Any) -> dict[str, Score | Unscorable]:
    return {s.metric: s for s in score_all(events, relations=TOY, **kwargs)}


def value(score: Score | Unscorable) -> float:
    assert isinstance(score, Score), score
    return score.value


def test_a_whole_episode_has_three_scores_with_evidence() -> None:
    s, at = story(pack())
    s.end()
    got = scores(s.events)
    assert [value(got[m]) for m in ("pass", "mcr", "capability")] == [1.0, 1.0, 1.0]
    assert got["pass"].evidence == (at["clean"], at["cut"])  # type: ignore[union-attr]
    points = got["capability"].details["points"]  # type: ignore[union-attr]
    assert [(p["id"], p["capability"], p["status"], p["help"]) for p in points] == [
        ("p1", "C1", "clean_pass", ""),
        ("p2", "C5", "clean_pass", ""),
    ]


def _checks(events: Any) -> dict[str, tuple[str, str, int]]:
    got = scores(events)
    checks = [*got["pass"].details["checks"], *got["capability"].details["points"]]  # type: ignore[union-attr]
    return {c["id"]: (c.get("kind", "point"), c.get("verdict") or c["status"], c["decided_seq"]) for c in checks}


def test_every_check_names_the_event_that_decided_it() -> None:
    s, at = story(pack())
    bad = s.set("oven_1", "open", True)
    s.set("oven_1", "open", False)
    end = s.end()
    checks = _checks(s.events)
    assert checks["shut"] == ("gate", "broken", bad)
    assert checks["dough"] == ("objective", "satisfied", at["cut"])
    assert {seq for kind, verdict, seq in checks.values() if verdict == "held"} == {end}, "could break until the end"


def test_what_never_came_about_is_decided_by_the_end() -> None:
    s, _ = story(pack(), cut=False)
    end = s.end()
    checks = _checks(s.events)
    assert checks["dough"] == ("objective", "not_satisfied", end)
    assert checks["p2"] == ("point", "fail", end)


def test_a_failed_objective_fails_pass_and_halves_mcr() -> None:
    s, at = story(pack(), cut=False)
    s.end()
    got = scores(s.events)
    assert [value(got[m]) for m in ("pass", "mcr", "capability")] == [0.0, 0.5, 0.5]
    assert got["pass"].details["failed_objectives"] == ["dough"]  # type: ignore[union-attr]
    assert at["clean"] in got["mcr"].evidence  # type: ignore[union-attr]


def test_withheld_credit_is_told_apart() -> None:
    s, _ = story(pack(), wash=False)
    s.end()
    got = scores(s.events)
    assert value(got["mcr"]) == 0.0
    assert got["mcr"].details["withheld"] == ["dough"]  # type: ignore[union-attr]


def test_a_veto_is_evident() -> None:
    s, _ = story(pack())
    bad = s.set("oven_1", "open", True)
    s.set("oven_1", "open", False)
    s.end()
    got = scores(s.events)["pass"]
    assert isinstance(got, Score)
    assert (got.value, got.evidence) == (0.0, (bad,))
    assert (got.details["failed_gates"], got.details["vetoed"]) == (["shut"], True)


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda s: s.name)
def test_what_a_log_cannot_support_is_unscorable_and_never_zero(scorer: Any) -> None:
    def missing(events: Any) -> tuple[str, ...]:
        got = scorer(events, relations=TOY)
        assert isinstance(got, Unscorable)
        assert got.metric == scorer.name
        assert got.reason
        return got.missing

    s, _ = story(pack())
    assert missing(s.events) == ("episode_ended",)
    assert missing([]) == ("episode_opened",)
    assert missing(s.events[1:]) == ("episode_opened",)
    s.end(reason="interrupted", valid=False, detail="ctrl-c")
    assert missing(s.events) == ("a valid end: ctrl-c",)
    s = Story(pack())
    s.end()
    assert missing(s.events) == ("baseline snapshot",)
    s, _ = story(pack())
    fault = s.add(Fault, source="simulator", code="X", detail="")
    s.end()
    assert missing(s.events) == (f"an end without fault: event {fault}",)
    s, _ = story(pack())
    s.end()
    holed = [(i, e) for i, e in enumerate(s.events) if i not in (3, 4, 7)]
    assert missing(holed) == ("events 3..4", "events 7..7")
    assert missing([(i + 2, e) for i, e in enumerate(s.events)]) == ("events 0..1",)


def test_a_task_without_points_has_no_capability_score() -> None:
    s, _ = story(pack(points=()))
    s.end()
    got = scores(s.events)
    assert isinstance(got["capability"], Unscorable)
    assert value(got["pass"]) == 1.0


def test_an_old_log_is_judged_by_a_new_version_of_its_task() -> None:
    s, _ = story(pack())
    s.end()
    stricter = pack(version=2, keeps=(Gate(id="k", text="", formula=["held", "mug_2"]),))
    assert value(scores(s.events, task=stricter)["pass"]) == 0.0
    with pytest.raises(CheckError, match="no thing 'cup_1'"):
        scores(s.events, task=pack(keeps=(Gate(id="k", text="", formula=["held", "cup_1"]),)))


def test_scorers_are_called_alone_too_and_read_pairs() -> None:
    s, _ = story(pack())
    s.end()
    events: list[Event] = s.events
    for scorer in SCORERS:
        assert scorer(events, relations=TOY) == scorer(enumerate(events), relations=TOY)
        assert scorer(iter(events), relations=TOY) == scores(events)[scorer.name]


def test_a_scorer_uses_the_relations_of_the_project_by_default() -> None:
    def never(*_: object) -> bool:
        raise AssertionError

    s, _ = story(pack(keeps=()))
    s.end()
    assert value(SCORERS[0](s.events)) == 1.0, "no relation is asked for"
    assert value(SCORERS[0](s.events, relations=Relations(holds=never, support_of=never, version="x"))) == 1.0


def test_registry() -> None:
    assert [s.name for s in SCORERS] == [
        "pass", "mcr", "capability", "action_cost", "turn_cost", "token_cost", "interventions",
    ]  # fmt: skip
    assert scorer_named("mcr") is SCORERS[1]
    with pytest.raises(UnknownNameError, match="pass, mcr, capability, action_cost"):
        scorer_named("speed")
