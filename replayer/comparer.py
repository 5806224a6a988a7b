"""A sink that compares a re-execution with its log while it runs, step by step."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from iwreplay.events import AssistantDecision, CommandIssued, EpisodeOpened, Event, Fault
from iwreplay.loop import EpisodeStopped
from iwreplay.world.state import WorldState
from replayer.differences import changes_of, kind_of, object_of
from replayer.grades import grade_step
from replayer.report import Decision, Difference, EnvironmentDifference, StepGrade
from replayer.steps import Step, Taken, key_of, steps_of, taken

__all__ = ["MAX_DIFFERENCES", "Comparer", "engine_of"]

#: differences that are kept; all are counted
MAX_DIFFERENCES = 1000


class Comparer:
    """Takes the events of a re-execution. Memory is bounded by one step of each side.

    `fail_fast` stops the loop after the first step with a difference; only its first difference is kept.
    """

    def __init__(
        self, log: Iterable[tuple[int, Event]], *, opened: EpisodeOpened, log_ended: bool, fail_fast: bool
    ) -> None:
        self.grades: list[StepGrade] = []
        self.differences: list[Difference] = []
        self.difference_count = 0
        self.environment: list[EnvironmentDifference] = []
        self.events_compared = 0
        self.received = 0
        self.stopped = False
        #: codes of the faults that the re-execution ran into
        self.faults: list[str] = []
        self._log_ended, self._fail_fast = log_ended, fail_fast
        self._expected: Iterator[Step] = steps_of(log)
        self._next: Step | None = next(self._expected, None)
        self._step: Step | None = None
        self._state, self._got_state = WorldState(opened.scene), WorldState(opened.scene)
        self._hash = hashlib.sha256()
        self._decision: Decision | None = None
        self._last_seq = 0

    @property
    def root(self) -> str:
        """Root hash of what the re-execution gave."""
        return self._hash.hexdigest()

    # -- the sink -----------------------------------------------------------------------------------------------

    def append(self, event: Event) -> int:
        """The next event. Raises EpisodeStopped when nothing more needs to be compared."""
        seq = self.received
        key = key_of(event)
        if key is not None:
            self._finish_step()
            self._step = Step(key)
        assert self._step is not None, "an episode begins with its opening"
        self._step.taken.append(taken(seq, event))
        self.received += 1
        if isinstance(event, Fault):
            self.faults.append(event.code)
        return seq

    def commit(self) -> None:
        """There is nothing to make safe."""

    def finish(self) -> None:
        """Compares what is left when the loop has ended."""
        if self.stopped:
            return
        try:
            self._finish_step()
            while self._next is not None:
                self._missing(self._next)
        except EpisodeStopped:
            # the last step of a cut log, or the first difference: either way the comparison is complete
            self.stopped = self._fail_fast and self.difference_count > 0

    # -- steps --------------------------------------------------------------------------------------------------

    def _finish_step(self) -> None:
        got, self._step = self._step, None
        if got is None:
            return
        while self._next is not None and self._next.key < got.key:
            self._missing(self._next)
        expected = self._next
        if expected is None or expected.key != got.key:
            self._extra(got)
            return
        self._next = next(self._expected, None)
        self._compare(expected, got)
        if expected.last and not self._log_ended:
            raise EpisodeStopped

    def _compare(self, expected: Step, got: Step) -> None:
        if expected.last and not self._log_ended:
            # the log was cut inside this step: what comes after the cut can't be compared
            del got.taken[len(expected.taken) :]
        broken = self._fold(expected.taken, self._state)
        self._fold(got.taken, self._got_state)
        self._hash_in(got)
        self.events_compared += len(expected.taken)
        equal = [t.data for t in expected.taken] == [t.data for t in got.taken]
        mark = expected.taken[0]
        if isinstance(mark.event, EpisodeOpened) and isinstance(got.taken[0].event, EpisodeOpened):
            self._compare_environment(mark.event, got.taken[0].event)
        grade = grade_step(expected.events, got.events, equal=equal, state=self._state, got_state=self._got_state)
        self._graded(mark, grade)
        if not equal or broken:
            found = [*broken, *_differences(expected.taken, got.taken, self._upstream(mark))]
            self._report(sorted(found, key=lambda d: d.seq))
        self._last_seq = expected.taken[-1].seq
        self._heard(expected.events)

    def _missing(self, step: Step) -> None:
        """A step that the log has and the re-execution has not."""
        self._next = next(self._expected, None)
        self._fold(step.taken, self._state)
        self.events_compared += len(step.taken)
        self._graded(step.taken[0], "diverged")
        self._report([_whole(t, self._upstream(step.taken[0]), missing=True) for t in step.taken])
        self._last_seq = step.taken[-1].seq
        self._heard(step.events)

    def _extra(self, step: Step) -> None:
        """A step that the re-execution has and the log has not."""
        self._fold(step.taken, self._got_state)
        self._hash_in(step)
        at = Taken(self._last_seq, step.taken[0].event, b"")
        self._graded(at, "diverged")
        extra = [Taken(self._last_seq, t.event, b"") for t in step.taken]
        self._report([_whole(t, self._upstream(at), missing=False) for t in extra])

    def _hash_in(self, step: Step) -> None:
        self._hash.update(b"".join([t.data for t in step.taken]))

    def _fold(self, events: Iterable[Taken], state: WorldState) -> list[Difference]:
        """An event that can't be folded, because it names what its scene lacks, is a difference."""
        broken = []
        for t in events:
            try:
                state.apply(t.event)
            except KeyError as error:
                unknown = msgspec.structs.replace(_whole(t, self._upstream(t), missing=True), field="(unknown)")
                broken.append(msgspec.structs.replace(unknown, object=str(error.args[0])))
        return broken

    def _graded(self, mark: Taken, grade: str) -> None:
        event = mark.event
        command = event if isinstance(event, CommandIssued) else None
        self.grades.append(
            StepGrade(
                seq=mark.seq,
                kind=kind_of(event),
                turn=event.turn,
                action=command.action if command else None,
                command=command.text if command else "",
                grade=grade,  # type: ignore[arg-type]
            )
        )

    def _report(self, found: list[Difference]) -> None:
        self.difference_count += len(found)
        room = 1 if self._fail_fast else MAX_DIFFERENCES - len(self.differences)
        self.differences.extend(found[: max(0, room)])
        if self._fail_fast and found:
            self.stopped = True
            raise EpisodeStopped

    def _upstream(self, mark: Taken) -> Decision | None:
        return self._decision if mark.event.phase in ("closed_loop", "end") else None

    def _heard(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, AssistantDecision) and (event.text or self._decision is None):
                self._decision = Decision(turn=event.turn, decision=event.decision, text=event.text)

    def _compare_environment(self, recorded: EpisodeOpened, here: EpisodeOpened) -> None:
        rows = [
            ("simulator", engine_of(recorded), engine_of(here)),
            ("renderer", recorded.renderer, here.renderer),
        ]
        names = sorted({*recorded.fingerprint, *here.fingerprint})
        rows += [(n, recorded.fingerprint.get(n, "absent"), here.fingerprint.get(n, "absent")) for n in names]
        self.environment = [EnvironmentDifference(name=n, recorded=a, here=b) for n, a, b in rows if a != b]


