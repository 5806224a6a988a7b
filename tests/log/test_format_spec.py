"""FORMAT.md as an independent reader: pyarrow and the standard library, nothing of ours but the writer."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from iwreplay.canonical import frame
from iwreplay.events import PhaseChanged, PosesSampled, StateDelta
from iwreplay.log import format as fmt
from iwreplay.log.admission import admit
from iwreplay.log.messages import TRAILER_BYTES, TRAILER_MAGIC
from tests.log.samples import episode, write

TEXT = (Path(__file__).parents[2] / "FORMAT.md").read_text(encoding="utf-8")


def messages(path: Path) -> list[tuple[int, bytes]]:
    """Offset and bytes of every message, by Arrow's own framing."""
    data = path.read_bytes()
    out: list[tuple[int, bytes]] = []
    with pa.OSFile(str(path)) as file:
        while True:
            start = file.tell()
            try:
                pa.ipc.read_message(file)
            except EOFError:
                return out
            out.append((start, data[start : file.tell()]))


def digest(message: bytes, stated: str) -> str:
    assert message.count(stated.encode()) == 1
    return hashlib.sha256(message.replace(stated.encode(), b"0" * 64)).hexdigest()


def check_parity(parity: dict[str, Any], covered: bytes) -> None:
    assert parity["size"] == len(covered)
    block = parity["block"]
    assert block % 512 == 0
    blocks = [covered[i : i + block] for i in range(0, len(covered), block)]
    assert parity["sums"] == [zlib.crc32(b) for b in blocks]
    for name, half in (("even", blocks[::2]), ("odd", blocks[1::2])):
        both = 0
        for b in half:
            both ^= int.from_bytes(b.ljust(block, b"\0"), "big")
        assert base64.b64decode(parity[name], validate=True) == both.to_bytes(block, "big")


