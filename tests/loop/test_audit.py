"""The audit of all 43 statements, of an episode with hosted models: what they were sent is read, and what is wrong with
it is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from iwreplay.canonical import canonical_bytes, sha256_hex
from iwreplay.events import AssistantDecision, EpisodeEnded, EpisodeOpened, Event, ModelCall
from iwreplay.frames.png import png_bytes
from iwreplay.log import MemoryLog
from iwreplay.loop import STATEMENTS, Audited, audit_episode, leak_guard, protocol_violations
from iwreplay.ports import ModelRequest
from iwreplay.taskpack.model import HumanRole
from recorder.assistants.hosted import ModelAssistant
from recorder.humans.hosted import ModelHuman
from recorder.models.consulting import Sampling
from tests.loop.fakes import SCENE, TASK, changed, play
from tests.models.test_consulting import Kept, Scripted

Events = list[Event]
_BLIND = HumanRole(role="You are at home.", restriction="accessibility")


def say(text: str, memory: str | None = None) -> str:
    return json.dumps({"decision": "interrupt", "text": text, "memory": memory})


def played(task: Any = TASK) -> tuple[Events, Kept]:
    """An episode of two turns: the Assistant notes something, and one of its answers must be mended."""
    kept = Kept()
    guard = leak_guard(task, SCENE)
    speaker = ModelAssistant(
        Scripted("Hm.", say("Take the blue mug from the table.", "The mug is blue."), '{"decision": "done"}'),
        sampling=Sampling(), guard=guard, keep=kept, memory=True,
    )  # fmt: skip
    actor = ModelHuman(
        Scripted('{"commands": ["[Grab] blue mug on table"], "reply": "Got it."}'),
        sampling=Sampling(), guard=guard, keep=kept,
    )  # fmt: skip
    log, result = play(task, assistant=speaker, human=actor)
    assert result.valid, result.detail
    return list(log.events()), kept


@pytest.fixture(scope="module")
def recorded() -> tuple[Events, Kept]:
    return played()


def audited(events: Events, kept: Kept) -> dict[int, Audited]:
    log = MemoryLog()
    for event in events:
        log.append(event)
    return {a.number: a for a in audit_episode(log, content=lambda sha256, kind: kept.files.get((sha256, kind)))}


def broken(events: Events, kept: Kept) -> set[int]:
    found = protocol_violations(events, content=lambda sha256, kind: kept.files.get((sha256, kind)))
    return {v.statement for v in found}


def test_an_episode_with_models_keeps_to_the_protocol(recorded: tuple[Events, Kept]) -> None:
    found = audited(*recorded)
    assert list(found) == list(range(1, 44)) == list(STATEMENTS)
    assert {n for n, a in found.items() if a.finding == "broken"} <= {27, 30, 31}, (
        "the tiny task lacks parts of a whole one"
    )
    assert found[4].evidence == "1 done, 1 interrupt"
    assert found[14].evidence == "what it was shown in 2 turns was scanned; 3 requests to its model read whole"
    assert found[41].evidence == "memory is on; 1 decision with notes"
    assert "prompts assistant/1, human/1" in found[43].evidence
    assert found[18].finding == "holds"
    assert all(a.evidence for a in found.values())


def test_requests_that_are_not_at_hand_are_not_taken_for_good(recorded: tuple[Events, Kept]) -> None:
    events, _ = recorded
    found = audited(events, Kept())
    assert (found[14].finding, found[15].finding) == ("open", "open")
    assert "4 requests to models are not kept whole beside this log" in found[14].evidence


def with_call(n: int, **fields: Any) -> Callable[[Events], Events]:
    """Changes the n-th call."""

    def apply(events: Events) -> Events:
        at = [i for i, e in enumerate(events) if isinstance(e, ModelCall)][n]
        return [*events[:at], msgspec.structs.replace(events[at], **fields), *events[at + 1 :]]

    return apply


def with_request(events: Events, kept: Kept, n: int, change: Callable[[dict[str, Any]], None]) -> tuple[Events, Kept]:
    """Another request in place of that of the n-th call, kept and named as if it had been sent."""
    call = [e for e in events if isinstance(e, ModelCall)][n]
    body = json.loads(kept.files[call.request_sha256, "json"])
    change(body)
    data = canonical_bytes(msgspec.convert(body, ModelRequest))
    other = Kept()
    other.files = {**kept.files, (sha256_hex(data), "json"): data}
    frames = tuple(p["frame_id"] for m in body["messages"] for p in m["parts"] if isinstance(p, dict))
    return with_call(n, request_sha256=sha256_hex(data), frames=frames)(events), other


#: the calls are: the Assistant's first, its mending, the Human's, the Assistant's last
FIRST, MENDED, HUMAN, LAST = range(4)


def _add(text: str) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["messages"][1]["parts"].append(text)


def _more_pictures(body: dict[str, Any]) -> None:
    parts = body["messages"][1]["parts"]
    picture = next(p for p in parts if isinstance(p, dict))
    parts.extend([picture] * 33)


@pytest.mark.parametrize(
    ("statement", "n", "change"),
    [
        (14, FIRST, _add("The mug is mug_1.")),
        (14, FIRST, _add("Say: Turn left, then go forward two steps.")),
        (15, HUMAN, _add("The mug is mug_1.")),
        (15, HUMAN, _add("Later: Turn left, then go forward two steps.")),
        (41, HUMAN, _add("Note: The mug is blue.")),
        (11, FIRST, _more_pictures),
        (13, FIRST, lambda body: body["messages"][1]["parts"].__delitem__(1)),
    ],
)
def test_what_must_not_be_sent_is_found(
    recorded: tuple[Events, Kept], statement: int, n: int, change: Callable[[dict[str, Any]], None]
) -> None:
    assert broken(*recorded) == set()
    assert statement in broken(*with_request(*recorded, n, change))


def test_what_a_model_said_itself_is_no_leak(recorded: tuple[Events, Kept]) -> None:
    """The oracle's sentence is in the last request, because the Assistant had said it."""
    events, kept = recorded
    last = [e for e in events if isinstance(e, ModelCall)][LAST]
    assert b"Take the blue mug from the table." in kept.files[last.request_sha256, "json"]
    assert broken(events, kept) == set()


