"""Values over a whole log, after its end: the changes of a node as (step, value), the first at step 0.

This is where operators that look ahead are evaluated, and everything above them. The work is linear in the changes
of the arguments, not in the length of the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from iwreplay.checks.graph import Node
from iwreplay.checks.operators import AHEAD, FOLDS, POINTWISE

__all__ = ["Timeline", "timeline"]

Timeline = list[tuple[int, Any]]


def timeline(node: Node, *, steps: int, memo: dict[int, Timeline]) -> Timeline:
    """Changes of `node` over `steps` steps (at least one). `memo` is shared by the nodes of one evaluation."""
    found = memo.get(node.index)
    if found is None:
        found = memo[node.index] = _evaluate(node, steps=steps, memo=memo)
    return found


def _evaluate(node: Node, *, steps: int, memo: dict[int, Timeline]) -> Timeline:
    if not node.offline:
        assert node.history is not None, "only nodes below an operator that looks ahead are asked for their past"
        return node.history
    children = [timeline(c, steps=steps, memo=memo) for c in node.children]
    if node.op == "prev":
        return _late(children[0], steps=steps)
    if node.op in AHEAD:
        return _ahead(node.op, children)
    out: Timeline = []
    state = FOLDS[node.op][0] if node.op in FOLDS else None
    for step, values in _segments(children):
        if node.op in FOLDS:
            value = state = FOLDS[node.op][1](state, values)
        else:
            value = POINTWISE[node.op](values, node.param)
        if not out or value != out[-1][1]:
            out.append((step, value))
    return out


def _segments(children: Sequence[Timeline]) -> Iterator[tuple[int, list[Any]]]:
    """Stretches of steps in which no argument changes: (first step, values)."""
    changes: dict[int, list[tuple[int, Any]]] = {0: []}
    for i, child in enumerate(children):
        for step, value in child:
            changes.setdefault(step, []).append((i, value))
    values: list[Any] = [None] * len(children)
    for step in sorted(changes):
        for i, value in changes[step]:
            values[i] = value
        yield step, list(values)


def _late(child: Timeline, *, steps: int) -> Timeline:
    """One step later, false at first."""
    out: Timeline = [(0, False)]
    for step, value in child:
        if step + 1 < steps and value != out[-1][1]:
            out.append((step + 1, value))
    return out


def _ahead(op: str, children: Sequence[Timeline]) -> Timeline:
    """Backwards over the segments. Inside a segment the value is that of its last step: the arguments are the same
    at every step of it, and repeating them repeats the value."""
    state, rule = AHEAD[op]
    backwards: Timeline = []
    for step, values in reversed(list(_segments(children))):
        state = rule(state, values)
        backwards.append((step, state))
    out: Timeline = []
    for step, value in reversed(backwards):
        if not out or value != out[-1][1]:
            out.append((step, value))
    return out
