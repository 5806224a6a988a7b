"""What a scorer gives: a score with its evidence, or the reason why the log can't support one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from iwreplay.checks import Relations
from iwreplay.taskpack.model import TaskPack
from scorers.examine import Examined, Log, examine

__all__ = ["Score", "Scorer", "Unscorable"]


class Score(msgspec.Struct, frozen=True, kw_only=True, tag="score"):
    """A number that a log supports."""

    metric: str
    value: float
    #: sequence numbers of the events that decided it, sorted
    evidence: tuple[int, ...]
    #: what it is made of; plain JSON values
    details: dict[str, Any] = {}


class Unscorable(msgspec.Struct, frozen=True, kw_only=True, tag="unscorable"):
    """There is no number: the log can't support the metric, or the metric is not defined for such an episode (the cost
    of one that did not pass). Never the same as a score of 0."""

    metric: str
    reason: str
    #: what would be needed
    missing: tuple[str, ...] = ()
    #: the metric is not defined for it; nothing is missing from the log
    undefined: bool = False


@dataclass(frozen=True, slots=True)
class Scorer:
    """A pure function `(events, task) -> Score | Unscorable` with a name and a version."""

    name: str
    #: raised whenever its meaning changes
    version: int
    #: the module that defines it, for its hash
    module: str
    judge: Callable[[Examined], Score | Unscorable] = field(repr=False)
    #: it looks at the course of live interaction, not at the evaluation alone
    reads_course: bool = False
    #: parameters that change its values
    params: Mapping[str, str] = field(default_factory=dict)

    def __call__(
        self,
        events: Log,
        task: TaskPack | None = None,
        *,
        relations: Relations | None = None,
    ) -> Score | Unscorable:
        """Scores a whole log: events in order, (seq, event) pairs, or a log that builds them on request; `task`
        judges in place of the log's own.

        Raises CheckError when `task` does not fit the log's scene.
        """
        return self.of(examine(events, task=task, relations=relations, course=self.reads_course))

    def of(self, found: Examined | tuple[str, tuple[str, ...]]) -> Score | Unscorable:
        """The score of a log that was examined already."""
        if isinstance(found, Examined):
            return self.judge(found)
        reason, missing = found
        return Unscorable(metric=self.name, reason=reason, missing=missing)
