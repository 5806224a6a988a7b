"""The action engine: a command is parsed, grounded and planned on the unchanged world, then carried out on trial,
and only what has gone well becomes events.

A refused command leaves simulator, state and log exactly as they were, but for its outcome.
"""

from __future__ import annotations

from collections.abc import Callable

from iwreplay.actions.grammar import Command, parse_command
from iwreplay.actions.grounding import nameable
from iwreplay.actions.perception import Perception
from iwreplay.actions.plan import Plan, Script
from iwreplay.actions.primitives import planner_of
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.actions.scope import Scope
from iwreplay.actions.scripted import home_spot, placement_pose
from iwreplay.actions.spots import Spot
from iwreplay.actions.trial import FrameMark, Trial, pose_body, steps_of
from iwreplay.body import standing
from iwreplay.errors import GeometryError, SceneError, SimulatorError, UnknownNameError
from iwreplay.events import EpisodeConfig, Event, FrameCaptured, Happened, PrimitiveOutcome
from iwreplay.motion.model import Refusal
from iwreplay.motion.planner import Planner
from iwreplay.ports import Simulator
from iwreplay.processes import AttrClock
from iwreplay.processes.power import refresh_power
from iwreplay.scene.model import CompiledScene
from iwreplay.scene.pages import pages_of, turned_to
from iwreplay.vocabulary import WEARER, AttrValue, Phase
from iwreplay.world.geometry import thing_of
from iwreplay.world.state import WorldState

__all__ = ["ActionEngine"]

#: before t = 0: time for everything to come to rest
_FIRST_REST_S = 1.0
#: most simulated seconds of one idle stretch
_MAX_IDLE_S = 3600.0


def _page_of(thing: str, value: AttrValue) -> int:
    """The page that a scripted `open` or `page` means."""
    if not isinstance(value, int) or value < 0:
        raise SceneError(f"{thing} can't be turned to page {value!r}; pages count from 1, 0 is closed")
    return int(value)


