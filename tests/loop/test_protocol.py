"""The audit of a finished log: a recorded one passes, and each broken statement is found by its number."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from iwreplay.events import (
    AssistantDecision,
    BodyPosed,
    CommandIssued,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    FrameCaptured,
    HumanTurn,
    ModelCall,
    Observation,
    Participant,
    PhaseChanged,
    PrimitiveOutcome,
    StateDelta,
    Utterance,
    WorldSnapshot,
)
from iwreplay.loop import CHECKED_STATEMENTS, protocol_violations
from iwreplay.taskpack.model import HumanRole, OracleStep
from iwreplay.vocabulary import WEARER
from recorder.assistants import OracleAssistant
from tests.loop.fakes import TASK, changed, play

Events = list[Event]
Break = Callable[[Events], Events]

_TASK = changed(
    TASK,
    oracle=(
        OracleStep(say="Take the blue mug from the table.", do=("[Grab] blue mug on table",)),
        OracleStep(say="Take the bowl.", do=("[Grab] bowl",)),
        OracleStep(say="Turn left and look around.", do=("[TurnLeft]", "[Scan]")),
        OracleStep(),
    ),
)


@pytest.fixture(scope="module")
def recorded() -> Events:
    log, _ = play(_TASK)
    return list(log.events())


def first(events: Events, kind: type[Event], n: int = 0, **match: object) -> int:
    """Index of the n-th event of a kind whose fields match."""
    hits = [i for i, e in enumerate(events) if type(e) is kind and all(getattr(e, k) == v for k, v in match.items())]
    return hits[n]


def edit(kind: type[Event], n: int = 0, *, match: dict[str, object] | None = None, **fields: object) -> Break:
    def apply(events: Events) -> Events:
        i = first(events, kind, n, **(match or {}))
        return [*events[:i], msgspec.structs.replace(events[i], **fields), *events[i + 1 :]]

    return apply


def drop(kind: type[Event], n: int = 0, **match: object) -> Break:
    def apply(events: Events) -> Events:
        i = first(events, kind, n, **match)
        return events[:i] + events[i + 1 :]

    return apply


def insert(event_of: Callable[[Event], Event], after: type[Event], n: int = 0, **match: object) -> Break:
    def apply(events: Events) -> Events:
        i = first(events, after, n, **match)
        return [*events[: i + 1], event_of(events[i]), *events[i + 1 :]]

    return apply


def like(kind: type[Event], **fields: object) -> Callable[[Event], Event]:
    return lambda e: kind(sim_time_s=e.sim_time_s, turn=e.turn, phase=e.phase, **fields)  # type: ignore[call-arg]


def opened(**task_fields: object) -> Break:
    def apply(events: Events) -> Events:
        head = events[0]
        assert isinstance(head, EpisodeOpened)
        return [msgspec.structs.replace(head, task=changed(head.task, **task_fields)), *events[1:]]

    return apply


_BLIND = HumanRole(role="You are at home.", restriction="accessibility")

BROKEN: list[tuple[int, str, Break]] = [
    (1, "no warmup phase", drop(PhaseChanged, phase="warmup")),
    (1, "no opening", lambda e: e[1:]),
    (1, "an event of another phase", edit(StateDelta, phase="warmup")),
    (1, "time goes back", edit(PrimitiveOutcome, 1, sim_time_s=0.0)),
    (2, "a model is asked in warmup", insert(like(AssistantDecision, decision="silent"), PrimitiveOutcome)),
    (2, "another warmup command", edit(CommandIssued, text="[Walk] sink")),
    (3, "warmup frames do not count", edit(Observation, available=1)),
    (4, "no decision", drop(AssistantDecision, 1)),
    (4, "two decisions", insert(like(AssistantDecision, decision="silent"), AssistantDecision)),
    (4, "interrupt without text", edit(AssistantDecision, text=None)),
    (4, "silent with text", edit(AssistantDecision, match={"decision": "silent"}, text="psst")),
    (5, "no Human turn", drop(HumanTurn, 1)),
    (5, "another command than the turn's", edit(HumanTurn, commands=("[Scan]",))),
    (5, "an empty turn", edit(HumanTurn, 3, commands=())),
    (6, "ends by nothing", edit(EpisodeEnded, reason="turn_limit")),
    (6, "no end", lambda e: e[:-1]),
    (6, "invalid without a fault", edit(EpisodeEnded, valid=False)),
    (6, "goes on after done", insert(like(HumanTurn, commands=("[NoOp]",)), AssistantDecision, decision="done")),
    (7, "no final state", drop(WorldSnapshot, reason="final")),
    (7, "a change after the final state", insert(
        like(StateDelta, thing="mug_1", attr="held", old=True, new=False, cause="x"), WorldSnapshot, reason="final")),
    (8, "limits of another task", opened(limits=None, oracle=TASK.oracle[:1])),
    (9, "frame of another size", edit(FrameCaptured, width=9)),
    (9, "frame from elsewhere", edit(FrameCaptured, 2, camera=(1.0, 1.0, 1.7, 1.0, 0.0, 0.0, 0.0))),
    (10, "three frames for an action", drop(FrameCaptured, 3)),
    (10, "uneven frames", edit(PrimitiveOutcome, duration_s=3.0)),
    (11, "not all of the few frames", edit(Observation, frames=("f000000",))),
    (13, "frame ids not logged", drop(Observation)),
    (13, "a frame that was never captured", edit(Observation, frames=("f000000", "f999999"))),
    (14, "an identifier in the request", opened(request="Take mug_1.")),
    (14, "an oracle sentence that nobody said yet", insert(
        like(Utterance, speaker="caller", text="Turn left and look around."), HumanTurn)),
    (15, "an identifier among what the Human feels", edit(
        Observation, match={"role": "human"}, proprioception={"holding": "mug_1"})),
    (16, "frames for a blind Human", opened(human=_BLIND)),
    (19, "an intent that nobody has", edit(CommandIssued, 1, source="intent")),
    (20, "an identifier in a failure", edit(PrimitiveOutcome, match={"ok": False}, sentence="No bowl_0 on table_1.")),
    (21, "an unknown primitive", edit(PrimitiveOutcome, primitive="teleport")),
    (21, "a verb of another primitive", edit(PrimitiveOutcome, verb="Grab")),
    (21, "an unknown code", edit(PrimitiveOutcome, match={"ok": False}, code="NOPE")),
    (22, "an angle for TurnAround", lambda e: edit(CommandIssued, 3, text="[TurnAround] 90")(
        edit(PrimitiveOutcome, 3, command="[TurnAround] 90", verb="TurnAround")(e))),
    (23, "a refused command moves the body", insert(
        like(BodyPosed, step=3, values=(0.0,) * 163), CommandIssued, text="[Grab] bowl")),
    (23, "a refused command takes time", edit(PrimitiveOutcome, match={"ok": False}, duration_s=1.0)),
    (24, "turning drops what is held", insert(
        like(StateDelta, thing=WEARER, attr="held", old="mug_1", new="", cause="x"), CommandIssued, text="[TurnLeft]")),
    (24, "sitting that is not recorded", edit(PrimitiveOutcome, verb="Sit", primitive="sit")),
    (25, "a refusal that does not count", edit(EpisodeEnded, actions=1)),
    (25, "a refusal that is not flagged", edit(PrimitiveOutcome, match={"ok": False}, refused=False)),
    (25, "a command without outcome", drop(PrimitiveOutcome, 1)),
    (25, "a number left out", edit(CommandIssued, 2, action=7)),
    (41, "notes without the memory arm", lambda e: edit(AssistantDecision, memory="Key: left.")(
        edit(EpisodeOpened, assistant=Participant(name="m", version="1", params={"memory": "off"}))(e))),
    (43, "a model that nobody spoke of", insert(
        like(ModelCall, role="assistant", model="m", request_sha256="00", answer="", input_tokens=None,
             output_tokens=None, cost_usd=None, latency_s=0.0, retries=0, params={}), AssistantDecision)),
]  # fmt: skip


def test_a_recorded_episode_follows_the_protocol(recorded: Events) -> None:
    assert protocol_violations(recorded) == ()


@pytest.mark.parametrize(("statement", "what", "broken"), BROKEN, ids=[f"{s}-{w}" for s, w, _ in BROKEN])
def test_a_broken_statement_is_found(recorded: Events, statement: int, what: str, broken: Break) -> None:
    found = protocol_violations(broken(recorded))
    assert statement in {v.statement for v in found}, what


def test_more_than_32_frames_must_follow_the_index_rule() -> None:
    task = changed(TASK, warmup=("[TurnLeft]",) * 10)
    log, _ = play(task, assistant=OracleAssistant(()))
    events = list(log.events())
    assert protocol_violations(events) == ()
    i = first(events, Observation)
    shown = events[i]
    assert isinstance(shown, Observation)
    wrong = edit(Observation, frames=(*shown.frames[:3], "f000005", *shown.frames[4:]))(events)
    assert 12 in {v.statement for v in protocol_violations(wrong)}
    too_many = edit(Observation, frames=tuple(f"f{k:06d}" for k in range(33)))(events)
    assert 11 in {v.statement for v in protocol_violations(too_many)}


def test_every_checked_statement_has_a_broken_log() -> None:
    assert {s for s, _, _ in BROKEN} | {12} == set(CHECKED_STATEMENTS)


def test_an_empty_log_is_no_episode() -> None:
    assert [v.statement for v in protocol_violations(())] == [1]
