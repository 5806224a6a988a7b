"""The journal of annotations: whole acts, one writer after the other, damage named and never left out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from iwreplay.annotations import Label, Ledger, Record, record_id
from iwreplay.canonical import sha256_hex
from iwreplay.errors import AnnotationError, LogLockedError, LogWriteError, StoreDamagedError
from iwreplay.store import Store
from iwreplay.store.annotations import Act, add_annotations, annotations_file, kept_annotations
from iwreplay.store.journal import Journal

ROOT = Path(__file__).resolve().parents[2]
LOG = "a" * 64


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    return Store.open_or_make(tmp_path / "store", made_by="test")


def _label(n: int, *, annotator: str = "anna") -> Label:
    return Label(root_hash=sha256_hex(str(n).encode()), annotator=annotator, label="R1", seq=n)


def _keep(store: Store, *records: Record) -> tuple[Record, ...]:
    new, ledger = add_annotations(store, lambda _: records)
    assert set(new) <= set(ledger.records.values())
    return new


def test_what_was_said_is_there_again_and_only_once(empty: Store) -> None:
    assert kept_annotations(empty).records == {}
    assert not annotations_file(empty).parent.exists()
    one, two = _label(1), _label(2)
    assert _keep(empty, one) == (one,)
    assert _keep(empty, one, two, two) == (two,)
    assert _keep(empty, one, two) == ()
    assert tuple(kept_annotations(empty).records.values()) == (one, two)
    assert annotations_file(empty).read_bytes().count(b"\n") == 2, "a line for each act that added something"


def test_what_is_refused_leaves_no_trace(empty: Store) -> None:
    def refuse(ledger: Ledger) -> tuple[Record, ...]:
        raise AnnotationError("no")

    with pytest.raises(AnnotationError):
        add_annotations(empty, refuse)
    with pytest.raises(AnnotationError, match="neither here nor in the store"):
        _keep(empty, _label(1), msgspec.structs.replace(_label(1), supersedes=("b" * 64,)))
    with pytest.raises(AnnotationError, match="can't name an annotator"):
        _keep(empty, _label(1), _label(2, annotator=""))
    assert not annotations_file(empty).parent.exists()


_WRITER = """
import sys
from pathlib import Path
from iwreplay.annotations import Label
from iwreplay.canonical import sha256_hex
from iwreplay.store import Store
from iwreplay.store.annotations import add_annotations
store, name, count = Store.open(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for n in range(count):
    made = Label(root_hash=sha256_hex(str(n).encode()), annotator=name, label="R1", seq=n)
    add_annotations(store, lambda ledger: (made,))
    print(n, flush=True)
"""


def _writer(store: Store, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(store.root), name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_two_who_write_at_once_lose_nothing(empty: Store) -> None:
    writers = [_writer(empty, name, 40) for name in ("anna", "ben", "carla")]
    assert [w.wait(timeout=300) for w in writers] == [0, 0, 0]
    for w in writers:
        assert w.stdout is not None
        w.stdout.close()
    kept = kept_annotations(empty)
    assert len(kept.records) == 120
    assert kept.annotators == ("anna", "ben", "carla")


def test_threads_of_one_process_take_turns_too(empty: Store) -> None:
    def write(name: str) -> None:
        for n in range(15):
            _keep(empty, _label(n, annotator=name))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, ("anna", "ben", "carla", "dora")))
    assert len(kept_annotations(empty).records) == 60


def test_who_waits_too_long_is_told(empty: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _keep(empty, _label(1))
    path = annotations_file(empty)
    with Journal[Act](path, Act, wait_s=1.0):
        monkeypatch.setattr("iwreplay.store.annotations._WAIT_S", 0.05)
        with pytest.raises(LogLockedError, match="another process is writing"):
            _keep(empty, _label(2))
    assert _keep(empty, _label(2)) == (_label(2),)
    assert path.with_name("journal.jsonl.lock").exists(), "those who wait must find the same file"


def test_a_writer_that_is_killed_loses_nothing_that_was_acknowledged(empty: Store) -> None:
    for _ in range(3):
        writer = _writer(empty, "anna", 10_000)
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(4)]
        time.sleep(0.005)
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().split() if line]
        writer.wait(timeout=60)
        writer.stdout.close()
        kept = {r.seq for r in kept_annotations(empty).records.values() if isinstance(r, Label)}
        assert set(said) <= kept
        assert _keep(empty, _label(max(kept) + 1, annotator="anna"))


@pytest.fixture
def written(empty: Store) -> Store:
    for n in range(4):
        _keep(empty, _label(2 * n), _label(2 * n + 1))
    return empty


def test_an_act_that_was_cut_off_is_none_of_it(written: Store) -> None:
    path = annotations_file(written)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    before = len(b"".join(lines[:3]))
    for size in range(before, len(whole)):
        path.write_bytes(whole[:size])
        assert len(kept_annotations(written).records) == 6
    assert _keep(written, _label(99)), "and the next one is written in its place"
    assert len(kept_annotations(written).records) == 7


def test_a_changed_byte_is_named_and_nothing_is_left_out_silently(written: Store) -> None:
    path = annotations_file(written)
    whole = path.read_bytes()
    for i in range(0, len(whole) - 1, 37):
        if whole[i] == ord("\n"):
            continue
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        line = whole[:i].count(b"\n") + 1
        with pytest.raises(StoreDamagedError, match=f"line {line}") as caught:
            kept_annotations(written)
        assert caught.value.exit_code == 3
        assert "Nothing in it is used" in str(caught.value)
        with pytest.raises(StoreDamagedError, match=f"line {line}"):
            _keep(written, _label(50))


def test_a_line_that_was_taken_out_is_missed(written: Store) -> None:
    path = annotations_file(written)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2] + lines[3])
    with pytest.raises(StoreDamagedError, match="line 2 is not what was written there"):
        kept_annotations(written)


def _chain(path: Path, *records: object) -> None:
    """A journal with good hashes, of whatever records."""
    before, text = "0" * 64, b""
    for record in records:
        body = msgspec.json.encode(record, order="deterministic")
        before = sha256_hex(before.encode() + body)
        text += b'{"record":' + body + b',"sha256":"' + before.encode() + b'"}\n'
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text)


_GOOD = msgspec.to_builtins(_label(1))


@pytest.mark.parametrize(
    ("acts", "said"),
    [
        ([{"version": 2, "records": [{"kind": "song"}]}], "line 1 has version 2, newer than 1"),
        ([{"version": 1, "records": [_GOOD]}, {"version": 1, "records": [{"kind": "song"}]}], "line 2: .*'song'"),
        ([{"version": 1, "records": [{**_GOOD, "mood": "bad"}]}], "line 1: .*unknown field `mood`"),
        ([{"version": 1, "records": [{**_GOOD, "annotator": ""}]}], "line 1: '' can't name an annotator"),
        ([{"version": 1, "records": [{**_GOOD, "supersedes": ["b" * 64]}]}], "neither here nor in the store"),
    ],
)
def test_a_forged_line_with_good_hashes_is_no_record_either(empty: Store, acts: list[object], said: str) -> None:
    _chain(annotations_file(empty), *acts)
    with pytest.raises(StoreDamagedError, match=said):
        kept_annotations(empty)


def test_a_full_disk_leaves_what_was_there(written: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = annotations_file(written).read_bytes()

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(LogWriteError, match="No space left"):
        _keep(written, _label(77))
    monkeypatch.undo()
    assert annotations_file(written).read_bytes() == before
    assert record_id(_label(77)) not in kept_annotations(written).records
