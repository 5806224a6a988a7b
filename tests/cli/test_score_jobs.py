"""Scores come in the order of the episodes, and are the same, in any number of processes."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.rescore_bench import prepare
from iwreplay.app import scoring
from iwreplay.app.scoring import score_episodes
from iwreplay.store import Store
from scorers import SCORERS


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return prepare(tmp_path, episodes=6, events=60)[0]


def test_the_same_in_one_process_and_in_two(store: Path) -> None:
    one = score_episodes(store, again=True, jobs=1)
    told: list[tuple[int, int]] = []
    two = score_episodes(store, again=True, jobs=2, progress=lambda done, of: told.append((done, of)))
    assert one == two
    assert [s.episode for s in two[:: len(SCORERS)]] == [e.id for e in Store.open(store).episodes()]
    assert told[-1] == (6, 6)
    assert all(s.kept for s in score_episodes(store, jobs=1))


def test_what_is_kept_is_handed_to_no_other_process(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = [e.id for e in Store.open(store).episodes()]
    first = score_episodes(store, (every[1], every[4]), jobs=1)
    handed: list[list[str]] = []
    real = scoring.each

    def watching(work, items, *, jobs, progress):  # type: ignore[no-untyped-def]
        handed.append([e.id for several in items for e in several])
        return real(work, items, jobs=jobs, progress=progress)

    monkeypatch.setattr(scoring, "each", watching)
    told: list[tuple[int, int]] = []
    lines = score_episodes(store, jobs=2, progress=lambda done, of: told.append((done, of)))
    assert told[:2] == [(1, 6), (2, 6)], "what is kept is told of as it is found"
    assert told[-1] == (6, 6)
    assert handed == [[e for e in every if e not in (every[1], every[4])]]
    assert [s.episode for s in lines[:: len(SCORERS)]] == every
    assert {s.episode for s in lines if s.kept} == {s.episode for s in first}


def test_a_damaged_log_is_unscorable_wherever_it_is_read(store: Path) -> None:
    episode = next(iter(Store.open(store).episodes()))
    raw = bytearray(episode.log.read_bytes())
    raw[len(raw) // 2] ^= 1
    episode.log.write_bytes(bytes(raw))
    lines, n = score_episodes(store, jobs=2), len(SCORERS)
    assert lines == score_episodes(store, jobs=1)[:n] + lines[n:]
    assert [s.status for s in lines[:n]] == ["unscorable"] * n
    assert all(s.status != "unscorable" for s in lines[n:])


def test_how_many_processes_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    pays = scoring._PAYS_FROM
    assert [scoring._jobs_that_pay(n, None) for n in (0, 100, 2 * pays - 1, 2 * pays, 3 * pays, 100 * pays)] == [
        1, 1, 1, 2, 3, 4,
    ]  # fmt: skip
    assert scoring._jobs_that_pay(1, 7) == 7


def test_the_collector_is_left_as_it_was(store: Path) -> None:
    before = gc.get_threshold()
    score_episodes(store, again=True, jobs=1)
    assert gc.get_threshold() == before
    with scoring._collecting_less_often():
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX sends it")
def test_ctrl_c_leaves_scores_that_can_be_gone_on_with(tmp_path: Path) -> None:
    store = prepare(tmp_path, episodes=150, events=300)[0]
    command = [sys.executable, "-m", "iwreplay", "score", "--jobs", "2", "--json", "--store", str(store)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(store.rglob("scores.json")):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    lines = score_episodes(store, jobs=1)
    kept = sum(s.kept for s in lines)
    assert 0 < kept < len(lines) == 150 * len(SCORERS), "stopped in the middle"
    assert all(s.status != "unscorable" for s in lines)
    assert json.loads(next(store.rglob("scores.json")).read_bytes())["version"] == 1
