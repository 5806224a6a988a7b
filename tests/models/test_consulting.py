"""Hosted participants asked by a model of the test's own: what they send, what they make of answers, what they tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
import pytest

from iwreplay.canonical import sha256_hex, struct_hash
from iwreplay.errors import ContextOverflowError, ModelError, ParticipantError
from iwreplay.loop import AnswerError
from iwreplay.ports import AssistantView, FrameView, HumanView, ModelImage, ModelReply, ModelRequest, Said
from recorder.assistants.hosted import ModelAssistant
from recorder.humans.hosted import ModelHuman
from recorder.models.consulting import REPAIRS, Sampling
from recorder.models.metering import EPISODE_BUDGET, Budget, EpisodeMeter, MeteredModel

SILENT = '{"decision": "silent", "text": null}'
Answer = str | BaseException | ModelReply


def reply(text: str = "", **more: Any) -> ModelReply:
    known = {
        "input_tokens": 100,
        "output_tokens": 10,
        "cost_usd": 0.5,
        "finish": "stop",
        "retries": 0,
        "latency_s": 1.5,
    }
    return ModelReply(text=text, **{**known, **more})


class Scripted:
    """Answers one after the other; an exception is raised."""

    name = "lab/model"

    def __init__(self, *answers: Answer) -> None:
        self.left = list(answers)
        self.asked: list[ModelRequest] = []
        self.content: list[Mapping[str, bytes]] = []

    def ask(self, request: ModelRequest, *, content: Mapping[str, bytes] = MappingProxyType({})) -> ModelReply:
        self.asked.append(request)
        self.content.append(content)
        answer = self.left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return reply(answer) if isinstance(answer, str) else answer


class Kept:
    """What was kept: (hash, kind) -> bytes."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}
        self.times = 0

    def __call__(self, data: bytes, *, sha256: str, kind: str) -> None:
        assert sha256_hex(data) == sha256
        self.files[sha256, kind] = data
        self.times += 1


def nothing_forbidden(text: str, *, spoken: str) -> None:
    """Lets everything through."""


def frames(n: int) -> tuple[FrameView, ...]:
    return tuple(
        FrameView(frame_id=f"f{i:06d}", sim_time_s=i / 2, pixels=lambda i=i: np.full((6, 8, 3), i, np.uint8))
        for i in range(n)
    )


def seen(turn: int = 1, *, shown: int = 2, memory: str | None = None, dialogue: tuple[Said, ...] = ()) -> AssistantView:
    return AssistantView(turn=turn, request="Help me.", dialogue=dialogue, frames=frames(shown), memory=memory)


def told(instruction: str | None = "Take the mug.", **more: Any) -> HumanView:
    view = HumanView(
        turn=1, role="A cook.", restriction="Do as you are told.", request="Help me.", instruction=instruction,
        dialogue=(Said(turn=1, speaker="assistant", text="Take the mug."),) if instruction else (), frames=frames(4),
        proprioception={"holding": "nothing"}, failures=("I can't reach the shelf.",),
    )  # fmt: skip
    return msgspec.structs.replace(view, **more)


def assistant(
    model: Scripted, *, memory: bool = False, keep: Any = None, guard: Any = nothing_forbidden
) -> ModelAssistant:
    return ModelAssistant(model, sampling=Sampling(), guard=guard, keep=keep or Kept(), memory=memory)


def human(model: Scripted, *, guard: Any = nothing_forbidden) -> ModelHuman:
    return ModelHuman(model, sampling=Sampling(temperature=None, seed=3), guard=guard, keep=Kept())


def pictures(request: ModelRequest) -> list[str]:
    return [image.frame_id for image in request.images]


