"""Decisions of the Assistant, turns of the Human, words said, model calls."""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.events.base import Event

__all__ = ["AssistantDecision", "CommandIssued", "HumanTurn", "ModelCall", "Utterance"]


class AssistantDecision(Event, frozen=True, kw_only=True, tag="assistant_decision"):
    """Exactly one a turn. `silent` has no text, `interrupt` has text, `done` may have a last sentence."""

    #: say nothing, speak, or end the episode
    decision: Literal["silent", "interrupt", "done"]
    #: the words spoken; None when silent
    text: str | None = None
    #: hidden memory field of the memory arm; never shown to the Human
    memory: str | None = None


class HumanTurn(Event, frozen=True, kw_only=True, tag="human_turn"):
    """What the Human decided to do, before it is executed. No command at all is written as one `[NoOp]`."""

    #: as the Human wrote them, in order
    commands: tuple[str, ...]
    #: what it says to the Assistant, or None
    reply: str | None = None


class CommandIssued(Event, frozen=True, kw_only=True, tag="command_issued"):
    """One command handed to the action engine."""

    #: 0, 1, 2 ... over the episode, warmup included
    action: int
    #: the command as written
    text: str
    #: warmup commands and scripted errors are not the Human's choice
    source: Literal["human", "warmup", "intent"]


class Utterance(Event, frozen=True, kw_only=True, tag="utterance"):
    """Words heard by both participants that are not part of a decision: the Human's report of a failure,
    a caller on the phone, a spoken correction."""

    #: "human", or the speaker that the task's script names
    speaker: str
    #: the words
    text: str


class ModelCall(Event, frozen=True, kw_only=True, tag="model_call"):
    """One question to a hosted model, with what came of it."""

    #: for which participant
    role: Literal["assistant", "human"]
    #: its name at the provider
    model: str
    #: sha256 of the full request, stored by content
    request_sha256: str
    #: the text that came back, whole; "" when none did
    answer: str
    #: as billed; None when the provider does not say, or gave no answer
    input_tokens: int | None
    #: as billed; None when the provider does not say, or gave no answer
    output_tokens: int | None
    #: US dollars, or None when unknown
    cost_usd: float | None
    #: wall seconds until the answer, retries included
    latency_s: float
    #: calls that failed before this one
    retries: int
    #: of the request, as strings (never a key or a secret)
    params: dict[str, str]
    #: for questions to the provider, or None
    provider_request_id: str | None = None
    #: answered; malformed: not what was asked for; refused: it would not answer; overflow: more than it can read;
    #: failed: no answer after all that may be tried (left out in logs from before there was one)
    outcome: Literal["answered", "malformed", "refused", "overflow", "failed"] | msgspec.UnsetType = msgspec.UNSET
    #: why it is not answered, without secrets; "" when it is
    problem: str | msgspec.UnsetType = msgspec.UNSET
    #: why the answer ends, in the provider's word: stop, length ...
    finish: str | msgspec.UnsetType = msgspec.UNSET
    #: ids of the frames whose pictures were sent, in order
    frames: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    #: 0 for the question itself, then 1, 2 ... for each request to mend a malformed answer
    repair: int | msgspec.UnsetType = msgspec.UNSET
