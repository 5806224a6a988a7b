"""The verdict on a whole log: objectives, gates, keeps, capability points, pass and MCR."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from iwreplay.checks.check import Check, compile_check
from iwreplay.checks.derive import Relations, derived_relations
from iwreplay.checks.formulas import CREDIT, REACHED, task_formulas
from iwreplay.checks.index import SceneIndex
from iwreplay.checks.language import CHECKS_VERSION
from iwreplay.checks.monitor import Monitor, Verdict
from iwreplay.checks.points import ATTEMPT_KINDS, Attempts, PointStatus, things_of_point
from iwreplay.errors import LogError
from iwreplay.events import EpisodeEnded, EpisodeOpened, Event, Fault, PrimitiveOutcome
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import TaskPack
from iwreplay.world.state import WorldState, fold

__all__ = [
    "CheckRun",
    "Evaluation",
    "GateResult",
    "ObjectiveResult",
    "PointResult",
    "evaluate_task",
    "runs_over",
    "task_checks",
]


#: kinds that an evaluation reads besides those of its checks
_READ: frozenset[type[Event]] = ATTEMPT_KINDS | {PrimitiveOutcome, Fault, EpisodeEnded}


class ObjectiveResult(msgspec.Struct, frozen=True, kw_only=True):
    """An objective at the end. `decided_seq` of this and of its kin: the event of live interaction that made the
    verdict what it is, or the last event of the log when none did (what never came about is decided by the end)."""

    id: str
    #: its formula holds, and its `credit_if` does
    satisfied: bool
    #: the formula alone
    value: bool
    #: `credit_if` alone; None when the objective has none
    credit: bool | None
    evidence: tuple[int, ...]
    decided_seq: int


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """A gate over live interaction, or a keep at the end."""

    id: str
    held: bool
    evidence: tuple[int, ...]
    decided_seq: int


class PointResult(msgspec.Struct, frozen=True, kw_only=True):
    """A capability point at the end."""

    id: str
    capability: str
    status: PointStatus
    #: "", "retry" or "human_repair"
    help: str
    evidence: tuple[int, ...]
    decided_seq: int


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the task's checks say about a log."""

    task: str
    task_version: int
    family: str
    checks_version: int
    relations_version: str
    #: what the log lacks for a verdict to stand; () when nothing
    lacks: tuple[str, ...]
    last_seq: int
    #: sequence number of the baseline snapshot
    live_seq: int | None
    objectives: tuple[ObjectiveResult, ...]
    gates: tuple[GateResult, ...]
    keeps: tuple[GateResult, ...]
    points: tuple[PointResult, ...]
    #: all objectives satisfied, all gates and keeps held, and the log lacks nothing
    passed: bool
    #: satisfied share of the objectives, 0..1
    mcr: float
    #: metres walked in live interaction
    route_length_m: float


def task_checks(task: TaskPack, *, scene: CompiledScene | SceneIndex) -> dict[str, Check]:
    """Every formula of the task that is evaluated at the end, compiled: id, "<objective>/credit_if",
    "<point>/reached". CheckError for the first one that is not acceptable."""
    index = scene if isinstance(scene, SceneIndex) else SceneIndex(scene)
    scripts = tuple(s.id for s in task.script)
    return {
        name: compile_check(formula, task=task.id, check=name, scene=index, scripts=scripts)
        for name, formula, live in task_formulas(task)
        if not live
    }


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What every run of a task's checks on a scene begins with."""

    task: TaskPack
    scene: CompiledScene
    relations: Relations
    index: SceneIndex
    checks: dict[str, Check]
    #: never fed
    monitor: Monitor


#: of the latest task packs and scenes: many episodes of one task are scored together
_LATEST: list[_Compiled] = []
_MOST_LATEST = 16


