"""The planner of each of the 36 primitives, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable

from iwreplay.actions import (
    cleaning,
    devices,
    food,
    hand,
    liquids,
    locomotion,
    looking,
    openings,
    phone,
    placing,
    reading,
)
from iwreplay.actions.plan import Plan
from iwreplay.actions.scope import Scope
from iwreplay.actions.table import PRIMITIVES

__all__ = ["PLANNERS", "planner_of"]

PLANNERS: tuple[tuple[str, Callable[[Scope], Plan]], ...] = (
    ("navigate_to", locomotion.navigate_to),
    ("forward", locomotion.forward),
    ("turn", locomotion.turn),
    ("sit", locomotion.sit),
    ("standup", locomotion.standup),
    ("face", looking.face),
    ("look_at", looking.look_at),
    ("scan", looking.scan),
    ("read", reading.read),
    ("touch", hand.touch),
    ("wait", hand.wait),
    ("grab", hand.grab),
    ("put_on", placing.put_on),
    ("put_inside", placing.put_inside),
    ("drop", hand.drop),
    ("discard", placing.discard),
    ("push", hand.push),
    ("wear", hand.wear),
    ("open", openings.open_),
    ("close", openings.close),
    ("switch_on", devices.switch_on),
    ("switch_off", devices.switch_off),
    ("lock", openings.lock),
    ("plug", devices.plug),
    ("cut", food.cut),
    ("cook", food.cook),
    ("plate", food.plate),
    ("pour", liquids.pour),
    ("fill", liquids.fill),
    ("empty", liquids.empty),
    ("wash", cleaning.wash),
    ("wipe", cleaning.wipe),
    ("sweep", cleaning.sweep),
    ("soak", liquids.soak),
    ("answer_phone", phone.answer_phone),
    ("hang_up", phone.hang_up),
)

assert [name for name, _ in PLANNERS] == [row.canonical for row in PRIMITIVES]

_BY_NAME = dict(PLANNERS)


def planner_of(canonical: str) -> Callable[[Scope], Plan]:
    """The planner of a canonical primitive."""
    return _BY_NAME[canonical]
