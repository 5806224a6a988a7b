"""What a re-execution found."""

from __future__ import annotations

import msgspec

from replayer.grades import Grade

__all__ = ["Decision", "Difference", "EnvironmentDifference", "Reexecution", "StepGrade"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The Assistant decision upstream of something."""

    turn: int
    decision: str
    text: str | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One field of one event that the re-execution gave differently."""

    #: sequence number in the log; of an event that the log lacks, that of the event before it
    seq: int
    sim_time_s: float
    turn: int
    kind: str
    object: str
    #: "(event)" when one side has no such event at all, "(order)" when only the order differs, "(unknown)" when the
    #: log's event names something that the log's scene lacks
    field: str
    #: canonical JSON, shortened
    expected: str
    got: str
    #: the last Assistant decision with text before it, None before live interaction
    decision: Decision | None

    def __str__(self) -> str:
        what = f"{self.object}: {self.field}" if self.object else self.field
        upstream = "before any instruction"
        if self.decision is not None:
            upstream = f"after turn {self.decision.turn}: {self.decision.text or self.decision.decision!r}"
        return (
            f"event {self.seq} at {self.sim_time_s:.3f} s, turn {self.turn}, {self.kind}, {what}: "
            f"expected {self.expected}, got {self.got} ({upstream})"
        )


class EnvironmentDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the machine or the engines that is not as it was when the log was recorded."""

    name: str
    recorded: str
    here: str


class StepGrade(msgspec.Struct, frozen=True, kw_only=True):
    """Grade of one step."""

    #: seq of its first event in the log (of the event before it, for a step that the log lacks)
    seq: int
    #: kind of the event that begins it
    kind: str
    turn: int
    action: int | None
    #: the command, for an action
    command: str
    grade: Grade


class Reexecution(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict over a whole log."""

    #: the worst grade of all steps
    verdict: Grade
    steps: tuple[StepGrade, ...]
    #: in log order, at most `replayer.comparer.MAX_DIFFERENCES`
    differences: tuple[Difference, ...]
    #: of all, kept or not
    difference_count: int
    environment: tuple[EnvironmentDifference, ...]
    events_compared: int
    recorded_root: str | None
    root: str
    #: False: the log stops without an end, only what it holds was compared
    log_ended: bool
    #: True: stopped at the first difference, the rest was not looked at
    stopped: bool

    @property
    def exact(self) -> bool:
        """Every event is the same, frame hashes, environment and root hash included."""
        return self.verdict == "exact" and not self.environment and self.recorded_root in (None, self.root)

    @property
    def first(self) -> Difference | None:
        """The first divergence."""
        return self.differences[0] if self.differences else None

    @property
    def first_in_world(self) -> Difference | None:
        """The first divergence behind the opening: where another engine or scene first made a difference."""
        return next((d for d in self.differences if d.kind != "episode_opened"), None)

    @property
    def exit_code(self) -> int:
        """0 when exact, else 1."""
        return 0 if self.exact else 1
