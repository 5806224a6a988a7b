"""What may enter a log."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.canonical import VALUES_TYPES, canonical_bytes, unpack_values, without_values
from iwreplay.errors import EventError
from iwreplay.events import EVENT_TYPES, AnyEvent, BodyPosed, Event, FrameCaptured, StateDelta
from iwreplay.log import LogWriter, MemoryLog, check
from iwreplay.log.admission import admit, kind_of
from iwreplay.log.envelope import row_of
from iwreplay.log.fastcheck import FAST_ROWS
from tests.log.samples import any_event, every_kind

KINDS = {kind_of(e): e for e in every_kind()}


def changed(kind: str, **fields: Any) -> Event:
    return msgspec.structs.replace(KINDS[kind], **fields)


@given(any_event())
def test_what_is_admitted_reads_back_equal_and_writes_the_same_bytes(event: Event) -> None:
    line, packed = admit(event)
    back: Any = msgspec.json.decode(line, type=AnyEvent)
    if packed is not None:
        msgspec.structs.force_setattr(back, "values", unpack_values(packed))
    assert back == event
    assert admit(back) == (line, packed)
    assert line.count(b"\n") == 1


@given(any_event())
def test_the_fast_way_accepts_only_what_is_canonical_already(event: Event) -> None:
    bare = without_values(event)
    fast = FAST_ROWS.get(type(event))
    if fast is not None and (row := fast(bare)) is not None:
        assert row == row_of(event)
        raw = canonical_bytes(bare)
        back = msgspec.json.decode(raw, type=AnyEvent)
        assert back == bare
        assert canonical_bytes(back) == raw


_SCALAR_JUNK = [math.nan, math.inf, True, 1, 2**63, -(2**80), 0.5, "x", "\ud800", b"x", None, object()]
_JUNK = [
    *_SCALAR_JUNK,
    *[(x,) for x in _SCALAR_JUNK],
    *[{"a": x} for x in _SCALAR_JUNK],
    *[{"a": {"b": x}} for x in _SCALAR_JUNK],
    *[(*(0.0,) * 6, x) for x in _SCALAR_JUNK],
    *[(), [], {}, [0.5], ["x"], {1: "x"}, (1.7e308,) * 7, np.float64(1.0), np.int64(1)],
]
JUNK = st.sampled_from(_JUNK)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(every_kind()), st.data())
def test_the_fast_way_accepts_no_junk(event: Event, data: st.DataObject) -> None:
    names = [n for n in event.__struct_fields__ if n != "values"]
    changes = data.draw(st.dictionaries(st.sampled_from(names), JUNK, min_size=1, max_size=2))
    bare = msgspec.structs.replace(without_values(event), **changes)
    fast = FAST_ROWS.get(type(event))
    try:
        accepted = fast is not None and fast(bare) is not None
        raw = canonical_bytes(bare) if accepted else b""
    except (TypeError, ValueError):
        accepted = False
    if accepted:
        back = msgspec.json.decode(raw, type=AnyEvent)
        assert back == bare
        assert canonical_bytes(back) == raw
    # and whatever it is, it is admitted or refused by the one error
    whole = msgspec.structs.replace(bare, values=event.values) if type(event) in VALUES_TYPES else bare  # type: ignore[attr-defined]
    try:
        line, _ = admit(whole)
    except EventError as e:
        refusal = str(e)
    else:
        refusal = ""
        assert canonical_bytes(msgspec.json.decode(line, type=AnyEvent)) + b"\n" == line
    # another number of things needs another number of values
    assert not (accepted and refusal) or ".values has" in refusal


def test_every_kind_but_the_opening_has_a_fast_way_that_is_taken() -> None:
    slow = {
        kind_of(e) for e in every_kind() if type(e) not in FAST_ROWS or FAST_ROWS[type(e)](without_values(e)) is None
    }
    assert set(EVENT_TYPES) - set(FAST_ROWS) == {type(KINDS["episode_opened"])}
    # integers beyond one machine digit, which attributes may have, take the slow way
    assert slow <= {"episode_opened", "state_delta", "world_snapshot"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("primitive_outcome", "duration_s", lambda x: x),
        ("frame_captured", "camera", lambda x: (0.0, 0.0, x, 1.0, 0.0, 0.0, 0.0)),
        ("state_delta", "new", lambda x: x),
        ("state_delta", "new", lambda x: {"water": x}),
        ("happened", "detail", lambda x: {"a": 1, "litres": x}),
        ("model_call", "cost_usd", lambda x: x),
        ("world_snapshot", "attrs", lambda x: {"mug_1": {"heat_s": x}}),
    ],
)
def test_numbers_that_are_not_finite_are_refused_with_kind_and_field(
    kind: str, field: str, value: Any, number: float
) -> None:
    with pytest.raises(EventError, match=rf"^{kind}\.{field}.*only finite numbers"):
        admit(changed(kind, **{field: value(number)}))


@pytest.mark.parametrize("number", [math.nan, math.inf])
@pytest.mark.parametrize("at", [0, 80, 162])
def test_numbers_that_are_not_finite_are_refused_in_arrays(number: float, at: int) -> None:
    values = [0.0] * 163
    values[at] = number
    with pytest.raises(EventError, match=rf"^body_posed\.values\[{at}\] is"):
        admit(changed("body_posed", values=tuple(values)))


def test_an_array_whose_sum_overflows_is_finite_all_the_same() -> None:
    _, packed = admit(changed("body_posed", values=(1.7e308,) * 163))
    assert packed is not None
    assert unpack_values(packed) == (1.7e308,) * 163


@pytest.mark.parametrize(
    ("kind", "fields", "says"),
    [
        ("contact", {"a": 7}, r"contact is not valid: .*`\$\.a`"),
        ("contact", {"turn": "1"}, r"contact is not valid: .*`\$\.turn`"),
        ("contact", {"turn": True}, r"contact is not valid: .*`\$\.turn`"),
        ("contact", {"turn": 1.5}, r"contact is not valid: .*`\$\.turn`"),
        ("contact", {"phase": "dinner"}, r"contact is not valid: .*`\$\.phase`"),
        ("contact", {"phase": ["end"]}, r"contact is not valid: .*`\$\.phase`"),
        ("contact", {"a": "\ud800"}, "lone surrogate"),
        ("contact", {"a": object()}, "contact has a value that no log can hold.*field a"),
        ("primitive_outcome", {"ok": 1}, r"primitive_outcome is not valid: .*`\$\.ok`"),
        ("human_turn", {"commands": ["[NoOp]"]}, r"human_turn\.commands is \['\[NoOp\]'\] \(list\)"),
        ("human_turn", {"commands": ("[NoOp]", 3)}, r"human_turn is not valid: .*commands"),
        ("frame_captured", {"camera": (0.0,) * 6}, r"frame_captured is not valid: .*camera"),
        ("frame_captured", {"visible": {"mug_1": True}}, r"frame_captured is not valid: .*visible"),
        ("frame_captured", {"visible": {"mug_1": 1.5}}, r"frame_captured is not valid: .*visible"),
        ("state_delta", {"new": 2**63}, "state_delta.new is 9223372036854775808, which does not fit"),
        ("state_delta", {"new": (1, 2)}, r"state_delta is not valid: .*`\$\.new`"),
        ("body_posed", {"values": [0.0] * 163}, "body_posed.values must be a tuple of floats"),
        ("body_posed", {"values": (0.0,) * 162}, "body_posed.values has 162 numbers.*need 163"),
        ("body_posed", {"values": (*(0.0,) * 162, True)}, r"body_posed\.values must be .* True \(bool\)"),
        ("body_posed", {"values": (*(0.0,) * 162, "0")}, r"body_posed\.values must be .* '0' \(str\)"),
        ("body_posed", {"values": (*(0.0,) * 162, 10**400)}, r"body_posed\.values\[162\]"),
        ("poses_sampled", {"things": ("a",), "joints": ("b",), "values": (0.0,) * 7}, "has 7 numbers.*need 8"),
        ("world_snapshot", {"values": ()}, "world_snapshot.values has 0 numbers"),
        ("episode_opened", {"format_version": 99}, "format_version is 99"),
    ],
)
def test_wrong_types_are_refused_with_kind_and_field(kind: str, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(EventError, match=says):
        admit(changed(kind, **fields))


def test_numpy_scalars_are_refused_by_name_and_numpy_arrays_too() -> None:
    with pytest.raises(EventError, match=r"numpy\.int64.*field turn"):
        admit(changed("contact", turn=np.int64(3)))
    with pytest.raises(EventError, match="must be a tuple of floats"):
        admit(changed("body_posed", values=np.zeros(163)))


def test_an_int_in_a_float_field_is_stored_and_hashed_as_the_float() -> None:
    as_int, as_float = MemoryLog(), MemoryLog()
    as_int.append(changed("primitive_outcome", sim_time_s=2, duration_s=1))
    as_float.append(changed("primitive_outcome", sim_time_s=2.0, duration_s=1.0))
    assert as_int.root_hash == as_float.root_hash
    line, _ = admit(changed("frame_captured", camera=(0, 0, 1, 1, 0, 0, 0)))
    assert b'"camera":[0.0,0.0,1.0,1.0,0.0,0.0,0.0]' in line
    _, packed = admit(changed("body_posed", values=(1,) * 163))
    assert packed == admit(changed("body_posed", values=(1.0,) * 163))[1]


def test_attributes_keep_int_and_float_apart() -> None:
    one, other = MemoryLog(), MemoryLog()
    one.append(changed("state_delta", new=1))
    other.append(changed("state_delta", new=1.0))
    assert one.root_hash != other.root_hash


def test_the_order_of_keys_in_a_dict_does_not_matter() -> None:
    a = changed("frame_captured", visible={"a": 1, "b": 2})
    b = changed("frame_captured", visible={"b": 2, "a": 1})
    assert admit(a) == admit(b)


def test_an_event_over_the_limit_is_refused() -> None:
    admit(changed("utterance", text="x" * 4_000_000))
    with pytest.raises(EventError, match=r"utterance takes \d+ bytes of JSON; at most 4194304"):
        admit(changed("utterance", text="x" * 4_194_304))
    with pytest.raises(EventError, match="at most 524288"):
        admit(changed("body_posed", values=(0.0,) * 600_000))


def test_values_without_end_are_refused() -> None:
    loop: dict[str, Any] = {}
    loop["a"] = loop
    for new in (loop, {"a": loop}):
        with pytest.raises(EventError, match="state_delta has values within values too deep"):
            admit(changed("state_delta", new=new))


@pytest.mark.parametrize("wall_ns", [2**63, -(2**63), 1.5, "x", True])
def test_a_wall_time_that_no_column_holds_is_refused_at_once(tmp_path: Path, wall_ns: Any) -> None:
    with LogWriter.create(tmp_path / "log.arrows") as log:
        log.append(KINDS["contact"], wall_ns=7)
        with pytest.raises(EventError, match="wall_ns is "):
            log.append(KINDS["contact"], wall_ns=wall_ns)
    assert check(tmp_path / "log.arrows").events == 1


def test_a_foreign_kind_is_refused() -> None:
    class Rumour(Event, frozen=True, kw_only=True, tag="rumour"):
        text: str

    with pytest.raises(EventError, match="Rumour is no event kind of log format 1"):
        admit(Rumour(sim_time_s=0.0, turn=0, phase="end", text="x"))


def test_time_never_runs_backwards() -> None:
    log = MemoryLog()
    log.append(changed("contact", sim_time_s=1.0))
    log.append(changed("contact", sim_time_s=1.0))
    with pytest.raises(EventError, match=r"contact\.sim_time_s is 0\.5, before the last event's 1\.0"):
        log.append(changed("contact", sim_time_s=0.5))
    assert len(log) == 2
    with pytest.raises(EventError, match="begins at 0"):
        MemoryLog().append(changed("contact", sim_time_s=-0.1))


def test_an_event_that_is_changed_after_the_append_is_logged_as_it_was() -> None:
    visible = {"mug_1": 5}
    event = changed("frame_captured", visible=visible)
    line, _ = admit(event)
    visible["mug_1"] = 6
    assert b'"mug_1":5' in line


def test_arrays_are_not_in_the_json() -> None:
    for event in every_kind():
        line, packed = admit(event)
        assert (packed is not None) == (type(event) in VALUES_TYPES)
        assert b'"values"' not in line
    assert isinstance(KINDS["body_posed"], BodyPosed)
    assert isinstance(KINDS["frame_captured"], FrameCaptured)
    assert isinstance(KINDS["state_delta"], StateDelta)
