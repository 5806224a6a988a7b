"""Random access, tampering that mends its checksums, states, and the world at any event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pytest

from iwreplay.errors import EventError, LogCorruptError, LogError
from iwreplay.events import Event
from iwreplay.log import batches, check, read_log, recover, scan, state_at
from iwreplay.log.admission import admit
from iwreplay.log.chain import Chain, links_of
from iwreplay.log.format import BatchMeta
from iwreplay.log.messages import MessageWriter, build_batch, schema_message
from iwreplay.log.wire import Header
from iwreplay.world.state import WorldState
from tests.log.samples import every_kind, long_episode, write


@pytest.mark.parametrize("sealed", [False, True])
def test_any_event_is_reached_without_reading_the_others(
    tmp_path: Path, sealed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = long_episode(2500)
    path = tmp_path / "log.arrows"
    write(path, events, commit_every=100, seal=sealed)
    loads: list[int] = []
    real = scan.load

    def counting(file: BinaryIO, span: scan.Span) -> tuple[bytes, Header]:
        loads.append(span.first)
        return real(file, span)

    monkeypatch.setattr(batches, "load", counting)
    with read_log(path) as log:
        assert len(log) == 2500
        assert log.at_seq(2001) == events[2001]
        assert len(loads) == 1
        assert log.between(1020, 1030) == events[1020:1031]
        assert [(s, e) for s, e in log.seek(2490)] == list(enumerate(events))[2490:]
        assert len(loads) < 6
        assert log.wall_ns(1500) == 1_700_000_000_000_001_500
        for outside in (-1, 2500):
            with pytest.raises(IndexError, match=f"event {outside} of a log with 2500"):
                log.at_seq(outside)
            with pytest.raises(IndexError):
                next(log.seek(outside))


def test_random_access_verifies_what_it_reads(tmp_path: Path) -> None:
    events = long_episode(300)
    path = tmp_path / "log.arrows"
    write(path, events, commit_every=100)
    with read_log(path) as log:
        span = log._found.spans[1]
    data = bytearray(path.read_bytes())
    data[span.offset + span.length - 300] ^= 1
    path.write_bytes(bytes(data))
    with read_log(path) as log:
        assert log.at_seq(99) == events[99]
        assert log.at_seq(200) == events[200]
        with pytest.raises(LogCorruptError, match="fails its checksum, event 100"):
            log.at_seq(150)
        assert log.state == "corrupt"


@pytest.mark.parametrize("sealed", [False, True])
def test_the_state_at_any_event_is_that_of_a_fold_from_the_start(tmp_path: Path, sealed: bool) -> None:
    events = [*long_episode(1300, snapshot_every=200)]
    path = tmp_path / "log.arrows"
    write(path, events, commit_every=64, seal=sealed)
    folded = WorldState(events[0].scene)  # type: ignore[attr-defined]
    with read_log(path) as log:
        for seq, event in enumerate(events):
            folded.apply(event)
            if seq % 37 == 0 or seq in (0, 199, 200, 201, 1299):
                assert vars(state_at(log, seq)) | {"scene": None} == vars(folded) | {"scene": None}, seq


def test_the_state_of_a_log_that_opens_no_episode_is_unknown(tmp_path: Path) -> None:
    write(tmp_path / "log.arrows", every_kind()[2:5])
    with pytest.raises(LogError, match="does not begin with episode_opened"):
        state_at(tmp_path / "log.arrows", 1)


# ---- tampering: somebody changes an event and mends every checksum ----


def rewrite(path: Path, change: Callable[[int, dict[str, list[Any]]], None]) -> None:
    """Rewrites an open log, with right digests, after `change(batch index, columns)`."""
    with read_log(path) as log:
        old = [(b.batch, b.meta) for b, _ in log.verified_batches(envelope=True)]
    raw, prev = schema_message()
    out = [raw]
    writer = MessageWriter(compress=False)
    for i, (batch, meta) in enumerate(old):
        columns = batch.to_pydict()
        change(i, columns)
        changed = pa.RecordBatch.from_pydict(columns, schema=batch.schema)
        new = BatchMeta(first=meta.first, count=meta.count, prev=prev, head=meta.head, snapshots=meta.snapshots)
        message, prev = writer.batch(changed, new)
        out.append(bytes(message))
    path.write_bytes(b"".join(out))


@pytest.fixture
def tampered(tmp_path: Path) -> Path:
    path = tmp_path / "log.arrows"
    write(path, every_kind(), commit_every=10)
    return path


def edit_event(columns: dict[str, list[Any]], i: int, old: str, new: str) -> None:
    assert old in columns["event"][i]
    columns["event"][i] = columns["event"][i].replace(old, new)


def test_a_changed_event_with_mended_checksums_is_found_at_the_event(tampered: Path, tmp_path: Path) -> None:
    events = every_kind()

    def change(batch: int, columns: dict[str, list[Any]]) -> None:
        if batch == 1:
            edit_event(columns, 6, '"a":"cupboard_1"', '"a":"mug_1"')

    rewrite(tampered, change)
    found = check(tampered)
    assert found.problem is not None
    assert (found.state, found.events, found.problem.seq) == ("corrupt", 16, 16)
    assert "hash chain" in found.problem.what
    with read_log(tampered) as log:
        got: list[Event] = []
        with pytest.raises(LogCorruptError, match="event 16"):
            got.extend(log.events())
        assert got == events[:16]
    r = recover(tampered, tmp_path / "out").recovered
    assert r.kept == ((0, 15), (20, len(events) - 1))


def test_a_changed_array_is_found_at_the_event(tampered: Path) -> None:
    def change(batch: int, columns: dict[str, list[Any]]) -> None:
        if batch == 1:
            assert columns["kind"][0] == "body_posed"
            columns["values"][0][17] += 1e-12

    rewrite(tampered, change)
    found = check(tampered)
    assert found.problem is not None
    assert (found.state, found.problem.seq) == ("corrupt", 10)


def test_events_that_changed_places_are_found(tampered: Path) -> None:
    def change(batch: int, columns: dict[str, list[Any]]) -> None:
        if batch == 1:
            for name in ("event", "link", "kind"):
                columns[name][6], columns[name][7] = columns[name][7], columns[name][6]

    rewrite(tampered, change)
    found = check(tampered)
    assert found.problem is not None
    assert (found.state, found.problem.seq) == ("corrupt", 16)


def test_a_column_that_contradicts_its_event_is_found_by_the_audit(tampered: Path) -> None:
    def change(batch: int, columns: dict[str, list[Any]]) -> None:
        if batch == 1:
            columns["code"][9] = "NO_SPACE"

    rewrite(tampered, change)
    found = check(tampered)
    assert found.problem is not None
    assert (found.state, found.events) == ("corrupt", 19)
    assert found.problem.what == "column code of event 19 is not what the event says"
    with read_log(tampered) as log:
        assert [e for _, e in log] == every_kind()


# ---- events that a foreign writer put in, with everything right about the chain ----


def write_lines(path: Path, lines: list[str]) -> None:
    """A log whose chain is right and whose events are what is given."""
    data = [line.encode() + b"\n" for line in lines]
    c = Chain()
    c.add_stream(b"".join(data), len(data))
    cells: list[Any] = []
    for line in lines:
        raw = msgspec.json.decode(line)
        cells += [float(raw["sim_time_s"]), raw["turn"], raw["phase"], raw["kind"], *[None] * 8]
    links = links_of(data, before=0)
    batch = build_batch(
        first=0, wall_ns=[0] * len(data), cells=cells, lines=data, joined=b"".join(data), packed={}, links=links
    )
    raw_schema, prev = schema_message()
    meta = BatchMeta(first=0, count=len(data), prev=prev, head=c.root)
    message, _ = MessageWriter(compress=False).batch(batch, meta)
    path.write_bytes(raw_schema + bytes(message))


GOOD = '{"kind":"phase_changed","sim_time_s":0.0,"turn":0,"phase":"warmup","previous":null}'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"kind":"rumour","sim_time_s":0.0,"turn":0,"phase":"end"}', "event 1 of kind 'rumour' cannot be read"),
        (GOOD.replace("}", ',"mood":"good"}'), "event 1 of kind 'phase_changed' cannot be read.*mood"),
        (GOOD.replace("null", '"supper"'), "event 1 of kind 'phase_changed' cannot be read.*supper"),
        (GOOD.replace(',"previous":null', ""), "event 1 of kind 'phase_changed' cannot be read.*previous"),
    ],
)
def test_unknown_kinds_and_fields_of_the_same_version_are_refused_by_seq_and_kind(
    tmp_path: Path, line: str, says: str
) -> None:
    path = tmp_path / "log"
    write_lines(path, [GOOD, line, GOOD])
    with read_log(path) as log, pytest.raises(EventError, match=says):
        list(log)
    found = check(path)
    assert found.problem is not None
    assert (found.state, found.events, found.problem.seq) == ("corrupt", 1, 1)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (GOOD.replace(":0.0", ": 0.0"), "not in canonical form"),
        (GOOD.replace(":0.0", ":0"), "not in canonical form"),
        (GOOD.replace(":0.0", ":-1.0"), "never decreases"),
        ('{"kind":"body_posed","sim_time_s":0.0,"turn":0,"phase":"end","step":1}', "lacks its array"),
    ],
)
def test_the_audit_finds_what_our_writer_would_not_have_written(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "log"
    write_lines(path, [GOOD, line])
    found = check(path)
    assert found.problem is not None
    assert (found.state, found.events) == ("corrupt", 1)
    assert says in found.problem.what


def test_an_unknown_field_deep_in_the_opening_is_refused(tmp_path: Path) -> None:
    line = admit(every_kind()[0])[0].decode().rstrip("\n")
    path = tmp_path / "log"
    write_lines(path, [line.replace('"spawn":', '"gravity":9.8,"spawn":')])
    with read_log(path) as log, pytest.raises(EventError, match="event 0 of kind 'episode_opened' cannot be read"):
        list(log)
