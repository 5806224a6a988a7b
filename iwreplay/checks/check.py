"""A formula that was accepted for a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from iwreplay.checks.derive import NO_RELATIONS
from iwreplay.checks.graph import Graph
from iwreplay.checks.ground import Grounding
from iwreplay.checks.index import SceneIndex
from iwreplay.checks.validate import Validator
from iwreplay.checks.watch import Watch
from iwreplay.errors import CheckError
from iwreplay.scene.model import CompiledScene

__all__ = ["Check", "compile_check"]


@dataclass(frozen=True, slots=True)
class Check:
    """An accepted formula; evaluate it with a `Monitor`."""

    task: str
    id: str
    formula: Sequence[Any]
    #: it has an operator that looks ahead, so that its value may change with what follows
    looks_ahead: bool
    #: things it names, by id, class or variable, in the order of naming
    things: tuple[str, ...]
    index: SceneIndex = field(repr=False, compare=False)


def compile_check(
    formula: Sequence[Any],
    *,
    task: str,
    check: str,
    scene: CompiledScene | SceneIndex,
    scripts: tuple[str, ...] | None = None,
    live: bool = False,
) -> Check:
    """Accepts `formula` for a scene.

    `task` and `check` are names for messages. `scripts` are the ids of the task's scripted events (None: not
    looked up). `live`: it will be asked for its value so far (a trigger), so that it may not look ahead.
    Raises CheckError naming task, check and the path inside the formula.
    """
    index = scene if isinstance(scene, SceneIndex) else SceneIndex(scene)
    validator = Validator(task=task, check=check, index=index, scripts=scripts, live=live)
    validator.formula(formula, (), {})
    graph = Graph()
    try:
        Grounding(graph, Watch(graph, index, NO_RELATIONS), index).formula(formula, {})
    except CheckError as error:
        raise CheckError(error.reason, task=task, check=check) from error
    return Check(
        task=task,
        id=check,
        formula=formula,
        looks_ahead=validator.looks_ahead,
        things=tuple(validator.things),
        index=index,
    )
