"""From the events of one log to rows of the catalogue: a pure fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_never, cast

import msgspec

from iwreplay.canonical import struct_hash
from iwreplay.catalogue.schema import KEPT, TABLES
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
    Participant,
    PhaseChanged,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
    WorldSnapshot,
)
from iwreplay.store import status_of
from iwreplay.vocabulary import FAILURE_CODES

__all__ = ["NO_COMMAND", "LogFacts", "Rows", "project"]

_SHOWN_DIGITS = 12
#: how a Human turn without any command is written
NO_COMMAND = "[NoOp]"

#: table -> rows, each a mapping column -> value; a column that is missing is null
Rows = dict[str, list[dict[str, Any]]]

_GROUP_OF_CODE = {code: group for group, codes in FAILURE_CODES.items() for code in codes}
_LIVE = "closed_loop"


class LogFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the reader of a log knows about it beside its events."""

    state: str
    problem: str | None
    root_hash: str | None
    #: False: a recovery lost events of it
    lossless: bool = True


def project(episode: str, events: Iterable[tuple[int, Event]], facts: Callable[[], LogFacts]) -> Rows:
    """Rows of one episode for all tables but those of what is kept beside it. Takes any prefix of a log, also an empty
    one. `facts` is asked after the last event: reading finds damage that opening did not."""
    fold = _Fold(episode)
    for seq, event in events:
        fold.take(seq, cast("AnyEvent", event))
    return fold.finish(facts())


