"""Made-up episodes of any length with the mix of events of real ones: for measurements and for tests of what reads
logs. Deterministic in the arguments; no simulator is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iwreplay.canonical import struct_hash
from iwreplay.events import (
    BODY_VALUES,
    AnyEvent,
    AssistantDecision,
    BodyPosed,
    CommandIssued,
    Contact,
    EndReason,
    EpisodeConfig,
    EpisodeEnded,
    EpisodeOpened,
    FrameCaptured,
    Happened,
    HumanTurn,
    ModelCall,
    Observation,
    Participant,
    PhaseChanged,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
    Utterance,
)
from iwreplay.scene.model import CompiledScene, Link, Material, Room, Thing
from iwreplay.taskpack.model import Gate, HumanRole, Objective, OracleStep, Point, TaskPack
from iwreplay.vocabulary import FAMILIES, Phase
from iwreplay.world.state import WorldState

__all__ = ["episode", "scene", "task"]

_BOWLS = 20
_FAMILY_OF = dict(zip("GPADVF", FAMILIES, strict=True))


def scene() -> CompiledScene:
    """A room with a counter, a sink and bowls."""
    fixed = [_thing("counter_1", "counter", fixed=True), _thing("sink_1", "sink", fixed=True)]
    bowls = [_thing(f"bowl_{i}", "bowl", fixed=False) for i in range(1, _BOWLS + 1)]
    return CompiledScene(
        id="synthetic_kitchen",
        format=1,
        rooms=(Room(id="kitchen", nouns=("kitchen",), rect=(0.0, 0.0, 4.0, 4.0)),),
        portals=(),
        materials=(Material(name="white", rgb=(240, 240, 240)),),
        things=(*fixed, *bowls),
        lights=(),
        spawn=(1.0, 1.0, 0.0),
    )


def task(task_id: str = "G99") -> TaskPack:
    """Wash bowl 1, and leave bowl 2 as it is. The family is that of the id's letter."""
    return TaskPack(
        format=1,
        id=task_id,
        family=_FAMILY_OF[task_id[0]],
        title="Wash a bowl",
        scene="synthetic_kitchen",
        request="Help me to wash the right bowl.",
        human=HumanRole(role="A cook.", restriction="guidance"),
        oracle=tuple(OracleStep(say=f"Do step {i}.", do=("[Wash], bowl",)) for i in range(10)),
        objectives=(Objective(id="washed", text="Bowl 1 is clean.", formula=["attr", "bowl_1", "clean", True]),),
        gates=(Gate(id="gentle", text="Bowl 1 never breaks.", formula=["not", ["attr", "bowl_1", "broken", True]]),),
        keeps=(Gate(id="other", text="Bowl 2 stays dirty.", formula=["attr", "bowl_2", "clean", False]),),
        points=(
            Point(
                id="P1", capability="C1", text="Knows the bowl.", formula=["once", ["attr", "bowl_1", "clean", True]]
            ),
        ),
    )


def episode(
    events: int,
    *,
    seed: int = 0,
    task_id: str = "G99",
    assistant: str = "oracle",
    human: str = "literal",
    passes: bool = True,
    hosted: bool = False,
    end: EndReason | None = "done",
) -> list[AnyEvent]:
    """An episode of about `events` events (at least 40). `hosted`: each decision is a made-up call to a model of the
    Assistant's name. `end=None` leaves the end out, as a killed recorder does."""
    params = {"prompt": "synthetic/1", "prompt_sha256": "5" * 64, "temperature": "0"} if hosted else {}
    who = Participant(name=assistant, version="1", params=params)
    return _Maker(events, seed=seed, task=task(task_id), assistant=who, human=human, passes=passes).make(end)


def _thing(thing_id: str, cls: str, *, fixed: bool) -> Thing:
    attrs: dict[str, Any] = {} if fixed else {"clean": False, "broken": False, "wet": False}
    affordances = ("surface",) if fixed else ("grab", "wash")
    return Thing(
        id=thing_id,
        cls=cls,
        name=cls,
        nouns=(cls,),
        fixed=fixed,
        links=(Link(name="base"),),
        pose=(1.0, 1.0, 0.9, 1.0, 0.0, 0.0, 0.0),
        affordances=affordances,
        attrs=attrs,
        bounds_half=(0.1, 0.1, 0.1),
    )


