"""What an episode cost, and whether the Assistant spoke up in time."""

from __future__ import annotations

from typing import Any

import pytest

from iwreplay.events import AssistantDecision, ModelCall
from iwreplay.taskpack.model import Gate, HumanRole, OracleStep, Point, TaskPack
from scorers import Score, Unscorable, score_all, scorer_named
from tests.checks.worlds import TOY, Story, task

ORACLE = (OracleStep(say="Wash it.", do=("[Walk] table", "[Wash] mug")), OracleStep(say=""))


def scored(metric: str, story: Story) -> Score | Unscorable:
    return scorer_named(metric)(story.events, relations=TOY)


def washing(*, walks: int = 1, refused: int = 0, washed: bool = True, pack: TaskPack | None = None) -> Story:
    """A warmup, silence, words, so many commands, and `done`."""
    s = Story(pack or task(oracle=ORACLE))
    s.warmup()
    s.do("walk", source="warmup")
    s.live()
    s.say(None)
    s.turn = 2
    s.say("Wash the mug.")
    for _ in range(walks):
        s.do("walk")
    for _ in range(refused):
        s.do("walk", code="UNREACHABLE")
    s.do("wash", obj="mug_1")
    if washed:
        s.set("mug_1", "clean", True)
    s.turn = 3
    s.add(AssistantDecision, decision="done")
    s.end()
    return s


def test_actions_are_counted_against_the_oracle_s() -> None:
    cost = scored("action_cost", washing(walks=2, refused=1))
    assert isinstance(cost, Score)
    assert cost.value == 2.0
    assert cost.details == {
        "actions": 4, "refused": 1, "by_itself": 0, "oracle_actions": 2, "without_refused": 1.5,
    }  # fmt: skip
    # the commands themselves, not those of the warmup
    assert len(cost.evidence) == 4


def test_what_the_human_does_by_itself_costs_nothing() -> None:
    s = Story(task(oracle=ORACLE))
    s.live()
    s.do("walk", source="intent")
    s.do("wash", obj="mug_1")
    s.set("mug_1", "clean", True)
    s.end()
    cost = scored("action_cost", s)
    assert isinstance(cost, Score)
    assert (cost.value, cost.details["by_itself"]) == (0.5, 1)


def test_turns_are_counted_without_the_closing_one() -> None:
    cost = scored("turn_cost", washing())
    assert isinstance(cost, Score)
    assert cost.value == 1.0
    assert cost.details == {"turns": 2, "spoken": 1, "oracle_turns": 2, "oracle_spoken": 1}


@pytest.mark.parametrize("metric", ["action_cost", "turn_cost"])
def test_who_does_not_pass_has_no_cost(metric: str) -> None:
    cost = scored(metric, washing(washed=False))
    assert isinstance(cost, Unscorable)
    assert (cost.undefined, cost.missing) == (True, ())
    assert "did not pass" in cost.reason


def call(s: Story, role: str, *, tokens: tuple[int | None, int | None] = (10, 5), usd: float | None = 0.25) -> int:
    return s.add(
        ModelCall,
        role=role,
        model="m",
        request_sha256="",
        answer="",
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost_usd=usd,
        latency_s=0.0,
        retries=0,
        params={},
        outcome="failed" if tokens == (None, None) and usd is None else "answered",
    )


def asked(*calls: dict[str, Any]) -> tuple[Story, list[int]]:
    s = Story()
    s.live()
    seqs = [call(s, **c) for c in calls]
    s.end()
    return s, seqs


def test_tokens_are_those_of_every_call_that_was_answered() -> None:
    failed = {"role": "assistant", "tokens": (None, None), "usd": None}
    s, seqs = asked({"role": "assistant"}, failed, {"role": "human", "tokens": (100, 1)}, {"role": "assistant"})
    cost = scored("token_cost", s)
    assert isinstance(cost, Score)
    assert cost.value == 131.0
    assert cost.evidence == (seqs[0], seqs[2], seqs[3])
    assert cost.details == {
        "assistant": {"calls": 2, "input_tokens": 20, "output_tokens": 10, "cost_usd": 0.5},
        "human": {"calls": 1, "input_tokens": 100, "output_tokens": 1, "cost_usd": 0.25},
        "cost_usd": 0.75,
    }