def engine_of(opened: EpisodeOpened) -> str:
    """The physics in words: name, version, and its parameters in brackets."""
    params = ", ".join(f"{k}={v}" for k, v in sorted(opened.simulator.params.items()))
    return f"{opened.simulator.name} {opened.simulator.version}{f' ({params})' if params else ''}"


def _whole(at: Taken, decision: Decision | None, *, missing: bool) -> Difference:
    event = at.event
    there = f"{kind_of(event)}{f' of {object_of(event)}' if object_of(event) else ''}"
    return Difference(
        seq=at.seq,
        sim_time_s=event.sim_time_s,
        turn=event.turn,
        kind=kind_of(event),
        object=object_of(event),
        field="(event)",
        expected=there if missing else "nothing",
        got="nothing" if missing else there,
        decision=decision,
    )


def _differences(expected: list[Taken], got: list[Taken], decision: Decision | None) -> Iterator[Difference]:
    """Pairs the events of each kind in their order, and compares the pairs field by field."""
    theirs: dict[type[Event], list[Taken]] = defaultdict(list)
    for t in got:
        theirs[type(t.event)].append(t)
    any_found = False
    previous = expected[0].seq
    for t in expected:
        queue = theirs[type(t.event)]
        previous = t.seq
        if not queue:
            any_found = True
            yield _whole(t, decision, missing=True)
            continue
        other = queue.pop(0)
        if other.data == t.data:
            continue
        any_found = True
        for change in changes_of(t.event, other.event):
            yield Difference(
                seq=t.seq,
                sim_time_s=t.event.sim_time_s,
                turn=t.event.turn,
                kind=kind_of(t.event),
                object=change.object,
                field=change.field,
                expected=change.expected,
                got=change.got,
                decision=decision,
            )
    for queue in theirs.values():
        for t in queue:
            any_found = True
            yield _whole(Taken(previous, t.event, b""), decision, missing=False)
    if not any_found:
        at = next(i for i, (a, b) in enumerate(zip(expected, got, strict=True)) if a.data != b.data)
        first, other = expected[at], got[at]
        yield Difference(
            seq=first.seq,
            sim_time_s=first.event.sim_time_s,
            turn=first.event.turn,
            kind=kind_of(first.event),
            object=object_of(first.event),
            field="(order)",
            expected=kind_of(first.event),
            got=kind_of(other.event),
            decision=decision,
        )
