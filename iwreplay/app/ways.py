"""The ways of playing a task that its file tells beside its oracle: a near miss, and what the Human does alone.

`tasks check` plays them all; `run --assistant` plays one by its name.
"""

from __future__ import annotations

import msgspec

from iwreplay.errors import UnknownNameError
from iwreplay.loop import limits_of
from iwreplay.ports import Assistant
from iwreplay.taskpack.model import OracleStep, TaskPack
from recorder.assistants import OracleAssistant

__all__ = ["NEAR_MISS", "NO_HELP", "left_alone", "near_miss_named", "nobody"]

#: names of Assistants: what follows the colon is the id of a near miss
NEAR_MISS, NO_HELP = "near-miss:", "no-help"


def near_miss_named(task: TaskPack, miss_id: str) -> Assistant:
    """Speaks that near miss of the task. UnknownNameError names those that the task has."""
    for miss in task.near_misses:
        if miss.id == miss_id:
            return OracleAssistant(miss.oracle, name=f"{NEAR_MISS}{miss.id}")
    known = tuple(m.id for m in task.near_misses)
    raise UnknownNameError(f"near miss of task {task.id}", miss_id, known=known, hint="" if known else "It has none.")


def left_alone(task: TaskPack) -> TaskPack:
    """The task with a Human who does by itself what the no-help sequence says; without one, what it intends anyway."""
    human = msgspec.structs.replace(task.human, intent=task.no_help or task.human.intent)
    return msgspec.structs.replace(task, human=human)


def nobody(task: TaskPack) -> Assistant:
    """Silent up to the task's limit of turns, under a name of its own: its episodes are no mere silence."""
    return OracleAssistant((OracleStep(),) * limits_of(task).turns, name=NO_HELP)
