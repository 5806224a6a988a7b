"""The part of the audit that looks at single actions: statements 10, 21 to 25."""

from __future__ import annotations

import re
from collections.abc import Callable

from iwreplay.actions.table import PRIMITIVES, by_verb
from iwreplay.events import (
    BodyPosed,
    CommandIssued,
    Contact,
    Event,
    FrameCaptured,
    Happened,
    HumanTurn,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
)
from iwreplay.loop.limits import NOOP
from iwreplay.vocabulary import FAILURE_CODES, WEARER

__all__ = ["ActionAudit"]

_CANONICAL = {row.canonical for row in PRIMITIVES}
_CODES = {code for group in FAILURE_CODES.values() for code in group}
_TURN_AROUND = re.compile(r"\[\s*turnaround\s*\]\s*\S", re.IGNORECASE)
#: frames are taken on physics steps, so an even spacing is exact to one of them
_SPACING_S = 0.02
_FRAMES_PER_ACTION = 4

_WORLD = (StateDelta, PosesSampled, BodyPosed, Contact, Happened, FrameCaptured)


class ActionAudit:
    """Follows each command from its issue to its outcome."""

    def __init__(self, report: Callable[[int, str], None]) -> None:
        self._report = report
        self._next = 0
        self._running: CommandIssued | None = None
        self._facts: list[Event] = []
        self._planned: list[str] = []
        self._failed_in_turn = False

    def see(self, event: Event) -> None:
        if isinstance(event, HumanTurn):
            self._planned = [c for c in event.commands if c != NOOP]
            self._failed_in_turn = False
        elif isinstance(event, CommandIssued):
            self._issued(event)
        elif isinstance(event, PrimitiveOutcome):
            self._outcome(event)
        elif self._running is not None and isinstance(event, _WORLD):
            self._facts.append(event)

    def _issued(self, event: CommandIssued) -> None:
        if self._running is not None:
            self._report(25, f"action {self._running.action} has no outcome")
        if event.action != self._next:
            self._report(25, f"action {event.action} follows action {self._next - 1}")
        self._next = event.action + 1
        self._running, self._facts = event, []
        if event.source == "warmup":
            return
        if self._planned[:1] != [event.text]:
            self._report(5, f"{event.text!r} is not the next command of the Human's turn")
        self._planned = self._planned[1:]
        if self._failed_in_turn:
            self._report(25, f"{event.text!r} was issued after a failure in the same turn")

    def _outcome(self, event: PrimitiveOutcome) -> None:
        command, self._running = self._running, None
        if command is None or (command.action, command.text) != (event.action, event.command):
            self._report(25, f"the outcome of action {event.action} does not follow its command")
            return
        self._vocabulary(event)
        if event.ok:
            self._frames(event)
            self._body(event)
            return
        self._failed_in_turn = True
        if self._facts:
            what = ", ".join(sorted({type(f).__name__ for f in self._facts}))
            self._report(23, f"a failed action changed the world: {what}")
        if event.duration_s != 0.0 or event.distance_m != 0.0:
            self._report(23, f"a failed action took {event.duration_s} s and {event.distance_m} m")
        if not event.refused and event.code not in FAILURE_CODES["execution"]:
            self._report(25, f"a command refused with {event.code} is not flagged as refused")

    def _vocabulary(self, event: PrimitiveOutcome) -> None:
        if (event.code == "OK") != event.ok or not (event.ok or event.code in _CODES):
            self._report(21, f"outcome code {event.code!r} with ok={event.ok}")
        known = by_verb.get(event.verb.lower())
        if event.primitive and (
            event.primitive not in _CANONICAL or known is None or known[1].canonical != event.primitive
        ):
            self._report(21, f"verb {event.verb!r} was carried out as {event.primitive!r}")
        if event.ok and not event.primitive:
            self._report(21, f"{event.command!r} succeeded without a canonical primitive")
        if event.ok and _TURN_AROUND.match(event.command):
            self._report(22, f"{event.command!r} was accepted with an angle")

    def _frames(self, event: PrimitiveOutcome) -> None:
        times = [f.sim_time_s for f in self._facts if isinstance(f, FrameCaptured) and f.action == event.action]
        even = [event.started_s + event.duration_s * k / _FRAMES_PER_ACTION for k in range(1, _FRAMES_PER_ACTION + 1)]
        if len(times) != _FRAMES_PER_ACTION:
            self._report(10, f"action {event.action} has {len(times)} frames")
        elif any(abs(a - b) > _SPACING_S for a, b in zip(times, even, strict=True)):
            self._report(10, f"the frames of action {event.action} are at {times}, not at {even}")

    def _body(self, event: PrimitiveOutcome) -> None:
        changed = {(f.thing, f.attr): f.new for f in self._facts if isinstance(f, StateDelta)}
        if event.primitive == "turn" and (WEARER, "held") in changed:
            self._report(24, "turning changed what is held")
        if event.primitive == "sit" and not changed.get((WEARER, "sitting")):
            self._report(24, "sitting down did not record the seat")
        if event.primitive == "standup" and changed.get((WEARER, "sitting")) != "":
            self._report(24, "standing up did not clear `sitting`")