def test_a_picture_for_a_human_without_sight_is_found() -> None:
    events, kept = played(changed(TASK, human=_BLIND))
    assert broken(events, kept) == set()
    assert [e.frames for e in events if isinstance(e, ModelCall) and e.role == "human"] == [()]
    frames = next(e.frames for e in events if isinstance(e, ModelCall) and e.role == "assistant")
    assert {16, 13} <= broken(with_call(HUMAN, frames=frames)(events), kept)


def test_another_picture_than_the_frame_is_found(recorded: tuple[Events, Kept]) -> None:
    events, kept = recorded
    data = png_bytes(np.full((6, 8, 3), 99, np.uint8))

    def swap(body: dict[str, Any]) -> None:
        next(p for p in body["messages"][1]["parts"] if isinstance(p, dict))["sha256"] = sha256_hex(data)

    changed_events, other = with_request(events, kept, FIRST, swap)
    other.files[sha256_hex(data), "png"] = data
    assert broken(changed_events, other) == {9}


def test_a_request_that_is_not_the_one_that_was_sent_is_found(recorded: tuple[Events, Kept]) -> None:
    events, kept = recorded
    call = next(e for e in events if isinstance(e, ModelCall))
    other = Kept()
    other.files = {**kept.files, (call.request_sha256, "json"): b"{}"}
    assert broken(events, other) == {43}


def test_fewer_pictures_need_a_reason(recorded: tuple[Events, Kept]) -> None:
    events, kept = recorded
    assert 13 in broken(with_call(LAST, frames=())(events), kept)
    said_why = with_call(FIRST, outcome="overflow")(with_call(LAST, frames=())(events))
    assert 13 not in broken(said_why, Kept())


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"prompt_text": "Be nice."}, "not that of its text"),
        ({"seed": ""}, "does not say its seed"),
        ({}, "asks lab/model"),
    ],
)
def test_a_model_that_does_not_say_how_it_is_asked_is_found(
    recorded: tuple[Events, Kept], params: dict[str, str], why: str
) -> None:
    (head, *rest), _ = recorded
    assert isinstance(head, EpisodeOpened)
    who = msgspec.structs.replace(head.assistant, params={**head.assistant.params, **params})
    if not params:
        who = msgspec.structs.replace(who, name="another/model")
    events = [msgspec.structs.replace(head, assistant=who), *rest]
    found = [v for v in protocol_violations(events) if v.statement == 43]
    assert found
    assert why in found[0].message


def test_an_episode_that_ends_by_success_is_found(recorded: tuple[Events, Kept]) -> None:
    """Everything is as it should be, and the recorder stops: nobody said done, and no limit was reached."""
    events, kept = recorded
    at = next(i for i, e in enumerate(events) if isinstance(e, AssistantDecision) and e.decision == "done")
    silent = msgspec.structs.replace(events[at], decision="silent")
    stopped = [*events[:at], silent, *events[at + 1 :]]
    found = audited(stopped, kept)
    assert found[6].finding == "broken"
    assert "ends by done, which did not happen" in found[6].evidence
    assert found[6].broken_at == (len(events) - 1,)
    limit = [msgspec.structs.replace(e, reason="turn_limit") if isinstance(e, EpisodeEnded) else e for e in events]
    assert 6 in broken(limit, kept)