class _Fold:
    """Rows so far, and the row of the command and turn that are still under way."""

    def __init__(self, episode: str) -> None:
        self.episode = episode
        self.rows: Rows = {t.name: [] for t in TABLES if t.name not in KEPT}
        self.opened: EpisodeOpened | None = None
        self.ended: EpisodeEnded | None = None
        self.classes: dict[str, str] = {}
        self.count = 0
        self.sim_time_s: float | None = None
        self.actions: dict[int, dict[str, Any]] = {}
        self.turns: dict[int, dict[str, Any]] = {}
        self.shown: dict[int, Observation] = {}

    def take(self, seq: int, event: AnyEvent) -> None:
        self.count += 1
        self.sim_time_s = event.sim_time_s
        match event:
            case EpisodeOpened():
                self.opened = event
                self.classes = {t.id: t.cls for t in event.scene.things}
                for thing in event.scene.things:
                    self._add("things", thing=thing.id, cls=thing.cls, name=thing.name, fixed=thing.fixed)
            case EpisodeEnded():
                self.ended = event
            case Fault():
                self._at(seq, event, "faults", source=event.source, code=event.code, detail=event.detail)
            case FrameCaptured():
                self._frame(seq, event)
            case Observation():
                if event.role == "assistant":
                    self.shown[event.turn] = event
            case AssistantDecision():
                self._decision(seq, event)
            case HumanTurn():
                row = self.turns.get(event.turn)
                if row is not None:
                    row["commands"] = sum(c != NO_COMMAND for c in event.commands)
                    row["reply"] = event.reply
            case CommandIssued():
                self.actions[event.action] = self._at(
                    seq, event, "actions", action=event.action, source=event.source, command=event.text
                )
            case PrimitiveOutcome():
                self._outcome(seq, event)
            case Utterance():
                self._at(seq, event, "utterances", speaker=event.speaker, text=event.text)
            case ModelCall():
                self._model_call(seq, event)
            case StateDelta():
                self._at(
                    seq,
                    event,
                    "deltas",
                    thing=event.thing,
                    cls=self.classes.get(event.thing),
                    attr=event.attr,
                    old=_json(event.old),
                    new=_json(event.new),
                    cause=event.cause,
                )
            case Contact():
                self._at(seq, event, "happenings", what="contact", obj=event.a, dest=event.b, tool="", detail="{}")
            case Happened():
                self._at(
                    seq,
                    event,
                    "happenings",
                    what=event.what,
                    obj=event.obj,
                    dest=event.dest,
                    tool=event.tool,
                    detail=_json(event.detail),
                )
            case ScriptedEvent():
                self._at(seq, event, "scripted", script=event.script, text=event.text)
            case PhaseChanged() | PosesSampled() | BodyPosed() | WorldSnapshot():
                pass  # the phase is a column of every row; poses are for the fold of the world, not for SQL
            case _ as never:
                assert_never(never)

    def finish(self, facts: LogFacts) -> Rows:
        self._add("episodes", **self._episode_row(facts))
        return self.rows

    def _add(self, table: str, **values: Any) -> dict[str, Any]:
        row = {"episode": self.episode, **values}
        self.rows[table].append(row)
        return row

    def _at(self, seq: int, event: AnyEvent, table: str, **values: Any) -> dict[str, Any]:
        return self._add(table, seq=seq, sim_time_s=event.sim_time_s, turn=event.turn, phase=event.phase, **values)

    def _frame(self, seq: int, event: FrameCaptured) -> None:
        self._at(
            seq,
            event,
            "frames",
            frame=event.frame_id,
            step=event.step,
            cause=event.cause,
            action=event.action,
            width=event.width,
            height=event.height,
            pixels_sha256=event.pixels_sha256,
        )
        for thing, pixels in event.visible.items():
            self._add("sightings", frame=event.frame_id, seq=seq, thing=thing, pixels=pixels)

    def _decision(self, seq: int, event: AssistantDecision) -> None:
        shown = self.shown.get(event.turn)
        self.turns[event.turn] = self._add(
            "turns",
            turn=event.turn,
            seq=seq,
            sim_time_s=event.sim_time_s,
            decision=event.decision,
            text=event.text,
            memory=event.memory,
            frames_shown=len(shown.frames) if shown is not None else None,
            frames_available=shown.available if shown is not None else None,
            commands=0,
        )

    def _outcome(self, seq: int, event: PrimitiveOutcome) -> None:
        row = self.actions.get(event.action)
        if row is None:
            row = self._at(seq, event, "actions", action=event.action, command=event.command)
        row.update(
            verb=event.verb,
            primitive=event.primitive,
            obj=event.obj,
            dest=event.dest,
            tool=event.tool,
            ok=event.ok,
            code=event.code,
            code_group=_GROUP_OF_CODE.get(event.code),
            refused=event.refused,
            sentence=event.sentence,
            blocker=event.blocker,
            started_s=event.started_s,
            duration_s=event.duration_s,
            distance_m=event.distance_m,
        )

    def _model_call(self, seq: int, event: ModelCall) -> None:
        self._at(
            seq,
            event,
            "model_calls",
            role=event.role,
            model=event.model,
            input_tokens=event.input_tokens,
            output_tokens=event.output_tokens,
            cost_usd=event.cost_usd,
            latency_s=event.latency_s,
            retries=event.retries,
            outcome="answered" if event.outcome is msgspec.UNSET else event.outcome,
            problem="" if event.problem is msgspec.UNSET else event.problem,
            finish="" if event.finish is msgspec.UNSET else event.finish,
            repair=0 if event.repair is msgspec.UNSET else event.repair,
            pictures=None if event.frames is msgspec.UNSET else len(event.frames),
            answer=event.answer,
            params=_json(event.params),
            request_sha256=event.request_sha256,
            provider_request_id=event.provider_request_id,
        )

    def _episode_row(self, facts: LogFacts) -> dict[str, Any]:
        live = [r for r in self.rows["actions"] if r["phase"] == _LIVE]
        end = self.ended
        reason = None if end is None else end.reason
        row: dict[str, Any] = {
            "log_state": facts.state,
            "problem": facts.problem,
            "root_hash": facts.root_hash,
            "events": self.count,
            "sim_time_s": self.sim_time_s,
            "status": status_of(facts.state, end_reason=reason, lossless=facts.lossless),
            "end_reason": reason,
            "valid": None if end is None else end.valid and facts.lossless,
            "turns": len(self.turns),
            "actions": len(live),
            "refused": sum(bool(r.get("refused")) for r in live),
            "guided_turns": sum(r["decision"] != "done" for r in self.turns.values()),
            "guided_actions": sum(r.get("source") == "human" for r in live),
        }
        if self.opened is not None:
            row |= _opened_columns(self.opened)
        return row


def _opened_columns(event: EpisodeOpened) -> dict[str, Any]:
    task = event.task
    return {
        "task": task.id,
        "task_version": task.version,
        "task_sha256": struct_hash(task),
        "family": task.family,
        "title": task.title,
        "request": task.request,
        "scene": event.scene.id,
        "scene_hash": event.scene_hash,
        "assistant": event.assistant.name,
        "assistant_params": _json(event.assistant.params),
        "assistant_prompt": _prompt(event.assistant),
        "human": event.human.name,
        "human_params": _json(event.human.params),
        "human_prompt": _prompt(event.human),
        "simulator": f"{event.simulator.name} {event.simulator.version}",
        "renderer": event.renderer,
        "seed": event.config.seed,
        "format_version": event.format_version,
        "oracle_turns": len(task.oracle),
        "oracle_actions": sum(len(s.do) for s in task.oracle),
        "max_turns": event.config.max_turns,
        "max_actions": event.config.max_actions,
    }


def _prompt(who: Participant) -> str:
    """ "assistant/1 3f9ac0d2e1b4", or "" for one that is told nothing."""
    name, digest = who.params.get("prompt"), who.params.get("prompt_sha256", "")
    return "" if name is None else f"{name} {digest[:_SHOWN_DIGITS]}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
