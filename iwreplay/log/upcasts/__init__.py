"""Old format versions, read as the newest one.

A step is a module of its own, named ``v<from>_to_v<to>.py``, with a pure function on builtins: it gets the event as
a dict as it was written (``kind`` and, for kinds with an array, ``values`` as a list included) and gives the dict of
the next version. Steps are only ever added, and each comes with a golden log of the version it reads. Version 1 is
the first, so there is no step yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from iwreplay.log.format import FORMAT_VERSION

__all__ = ["CURRENT", "Lineage", "Upcast"]

BuiltinEvent = dict[str, Any]


@dataclass(frozen=True)
class Upcast:
    """One step, from ``version`` to the next."""

    version: int
    apply: Callable[[BuiltinEvent], BuiltinEvent]


@dataclass(frozen=True)
class Lineage:
    """The newest version that is read, and the steps that lead to it, in order and without a gap."""

    newest: int
    steps: tuple[Upcast, ...]

    def __post_init__(self) -> None:
        versions = [s.version for s in self.steps]
        wanted = list(range(self.newest - len(versions), self.newest))
        assert versions == wanted, f"upcasts must lead step by step to {self.newest}, not {versions}"

    @property
    def oldest(self) -> int:
        """The oldest version that is read."""
        return self.newest - len(self.steps)

    def upcast(self, event: BuiltinEvent, *, version: int) -> BuiltinEvent:
        """The event as the newest version would have written it. Version must be between oldest and newest."""
        for step in self.steps:
            if step.version >= version:
                event = step.apply(event)
        return event


CURRENT = Lineage(newest=FORMAT_VERSION, steps=())
