"""Why a formula is true or false at the last step: the sequence numbers that made it so.

- attribute: the event that last changed it; relation, baseline, clock, route: the event at which its truth changed;
- event, once: the (first) event that matched; nothing when there was none;
- hist, gate, never_moved: the first violating event; nothing while there is none;
- since: the last event of its second argument, or the one that broke it; at_last: the last trigger;
- prev: the event at which its argument changed;
- and / or / quantifiers: the evidence of the arguments that decide (all of them when all agree);
- count, bag, sum, assign: the event that last changed a member or a value;
- bind: the binding event, and the evidence of the formula for the bound thing.
At most EVIDENCE_LIMIT numbers, the latest ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from iwreplay.checks.graph import Graph, Node
from iwreplay.checks.timeline import Timeline, timeline

__all__ = ["EVIDENCE_LIMIT", "Ending", "Final"]

EVIDENCE_LIMIT = 16


@dataclass(frozen=True, slots=True)
class Final:
    """A node at the last step."""

    value: Any
    #: sequence number at which the value began
    changed_seq: int
    #: sequence number at which it last became true, None when it never did
    rose_seq: int | None


class Ending:
    """The nodes of a graph as if the log ended here. Reading it changes nothing."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._timelines: dict[int, Timeline] = {}
        self._evidence: dict[int, frozenset[int]] = {}

    def final(self, node: Node) -> Final:
        """Value of the node at the last step, and since when."""
        if not node.offline:
            return Final(node.value, node.changed_seq, node.rose_seq)
        changes = timeline(node, steps=self._graph.steps, memo=self._timelines)
        step, value = changes[-1]
        rises = [s for s, v in changes[-2:] if v]
        first = self._graph.first_seq
        return Final(value, first + step, first + rises[-1] if rises else None)

    def evidence(self, node: Node) -> tuple[int, ...]:
        """Sorted sequence numbers, at most EVIDENCE_LIMIT."""
        return tuple(sorted(self._of(node))[-EVIDENCE_LIMIT:])

    def _of(self, node: Node) -> frozenset[int]:
        found = self._evidence.get(node.index)
        if found is None:
            found = frozenset(sorted(self._rule(node)(node, self.final(node)))[-EVIDENCE_LIMIT:])
            self._evidence[node.index] = found
        return found

    def _rule(self, node: Node) -> Callable[[Node, Final], frozenset[int]]:
        rules: dict[str, Callable[[Node, Final], frozenset[int]]] = {
            "constant": lambda n, f: frozenset(),
            "event": lambda n, f: frozenset((f.changed_seq,)) if f.value else frozenset(),
            "not": lambda n, f: self._of(n.children[0]),
            "and": lambda n, f: self._deciding(n, f, decides=False),
            "or": lambda n, f: self._deciding(n, f, decides=True),
            "once": lambda n, f: frozenset((f.changed_seq,)) if f.value else frozenset(),
            "hist": lambda n, f: frozenset() if f.value else frozenset((f.changed_seq,)),
            "prev": self._prev,
            "since": self._since,
            "at_last": lambda n, f: self._rise(n.children[0]),
            "ever": lambda n, f: self._of(n.children[0]),
            "always": lambda n, f: self._of(n.children[0]),
            "until": lambda n, f: self._of(n.children[1]),
            "select": self._select,
            "select_any": self._select_any,
        }
        return rules.get(node.role, self._inputs)

    def _inputs(self, node: Node, final: Final) -> frozenset[int]:
        if not node.children:
            return frozenset((final.changed_seq,))
        return frozenset((max(self.final(c).changed_seq for c in node.children),))

    def _deciding(self, node: Node, final: Final, *, decides: bool) -> frozenset[int]:
        out: frozenset[int] = frozenset()
        for child in node.children:
            if bool(final.value) is not decides or bool(self.final(child).value) is decides:
                out |= self._of(child)
        return out

    def _rise(self, node: Node) -> frozenset[int]:
        rose = self.final(node).rose_seq
        return frozenset() if rose is None else frozenset((rose,))

    def _prev(self, node: Node, final: Final) -> frozenset[int]:
        first = self._graph.first_seq
        return frozenset((max(first, final.changed_seq - 1),))

    def _since(self, node: Node, final: Final) -> frozenset[int]:
        if final.value:
            return self._rise(node.children[1])
        return frozenset() if final.rose_seq is None else frozenset((final.changed_seq,))

    def _select(self, node: Node, final: Final) -> frozenset[int]:
        bound = self.final(node.children[0])
        if not bound.value:
            return frozenset()
        return frozenset((bound.changed_seq,)) | self._of(node.children[1 + node.param[bound.value]])

    def _select_any(self, node: Node, final: Final) -> frozenset[int]:
        out: frozenset[int] = frozenset()
        for thing in sorted(self.final(node.children[0]).value):
            body = node.children[1 + node.param[thing]]
            if not final.value or self.final(body).value:
                out |= self._of(body)
        return out
