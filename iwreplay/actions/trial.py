"""Running a plan on trial: the simulator steps, a scratch state folds, the events wait until all has gone well.

Every instant on which anything may be set or sampled is a multiple of `CONTROL_S`; samples, ticks and frames fall on
such instants, so the same plan gives the same events on every run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypedDict

from iwreplay.actions.plan import CONTROL_S, Step
from iwreplay.body import key_poses
from iwreplay.errors import SimulatorError
from iwreplay.events import BodyPosed, Contact, EpisodeConfig, Event, Happened, PosesSampled, StateDelta
from iwreplay.ports import Simulator
from iwreplay.pose import Pose, compose, inverse
from iwreplay.processes import TICK_S, AttrClock, tick_all
from iwreplay.processes.support import ancestors, dependents, parent_text
from iwreplay.vocabulary import WEARER, AttrValue, Phase
from iwreplay.world.geometry import exists, room_at, thing_of
from iwreplay.world.relations import support_of
from iwreplay.world.state import WorldState

__all__ = ["FrameMark", "Trial", "pose_body", "steps_of"]

#: a pose or joint is logged again when it moved by more than this (metres; quaternion parts; radians)
_MOVED = 1e-4


@dataclass(frozen=True)
class FrameMark:
    """A frame is due here."""

    cause: str


def steps_of(sim: Simulator, seconds: float) -> int:
    """Whole physics steps nearest to a time, at least one."""
    return max(1, round(seconds / sim.dt_s))


class _Stamp(TypedDict):
    sim_time_s: float
    turn: int
    phase: Phase


def pose_body(sim: Simulator, body: tuple[float, ...]) -> None:
    """Sets the wearer's kinematic pose from 163 body values."""
    at = key_poses(body)
    sim.set_body(head=at.camera, right_hand=at.right_hand, left_hand=at.left_hand, root=at.root)


def _differs(a: Pose, b: Pose) -> bool:
    return a != b and any(abs(p - q) > _MOVED for p, q in zip(a, b, strict=True))