class _Maker:
    def __init__(
        self, events: int, *, seed: int, task: TaskPack, assistant: Participant, human: str, passes: bool
    ) -> None:
        self.wanted, self.seed, self.task, self.passes = events, seed, task, passes
        self.assistant, self.human = assistant, human
        self.scene = scene()
        self.state = WorldState(self.scene)
        self.out: list[AnyEvent] = []
        self.time_s = 0.0
        self.turn = 0
        self.phase: Phase = "scene_init"
        self.frames = 0
        self.action = 0
        self.live = 0

    def make(self, end: EndReason | None) -> list[AnyEvent]:
        self._open()
        self._enter("warmup")
        self._command("[Walk], counter", source="warmup", refused=False)
        self._enter("closed_loop")
        self._put(self.state.snapshot("baseline"))
        while len(self.out) < self.wanted - 12:
            self._turn()
        if self.passes:
            self._set("bowl_1", "clean", False, True)
        if end is not None:
            self._end(end)
        return self.out

    def _add(self, kind: Callable[..., AnyEvent], **fields: Any) -> None:
        self._put(kind(sim_time_s=self.time_s, turn=self.turn, phase=self.phase, **fields))

    def _put(self, event: AnyEvent) -> None:
        self.state.apply(event)
        self.out.append(event)

    def _enter(self, phase: Phase) -> None:
        previous, self.phase = self.phase, phase
        self._add(PhaseChanged, previous=None if phase == "scene_init" else previous)

    def _open(self) -> None:
        self._add(
            EpisodeOpened,
            format_version=1,
            task=self.task,
            scene=self.scene,
            scene_hash=struct_hash(self.scene),
            config=EpisodeConfig(seed=self.seed, max_turns=10_000, max_actions=10_000),
            assistant=self.assistant,
            human=Participant(name=self.human, version="1"),
            simulator=Participant(name="none", version="1"),
            renderer="none 1",
            fingerprint={"python": "3"},
        )
        self._enter("scene_init")
        self._put(self.state.snapshot("initial"))
        self._frame("initial", None)

    def _turn(self) -> None:
        self.turn += 1
        self._add(Observation, role="assistant", frames=("f000000",), available=self.frames)
        speaks = (self.turn + self.seed) % 3 != 0
        if self.assistant.params:
            self._call()
        self._add(
            AssistantDecision,
            decision="interrupt" if speaks else "silent",
            text=f"Wash the bowl at the {self.turn % 7} o'clock position, please." if speaks else None,
        )
        self._add(
            Observation, role="human", frames=("f000000",), available=self.frames, proprioception={"posture": "stand"}
        )
        if not speaks:
            self._add(HumanTurn, commands=("[NoOp]",))
            self.time_s += 2.0
            self._frame("idle", None)
            return
        command = f"[Wash], bowl {self.turn % _BOWLS + 1}"
        self._add(HumanTurn, commands=(command,), reply="All right." if self.turn % 5 == 0 else None)
        self._command(command, source="human", refused=self.turn % 6 == 5)

    def _call(self) -> None:
        self._add(
            ModelCall,
            role="assistant",
            model=self.assistant.name,
            request_sha256=f"{self.seed:032x}{self.turn:032x}",
            answer="{}",
            input_tokens=900 + 40 * self.turn,
            output_tokens=30 + self.turn % 20,
            cost_usd=0.001,
            latency_s=0.5 + (self.turn * 7 + self.seed) % 11 / 10,
            retries=int(self.turn % 17 == 0),
            params={"temperature": "0"},
            outcome="malformed" if self.turn % 23 == 0 else "answered",
            problem="no JSON" if self.turn % 23 == 0 else "",
            finish="stop",
            frames=("f000000",),
            repair=0,
        )

    def _command(self, text: str, *, source: str, refused: bool) -> None:
        action, self.action = self.action, self.action + 1
        self.live += source != "warmup"
        self._add(CommandIssued, action=action, text=text, source=source)
        bowl = f"bowl_{action % (_BOWLS - 2) + 3}"
        if refused:
            self._outcome(action, text, bowl, refused=True)
            self._add(Utterance, speaker="human", text="I can't reach it.")
            return
        for _ in range(4):
            self.time_s = round(self.time_s + 0.5, 3)
            self._poses(bowl)
            self._frame("action", action)
        self._set(bowl, "wet", False, True)
        self._add(Happened, what="wash", obj=bowl, dest="sink_1")
        self._add(Contact, a=bowl, b="sink_1")
        self._outcome(action, text, bowl, refused=False)

    def _poses(self, bowl: str) -> None:
        step = round(self.time_s * 500)
        x = 1.0 + (step % 1000) / 1000.0
        self._add(PosesSampled, step=step, things=(bowl,), joints=(), values=(x, 1.0, 0.9, 1.0, 0.0, 0.0, 0.0))
        self._add(BodyPosed, step=step, values=(x, 1.0, 0.0, 1.0, *([0.0] * (BODY_VALUES - 4))))

    def _frame(self, cause: str, action: int | None) -> None:
        self._add(
            FrameCaptured,
            frame_id=f"f{self.frames:06d}",
            step=round(self.time_s * 500),
            camera=(1.0, 1.0, 1.6, 1.0, 0.0, 0.0, 0.0),
            focal_px=415.7,
            width=640,
            height=480,
            renderer="none 1",
            pixels_sha256=None,
            visible={"bowl_1": 400 + self.frames % 50, "counter_1": 20_000, "sink_1": 1200},
            cause=cause,
            action=action,
        )
        self.frames += 1

    def _set(self, thing: str, attr: str, old: bool, new: bool) -> None:
        self._add(StateDelta, thing=thing, attr=attr, old=old, new=new, cause="primitive:Wash")

    def _outcome(self, action: int, command: str, bowl: str, *, refused: bool) -> None:
        self._add(
            PrimitiveOutcome,
            action=action,
            command=command,
            verb="Wash",
            primitive="Wash",
            obj=bowl,
            ok=not refused,
            code="UNREACHABLE" if refused else "OK",
            sentence="The bowl is out of reach; walk there first." if refused else "",
            refused=refused,
            started_s=self.time_s if refused else self.time_s - 2.0,
            duration_s=0.0 if refused else 2.0,
        )

    def _end(self, end: EndReason) -> None:
        if end == "done":
            self.turn += 1
            self._add(AssistantDecision, decision="done")
        self._enter("end")
        self._put(self.state.snapshot("final"))
        self._add(
            EpisodeEnded, reason=end, valid=end not in ("fault", "interrupted"), turns=self.turn, actions=self.live
        )
