"""`log check`, `log recover`, `log seal`."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.log import FORMAT_VERSION, read_log
from iwreplay.store import Store
from tests.catalogue.conftest import write_episode
from tests.cli.conftest import Run

DONE = "G99-oracle-literal-s0"
OPEN = "G99-oracle-literal-s1"


def _flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


def test_check_of_a_whole_log(run: Run, store: Store) -> None:
    done = run("log", "check", DONE, "--json", "--store", store.root)
    with read_log(store.find(DONE).log) as log:
        wanted = {"state": "sealed", "events": len(log), "root_hash": log.root_hash, "problem": None}
    assert done.code == 0
    assert wanted.items() <= done.json().items()
    assert f"root hash {wanted['root_hash']}" in run("log", "check", DONE, "--store", store.root).out


def test_check_takes_a_path_and_needs_no_store(run: Run, store: Store, tmp_path: Path) -> None:
    done = run("log", "check", store.find(DONE).log, "--store", tmp_path / "none")
    assert (done.code, done.out.startswith(f"{DONE}: sealed")) == (0, True)


def test_a_damaged_log_is_code_3(run: Run, store: Store) -> None:
    log = store.find(DONE).log
    _flip(log, log.stat().st_size // 2)
    done = run("log", "check", DONE, "--json", "--store", store.root)
    answer = done.json()
    assert (done.code, answer["state"], answer["root_hash"]) == (3, "corrupt", None)
    assert answer["problem"]["what"]
    assert "problem: " in run("log", "check", DONE, "--store", store.root).out


def test_a_cut_log_is_truncated(run: Run, store: Store) -> None:
    log = store.find(OPEN).log
    log.write_bytes(log.read_bytes()[:-100])
    done = run("log", "check", OPEN, "--json", "--store", store.root)
    assert (done.code, done.json()["state"]) == (3, "truncated")


def test_seal_keeps_the_root_hash(run: Run, store: Store) -> None:
    before = run("log", "check", OPEN, "--json", "--store", store.root).json()
    done = run("log", "seal", OPEN, "--json", "--store", store.root)
    assert (before["state"], done.json()["state"]) == ("open", "sealed")
    assert done.json()["root_hash"] == before["root_hash"]


def test_recover_in_a_store_makes_a_new_episode(run: Run, store: Store) -> None:
    log = store.find(DONE).log
    log.write_bytes(log.read_bytes()[:-300])
    done = run("log", "recover", DONE, "--store", store.root)
    assert done.code == 0, done.err
    said = done.out.splitlines()
    assert said[0].startswith(f"{DONE} is truncated: ")
    assert said[1].startswith("kept: ")
    assert said[2].startswith("missing: all events from ")
    assert f"new log: episode {DONE}-recovered, in " in said[3]
    assert said[4] == f"next: iwreplay show {DONE}-recovered"
    assert run("log", "check", f"{DONE}-recovered", "--store", store.root).code == 0
    again = run("log", "recover", DONE, "--store", store.root)
    assert (again.code, "recovered before" in again.err) == (2, True)


def test_recover_to_a_file(run: Run, store: Store, tmp_path: Path) -> None:
    out = tmp_path / "saved.arrows"
    done = run("log", "recover", OPEN, "--out", out, "--json", "--store", store.root)
    assert done.code == 0
    assert done.json()["check"]["state"] == "sealed"
    assert out.is_file()


def test_a_failed_recovery_leaves_nothing_behind(run: Run, store: Store) -> None:
    store.find(DONE).log.write_bytes(b"nothing of a log")
    done = run("log", "recover", DONE, "--store", store.root)
    assert (done.code, "holds no intact event" in done.err) == (3, True)
    assert not (store.episodes_dir / f"{DONE}-recovered").exists()


def test_recovering_what_is_whole_is_wrong_use(run: Run, store: Store) -> None:
    """Its data is good, so that it is not the exit code of damage."""
    done = run("log", "recover", DONE, "--json", "--store", store.root)
    assert (done.code, done.out) == (2, "")
    assert "is sealed and intact; there is nothing to recover, and nothing was written" in done.err
    assert not (store.episodes_dir / f"{DONE}-recovered").exists()


def test_a_log_from_the_future_is_refused_by_name(run: Run, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr("iwreplay.log.messages.FORMAT_VERSION", FORMAT_VERSION + 1)
        newer = write_episode(store, seed=9, end=None)
    for command in (("log", "check"), ("log", "seal"), ("log", "recover"), ("show",)):
        done = run(*command, newer.id, "--store", store.root)
        assert done.code == 3
        assert f"version {FORMAT_VERSION + 1} is newer than {FORMAT_VERSION}" in done.err
        assert "upgrade iwreplay" in done.err


def test_a_target_that_can_not_be_is_wrong_use(run: Run, store: Store, tmp_path: Path) -> None:
    for out, said in ((tmp_path, "exists, and nothing is overwritten"), (tmp_path / "no" / "x", "there is no folder")):
        done = run("log", "recover", OPEN, "--out", out, "--store", store.root)
        assert (done.code, said in done.err) == (2, True)


def _with_a_hole(store: Store) -> str:
    """A recovered episode of which a batch in the middle was lost."""
    entry = write_episode(store, seed=5, events=2600)
    data = bytearray(entry.log.read_bytes())
    for at in range(len(data) * 7 // 16, len(data) * 9 // 16, 100):
        # more than parity can mend
        data[at] ^= 0xFF
    entry.log.write_bytes(data)
    return entry.id


def test_one_broken_byte_costs_nothing(run: Run, store: Store) -> None:
    log = store.find(DONE).log
    with read_log(log) as whole:
        root, events = whole.root_hash, len(whole)
    _flip(log, log.stat().st_size // 2)
    done = run("log", "recover", DONE, "--store", store.root)
    assert done.code == 0, done.err
    said = done.out.splitlines()
    assert said[0] == f"{DONE} is corrupt: a batch fails its checksum; mended with the parity in its seal"
    assert said[1:3] == [f"kept: {events} events of log.arrows: 0 to {events - 1}", "missing: nothing"]
    whole_again = run("log", "check", f"{DONE}-recovered", "--json", "--store", store.root).json()
    assert (whole_again["state"], whole_again["root_hash"]) == ("sealed", root)


def test_recovery_says_what_is_lost_and_what_to_do(run: Run, store: Store) -> None:
    name = _with_a_hole(store)
    done = run("log", "recover", name, "--store", store.root)
    assert done.code == 0, done.err
    said = done.out.splitlines()
    assert said[0] == f"{name} is corrupt: a batch fails its checksum"
    assert said[1].startswith("kept: 1570 events of log.arrows: 0 to 1023, 2048 to ")
    assert said[2] == "missing: 1024 events, 1024 to 2047"
    assert said[3].endswith(f"status: incomplete); {store.find(name).log} is as it was")
    assert "has no scores: events are missing" in said[5]


def test_what_lost_events_is_never_scored(run: Run, store: Store) -> None:
    """The rest of it may well look as if it passed."""
    name = _with_a_hole(store)
    saved = run("log", "recover", name, "--json", "--store", store.root).json()
    assert (saved["status"], saved["in_store"]) == ("incomplete", True)
    lines = run("score", saved["episode"], "--json", "--store", store.root).json()
    assert {(s["status"], s["value"], s["episode_status"]) for s in lines} == {("unscorable", None, "incomplete")}
    assert "1024 to 2047" in lines[0]["reason"]
    sql = f"SELECT status, valid FROM episodes WHERE episode = '{saved['episode']}'"
    assert run("query", sql, "--json", "--store", store.root).json() == [{"status": "incomplete", "valid": False}]
