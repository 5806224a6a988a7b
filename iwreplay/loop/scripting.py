"""Scripted events of a task: when they fire and what they do.

A scripted event fires once, at the first evaluation in its phase at which every given condition holds. The loop
evaluates after every action, after every idle time and at the start of every turn. Events are tried in the task's
order, again and again until none fires, so that one may follow another at the same instant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypedDict

from iwreplay.errors import TaskError
from iwreplay.events import AssistantDecision, CommandIssued, Event, PhaseChanged, ScriptedEvent, Utterance
from iwreplay.loop.engine import Engine, Watch, WatchFactory
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import ScriptAction, ScriptedWorldEvent, TaskPack
from iwreplay.vocabulary import Phase
from iwreplay.world.state import WorldState

__all__ = ["Script"]

#: simulated time is a multiple of the physics step; this much rounding is forgiven
_TICK_S = 1e-9


class Script:
    """The scripted events of one episode, and the Human's own intent that they may set."""

    def __init__(self, task: TaskPack, scene: CompiledScene, *, watch: WatchFactory) -> None:
        self._pending = list(task.script)
        self._fired: set[str] = set()
        self._phase_began_s: dict[str, float] = {}
        self._watches: dict[str, Watch] = {}
        known = {s.id for s in task.script}
        for scripted in task.script:
            if scripted.when.after is not None and scripted.when.after not in known:
                raise TaskError(
                    f"task {task.id}, scripted event {scripted.id!r}: `after` names {scripted.when.after!r}, "
                    f"which is no scripted event of it; known: {', '.join(sorted(known))}"
                )
            if scripted.when.formula is not None:
                self._watches[scripted.id] = watch(scripted.when.formula, task=task, check=scripted.id, scene=scene)
        #: commands that the Human is about to carry out by itself, next first
        self.intent: list[str] = list(task.human.intent)

    def feed(self, seq: int, event: Event, state: WorldState) -> None:
        """Every event of the log, in order, for the triggers that are formulas."""
        for watch in self._watches.values():
            watch.feed(seq, event, state)

    def follow(self, event: Event, state: WorldState) -> None:
        """Takes in an event of what came before: what has fired, and what is left of the Human's intent."""
        if isinstance(event, PhaseChanged):
            self._phase_began_s[event.phase] = state.sim_time_s
        elif isinstance(event, ScriptedEvent):
            fired = next(s for s in self._pending if s.id == event.script)
            self._pending.remove(fired)
            self._fired.add(fired.id)
            for action in fired.do:
                if action.do == "intend":
                    self.intent = list(action.commands)
        elif isinstance(event, AssistantDecision) and event.decision == "interrupt":
            self.cancel_intent()
        elif isinstance(event, CommandIssued) and event.source == "intent":
            self.intent.pop(0)

    def phase_began(self, engine: Engine, state: WorldState) -> None:
        """From now on `after_s` counts in this phase."""
        self._phase_began_s[engine.phase] = state.sim_time_s

    def cancel_intent(self) -> None:
        """The Assistant interrupted: the rest of the intent is given up for good. A later `intend` is a new one."""
        self.intent.clear()

    def next_intent(self) -> str | None:
        return self.intent[0] if self.intent else None

    def _due(self, scripted: ScriptedWorldEvent, state: WorldState, engine: Engine) -> bool:
        when = scripted.when
        if when.phase != engine.phase:
            return False
        if when.turn is not None and engine.turn < when.turn:
            return False
        if when.after_s is not None and state.sim_time_s - self._phase_began_s[engine.phase] < when.after_s - _TICK_S:
            return False
        if when.after is not None and when.after not in self._fired:
            return False
        return when.formula is None or self._watches[scripted.id].value

    def fire_due(self, state: WorldState, engine: Engine, emit: Callable[[Event], None]) -> None:
        """Fires everything that is due at this instant of the engine's phase and turn."""
        again = True
        while again:
            again = False
            for scripted in tuple(self._pending):
                if self._due(scripted, state, engine):
                    self._pending.remove(scripted)
                    self._fired.add(scripted.id)
                    again = True
                    emit(ScriptedEvent(**_now(state, engine), script=scripted.id))
                    for action in scripted.do:
                        self._act(action, f"script:{scripted.id}", state, engine, emit)

    def _act(
        self, action: ScriptAction, cause: str, state: WorldState, engine: Engine, emit: Callable[[Event], None]
    ) -> None:
        if action.do == "say":
            emit(Utterance(**_now(state, engine), speaker=action.speaker, text=action.text))
        elif action.do == "set":
            engine.set_attr(action.thing, action.attr, action.value, cause=cause)
        elif action.do == "place":
            engine.place(action.thing, action.at, action.pos, math.radians(action.yaw_deg), cause=cause)
        elif action.do in ("ring", "stop_ring"):
            engine.set_attr(action.thing, "ringing", action.do == "ring", cause=cause)
        else:
            self.intent = list(action.commands)


class _Now(TypedDict):
    sim_time_s: float
    turn: int
    phase: Phase


def _now(state: WorldState, engine: Engine) -> _Now:
    return {"sim_time_s": state.sim_time_s, "turn": engine.turn, "phase": engine.phase}