def _compiled(task: TaskPack, scene: CompiledScene, relations: Relations) -> _Compiled:
    """The task's checks on this scene; kept for the same objects, which never change."""
    for known in _LATEST:
        if known.task is task and known.scene is scene and known.relations == relations:
            return known
    index = SceneIndex(scene)
    checks = task_checks(task, scene=index)
    monitor = Monitor(
        checks,
        throughout=frozenset(g.id for g in task.gates),
        reached=frozenset(p.id + REACHED for p in task.points if p.reached is not None),
        relations=relations,
    )
    found = _Compiled(task, scene, relations, index, checks, monitor)
    _LATEST.insert(0, found)
    del _LATEST[_MOST_LATEST:]
    return found


class CheckRun:
    """All checks of a task, fed event by event; the result may be asked for at any time."""

    def __init__(self, task: TaskPack, scene: CompiledScene, *, relations: Relations | None = None) -> None:
        self.task = task
        self._relations = relations or derived_relations()
        compiled = _compiled(task, scene, self._relations)
        self._index, self._checks = compiled.index, compiled.checks
        self._monitor = compiled.monitor.unfed_copy()
        self._watched = self._monitor.kinds
        self._attempts = Attempts()
        self._route_m = 0.0
        self._last_seq = -1
        self._ended: EpisodeEnded | None = None
        self._faults: list[int] = []

    @property
    def live_seq(self) -> int | None:
        """Sequence number of the baseline snapshot; None before it."""
        return self._monitor.live_seq

    def feed(self, seq: int, event: Event, state: WorldState) -> None:
        """The next event, with `state` as it is after it. LogError when an event was left out."""
        last = self._last_seq
        if seq != last + 1 and last >= 0:
            raise LogError(f"event {seq} follows event {last}; checks need every event, in order")
        self.feed_selected(seq, event, state)

    def feed_selected(self, seq: int, event: Event, state: WorldState) -> None:
        """The next event, when all between the last one and it are of other kinds than `kinds`: as feeding them all."""
        last, kind = self._last_seq, type(event)
        if last >= 0:
            self._last_seq = seq - 1
        if last < 0 or (kind in self._watched and not self._monitor.passes(event, state)):
            self._catch_up()
            self._monitor.feed(seq, event, state)
        self._last_seq = seq
        if kind not in _READ:
            return
        self._attempts.feed(seq, event)
        if type(event) is PrimitiveOutcome:
            if self._monitor.live_seq is not None:
                self._route_m += event.distance_m
        elif type(event) is Fault:
            self._faults.append(seq)
        elif type(event) is EpisodeEnded:
            self._ended = event

    @property
    def kinds(self) -> frozenset[type[Event]]:
        """The kinds of events that can change the evaluation; those of others may be skipped."""
        return self._watched | _READ

    def skip(self, last_seq: int) -> None:
        """The events up to `last_seq` are of other kinds than `kinds`: as feeding them."""
        if self._last_seq < 0:
            raise LogError("the first event can't be skipped")
        self._last_seq = max(self._last_seq, last_seq)

    def _catch_up(self) -> None:
        """Tells the checks of the events since the last one that could change them."""
        if self._last_seq >= 0:
            self._monitor.skip(self._last_seq)

    def result(self) -> dict[str, Verdict]:
        """Verdict of every check as if the log ended here; those of gates are over live interaction so far."""
        self._catch_up()
        return self._monitor.verdicts()

    def evaluation(self) -> Evaluation:
        """The verdict on the task as if the log ended here."""
        verdicts = self.result()
        objectives = tuple(self._objective(o.id, verdicts) for o in self.task.objectives)
        gates = tuple(self._gate(g.id, verdicts) for g in self.task.gates)
        keeps = tuple(self._gate(k.id, verdicts) for k in self.task.keeps)
        lacks = self._lacks()
        satisfied = sum(o.satisfied for o in objectives)
        met = satisfied == len(objectives) > 0 and all(g.held for g in (*gates, *keeps))
        return Evaluation(
            task=self.task.id,
            task_version=self.task.version,
            family=self.task.family,
            checks_version=CHECKS_VERSION,
            relations_version=self._relations.version,
            lacks=lacks,
            last_seq=self._last_seq,
            live_seq=self._monitor.live_seq,
            objectives=objectives,
            gates=gates,
            keeps=keeps,
            points=tuple(self._point(p.id, p.capability, verdicts) for p in self.task.points),
            passed=met and not lacks,
            mcr=satisfied / len(objectives) if objectives else 0.0,
            route_length_m=self._route_m,
        )

    def _lacks(self) -> tuple[str, ...]:
        lacks = []
        if self._monitor.live_seq is None:
            lacks.append("baseline snapshot")
        if self._ended is None:
            lacks.append("episode_ended")
        elif not self._ended.valid:
            lacks.append(f"a valid end: {self._ended.detail or self._ended.reason}")
        if self._faults and (self._ended is None or self._ended.valid):
            lacks.append(f"an end without fault: event {self._faults[0]}")
        return tuple(lacks)

    def _objective(self, check: str, verdicts: dict[str, Verdict]) -> ObjectiveResult:
        verdict, credit = verdicts[check], verdicts.get(check + CREDIT)
        satisfied = verdict.value and (credit is None or credit.value)
        evidence, changed = set(verdict.evidence), verdict.changed
        if credit is not None and verdict.value:
            evidence |= set(credit.evidence)
            changed = max(changed, credit.changed) if credit.value else credit.changed
        return ObjectiveResult(
            id=check,
            satisfied=satisfied,
            value=verdict.value,
            credit=None if credit is None else credit.value,
            evidence=tuple(sorted(evidence)),
            decided_seq=self._decided(changed),
        )

    def _gate(self, check: str, verdicts: dict[str, Verdict]) -> GateResult:
        verdict = verdicts[check]
        return GateResult(
            id=check, held=verdict.value, evidence=verdict.evidence, decided_seq=self._decided(verdict.changed)
        )

    def _decided(self, changed: int) -> int:
        """The event that decided a check whose value is as it is since event `changed`. What was so before live
        interaction began could have changed until the last event."""
        live = self._monitor.live_seq
        return changed if live is not None and changed > live else self._last_seq

    def _point(self, point: str, capability: str, verdicts: dict[str, Verdict]) -> PointResult:
        verdict, reached = verdicts[point], verdicts.get(point + REACHED)
        status: PointStatus
        helped, evidence, changed = "", verdict.evidence, verdict.changed
        if reached is not None and not reached.value:
            status, evidence, changed = "not_reached", reached.evidence, reached.changed
        elif not verdict.value:
            status = "fail"
        else:
            things = things_of_point(self._checks[point].things, index=self._index)
            helped, helpers = self._attempts.help_before(verdict.since or 0, things=things)
            status = "assisted_pass" if helped else "clean_pass"
            evidence = tuple(sorted({*evidence, *helpers}))
        return PointResult(
            id=point,
            capability=capability,
            status=status,
            help=helped,
            evidence=evidence,
            decided_seq=self._decided(changed),
        )


