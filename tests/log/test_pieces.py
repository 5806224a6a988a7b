"""The pure pieces below the public surface."""

from __future__ import annotations

import hashlib
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwreplay.canonical import canonical_bytes, pack_values, sha256_hex, struct_hash, unpack_values
from iwreplay.events import EVENT_TYPES, Participant
from iwreplay.log.chain import BatchFrames, Chain, first_broken, links_of
from iwreplay.log.envelope import ENVELOPE, row_of
from iwreplay.log.format import SCHEMA
from iwreplay.log.wire import WireError, parse_header, parse_prefix
from tests.log.samples import every_kind


def test_canonical_json_sorts_keys_and_keeps_fields_in_order() -> None:
    who = Participant(name="n", version="v", params={"b": "2", "a": "1"})
    assert canonical_bytes(who) == b'{"name":"n","version":"v","params":{"a":"1","b":"2"}}'
    assert struct_hash(who) == sha256_hex(canonical_bytes(who)) == hashlib.sha256(canonical_bytes(who)).hexdigest()


@given(st.lists(st.floats(allow_nan=False)))
def test_values_come_back_bit_for_bit(values: list[float]) -> None:
    back = unpack_values(pack_values(values))
    assert back == tuple(values)
    assert [math.copysign(1, v) for v in back] == [math.copysign(1, v) for v in values]
    assert len(pack_values(values)) == 8 * len(values)


def test_every_kind_has_a_row_with_the_kind_in_it() -> None:
    for event in every_kind():
        row = dict(zip(ENVELOPE, row_of(event), strict=True))
        assert row["kind"] == event.__struct_config__.tag
        assert (row["sim_time_s"], row["turn"], row["phase"]) == (event.sim_time_s, event.turn, event.phase)
        for name, value in row.items():
            pa.array([value], SCHEMA.field(name).type)
    assert {type(e) for e in every_kind()} == set(EVENT_TYPES)


@given(st.binary(max_size=200))
def test_no_bytes_make_the_header_parser_fail_otherwise_than_by_its_error(data: bytes) -> None:
    for parse in (parse_header, parse_prefix):
        try:
            parse(data)
        except WireError:
            continue


def test_a_chain_can_go_on_from_a_copy() -> None:
    chain = Chain()
    chain.add(b"a\n", None)
    other = chain.copy()
    other.add(b"b\n", b"\0" * 8)
    chain.add_stream(b"b\n" + b"\x01" + b"\0" * 7 + b"\0" * 8, 1)
    assert (chain.root, chain.count) == (other.root, other.count)


@pytest.mark.parametrize("cut", [(0, 3), (1, 2), (2, 1), (3, 0)])
def test_frames_of_a_slice_of_a_batch(cut: tuple[int, int]) -> None:
    lines = ["a\n", "bb\n", "ccc\n"]
    values = [[1.0, 2.0], None, []]
    columns = {f.name: pa.nulls(3, f.type) for f in SCHEMA}
    columns |= {"event": pa.array(lines), "values": pa.array(values, SCHEMA.field("values").type)}
    batch = pa.RecordBatch.from_arrays([columns[n] for n in SCHEMA.names], names=SCHEMA.names).slice(*cut)
    frames = BatchFrames.of(batch)
    want = []
    for line, array in list(zip(lines, values, strict=True))[cut[0] : cut[0] + cut[1]]:
        extra = b"" if array is None else len(array).to_bytes(8, "little") + pack_values(array)
        want.append(line.encode() + extra)
    assert list(frames.each()) == want
    chain = Chain()
    chain.add_batch(frames)
    assert chain.root == hashlib.sha256(b"".join(want)).hexdigest()
    links = links_of(want, before=5)
    assert first_broken(frames, links, before=5) is None
    if links:
        assert first_broken(frames, links, before=6) == 0
