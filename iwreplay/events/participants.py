"""Decisions of the Assistant, turns of the Human, words said, model calls."""

from __future__ import annotations

from typing import Literal

from iwreplay.events.base import Event

__all__ = ["AssistantDecision", "CommandIssued", "HumanTurn", "ModelCall", "Utterance"]


class AssistantDecision(Event, frozen=True, kw_only=True, tag="assistant_decision"):
    """Exactly one a turn. `silent` has no text, `interrupt` has text, `done` may have a last sentence."""

    decision: Literal["silent", "interrupt", "done"]
    text: str | None = None
    #: hidden memory field of the memory arm; never shown to the Human
    memory: str | None = None


class HumanTurn(Event, frozen=True, kw_only=True, tag="human_turn"):
    """What the Human decided to do, before it is executed. No command at all is written as one `[NoOp]`."""

    commands: tuple[str, ...]
    reply: str | None = None


class CommandIssued(Event, frozen=True, kw_only=True, tag="command_issued"):
    """One command handed to the action engine."""

    #: 0, 1, 2 ... over the episode, warmup included
    action: int
    text: str
    #: warmup commands and scripted errors are not the Human's choice
    source: Literal["human", "warmup", "intent"]


class Utterance(Event, frozen=True, kw_only=True, tag="utterance"):
    """Words heard by both participants that are not part of a decision: the Human's report of a failure,
    a caller on the phone, a spoken correction."""

    speaker: str
    text: str


class ModelCall(Event, frozen=True, kw_only=True, tag="model_call"):
    """One call to a hosted model."""

    role: Literal["assistant", "human"]
    model: str
    #: sha256 of the full request, stored by content
    request_sha256: str
    answer: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    latency_s: float
    retries: int
    params: dict[str, str]
    provider_request_id: str | None = None
