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
    "missing": [404],
    "short": ["cut"],
}


@pytest.fixture(scope="module")
def asked() -> tuple[dict[str, Any], Provider]:
    """What came of asking each model, and the provider that was asked. One process for all: litellm takes seconds to
    be imported."""
    names = [*(f"openai/{name}" for name in CASES), "no-such-provider/m"]
    with provider(CASES) as there:
        env = {**os.environ, "OPENAI_API_BASE": there.url, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}
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
        "retries": 0, "refusal": None, "left_out": [], "provider_request_id": "req-7", "waits": [],
    }  # fmt: skip
    assert requests == [
        {
            "model": "plain",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
            "temperature": 0.0,
            "seed": 11,
        }
    ]
    assert asked[1].keys == {f"Bearer {KEY}"}


def test_a_provider_that_fails_is_asked_again(asked: Asked) -> None:
    found, requests = _of(asked, "failing")
    assert (found["text"], found["retries"], len(requests)) == ("There you are.", 5, 6)
    # as it wishes, and longer each time when it does not say
    assert found["waits"] == [0.0, 0.0, 4.0, 8.0, 16.0]


def test_it_is_given_up_when_it_goes_on_failing(asked: Asked) -> None:
    found, requests = _of(asked, "never")
    assert found["error"] == (
        "model 'openai/never' can't be used: its answer has no choices, after 6 calls. "
        "Try again later: what was answered is kept."
    )
    assert (found["transient"], len(requests)) == (True, 6)


def test_nobody_waits_for_a_day(asked: Asked) -> None:
    found, requests = _of(asked, "tomorrow")
    assert (found["transient"], found["waits"], len(requests)) == (True, [], 1)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("locked", "Set the key of that provider in its environment variable, such as OPENAI_API_KEY."),
        ("missing", "Models are named as litellm names them"),
    ],
)
def test_a_refusal_is_told_at_once_and_without_the_key(asked: Asked, name: str, hint: str) -> None:
    found, requests = _of(asked, name)
    assert (found["transient"], len(requests)) == (False, 1)
    assert "no such thing; your key is [hidden]" in found["error"]
    assert hint in found["error"]


def test_a_cut_answer_says_so(asked: Asked) -> None:
    found, _ = _of(asked, "short")
    assert (found["text"], found["finish"]) == ('{"verdict": "acc', "length")


def test_a_provider_that_litellm_does_not_know(asked: Asked) -> None:
    found = asked[0]["no-such-provider/m"]
    assert "model 'no-such-provider/m' can't be used" in found["error"]
    assert "Models are named as litellm names them" in found["error"]


def test_every_misbehaviour_is_tried() -> None:
    assert set(MISBEHAVIOURS) <= {what for said in CASES.values() for what in said}
