"""The fields in which two events of the same kind differ, named by object and field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from iwreplay.canonical import canonical_bytes
from iwreplay.events import (
    BodyPosed,
    Contact,
    Event,
    FrameCaptured,
    Happened,
    PosesSampled,
    PrimitiveOutcome,
    StateDelta,
    WorldSnapshot,
)
from iwreplay.vocabulary import WEARER

__all__ = ["Change", "changes_of", "kind_of", "object_of"]

#: longest value that a report repeats
_MAX_VALUE = 200
_POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


class Change(msgspec.Struct, frozen=True):
    """One field of one object: expected by the log, got by the re-execution. Values as canonical JSON."""

    object: str
    field: str
    expected: str
    got: str


def kind_of(event: Event) -> str:
    """The tag of an event's kind."""
    return str(event.__struct_config__.tag)


def object_of(event: Event) -> str:
    """The object that an event is about, "" when there is none."""
    if isinstance(event, StateDelta):
        return event.thing
    if isinstance(event, Happened | PrimitiveOutcome):
        return event.obj
    if isinstance(event, Contact):
        return event.a
    if isinstance(event, FrameCaptured):
        return event.frame_id
    if isinstance(event, BodyPosed):
        return WEARER
    return ""


def _value(value: Any) -> str:
    text = canonical_bytes(value).decode()
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 3] + "..."


def changes_of(expected: Event, got: Event) -> Iterator[Change]:
    """Every differing field, in the order of the Struct; arrays of poses by thing and component."""
    assert type(expected) is type(got), "events of one kind are compared"
    for name in expected.__struct_fields__:
        a, b = getattr(expected, name), getattr(got, name)
        if canonical_bytes(a) == canonical_bytes(b):
            continue
        if name == "values":
            yield from _array_changes(expected, got)
        elif isinstance(a, dict) and isinstance(b, dict):
            yield from _dict_changes(name, a, b, object_of(expected))
        elif isinstance(a, msgspec.Struct) and isinstance(b, msgspec.Struct) and type(a) is type(b):
            for inner in a.__struct_fields__:
                x, y = getattr(a, inner), getattr(b, inner)
                if isinstance(x, dict) and isinstance(y, dict):
                    yield from _dict_changes(f"{name}.{inner}", x, y, object_of(expected))
                elif canonical_bytes(x) != canonical_bytes(y):
                    yield Change(object_of(expected), f"{name}.{inner}", _value(x), _value(y))
        elif isinstance(expected, StateDelta) and name in ("old", "new"):
            yield Change(
                expected.thing, expected.attr if name == "new" else f"{expected.attr} (before)", _value(a), _value(b)
            )
        else:
            yield Change(object_of(expected), name, _value(a), _value(b))


def _dict_changes(name: str, a: dict[str, Any], b: dict[str, Any], owner: str) -> Iterator[Change]:
    """By key; the attributes of a snapshot by thing and attribute."""
    for key in sorted({*a, *b}):
        x, y = a.get(key), b.get(key)
        if canonical_bytes(x) == canonical_bytes(y):
            continue
        if name == "attrs":
            for attr in sorted({*(x or {}), *(y or {})}):
                old, new = (x or {}).get(attr), (y or {}).get(attr)
                if canonical_bytes(old) != canonical_bytes(new):
                    yield Change(key, attr, _value(old), _value(new))
        else:
            yield Change(owner, f"{name}.{key}", _value(x), _value(y))


def _array_changes(expected: Event, got: Event) -> Iterator[Change]:
    a, b = _named_values(expected), _named_values(got)
    for key in a:
        if key not in b:
            yield Change(key[0], key[1], _value(a[key]), "nothing")
        elif canonical_bytes(a[key]) != canonical_bytes(b[key]):
            yield Change(key[0], key[1], _value(a[key]), _value(b[key]))
    for key in b:
        if key not in a:
            yield Change(key[0], key[1], "nothing", _value(b[key]))


def _named_values(event: Event) -> dict[tuple[str, str], float]:
    named: dict[tuple[str, str], float] = {}
    if isinstance(event, BodyPosed):
        return _body_values(event.values)
    if isinstance(event, PosesSampled | WorldSnapshot):
        at = 0
        for thing in event.things:
            for part in _POSE:
                named[(thing, f"pose.{part}")] = event.values[at]
                at += 1
        for joint in event.joints:
            named[(joint, "position")] = event.values[at]
            at += 1
        if isinstance(event, WorldSnapshot):
            named.update(_body_values(event.values[at:]))
    return named


def _body_values(values: tuple[float, ...]) -> dict[tuple[str, str], float]:
    root = {(WEARER, f"root.{part}"): v for part, v in zip(_POSE, values, strict=False)}
    return {**root, **{(WEARER, f"body[{i}]"): v for i, v in enumerate(values[7:], start=7)}}
