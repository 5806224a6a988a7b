"""What may enter a log: the one gate in front of every writer.

msgspec constructors do not check types, and its JSON turns NaN into null and an int in a float field into other
bytes than the float that comes back. So each event is either seen to be in canonical form by a check compiled
for its kind (exact types, finite numbers, short strings), or takes the slow way: it is written, read back with
full validation, compared, and written again from what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import inspect as mi

from iwreplay.canonical import VALUES_TYPES, canonical_bytes, pack_values, without_values
from iwreplay.errors import EventError
from iwreplay.events import BODY_VALUES, EVENT_TYPES, AnyEvent, EpisodeOpened, Event, PosesSampled, WorldSnapshot
from iwreplay.log.format import FORMAT_VERSION, MAX_EVENT_BYTES, MAX_VALUES

__all__ = ["Gate", "admit", "explain_bad_line", "kind_of", "line_of"]

_DECODER = msgspec.json.Decoder(AnyEvent)
#: what `canonical_bytes` calls
_ENCODE = msgspec.json.Encoder(order="deterministic").encode
_KIND: dict[type[Event], str] = {t: str(t.__struct_config__.tag) for t in EVENT_TYPES}

_INT_MAX = 2**63 - 1
_FLOAT_MAX = 1.7e308
_NUMBERS = {float, int}


def kind_of(event: Event) -> str:
    """The tag of an event's type. EventError for an object that is no event of this format."""
    try:
        return _KIND[type(event)]
    except KeyError:
        raise EventError(f"{type(event).__name__} is no event kind of log format {FORMAT_VERSION}") from None


def admit(event: Event) -> tuple[bytes, bytes | None]:
    """Canonical JSON line (ended by a newline) and float64 bytes (None for a kind without an array).

    Raises EventError that names kind and field: a wrong type, a number that is not finite or out of range, a
    string that is no Unicode text, an array of the wrong length, an event over MAX_EVENT_BYTES.
    """
    if type(event) in VALUES_TYPES:
        packed = _pack(event, kind_of(event))
        return line_of(without_values(event)), packed
    return line_of(event), None


def line_of(event: Event) -> bytes:
    """Canonical JSON line of an event without an array. Raises as `admit` does."""
    try:
        if _FAST[type(event)](event) and len(line := _ENCODE(event) + b"\n") <= MAX_EVENT_BYTES:
            return line
    except (KeyError, TypeError, ValueError):
        # not what the fast way expects; the slow way accepts it or names what is wrong
        return _slow(event)
    return _slow(event)


class Gate:
    """The rule that looks at more than one event: simulated time begins at 0 and never runs backwards."""

    __slots__ = ("last_s",)

    def __init__(self) -> None:
        self.last_s = 0.0

    def check(self, event: Event) -> None:
        """Call after `admit`. EventError when simulated time decreases or is negative."""
        if event.sim_time_s < self.last_s:
            raise EventError(
                f"{kind_of(event)}.sim_time_s is {event.sim_time_s!r}, before the last event's {self.last_s!r}: "
                "simulated time never decreases along a log and begins at 0"
            )
        self.last_s = event.sim_time_s


def explain_bad_line(line: bytes, seq: int) -> EventError:
    """Why a stored line is no event of this version."""
    kind = "?"
    try:
        raw = msgspec.json.decode(line)
        kind = raw.get("kind", "?") if isinstance(raw, dict) else "?"
        _DECODER.decode(line)
    except msgspec.MsgspecError as e:
        reason = str(e)
    else:
        reason = "it is not in canonical form"
    return EventError(f"event {seq} of kind {kind!r} cannot be read as log format {FORMAT_VERSION}: {reason}")


