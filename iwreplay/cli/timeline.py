"""An episode as a readable timeline: one line a fact that a person wants to see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never, cast

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
from iwreplay.vocabulary import AttrValue

__all__ = ["timeline"]

_PHASES = {
    "scene_init": "scene is set up",
    "warmup": "warmup (predefined actions)",
    "closed_loop": "live interaction",
    "end": "end",
}


def timeline(events: Iterable[tuple[int, Event]], *, everything: bool = False) -> Iterator[str]:
    """Lines "seq time turn what". `everything` adds poses, frames, first sights, observations and snapshots."""
    for seq, event in events:
        if isinstance(event, PhaseChanged) and event.phase in _PHASES:
            yield f"{'':>24}-- {_PHASES[event.phase]} --"
            continue
        text = _text(cast("AnyEvent", event), everything)
        if text is not None:
            turn = f"turn {event.turn}" if event.turn else ""
            yield f"{seq:>6} {event.sim_time_s:>8.2f}s {turn:>7} {text}"


def _text(event: AnyEvent, everything: bool) -> str | None:
    match event:
        case EpisodeOpened():
            t = event.task
            return (
                f"{t.id} {_quoted(t.title)} ({t.family}), scene {event.scene.id}: Assistant {event.assistant.name}, "
                f"Human {event.human.name}, seed {event.config.seed}\n{'':>25}The wearer asks: {_quoted(t.request)}"
            )
        case PhaseChanged():
            return f"phase {event.phase}" if everything else None
        case AssistantDecision():
            words = f": {_quoted(event.text)}" if event.text else ""
            return f"Assistant {event.decision}{words}" if everything or event.decision != "silent" else None
        case HumanTurn():
            return f"Human says: {_quoted(event.reply)}" if event.reply else None
        case CommandIssued():
            return f"  {event.text}{'' if event.source == 'human' else f'  ({event.source})'}"
        case PrimitiveOutcome():
            return f"    {_outcome(event)}"
        case Utterance():
            return f"{event.speaker} says: {_quoted(event.text)}"
        case ScriptedEvent():
            return f"* {event.script} happens{f': {_quoted(event.text)}' if event.text else ''}"
        case StateDelta():
            return f"      {event.thing}.{event.attr}: {_value(event.old)} -> {_value(event.new)}  ({event.cause})"
        case Happened():
            if event.what == "seen" and not everything:
                return None
            parts = " ".join(
                f"{k}={v}" for k, v in (("obj", event.obj), ("dest", event.dest), ("tool", event.tool)) if v
            )
            detail = "".join(f" {k}={_value(v)}" for k, v in event.detail.items())
            return f"      {event.what} {parts}".rstrip() + detail
        case ModelCall():
            return f"model {event.model} as {event.role}: {event.input_tokens} in, {event.output_tokens} out"
        case Fault():
            return f"FAULT in {event.source}: {event.code}: {event.detail}"
        case EpisodeEnded():
            kind = "valid" if event.valid else "not valid"
            tail = f": {event.detail}" if event.detail else ""
            return f"ended by {event.reason}, {kind}: {event.turns} turns, {event.actions} actions{tail}"
        case Contact():
            return f"      {event.a} touches {event.b}" if everything else None
        case FrameCaptured():
            return (
                f"frame {event.frame_id} ({event.cause}), {len(event.visible)} things visible" if everything else None
            )
        case Observation():
            return f"{event.role} is shown {len(event.frames)} of {event.available} frames" if everything else None
        case PosesSampled():
            return f"poses of {len(event.things)} things, {len(event.joints)} joints" if everything else None
        case BodyPosed():
            return "body pose" if everything else None
        case WorldSnapshot():
            return f"snapshot ({event.reason})" if everything else None
        case _ as never:
            assert_never(never)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _outcome(event: PrimitiveOutcome) -> str:
    if event.ok:
        walked = f", {event.distance_m:.1f} m" if event.distance_m else ""
        return f"ok: {event.primitive}, {event.duration_s:.1f} s{walked}"
    return f"{'refused' if event.refused else 'failed'} {event.code}: {event.sentence}"


def _value(value: AttrValue) -> str:
    if value is True or value is False:
        return "yes" if value else "no"
    return "-" if value is None else _quoted(value) if isinstance(value, str) else str(value)
