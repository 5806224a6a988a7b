"""The world as a fold over events.

Live recording, state replay, checks and seeking all use this one fold, so they can't disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from iwreplay.errors import NotOpenedError
from iwreplay.events import (
    BODY_VALUES,
    EVENT_TYPES,
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
    PhaseChanged,
    PosesSampled,
    PrimitiveOutcome,
    ScriptedEvent,
    StateDelta,
    Utterance,
    WorldSnapshot,
)
from iwreplay.pose import Pose
from iwreplay.scene.geometry import initial_joints
from iwreplay.scene.model import CompiledScene
from iwreplay.vocabulary import WEARER, AttrValue, Phase

__all__ = ["FOLDED_KINDS", "LATEST_COUNTS", "WorldState", "fold"]

#: kinds that change the world; a new kind must be put into one of the two
FOLDED_KINDS: frozenset[type[Event]] = frozenset((PosesSampled, StateDelta, BodyPosed, WorldSnapshot, EpisodeOpened))
#: folded kinds of which an event leaves nothing that an earlier one set, so that seeking reads only the latest
LATEST_COUNTS: tuple[type[Event], ...] = (BodyPosed,)
#: kinds that only move time, turn and phase on; most events are, and need not be asked six questions
_INERT = frozenset(
    (
        AssistantDecision,
        CommandIssued,
        Contact,
        EpisodeEnded,
        Fault,
        FrameCaptured,
        Happened,
        HumanTurn,
        ModelCall,
        Observation,
        PhaseChanged,
        PrimitiveOutcome,
        ScriptedEvent,
        Utterance,
    )
)
assert frozenset(EVENT_TYPES) == FOLDED_KINDS | _INERT, "every kind is folded or inert"


class WorldState:
    """Mutable fold. `apply` takes events in log order; unknown things are an error of the log, not ignored."""

    def __init__(self, scene: CompiledScene) -> None:
        self.scene = scene
        self.sim_time_s: float = 0.0
        self.turn: int = 0
        self.phase: Phase = "scene_init"
        self.step: int = 0
        #: world_from_link0 of every thing, metres and unit quaternion wxyz
        self.poses: dict[str, Pose] = {t.id: t.pose for t in scene.things}
        #: "thing.joint" -> rad or m
        self.joints: dict[str, float] = initial_joints(scene)
        self.attrs: dict[str, dict[str, AttrValue]] = {t.id: dict(t.attrs) for t in scene.things}
        self.attrs[WEARER] = {}
        self.body: tuple[float, ...] = (*scene.spawn[:2], 0.0, 1.0, *([0.0] * (BODY_VALUES - 4)))

    def copy(self) -> WorldState:
        """An independent copy (the scene is shared)."""
        new = WorldState.__new__(WorldState)
        new.scene = self.scene
        new.sim_time_s, new.turn, new.phase, new.step = self.sim_time_s, self.turn, self.phase, self.step
        new.poses = dict(self.poses)
        new.joints = dict(self.joints)
        new.attrs = {k: dict(v) for k, v in self.attrs.items()}
        new.body = self.body
        return new

    def attr(self, thing: str, name: str) -> AttrValue:
        """Value of an attribute, or None when the thing has none of that name. KeyError for an unknown thing."""
        return self.attrs[thing].get(name)

    def apply(self, event: Event) -> None:
        """Fold one event in."""
        self.sim_time_s, self.turn, self.phase = event.sim_time_s, event.turn, event.phase
        if type(event) in _INERT:
            return
        if isinstance(event, PosesSampled):
            self.step = event.step
            self._apply_poses(event.things, event.joints, event.values)
        elif isinstance(event, StateDelta):
            self.attrs[event.thing][event.attr] = event.new
        elif isinstance(event, BodyPosed):
            self.step = event.step
            self.body = event.values
        elif isinstance(event, WorldSnapshot):
            self.step = event.step
            n = 7 * len(event.things) + len(event.joints)
            self._apply_poses(event.things, event.joints, event.values[:n])
            self.body = event.values[n:]
            self.attrs = {k: dict(v) for k, v in event.attrs.items()}
        elif isinstance(event, EpisodeOpened) and event.scene is not self.scene:
            fresh = WorldState(event.scene)
            self.scene, self.poses, self.joints, self.attrs = fresh.scene, fresh.poses, fresh.joints, fresh.attrs
            self.body = fresh.body

    def _apply_poses(self, things: tuple[str, ...], joints: tuple[str, ...], values: tuple[float, ...]) -> None:
        i = 0
        for t in things:
            self.poses[t] = values[i : i + 7]  # type: ignore[assignment]
            i += 7
        for j in joints:
            self.joints[j] = values[i]
            i += 1

    def snapshot(self, reason: str) -> WorldSnapshot:
        """The whole state as an event."""
        things = tuple(self.poses)
        joints = tuple(self.joints)
        values: list[float] = []
        for t in things:
            values.extend(self.poses[t])
        values.extend(self.joints[j] for j in joints)
        values.extend(self.body)
        return WorldSnapshot(
            sim_time_s=self.sim_time_s,
            turn=self.turn,
            phase=self.phase,
            reason=reason,  # type: ignore[arg-type]
            step=self.step,
            things=things,
            joints=joints,
            attrs=_sorted_attrs(self.attrs),
            values=tuple(values),
        )


def fold(log: Iterable[tuple[int, Event]]) -> Iterator[tuple[int, Event, WorldState]]:
    """State replay: (seq, event, world after it). The world is one object that changes: copy what is kept.

    NotOpenedError when the log does not begin with its opening.
    """
    state: WorldState | None = None
    for seq, event in log:
        if state is None:
            if not isinstance(event, EpisodeOpened):
                raise NotOpenedError(type(event).__name__, seq=seq)
            state = WorldState(event.scene)
        state.apply(event)
        yield seq, event, state


def _sorted_attrs(attrs: Mapping[str, Mapping[str, AttrValue]]) -> dict[str, dict[str, AttrValue]]:
    return {k: {a: v[a] for a in sorted(v)} for k, v in sorted(attrs.items())}
