"""What each operator computes, once, for the live evaluation and for the one after the end.

Three kinds. Pointwise: the value at a step depends on the arguments at that step. Fold: it depends on them and on
its own value one step earlier, and repeating the same arguments repeats the value, so that only changes need work.
Ahead: it depends on the arguments and on its own value one step later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from iwreplay.checks.language import EPSILON, compare

__all__ = ["AHEAD", "FOLDS", "POINTWISE", "bag_key"]

Values = Sequence[Any]


def bag_key(value: Any) -> tuple[str, Any]:
    """A value as an item of a multiset: numbers equal within the language's tolerance fall together."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | float):
        return ("number", round(value / EPSILON))
    return ("none", "") if value is None else ("str", value)


def _bag_of(pairs: Values) -> tuple[tuple[str, Any], ...]:
    """Multiset of (is a member, value, is a member, value, ...), sorted."""
    return tuple(sorted(bag_key(pairs[i + 1]) for i in range(0, len(pairs), 2) if pairs[i]))


def _sum(values: Values, param: Any) -> bool:
    total = 0.0
    for i in range(0, len(values), 2):
        if values[i] and isinstance(values[i + 1], int | float):
            total += values[i + 1]
    return compare(total, param[0], param[1])


def _assign(values: Values, param: Any) -> bool:
    """`param`: (values a cell, the wanted bags sorted). Equality of multisets is an equivalence, so some permutation
    of the bags fits the cells exactly when the sorted lists are equal."""
    width, wanted = param
    found = sorted(_bag_of(values[i : i + width]) for i in range(0, len(values), width))
    return bool(tuple(found) == wanted)


def _select(values: Values, param: Any) -> bool:
    """`values`: the bound id, then the formula for each id of `param`."""
    bound = values[0]
    return bool(bound) and bool(values[1 + param[bound]])


def _select_any(values: Values, param: Any) -> bool:
    return any(values[1 + param[x]] for x in values[0])


#: name -> (argument values, parameter) -> value
POINTWISE: dict[str, Callable[[Values, Any], Any]] = {
    "not": lambda v, _: not v[0],
    "and": lambda v, _: all(v),
    "or": lambda v, _: any(v),
    "compare": lambda v, p: compare(v[0], p[0], p[1]),
    "count": lambda v, p: compare(sum(1 for x in v if x), p[0], p[1]),
    "bag": lambda v, p: _bag_of(v) == p,
    "sum": _sum,
    "assign": _assign,
    "select": _select,
    "select_any": _select_any,
}

#: name -> (value before the first step, (value one step earlier, argument values) -> value)
FOLDS: dict[str, tuple[Any, Callable[[Any, Values], Any]]] = {
    "once": (False, lambda s, v: s or v[0]),
    "hist": (True, lambda s, v: s and v[0]),
    "since": (False, lambda s, v: v[1] or (v[0] and s)),
    "at_last": (False, lambda s, v: v[1] if v[0] else s),
    "bound_first": ("", lambda s, v: s or v[0]),
    "bound_last": ("", lambda s, v: v[0] or s),
    "bound_any": (frozenset(), lambda s, v: s | {v[0]} if v[0] else s),
}

#: name -> (value after the last step, (value one step later, argument values) -> value)
AHEAD: dict[str, tuple[Any, Callable[[Any, Values], Any]]] = {
    "ever": (False, lambda s, v: v[0] or s),
    "always": (True, lambda s, v: v[0] and s),
    "until": (False, lambda s, v: v[1] or (v[0] and s)),
}
