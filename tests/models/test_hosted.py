"""A model at a provider: litellm's own way over HTTP, to a provider that misbehaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.models.provider import KEY, MISBEHAVIOURS, Provider, provider

ROOT = Path(__file__).resolve().parents[2]


#: model -> what its provider does, in turn
CASES: dict[str, list[str | int]] = {
    "plain": ["Hello yourself."],
    "failing": ["busy", "broken", "drops", "html", "half", "There you are."],
    "never": ["empty"] * 9,
    "tomorrow": ["patient"],
    "locked": [401],
    "unpaid": [402],
    "forbidden": [403],
    "missing": [404],
    "short": ["cut"],
    "gpt-4o": ["Hello yourself."],
    "streaming": ["Hello yourself."],
    "streaming-cut": ["Hel!cut..", "Hello yourself."],
    "dated": ["dated", "There you are."],
    "impatient": ["slow", "There you are."],
    "dripping-impatient": ["drips", "There you are."],
    "dripping-streaming": ["drips", "There you are."],
    "long": ["long"],
    "filtered": ["filtered"],
    "unwilling": ["unwilling"],
    "leaky": ["leaky"],
    "keyed": ["Hello yourself."],
    "gpt-5.5": ["Hello yourself."],
    "gpt-5.5-like": ["Hello yourself."],
    "own": ["Hello from here."],
}


@pytest.fixture(scope="module")
def asked() -> tuple[dict[str, Any], Provider]:
    """What came of asking each model, and the provider that was asked. One process for all: litellm takes seconds to
    be imported."""
    names = [*(f"openai/{name}" for name in CASES if name != "own"), "hosted_vllm/own", "no-such-provider/m"]
    with provider(CASES) as there:
        env = {**os.environ, "OPENAI_API_BASE": there.url, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}
        env["HOSTED_VLLM_API_BASE"] = there.url
        done = subprocess.run(
            [sys.executable, "-m", "tests.models.asking", *names],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    assert KEY not in done.stdout + done.stderr
    # and nothing else is printed: litellm would speak among the JSON of a command
    return {name: json.loads(line) for name, line in zip(names, done.stdout.splitlines(), strict=True)}, there


Asked = tuple[dict[str, Any], Provider]


def _of(asked: Asked, name: str) -> tuple[Any, list[dict[str, Any]]]:
    found, there = asked
    return found[f"openai/{name}"], [r for r in there.requests if r["model"] == name]


def test_a_question_arrives_whole_and_its_answer_with_what_it_took(asked: Asked) -> None:
    found, requests = _of(asked, "plain")
    assert 0.0 < found.pop("latency_s") < 60.0
    assert found == {
        "text": "Hello yourself.", "input_tokens": 30, "output_tokens": 12, "cost_usd": None, "finish": "stop",
        "retries": 0, "refusal": None, "left_out": [], "provider_request_id": "req-7", "waits": [], "priced": False,
    }  # fmt: skip
    assert requests == [
        {
            "model": "plain",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
            "temperature": 0.0,
            "seed": 11,
        }
    ]
    # the second is litellm's own, for servers that ask for none
    assert asked[1].keys == {f"Bearer {KEY}", "Bearer fake-api-key"}


def test_a_provider_that_fails_is_asked_again(asked: Asked) -> None:
    found, requests = _of(asked, "failing")
    assert (found["text"], found["retries"], len(requests)) == ("There you are.", 5, 6)
    # as it wishes, and longer each time when it does not say
    assert found["waits"] == [0.0, 0.0, 4.0, 8.0, 16.0]


def test_it_is_given_up_when_it_goes_on_failing(asked: Asked) -> None:
    found, requests = _of(asked, "never")
    assert found["error"] == (
        "model 'openai/never' can't be used: its answer has no choices, after 6 calls. Try again later."
    )
    assert (found["transient"], len(requests)) == (True, 6)


def test_nobody_waits_for_a_day(asked: Asked) -> None:
    found, requests = _of(asked, "tomorrow")
    assert (found["transient"], found["waits"], len(requests)) == (True, [], 1)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("locked", "Set OPENAI_API_KEY to one that may use this model."),
        ("unpaid", "Its provider wants to be paid first."),
        ("forbidden", "Set OPENAI_API_KEY to one that may use this model."),
        ("missing", "Models are named as litellm names them"),
    ],
)
def test_a_refusal_is_told_at_once_and_without_the_key(asked: Asked, name: str, hint: str) -> None:
    found, requests = _of(asked, name)
    assert (found["transient"], found["always"], len(requests)) == (False, True, 1)
    # without the names that litellm puts before it
    assert found["error"].startswith(f"model 'openai/{name}' can't be used: no such thing; your key is [hidden]. ")
    assert hint in found["error"]


def test_a_server_of_one_s_own_needs_no_key_where_its_provider_has_none(asked: Asked) -> None:
    found, there = asked
    assert found["hosted_vllm/own"]["text"] == "Hello from here."
    assert [r["model"] for r in there.requests].count("own") == 1


def test_a_cut_answer_says_so(asked: Asked) -> None:
    found, _ = _of(asked, "short")
    assert (found["text"], found["finish"]) == ('{"verdict": "acc', "length")


def test_a_provider_that_litellm_does_not_know(asked: Asked) -> None:
    found = asked[0]["no-such-provider/m"]
    assert "model 'no-such-provider/m' can't be used" in found["error"]
    assert "Models are named as litellm names them" in found["error"]


def test_pictures_and_the_form_of_the_answer_are_sent_where_they_are_taken(asked: Asked) -> None:
    found, (request,) = _of(asked, "gpt-4o")
    assert (found["text"], found["left_out"], found["priced"]) == ("Hello yourself.", [], True)
    assert found["cost_usd"] > 0.0
    assert request["messages"][1]["content"] == [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        {"type": "text", "text": "Hello"},
    ]
    assert request["max_tokens"] == 50
    form = request["response_format"]["json_schema"]
    assert (form["name"], form["strict"], form["schema"]["required"]) == ("decision", True, ["decision", "text"])


def test_what_a_model_takes_only_with_another_value_is_left_out(asked: Asked) -> None:
    found, (request,) = _of(asked, "gpt-5.5")
    assert (found["text"], found["retries"]) == ("Hello yourself.", 0)
    assert "temperature" in found["left_out"]
    assert "temperature" not in request


def test_a_name_that_looks_like_a_known_one_has_no_price(asked: Asked) -> None:
    assert (_of(asked, "gpt-5.5")[0]["priced"], _of(asked, "gpt-5.5")[0]["cost_usd"] > 0.0) == (True, True)
    assert (_of(asked, "gpt-5.5-like")[0]["priced"], _of(asked, "gpt-5.5-like")[0]["cost_usd"]) == (False, None)


def test_an_answer_in_pieces_is_the_same_answer(asked: Asked) -> None:
    found, (request,) = _of(asked, "streaming")
    assert request["stream"] is True
    assert (found["text"], found["finish"], found["input_tokens"], found["output_tokens"]) == (
        "Hello yourself.", "stop", 30, 12,
    )  # fmt: skip


def test_a_date_to_ask_again_is_kept_to(asked: Asked) -> None:
    found, _ = _of(asked, "dated")
    assert found["text"] == "There you are."
    assert 0.0 <= found["waits"][0] <= 2.0


@pytest.mark.parametrize("name", ["impatient", "dripping-impatient", "dripping-streaming"])
def test_an_answer_that_takes_too_long_is_asked_for_again(asked: Asked, name: str) -> None:
    found, requests = _of(asked, name)
    assert (found["text"], found["retries"], len(requests)) == ("There you are.", 1, 2)


def test_a_request_that_is_too_long_is_an_error_of_its_own(asked: Asked) -> None:
    found, requests = _of(asked, "long")
    assert (found["kind"], len(requests)) == ("ContextOverflowError", 1)


@pytest.mark.parametrize(("name", "why"), [("filtered", "safety system"), ("unwilling", "I can't help with that.")])
def test_not_to_answer_is_an_answer(asked: Asked, name: str, why: str) -> None:
    found, requests = _of(asked, name)
    assert (found["text"], len(requests)) == ("", 1)
    assert why in found["refusal"]


def test_a_key_is_neither_sent_nor_shown(asked: Asked) -> None:
    assert _of(asked, "leaky")[0]["text"] == "Your key is [hidden]."
    found, requests = _of(asked, "keyed")
    assert "the request holds a key, and was not sent" in found["error"]
    assert requests == []


def test_every_misbehaviour_is_tried() -> None:
    # "stuck" is for a run that is stopped meanwhile
    assert set(MISBEHAVIOURS) - {"stuck"} <= {what for said in CASES.values() for what in said}