def test_a_price_that_is_not_known_makes_the_sum_unknown() -> None:
    cost = scored("token_cost", asked({"role": "assistant"}, {"role": "assistant", "usd": None})[0])
    assert isinstance(cost, Score)
    assert cost.details["cost_usd"] is None


def test_tokens_that_nobody_told_can_not_be_summed() -> None:
    s, seqs = asked({"role": "assistant"}, {"role": "assistant", "tokens": (10, None)})
    cost = scored("token_cost", s)
    assert cost == Unscorable(
        metric="token_cost",
        reason="a provider did not say what a call took",
        missing=(f"tokens of the call at event {seqs[1]}",),
    )


def test_without_a_hosted_model_there_are_no_tokens() -> None:
    cost = scored("token_cost", asked()[0])
    assert isinstance(cost, Unscorable)
    assert cost.undefined


SHUT = Gate(id="shut", text="", formula=["hist", ["not", ["attr", "oven_1", "open", True]]])
SPOKE: Any = ["once", ["event", {"kind": "assistant_decision", "decision": "interrupt"}]]


def prevention(**changes: Any) -> TaskPack:
    base: dict[str, Any] = {
        "family": "prevention",
        "human": HumanRole(role="cook", restriction="prevention", intent=("[Walk] oven", "[Open] oven")),
        "oracle": (OracleStep(say=""), OracleStep(say="Stop.", do=("[Wash] mug",))),
        "gates": (SHUT,),
    }
    return task(**{**base, **changes})


def course(*turns: str, pack: TaskPack | None = None) -> Story:
    """A turn for each: "." is silence, "!" an interruption; the oven is opened by what the Human intends in turn 2."""
    s = Story(pack or prevention())
    s.live()
    intent = ["walk", "open"]
    for turn, what in enumerate(turns, start=1):
        s.turn = turn
        s.say("Stop." if what == "!" else None)
        if what == "." and intent:
            verb = intent.pop(0)
            s.do(verb, obj="oven_1", source="intent")
            if verb == "open":
                s.set("oven_1", "open", True)
    s.end()
    return s


@pytest.mark.parametrize(
    ("turns", "verdict", "needless"),
    [
        (".!", "right", 0),
        (".!!", "right", 0),
        ("!", "needless", 1),
        ("!!", "needless", 1),
        ("..!", "late", 0),
        ("...", "missed", 0),
    ],
)
def test_the_time_to_speak_up_is_when_the_oracle_does(turns: str, verdict: str, needless: int) -> None:
    found = scored("interventions", course(*turns))
    assert isinstance(found, Score)
    assert (found.details["verdict"], found.details["needless"]) == (verdict, needless)
    assert found.value == float(verdict == "right")
    assert found.details["reason_turn"] == 2


def test_without_a_gate_it_is_too_late_when_all_is_done() -> None:
    found = scored("interventions", course(*"..!", pack=prevention(gates=())))
    assert isinstance(found, Score)
    assert found.details["verdict"] == "late"


@pytest.mark.parametrize(
    ("formula", "turns", "verdict"),
    [
        (SPOKE, "!", "right"),
        (["not", SPOKE], "!", "needless"),
        (["not", SPOKE], ".!", "late"),
    ],
)
def test_a_point_for_proactivity_says_what_is_in_time(formula: Any, turns: str, verdict: str) -> None:
    pack = prevention(points=(Point(id="spoke", capability="C8", text="", formula=formula),))
    found = scored("interventions", course(*turns, pack=pack))
    assert isinstance(found, Score)
    assert found.details["verdict"] == verdict


def test_a_point_that_was_not_reached_says_nothing() -> None:
    point = Point(
        id="spoke", capability="C8", text="", formula=["not", SPOKE], reached=["attr", "mug_1", "clean", True]
    )
    found = scored("interventions", course(*".!", pack=prevention(points=(point,))))
    assert isinstance(found, Score)
    assert found.details["verdict"] == "right"


def test_only_prevention_has_interventions() -> None:
    found = scored("interventions", washing())
    assert isinstance(found, Unscorable)
    assert found.undefined


def test_the_course_is_read_once_for_all_that_need_it() -> None:
    """Also from events that can be gone through once only."""
    s = washing()
    whole = score_all(s.events, relations=TOY)
    once = score_all(((n, e) for n, e in enumerate(s.events)), relations=TOY)
    assert whole == once
    assert {x.metric for x in whole if isinstance(x, Score)} >= {"pass", "action_cost", "turn_cost"}
