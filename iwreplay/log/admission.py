"""What may enter a log: the one gate in front of every writer.

msgspec constructors do not check types, and its JSON turns NaN into null and an int in a float field into other
bytes than the float that comes back. So each event is either seen to be in canonical form by the fast check of its
kind, or takes the slow way: it is written, read back with full validation, compared, and written again from what was
read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from iwreplay.canonical import VALUES_TYPES, canonical_bytes, pack_values, without_values
from iwreplay.errors import EventError
from iwreplay.events import BODY_VALUES, EVENT_TYPES, AnyEvent, EpisodeOpened, Event, PosesSampled, WorldSnapshot
from iwreplay.log.envelope import Row, row_of
from iwreplay.log.fastcheck import FAST_ROWS
from iwreplay.log.format import FORMAT_VERSION, MAX_EVENT_BYTES, MAX_VALUES

__all__ = ["LINE", "Gate", "admit", "admit_row", "explain_bad_line", "kind_of", "refuse_odd_wall"]

_DECODER = msgspec.json.Decoder(AnyEvent)
#: The line of a tuple of one event that a fast check has passed; no other is sure to be canonical. It is what
#: `canonical_bytes` gives, and a newline, which is cheaper than adding one.
LINE = msgspec.json.Encoder(order="deterministic").encode_lines
_KIND: dict[type[Event], str] = {t: str(t.__struct_config__.tag) for t in EVENT_TYPES}

_INT_MAX = 2**63 - 1
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
    line, packed, _ = admit_row(event)
    return line, packed


def admit_row(event: Event) -> tuple[bytes, bytes | None, Row]:
    """As `admit`, and the derived columns."""
    bare = without_values(event)
    try:
        row = FAST_ROWS[type(event)](bare)
        line = LINE((bare,)) if row is not None else b""
    except (KeyError, TypeError, ValueError):
        row, line = None, b""
    if row is None or len(line) > MAX_EVENT_BYTES:
        # not what the fast way expects; the slow way accepts it or names what is wrong
        line, row = _slow(bare), row_of(bare)
    # behind the rest: how many numbers there must be hangs on it
    return line, _pack(event) if type(event) in VALUES_TYPES else None, row


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


def refuse_odd_wall(wall_ns: object) -> None:
    """EventError for a wall time that no column can hold."""
    if type(wall_ns) is not int or not -_INT_MAX <= wall_ns <= _INT_MAX:
        raise EventError(f"wall_ns is {wall_ns!r}; wall time is an int of nanoseconds that fits in 64 bits")


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


def _pack(event: Any) -> bytes:
    """Float64 bytes of the array of an event that has one. EventError that names the number which can't be logged."""
    kind, values = kind_of(event), event.values
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
    except RecursionError:
        raise EventError(f"{kind} has values within values too deep to be written") from None
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
