"""What the participants of a logged episode said and did, turn by turn: their lines for a replay."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from iwreplay.errors import LogError, NotOpenedError
from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    HumanTurn,
    ModelCall,
    ScriptedEvent,
    Utterance,
)
from iwreplay.loop.dialogue import HUMAN
from iwreplay.loop.limits import NOOP
from iwreplay.ports import AssistantAct, HumanAct

__all__ = ["Lines", "collect_lines"]


class Lines(msgspec.Struct, kw_only=True):
    """Lines by turn, and how the log ends."""

    opened: EpisodeOpened
    decisions: dict[int, AssistantAct]
    acts: dict[int, HumanAct]
    #: what each asked of models: (role, turn) -> calls
    calls: dict[tuple[str, int], tuple[ModelCall, ...]]
    #: what the Human said after its commands
    reports: dict[int, str]
    #: (seq, turn, fault) of the first fault, if any
    fault: tuple[int, int, Fault] | None = None
    #: False: the log stops without an end (it was cut, or its recorder was killed)
    ended: bool = False
    events: int = 0

    def interrupted_at(self) -> tuple[int, int] | None:
        """(seq, turn) at which the user stopped the episode, or None."""
        return self.fault[:2] if self.fault is not None and self.fault[2].source == "user" else None


def collect_lines(log: Iterable[tuple[int, Event]]) -> Lines:
    """One pass over a log. LogError when it does not begin with EpisodeOpened."""
    lines: Lines | None = None
    #: utterances still to come from scripted events, which are nobody's line
    scripted = 0
    said: dict[str, int] = {}
    for seq, event in log:
        if lines is None:
            if not isinstance(event, EpisodeOpened):
                raise NotOpenedError(type(event).__name__, seq=seq)
            lines = Lines(opened=event, decisions={}, acts={}, calls={}, reports={})
            said = {s.id: sum(a.do == "say" for a in s.do) for s in event.task.script}
        lines.events += 1
        if isinstance(event, AssistantDecision):
            lines.decisions[event.turn] = AssistantAct(decision=event.decision, text=event.text, memory=event.memory)
        elif isinstance(event, ModelCall):
            asked = (event.role, event.turn)
            lines.calls[asked] = (*lines.calls.get(asked, ()), event)
        elif isinstance(event, HumanTurn):
            commands = () if event.commands == (NOOP,) else event.commands
            lines.acts[event.turn] = HumanAct(commands=commands, reply=event.reply)
        elif isinstance(event, CommandIssued) and event.source == "intent":
            lines.acts[event.turn] = msgspec.structs.replace(lines.acts[event.turn], from_intent=True)
        elif isinstance(event, ScriptedEvent):
            scripted += said.get(event.script, 0)
        elif isinstance(event, Utterance):
            if scripted > 0:
                scripted -= 1
            elif event.speaker == HUMAN:
                lines.reports[event.turn] = event.text
        elif isinstance(event, Fault) and lines.fault is None:
            lines.fault = (seq, event.turn, event)
        elif isinstance(event, EpisodeEnded):
            lines.ended = True
    if lines is None:
        raise LogError("the log holds no event; there is nothing to replay")
    return lines
