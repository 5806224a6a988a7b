"""The proving ground with the real physics, shared by the tests: loaded once, restored for each test."""

from __future__ import annotations

import re

from iwreplay.actions import ActionEngine
from iwreplay.actions.trial import pose_body
from iwreplay.body import key_poses, standing
from iwreplay.events import BodyPosed, EpisodeConfig, Event, FrameCaptured, Happened, PrimitiveOutcome, StateDelta
from iwreplay.frames.maker import FrameMaker
from iwreplay.ports import Simulator
from iwreplay.processes.support import ancestors, parent_of
from iwreplay.scene.model import CompiledScene
from iwreplay.vocabulary import WEARER, AttrValue
from iwreplay.world.relations import support_of
from iwreplay.world.state import WorldState

__all__ = ["CONFIG", "Base", "World", "assert_parents_agree", "assert_public"]

CONFIG = EpisodeConfig(
    draw_frames=False, frame_width=160, frame_height=120, visible_px=12, max_turns=99, max_actions=999
)
_ID = re.compile(r"[a-z]+_\d|#|/")


class Base:
    """The scene at rest after `begin`, as simulator snapshot and state."""

    def __init__(self, scene: CompiledScene, sim: Simulator) -> None:
        self.scene, self.sim = scene, sim
        self.maker = FrameMaker(scene, config=CONFIG)
        sim.load(scene)
        first = World(self, fresh=True)
        first.engine.begin()
        self.events = tuple(first.events)
        self.state = first.state
        self.snapshot = sim.snapshot()


class World:
    """One test's world. Unless `sees_all` is off, every frame shows everything that exists."""

    def __init__(self, base: Base, *, sighted: bool = True, sees_all: bool = True, fresh: bool = False) -> None:
        self.base, self.sim = base, base.sim
        self.sees_all = sees_all
        self.events: list[Event] = []
        self.frames = 0
        self.action = 0
        self.state = WorldState(base.scene) if fresh else base.state.copy()
        if not fresh:
            self.sim.restore(base.snapshot)
        self.engine = ActionEngine(
            scene=base.scene,
            sim=self.sim,
            state=self.state,
            emit=self.emit,
            capture=self.capture,
            config=CONFIG,
            sighted=sighted,
        )
        self.engine.turn, self.engine.phase = 1, "closed_loop"
        if not fresh and sees_all:
            self.look_around()

    def emit(self, event: Event) -> None:
        self.state.apply(event)
        self.events.append(event)

    def capture(self, cause: str, action: int | None) -> FrameCaptured:
        frame_id = f"f{self.frames:06d}"
        self.frames += 1
        if not self.sees_all:
            return self.base.maker.event(self.state, frame_id=frame_id, cause=cause, action=action)  # type: ignore[arg-type]
        here = [t.id for t in self.base.scene.things if self.state.attr(t.id, "exists") is not False]
        return FrameCaptured(
            sim_time_s=self.state.sim_time_s,
            turn=self.state.turn,
            phase=self.state.phase,
            frame_id=frame_id,
            step=self.state.step,
            camera=key_poses(self.state.body).camera,
            focal_px=100.0,
            width=160,
            height=120,
            renderer="all",
            pixels_sha256=None,
            visible=dict.fromkeys(sorted(here), 50),
            cause=cause,  # type: ignore[arg-type]
            action=action,
        )

    # ------------------------------------------------------------------ acting

    def execute(self, command: str) -> PrimitiveOutcome:
        outcome = self.engine.execute(command, action=self.action)
        self.action += 1
        assert self.events[-1] is outcome
        return outcome

    def ok(self, *commands: str) -> PrimitiveOutcome:
        """Carries out commands that must succeed; checks what must be true after every success."""
        for command in commands:
            since = len(self.events)
            outcome = self.execute(command)
            assert outcome.ok, f"{command}: {outcome.code}: {outcome.sentence}"
            assert (outcome.code, outcome.sentence, outcome.refused) == ("OK", "", False)
            self._check_time(outcome, self.events[since:])
        assert_parents_agree(self.state)
        return outcome

    def _check_time(self, outcome: PrimitiveOutcome, events: list[Event]) -> None:
        frames = [e for e in events if isinstance(e, FrameCaptured)]
        assert [f.action for f in frames] == [outcome.action] * 4
        for k, frame in enumerate(frames, start=1):
            assert abs(frame.sim_time_s - (outcome.started_s + outcome.duration_s * k / 4)) < 1e-9
        times = [e.sim_time_s for e in events]
        assert times == sorted(times)
        assert self.state.step * self.sim.dt_s == outcome.sim_time_s
        assert abs(outcome.sim_time_s - outcome.started_s - outcome.duration_s) < 1e-9

    def refused(self, command: str) -> PrimitiveOutcome:
        """Issues a command that must be refused; checks that nothing at all has changed and what was said."""
        before, state, since = self.sim.snapshot(), self.state.copy(), len(self.events)
        outcome = self.execute(command)
        assert not outcome.ok, f"{command} was carried out"
        assert outcome.refused
        assert outcome.duration_s == 0.0
        assert self.events[since:] == [outcome]
        assert self.sim.snapshot() == before
        assert vars(self.state) == vars(state)
        assert_public(outcome.sentence)
        return outcome

    # ------------------------------------------------------------------ arranging

    def stand(self, x: float, y: float, yaw: float = 0.0) -> World:
        """The wearer stands there now."""
        body = standing(x, y, yaw, carrying=bool(self.state.attr(WEARER, "held")))
        pose_body(self.sim, body)
        self.emit(
            BodyPosed(sim_time_s=self.state.sim_time_s, turn=1, phase="closed_loop", step=self.state.step, values=body)
        )
        return self

    def set(self, thing: str, **attrs: AttrValue) -> World:
        """Scripted changes."""
        for attr, value in attrs.items():
            self.engine.set_attr(thing, attr, value, cause="script:test")
        return self

    def place(self, thing: str, at: str, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> World:
        """A scripted move, then a moment to come to rest."""
        self.engine.place(thing, at, (x, y), yaw, cause="script:test")
        return self

    def settle(self, seconds: float = 0.5) -> World:
        """Time passes."""
        self.engine.idle(seconds)
        return self

    def look_around(self) -> World:
        """Everything has been seen where it is."""
        self.engine.perception.apply(self.capture("idle", None))
        return self

    # ------------------------------------------------------------------ asking

    def attr(self, thing: str, name: str) -> AttrValue:
        return self.state.attr(thing, name)

    def happened(self, what: str) -> list[Happened]:
        return [e for e in self.events if isinstance(e, Happened) and e.what == what]

    def deltas(self, thing: str, attr: str) -> list[StateDelta]:
        return [e for e in self.events if isinstance(e, StateDelta) and (e.thing, e.attr) == (thing, attr)]


def assert_public(text: str) -> None:
    """No internal identifier in words for a participant."""
    assert text == "" or text[0].isupper(), text
    assert not _ID.search(text), text


def assert_parents_agree(state: WorldState) -> None:
    """What the semantic layer believes of supports is what geometry says."""
    for thing in state.scene.things:
        if thing.fixed or state.attr(thing.id, "exists") is False:
            continue
        parent = parent_of(state, thing.id)
        if any(p.how in ("held", "worn") for p in ancestors(state, thing.id)):
            continue
        support = support_of(state, thing.id)
        believed = (parent.how, parent.thing, parent.part) if parent.thing else None
        assert believed == support, f"{thing.id}: believed {parent}, derived {support}"
