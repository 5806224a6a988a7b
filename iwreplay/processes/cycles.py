"""Machines that run cycles: washers, ovens, microwaves. Each start has a new cycle id.

Properties: `cycle_s` (a cycle's length; without it the machine runs until it is stopped) and `program`: "wash" cleans
and wets what can be washed, "dry" dries, "heat" leaves it to the heating process.
"""

from __future__ import annotations

from iwreplay.processes.support import dependents
from iwreplay.processes.world import ProcessWorld
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import exists, thing_of

__all__ = ["start_cycle", "stop_cycle", "tick_cycles"]

_CAUSE = "process:cycle"


def start_cycle(world: ProcessWorld, machine: str, *, cause: str) -> None:
    """Sets running and a new cycle id."""
    had = world.state.attrs[machine].get("cycle")
    number = (had if isinstance(had, int) and not isinstance(had, bool) else 0) + 1
    world.change(machine, "cycle", number, cause=cause)
    world.change(machine, "running", True, cause=cause)
    world.happened("cycle_started", obj=machine, detail={"cycle": number})


def stop_cycle(world: ProcessWorld, machine: str, *, finished: bool, cause: str) -> None:
    """Ends the present cycle; only a finished one has its effect."""
    number = world.state.attrs[machine].get("cycle")
    world.change(machine, "running", False, cause=cause)
    world.happened("cycle_ended", obj=machine, detail={"cycle": number, "finished": finished})


def tick_cycles(world: ProcessWorld) -> None:
    """Ends the cycles whose time is over."""
    for thing in world.state.scene.things:
        cycle_s = thing.props.get("cycle_s")
        if (
            "machine" not in thing.affordances
            or not isinstance(cycle_s, int | float)
            or not exists(world.state, thing.id)
        ):
            continue
        running = world.state.attrs[thing.id].get("running") is True
        if running and world.now_s - world.clock.since_s(thing.id, "running") >= cycle_s:
            _finish(world, thing)


def _finish(world: ProcessWorld, machine: Thing) -> None:
    stop_cycle(world, machine.id, finished=True, cause=_CAUSE)
    world.change(machine.id, "on", False, cause=_CAUSE)
    program = machine.props.get("program")
    for inside in dependents(world.state, machine.id):
        if "wash" not in thing_of(world.state, inside).affordances:
            continue
        if program == "wash":
            world.change(inside, "clean", True, cause=_CAUSE)
            world.change(inside, "wet", True, cause=_CAUSE)
        elif program == "dry":
            world.change(inside, "wet", False, cause=_CAUSE)
            if world.state.attrs[inside].get("soaked") is True:
                world.change(inside, "soaked", False, cause=_CAUSE)