def runs_over(
    events: Iterable[Event | tuple[int, Event]], *, task: TaskPack | None = None, relations: Relations | None = None
) -> Iterator[CheckRun]:
    """Folds a log, and gives the run of its task's checks (of those of `task` in its place) after every event: the
    same object each time. Bare events are numbered from 0.

    Raises LogError when the log does not open with `episode_opened`, or leaves events out; CheckError when the task
    does not fit the log's scene.
    """
    run: CheckRun | None = None
    for seq, event, state in fold(e if isinstance(e, tuple) else (i, e) for i, e in enumerate(events)):
        if run is None:
            assert isinstance(event, EpisodeOpened), "a fold begins with the opening"
            run = CheckRun(task or event.task, event.scene, relations=relations)
        run.feed(seq, event, state)
        yield run


def evaluate_task(
    events: Iterable[Event | tuple[int, Event]],
    *,
    task: TaskPack | None = None,
    relations: Relations | None = None,
) -> Evaluation:
    """Folds a whole log (events in order, or (seq, event) pairs) and evaluates its task, or `task` in its place.

    Raises LogError for a log without events, and as `runs_over` does.
    """
    last = deque(runs_over(events, task=task, relations=relations), maxlen=1)
    if not last:
        raise LogError("an empty log has nothing to evaluate")
    return last[0].evaluation()
