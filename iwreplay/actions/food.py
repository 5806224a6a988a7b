"""Cutting, cooking and plating."""

from __future__ import annotations

from dataclasses import replace

from iwreplay.actions.grip import puts_down
from iwreplay.actions.placing import rests_there
from iwreplay.actions.plan import SETTLE_S, Effect, Plan, Run
from iwreplay.actions.refusal import refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.actions.spots import Spot, free_spots, reachable_spot
from iwreplay.pose import Pose, compose, inverse, normalised
from iwreplay.processes.heating import COOK_S, gives_heat, heat_source_of
from iwreplay.processes.support import parent_of
from iwreplay.processes.world import TICK_S, number_of
from iwreplay.scene.model import Thing
from iwreplay.world.geometry import grip_point, thing_of

__all__ = ["cook", "cut", "plate"]

_CUT_S = 2.0
#: after the food is done, so that the tick that makes it cooked falls inside
_DONE_S = 2 * TICK_S


def cut(scope: Scope) -> Plan:
    """With the knife in the hand, on a support: what was hidden inside shows."""
    food = scope.thing("food")
    knife = scope.tool("cutter")
    scope.need_affordance(food, "cuttable", f"cut {scope.the(food.id)}")
    if knife is None:
        raise refuse("NO_TOOL", f"I need a knife in my hand to cut {scope.the(food.id)}.", blocker=food.id)
    if scope.state.attr(food.id, "cut") is True:
        raise refuse("ALREADY", sentence(f"{scope.the(food.id)} is cut already."), blocker=food.id)
    parent = parent_of(scope.state, food.id)
    if parent.how not in ("on", "in"):
        raise refuse(
            "NO_AFFORDANCE", f"{sentence(scope.the(food.id))} has to lie on something to be cut.", blocker=food.id
        )
    script = scope.script()
    point = grip_point(food, scope.state)
    end = (_cuts(food.id, knife.id, parent.thing),)
    scope.use(script, food.id, (point[0], point[1], point[2] + 0.05), hold_s=_CUT_S, end=end)
    return Plan(steps=tuple(script.steps), obj=food.id, tool=knife.id)


def _cuts(food: str, knife: str, board: str) -> Effect:
    def effect(run: Run) -> None:
        run.set(food, "cut", True)
        if run.state.attr(food, "moldy") is True:
            run.set(food, "mold_exposed", True)
        _soils(run, knife)
        if board in run.state.attrs and "wash" in thing_of(run.state, board).affordances:
            _soils(run, board)
        run.happened("cut", obj=food, tool=knife, detail={"on": board})

    return effect


def _soils(run: Run, thing: str) -> None:
    run.set(thing, "used", True)
    if "clean" in run.state.attrs[thing]:
        run.set(thing, "clean", False)


def cook(scope: Scope) -> Plan:
    """Attends the food while it is heated: until it is done, or for a given time."""
    food = scope.thing("food")
    scope.need_affordance(food, "cookable", f"cook {scope.the(food.id)}")
    source = heat_source_of(scope.state, food.id)
    if not source:
        raise refuse(
            "DEVICE_OFF", sentence(f"{scope.the(food.id)} is not on or in anything that heats."), blocker=food.id
        )
    if not gives_heat(scope.state, source):
        running = "running" if "machine" in thing_of(scope.state, source).affordances else "on"
        raise refuse("DEVICE_OFF", sentence(f"{scope.the(source)} is not {running}."), blocker=source)
    had = scope.state.attr(food.id, "heat_s")
    rate = number_of(thing_of(scope.state, source), "heat_rate", 1.0)
    missing = (number_of(food, "cook_s", COOK_S) - (float(had) if isinstance(had, int | float) else 0.0)) / rate
    if not scope.given("duration") and missing <= 0.0:
        raise refuse("ALREADY", sentence(f"{scope.the(food.id)} is cooked already."), blocker=food.id)
    script = scope.script()
    script.walk(scope.near_route(source, grip_point(food, scope.state)))
    script.look(scope.state.poses[food.id][:3])
    script.hold(scope.number("duration", missing + _DONE_S))
    return Plan(steps=tuple(script.steps), obj=food.id, dest=source)


def plate(scope: Scope) -> Plan:
    """Moves food onto a plate: with the tool in the hand, with the hand when it is cold, or from the hand."""
    food, dish = scope.thing("food"), scope.thing("plate")
    scope.need_affordance(dish, "plate", f"plate anything on {scope.the(dish.id)}")
    if not {"edible", "cookable", "cuttable"} & set(food.affordances):
        raise scope.no_affordance(food.id, f"plate {scope.the(food.id)}; it is not food")
    if food.id == dish.id:
        raise scope.no_affordance(food.id, f"plate {scope.the(food.id)} on itself")
    scope.need_uncovered(food.id)
    scope.need_uncovered(dish.id)
    tool = _plating_tool(scope, food)
    none = sentence(f"there is no space on {scope.the(dish.id)} for {scope.the(food.id)}.")
    script = scope.script()
    if scope.held == food.id:
        spot, approach = reachable_spot(scope, food, free_spots(scope, food, dish, how="on"), owner=dish.id, none=none)
        script.go_and_reach(approach, end=(puts_down(food.id, spot.pose, spot.parent), _plated(food.id, dish.id, "")))
    else:
        script.go_and_reach(scope.approach_grip(food))
        hand = script.right_hand()
        found = compose(inverse(hand), scope.state.poses[food.id])
        script.at_end(_lifts(food.id, (*found[:3], *normalised(found[3:]))))
        script.retract(holding=True)
        there = _standing_there(scope, script.body)
        spot, approach = reachable_spot(there, food, free_spots(scope, food, dish, how="on"), owner=dish.id, none=none)
        script.go_and_reach(approach, end=(_lays(food.id, spot), _plated(food.id, dish.id, tool)))
    script.retract(holding=bool(tool))
    script.hold(SETTLE_S)
    return Plan(
        steps=tuple(script.steps), obj=food.id, dest=dish.id, tool=tool, verify=rests_there(scope, food.id, spot.parent)
    )


def _standing_there(scope: Scope, body: tuple[float, ...]) -> Scope:
    """The same scope with the wearer where the script has brought it."""
    state = scope.state.copy()
    state.body = body
    return replace(scope, state=state)


def _plating_tool(scope: Scope, food: Thing) -> str:
    """Id of the tool that moves the food, "" for the hand. Raises RefusedError with NO_TOOL or HAND_FULL."""
    if scope.held == food.id:
        return ""
    tool = scope.tool("server_tool")
    if tool is not None:
        return tool.id
    if scope.state.attr(food.id, "hot") is True:
        raise refuse(
            "NO_TOOL", sentence(f"{scope.the(food.id)} is hot; I need a spatula or tongs in my hand."), blocker=food.id
        )
    scope.need_free_hand()
    return ""


def _lifts(food: str, hand_from_food: Pose) -> Effect:
    def effect(run: Run) -> None:
        run.hold(food, hand_from_food)

    return effect


def _lays(food: str, spot: Spot) -> Effect:
    def effect(run: Run) -> None:
        run.let_go(food)
        run.put(food, spot.pose)
        run.set(food, "parent", spot.parent)

    return effect


def _plated(food: str, dish: str, tool: str) -> Effect:
    def effect(run: Run) -> None:
        run.set(food, "plated_on", dish)
        if tool:
            run.set(tool, "used", True)

    return effect