def test_a_decision_with_all_that_led_to_it() -> None:
    kept = Kept()
    model = Scripted('{"decision": "interrupt", "text": "The left one."}')
    who = assistant(model, keep=kept)
    act = who.decide(seen(dialogue=(Said(turn=0, speaker="caller", text="Hello!"),)))
    assert (act.decision, act.text, act.memory) == ("interrupt", "The left one.", None)
    (call,) = who.take_calls()
    assert who.take_calls() == ()
    assert (call.role, call.model, call.turn, call.outcome, call.problem, call.repair) == (
        "assistant", "lab/model", 1, "answered", "", 0,
    )  # fmt: skip
    assert (call.input_tokens, call.output_tokens, call.cost_usd, call.latency_s) == (100, 10, 0.5, 1.5)
    assert call.frames == ("f000000", "f000001")
    # the log names the whole request, and its pictures by what they are
    (request,) = model.asked
    assert call.request_sha256 == struct_hash(request)
    body = json.loads(kept.files[call.request_sha256, "json"])
    shown = [p for p in body["messages"][1]["parts"] if isinstance(p, dict)]
    assert [(p["kind"] if "kind" in p else p["type"], p["frame_id"]) for p in shown] == [
        ("image", "f000000"), ("image", "f000001"),
    ]  # fmt: skip
    for image in request.images:
        assert model.content[0][image.sha256] == kept.files[image.sha256, "png"]
    text = request.messages[1].text
    assert "The wearer asked: Help me." in text
    assert "- turn 0, caller: Hello!" in text
    assert "f000000" not in text + request.messages[0].text


def test_a_picture_is_kept_once() -> None:
    kept = Kept()
    who = assistant(Scripted(SILENT, SILENT, SILENT), keep=kept)
    for turn in (1, 2, 3):
        who.decide(seen(turn, shown=5))
    kinds = [kind for _, kind in kept.files]
    assert (kinds.count("png"), kinds.count("json"), kept.times) == (5, 3, 8)


def test_a_frame_is_drawn_once_while_it_is_shown() -> None:
    drawn: list[int] = []

    def pixels() -> np.ndarray:
        drawn.append(1)
        return np.zeros((6, 8, 3), np.uint8)

    who = assistant(Scripted(SILENT, SILENT))
    view = msgspec.structs.replace(seen(), frames=(FrameView(frame_id="f000000", sim_time_s=0.0, pixels=pixels),))
    who.decide(view)
    who.decide(view)
    assert len(drawn) == 1


