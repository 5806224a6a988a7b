"""An episode turn by turn: what was said and done in each, and what was different after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from iwreplay.checks import CheckRun
from iwreplay.errors import LogError
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    HumanTurn,
    ModelCall,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
)
from iwreplay.vocabulary import WEARER, AttrValue
from iwreplay.world.state import fold

__all__ = ["Change", "Command", "Turn", "turns_of"]

#: what `parent` and the wearer's place say already, and what creeps
_LEFT_OUT = ("held", "heat_s")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One command, and what became of it."""

    text: str
    #: the task's script moved the Human, or its warmup
    by_itself: bool
    #: "" or the code and the sentence of the refusal
    refused: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An attribute that is different after the turn from what it was before it."""

    thing: str
    attr: str
    old: AttrValue
    new: AttrValue


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn; turn 0 is the warmup."""

    turn: int
    first_seq: int
    #: silent, interrupt or done; None in the warmup, and where the log breaks off
    decision: str | None
    words: str | None
    #: "" or why the answers of a hosted Assistant could not be used: "malformed", "refused"; it is silent then
    silenced: str
    commands: tuple[Command, ...]
    #: (speaker, words) of everything else that was said
    said: tuple[tuple[str, str], ...]
    #: ids of the scripted events that happened
    scripts: tuple[str, ...]
    changes: tuple[Change, ...]
    #: objectives that hold since this turn, and no more
    now_true: tuple[str, ...]
    now_false: tuple[str, ...]
    #: reason, and detail if there is one, when the episode ended in this turn
    ended: str | None

    @property
    def is_idle(self) -> bool:
        """The Assistant was silent, and nothing was done and nothing changed."""
        happened = (
            self.silenced,
            self.commands,
            self.said,
            self.scripts,
            self.changes,
            self.now_true,
            self.now_false,
            self.ended,
        )
        return self.decision == "silent" and not any(happened)


@dataclass
class _Open:
    """A turn that is being read."""

    turn: int
    first_seq: int
    decision: str | None = None
    words: str | None = None
    silenced: str = ""
    commands: list[tuple[str, bool]] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    said: list[tuple[str, str]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    #: (thing, attribute) -> value before the turn, and now
    changed: dict[tuple[str, str], tuple[AttrValue, AttrValue]] = field(default_factory=dict)
    ended: str | None = None

    def feed(self, event: Event) -> None:
        if isinstance(event, ModelCall):
            if event.role == "assistant":
                self.silenced = event.outcome if event.outcome in ("malformed", "refused") else ""
        elif isinstance(event, AssistantDecision):
            self.decision, self.words = event.decision, event.text
        elif isinstance(event, CommandIssued):
            self.commands.append((event.text, event.source == "intent"))
        elif isinstance(event, PrimitiveOutcome) and not event.ok:
            self.refused[len(self.commands) - 1] = f"{event.code}: {event.sentence}"
        elif isinstance(event, HumanTurn) and event.reply:
            self.said.append(("human", event.reply))
        elif isinstance(event, Utterance):
            self.said.append((event.speaker, event.text))
        elif isinstance(event, ScriptedEvent):
            self.scripts.append(event.script)
        elif isinstance(event, StateDelta) and event.attr not in _LEFT_OUT:
            key = (event.thing, event.attr)
            self.changed[key] = (self.changed[key][0] if key in self.changed else event.old, event.new)
        elif isinstance(event, Fault):
            self.said.append((event.source, f"{event.code}: {event.detail}"))
        elif isinstance(event, EpisodeEnded):
            self.ended = f"{event.reason}{'' if event.valid else f', not valid: {event.detail}'}"

    def done(self, before: dict[str, bool], after: dict[str, bool]) -> Turn:
        return Turn(
            turn=self.turn,
            first_seq=self.first_seq,
            decision=self.decision,
            words=self.words,
            silenced=self.silenced if self.decision is not None else "",
            commands=tuple(
                Command(text=text, by_itself=alone, refused=self.refused.get(i, ""))
                for i, (text, alone) in enumerate(self.commands)
            ),
            said=tuple(self.said),
            scripts=tuple(self.scripts),
            changes=tuple(
                Change(thing=thing, attr=attr, old=old, new=new)
                for (thing, attr), (old, new) in self.changed.items()
                if old != new and not (thing == WEARER and old is None)
            ),
            now_true=tuple(c for c, holds in after.items() if holds and not before.get(c, False)),
            now_false=tuple(c for c, holds in after.items() if not holds and before.get(c, False)),
            ended=self.ended,
        )


def turns_of(events: Iterable[tuple[int, Event]]) -> Iterator[Turn]:
    """The turns of a log, the warmup first. What is intact of a damaged log comes before its LogError.

    CheckError when the task's checks do not fit the log's scene.
    """
    run: CheckRun | None = None
    held: dict[str, bool] = {}
    current: _Open | None = None
    try:
        for seq, event, state in fold(events):
            if run is None:
                assert isinstance(event, EpisodeOpened), "a fold begins with the opening"
                run = CheckRun(event.task, event.scene)
            if current is None or event.turn != current.turn:
                if current is not None:
                    now = _holding(run)
                    yield current.done(held, now)
                    held = now
                current = _Open(event.turn, seq)
            run.feed(seq, event, state)
            current.feed(event)
    except LogError:
        if current is not None and run is not None:
            yield current.done(held, _holding(run))
        raise
    if current is not None and run is not None:
        yield current.done(held, _holding(run))


def _holding(run: CheckRun) -> dict[str, bool]:
    """Which objectives are satisfied as things are; none before live interaction."""
    if run.live_seq is None:
        return {o.id: False for o in run.task.objectives}
    return {o.id: o.satisfied for o in run.evaluation().objectives}
