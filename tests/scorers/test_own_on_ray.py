"""Scores on a Ray cluster that is started on this machine: the same, whatever becomes of its workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.rescore_bench import prepare
from iwreplay.app.scoring import score_episodes
from tests.scorers.own import written

pytest.importorskip("ray")

EPISODES = 12
#: takes a while, so that there is somebody to kill
SLOW = (
    "from scorers import Score\ndef score(events, task):\n    n = sum(i % 7 for i in range({}))\n"
    "    return Score(metric='mine', value=len(events) + n % 5, evidence=(3,), details={{'n': n}})\n"
)


def started(store: Path, *args: str | Path) -> subprocess.Popen[str]:
    root = str(Path(__file__).resolve().parents[2])
    return subprocess.Popen(
        [sys.executable, "-m", "iwreplay", "score", *args, "--engine", "ray", "--jobs", "2", "--store", store],
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def workers(under: int) -> list[int]:
    """Ray's worker processes that carry out a task, of the cluster that a process started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == under and (entry / "cmdline").read_bytes().startswith(b"ray::_carry"):
                    found.append(int(entry.name))
            except (ProcessLookupError, FileNotFoundError):
                continue
    return found


def wait_for(there: object, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not there():  # type: ignore[operator]
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def test_a_lost_worker_costs_nothing_and_the_scores_are_the_same(tmp_path: Path) -> None:
    store = prepare(tmp_path / "a", episodes=EPISODES, events=60)[0]
    path = written(tmp_path, SLOW.format(4_000_000))
    process = started(store, "--scorer", "mcr", "--scorer", path)
    wait_for(lambda: list(store.rglob("scores.json")) and workers(process.pid), process)
    os.kill(workers(process.pid)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert f"{2 * EPISODES} scores computed" in err
    kept = score_episodes(store, scorers=("mcr", str(path)), compute=False)
    assert all(s.kept for s in kept)
    other = prepare(tmp_path / "b", episodes=EPISODES, events=60)[0]
    here = score_episodes(other, scorers=("mcr", str(path)), jobs=1)
    assert [(s.episode, s.metric, s.value, s.evidence, s.details, s.scorer_hash) for s in kept] == [
        (s.episode, s.metric, s.value, s.evidence, s.details, s.scorer_hash) for s in here
    ]


def test_ctrl_c_keeps_what_is_done_and_only_the_rest_is_sent(tmp_path: Path) -> None:
    store = prepare(tmp_path, episodes=EPISODES, events=60)[0]
    path = written(tmp_path, SLOW.format(4_000_000))
    process = started(store, "--scorer", path)
    wait_for(lambda: list(store.rglob("scores.json")), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    kept = sum(s.kept for s in score_episodes(store, scorers=(str(path),), compute=False))
    assert 0 < kept < EPISODES
    process = started(store, "--scorer", path)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert f"{EPISODES} scores: {EPISODES - kept} computed now, {kept} kept from before" in err


def test_a_failing_scorer_is_told_from_there(tmp_path: Path) -> None:
    store = prepare(tmp_path, episodes=2, events=60)[0]
    process = started(store, "--scorer", written(tmp_path, "def score(events, task):\n    return [][0]\n"))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "and 1 more: " in err
    assert "mine.py:3: 'return [][0]': IndexError" in err
