"""Heat: food cooks and burns by the seconds of heat it has had, pans and water get hot, hot things cool.

Properties of a class: `cook_s` and `burn_s` (heat seconds until cooked and burnt), `heat_rate` (of a source, heat
seconds a second), `warm_s` (until a pan is hot), `boil_s` (until water is hot), `cool_s`, `auto_off` (a kettle).
"""

from __future__ import annotations

from iwreplay.processes.support import ancestors
from iwreplay.processes.world import TICK_S, ProcessWorld, number_of
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import AttrValue
from iwreplay.world.geometry import exists, thing_of
from iwreplay.world.state import WorldState

__all__ = ["BURN_S", "COOK_S", "gives_heat", "heat_source_of", "tick_heating"]

#: defaults in heat seconds: from raw to cooked, from raw to burnt
COOK_S = 20.0
BURN_S = 60.0
#: heat seconds after which food is hot
_HOT_S = 5.0
_WARM_S = 5.0
_BOIL_S = 20.0
_COOL_S = 120.0
_CAUSE = "process:heating"


def gives_heat(state: WorldState, thing: str) -> bool:
    """A heat source that is on; a machine (oven, microwave) heats only while it runs."""
    owner = thing_of(state, thing)
    if "heat_source" not in owner.affordances:
        return False
    if "machine" in owner.affordances:
        return state.attrs[thing].get("running") is True
    return state.attrs[thing].get("on") is True


def heat_source_of(state: WorldState, thing: str) -> str:
    """Id of the nearest heat source that the thing rests on or in, through pans and trays; "" without one."""
    for parent in ancestors(state, thing):
        if parent.thing and "heat_source" in thing_of(state, parent.thing).affordances:
            return parent.thing
    return ""


def tick_heating(world: ProcessWorld) -> None:
    """One tick of heating, warming, boiling and cooling."""
    state = world.state
    for thing in state.scene.things:
        if not exists(state, thing.id):
            continue
        if "cookable" in thing.affordances:
            _food(world, thing)
        elif "cookware" in thing.affordances:
            _ware(world, thing)
        elif "heat_source" in thing.affordances and "liquid_container" in thing.affordances:
            _kettle(world, thing)
        elif "heat_source" in thing.affordances and "hot" in state.attrs[thing.id]:
            _source(world, thing)


def _food(world: ProcessWorld, food: Thing) -> None:
    state = world.state
    source = heat_source_of(state, food.id)
    attrs = state.attrs[food.id]
    if source and gives_heat(state, source):
        had = attrs.get("heat_s")
        heat_s = (float(had) if isinstance(had, int | float) else 0.0) + TICK_S * _rate(state, source)
        world.change(food.id, "heat_s", heat_s, cause=_CAUSE)
        if heat_s >= number_of(food, "burn_s", BURN_S):
            world.change(food.id, "cooked", "burnt", cause=_CAUSE)
        elif heat_s >= number_of(food, "cook_s", COOK_S):
            world.change(food.id, "cooked", "cooked", cause=_CAUSE)
            world.change(food.id, "browned", True, cause=_CAUSE)
        if heat_s >= _HOT_S:
            world.change(food.id, "hot", True, cause=_CAUSE)
    else:
        _cool(world, food)


def _rate(state: WorldState, source: str) -> float:
    return number_of(thing_of(state, source), "heat_rate", 1.0)


def _ware(world: ProcessWorld, ware: Thing) -> None:
    state = world.state
    source = heat_source_of(state, ware.id)
    if source and gives_heat(state, source):
        wet = _has_contents(state.attrs[ware.id].get("contains"))
        needed = number_of(ware, "boil_s", _BOIL_S) if wet else number_of(ware, "warm_s", _WARM_S)
        if _heated_for_s(world, ware.id, source) >= needed:
            world.change(ware.id, "hot", True, cause=_CAUSE)
    else:
        _cool(world, ware)


def _kettle(world: ProcessWorld, kettle: Thing) -> None:
    attrs = world.state.attrs[kettle.id]
    if attrs.get("on") is True and _has_contents(attrs.get("contains")):
        if world.now_s - world.clock.since_s(kettle.id, "on") >= number_of(kettle, "boil_s", _BOIL_S):
            world.change(kettle.id, "hot", True, cause=_CAUSE)
            if kettle.props.get("auto_off", True) is True:
                world.change(kettle.id, "on", False, cause=_CAUSE)
    elif attrs.get("on") is not True:
        _cool(world, kettle)


def _source(world: ProcessWorld, source: Thing) -> None:
    """A cooktop or oven is hot while it heats, and for a while afterwards."""
    if gives_heat(world.state, source.id):
        world.change(source.id, "hot", True, cause=_CAUSE)
    else:
        _cool(world, source)


def _heated_for_s(world: ProcessWorld, thing: str, source: str) -> float:
    """Seconds for which the source has been giving heat with the thing where it is."""
    since = max(world.clock.since_s(source, a) for a in ("on", "running"))
    at = thing
    for parent in ancestors(world.state, thing):
        since = max(since, world.clock.since_s(at, "parent"))
        if parent.thing == source:
            break
        at = parent.thing
    return world.now_s - since


def _cool(world: ProcessWorld, thing: Thing) -> None:
    """Hot things that get no heat are cold `cool_s` after they became hot or last left their heat."""
    if world.state.attrs[thing.id].get("hot") is not True:
        return
    changes = [world.clock.since_s(thing.id, a) for a in ("hot", "heat_s", "parent", "on", "running")]
    for parent in ancestors(world.state, thing.id):
        if parent.thing:
            changes.extend(world.clock.since_s(parent.thing, a) for a in ("parent", "on", "running"))
    if world.now_s - max(changes) >= number_of(thing, "cool_s", _COOL_S):
        world.change(thing.id, "hot", False, cause="process:cooling")


def _has_contents(contains: AttrValue) -> bool:
    return isinstance(contains, dict) and sum(contains.values()) > 0.0
