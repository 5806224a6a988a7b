"""Made-up events with the sizes and the mix of a real episode, the same on every run."""

from __future__ import annotations

from random import Random

from iwreplay.events import (
    AssistantDecision,
    BodyPosed,
    EpisodeConfig,
    EpisodeOpened,
    Event,
    FrameCaptured,
    HumanTurn,
    Observation,
    Participant,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
)
from iwreplay.log import FORMAT_VERSION
from iwreplay.scene.model import CompiledScene, Link, Thing
from iwreplay.taskpack.model import HumanRole, TaskPack
from iwreplay.world.state import WorldState

__all__ = ["SCENE", "array_events", "opening", "text_events"]

_THINGS = tuple(
    Thing(id=f"thing_{i}", cls="mug", name="mug", nouns=("mug",), fixed=False, links=(Link(name="base"),),
          pose=(float(i), 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), bounds_half=(0.05, 0.05, 0.05), attrs={"clean": True})
    for i in range(40)
)  # fmt: skip

SCENE = CompiledScene(
    id="bench", format=1, rooms=(), portals=(), materials=(), things=_THINGS, lights=(), spawn=(0.0, 0.0, 0.0)
)


def opening() -> EpisodeOpened:
    """First event of an episode in SCENE."""
    who = Participant(name="bench", version="1")
    return EpisodeOpened(
        sim_time_s=0.0,
        turn=0,
        phase="scene_init",
        format_version=FORMAT_VERSION,
        task=TaskPack(
            format=1,
            id="G99",
            family="guidance",
            title="bench",
            scene="bench",
            request="Help me.",
            human=HumanRole(role="cook", restriction="guidance"),
            oracle=(),
            objectives=(),
        ),
        scene=SCENE,
        scene_hash="0" * 64,
        config=EpisodeConfig(max_turns=10, max_actions=10),
        assistant=who,
        human=who,
        simulator=who,
        renderer="none",
        fingerprint={},
    )


def text_events(n: int) -> list[Event]:
    """Events without arrays, about 350 bytes of JSON each."""
    random = Random(1)
    return [_text_event(i, random, i * 0.1) for i in range(n)]


def array_events(n: int, *, snapshot_every: int = 512) -> list[Event]:
    """An episode: opening, then text events with poses and body samples between, and snapshots."""
    random = Random(2)
    state = WorldState(SCENE)
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)
        state.apply(event)

    emit(opening())
    emit(state.snapshot("initial"))
    while len(events) < n:
        i = len(events)
        if i % snapshot_every == 0:
            emit(state.snapshot("periodic"))
        elif i % 4 == 1:
            emit(BodyPosed(sim_time_s=i * 0.1, turn=i // 10, phase="closed_loop", step=i, values=_numbers(random, 163)))
        elif i % 4 == 2:
            moved = ("thing_3", f"thing_{random.randrange(10, 40)}")
            emit(
                PosesSampled(
                    sim_time_s=i * 0.1,
                    turn=i // 10,
                    phase="closed_loop",
                    step=i,
                    things=moved,
                    joints=(),
                    values=_numbers(random, 14),
                )
            )
        else:
            emit(_text_event(i, random, i * 0.1))
    return events


def _numbers(random: Random, n: int) -> tuple[float, ...]:
    return tuple(random.uniform(-3.0, 3.0) for _ in range(n))


def _text_event(i: int, random: Random, now_s: float) -> Event:
    turn = i // 10
    kind = random.randrange(6)
    if kind == 0:
        return PrimitiveOutcome(
            sim_time_s=now_s,
            turn=turn,
            phase="closed_loop",
            action=i,
            command="[Put] the blue mug on the left kitchen counter",
            verb="Put",
            primitive="put",
            obj="thing_1",
            dest="thing_2",
            ok=False,
            code="NO_SPACE",
            sentence="There is no room for the mug on the counter.",
            refused=True,
            started_s=now_s,
            duration_s=random.random(),
            distance_m=random.random(),
        )
    if kind == 1:
        return StateDelta(
            sim_time_s=now_s,
            turn=turn,
            phase="closed_loop",
            thing=f"thing_{random.randrange(40)}",
            attr="parent",
            old="held",
            new=f"on:thing_{random.randrange(40)}.top",
            cause="primitive:put",
        )
    if kind == 2:
        return FrameCaptured(
            sim_time_s=now_s,
            turn=turn,
            phase="closed_loop",
            frame_id=f"f{i:06d}",
            step=i * 50,
            camera=tuple(random.random() for _ in range(7)),  # type: ignore[arg-type]
            focal_px=415.6921938165306,
            width=640,
            height=480,
            renderer="numba 1",
            pixels_sha256=f"{random.getrandbits(256):064x}",
            visible={f"thing_{random.randrange(40)}": random.randrange(9999) for _ in range(5)},
            cause="action",
            action=i,
        )
    if kind == 3:
        return Observation(
            sim_time_s=now_s,
            turn=turn,
            phase="closed_loop",
            role="human",
            frames=tuple(f"f{j:06d}" for j in range(i, i + 6)),
            available=6,
            proprioception={"posture": "stand", "room": "kitchen", "holding": "blue mug"},
        )
    if kind == 4:
        return AssistantDecision(
            sim_time_s=now_s,
            turn=turn,
            phase="closed_loop",
            decision="interrupt",
            text=f"Now put the blue mug that you hold on the left counter, {random.random():.3f} m from the sink, then "
            "turn to the fridge, open it, and tell me what is on the upper shelf before you take anything out.",
        )
    return HumanTurn(
        sim_time_s=now_s,
        turn=turn,
        phase="closed_loop",
        commands=("[Put] the blue mug on the left kitchen counter", "[Turn] to the fridge"),
        reply="I have put the mug down and I am facing the fridge now, shall I open it?",
    )
