"""Damaged, missing and odd logs in a store: code 3, said in one line, and in nobody else's way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from iwreplay.store import Store, kept_verdicts
from tests.catalogue.conftest import write_episode
from tests.cli.conftest import Run

DONE = "G99-oracle-literal-s0"
ROOT = Path(__file__).parents[2]


def _spoil(store: Store, how: str) -> Path:
    log = store.find(DONE).log
    data = log.read_bytes()
    log.unlink()
    if how == "empty":
        log.write_bytes(b"")
    elif how == "cut":
        log.write_bytes(data[:2000])
    elif how == "flipped":
        # in more places than a recovery can mend
        middle = range(len(data) // 4, len(data) * 3 // 4)
        log.write_bytes(bytes(b ^ (i in middle and i % 100 == 0) for i, b in enumerate(data)))
    elif how == "folder":
        log.mkdir()
    elif how == "pipe":
        os.mkfifo(log)
    elif how == "text":
        log.write_text("hello\n")
    return log


@pytest.mark.parametrize("how", ["empty", "cut", "flipped", "folder", "text", "gone", "pipe"])
def test_damage_is_code_3_everywhere(run: Run, store: Store, how: str) -> None:
    if how == "pipe" and os.name != "posix":
        pytest.skip("has no named pipes")
    _spoil(store, how)
    for command in (
        ("log", "check", DONE), ("log", "seal", DONE), ("log", "recover", DONE), ("show", DONE),
        ("at", DONE, "--seq", 3), ("frames", DONE), ("replay", DONE), ("score", DONE),
    ):  # fmt: skip
        done = run(*command, "--store", store.root)
        assert done.code == 3, (command, done)
        assert len(done.err.splitlines()) <= 2, (command, done)
        assert "Traceback" not in done.err
    assert not (store.episodes_dir / f"{DONE}-recovered").exists()
    listed = run("show", "--json", "--store", store.root)
    assert (listed.code, len(listed.json())) == (0, 3)
    asked = run("query", "SELECT count(*) AS n FROM episodes", "--json", "--store", store.root)
    assert asked.json() == [{"n": 3}], asked


def test_why_a_damaged_log_has_no_score_is_said(run: Run, store: Store) -> None:
    _spoil(store, "empty")
    done = run("score", "--store", store.root)
    assert done.code == 3
    assert f"{DONE} is damaged: unscorable: the log is truncated: the file is empty" in done.err
    assert run("score", DONE, "--json", "--store", store.root).json()[0]["status"] == "unscorable"


def test_replay_says_which_log_is_unreadable_and_goes_on(run: Run, store: Store) -> None:
    for episode in store.episodes():
        episode.log.write_bytes(b"")
    done = run("replay", "--json", "--store", store.root)
    assert done.code == 3
    assert [v["grade"] for v in done.json()] == ["damaged"] * 3
    assert all("the file is empty" in v["problem"] for v in done.json())
    one = run("replay", DONE, "--json", "--store", store.root)
    assert (one.code, one.json()["episode"], one.json()["grade"]) == (3, DONE, "damaged")


def test_replay_answers_with_an_object_for_one_that_is_named_and_else_with_a_list(run: Run, tmp_path: Path) -> None:
    store = Store.open_or_make(tmp_path / "one", made_by="test")
    name = write_episode(store).id
    store.find(name).log.write_bytes(b"")
    assert isinstance(run("replay", name, "--json", "--store", store.root).json(), dict)
    for named in ((), (name, name)):
        answer = run("replay", *named, "--json", "--store", store.root).json()
        assert [v["episode"] for v in answer] == [name]
        assert {"episode", "grade", "steps", "first_divergence"} <= set(answer[0])


@pytest.mark.parametrize(
    ("how", "status"), [("empty", "damaged"), ("cut", "damaged"), ("flipped", "damaged"), ("text", "damaged"),
                        ("folder", "unreadable"), ("gone", "unfinished")]
)  # fmt: skip
def test_one_word_for_what_became_of_it(run: Run, store: Store, how: str, status: str) -> None:
    _spoil(store, how)
    listed = run("show", "--json", "--store", store.root).json()
    assert [e["status"] for e in listed if e["episode"] == DONE] == [status]
    sql = f"SELECT status FROM episodes WHERE episode = '{DONE}'"
    assert run("query", sql, "--json", "--store", store.root).json() == [{"status": status}]
    scored = run("score", DONE, "--store", store.root)
    assert f"{DONE} is {status}: unscorable" in scored.err
    assert run("score", DONE, "--json", "--store", store.root).json()[0]["episode_status"] == status
    replayed = run("replay", DONE, "--json", "--store", store.root).json()
    assert (replayed["grade"], replayed["status"]) == (status, status)
    checked = run("log", "check", DONE, "--json", "--store", store.root)
    if how not in ("folder", "gone"):
        assert checked.json()["status"] == status
    assert list(kept_verdicts(store.find(DONE))) == [], "there is no verdict on what can't be replayed"


def test_a_file_named_like_an_episode_is_in_nobodys_way(
    run: Run, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / DONE).write_text("notes\n")
    assert run("log", "check", DONE, "--store", store.root).code == 0
    assert run("log", "check", f"./{DONE}", "--store", store.root).code == 3
    (tmp_path / "saved.arrows").write_bytes(store.find(DONE).log.read_bytes())
    assert run("log", "check", "saved.arrows", "--store", store.root).code == 0
    assert run("log", "check", "saved.arrows", "--store", tmp_path / "none").code == 0


def test_a_turn_that_never_was(run: Run, store: Store) -> None:
    done = run("show", DONE, "--turn", 99, "--store", store.root)
    assert (done.code, done.out) == (2, "")
    assert f"unknown turn '99'. {DONE} has turns 0 to " in done.err


@pytest.mark.skipif(os.name != "posix", reason="file names are text there")
def test_bytes_that_are_no_text_are_refused(store: Store) -> None:
    for command in (("show", "a\udcff"), ("run", "V06", "--store", "b\udcff"), ("query", "SELECT '\udcff'")):
        done = _iwreplay(*command)
        assert done.returncode == 2
        assert "is no text in the encoding of this terminal" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_reader_that_has_seen_enough(store: Store) -> None:
    """As in `iwreplay show X | head -1`: quiet, and the exit code of a broken pipe."""
    read, write = os.pipe()
    os.close(read)
    done = _iwreplay("show", DONE, "--store", str(store.root), stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout(store: Store) -> None:
    with Path("/dev/full").open("w") as full:
        done = _iwreplay("tasks", "list", stdout=full.fileno())
    assert (done.returncode, done.stderr) == (3, "error: No space left on device: stdout\n")


def test_json_is_json_in_any_encoding(store: Store) -> None:
    sql = "SELECT 'ü漢😀' AS x, chr(27) || '[31m' AS y, chr(159) AS z"
    done = _iwreplay("query", sql, "--json", "--store", str(store.root), PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout) == [{"x": "ü漢😀", "y": "\x1b[31m", "z": "\x9f"}]


def test_text_never_steers_the_terminal(store: Store) -> None:
    done = _iwreplay("query", "SELECT chr(27) || '[31m' AS y", "--store", str(store.root), PYTHONIOENCODING="ascii")
    assert done.stdout.splitlines()[2] == "\\x1b[31m"


def _iwreplay(*args: str, stdout: int = subprocess.PIPE, **env: str) -> subprocess.CompletedProcess[str]:
    code = "from iwreplay.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=ROOT,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
