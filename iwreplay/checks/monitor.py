"""Evaluates checks event by event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from iwreplay.checks.check import Check, compile_check
from iwreplay.checks.derive import Relations, derived_relations
from iwreplay.checks.evidence import Ending
from iwreplay.checks.graph import Graph, Node
from iwreplay.checks.ground import Grounding
from iwreplay.checks.index import SceneIndex
from iwreplay.checks.watch import Watch
from iwreplay.errors import CheckError, LogError
from iwreplay.events import Event
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import Formula, TaskPack
from iwreplay.world.state import WorldState

__all__ = ["Monitor", "Trigger", "Verdict", "trigger"]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Value of a check at the last step."""

    value: bool
    #: sequence numbers of the events that made it so, sorted, at most EVIDENCE_LIMIT
    evidence: tuple[int, ...]
    #: sequence number at which it last became true; None when it never was
    since: int | None = None
    #: sequence number at which its value became what it is; the first event when nothing changed it
    changed: int = 0


class Monitor:
    """Several checks over one log. It keeps no world state: memory grows with the changes below operators that look
    ahead, and with nothing else.

    `throughout` names checks whose verdict is whether they held at every step of live interaction; `reached` those
    whose verdict is whether they held at any step of it.
    """

    def __init__(
        self,
        checks: Mapping[str, Check],
        *,
        throughout: frozenset[str] = frozenset(),
        reached: frozenset[str] = frozenset(),
        relations: Relations | None = None,
    ) -> None:
        self._graph = Graph()
        self._tops: dict[str, Node] = {}
        self._last_seq: int | None = None
        index = next(iter(checks.values())).index if checks else SceneIndex(_NO_SCENE)
        self._watch = Watch(self._graph, index, relations or derived_relations())
        ground = Grounding(self._graph, self._watch, index)
        for name, check in checks.items():
            if check.index.scene is not index.scene:
                raise CheckError("compiled for another scene than its neighbours", task=check.task, check=check.id)
            try:
                node = ground.formula(check.formula, {})
                if name in throughout:
                    node = ground.throughout(node)
                elif name in reached:
                    node = ground.once_live(node)
            except CheckError as error:
                raise CheckError(error.reason, task=check.task, check=check.id) from error
            self._tops[name] = node

    def unfed_copy(self) -> Monitor:
        """Another one of the same checks, for another log; for a tenth of the work. AssertionError once this one was
        fed."""
        new = Monitor.__new__(Monitor)
        new._graph = self._graph.unfed_copy()
        new._watch = self._watch.unfed_copy(new._graph)
        new._tops = {name: new._graph.nodes[node.index] for name, node in self._tops.items()}
        new._last_seq = None
        return new

    @property
    def live_seq(self) -> int | None:
        """Sequence number of the baseline snapshot; None before it."""
        return self._watch.live_seq

    def feed(self, seq: int, event: Event, state: WorldState) -> None:
        """The next event, with `state` as it is after it. Raises LogError when an event was left out."""
        if self._last_seq is not None and seq != self._last_seq + 1:
            raise LogError(f"event {seq} follows event {self._last_seq}; checks need every event, in order")
        self._last_seq = seq
        self._graph.begin(seq)
        self._watch.feed(event, state)
        self._graph.settle()

    def passes(self, event: Event, state: WorldState) -> bool:
        """Whether this event, with `state` as it is after it, can be seen at once to change no verdict. If so, it may
        be skipped. Call it once for an event, in the order of the log."""
        return self._watch.passes(event, state)

    @property
    def kinds(self) -> frozenset[type[Event]]:
        """The kinds of events that can change a verdict; those of others may be skipped."""
        return self._watch.kinds

    def skip(self, last_seq: int) -> None:
        """The events from the next one to `last_seq` are of kinds that can change no verdict: as feeding them, but
        the world need not be told either. LogError before the first event."""
        if self._last_seq is None:
            raise LogError("the first event can't be skipped")
        seq = self._last_seq + 1
        while seq <= last_seq and not (self._watch.resting and self._graph.resting):
            self._graph.begin(seq)
            self._watch.rest()
            self._graph.settle()
            seq += 1
        if seq <= last_seq:
            self._graph.pass_over(last_seq, steps=last_seq + 1 - seq)
        self._last_seq = max(self._last_seq, last_seq)

    def value(self, name: str) -> bool:
        """Value after the events so far (for a formula that looks ahead: as if the log ended here)."""
        node = self._tops[name]
        if not self._graph.steps:
            return False
        return bool(node.value if not node.offline else Ending(self._graph).final(node).value)

    def verdicts(self) -> dict[str, Verdict]:
        """Values and evidence after the events so far, as if the log ended here. LogError before the first event."""
        if not self._graph.steps:
            raise LogError("a check has no value before the first event")
        ending = Ending(self._graph)
        out: dict[str, Verdict] = {}
        for name, node in self._tops.items():
            final = ending.final(node)
            out[name] = Verdict(
                value=bool(final.value),
                evidence=ending.evidence(node),
                since=final.rose_seq,
                changed=final.changed_seq,
            )
        return out


class Trigger:
    """The formula of one scripted event's trigger; `value` is its value after the events so far."""

    def __init__(self, check: Check, *, relations: Relations | None = None) -> None:
        self._monitor = Monitor({check.id: check}, relations=relations)
        self._id = check.id

    def feed(self, seq: int, event: Event, state: WorldState) -> None:
        """As `Monitor.feed`."""
        self._monitor.feed(seq, event, state)

    @property
    def value(self) -> bool:
        """True when the formula holds at the latest step; False before the first."""
        return self._monitor.value(self._id)


def trigger(formula: Formula, *, task: TaskPack, check: str, scene: CompiledScene) -> Trigger:
    """Compiles a trigger; a formula that looks ahead is refused (CheckError)."""
    scripts = tuple(s.id for s in task.script)
    return Trigger(compile_check(formula, task=task.id, check=check, scene=scene, scripts=scripts, live=True))


_NO_SCENE: Any = CompiledScene(
    id="", format=0, rooms=(), portals=(), materials=(), things=(), lights=(), spawn=(0.0, 0.0, 0.0)
)
