"""An episode as a readable timeline: one line a fact that a person wants to see, one line a stretch of silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never, cast

import msgspec

from iwreplay.cli.output import counted
from iwreplay.errors import LogError
from iwreplay.events import (
    AnyEvent,
    AssistantDecision,
    BodyPosed,
    CommandIssued,
    Contact,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    Fault,
    FrameCaptured,
    Happened,
    HumanTurn,
    ModelCall,
    Observation,
    PhaseChanged,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
    WorldSnapshot,
)
from iwreplay.vocabulary import AttrValue, Phase

__all__ = ["TEXT_AT", "line_of", "outcome_text", "quoted", "shown_by_default", "timeline", "turns_text", "value_text"]

#: column at which the text of a line begins, and goes on when it is broken
TEXT_AT = 25
_PHASES: dict[Phase, str] = {
    "scene_init": "scene is set up",
    "warmup": "warmup (predefined actions)",
    "closed_loop": "live interaction",
    "end": "end",
}


def timeline(events: Iterable[tuple[int, Event]], *, everything: bool = False) -> Iterator[str]:
    """Lines "seq time turn what". `everything` adds poses, frames, first sights, observations and snapshots, and gives
    each silent decision its own line. What is intact of a damaged log comes before its LogError."""
    silent: list[tuple[int, Event]] = []
    try:
        for seq, event in events:
            if not everything and isinstance(event, AssistantDecision) and _is_mere_silence(event):
                silent.append((seq, event))
                continue
            line = _heading(event) or line_of(seq, event, everything=everything)
            if line is not None:
                yield from _silence(silent)
                silent.clear()
                yield line
    except LogError:
        yield from _silence(silent)
        raise
    yield from _silence(silent)


def _is_mere_silence(event: AssistantDecision) -> bool:
    """Nothing was said, and nothing noted."""
    return event.decision == "silent" and not event.memory


def line_of(seq: int, event: Event, *, everything: bool = False) -> str | None:
    """The line of one event; None for one that only `everything` shows."""
    text = _text(cast("AnyEvent", event), everything)
    return None if text is None else _line(seq, event, f"turn {event.turn}" if event.turn else "", text)


def shown_by_default(event: Event) -> bool:
    """Whether the timeline shows events like this one without being asked for everything."""
    return isinstance(event, PhaseChanged) or _text(cast("AnyEvent", event), False) is not None


def _heading(event: Event) -> str | None:
    return f"{'':>{TEXT_AT - 1}}-- {_PHASES[event.phase]} --" if isinstance(event, PhaseChanged) else None


def _silence(silent: list[tuple[int, Event]]) -> Iterator[str]:
    if silent:
        seq, event = silent[0]
        yield _line(seq, event, turns_text(event.turn, silent[-1][1].turn), "Assistant silent")


def turns_text(first: int, last: int) -> str:
    """ "turn 3", "turns 3-5"."""
    return f"turn {first}" if first == last else f"turns {first}-{last}"


def _line(seq: int, event: Event, turn: str, text: str) -> str:
    return f"{seq:>6} {event.sim_time_s:>8.2f}s {turn:>7} {text}"


def _call_text(event: ModelCall) -> str:
    """ "model openai/m as assistant: answered, 1200 tokens in, 34 out, $0.0042, 1.9 s"."""
    took = [
        "answered" if event.outcome is msgspec.UNSET else event.outcome,
        *(() if event.input_tokens is None else (f"{event.input_tokens} tokens in",)),
        *(() if event.output_tokens is None else (f"{event.output_tokens} out",)),
        *(() if event.cost_usd is None else (f"${event.cost_usd:.4f}",)),
        f"{event.latency_s:.1f} s",
        *((f"after {counted(event.retries, 'failed call')}",) if event.retries else ()),
    ]
    why = f": {event.problem}" if event.problem else ""
    return f"model {event.model} as {event.role}: {', '.join(took)}{why}"


def _text(event: AnyEvent, everything: bool) -> str | None:
    match event:
        case EpisodeOpened():
            t = event.task
            return (
                f"{t.id} {quoted(t.title)} ({t.family}), scene {event.scene.id}: Assistant {event.assistant.name}, "
                f"Human {event.human.name}, seed {event.config.seed}\n"
                f"{'':>{TEXT_AT}}The wearer asks: {quoted(t.request)}"
            )
        case PhaseChanged():
            return f"phase {event.phase}" if everything else None
        case AssistantDecision():
            words = f": {quoted(event.text)}" if event.text else ""
            notes = f"\n{'':>{TEXT_AT}}notebook: {quoted(event.memory)}" if event.memory else ""
            return f"Assistant {event.decision}{words}{notes}"
        case HumanTurn():
            return f"Human says: {quoted(event.reply)}" if event.reply else None
        case CommandIssued():
            return f"  {event.text}{'' if event.source == 'human' else f'  ({event.source})'}"
        case PrimitiveOutcome():
            return f"    {outcome_text(event)}"
        case Utterance():
            return f"{event.speaker[:1].upper()}{event.speaker[1:]} says: {quoted(event.text)}"
        case ScriptedEvent():
            return f"* {event.script} happens{f': {quoted(event.text)}' if event.text else ''}"
        case StateDelta():
            return (
                f"      {event.thing}.{event.attr}: {value_text(event.old)} -> {value_text(event.new)}  ({event.cause})"
            )
        case Happened():
            if event.what == "seen" and not everything:
                return None
            parts = " ".join(
                f"{k}={v}" for k, v in (("obj", event.obj), ("dest", event.dest), ("tool", event.tool)) if v
            )
            detail = "".join(f" {k}={value_text(v)}" for k, v in event.detail.items())
            return f"      {event.what} {parts}".rstrip() + detail
        case ModelCall():
            return _call_text(event)
        case Fault():
            return f"FAULT in {event.source}: {event.code}: {event.detail}"
        case EpisodeEnded():
            kind = "valid" if event.valid else "not valid"
            tail = f": {event.detail}" if event.detail else ""
            effort = f"{counted(event.turns, 'turn')}, {counted(event.actions, 'action')}"
            return f"ended by {event.reason}, {kind}: {effort}{tail}"
        case Contact():
            return f"      {event.a} touches {event.b}" if everything else None
        case FrameCaptured():
            return (
                f"frame {event.frame_id} ({event.cause}), {counted(len(event.visible), 'thing')} visible"
                if everything
                else None
            )
        case Observation():
            return (
                f"{event.role} is shown {len(event.frames)} of {counted(event.available, 'frame')}"
                if everything
                else None
            )
        case PosesSampled():
            return (
                f"poses of {counted(len(event.things), 'thing')}, {counted(len(event.joints), 'joint')}"
                if everything
                else None
            )
        case BodyPosed():
            return "body pose" if everything else None
        case WorldSnapshot():
            return f"snapshot ({event.reason})" if everything else None
        case _ as never:
            assert_never(never)


def quoted(text: str) -> str:
    """Words as they were said or written; where a line ends there is a stroke."""
    return f'"{text.strip().replace(chr(10), " / ")}"'


def outcome_text(event: PrimitiveOutcome) -> str:
    """What became of a command."""
    if event.ok:
        walked = f", {event.distance_m:.1f} m" if event.distance_m else ""
        return f"ok: {event.primitive}, {event.duration_s:.1f} s{walked}"
    return f"{'refused' if event.refused else 'failed'} {event.code}: {event.sentence}"


def value_text(value: AttrValue) -> str:
    """A value of an attribute, in words."""
    if value is True or value is False:
        return "yes" if value else "no"
    return "-" if value is None else quoted(value) if isinstance(value, str) else str(value)
