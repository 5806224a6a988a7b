"""A journal keeps every record that was acknowledged, and notices what is not its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from iwreplay.errors import LogLockedError, StoreDamagedError
from iwreplay.store.journal import Journal, read_journal


class Said(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="said", forbid_unknown_fields=True):
    text: str


class Counted(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="counted", forbid_unknown_fields=True):
    n: int


Kind = Said | Counted
SOME = (Said(text='Grüezi\n{"record":1}'), Counted(n=7), Said(text=""))


def _written(path: Path) -> Path:
    with Journal[Kind](path, Kind) as journal:
        for record in SOME:
            journal.append(record)
    return path


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    path = _written(tmp_path / "j.jsonl")
    assert read_journal(path, Kind) == SOME
    with Journal[Kind](path, Kind) as journal:
        assert (journal.records, journal.dropped_bytes) == (SOME, 0)
        journal.append(Counted(n=8))
    assert read_journal(path, Kind) == (*SOME, Counted(n=8))
    assert [p.name for p in tmp_path.iterdir()] == ["j.jsonl"]


def test_a_journal_cut_anywhere_keeps_its_whole_lines(tmp_path: Path) -> None:
    whole = _written(tmp_path / "j.jsonl").read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    assert len(ends) == len(SOME)
    for size in range(len(whole) + 1):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends)
        with Journal[Kind](path, Kind) as journal:
            assert journal.records == SOME[:kept]
            assert journal.dropped_bytes == size - ([0, *ends][kept])
            journal.append(Counted(n=9))
        assert read_journal(path, Kind) == (*SOME[:kept], Counted(n=9))


def test_a_changed_byte_is_found_and_the_line_named(tmp_path: Path) -> None:
    whole = _written(tmp_path / "j.jsonl").read_bytes()
    path = tmp_path / "bad.jsonl"
    for i, byte in enumerate(whole[:-1]):
        if byte == ord("\n"):
            continue
        path.write_bytes(whole[:i] + bytes([byte ^ 1]) + whole[i + 1 :])
        with pytest.raises(StoreDamagedError) as caught:
            read_journal(path, Kind)
        assert f"line {whole[:i].count(10) + 1}" in str(caught.value)
        assert caught.value.exit_code == 3


def test_a_line_left_out_is_found(tmp_path: Path) -> None:
    path = _written(tmp_path / "j.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    with pytest.raises(StoreDamagedError, match="line 2 is not what was written there"):
        read_journal(path, Kind)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with Journal[Kind](tmp_path / "j.jsonl", Kind):
        code = (
            "import sys; from pathlib import Path; from iwreplay.errors import LogLockedError;"
            "from iwreplay.store.journal import Journal\n"
            "try: Journal(Path(sys.argv[1]), dict)\n"
            "except LogLockedError as e: print(e)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "j.jsonl")], capture_output=True, text=True, check=True
        )
        assert "another process is writing" in done.stdout
    assert LogLockedError.exit_code == 2


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    from iwreplay.errors import LogWriteError

    path = _written(tmp_path / "j.jsonl")
    before = path.read_bytes()
    with Journal[Kind](path, Kind) as journal:
        write = os.write

        def full(fd: int, data: bytes) -> int:
            write(fd, bytes(data)[:5])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(LogWriteError, match="No space left"):
            journal.append(Counted(n=1))
        monkeypatch.setattr(os, "write", write)
        assert path.read_bytes() == before
        journal.append(Counted(n=2))
    assert read_journal(path, Kind) == (*SOME, Counted(n=2))


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_ctrl_c_in_the_middle_of_an_append_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "j.jsonl"
    real, pressed = getattr(os, call), [True]

    def press(*args: object) -> object:
        done = real(*args)
        if pressed:
            pressed.pop()
            raise KeyboardInterrupt
        return done

    with Journal[Kind](path, Kind) as journal:
        journal.append(SOME[0])
        monkeypatch.setattr(os, call, press)
        with pytest.raises(KeyboardInterrupt):
            journal.append(SOME[1])
        assert journal.records == SOME[:1]
        journal.append(SOME[2])
    assert read_journal(path, Kind) == (SOME[0], SOME[2])
