"""What a process may read and do, and the clock of attributes that tells it how long something has been so."""

from __future__ import annotations

from typing import Protocol

from iwreplay.events import Event, StateDelta
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import AttrValue
from iwreplay.world.state import WorldState

__all__ = ["TICK_S", "AttrClock", "ProcessWorld", "number_of"]

#: simulated seconds between two ticks of every process; exact in binary, so sums of it are exact
TICK_S = 0.5


class AttrClock:
    """Since when each attribute has had its present value: a fold over events, copied for a trial run."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], float] = {}

    def apply(self, event: Event) -> None:
        """Folds one event in."""
        if isinstance(event, StateDelta):
            self._since[(event.thing, event.attr)] = event.sim_time_s

    def since_s(self, thing: str, attr: str) -> float:
        """Simulated time of the last change, 0 when it never changed."""
        return self._since.get((thing, attr), 0.0)

    def copy(self) -> AttrClock:
        """An independent copy."""
        new = AttrClock()
        new._since = dict(self._since)
        return new


class ProcessWorld(Protocol):
    """The world as a process sees it. Every change it makes is an event with the cause "process:<name>"."""

    state: WorldState
    clock: AttrClock

    @property
    def now_s(self) -> float:
        """Simulated time."""
        ...

    def change(self, thing: str, attr: str, value: AttrValue, *, cause: str) -> None:
        """Sets an attribute when it differs."""
        ...

    def happened(
        self, what: str, *, obj: str = "", dest: str = "", tool: str = "", detail: dict[str, AttrValue] | None = None
    ) -> None:
        """A semantic happening."""
        ...


def number_of(thing: Thing, prop: str, default: float) -> float:
    """A numeric property of a thing's class, or `default`."""
    value = thing.props.get(prop)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
