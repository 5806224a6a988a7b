"""What goes on by itself while simulated time passes: heat, cycles, water, phones; and the state they share.

A process advances only in ticks of `TICK_S` of simulated time, and keeps no memory of its own: it reads the folded
state and the clock of its attributes, so a replay or a restored state goes on exactly as before.
"""

from __future__ import annotations

from collections.abc import Callable

from iwreplay.processes.cycles import tick_cycles
from iwreplay.processes.heating import tick_heating
from iwreplay.processes.plumbing import tick_filling
from iwreplay.processes.ringing import tick_ringing
from iwreplay.processes.world import TICK_S, AttrClock, ProcessWorld

__all__ = ["PROCESSES", "TICK_S", "AttrClock", "ProcessWorld", "tick_all"]

#: name -> one tick of it, in the order in which they run
PROCESSES: tuple[tuple[str, Callable[[ProcessWorld], None]], ...] = (
    ("heating", tick_heating),
    ("cycle", tick_cycles),
    ("filling", tick_filling),
    ("ringing", tick_ringing),
)


def tick_all(world: ProcessWorld) -> None:
    """One tick of every process."""
    for _, tick in PROCESSES:
        tick(world)