class ActionEngine:
    """Carries out commands on one world. `sim` is loaded with the scene; `state` is the fold that `emit` feeds."""

    def __init__(
        self,
        *,
        scene: CompiledScene,
        sim: Simulator,
        state: WorldState,
        emit: Callable[[Event], None],
        capture: Callable[[str, int | None], FrameCaptured],
        config: EpisodeConfig,
        sighted: bool,
    ) -> None:
        self.turn: int = 0
        self.phase: Phase = "scene_init"
        self.perception = Perception(state, sighted=sighted)
        self._sim, self._state, self._config = sim, state, config
        self._emit_out, self._capture = emit, capture
        self._planner = Planner(scene=scene, sim=sim, names=self.perception.describe)
        self._clock = AttrClock()

    # ------------------------------------------------------------------ the start

    def begin(self) -> None:
        """Puts the body at its spawn, lets everything come to rest, and states the initial facts and first frame."""
        x, y, yaw = self._state.scene.spawn
        body = standing(x, y, yaw)
        pose_body(self._sim, body)
        self._sim.step(steps_of(self._sim, _FIRST_REST_S))
        trial = self._trial("process:settle")
        trial.stand(body)
        for attr, value in (("posture", "stand"), ("sitting", ""), ("held", "")):
            trial.set(WEARER, attr, value)
        trial.reconcile([t.id for t in self._state.scene.things])
        refresh_power(trial, cause="process:settle")
        trial.events.append(FrameMark("initial"))
        self._commit(trial, action=None)

    def follow(self, event: Event) -> None:
        """Takes in an event of what came before, folded into the state already, in place of `begin` and of what was
        done since. The simulator is as it was then."""
        self._clock.apply(event)
        self.perception.apply(event)

    # ------------------------------------------------------------------ commands

    def names(self) -> tuple[str, ...]:
        """What the wearer can name now, in words that may be typed as they stand."""
        return nameable(self._state, self.perception)

    def execute(self, command: str, *, action: int) -> PrimitiveOutcome:
        """Carries out one command, or refuses it. Emits everything, the outcome last, and returns the outcome."""
        try:
            parsed = parse_command(command)
        except RefusedError as no:
            return self._refuse(command, action, no.refusal, verb=no.verb, primitive=no.primitive)
        row = parsed.primitive.canonical
        try:
            plan = planner_of(row)(self._scope(parsed))
        except RefusedError as no:
            return self._refuse(command, action, no.refusal, verb=parsed.verb, primitive=row)
        started_s, before = self._now_s(), self._sim.snapshot()
        trial = self._trial(f"primitive:{row}")
        try:
            trial.run(plan.steps, frames=4, cause="action")
            wrong = plan.verify(trial)
            if wrong:
                raise refuse("POSTCONDITION", wrong, blocker=plan.dest or plan.obj)
        except RefusedError as no:
            return self._roll_back(before, parsed, action, plan, no.refusal)
        except (SimulatorError, GeometryError):
            failed = Refusal("EXECUTION", "Something went wrong while I was doing that; nothing has changed.")
            return self._roll_back(before, parsed, action, plan, failed)
        self._commit(trial, action=action)
        outcome = PrimitiveOutcome(
            sim_time_s=self._now_s(),
            turn=self.turn,
            phase=self.phase,
            action=action,
            command=command,
            verb=parsed.verb,
            primitive=row,
            obj=plan.obj,
            dest=plan.dest,
            tool=plan.tool,
            ok=True,
            code="OK",
            refused=False,
            started_s=started_s,
            duration_s=self._now_s() - started_s,
            distance_m=plan.distance_m,
        )
        self._emit(outcome)
        return outcome

    def _scope(self, command: Command) -> Scope:
        return Scope(
            command=command,
            state=self._state,
            sim=self._sim,
            planner=self._planner,
            perception=self.perception,
            config=self._config,
        )

    def _roll_back(self, before: bytes, command: Command, action: int, plan: Plan, why: Refusal) -> PrimitiveOutcome:
        self._sim.restore(before)
        return self._refuse(
            command.text, action, why, verb=command.verb, primitive=command.primitive.canonical, plan=plan
        )

    def _refuse(
        self, command: str, action: int, why: Refusal, *, verb: str, primitive: str, plan: Plan | None = None
    ) -> PrimitiveOutcome:
        outcome = PrimitiveOutcome(
            sim_time_s=self._now_s(),
            turn=self.turn,
            phase=self.phase,
            action=action,
            command=command,
            verb=verb,
            primitive=primitive,
            obj=plan.obj if plan else "",
            dest=plan.dest if plan else "",
            tool=plan.tool if plan else "",
            ok=False,
            code=why.code,
            sentence=why.sentence,
            blocker=why.blocker,
            refused=True,
            started_s=self._now_s(),
            duration_s=0.0,
        )
        self._emit(outcome)
        return outcome

    # ------------------------------------------------------------------ time and scripts

    def idle(self, seconds: float) -> None:
        """Time passes: physics, processes and samples, then one frame."""
        if not 0.0 < seconds <= _MAX_IDLE_S:
            raise SimulatorError(f"cannot idle for {seconds} s; give more than 0 and at most {_MAX_IDLE_S:g} s")
        trial = self._trial("process:idle")
        script = Script(self._state.body)
        script.hold(seconds)
        trial.run(tuple(script.steps), frames=1, cause="idle")
        self._commit(trial, action=None)

    def set_attr(self, thing: str, attr: str, value: AttrValue, *, cause: str) -> None:
        """A scripted change of one attribute, with what follows from it in the physical world."""
        if thing not in self._state.attrs:
            raise UnknownNameError("thing", thing, hint="A scripted event names things of its scene.")
        trial = self._trial(cause)
        if attr == "exists":
            if value is True:
                self._appear(trial, thing, home_spot(self._sim, self._state, thing))
            else:
                self._vanish(trial, thing)
        elif attr in ("open", "page") and pages_of(thing_of(self._state, thing)):
            for name, shown in turned_to(thing_of(self._state, thing).props, _page_of(thing, value)).items():
                trial.set(thing, name, shown)
        else:
            trial.set(thing, attr, value)
        if attr == "ringing":
            trial.happened("ring_started" if value is True else "ring_stopped", obj=thing)
        if attr == "open":
            for link in thing_of(self._state, thing).links:
                if link.joint is not None:
                    trial.drive(f"{thing}.{link.joint.name}", link.joint.open_at if value is True else 0.0)
        if attr in ("plugged", "powered", "charged"):
            refresh_power(trial, cause=cause)
        self._commit(trial, action=None)

    def _appear(self, trial: Trial, thing: str, spot: Spot) -> None:
        if self._state.attr(WEARER, "held") == thing:
            self._empty_hand(trial, thing)
        trial.exist(thing, True)
        if thing_of(self._state, thing).fixed:
            trial.set(thing, "parent", spot.parent)
            return
        trial.put(thing, spot.pose)
        trial.sample(always=True)
        trial.set(thing, "parent", spot.parent)
        trial.reconcile([thing])

    def _vanish(self, trial: Trial, thing: str) -> None:
        if self._state.attr(WEARER, "held") == thing:
            self._empty_hand(trial, thing)
        trial.exist(thing, False)
        trial.set(thing, "parent", "off")

    @staticmethod
    def _empty_hand(trial: Trial, thing: str) -> None:
        trial.let_go(thing)
        trial.set(thing, "held", False)
        trial.set(WEARER, "held", "")

    def place(self, thing: str, at: str, pos: tuple[float, float], yaw_rad: float, *, cause: str) -> None:
        """A scripted delivery or move: on a surface, in an interior, on the floor, or off the stage.

        Where the place is taken, the nearest free one on the same support is used; SceneError when there is none, or
        when the thing is fixed (set its attribute `exists` instead).
        """
        if thing not in self._state.poses:
            raise UnknownNameError("thing", thing, hint="A scripted event names things of its scene.")
        if thing_of(self._state, thing).fixed and at != "off":
            raise SceneError(f"{thing} is fixed and can't be put at {at!r}; let it exist where it is")
        trial = self._trial(cause)
        if at == "off":
            self._vanish(trial, thing)
        else:
            spot = placement_pose(self._sim, self._state, thing, at, pos=pos, yaw_rad=yaw_rad)
            self._appear(trial, thing, spot)
        self._commit(trial, action=None)

    # ------------------------------------------------------------------ events

    def _now_s(self) -> float:
        return self._state.step * self._sim.dt_s

    def _trial(self, cause: str) -> Trial:
        return Trial(
            state=self._state,
            clock=self._clock,
            sim=self._sim,
            config=self._config,
            turn=self.turn,
            phase=self.phase,
            cause=cause,
        )

    def _commit(self, trial: Trial, *, action: int | None) -> None:
        for item in trial.events:
            if isinstance(item, FrameMark):
                self._emit(self._capture(item.cause, action))
            else:
                self._emit(item)

    def _emit(self, event: Event) -> None:
        self._emit_out(event)
        self._clock.apply(event)
        for thing in self.perception.apply(event):
            self._emit_out(
                Happened(
                    sim_time_s=event.sim_time_s,
                    turn=event.turn,
                    phase=event.phase,
                    what="seen",
                    obj=thing,
                    detail={"by": "frame"},
                )
            )
