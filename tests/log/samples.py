"""A tiny episode with every kind of event, and hypothesis strategies that make any event."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect as mi

from iwreplay.events import (
    BODY_VALUES,
    EVENT_TYPES,
    AssistantDecision,
    BodyPosed,
    CommandIssued,
    Contact,
    EpisodeConfig,
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
from iwreplay.log import FORMAT_VERSION, LogWriter
from iwreplay.scene.model import CompiledScene, Joint, Link, Thing
from iwreplay.taskpack.model import HumanRole, TaskPack
from iwreplay.world.state import WorldState

__all__ = ["any_event", "any_log", "episode", "every_kind", "long_episode", "scene", "write"]


def scene() -> CompiledScene:
    """A cupboard with a door, and a mug."""
    door = Joint(
        name="door",
        kind="hinge",
        axis=(0.0, 0.0, 1.0),
        anchor=(0.3, 0.0, 0.0),
        lo=0.0,
        hi=1.6,
        open_at=1.5,
        handle=(-0.3, 0.0, 0.4),
    )
    cupboard = Thing(
        id="cupboard_1",
        cls="cupboard",
        name="cupboard",
        nouns=("cupboard",),
        fixed=True,
        links=(Link(name="carcass"), Link(name="door", parent=0, joint=door)),
        pose=(1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        attrs={"open": False},
        bounds_half=(0.3, 0.3, 0.5),
    )
    mug = Thing(
        id="mug_1",
        cls="mug",
        name="mug",
        adjectives=("blue",),
        nouns=("mug", "cup"),
        fixed=False,
        links=(Link(name="base"),),
        pose=(1.0, 2.0, 0.9, 1.0, 0.0, 0.0, 0.0),
        attrs={"clean": True, "contains": {"water": 0.25}, "parent": "on:cupboard_1.top"},
        bounds_half=(0.04, 0.04, 0.05),
    )
    return CompiledScene(
        id="tiny",
        format=1,
        rooms=(),
        portals=(),
        materials=(),
        things=(cupboard, mug),
        lights=(),
        spawn=(0.0, 0.0, 0.0),
    )


def opened() -> EpisodeOpened:
    """First event of an episode in the tiny scene."""
    who = Participant(name="scripted", version="1", params={"b": "2", "a": "1"})
    return EpisodeOpened(
        sim_time_s=0.0,
        turn=0,
        phase="scene_init",
        format_version=FORMAT_VERSION,
        task=TaskPack(
            format=1,
            id="G99",
            family="guidance",
            title="Put the mug away",
            scene="tiny",
            request="Where does the mug go? — “here”",
            human=HumanRole(role="cook", restriction="guidance"),
            oracle=(),
            objectives=(),
        ),
        scene=scene(),
        scene_hash="00" * 32,
        config=EpisodeConfig(max_turns=4, max_actions=8),
        assistant=who,
        human=who,
        simulator=who,
        renderer="none",
        fingerprint={"python": "3.11", "machine": "x86_64"},
        behaviour_flags=("a", "b"),
        parent=("11" * 32, 7),
    )


def every_kind() -> list[Event]:
    """One episode with every kind of event at least once."""
    state = WorldState(scene())
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)
        state.apply(event)

    emit(opened())
    emit(state.snapshot("initial"))
    emit(PhaseChanged(sim_time_s=0.0, turn=0, phase="closed_loop", previous="scene_init"))
    now: dict[str, Any] = {"sim_time_s": 0.5, "turn": 1, "phase": "closed_loop"}
    camera = (0.1, -0.0, 1.6, 0.7071067811865476, 0.7071067811865475, 1e-16, 5e-324)
    frame: dict[str, Any] = {"step": 250, "camera": camera, "focal_px": 415.7, "width": 640, "height": 480}
    emit(
        FrameCaptured(
            **now, **frame, frame_id="f000000", renderer="numba 1", pixels_sha256=None, visible={}, cause="initial"
        )
    )
    emit(Observation(**now, role="assistant", frames=("f000000",), available=1))
    emit(
        ModelCall(
            **now,
            role="assistant",
            model="m",
            request_sha256="22" * 32,
            answer='{"say": "…"}\n',
            input_tokens=1000,
            output_tokens=20,
            cost_usd=0.0125,
            latency_s=1.75,
            retries=0,
            params={"temperature": "0"},
        )
    )
    emit(AssistantDecision(**now, decision="interrupt", text="Öffne den Schrank, bitte. 🚪", memory=None))
    emit(Observation(**now, role="human", frames=(), available=0, proprioception={"posture": "stand", "holding": ""}))
    emit(HumanTurn(**now, commands=("[Open] the cupboard",), reply="OK"))
    emit(CommandIssued(**now, action=0, text="[Open] the cupboard", source="human"))
    later: dict[str, Any] = {"sim_time_s": 1.75, "turn": 1, "phase": "closed_loop"}
    body = tuple(0.001 * i for i in range(BODY_VALUES))
    emit(BodyPosed(**later, step=875, values=body))
    emit(PosesSampled(**later, step=875, things=(), joints=("cupboard_1.door",), values=(1.5,)))
    emit(StateDelta(**later, thing="cupboard_1", attr="open", old=False, new=True, cause="primitive:open"))
    emit(StateDelta(**later, thing="mug_1", attr="contains", old={"water": 0.25}, new={}, cause="process:spill"))
    emit(StateDelta(**later, thing="mug_1", attr="heat_s", old=None, new=1e16, cause="process:heat"))
    emit(StateDelta(**later, thing="mug_1", attr="cycle", old=0, new=9007199254740993, cause="process:wash"))
    emit(Contact(**later, a="cupboard_1", b="wearer"))
    emit(Happened(**later, what="touch", obj="cupboard_1", detail={"litres": 0.5, "n": 2, "face": "front"}))
    emit(
        FrameCaptured(
            **later,
            **frame,
            frame_id="f000001",
            renderer="numba 1",
            pixels_sha256="33" * 32,
            visible={"mug_1": 120, "cupboard_1": 9000},
            cause="action",
            action=0,
        )
    )
    emit(
        PrimitiveOutcome(
            **later,
            action=0,
            command="[Open] the cupboard",
            verb="Open",
            primitive="open",
            obj="cupboard_1",
            ok=True,
            code="OK",
            refused=False,
            started_s=0.5,
            duration_s=1.25,
            distance_m=0.0,
        )
    )
    emit(Utterance(**later, speaker="human", text="It is open.\u2028"))
    emit(ScriptedEvent(**later, script="ring", text="The phone rings"))
    emit(PosesSampled(**later, step=876, things=(), joints=(), values=()))
    emit(state.snapshot("final"))
    emit(Fault(**later, source="user", code="STOP", detail="asked to stop"))
    end: dict[str, Any] = {"sim_time_s": 1.75, "turn": 1, "phase": "end"}
    emit(EpisodeEnded(**end, reason="interrupted", valid=False, turns=1, actions=1, detail="stopped"))
    assert {type(e) for e in events} == set(EVENT_TYPES)
    return events


def episode(n: int = 60) -> list[Event]:
    """About n events: `every_kind` with its middle repeated, time going on."""
    base = every_kind()
    head, body, tail = base[:3], base[3:-1], base[-1]
    events = list(head)
    while len(events) < n - 1:
        k = len(events) // len(body)
        some = body[: n - 1 - len(events)]
        events += [msgspec.structs.replace(e, sim_time_s=e.sim_time_s + 2.0 * k, turn=k) for e in some]
    last = events[-1].sim_time_s
    return [*events, msgspec.structs.replace(tail, sim_time_s=last)]


def long_episode(n: int, *, snapshot_every: int = 512) -> list[Event]:
    """n events that keep moving the mug, with snapshots."""
    state = WorldState(scene())
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)
        state.apply(event)

    emit(opened())
    while len(events) < n:
        i = len(events)
        now: dict[str, Any] = {"sim_time_s": 0.1 * i, "turn": i // 10, "phase": "closed_loop"}
        pose = (0.001 * i, 0.0, 0.9, 1.0, 0.0, 0.0, 0.0)
        if i % snapshot_every == 0:
            emit(state.snapshot("periodic"))
        elif i % 3 == 0:
            emit(PosesSampled(**now, step=i, things=("mug_1",), joints=(), values=pose))
        elif i % 3 == 1:
            emit(BodyPosed(**now, step=i, values=(0.001 * i,) * BODY_VALUES))
        else:
            emit(StateDelta(**now, thing="mug_1", attr="cycle", old=i - 1, new=i, cause="process:test"))
    return events


def write(path: Path, events: Sequence[Event], *, commit_every: int = 7, seal: bool = False) -> str:
    """Writes a log with small batches; gives its root hash."""
    with LogWriter.create(path) as log:
        for i, event in enumerate(events):
            log.append(event, wall_ns=1_700_000_000_000_000_000 + i)
            if i % commit_every == commit_every - 1:
                log.commit()
        log.commit()
        return log.seal() if seal else log.root_hash


# ---- any event at all ----

_TEXT = st.text(max_size=20)
_NAME = st.text(string.ascii_lowercase + "_é", min_size=1, max_size=8)
_FINITE = st.floats(allow_nan=False, allow_infinity=False)
_INT = st.integers(-(2**63) + 1, 2**63 - 1)


def _of(t: mi.Type) -> st.SearchStrategy[Any]:
    if isinstance(t, mi.FloatType):
        return _FINITE | st.integers(-(2**53), 2**53)
    if isinstance(t, mi.IntType):
        return _INT
    if isinstance(t, mi.StrType):
        return _TEXT
    if isinstance(t, mi.BoolType):
        return st.booleans()
    if isinstance(t, mi.NoneType):
        return st.none()
    if isinstance(t, mi.AnyType):
        return _TEXT | _INT | _FINITE
    if isinstance(t, mi.LiteralType):
        return st.sampled_from(t.values)
    if isinstance(t, mi.UnionType):
        return st.one_of([_of(x) for x in t.types])
    if isinstance(t, mi.VarTupleType):
        return st.lists(_of(t.item_type), max_size=2).map(tuple)
    if isinstance(t, mi.ListType):
        return st.lists(_of(t.item_type), max_size=2)
    if isinstance(t, mi.TupleType):
        return st.tuples(*map(_of, t.item_types))
    if isinstance(t, mi.DictType):
        return st.dictionaries(_of(t.key_type), _of(t.value_type), max_size=3)
    assert isinstance(t, mi.StructType), t
    return st.builds(t.cls, **{f.name: _of(f.type) for f in t.fields if f.required})


def _event(cls: type[Event]) -> st.SearchStrategy[Event]:
    info = mi.type_info(cls)
    assert isinstance(info, mi.StructType)
    fields = {f.name: _of(f.type) for f in info.fields if f.name != "values"}
    fields["sim_time_s"] = st.floats(0.0, 1e6)
    if cls is EpisodeOpened:
        fields["format_version"] = st.just(FORMAT_VERSION)
    if cls not in (PosesSampled, BodyPosed, WorldSnapshot):
        return st.builds(cls, **fields)

    def with_values(event: Any) -> st.SearchStrategy[Event]:
        n = BODY_VALUES if cls is not PosesSampled else 0
        if cls is not BodyPosed:
            n += 7 * len(event.things) + len(event.joints)
        values = st.lists(_FINITE, min_size=4, max_size=4).map(lambda some: tuple((some * (n // 4 + 1))[:n]))
        return values.map(lambda v: msgspec.structs.replace(event, values=v))

    return st.builds(cls, **fields).flatmap(with_values)


def any_event() -> st.SearchStrategy[Event]:
    """Any event that may be logged."""
    return st.one_of([_event(t) for t in EVENT_TYPES])


def any_log(max_size: int = 12) -> st.SearchStrategy[list[Event]]:
    """Events in an order that may be logged."""
    return st.lists(any_event(), max_size=max_size).map(lambda events: sorted(events, key=lambda e: e.sim_time_s))
