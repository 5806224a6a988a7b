"""A tiny world for tests of the loop: an engine that moves a mug, frames that are a hash of the state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection

import msgspec
import numpy as np

from iwreplay.actions.grammar import parse_command
from iwreplay.actions.refusal import RefusedError
from iwreplay.body import key_poses
from iwreplay.canonical import pack_values
from iwreplay.events import (
    BodyPosed,
    EpisodeConfig,
    Event,
    FrameCaptured,
    Happened,
    Participant,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
)
from iwreplay.log import MemoryLog
from iwreplay.loop import configured, run_episode
from iwreplay.loop.engine import Capture
from iwreplay.loop.episode import EpisodeResult
from iwreplay.ports import Assistant, Human, Simulator
from iwreplay.pose import Pose, Vec3, from_xyz_yaw
from iwreplay.scene.model import CompiledScene, Link, Room, Thing
from iwreplay.taskpack.model import HumanRole, Objective, OracleStep, TaskPack
from iwreplay.vocabulary import WEARER, AttrValue, Phase
from iwreplay.world.state import WorldState
from recorder.assistants import OracleAssistant
from recorder.humans import LiteralHuman

SCENE = CompiledScene(
    id="test_room",
    format=1,
    rooms=(Room(id="room_1", nouns=("kitchen",), rect=(0.0, 0.0, 4.0, 4.0)),),
    portals=(),
    materials=(),
    things=(
        Thing(id="table_1", cls="table", name="table", nouns=("table",), fixed=True, links=(Link(name="base"),),
              pose=from_xyz_yaw(1.0, 1.0, 0.0, 0.0), bounds_half=(0.5, 0.5, 0.4)),
        Thing(id="mug_1", cls="mug", name="mug", adjectives=("blue",), nouns=("mug",), fixed=False,
              links=(Link(name="base"),), pose=from_xyz_yaw(1.0, 1.0, 0.8, 0.0), bounds_half=(0.04, 0.04, 0.05),
              affordances=("grab",), attrs={"held": False}),
        Thing(id="phone_1", cls="phone", name="phone", nouns=("phone",), fixed=False, links=(Link(name="base"),),
              pose=from_xyz_yaw(1.3, 1.0, 0.8, 0.0), bounds_half=(0.04, 0.08, 0.01), affordances=("phone",),
              attrs={"ringing": False}),
    ),
    lights=(),
    spawn=(2.0, 2.0, 0.0),
)  # fmt: skip

TASK = TaskPack(
    format=1,
    id="G01",
    family="guidance",
    title="Mug",
    scene="test_room",
    request="Please help me with the mug.",
    human=HumanRole(role="You are at home.", restriction="guidance"),
    warmup=("[Walk] table",),
    oracle=(
        OracleStep(say="Take the blue mug from the table.", do=("[Grab] blue mug on table",)),
        OracleStep(),
        OracleStep(say="Turn left, then go forward two steps.", do=("[TurnLeft]", "[Forward] 1")),
    ),
    objectives=(
        Objective(id="mug_held", text="The blue mug is held at the end.", formula=["held", "mug_1"]),
    ),
)  # fmt: skip


class FakeSimulator:
    """Counts steps. `drift_m` is its physical constant: how far the mug slides in a step."""

    dt_s = 0.01

    def __init__(self, *, version: str = "1", drift_m: float = 1e-5) -> None:
        self.version, self.drift_m = version, drift_m
        self.x = 0.0
        self.loaded = 0

    def about(self) -> Participant:
        return Participant(name="fake", version=self.version, params={"snapshot": "exact", "deterministic": "yes"})

    def load(self, scene: CompiledScene) -> None:
        self.loaded += 1
        self.x = 0.0

    def step(self, n: int = 1) -> None:
        for _ in range(n):
            self.x += self.drift_m

    def set_body(self, *, head: Pose, right_hand: Pose, left_hand: Pose, root: Pose) -> None: ...

    def attach(self, thing: str, *, hand: str, hand_from_thing: Pose) -> None: ...

    def detach(self, thing: str) -> None: ...

    def set_pose(self, thing: str, pose: Pose) -> None: ...

    def set_active(self, thing: str, active: bool) -> None: ...

    def drive_joint(self, joint: str, position: float) -> None: ...

    def poses(self) -> dict[str, Pose]:
        return {}

    def joints(self) -> dict[str, float]:
        return {}

    def contacts(self) -> tuple[tuple[str, str], ...]:
        return ()

    def overlap_box(self, half: Vec3, pose: Pose, *, ignore: Collection[str] = ()) -> tuple[str, ...]:
        return ()

    def capsule_depths(
        self, a: Vec3, b: Vec3, radius_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[tuple[str, float], ...]:
        return ()

    def ray(
        self, origin: Vec3, direction: Vec3, max_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[str, float] | None:
        return None

    def snapshot(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None: ...

    def close(self) -> None: ...


class FakePerception:
    def __init__(self, state: WorldState) -> None:
        self._state = state

    def proprioception(self) -> dict[str, str]:
        held = "blue mug" if self._state.attr(self._state.scene.things[1].id, "held") else "nothing"
        return {"holding": held, "room": "kitchen"}


class FakeEngine:
    """Each command takes a second; [Grab] holds the mug; the bowl does not exist; [Touch] breaks the engine."""

    def __init__(
        self,
        *,
        scene: CompiledScene,
        sim: Simulator,
        state: WorldState,
        emit: Callable[[Event], None],
        capture: Capture,
        config: EpisodeConfig,
        sighted: bool,
    ) -> None:
        assert isinstance(sim, FakeSimulator)
        self.sim, self.state, self.emit, self.capture, self.sighted = sim, state, emit, capture, sighted
        self.turn = 0
        self.phase: Phase = "scene_init"
        self.perception = FakePerception(state)

    def _stamp(self) -> dict[str, object]:
        return {"sim_time_s": self.state.step * self.sim.dt_s, "turn": self.turn, "phase": self.phase}

    def names(self) -> tuple[str, ...]:
        return ("blue mug", "kitchen")

    def begin(self) -> None:
        self.emit(StateDelta(thing=WEARER, attr="held", old=None, new="", cause="script:begin", **self._stamp()))  # type: ignore[arg-type]
        self._sample(0)

    def _sample(self, steps: int) -> None:
        self.sim.step(steps)
        step = self.state.step + steps
        mug = from_xyz_yaw(1.0 + self.sim.x, 1.0, 0.8, 0.0)
        stamp = {**self._stamp(), "sim_time_s": step * self.sim.dt_s}
        mug_id = self.state.scene.things[1].id
        self.emit(PosesSampled(step=step, things=(mug_id,), joints=(), values=mug, **stamp))  # type: ignore[arg-type]
        body = (2.0, 2.0 + step * 1e-3, 0.0, 1.0, *([0.0] * 159))
        self.emit(BodyPosed(step=step, values=body, **stamp))  # type: ignore[arg-type]

    def execute(self, command: str, *, action: int) -> PrimitiveOutcome:
        started = self.state.step * self.sim.dt_s
        common = {"action": action, "command": command, "started_s": started}
        try:
            parsed = parse_command(command)
        except RefusedError as r:
            return self._refused(r.verb, r.primitive, r.refusal.code, r.refusal.sentence, common)
        verb, primitive = parsed.verb, parsed.primitive.canonical
        if verb == "Touch":
            raise ZeroDivisionError("the engine has a bug")
        if any("bowl" in words for words in parsed.entities.values()):
            return self._refused(verb, primitive, "UNKNOWN_TARGET", "I don't see any bowl here.", common)
        for _ in range(4):
            self._sample(25)
            self.emit(self.capture("action", action))
        obj = self.state.scene.things[1].id if primitive == "grab" else ""
        if primitive == "grab":
            self.emit(StateDelta(thing=obj, attr="held", old=False, new=True, cause="primitive:grab", **self._stamp()))  # type: ignore[arg-type]
        outcome = PrimitiveOutcome(  # type: ignore[call-arg]
            **self._stamp(),
            **common,
            verb=verb,
            primitive=primitive,
            obj=obj,
            ok=True,
            code="OK",
            refused=False,
            duration_s=1.0,
        )
        self.emit(outcome)
        return outcome

    def _refused(
        self, verb: str, primitive: str, code: str, sentence: str, common: dict[str, object]
    ) -> PrimitiveOutcome:
        outcome = PrimitiveOutcome(  # type: ignore[call-arg]
            **self._stamp(),
            **common,
            verb=verb,
            primitive=primitive,
            ok=False,
            code=code,
            sentence=sentence,
            refused=True,
            duration_s=0.0,
        )
        self.emit(outcome)
        return outcome

    def idle(self, seconds: float) -> None:
        self._sample(round(seconds / self.sim.dt_s))
        self.emit(self.capture("idle", None))

    def set_attr(self, thing: str, attr: str, value: AttrValue, *, cause: str) -> None:
        old = self.state.attr(thing, attr)
        self.emit(StateDelta(thing=thing, attr=attr, old=old, new=value, cause=cause, **self._stamp()))  # type: ignore[arg-type]
        if attr == "ringing":
            what = "ring_started" if value else "ring_stopped"
            self.emit(Happened(what=what, obj=thing, **self._stamp()))  # type: ignore[arg-type]

    def place(self, thing: str, at: str, pos: tuple[float, float], yaw_rad: float, *, cause: str) -> None:
        self.set_attr(thing, "exists", True, cause=cause)
        values = from_xyz_yaw(*pos, 0.8, yaw_rad)
        self.emit(PosesSampled(step=self.state.step, things=(thing,), joints=(), values=values, **self._stamp()))  # type: ignore[arg-type]


class _Drawn:
    def __init__(self, rgb: np.ndarray) -> None:
        self.rgb = rgb


class FakeFrames:
    """Pixels are a function of the state: its hash, repeated."""

    def __init__(self, config: EpisodeConfig, *, renderer: str = "fake/1") -> None:
        self.config, self.renderer_name = config, renderer

    def _rgb(self, state: WorldState, width: int, height: int) -> np.ndarray:
        values = state.snapshot("periodic").values
        digest = hashlib.sha256(pack_values(values) + self.renderer_name.encode()).digest()
        return np.resize(np.frombuffer(digest, dtype=np.uint8), (height, width, 3))

    def event(self, state: WorldState, *, frame_id: str, cause: str, action: int | None) -> FrameCaptured:
        width, height = self.config.frame_width, self.config.frame_height
        return FrameCaptured(
            sim_time_s=state.sim_time_s,
            turn=state.turn,
            phase=state.phase,
            frame_id=frame_id,
            step=state.step,
            camera=key_poses(state.body).camera,
            focal_px=100.0,
            width=width,
            height=height,
            renderer=self.renderer_name,
            pixels_sha256=hashlib.sha256(self._rgb(state, width, height).tobytes()).hexdigest(),
            visible={"mug_1": 40},
            cause=cause,  # type: ignore[arg-type]
            action=action,
        )

    def draw(self, state: WorldState, *, camera: Pose, focal_px: float, width: int, height: int) -> _Drawn:
        return _Drawn(self._rgb(state, width, height))


def play(
    task: TaskPack = TASK,
    *,
    assistant: Assistant | None = None,
    human: Human | None = None,
    log: MemoryLog | None = None,
    simulator: FakeSimulator | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    **settings: object,
) -> tuple[MemoryLog, EpisodeResult]:
    """One episode in the tiny world."""
    config = configured(task, **{"frame_width": 8, "frame_height": 6, **settings})
    log = MemoryLog() if log is None else log
    result = run_episode(
        task=task,
        scene=SCENE,
        config=config,
        assistant=assistant or OracleAssistant(task.oracle),
        human=human or LiteralHuman(),
        simulator=simulator or FakeSimulator(),
        frames=FakeFrames(config),
        log=log,
        fingerprint={"python": "test"},
        engine=FakeEngine,
        checkpoint=checkpoint,
    )
    return log, result


def changed(task: TaskPack, **fields: object) -> TaskPack:
    """The task with other fields."""
    return msgspec.structs.replace(task, **fields)
