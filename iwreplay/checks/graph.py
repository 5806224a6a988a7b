"""The incremental evaluator: a graph of operator instances in which only changes travel.

Every instance (node) has a value at the present step. A step sets the leaves that changed and lets the changes travel
upwards in order of creation, which is a topological order. A node below an operator that looks ahead keeps the steps
at which it changed, and nothing else; a node above one has no value until it is asked for (`timeline`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from iwreplay.checks.language import MAX_NODES
from iwreplay.checks.operators import AHEAD, FOLDS, POINTWISE
from iwreplay.errors import CheckError

__all__ = ["Graph", "Node"]


class Node:
    """One operator instance; `op` "leaf" is set from outside, "prev" is one step late, the rest are of `operators`."""

    __slots__ = ("changed_seq", "children", "history", "index", "latched", "offline", "op", "param", "parents",
                 "queued", "role", "rose_seq", "value")  # fmt: skip

    def __init__(self, op: str, children: Sequence[Node], param: Any, *, index: int, value: Any, role: str) -> None:
        self.op = op
        self.children = tuple(children)
        self.param = param
        self.index = index
        self.value: Any = value
        #: what a leaf reads: "attr", "rel", "event", ...; the operator's own name otherwise
        self.role = role
        self.parents: list[Node] = []
        #: looks ahead, itself or below
        self.offline: bool = op in AHEAD or any(c.offline for c in children)
        #: sequence number at which the present value began
        self.changed_seq = 0
        #: sequence number at which it last became true (or non-empty), None when it never did
        self.rose_seq: int | None = None
        #: (step, value) of every change, kept only below an operator that looks ahead
        self.history: list[tuple[int, Any]] | None = None
        self.latched: Any = False
        self.queued = False


class Graph:
    """Nodes, interned: the same formula in two checks is evaluated once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        #: steps fed so far
        self.steps = 0
        self.first_seq = 0
        self.seq = 0
        self._interned: dict[Any, Node] = {}
        self._heap: list[int] = []
        self._late: list[Node] = []

    def unfed_copy(self) -> Graph:
        """The same nodes, before the first step. AssertionError after it."""
        assert not self.steps, "a graph that was fed is not what it was built as"
        new = Graph()
        nodes = new.nodes
        for node in self.nodes:
            copy = Node.__new__(Node)
            copy.op, copy.param, copy.index, copy.role = node.op, node.param, node.index, node.role
            copy.value, copy.offline = node.value, node.offline
            copy.children = tuple([nodes[c.index] for c in node.children])
            copy.changed_seq, copy.rose_seq, copy.latched, copy.queued = 0, None, False, False
            copy.history = None if node.history is None else []
            copy.parents = []
            nodes.append(copy)
        for node in self.nodes:
            nodes[node.index].parents = [nodes[p.index] for p in node.parents]
        new._interned = {key: nodes[node.index] for key, node in self._interned.items()}
        return new

    def leaf(self, role: str, param: Any, value: Any) -> Node:
        """The leaf of that role and parameter; made with `value` when it is new."""
        return self._intern("leaf", (), param, role=role, value=value)

    def node(self, op: str, children: Sequence[Node], param: Any = None) -> Node:
        """The instance of `op` over `children`; constants and single arguments are folded away."""
        if op in ("and", "or"):
            children = _pruned(op, children)
            if len(children) == 1:
                return children[0]
            if not children:
                return self.constant(op == "and")
        if op == "not" and children[0].role == "constant":
            return self.constant(not children[0].value)
        value = FOLDS[op][0] if op in FOLDS else False
        return self._intern(op, children, param, role=op, value=value)

    def constant(self, value: bool) -> Node:
        """A node that never changes."""
        return self._intern("leaf", (), value, role="constant", value=value)

    def _intern(self, op: str, children: Sequence[Node], param: Any, *, role: str, value: Any) -> Node:
        key = (role, tuple(c.index for c in children), _hashable(param))
        found = self._interned.get(key)
        if found is not None:
            return found
        if len(self.nodes) >= MAX_NODES:
            raise CheckError(f"the task's formulas expand to more than {MAX_NODES} instances; use narrower selectors")
        node = Node(op, children, param, index=len(self.nodes), value=value, role=role)
        self.nodes.append(node)
        self._interned[key] = node
        if node.offline:
            for child in node.children:
                if not child.offline and child.history is None:
                    child.history = []
        else:
            for child in node.children:
                child.parents.append(node)
        return node

    def begin(self, seq: int) -> None:
        """A new step; what was true one step ago reaches the `prev` nodes."""
        self.seq = seq
        for node in self._late:
            self._queue(node)
        self._late.clear()

    @property
    def resting(self) -> bool:
        """Nothing changes at a step at which no leaf does."""
        return not self._late

    def pass_over(self, seq: int, *, steps: int) -> None:
        """So many steps at which nothing changes, the last one at event `seq`."""
        self.seq = seq
        self.steps += steps

    def set(self, leaf: Node, value: Any) -> None:
        """Gives a leaf its value at this step."""
        if value != leaf.value:
            leaf.value = value
            if self.steps:
                self._note(leaf)

    def settle(self) -> None:
        """Ends the step: changes travel."""
        if not self.steps:
            self._settle_first()
        else:
            heap, nodes = self._heap, self.nodes
            while heap:
                node = nodes[heapq.heappop(heap)]
                node.queued = False
                value = self._compute(node)
                if value != node.value:
                    node.value = value
                    self._note(node)
        self.steps += 1

    def _settle_first(self) -> None:
        self.first_seq = self.seq
        for node in self.nodes:
            if node.offline:
                continue
            if node.op != "leaf":
                node.value = self._compute(node)
            node.changed_seq = self.seq
            node.rose_seq = self.seq if node.value else None
            if node.history is not None:
                node.history.append((0, node.value))

    def _compute(self, node: Node) -> Any:
        op, children = node.op, node.children
        if op == "and":
            return all(c.value for c in children)
        if op == "or":
            return any(c.value for c in children)
        if op == "prev":
            value, node.latched = node.latched, children[0].value
            if value != node.latched:
                self._late.append(node)
            return value
        values = [c.value for c in children]
        if op in FOLDS:
            return FOLDS[op][1](node.value, values)
        return POINTWISE[op](values, node.param)

    def _note(self, node: Node) -> None:
        node.changed_seq = self.seq
        if node.value:
            node.rose_seq = self.seq
        if node.history is not None:
            node.history.append((self.steps, node.value))
        for parent in node.parents:
            self._queue(parent)

    def _queue(self, node: Node) -> None:
        if not node.queued:
            node.queued = True
            heapq.heappush(self._heap, node.index)


def _pruned(op: str, children: Sequence[Node]) -> tuple[Node, ...]:
    """Without the neutral constants; the deciding constant alone when there is one; each argument once."""
    decides = op == "or"
    kept: dict[int, Node] = {}
    for c in children:
        if c.role == "constant":
            if c.value is decides:
                return (c,)
            continue
        kept[c.index] = c
    return tuple(kept.values())


def _hashable(param: Any) -> Any:
    if isinstance(param, dict):
        return ("dict", tuple((k, _hashable(v)) for k, v in sorted(param.items())))
    if isinstance(param, list | tuple):
        return tuple(_hashable(p) for p in param)
    return (type(param).__name__, param) if isinstance(param, bool | int | float) else param