def _pack(event: Any, kind: str) -> bytes:
    values = event.values
    if type(values) is not tuple or not set(map(type, values)) <= _NUMBERS:
        bad = next((v for v in values if type(v) not in (float, int)), values) if isinstance(values, tuple) else values
        raise EventError(f"{kind}.values must be a tuple of floats, not {bad!r} ({type(bad).__name__})")
    if len(values) > MAX_VALUES:
        raise EventError(f"{kind}.values has {len(values)} numbers; at most {MAX_VALUES} fit in one event")
    want = BODY_VALUES
    if isinstance(event, PosesSampled | WorldSnapshot):
        want = 7 * len(event.things) + len(event.joints) + (0 if isinstance(event, PosesSampled) else BODY_VALUES)
    if len(values) != want:
        raise EventError(f"{kind}.values has {len(values)} numbers where its things, joints and body need {want}")
    try:
        finite = math.isfinite(sum(values)) or all(map(math.isfinite, values))
        packed = pack_values(values)
    except OverflowError:
        finite, packed = False, b""
    if not finite:
        at, bad = next((i, v) for i, v in enumerate(values) if not _is_finite(v))
        raise EventError(f"{kind}.values[{at}] is {bad!r}; only finite numbers can be logged")
    return packed


def _is_finite(v: float) -> bool:
    try:
        return math.isfinite(v)
    except OverflowError:
        return False


def _slow(bare: Event) -> bytes:
    """Writes, reads back, compares, and writes again."""
    kind = kind_of(bare)
    try:
        builtins = msgspec.to_builtins(bare)
        raw = canonical_bytes(bare)
    except TypeError as e:
        raise EventError(f"{kind} has a value that no log can hold: {e}{_odd_type(bare)}") from e
    except UnicodeEncodeError as e:
        raise EventError(f"{kind} has text that is no Unicode (a lone surrogate): {e}") from e
    for path, problem in _bad_numbers(builtins, kind):
        raise EventError(f"{path} {problem}")
    try:
        back = _DECODER.decode(raw)
    except msgspec.MsgspecError as e:
        raise EventError(f"{kind} is not valid: {e}") from e
    if back != bare:
        for name in bare.__struct_fields__:
            given, read = getattr(bare, name), getattr(back, name)
            if given != read:
                raise EventError(
                    f"{kind}.{name} is {_short(given)} ({type(given).__name__}), which reads back as "
                    f"{_short(read)} ({type(read).__name__}): give it in the type of the field"
                )
    if isinstance(back, EpisodeOpened) and back.format_version != FORMAT_VERSION:
        raise EventError(f"{kind}.format_version is {back.format_version}; this build writes {FORMAT_VERSION}")
    line = canonical_bytes(back) + b"\n"
    if len(line) > MAX_EVENT_BYTES:
        raise EventError(f"{kind} takes {len(line)} bytes of JSON; at most {MAX_EVENT_BYTES} fit in one event")
    return line


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _odd_type(bare: Event) -> str:
    for name in bare.__struct_fields__:
        try:
            msgspec.to_builtins(getattr(bare, name))
        except TypeError:
            return f" in field {name}"
    return ""


def _bad_numbers(value: Any, path: str) -> list[tuple[str, str]]:
    """Paths of the numbers that JSON or int64 cannot hold, in order."""
    if isinstance(value, float):
        return [] if math.isfinite(value) else [(path, f"is {value!r}; only finite numbers can be logged")]
    if isinstance(value, int):
        return [] if abs(value) <= _INT_MAX else [(path, f"is {value}, which does not fit in 64 bits")]
    if isinstance(value, Mapping):
        return [bad for k, v in value.items() for bad in _bad_numbers(v, f"{path}.{k}")]
    if isinstance(value, list | tuple):
        return [bad for i, v in enumerate(value) for bad in _bad_numbers(v, f"{path}[{i}]")]
    return []


# ---- the fast way: one boolean expression a kind, compiled from its annotations. It may refuse a good event, and
# ---- never accepts one whose JSON is not canonical.


def _strings(v: Any) -> bool:
    # join raises TypeError when an item is no string
    return type(v) is tuple and "".join(v) is not None


