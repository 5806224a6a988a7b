"""What is written is read, and the root hash depends on the events alone."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.canonical import frame
from iwreplay.errors import EventError, LogWriteError
from iwreplay.events import Event
from iwreplay.log import LogWriter, MemoryLog, check, read_log, seal
from iwreplay.log.admission import admit
from iwreplay.log.envelope import ENVELOPE, row_of
from tests.log.samples import any_log, episode, every_kind, long_episode, write


def root_of(events: list[Event]) -> str:
    return hashlib.sha256(b"".join(frame(*admit(e)) for e in events)).hexdigest()


@settings(max_examples=60, deadline=None)
@given(any_log(), st.integers(1, 5))
def test_any_events_come_back_from_an_open_and_from_a_sealed_log(events: list[Event], commit_every: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "log.arrows"
        memory = MemoryLog()
        for event in events:
            memory.append(event)
        root = write(path, events, commit_every=commit_every)
        assert root == memory.root_hash == root_of(events)
        for state in ("open", "sealed"):
            found = check(path)
            assert (found.state, found.events, found.root_hash) == (state, len(events), root)
            with read_log(path) as log:
                assert [e for _, e in log] == events == list(memory.events())
                assert [s for s, _ in log] == list(range(len(events)))
            seal(path)


@pytest.mark.parametrize("commit_every", [1, 7, 1000])
def test_the_root_is_the_same_however_the_events_are_grouped_and_after_compaction(
    tmp_path: Path, commit_every: int
) -> None:
    events = episode(50)
    path = tmp_path / "log.arrows"
    assert write(path, events, commit_every=commit_every, seal=True) == root_of(events)
    with read_log(path) as log:
        assert log.root_hash == root_of(events)
        assert list(log.events()) == events


def test_wall_time_is_kept_and_does_not_touch_the_root(tmp_path: Path) -> None:
    class Ticking:
        now = 5_000

        def now_ns(self) -> int:
            self.now += 1
            return self.now

    events = every_kind()
    with LogWriter.create(tmp_path / "a.arrows", clock=Ticking()) as a, LogWriter.create(tmp_path / "b.arrows") as b:
        for event in events:
            a.append(event)
            b.append(event, wall_ns=77)
        assert a.seal() == b.seal()
    with read_log(tmp_path / "a.arrows") as log:
        assert [log.wall_ns(i) for i in (0, len(events) - 1)] == [5_001, 5_000 + len(events)]
    with read_log(tmp_path / "b.arrows") as log:
        assert log.wall_ns(3) == 77


def test_sealing_compacts_and_leaves_one_file(tmp_path: Path) -> None:
    events = long_episode(2500)
    path = tmp_path / "log.arrows"
    write(path, events, commit_every=5)
    before = path.stat().st_size
    seal(path)
    assert path.stat().st_size * 4 < before
    assert [p.name for p in tmp_path.iterdir()] == ["log.arrows"]
    with pa.ipc.open_stream(path) as stream:
        assert [b.num_rows for b in stream] == [1024, 1024, 452, 0]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_log_is_a_plain_arrow_stream(tmp_path: Path, sealed: bool) -> None:
    events = episode(40)
    path = tmp_path / "log.arrows"
    write(path, events, seal=sealed)
    with pa.ipc.open_stream(path) as stream:
        table = stream.read_all()
    table.validate(full=True)
    assert table["seq"].to_pylist() == list(range(len(events)))
    assert [tuple(row[c] for c in ENVELOPE) for row in table.to_pylist()] == [row_of(e) for e in events]
    assert table["event"].to_pylist()[0].startswith('{"kind":"episode_opened"')
    bodies = [e for e in events if hasattr(e, "values")]
    assert [tuple(v) for v in table["values"].to_pylist() if v is not None] == [e.values for e in bodies]


def test_an_empty_log_is_open_and_can_be_sealed(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    LogWriter.create(path).close()
    assert check(path).state == "open"
    assert check(path).root_hash == hashlib.sha256().hexdigest()
    assert seal(path).events == 0
    with read_log(path) as log:
        assert (log.state, list(log)) == ("sealed", [])


def test_only_what_is_committed_is_acknowledged_and_the_buffer_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    events = long_episode(4200)
    with LogWriter.create(path) as log:
        for event in events[:10]:
            log.append(event)
        assert (log.committed, log.next_seq, check(path).events) == (0, 10, 0)
        log.commit()
        assert (log.committed, check(path).events) == (10, 10)
        for event in events[10:]:
            log.append(event)
        # written out by itself to bound memory, but not acknowledged
        assert check(path).events == 10 + 4096
        assert log.committed == 10
        assert len(log._held.lines) == 4200 - 10 - 4096
    assert check(path).events == 4200


def test_large_events_are_written_out_by_size(tmp_path: Path) -> None:
    base = next(e for e in every_kind() if e.__struct_config__.tag == "utterance")
    with LogWriter.create(tmp_path / "log.arrows") as log:
        big = msgspec.structs.replace(base, text="x" * 4_000_000)
        for _ in range(5):
            log.append(big)
        assert len(log._held.lines) < 3
        log.seal()
    with read_log(tmp_path / "log.arrows") as log_read:
        assert [e for _, e in log_read] == [big] * 5


def test_an_existing_log_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    write(path, every_kind())
    before = path.read_bytes()
    with pytest.raises(LogWriteError, match=r"exists; a log is never overwritten"):
        LogWriter.create(path)
    assert path.read_bytes() == before


def test_a_refused_event_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    events = every_kind()
    path = tmp_path / "log.arrows"
    with LogWriter.create(path) as log:
        for event in events:
            log.append(event)
            with pytest.raises(EventError):
                log.append(7)  # type: ignore[arg-type]
        log.seal()
    assert check(path).events == len(events)


def test_after_the_end_nothing_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    log = LogWriter.create(path)
    log.append(every_kind()[0])
    root = log.seal()
    assert log.seal() == root
    with pytest.raises(LogWriteError, match="is sealed and takes no more events"):
        log.append(every_kind()[1])
    log.close()
    other = LogWriter.create(tmp_path / "other.arrows")
    other.close()
    other.close()
    with pytest.raises(LogWriteError, match="is closed and takes no more events"):
        other.commit()


def test_a_check_says_whether_the_episode_ended_and_is_complete(tmp_path: Path) -> None:
    events = every_kind()
    write(tmp_path / "whole.arrows", events, seal=True)
    write(tmp_path / "part.arrows", events[:-1])
    whole, part = check(tmp_path / "whole.arrows"), check(tmp_path / "part.arrows")
    assert (whole.ended, whole.complete) == (True, True)
    assert (part.ended, part.complete) == (False, False)
