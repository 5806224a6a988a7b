"""A log that was cut or changed anywhere says so, and gives everything before the damage."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from iwreplay.errors import FormatTooNewError, LogCorruptError, LogError
from iwreplay.events import Event
from iwreplay.log import check, read_log, recover, seal
from tests.log.samples import every_kind, write

EVENTS = [e for e in every_kind() if e.__struct_config__.tag != "episode_opened"][:14]


@pytest.fixture(scope="module", params=["open", "sealed"])
def good(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """State and bytes of a log of 14 events in three batches (one when sealed)."""
    path = tmp_path_factory.mktemp("good") / "log.arrows"
    write(path, EVENTS, commit_every=5, seal=request.param == "sealed")
    return request.param, path.read_bytes()


def read(path: Path) -> tuple[str, list[Event]]:
    """State after reading everything, and the events; strict reading must agree."""
    with read_log(path, strict=False) as log:
        events = [e for _, e in log]
        state = log.state
    if state in ("truncated", "corrupt"):
        with read_log(path) as log:
            got: list[Event] = []
            with pytest.raises(LogCorruptError):
                got.extend(log.events())
            assert got == events
            assert log.root_hash is None
            assert log.problem is not None
    return state, events


def assert_seen(path: Path, data: bytes, state: str, what: str) -> None:
    """The damage is noticed, or (in an open log only) it left every event as it was."""
    path.write_bytes(data)
    found, events = read(path)
    assert events == EVENTS[: len(events)], what
    audit = check(path)
    if found == state:
        assert state == "open", what
        assert events == EVENTS, what
    else:
        assert audit.state in ("truncated", "corrupt"), what
        assert audit.problem is not None, what
        assert audit.problem.lost, what
        assert audit.events == len(events), what


def try_flips(path: Path, data: bytes, state: str, positions: Iterable[int]) -> None:
    for i in positions:
        changed = bytearray(data)
        changed[i] ^= 1 << (i * 7 % 8)
        assert_seen(path, bytes(changed), state, f"byte {i}")


def try_cuts(path: Path, data: bytes, positions: Iterable[int]) -> None:
    for i in positions:
        path.write_bytes(data[:i])
        state, events = read(path)
        assert state in ("truncated", "open"), i
        assert events == EVENTS[: len(events)], i


def test_every_flipped_byte_is_noticed_sampled(good: tuple[str, bytes], tmp_path: Path) -> None:
    state, data = good
    ends = [*range(16), *range(len(data) - 72, len(data))]
    try_flips(tmp_path / "log", data, state, [*ends, *Random(3).sample(range(len(data)), 150)])


def test_every_cut_gives_a_prefix_sampled(good: tuple[str, bytes], tmp_path: Path) -> None:
    _, data = good
    ends = [*range(12), *range(len(data) - 80, len(data))]
    try_cuts(tmp_path / "log", data, [*ends, *Random(4).sample(range(len(data)), 120)])


@pytest.mark.slow
def test_every_flipped_byte_is_noticed(good: tuple[str, bytes], tmp_path: Path) -> None:
    state, data = good
    try_flips(tmp_path / "log", data, state, range(len(data)))


@pytest.mark.slow
def test_every_cut_gives_a_prefix(good: tuple[str, bytes], tmp_path: Path) -> None:
    _, data = good
    try_cuts(tmp_path / "log", data, range(len(data)))


def test_random_bytes_written_over_a_log_never_escape_as_another_error(good: tuple[str, bytes], tmp_path: Path) -> None:
    _, data = good
    random = Random(5)
    path = tmp_path / "log"
    for _ in range(60):
        changed = bytearray(data)
        start = random.randrange(len(data))
        for i in range(start, min(len(data), start + random.randrange(1, 300))):
            changed[i] = random.choice((0x00, 0xFF, random.randrange(256)))
        path.write_bytes(bytes(changed))
        check(path)
        read(path)


def test_a_sealed_log_cut_anywhere_never_reads_as_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, EVENTS, seal=True)
    data = path.read_bytes()
    for cut in range(1, 300):
        path.write_bytes(data[:-cut])
        assert check(path).state == "truncated", cut


def test_bytes_after_the_seal_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, EVENTS, seal=True)
    data = path.read_bytes()
    path.write_bytes(data + b"\0" * 8)
    found = check(path)
    assert (found.state, found.events) == ("corrupt", len(EVENTS))
    assert found.problem is not None
    assert found.problem.lost.startswith("nothing")


def test_a_tail_of_zeros_is_an_unfinished_write(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, EVENTS)
    path.write_bytes(path.read_bytes() + bytes(5000))
    found = check(path)
    assert (found.state, found.events) == ("truncated", len(EVENTS))


def test_damage_in_the_middle_names_event_and_byte_and_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, EVENTS, commit_every=5)
    with read_log(path) as log:
        second = log._found.spans[1]
    data = bytearray(path.read_bytes())
    data[second.offset + second.length // 2] ^= 1
    path.write_bytes(bytes(data))
    found = check(path)
    assert found.problem is not None
    assert (found.state, found.events, found.root_hash) == ("corrupt", 5, None)
    assert (found.problem.seq, found.problem.offset) == (5, second.offset)
    match = rf"log is corrupt: .*event 5, byte {second.offset}: .*log"
    with read_log(path) as log, pytest.raises(LogCorruptError, match=match):
        list(log)
    with pytest.raises(LogCorruptError, match="recover it to a new one"):
        seal(path)
    # a broken length hides the rest of the file from a walk; the search finds it again
    data = bytearray(path.read_bytes())
    data[second.offset + 4] ^= 0x40
    path.write_bytes(bytes(data))
    found = check(path)
    assert found.problem is not None
    assert (found.state, found.events) == ("corrupt", 5)
    assert "batches behind the damage" in found.problem.lost
    recovered = recover(path, tmp_path / "out").recovered
    assert recovered.kept == ((0, 4), (10, 13))
    # and one that cannot be the length of any message ends the walk there
    data[second.offset + 7] ^= 0x40
    path.write_bytes(bytes(data))
    found = check(path)
    assert found.problem is not None
    assert (found.state, found.events) == ("corrupt", 5)
    assert "impossible metadata length" in found.problem.what
    assert "intact batches follow" in found.problem.lost


def test_files_that_are_no_logs(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"cannot open log .*nothing"):
        read_log(tmp_path / "nothing")
    (tmp_path / "empty").write_bytes(b"")
    found = check(tmp_path / "empty")
    assert (found.state, found.events, found.format_version) == ("truncated", 0, 0)
    (tmp_path / "text").write_text("hello, this is no log at all")
    assert check(tmp_path / "text").state == "corrupt"
    with pytest.raises(LogError, match="holds no intact event"):
        recover(tmp_path / "text", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_flipped_version_is_damage_and_not_a_newer_format(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, EVENTS)
    data = path.read_bytes()
    at = data.index(b"\x01\0\0\x001\0\0\0") + 4
    path.write_bytes(data[:at] + b"9" + data[at + 1 :])
    assert check(path).state == "corrupt"


def test_a_newer_format_is_refused_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    monkeypatch.setattr("iwreplay.log.messages.FORMAT_VERSION", 7)
    write(path, EVENTS)
    for use in (read_log, check, seal, lambda p: recover(p, tmp_path / "out")):
        with pytest.raises(FormatTooNewError, match="version 7 is newer than 1") as e:
            use(path)
        assert (e.value.found, e.value.newest) == (7, 1)