class Trial:
    """One command (or a stretch of idle time) being carried out. Implements `plan.Run`."""

    def __init__(
        self,
        *,
        state: WorldState,
        clock: AttrClock,
        sim: Simulator,
        config: EpisodeConfig,
        turn: int,
        phase: Phase,
        cause: str,
    ) -> None:
        self.state = state.copy()
        self.clock = clock.copy()
        self.cause = cause
        self.events: list[Event | FrameMark] = []
        self._sim = sim
        self._turn, self._phase = turn, phase
        self._step = state.step
        self._body = state.body
        #: things whose new contacts are facts: handled, dropped or placed
        self._handled: dict[str, None] = {}
        self._moved: dict[str, None] = {}
        self._contacts = frozenset(sim.contacts())
        self._per_control = steps_of(sim, CONTROL_S)
        self._per_sample = max(1, round(1.0 / config.pose_rate_hz / CONTROL_S)) * self._per_control
        self._per_tick = round(TICK_S / CONTROL_S) * self._per_control

    # ------------------------------------------------------------------ Run

    @property
    def now_s(self) -> float:
        """Simulated time."""
        return self._step * self._sim.dt_s

    def change(self, thing: str, attr: str, value: AttrValue, *, cause: str) -> None:
        """Sets an attribute when it differs."""
        old = self.state.attr(thing, attr)
        if old == value and type(old) is type(value):
            return
        stamp = self._stamp()
        self._emit(StateDelta(thing=thing, attr=attr, old=old, new=value, cause=cause, **stamp))

    def set(self, thing: str, attr: str, value: AttrValue) -> None:
        """Sets an attribute with this command as the cause."""
        self.change(thing, attr, value, cause=self.cause)

    def happened(
        self, what: str, *, obj: str = "", dest: str = "", tool: str = "", detail: dict[str, AttrValue] | None = None
    ) -> None:
        """A semantic happening."""
        self._emit(Happened(what=what, obj=obj, dest=dest, tool=tool, detail=detail or {}, **self._stamp()))

    def touch(self, a: str, b: str) -> None:
        """Records a contact."""
        first, second = sorted((a, b))
        self._emit(Contact(a=first, b=second, **self._stamp()))

    def hold(self, thing: str, hand_from_thing: Pose, *, hand: str = "right_hand") -> None:
        """Attaches a thing, with all that rests on or in it as it lies there now."""
        poses = self._sim.poses()
        for carried in dependents(self.state, thing):
            rel = compose(inverse(poses[thing]), poses[carried])
            self._sim.attach(carried, hand=hand, hand_from_thing=compose(hand_from_thing, rel))
        self._sim.attach(thing, hand=hand, hand_from_thing=hand_from_thing)
        self._handled[thing] = None

    def let_go(self, thing: str) -> None:
        """Detaches a thing with all that rests on or in it."""
        for carried in (*dependents(self.state, thing), thing):
            self._sim.detach(carried)
        self._handled[thing] = None

    def put(self, thing: str, pose: Pose) -> None:
        """Puts a thing at a pose at rest, with all that rests on or in it."""
        poses = self._sim.poses()
        moved = compose(pose, inverse(poses[thing]))
        for carried in dependents(self.state, thing):
            self._sim.set_pose(carried, compose(moved, poses[carried]))
        self._sim.set_pose(thing, pose)
        self._handled[thing] = None

    def drive(self, joint: str, position: float) -> None:
        """Drives a joint."""
        self._sim.drive_joint(joint, position)

    def pose_of(self, thing: str) -> Pose:
        """Where a thing is at this instant."""
        return self._sim.poses()[thing]

    def exist(self, thing: str, exists: bool) -> None:
        """Brings a thing on stage or takes it off."""
        self._sim.set_active(thing, exists)
        self.set(thing, "exists", exists)

    def stand(self, body: tuple[float, ...]) -> None:
        """The body is there; everything is sampled. For the start of an episode."""
        self._body = body
        self.sample(always=True)

    # ------------------------------------------------------------------ running

    def run(self, steps: tuple[Step, ...], *, frames: int, cause: str) -> None:
        """Carries out the steps. `frames` (4 for a command, 1 for idling) are marked at equal shares of the time."""
        counts = [max(1, math.ceil(s.motion.duration_s / CONTROL_S - 1e-6)) for s in steps]
        counts[-1] += -sum(counts) % frames
        total = sum(counts)
        due = {total * k // frames for k in range(1, frames + 1)}
        done = 0
        for step, count in zip(steps, counts, strict=True):
            for effect in step.begin:
                effect(self)
            i = 0
            while i < count:
                n = 1 if step.during is not None else self._quiet(step, i, count, done, due)
                i += n
                done += n
                if step.during is not None:
                    step.during(self, i / count)
                self._advance(step, i, n)
                last_of_step = i == count
                if last_of_step:
                    for effect in step.end:
                        effect(self)
                if self._step % self._per_tick == 0:
                    tick_all(self)
                framed = done in due
                if done == total:
                    self._finish()
                elif framed or self._step % self._per_sample == 0:
                    self.sample(always=framed)
                if framed:
                    self.events.append(FrameMark(cause))

    def _quiet(self, step: Step, i: int, count: int, done: int, due: AbstractSet[int]) -> int:
        """How many control instants can pass at once because the body keeps still and nothing is due before."""
        if not step.still or step.motion.end != self._body:
            return 1
        now = self._step // self._per_control
        limits = [count - i, *(d - done for d in due if d > done)]
        periods = (self._per_sample // self._per_control, self._per_tick // self._per_control)
        limits.extend(p - now % p for p in periods)
        return max(1, min(limits))

    def _advance(self, step: Step, i: int, n: int) -> None:
        body = step.motion.body_at(i * CONTROL_S)
        if body != self._body:
            self._body = body
            pose_body(self._sim, body)
        self._sim.step(n * self._per_control)
        self._step += n * self._per_control

    def sample(self, *, always: bool = False) -> None:
        """Folds what moved into the scratch state."""
        state = self.state
        things: list[str] = []
        joints: list[str] = []
        values: list[float] = []
        for thing, pose in self._sim.poses().items():
            if exists(state, thing) and _differs(pose, state.poses[thing]):
                things.append(thing)
                values.extend(pose)
                self._moved[thing] = None
        for joint, position in self._sim.joints().items():
            if abs(position - state.joints[joint]) > _MOVED:
                joints.append(joint)
                values.append(position)
        if not all(map(math.isfinite, values)):
            raise SimulatorError(f"a pose at step {self._step} is not finite: {things}")
        if things or joints or always:
            self._emit(
                PosesSampled(
                    step=self._step, things=tuple(things), joints=tuple(joints), values=tuple(values), **self._stamp()
                )
            )
        if self._body != state.body:
            self._emit(BodyPosed(step=self._step, values=self._body, **self._stamp()))
            self.change(WEARER, "room", room_at(state.scene, self._body[0], self._body[1]), cause=self.cause)

    def _finish(self) -> None:
        self.sample(always=True)
        self.reconcile()
        fresh = sorted(set(self._sim.contacts()) - self._contacts)
        for a, b in fresh:
            if a in self._handled or b in self._handled:
                self.touch(a, b)

    def reconcile(self, things: Iterable[str] | None = None) -> None:
        """Makes `parent` say what the poses say, for what moved (or `things`) and is neither held nor worn."""
        for thing in sorted(self._moved if things is None else things):
            if thing_of(self.state, thing).fixed or not exists(self.state, thing):
                continue
            if any(p.how in ("held", "worn") for p in ancestors(self.state, thing)):
                continue
            support = support_of(self.state, thing)
            cause = self.cause if thing in self._handled else "process:physics"
            self.change(thing, "parent", "floor" if support is None else parent_text(*support), cause=cause)

    def _emit(self, event: Event) -> None:
        self.state.apply(event)
        self.clock.apply(event)
        self.events.append(event)

    def _stamp(self) -> _Stamp:
        return {"sim_time_s": self.now_s, "turn": self._turn, "phase": self._phase}
