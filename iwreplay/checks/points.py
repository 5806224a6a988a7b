"""Status of a capability point: clean, assisted, failed or not reached.

- not_reached: the point has a `reached` formula, and that held at no step of live interaction;
- fail: its formula is false at the end;
- assisted_pass: true at the end, but only after help:
  - retry: before it last became true, a command of the Human in live interaction that concerned the point failed,
    and the Assistant spoke between the last such failure and that moment;
  - human_repair: the same without a word from the Assistant in between, or the Human brought it about by its own
    command before the Assistant had said anything at all in live interaction;
- clean_pass: true at the end otherwise.

A failed command concerns a point when one of the things in its outcome (obj, dest, tool, blocker) is one of the
point's things: the movable things that its formula names, by id or class, or every thing it names when none of them
is movable. A failed command that names no thing (it did not parse, or nothing or several things fitted) concerns what
the next successful command of the same primitive is about (of any primitive when it did not parse).
Commands of the warmup and of the Human's scripted intent are not attempts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from iwreplay.checks.index import SceneIndex
from iwreplay.events import AssistantDecision, CommandIssued, Event, PrimitiveOutcome

__all__ = ["ATTEMPT_KINDS", "Attempts", "PointStatus", "things_of_point"]

#: what `Attempts` looks at
ATTEMPT_KINDS: frozenset[type[Event]] = frozenset((CommandIssued, AssistantDecision, PrimitiveOutcome))

PointStatus = Literal["clean_pass", "assisted_pass", "fail", "not_reached"]


class _Attempt(msgspec.Struct, frozen=True):
    seq: int
    primitive: str
    ok: bool
    things: frozenset[str]


class Attempts:
    """What the Human tried and when the Assistant spoke, over the live interaction of one log."""

    def __init__(self) -> None:
        self._sources: dict[int, str] = {}
        self._attempts: list[_Attempt] = []
        self._spoken: list[int] = []

    def feed(self, seq: int, event: Event) -> None:
        """The next event."""
        if type(event) not in ATTEMPT_KINDS or event.phase != "closed_loop":
            return
        if type(event) is CommandIssued:
            self._sources[event.action] = event.source
        elif type(event) is AssistantDecision:
            if event.text:
                self._spoken.append(seq)
        elif type(event) is PrimitiveOutcome and self._sources.get(event.action) == "human":
            ids = (event.obj, event.dest, event.tool, event.blocker)
            self._attempts.append(_Attempt(seq, event.primitive, event.ok, frozenset(i for i in ids if i)))

    def help_before(self, since: int, *, things: Collection[str]) -> tuple[str, tuple[int, ...]]:
        """("", ()) when a point about `things` that became true at `since` was reached unaided; else "retry" or
        "human_repair" with the sequence numbers that say so."""
        failures = [
            a.seq
            for i, a in enumerate(self._attempts)
            if a.seq <= since and not a.ok and self._about(i) & frozenset(things)
        ]
        if failures:
            spoke = any(failures[-1] < s <= since for s in self._spoken)
            return ("retry" if spoke else "human_repair"), tuple(failures)
        own = [a for a in self._attempts if a.ok and a.seq <= since and a.things & frozenset(things)]
        if own and not any(s < own[-1].seq for s in self._spoken):
            return "human_repair", (own[-1].seq,)
        return "", ()

    def _about(self, i: int) -> frozenset[str]:
        failed = self._attempts[i]
        if failed.things:
            return failed.things
        for later in self._attempts[i + 1 :]:
            if later.ok and failed.primitive in ("", later.primitive):
                return later.things
        return frozenset()


def things_of_point(named: tuple[str, ...], *, index: SceneIndex) -> tuple[str, ...]:
    """The point's things: the movable ones that its formula names, else all that it names."""
    movable = tuple(t for t in named if not index.things[t].fixed)
    return movable or named
