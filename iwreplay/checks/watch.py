"""From events to leaves: after each event, the leaves that it can have changed are read again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from iwreplay.checks.attributes import default_of
from iwreplay.checks.derive import Relations, Support
from iwreplay.checks.graph import Graph, Node
from iwreplay.checks.index import SceneIndex
from iwreplay.checks.matching import EventSpec, Key, key_of, kind_with
from iwreplay.checks.neighbours import Neighbours
from iwreplay.events import (
    EVENT_TYPES,
    BodyPosed,
    EpisodeOpened,
    Event,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
    WorldSnapshot,
)
from iwreplay.pose import Pose, poses_agree
from iwreplay.trig import sin_cos
from iwreplay.vocabulary import WEARER, AttrValue
from iwreplay.world.state import WorldState

__all__ = ["BASELINE_ANGLE_RAD", "BASELINE_DISTANCE_M", "Watch"]

#: a thing is at its baseline pose within these
BASELINE_DISTANCE_M = 0.02
BASELINE_ANGLE_RAD = math.radians(10.0)
#: cosine of half that angle: two unit quaternions are within it when |dot| reaches this
_COS_HALF = sin_cos(BASELINE_ANGLE_RAD / 2.0)[1]
#: relations that hang on what a thing rests on or in
_RESTING = ("ontop", "inside")
#: attributes that `baseline` leaves out: beliefs and consequences of other things
_NOT_BASELINE = ("parent", "powered", "load_a")


class Watch:
    """The leaves of one graph, found by what they read."""

    def __init__(self, graph: Graph, index: SceneIndex, relations: Relations) -> None:
        self._graph, self._index, self._relations = graph, index, relations
        self._attrs: dict[tuple[str, str], list[Node]] = {}
        #: relation and baseline leaves by the things that they name
        self._by_thing: dict[str, dict[int, Node]] = {}
        #: leaves about what a thing rests on or in, by that thing, when `neighbours` says whom a change concerns
        self._resting: dict[str, dict[int, Node]] = {}
        #: baseline leaf of a thing; it reads every attribute
        self._baselines: dict[str, Node] = {}
        self._reads = relations.reads
        self._neighbours = None if relations.region is None else Neighbours(index.scene, relations)
        self._events: dict[Key | None, list[Node]] = {}
        #: the kinds of events that those are about
        self._matched: set[type[Event]] = set()
        self._changes: dict[type[Event], Callable[[Any, WorldState], None]] = {
            PosesSampled: self._moved,
            BodyPosed: self._body_moved,
            StateDelta: self._altered,
            WorldSnapshot: self._resynchronise,
        }
        self._lit: list[Node] = []
        self._live = graph.leaf("live", None, False)
        self._clock: Node | None = None
        self._route: Node | None = None
        self._began_s: float | None = None
        self._at_start: dict[str, tuple[Pose, dict[str, AttrValue], Support]] = {}
        #: what the leaves were read from, so that a snapshot costs only its differences
        self._last_pose: dict[str, Pose] = {}
        self._last_joint: dict[str, float] = {}
        self._last_attrs: dict[str, dict[str, AttrValue]] = {}
        #: sequence number of the baseline snapshot, None before it
        self.live_seq: int | None = None

    def unfed_copy(self, graph: Graph) -> Watch:
        """The same leaves in an unfed copy of the graph."""
        new, at = Watch(graph, self._index, self._relations), graph.nodes
        new._attrs = {k: [at[n.index] for n in leaves] for k, leaves in self._attrs.items()}
        new._by_thing = {k: {i: at[i] for i in leaves} for k, leaves in self._by_thing.items()}
        new._resting = {k: {i: at[i] for i in leaves} for k, leaves in self._resting.items()}
        new._baselines = {k: at[n.index] for k, n in self._baselines.items()}
        new._events = {k: [at[n.index] for n in leaves] for k, leaves in self._events.items()}
        new._matched = set(self._matched)
        new._clock = None if self._clock is None else at[self._clock.index]
        new._route = None if self._route is None else at[self._route.index]
        return new

    # -- leaves ------------------------------------------------------------------------------------------------

    @property
    def live(self) -> Node:
        """True from the baseline snapshot on."""
        return self._live

    def attr(self, thing: str, attr: str, type_name: str) -> Node:
        """Value of an attribute that can change; `contains:<liquid>` is its litres."""
        default = default_of(attr, type_name)
        leaf = self._graph.leaf("attr", (thing, attr, type_name), default)
        name = "contains" if attr.startswith("contains:") else attr
        leaves = self._attrs.setdefault((thing, name), [])
        if leaf not in leaves:
            leaves.append(leaf)
        return leaf

    def rel(self, relation: str, a: str, b: str) -> Node:
        """Whether a relation holds."""
        leaf = self._graph.leaf("rel", (relation, a, b), False)
        owner = b.split(".", 1)[0]
        if self._neighbours is not None and relation in _RESTING and a != WEARER:
            self._resting.setdefault(a, {})[leaf.index] = leaf
            return leaf
        for thing in (a, owner):
            if thing == WEARER or thing in self._index.things:
                self._by_thing.setdefault(thing, {})[leaf.index] = leaf
        return leaf

    def baseline(self, thing: str) -> Node:
        """Whether a thing is as it was at the start of live interaction; true before that."""
        leaf = self._baselines[thing] = self._graph.leaf("baseline", thing, True)
        table = self._by_thing if self._neighbours is None else self._resting
        table.setdefault(thing, {})[leaf.index] = leaf
        return leaf

    def event(self, spec: EventSpec, field: str | None) -> Node:
        """Whether the step's event matches; with `field`, the thing in that field ("" when none)."""
        leaf = self._graph.leaf("event", (spec, field), False if field is None else "")
        leaves = self._events.setdefault(spec.key, [])
        self._matched.add(kind_with(spec.key))
        if leaf not in leaves:
            leaves.append(leaf)
        return leaf

    def clock(self) -> Node:
        """Simulated seconds of live interaction so far."""
        self._clock = self._graph.leaf("clock", None, 0.0)
        return self._clock

    def route(self) -> Node:
        """Metres walked in live interaction so far."""
        self._route = self._graph.leaf("route_length", None, 0.0)
        return self._route

    # -- steps -------------------------------------------------------------------------------------------------

    def feed(self, event: Event, state: WorldState) -> None:
        """Sets the leaves for the step of `event`; `state` has it folded in."""
        graph = self._graph
        kind = type(event)
        self.rest()
        if graph.steps == 0:
            self._read_everything(state)
        elif kind in self._changes:
            self._changes[kind](event, state)
        if kind is WorldSnapshot and self.live_seq is None and event.reason == "baseline":  # type: ignore[attr-defined]
            self._begin(state)
        if kind in self._matched and (key := key_of(event)) in self._events:
            self._match(key, event)
        if self._counts:
            self._count(event)

    @property
    def kinds(self) -> frozenset[type[Event]]:
        """The kinds of events that can change a leaf, or the world below one: at every other event a step passes."""
        if self._clock is not None:
            return frozenset(EVENT_TYPES)
        kinds: set[type[Event]] = {EpisodeOpened, WorldSnapshot, StateDelta, *self._matched}
        if self._route is not None:
            kinds.add(PrimitiveOutcome)
        if self._by_thing or self._resting:
            kinds.add(PosesSampled)
        if self._by_thing.get(WEARER):
            kinds.add(BodyPosed)
        return frozenset(kinds)

    def passes(self, event: Event, state: WorldState) -> bool:
        """Whether no leaf changes at the step of `event`, as far as can be told at once; `state` has it folded in. If
        so, what it says is taken in, and the step may be skipped. Call it once for an event, in the order of the log.
        """
        if self._clock is not None or self._route is not None or not self._graph.steps:
            return False
        if type(event) is PosesSampled:
            return self._moves_nothing(event, state)
        if type(event) is StateDelta:
            return self._alters_nothing(event, state)
        return type(event) not in self._changes and key_of(event) not in self._events

    def _moves_nothing(self, event: PosesSampled, state: WorldState) -> bool:
        """What moved is in the hand, rests on and in nothing because of that, and nothing rests on or in it, where it
        was and where it is."""
        neighbours, carried = self._neighbours, self._relations.carried
        if neighbours is None or carried is None or event.joints:
            return False
        for thing in event.things:
            if thing in self._by_thing:
                return False
            if thing in self._resting:
                if not carried(state, thing):
                    return False
                baseline = self._baselines.get(thing) if self.live_seq is not None else None
                if baseline is not None and baseline.value is not self._at_baseline(thing, state):
                    return False
        if self._resting:
            for thing in event.things:
                if not neighbours.moved_apart(thing, state):
                    return False
        for thing in event.things:
            self._last_pose[thing] = state.poses[thing]
        return True

    def _alters_nothing(self, event: StateDelta, state: WorldState) -> bool:
        """Nothing asks for this attribute of this thing."""
        thing, attr = event.thing, event.attr
        if (thing, attr) in self._attrs or self._reads is None or attr in self._reads or thing in self._baselines:
            return False
        self._last_attrs[thing][attr] = state.attrs[thing][attr]
        return True

    @property
    def resting(self) -> bool:
        """No leaf is true for this step only."""
        return not self._lit

    def rest(self) -> None:
        """A new step: what was true for the one before only, no longer is."""
        if self._lit:
            for leaf in self._lit:
                self._graph.set(leaf, "" if leaf.param[1] else False)
            self._lit.clear()

    def _body_moved(self, event: BodyPosed, state: WorldState) -> None:
        self._reread(self._by_thing.get(WEARER, {}), state)

    def _altered(self, event: StateDelta, state: WorldState) -> None:
        self._read_attrs(event.thing, event.attr, state)
        self._last_attrs[event.thing][event.attr] = state.attrs[event.thing][event.attr]
        self._read_baselines((event.thing,), state)
        if self._reads is None or event.attr in self._reads:
            self._changed(moved=(), altered=(event.thing,), state=state)

    def _match(self, key: Key | None, event: Event) -> None:
        for leaf in self._events[key]:
            spec, field = leaf.param
            found = spec.find(event, field or "obj")
            if found is None or (field is not None and found not in self._index.things):
                continue
            self._graph.set(leaf, True if field is None else found)
            self._lit.append(leaf)

    @property
    def _counts(self) -> bool:
        return self._began_s is not None and (self._clock is not None or self._route is not None)

    def _count(self, event: Event) -> None:
        assert self._began_s is not None
        if self._clock is not None:
            self._graph.set(self._clock, event.sim_time_s - self._began_s)
        if self._route is not None and isinstance(event, PrimitiveOutcome) and event.distance_m:
            self._graph.set(self._route, self._route.value + event.distance_m)

    def _begin(self, state: WorldState) -> None:
        self.live_seq = self._graph.seq
        self._began_s = state.sim_time_s
        self._graph.set(self._live, True)
        for thing, leaf in self._baselines.items():
            support = self._relations.support_of(state, thing)
            self._at_start[thing] = (state.poses[thing], dict(state.attrs[thing]), support)
            self._graph.set(leaf, True)

    def _read_everything(self, state: WorldState) -> None:
        for thing, attr in self._attrs:
            self._read_attrs(thing, attr, state)
        self._last_pose, self._last_joint = dict(state.poses), dict(state.joints)
        self._last_attrs = {thing: dict(attrs) for thing, attrs in state.attrs.items()}
        if self._neighbours is not None and self._resting:
            self._neighbours.look(state)
        for table in (self._by_thing, self._resting):
            for leaves in table.values():
                self._reread(leaves, state)

    def _read_attrs(self, thing: str, attr: str, state: WorldState) -> None:
        for leaf in self._attrs.get((thing, attr), ()):
            _, full_name, type_name = leaf.param
            value: Any = state.attrs[thing].get(attr)
            if value is None:
                value = default_of(full_name, type_name)
            elif full_name.startswith("contains:"):
                value = value.get(full_name.removeprefix("contains:"), 0.0) if isinstance(value, dict) else 0.0
            self._graph.set(leaf, value)

    def _moved(self, event: PosesSampled, state: WorldState) -> None:
        moved = dict.fromkeys(event.things)
        for thing in event.things:
            self._last_pose[thing] = state.poses[thing]
        for joint in event.joints:
            self._last_joint[joint] = state.joints[joint]
            moved[self._index.joint_owner[joint]] = None
        self._changed(moved=tuple(moved), altered=(), state=state)

    def _resynchronise(self, event: WorldSnapshot, state: WorldState) -> None:
        """A snapshot repeats the state; only what it says differently is read again."""
        for thing, attr in self._attrs:
            self._read_attrs(thing, attr, state)
        moved: dict[str, None] = {}
        for thing, pose in state.poses.items():
            if self._last_pose[thing] != pose:
                self._last_pose[thing] = pose
                moved[thing] = None
        for joint, position in state.joints.items():
            if self._last_joint[joint] != position:
                self._last_joint[joint] = position
                moved[self._index.joint_owner[joint]] = None
        altered = [t for t, attrs in state.attrs.items() if self._last_attrs[t] != attrs]
        for thing in altered:
            self._last_attrs[thing] = dict(state.attrs[thing])
        self._read_baselines(altered, state)
        self._changed(moved=tuple(moved), altered=(*altered, WEARER), state=state)

    def _changed(self, *, moved: tuple[str, ...], altered: tuple[str, ...], state: WorldState) -> None:
        """Reads again the leaves that a change of poses (`moved`) or attributes (`altered`) concerns."""
        dirty: dict[int, Node] = {}
        for thing in (*moved, *altered):
            dirty.update(self._by_thing.get(thing, {}))
        if self._resting:
            assert self._neighbours is not None
            bodies = tuple(t for t in (*moved, *altered) if t != WEARER)
            for thing in (*bodies, *(self._neighbours.moved(bodies, state) if bodies else ())):
                dirty.update(self._resting.get(thing, {}))
        self._reread(dirty, state)

    def _read_baselines(self, things: Iterable[str], state: WorldState) -> None:
        if self.live_seq is not None:
            for thing in things:
                if thing in self._baselines:
                    self._graph.set(self._baselines[thing], self._at_baseline(thing, state))

    def _reread(self, leaves: dict[int, Node], state: WorldState) -> None:
        for leaf in leaves.values():
            if leaf.role == "rel":
                self._graph.set(leaf, self._relations.holds(state, *leaf.param))
            elif self.live_seq is not None:
                self._graph.set(leaf, self._at_baseline(leaf.param, state))

    def _at_baseline(self, thing: str, state: WorldState) -> bool:
        pose, attrs, support = self._at_start[thing]
        now = state.poses[thing]
        if not poses_agree(pose, now, distance_m=BASELINE_DISTANCE_M, cos_half_angle=_COS_HALF):
            return False
        present = state.attrs[thing]
        for name in sorted({*attrs, *present}):
            if name not in _NOT_BASELINE and attrs.get(name) != present.get(name):
                return False
        return self._relations.support_of(state, thing) == support
