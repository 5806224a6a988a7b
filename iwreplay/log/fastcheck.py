"""Is an event in canonical form already? One function a kind, compiled from its annotations; it gives the event's row.

A check may refuse a good event (the gate then looks closer) and never accepts one whose JSON is not canonical: types
are exact, numbers finite and in range, literals among the allowed ones. Text is not looked into: a lone surrogate
makes the encoder itself raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import inspect as mi

from iwreplay.canonical import VALUES_TYPES
from iwreplay.events import EVENT_TYPES, Event
from iwreplay.log.envelope import ROW_SOURCES, Row

__all__ = ["FAST_ROWS", "PLAIN_ROWS"]

#: integers of one machine digit, which Python compares at once; a larger one takes the slow way
_INT_MAX = 2**30 - 1

#: tests of one scalar `{v}`, the cheapest and most common first
_SCALARS: dict[type[mi.Type], str] = {
    mi.StrType: "type({v}) is str",
    mi.NoneType: "{v} is None",
    mi.BoolType: "type({v}) is bool",
    mi.IntType: f"type({{v}}) is int and -{_INT_MAX} <= {{v}} and {{v}} <= {_INT_MAX}",
    # an infinity or NaN less itself is NaN
    mi.FloatType: "type({v}) is float and {v} - {v} == 0.0",
}
#: those that look at the value once
_READ_ONCE = frozenset({mi.StrType, mi.NoneType, mi.BoolType, mi.LiteralType})
_ORDER = {t: i for i, t in enumerate(_SCALARS)}


class _NoCheckError(Exception):
    """A type that has no fast check: a Struct within an event."""


class _Source:
    """Statements that return None unless a value is in canonical form."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        #: what the statements refer to: the sets of literals
        self.names: dict[str, Any] = {}
        self._variables = 0

    def check(self, t: mi.Type, v: str, indent: str) -> None:
        """Adds the statements for the value of type `t` in variable `v`."""
        add = self.lines.append
        if (scalar := self._scalar(t, v)) is not None:
            add(f"{indent}if not ({scalar}): return None")
        elif isinstance(t, mi.UnionType):
            self._union(t, v, indent)
        elif isinstance(t, mi.VarTupleType):
            item = self._variable()
            add(f"{indent}if type({v}) is not tuple: return None")
            add(f"{indent}for {item} in {v}:")
            self.check(t.item_type, item, indent + " ")
        elif isinstance(t, mi.TupleType) and {type(x) for x in t.item_types} == {mi.FloatType}:
            # written out: poses are in every frame event. A wrong length makes the unpacking raise ValueError
            items = [self._variable() for _ in t.item_types]
            add(f"{indent}if type({v}) is not tuple: return None")
            add(f"{indent}{', '.join(items)}, = {v}")
            types = " and ".join(f"type({x}) is float" for x in items)
            add(f"{indent}if not ({types}): return None")
            # finite when their sum is; a sum that overflows takes the slow way
            add(f"{indent}{items[0]} = {' + '.join(items)}")
            self.check(mi.FloatType(), items[0], indent)
        elif isinstance(t, mi.DictType):
            key, item = self._variable(), self._variable()
            add(f"{indent}if type({v}) is not dict: return None")
            add(f"{indent}for {key}, {item} in {v}.items():")
            self.check(t.key_type, key, indent + " ")
            self.check(t.value_type, item, indent + " ")
        else:
            raise _NoCheckError

    def _union(self, t: mi.UnionType, v: str, indent: str) -> None:
        """A union of scalars and at most one container, which is a dict wherever events have one."""
        containers = [x for x in t.types if self._scalar(x, v) is None]
        if len(containers) != 1 or not isinstance(containers[0], mi.DictType):
            raise _NoCheckError
        self.lines.append(f"{indent}if type({v}) is dict:")
        self.check(containers[0], v, indent + " ")
        rest = mi.UnionType(tuple(x for x in t.types if x not in containers))
        self.lines.append(f"{indent}elif not ({self._scalar(rest, v)}): return None")

    def _scalar(self, t: mi.Type, v: str) -> str | None:
        """An expression that is true of a good scalar, or None when the type is more than that."""
        if type(t) in _SCALARS:
            return _SCALARS[type(t)].replace("{v}", v)
        if isinstance(t, mi.LiteralType):
            name = f"literals_{len(self.names)}"
            self.names[name] = frozenset(t.values)
            return f"{v} in {name}"
        if isinstance(t, mi.UnionType):
            types = sorted(t.types, key=lambda x: _ORDER.get(type(x), len(_ORDER)))
            parts = [self._scalar(x, v) for x in types]
            return None if None in parts else " or ".join(f"({p})" for p in parts)
        return None

    def _variable(self) -> str:
        self._variables += 1
        return f"x{self._variables}"


def _compile(cls: type[Event]) -> Callable[[Any], Row | None] | None:
    info = mi.type_info(cls)
    assert isinstance(info, mi.StructType)
    source = _Source()
    # the builtins are bound as arguments: a check looks them up dozens of times
    source.lines.append("def row(e, type=type, str=str, int=int, float=float):")
    for f in info.fields:
        if f.name == "values" and cls in VALUES_TYPES:
            # the array is no JSON; the gate looks at it
            continue
        try:
            if not f.required and f.default is f.default_factory is msgspec.NODEFAULT:
                # msgspec's way to say that UNSET, its default, is left out of the JSON
                source.names["UNSET"] = msgspec.UNSET
                source.lines += [f" v = e.{f.name}", " if v is not UNSET:"]
                source.check(f.type, "v", "  ")
            elif type(f.type) in _READ_ONCE:
                source.check(f.type, f"e.{f.name}", " ")
            else:
                source.lines.append(f" v = e.{f.name}")
                source.check(f.type, "v", " ")
        except _NoCheckError:
            return None
    source.lines.append(f" return {ROW_SOURCES[cls]}")
    names = dict(source.names)
    exec("\n".join(source.lines), names)
    row: Callable[[Any], Row | None] = names["row"]
    return row


#: The derived columns of an event that is canonical; None, TypeError or ValueError for one that may not be. Kinds
#: without an entry have no fast check.
FAST_ROWS: dict[type[Event], Callable[[Any], Row | None]] = {
    kind: row for kind in EVENT_TYPES if (row := _compile(kind)) is not None
}

#: The same for every kind, with None for what has no fast check and for kinds with an array.
PLAIN_ROWS: dict[type[Event], Callable[[Any], Row | None]] = {
    kind: (lambda _: None) if kind in VALUES_TYPES else FAST_ROWS.get(kind, lambda _: None) for kind in EVENT_TYPES
}
