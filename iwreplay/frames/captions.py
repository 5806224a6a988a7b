"""What was said and done in an episode, as captions on its simulated time. Pure.

Three voices have a place each: the Assistant, whoever answers it, and the command that is carried out. Most turns take
little simulated time, so words stay for as long as it takes to read them, unless their own voice says something new.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from iwreplay.events import (
    AssistantDecision,
    CommandIssued,
    EpisodeOpened,
    Event,
    HumanTurn,
    PhaseChanged,
    PrimitiveOutcome,
    ScriptedEvent,
    Utterance,
)

__all__ = ["VOICES", "Caption", "captions_of", "srt_of"]

Voice = Literal["assistant", "human", "command"]
VOICES: tuple[Voice, ...] = ("assistant", "human", "command")

#: how long words stay: the least, and for each of their letters
_LEAST_S, _PER_LETTER_S = 2.0, 0.055
#: no command at all
_NO_OP = "[NoOp]"


@dataclass(frozen=True)
class Caption:
    """Words of one voice, shown from `start_s` to before `end_s` of simulated time."""

    voice: Voice
    text: str
    start_s: float
    end_s: float

    def shown_at(self, t_s: float) -> bool:
        return self.start_s <= t_s < self.end_s


@dataclass
class _Said:
    voice: Voice
    text: str
    at_s: float
    turn: int


def captions_of(log: Iterable[tuple[int, Event]]) -> tuple[Caption, ...]:
    """The captions of a log, by the time at which they begin."""
    said: list[_Said] = []
    #: turn -> when the next one began
    ended: dict[int, float] = {}
    turn, last_s, request = 0, 0.0, ""
    for _, event in log:
        last_s = event.sim_time_s
        if event.turn != turn:
            ended[turn], turn = last_s, event.turn
        if isinstance(event, EpisodeOpened):
            request = event.task.request
        elif isinstance(event, PhaseChanged) and event.phase == "closed_loop" and request:
            said.append(_Said("human", f"Wearer: {request}", last_s, event.turn))
        elif isinstance(event, PrimitiveOutcome):
            _answer(said, event)
        else:
            found = _said(event)
            if found is not None:
                said.append(_Said(*found, last_s, event.turn))
    ended[turn] = last_s
    return _timed(said, ended)


def _said(event: Event) -> tuple[Voice, str] | None:
    if isinstance(event, AssistantDecision) and event.text:
        return "assistant", f"Assistant: {event.text}"
    if isinstance(event, HumanTurn) and event.reply:
        return "human", f"Human: {event.reply}"
    if isinstance(event, Utterance):
        return "human", f"{event.speaker[:1].upper()}{event.speaker[1:]}: {event.text}"
    if isinstance(event, CommandIssued) and event.text != _NO_OP:
        return "command", f"> {event.text}"
    if isinstance(event, ScriptedEvent) and event.text:
        return "command", f"* {event.text}"
    return None


def _answer(said: list[_Said], outcome: PrimitiveOutcome) -> None:
    """Adds to the command that was refused why it was."""
    if outcome.ok or not said or said[-1].voice != "command":
        return
    said[-1].text += f"  refused: {outcome.sentence or outcome.code}"


def _timed(said: list[_Said], ended: dict[int, float]) -> tuple[Caption, ...]:
    following: dict[Voice, float] = {}
    out: list[Caption] = []
    for one in reversed(said):
        end = max(ended[one.turn], one.at_s + _LEAST_S + _PER_LETTER_S * len(one.text))
        end = min(end, following.get(one.voice, end))
        following[one.voice] = one.at_s
        # what is said at one instant by one voice: the last of it counts, and the rest goes before it
        if end > one.at_s:
            out.append(Caption(one.voice, one.text, one.at_s, end))
        else:
            k = next(i for i in range(len(out) - 1, -1, -1) if out[i].voice == one.voice)
            out[k] = Caption(one.voice, f"{one.text}\n{out[k].text}", out[k].start_s, out[k].end_s)
    return tuple(sorted(out, key=lambda c: (c.start_s, VOICES.index(c.voice))))


def srt_of(captions: Iterable[Caption], *, from_s: float, until_s: float) -> str:
    """The captions as a SubRip file whose time begins at `from_s`."""
    every = [c for c in captions if c.end_s > from_s and c.start_s < until_s]
    edges = sorted({min(max(t, from_s), until_s) for c in every for t in (c.start_s, c.end_s)})
    blocks: list[str] = []
    for start, end in pairwise(edges):
        lines = [c.text for c in sorted(every, key=lambda c: VOICES.index(c.voice)) if c.shown_at(start)]
        if lines:
            times = f"{_stamp(start - from_s)} --> {_stamp(end - from_s)}"
            blocks.append(f"{len(blocks) + 1}\n{times}\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)


def _stamp(t_s: float) -> str:
    ms = int(t_s * 1000.0 + 0.5)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"