def read_by_the_book(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """Root hash and rows of a log, with everything verified that FORMAT.md promises of an intact one."""
    data = path.read_bytes()
    found = messages(path)
    with pa.ipc.open_stream(path) as stream:
        schema_meta = {k.decode(): v.decode() for k, v in stream.schema.metadata.items()}
        batches = []
        while True:
            try:
                batch, meta = stream.read_next_batch_with_custom_metadata()
            except StopIteration:
                break
            batches.append((batch, {k.decode(): v.decode() for k, v in meta.items()}))
    assert schema_meta["iwreplay.format_version"] == "1"
    assert len(found) == 1 + len(batches)
    prev = schema_meta["iwreplay.digest"]
    assert digest(found[0][1], prev) == prev
    root, link = hashlib.sha256(), 0
    rows: list[dict[str, Any]] = []
    index: list[list[Any]] = []
    sealed = None
    for (offset, raw), (batch, meta) in zip(found[1:], batches, strict=True):
        assert offset % 8 == 0
        stated = meta["iwreplay.digest"]
        assert digest(raw, stated) == stated
        about = json.loads(meta.get("iwreplay.batch") or meta["iwreplay.seal"])
        assert about["prev"] == prev
        prev = stated
        if "iwreplay.seal" in meta:
            assert batch.num_rows == 0
            sealed = (offset, stated, about)
            if "iwreplay.parity" in meta:
                check_parity(json.loads(meta["iwreplay.parity"]), data[:offset])
            continue
        assert (about["first"], about["count"]) == (len(rows), batch.num_rows)
        assert batch.num_rows > 0
        for row in batch.to_pylist():
            event = row["event"].encode()
            assert event.endswith(b"\n")
            kind = json.loads(event)["kind"]
            if kind in ("poses_sampled", "body_posed", "world_snapshot"):
                event += struct.pack(f"<Q{len(row['values'])}d", len(row["values"]), *row["values"])
            else:
                assert row["values"] is None
            root.update(event)
            link = zlib.crc32(event, link)
            assert row["link"] == link
            rows.append(row)
        assert about["head"] == root.hexdigest()
        snapshots = [r["seq"] for r in rows[about["first"] :] if r["kind"] == "world_snapshot"]
        assert about["snapshots"] == snapshots
        index.append([offset, len(raw), about["first"], about["count"], stated, snapshots])
    assert [r["seq"] for r in rows] == list(range(len(rows)))
    if sealed is not None:
        offset, stated, about = sealed
        assert (about["events"], about["root"], about["batches"]) == (len(rows), root.hexdigest(), index)
        trailer, eos = data[-56:], data[-64:-56]
        assert eos == bytes.fromhex("ffffffff00000000")
        assert trailer[:8] == b"IWSEAL\r\n"
        assert struct.unpack("<QQ", trailer[8:24]) == (offset, len(data))
        assert trailer[24:] == hashlib.sha256(bytes.fromhex(stated) + eos + trailer[:24]).digest()
    return root.hexdigest(), rows


@pytest.mark.parametrize("sealed", [False, True])
def test_a_reader_made_from_the_page_gets_the_same_root(tmp_path: Path, sealed: bool) -> None:
    events = episode(60)
    path = tmp_path / "log.arrows"
    root = write(path, events, commit_every=9, seal=sealed)
    got, rows = read_by_the_book(path)
    assert got == root
    assert len(rows) == len(events)


def test_the_worked_example_is_right() -> None:
    now: dict[str, Any] = {"turn": 0, "phase": "warmup"}
    events = [
        PhaseChanged(sim_time_s=0.0, **now, previous="scene_init"),
        PosesSampled(sim_time_s=0.5, **now, step=250, things=(), joints=("door_1.door",), values=(1.5,)),
        StateDelta(sim_time_s=0.5, **now, thing="door_1", attr="open", old=False, new=True, cause="primitive:open"),
    ]
    stream, link = b"", 0
    for i, event in enumerate(events):
        line, packed = admit(event)
        data = frame(line, packed)
        assert f"    {line.decode()}" in TEXT
        if packed is not None:
            assert f"    {data[len(line) :].hex()}\n" in TEXT
        stream += data
        link = zlib.crc32(data, link)
        assert f"| {i} | `{hashlib.sha256(stream).hexdigest()}` | {link} |" in TEXT


def test_the_columns_are_those_of_the_page() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]+) \| (yes|no) \|", TEXT, re.MULTILINE)
    types = {"int64": pa.int64(), "float64": pa.float64(), "utf8": pa.utf8(), "uint32": pa.uint32()}
    assert [r[0] for r in rows] == fmt.SCHEMA.names
    for name, kind, null in rows:
        field = fmt.SCHEMA.field(name)
        assert field.nullable == (null == "yes"), name
        assert field.type.value_type == pa.float64() if kind == "list of float64" else field.type == types[kind], name


def test_the_numbers_are_those_of_the_page() -> None:
    assert "# The log format, version 1" in TEXT
    assert fmt.FORMAT_VERSION == 1
    for number in (fmt.MAX_EVENT_BYTES, fmt.MAX_VALUES, fmt.COMMIT_EVENTS, fmt.SEAL_EVENTS):
        assert f"{number:,}" in TEXT
    assert fmt.COMMIT_JSON_BYTES == 8 * 2**20
    assert fmt.SEAL_BYTES == 4 * 2**20
    assert (fmt.MAX_METADATA_BYTES, fmt.MAX_MESSAGE_BYTES) == (64 * 2**20, 256 * 2**20)
    assert TRAILER_BYTES == 56
    assert TRAILER_MAGIC.hex(" ") in TEXT
    keys = (fmt.VERSION_KEY, fmt.DIGEST_KEY, fmt.META_KEY, fmt.SEAL_KEY, fmt.PARITY_KEY, fmt.RECOVERY_KEY)
    assert all(f"`{key}`" in TEXT for key in keys)
    for struct_type in (fmt.BatchMeta, fmt.SealMeta, fmt.Recovered):
        assert all(f"`{name}`" in TEXT for name in struct_type.__struct_fields__)