def test_a_malformed_answer_is_mended_with_what_is_wrong_with_it() -> None:
    model = Scripted("Hm.", '{"decision": "speak"}', '{"decision": "done"}')
    who = assistant(model)
    assert who.decide(seen()).decision == "done"
    first, second, third = who.take_calls()
    assert [(c.outcome, c.repair) for c in (first, second, third)] == [
        ("malformed", 0), ("malformed", 1), ("answered", 2),
    ]  # fmt: skip
    assert "no JSON object" in str(first.problem)
    last = model.asked[-1].messages
    assert [m.role for m in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert last[2].text == "Hm."
    assert str(first.problem) in last[3].text
    assert 'not "speak"' in last[5].text


def test_an_assistant_that_can_not_be_understood_says_nothing() -> None:
    who = assistant(Scripted(*["Hm."] * 9), memory=True)
    act = who.decide(seen(memory="Key: left drawer."))
    assert (act.decision, act.text, act.memory) == ("silent", None, "Key: left drawer.")
    assert [c.outcome for c in who.take_calls()] == ["malformed"] * (1 + REPAIRS)


def test_an_answer_that_was_cut_off_is_told_so() -> None:
    model = Scripted(reply('{"decision": "inter', finish="length", output_tokens=50), SILENT)
    who = assistant(model)
    who.decide(seen())
    assert who.take_calls()[0].problem == "it was cut off after 50 tokens"


def test_an_assistant_that_will_not_answer_says_nothing() -> None:
    who = assistant(Scripted(reply(refusal="I can't help with that.")))
    assert who.decide(seen()).decision == "silent"
    (call,) = who.take_calls()
    assert (call.outcome, call.problem, call.answer) == ("refused", "I can't help with that.", "")


@pytest.mark.parametrize(
    ("answers", "code", "outcomes"),
    [
        ([reply(refusal="No.")], "REFUSED", ["refused"]),
        (["Hm."] * 3, "MALFORMED", ["malformed"] * 3),
        ([ModelError("lab/model", "gone")], "MODEL", ["failed"]),
    ],
)
def test_a_human_that_does_not_act_spoils_the_episode(answers: list[Answer], code: str, outcomes: list[str]) -> None:
    who = human(Scripted(*answers))
    with pytest.raises(AnswerError) as raised:
        who.act(told())
    assert raised.value.code == code
    assert [c.outcome for c in who.take_calls()] == outcomes


def test_a_provider_that_does_not_answer_spoils_the_episode_of_an_assistant_too() -> None:
    error = ModelError("lab/model", "gone, after 6 calls", transient=True)
    error.retries, error.latency_s = 5, 31.5
    who = assistant(Scripted(error))
    with pytest.raises(AnswerError, match="gone, after 6 calls"):
        who.decide(seen())
    (call,) = who.take_calls()
    assert (call.outcome, call.retries, call.latency_s, call.input_tokens) == ("failed", 5, 31.5, None)


def test_what_does_not_fit_loses_pictures_and_no_words() -> None:
    overflow = ContextOverflowError("lab/model", "more than 4096 tokens")
    model = Scripted(overflow, overflow, SILENT, SILENT)
    who = assistant(model)
    who.decide(seen(shown=32))
    assert [len(pictures(r)) for r in model.asked] == [32, 16, 8]
    # a quarter of them are the latest, the others are spread over all
    assert pictures(model.asked[-1])[-2:] == ["f000030", "f000031"]
    assert pictures(model.asked[-1])[0] == "f000000"
    words = {json.dumps([m.text.rsplit("The wearer asked", 1)[-1] for m in r.messages]) for r in model.asked}
    assert len(words) == 1
    assert [(c.outcome, len(c.frames or ())) for c in who.take_calls()] == [
        ("overflow", 32), ("overflow", 16), ("answered", 8),
    ]  # fmt: skip
    # what fitted is kept to
    who.decide(seen(2, shown=32))
    assert [len(pictures(r)) for r in model.asked[3:]] == [8]


def test_words_alone_that_do_not_fit_end_the_episode() -> None:
    who = assistant(Scripted(*[ContextOverflowError("lab/model", "too long")] * 9))
    with pytest.raises(AnswerError, match="The words alone are more than it can read"):
        who.decide(seen(shown=2))
    assert [len(c.frames or ()) for c in who.take_calls()] == [2, 1, 0]


@pytest.mark.parametrize("make", [assistant, human])
def test_every_text_is_looked_at_before_it_is_sent(make: Callable[..., Any]) -> None:
    looked: list[str] = []

    def guard(text: str, *, spoken: str) -> None:
        looked.append(text)
        if "Help me" in text:
            raise AnswerError("LEAK", "oracle_sentence 'Help me'")

    model = Scripted()
    who = make(model, guard=guard)
    with pytest.raises(AnswerError, match="LEAK"):
        who.decide(seen()) if make is assistant else who.act(told())
    assert model.asked == []
    assert who.take_calls() == ()
    assert len(looked) == 2


def test_the_notebook_is_the_only_difference_between_the_arms() -> None:
    plain, noting = Scripted(SILENT), Scripted('{"decision": "silent", "text": null, "memory": "Key: left."}')
    without, with_notes = assistant(plain), assistant(noting, memory=True)
    assert without.decide(seen()).memory is None
    assert with_notes.decide(seen()).memory == "Key: left."
    assert plain.asked[0].messages[1] == noting.asked[0].messages[1]
    extra = set(noting.asked[0].messages[0].text.splitlines()) - set(plain.asked[0].messages[0].text.splitlines())
    assert all("notebook" in line for line in extra if line)
    assert len(extra) == 2
    assert (without.about().name, with_notes.about().name) == ("lab/model", "lab/model+memory")
    differ = {k for k, v in with_notes.about().params.items() if without.about().params[k] != v}
    assert differ == {"memory", "prompt_sha256", "prompt_text"}


def test_a_notebook_is_given_back_and_never_to_a_human() -> None:
    model = Scripted(SILENT)
    assistant(model, memory=True).decide(seen(memory="Key: left drawer."))
    assert "Key: left drawer." in model.asked[0].messages[1].text


def test_a_human_is_told_what_it_may_know() -> None:
    model = Scripted('{"commands": ["[Grab] mug"], "reply": "Here."}')
    who = human(model)
    act = who.act(
        told(
            dialogue=(
                Said(turn=0, speaker="caller", text="Hello!"),
                Said(turn=1, speaker="assistant", text="Take the mug."),
            )
        )
    )
    assert (act.commands, act.reply, act.from_intent) == (("[Grab] mug",), "Here.", False)
    system, turn = model.asked[0].messages
    assert "A cook." in system.text
    assert "Do as you are told." in system.text
    assert "[Grab], [PickUp] or [Take], then: object" in system.text
    for line in (
        "- turn 0, caller: Hello!",
        "- holding: nothing",
        "- I can't reach the shelf.",
        "says now: Take the mug.",
    ):
        assert line in turn.text
    assert turn.text.count("Take the mug.") == 1
    assert len(turn.images) == 4
    assert model.asked[0].temperature is None


def test_a_human_without_sight_gets_no_picture() -> None:
    model = Scripted('{"commands": [], "reply": "I feel nothing."}')
    assert human(model).act(told(frames=())).reply == "I feel nothing."
    assert not any(isinstance(p, ModelImage) for m in model.asked[0].messages for p in m.parts)
    assert "no picture, since you can't see" in model.asked[0].messages[0].text


def test_what_a_human_intends_it_does_without_being_asked() -> None:
    model = Scripted()
    who = human(model)
    act = who.act(told(None, intent="[Walk] sink"))
    assert (act.commands, act.from_intent) == (("[Walk] sink",), True)
    assert model.asked == []
    assert who.take_calls() == ()


def test_a_budget_ends_an_episode_before_the_next_call() -> None:
    inner = Scripted(SILENT, SILENT, SILENT)
    meter = EpisodeMeter(Budget(cost_usd=1.0))
    who = assistant(MeteredModel(inner, meter, limited=meter.budget))  # type: ignore[arg-type]
    who.decide(seen(1))
    who.decide(seen(2))
    with pytest.raises(AnswerError, match=r"\$1.0000 of \$1.0000") as raised:
        who.decide(seen(3))
    assert raised.value.code == EPISODE_BUDGET
    assert len(inner.asked) == 2
    assert (meter.spent.calls, meter.spent.tokens, meter.spent.cost_usd) == (2, 220, 1.0)


def test_a_prompt_is_in_the_log_by_text_and_hash() -> None:
    for about in (assistant(Scripted()).about(), human(Scripted()).about()):
        assert about.params["prompt_sha256"] == sha256_hex(about.params["prompt_text"].encode())
        assert about.params["prompt"].endswith("/1")
        assert about.params["seed"] in ("11", "3")


@pytest.mark.parametrize(
    ("limited", "answer", "what"),
    [
        (Budget(tokens=1000), reply(SILENT, input_tokens=None, output_tokens=None), "how many tokens"),
        (Budget(cost_usd=1.0), reply(SILENT, cost_usd=None), "how much money"),
    ],
)
def test_what_is_limited_must_be_told(limited: Budget, answer: ModelReply, what: str) -> None:
    who = assistant(MeteredModel(Scripted(answer), EpisodeMeter(limited), limited=limited))  # type: ignore[arg-type]
    with pytest.raises(AnswerError, match=f"does not say {what}"):
        who.decide(seen())


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_budget_is_a_number(limit: float) -> None:
    with pytest.raises(ParticipantError, match="is no limit"):
        Budget(cost_usd=limit)


def test_the_smaller_limit_of_two_holds() -> None:
    both = Budget(cost_usd=2.0, tokens=5).narrowed(Budget(cost_usd=1.0))
    assert both == Budget(cost_usd=1.0, tokens=5)


def test_a_call_that_ctrl_c_came_across_is_told() -> None:
    who = assistant(Scripted(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        who.decide(seen())
    (call,) = who.take_calls()
    assert (call.outcome, call.answer) == ("failed", "")
    assert "stopped by the user" in str(call.problem)
