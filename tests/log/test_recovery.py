"""Recovery keeps every intact event and says what is missing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from iwreplay.errors import LogError, LogLockedError, LogWriteError
from iwreplay.log import LogWriter, Recovered, check, read_log, recover, seal, state_at
from iwreplay.world.state import WorldState
from tests.log.samples import long_episode, write


def damage(path: Path, batch: int) -> None:
    """Flips one bit in the body of a batch."""
    with read_log(path) as log:
        span = log._found.spans[batch]
    data = bytearray(path.read_bytes())
    data[span.offset + span.length - 200] ^= 4
    path.write_bytes(bytes(data))


def wreck(path: Path, batch: int) -> None:
    """Destroys more of a batch than parity can mend."""
    with read_log(path) as log:
        span = log._found.spans[batch]
    data = bytearray(path.read_bytes())
    for at in range(span.offset + 8, span.offset + span.length, 97):
        data[at] ^= 4
    path.write_bytes(bytes(data))


def test_a_hole_in_the_middle_of_an_open_log(tmp_path: Path) -> None:
    events = long_episode(100)
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, events, commit_every=10)
    damage(path, 3)
    before = path.read_bytes()
    did = recover(path, out)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.arrows", "log.arrows.lock", "out.arrows"]
    r = did.recovered
    assert (r.file_sha256, r.name, r.size_bytes) == (hashlib.sha256(before).hexdigest(), "log.arrows", len(before))
    assert (r.state, r.reason) == ("corrupt", "a batch fails its checksum")
    assert r.kept == ((0, 29), (40, 99))
    assert [(m.first, m.last) for m in r.missing] == [(30, 39)]
    assert (r.gaps, r.lossless) == ((30,), False)
    assert (did.check.state, did.check.events, did.check.complete) == ("sealed", 90, False)
    assert did.check.recovered == r
    with read_log(out) as log:
        assert [e for _, e in log] == events[:30] + events[40:]
        assert [log.wall_ns(i) for i in (29, 30)] == [1_700_000_000_000_000_029, 1_700_000_000_000_000_040]
        assert log.recovered == r
        assert not log.complete
    # the statement is in plain sight for any Arrow reader
    with pa.ipc.open_stream(out) as stream:
        stored = stream.schema.metadata[b"iwreplay.recovered"]
    assert msgspec.json.decode(stored, type=Recovered) == r


def test_a_hole_in_a_sealed_log_knows_the_end(tmp_path: Path) -> None:
    events = long_episode(3000)
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, events, commit_every=500, seal=True)
    wreck(path, 2)
    did = recover(path, out)
    assert did.recovered.kept == ((0, 2047),)
    assert [(m.first, m.last) for m in did.recovered.missing] == [(2048, 2999)]
    assert did.recovered.gaps == ()
    wreck(path, 0)
    r = recover(path, tmp_path / "second.arrows").recovered
    assert r.kept == ((1024, 2047),)
    assert [(m.first, m.last) for m in r.missing] == [(0, 1023), (2048, 2999)]
    assert r.gaps == (0,)


def test_a_cut_log_does_not_know_its_end(tmp_path: Path) -> None:
    events = long_episode(60)
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, events, commit_every=20)
    path.write_bytes(path.read_bytes()[:-9])
    did = recover(path, out)
    assert did.recovered.kept == ((0, 39),)
    assert [(m.first, m.last) for m in did.recovered.missing] == [(40, None)]
    assert not did.check.complete


def test_an_open_log_recovers_whole_with_the_same_root(tmp_path: Path) -> None:
    events = long_episode(60)
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    root = write(path, events)
    did = recover(path, out)
    assert (did.check.root_hash, did.check.complete) == (root, True)
    assert (did.recovered.missing, did.recovered.reason) == ((), "never sealed")


def test_a_damaged_schema_does_not_take_the_events_with_it(tmp_path: Path) -> None:
    events = long_episode(60)
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, events)
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))
    assert (check(path).state, check(path).events) == ("corrupt", 0)
    did = recover(path, out)
    assert did.recovered.kept == ((0, 59),)
    assert [e for _, e in read_all(out)] == events


def test_a_damaged_seal_loses_nothing(tmp_path: Path) -> None:
    events = long_episode(60)
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    root = write(path, events, seal=True)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    found = check(path)
    assert (found.state, found.events) == ("corrupt", 60)
    did = recover(path, out)
    assert did.check.root_hash == root
    assert did.recovered.kept == ((0, 59),)


def test_recovering_a_recovered_log_carries_the_loss_on(tmp_path: Path) -> None:
    events = long_episode(100)
    path, second, third = (tmp_path / n for n in ("a.arrows", "b.arrows", "c.arrows"))
    write(path, events, commit_every=10)
    damage(path, 3)
    first_loss = recover(path, second).recovered
    data = bytearray(second.read_bytes())
    data[-1] ^= 1
    second.write_bytes(bytes(data))
    did = recover(second, third)
    assert did.recovered.earlier == first_loss
    assert (did.recovered.missing, did.recovered.gaps, did.recovered.lossless) == ((), (30,), False)
    assert not did.check.complete


def test_state_is_refused_across_a_gap_until_the_next_snapshot(tmp_path: Path) -> None:
    events = long_episode(100, snapshot_every=50)
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, events, commit_every=10)
    damage(path, 3)
    recover(path, out)
    state_at(out, 29)
    for seq in (30, 39):
        with pytest.raises(LogError, match=rf"state at event {seq} is unknown: events are missing before event 30"):
            state_at(out, seq)
    # event 40 of the recovered log is the snapshot that was event 50
    state = WorldState(events[0].scene)  # type: ignore[attr-defined]
    for event in events[:71]:
        state.apply(event)
    assert vars(state_at(out, 60)) | {"scene": None} == vars(state) | {"scene": None}


def test_what_recovery_refuses(tmp_path: Path) -> None:
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, long_episode(10), seal=True)
    with pytest.raises(LogError, match="sealed and intact; there is nothing to recover"):
        recover(path, out)
    assert not out.exists()
    with LogWriter.create(tmp_path / "live.arrows") as live:
        live.append(long_episode(1)[0])
        live.commit()
        with pytest.raises(LogLockedError, match="is being written"):
            recover(live.path, out)
        with pytest.raises(LogLockedError, match="another process is writing"):
            seal(live.path)
    damaged = tmp_path / "live.arrows"
    out.write_text("something of value")
    with pytest.raises(LogWriteError, match="never overwritten"):
        recover(damaged, out)
    assert out.read_text() == "something of value"


def test_an_interrupted_recovery_leaves_no_sealed_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, long_episode(60), commit_every=10)
    damage(path, 2)

    def fail(*_: object, **__: object) -> None:
        raise LogWriteError("disk full")

    monkeypatch.setattr("iwreplay.log.recovery.LogWriter.seal", fail)
    # as when it is killed: nothing is tidied up
    monkeypatch.setattr("iwreplay.log.recovery.LogWriter.discard", LogWriter.close)
    with pytest.raises(LogWriteError, match="disk full"):
        recover(path, out)
    assert check(out).state == "open"
    assert not check(out).complete
    assert check(out).recovered is not None


def read_all(path: Path) -> list[tuple[int, object]]:
    with read_log(path) as log:
        return list(log)


@pytest.mark.parametrize("step", ["append", "seal"])
def test_a_recovery_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, long_episode(100), commit_every=10)
    damage(path, 3)

    def full(*_: object, **__: object) -> None:
        raise LogWriteError("no space left")

    with monkeypatch.context() as disk:
        disk.setattr(LogWriter, step, full)
        with pytest.raises(LogWriteError, match="no space left"):
            recover(path, out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.arrows", "log.arrows.lock"]
    assert recover(path, out).check.state == "sealed"


def test_a_taken_name_leaves_no_lock(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(LogWriteError, match="never overwritten"):
        LogWriter.create(tmp_path / "taken")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]
