"""The course of live interaction: who decided, commanded and was asked what, as far as costs and timing go by it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from iwreplay.events import AssistantDecision, CommandIssued, Event, ModelCall, PrimitiveOutcome

__all__ = ["COURSE_KINDS", "Call", "Command", "Course", "Decision", "course_of"]

COURSE_KINDS: frozenset[type[Event]] = frozenset({AssistantDecision, CommandIssued, PrimitiveOutcome, ModelCall})
_LIVE = "closed_loop"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One of the Assistant's."""

    seq: int
    #: 1, 2, ...
    turn: int
    #: silent, interrupt or done
    decision: str


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One command, the warmup's left out."""

    seq: int
    #: "human", or "intent": what the Human does by itself
    source: str
    #: refused before anything moved; rule 25: it costs a step all the same
    refused: bool


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a hosted model that was answered, in whatever way."""

    seq: int
    role: str
    #: as billed; None when the provider did not say
    input_tokens: int | None
    output_tokens: int | None
    #: US dollars; None when unknown
    cost_usd: float | None


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """In the order of the log."""

    decisions: tuple[Decision, ...]
    commands: tuple[Command, ...]
    calls: tuple[Call, ...]


def course_of(events: Iterable[tuple[int, Event]]) -> Course:
    """From the events of `COURSE_KINDS`; those of other kinds are passed over."""
    decisions: list[Decision] = []
    issued: dict[int, CommandIssued] = {}
    seqs: dict[int, int] = {}
    refused: set[int] = set()
    calls: list[Call] = []
    for seq, event in events:
        if isinstance(event, AssistantDecision):
            decisions.append(Decision(seq=seq, turn=event.turn, decision=event.decision))
        elif isinstance(event, CommandIssued):
            if event.phase == _LIVE:
                issued[event.action], seqs[event.action] = event, seq
        elif isinstance(event, PrimitiveOutcome):
            if event.refused:
                refused.add(event.action)
        elif isinstance(event, ModelCall) and event.outcome != "failed":
            calls.append(
                Call(
                    seq=seq,
                    role=event.role,
                    input_tokens=event.input_tokens,
                    output_tokens=event.output_tokens,
                    cost_usd=event.cost_usd,
                )
            )
    commands = tuple(
        Command(seq=seqs[action], source=event.source, refused=action in refused) for action, event in issued.items()
    )
    return Course(decisions=tuple(decisions), commands=commands, calls=tuple(calls))
