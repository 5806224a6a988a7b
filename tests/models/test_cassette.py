"""A log as a cassette: what was asked is answered again, what was not is an error."""

from __future__ import annotations

from typing import Any

import pytest

from iwreplay.canonical import struct_hash
from iwreplay.errors import ContextOverflowError, ModelError
from iwreplay.events import ModelCall
from iwreplay.ports import ModelMessage, ModelRequest
from recorder.models.cassette import CassetteModel


def request(text: str = "Hello") -> ModelRequest:
    message = ModelMessage(role="user", parts=(text,))
    return ModelRequest(model="lab/m", messages=(message,), temperature=0.0, seed=11)


def call(asked: ModelRequest, answer: str = "", **more: Any) -> ModelCall:
    known: dict[str, Any] = {
        "input_tokens": 7, "output_tokens": 3, "cost_usd": 0.5, "latency_s": 1.25, "retries": 2, "params": {},
        "outcome": "answered", "problem": "", "finish": "stop", "frames": (), "repair": 0,
    }  # fmt: skip
    return ModelCall(
        sim_time_s=0.0, turn=1, phase="closed_loop", role="assistant", model="lab/m",
        request_sha256=struct_hash(asked), answer=answer, **{**known, **more},
    )  # fmt: skip


def test_the_same_request_is_answered_as_before_with_what_it_took() -> None:
    model = CassetteModel(
        "lab/m", [call(request(), "One.", params={"left_out": "seed, answer"}, provider_request_id="r1")]
    )
    reply = model.ask(request())
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.cost_usd) == ("One.", 7, 3, 0.5)
    assert (reply.finish, reply.retries, reply.latency_s, reply.provider_request_id) == ("stop", 2, 1.25, "r1")
    assert (reply.left_out, reply.refusal) == (("seed", "answer"), None)


def test_a_request_that_was_made_twice_is_answered_twice_in_that_order() -> None:
    model = CassetteModel("lab/m", [call(request(), "One."), call(request(), "Two.")])
    assert [model.ask(request()).text for _ in range(2)] == ["One.", "Two."]
    with pytest.raises(ModelError, match="no answer to this request"):
        model.ask(request())


def test_another_request_is_an_error() -> None:
    with pytest.raises(ModelError, match=r"another prompt, task, scene or renderer"):
        CassetteModel("lab/m", [call(request())]).ask(request("Hello!"))


def test_what_went_wrong_goes_wrong_again_in_the_same_words() -> None:
    said = "model 'lab/m' can't be used: too long."
    calls = [
        call(request(), outcome="overflow", problem=said),
        call(request(), outcome="failed", problem="gone"),
        call(request(), outcome="refused", problem="No."),
    ]
    model = CassetteModel("lab/m", calls)
    with pytest.raises(ContextOverflowError) as overflow:
        model.ask(request())
    assert (str(overflow.value), overflow.value.retries, overflow.value.latency_s) == (said, 2, 1.25)
    with pytest.raises(ModelError, match=r"^gone$") as failed:
        model.ask(request())
    assert not isinstance(failed.value, ContextOverflowError)
    assert model.ask(request()).refusal == "No."


def test_a_log_without_the_model_is_no_cassette_for_it() -> None:
    with pytest.raises(ModelError, match="the cassette has no call to it"):
        CassetteModel("lab/other", [call(request())])