def _floats(v: Any) -> bool:
    return type(v) is tuple and set(map(type, v)) <= {float} and -_FLOAT_MAX <= sum(v) <= _FLOAT_MAX


def _fixed_floats(n: int) -> Callable[[Any], bool]:
    """Check of a tuple of n floats, written out: poses are in every frame event."""
    items = [f"x{i}" for i in range(n)]
    types = " is ".join(f"type({x})" for x in items)
    bounds = f"-{_FLOAT_MAX} <= {' + '.join(items)} <= {_FLOAT_MAX}"
    each: Callable[..., bool] = eval(f"lambda {', '.join(items)}: {types} is float and {bounds}")
    return lambda v: type(v) is tuple and len(v) == n and each(*v)


def _string_dict(v: Any) -> bool:
    return type(v) is dict and "".join(v) is not None and "".join(v.values()) is not None


def _int_dict(v: Any) -> bool:
    # a billion is more than any count; a larger or negative number takes the slow way
    if type(v) is not dict or "".join(v) is None:
        return False
    numbers = v.values()
    return not v or (set(map(type, numbers)) == {int} and min(numbers) >= 0 and max(numbers) < 10**9)


def _empty_dict(v: Any) -> bool:
    return type(v) is dict and not v


#: scalar types, the cheapest and most common check first
_SCALARS: dict[type, str] = {
    mi.StrType: "type({v}) is str",
    mi.NoneType: "{v} is None",
    mi.BoolType: "type({v}) is bool",
    mi.IntType: f"type(x := {{v}}) is int and -{_INT_MAX} <= x <= {_INT_MAX}",
    mi.FloatType: f"type(x := {{v}}) is float and -{_FLOAT_MAX} <= x <= {_FLOAT_MAX}",
}
_ORDER = {t: i for i, t in enumerate(_SCALARS)}


def _helper(t: mi.Type) -> Any:
    """What `{v}` is checked with when its type is no scalar: a set of literals or a function; None has no fast way."""
    if isinstance(t, mi.LiteralType):
        return frozenset(t.values)
    if isinstance(t, mi.VarTupleType):
        return {mi.StrType: _strings, mi.FloatType: _floats}.get(type(t.item_type))
    if isinstance(t, mi.TupleType) and {type(x) for x in t.item_types} == {mi.FloatType}:
        return _fixed_floats(len(t.item_types))
    if isinstance(t, mi.DictType):
        return {mi.StrType: _string_dict, mi.IntType: _int_dict}.get(type(t.value_type), _empty_dict)
    return None


def _expression(t: mi.Type, names: dict[str, Any]) -> str | None:
    """Source of a check of `{v}`, or None when the type has no fast way."""
    if type(t) in _SCALARS:
        return _SCALARS[type(t)]
    if isinstance(t, mi.UnionType):
        types = sorted(t.types, key=lambda x: _ORDER.get(type(x), len(_ORDER)))
        parts = [e for x in types if (e := _expression(x, names))]
        return " or ".join(f"({p})" for p in parts) or None
    helper = _helper(t)
    if helper is None:
        return None
    name = f"h{len(names)}"
    names[name] = helper
    return f"{{v}} in {name}" if isinstance(helper, frozenset) else f"{name}({{v}})"


def _compile(cls: type[Event]) -> Callable[[Any], bool] | None:
    names: dict[str, Any] = {}
    parts = []
    info = mi.type_info(cls)
    assert isinstance(info, mi.StructType)
    for f in info.fields:
        if f.name == "values" and cls in VALUES_TYPES:
            continue
        source = _expression(f.type, names)
        if source is None:
            return None
        parts.append("(" + source.replace("{v}", f"e.{f.name}") + ")")
    check: Callable[[Any], bool] = eval("lambda e: " + " and ".join(parts), names)
    return check


_FAST: dict[type[Event], Callable[[Any], bool]] = {t: f for t in EVENT_TYPES if (f := _compile(t)) is not None}
