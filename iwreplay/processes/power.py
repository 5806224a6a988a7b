"""Mains power: sockets, strips and plugs.

A device with the affordance `plug` has power while its plug is in a socket that has power; one without is wired in,
and has power unless its attribute `powered` is false. One with the attribute `charged` runs on its battery, wherever it
is, until that is empty (false); then it needs its plug. A strip is a socket with a plug. Properties: `amps` (or
`watts`) of a device, `max_a` of a socket or strip, `outlets` (how many plugs it takes), `cord_m`.
"""

from __future__ import annotations

from iwreplay.processes.cycles import stop_cycle
from iwreplay.processes.world import ProcessWorld, number_of
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import exists, thing_of
from iwreplay.world.state import WorldState

__all__ = [
    "has_power",
    "is_cordless",
    "load_a",
    "on_battery",
    "overloaded_by",
    "plugged_into",
    "plugs_free",
    "refresh_power",
    "socket_of",
]

_VOLTS = 230.0
_DEPTH = 8


def socket_of(state: WorldState, device: str) -> str:
    """Id of the socket that the device's plug is in, or ""."""
    value = state.attrs[device].get("plugged")
    return value if isinstance(value, str) and value in state.poses else ""


def on_battery(state: WorldState, device: str) -> bool:
    """Whether it has a battery that is not empty."""
    return state.attrs[device].get("charged") is True


def has_power(state: WorldState, device: str) -> bool:
    """Whether switching it on would do anything."""
    if on_battery(state, device):
        return True
    at = device
    for _ in range(_DEPTH):
        if state.attrs[at].get("powered") is False and "plug" not in thing_of(state, at).affordances:
            return False
        if "plug" not in thing_of(state, at).affordances:
            return True
        at = socket_of(state, at)
        if not at:
            return False
    return False


def is_cordless(device: Thing) -> bool:
    """Lifted off a base or a cable that stays plugged in: a kettle, or anything with the property `cordless`."""
    return device.props.get("cordless", "liquid_container" in device.affordances) is True


def plugged_into(state: WorldState, socket: str) -> tuple[str, ...]:
    """Ids of the devices whose plugs are in the socket, in scene order."""
    return tuple(
        t.id
        for t in state.scene.things
        if "plug" in t.affordances and exists(state, t.id) and socket_of(state, t.id) == socket
    )


def plugs_free(state: WorldState, socket: str) -> int:
    """How many more plugs it takes."""
    return int(number_of(thing_of(state, socket), "outlets", 1.0)) - len(plugged_into(state, socket))


def _own_a(device: Thing) -> float:
    return number_of(device, "amps", number_of(device, "watts", 0.0) / _VOLTS)


def load_a(state: WorldState, thing: str, *, depth: int = 0) -> float:
    """Amperes of a device, or of everything on a socket or strip: the rated current of all that is plugged in."""
    total = _own_a(thing_of(state, thing))
    if depth < _DEPTH and "socket" in thing_of(state, thing).affordances:
        total += sum(load_a(state, d, depth=depth + 1) for d in plugged_into(state, thing))
    return round(total, 6)


def overloaded_by(state: WorldState, device: str, socket: str) -> str:
    """Id of the socket or strip, from `socket` up to the wall, that the device's load would take above its rating."""
    added = load_a(state, device)
    at = socket
    for _ in range(_DEPTH):
        limit = thing_of(state, at).props.get("max_a")
        if isinstance(limit, int | float) and load_a(state, at) + added > limit + 1e-9:
            return at
        at = socket_of(state, at)
        if not at:
            return ""
    return ""


def refresh_power(world: ProcessWorld, *, cause: str) -> None:
    """Brings `powered` and `load_a` up to date after a plug was moved; devices that lose power go off."""
    state = world.state
    for thing in state.scene.things:
        if not exists(state, thing.id):
            continue
        if "socket" in thing.affordances and "load_a" in state.attrs[thing.id]:
            world.change(thing.id, "load_a", load_a(state, thing.id), cause=cause)
        if "plug" not in thing.affordances:
            continue
        powered = has_power(state, thing.id)
        world.change(thing.id, "powered", powered, cause=cause)
        if not powered and state.attrs[thing.id].get("on") is True:
            if state.attrs[thing.id].get("running") is True:
                stop_cycle(world, thing.id, finished=False, cause=cause)
            world.change(thing.id, "on", False, cause=cause)
