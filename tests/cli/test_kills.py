"""kill -9 in the middle of commands: whatever was there is readable, the same command again gives the same answer, and
no worker process goes on for somebody who is gone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from iwreplay.app.episodes import Listed, list_episodes
from iwreplay.log import check
from iwreplay.store import Store
from tests.catalogue.conftest import write_episode

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")

ROOT = Path(__file__).parents[2]
TASKS = ("A04", "V06")
_ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
#: workers must be gone by then; they need no time, the machine may
_GONE_S = 20.0
_LONGEST_S = 300.0
_COUNT = "SELECT task, count(*) AS n FROM actions JOIN episodes USING (episode) GROUP BY task ORDER BY task"


def _start(*args: object, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "iwreplay", *map(str, args)],
        cwd=cwd,
        # what a killed command leaves in the folder for temporary files goes with the test
        env={**_ENV, "TMPDIR": str(cwd)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _iwreplay(*args: object, cwd: Path) -> tuple[int, Any]:
    """(exit code, JSON answer) of a command that is left alone."""
    done = subprocess.run(
        [sys.executable, "-m", "iwreplay", *map(str, args), "--json"],
        cwd=cwd,
        env=_ENV,
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout, f"{args}: {done.stderr}"
    return done.returncode, json.loads(done.stdout)


def _killed(*args: object, cwd: Path, when: Callable[[float], bool]) -> bool:
    """Starts a command and kills its first process once `when(seconds since its start)`; False when it ended before.
    Then waits for the end of its output: everybody whom it started writes there too, so all of them must be gone."""
    child = _start(*args, cwd=cwd)
    started = time.monotonic()
    while child.poll() is None and not when(time.monotonic() - started):
        assert time.monotonic() - started < _LONGEST_S, "the moment never came"
        time.sleep(0.002)
    killed = child.poll() is None
    child.kill()
    try:
        child.communicate(timeout=_GONE_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise AssertionError(f"processes of {args} went on after it was killed") from None
    return killed


def _logs(store: Path) -> list[Path]:
    return sorted(store.glob("episodes/*/log.arrows"))


def test_workers_die_with_the_process_that_started_them(tmp_path: Path) -> None:
    code = (
        "from iwreplay.app.pool import each\n"
        "from tests.cli.test_interrupts import nap\n"
        "if __name__ == '__main__':\n"
        "    list(each(nap, [0.01] + [60.0] * 8, jobs=2, progress=lambda done, of: print(done, of, flush=True)))\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "0 9\n"
    assert child.stdout.readline() == "1 9\n", "both workers are at work now"
    child.kill()
    started = time.monotonic()
    child.communicate(timeout=50)
    assert time.monotonic() - started < _GONE_S


# ------------------------------------------------------------------ recording


def _record_and_kill(folder: Path, *, when: Callable[[float], bool]) -> bool:
    return _killed("run", *TASKS, "--no-frames", "--jobs", 2, "--store", "s", cwd=folder, when=when)


def _whatever_was_recorded_is_readable(folder: Path) -> list[Listed]:
    """What `show` lists. Each log is checked, replayed as far as it goes, scored and projected."""
    listed = list(list_episodes(folder / "s"))
    for episode in listed:
        # the end is written before the seal
        allowed = ("ended",) if episode.log_state == "sealed" else ("ended", "unfinished")
        assert episode.log_state in ("sealed", "open", "truncated"), episode
        assert episode.status in allowed, episode
        if episode.events:
            checked = check(episode.log)
            assert (checked.state, checked.events) == (episode.log_state, episode.events)
            assert (checked.problem is None) == (checked.state != "truncated")
    begun = [e.episode for e in listed if e.events]
    if begun:
        code, verdicts = _iwreplay("replay", *begun, "--store", "s", cwd=folder)
        verdicts = verdicts if isinstance(verdicts, list) else [verdicts]
        assert [(v["grade"], v["differences"]) for v in verdicts] == [("exact", 0)] * len(begun), verdicts
    code, rows = _iwreplay("query", "SELECT episode FROM episodes", "--store", "s", cwd=folder)
    assert (code, [r["episode"] for r in rows]) == (0, [e.episode for e in listed])
    return listed


def test_a_killed_run(tmp_path: Path) -> None:
    def halfway(_: float) -> bool:
        """Something of both tasks is safe, neither is finished."""
        logs = _logs(tmp_path / "s")
        return len(logs) == len(TASKS) and all(p.stat().st_size > 20_000 for p in logs)

    assert _record_and_kill(tmp_path, when=halfway), "it was done before it could be killed"
    listed = _whatever_was_recorded_is_readable(tmp_path)
    assert [e.task for e in listed] == list(TASKS)
    assert "unfinished" in [e.status for e in listed]

    code, again = _iwreplay("run", "A04", "--no-frames", "--store", "s", cwd=tmp_path)
    assert (code, again[0]["passed"], again[0]["mcr"]) == (0, True, 1.0)
    assert again[0]["episode"] not in [e.episode for e in listed], "nothing was overwritten"


def test_a_store_whose_maker_was_killed_is_made_by_the_next(tmp_path: Path) -> None:
    """Between its folder, its marker and the folder of its episodes."""
    root = tmp_path / "s"
    root.mkdir()
    (root / ".iw-store.json.4711").write_bytes(b'{"iw_st')
    made = Store.open_or_make(root, made_by="test")
    assert list(made.episodes()) == []
    (root / "episodes").rmdir()
    assert write_episode(Store.open_or_make(root, made_by="test")).log.exists()


@pytest.mark.slow
def test_runs_killed_at_any_moment(tmp_path: Path) -> None:
    moments = random.Random(11)
    cut = 0
    for n in range(8):
        folder = tmp_path / str(n)
        folder.mkdir()
        after_s = moments.uniform(0.3, 9.0)
        cut += _record_and_kill(folder, when=lambda s, after_s=after_s: s > after_s)  # type: ignore[misc]
        if (folder / "s").exists() and any((folder / "s" / "episodes").glob("*")):
            _whatever_was_recorded_is_readable(folder)
        code, again = _iwreplay("run", "A04", "--no-frames", "--store", "s", cwd=folder)
        assert (code, again[0]["passed"]) == (0, True)
    assert cut >= 3, "hardly any was killed in time"


@pytest.mark.slow
def test_replays_killed_at_any_moment(tmp_path: Path) -> None:
    code, made = _iwreplay("run", *TASKS, "--no-frames", "--jobs", 2, "--store", "s", cwd=tmp_path)
    logs = [p.read_bytes() for p in _logs(tmp_path / "s")]
    for after_s in (1.0, 2.0, 4.0, 6.0, 8.0):
        _killed("replay", "--jobs", 2, "--store", "s", cwd=tmp_path, when=lambda s, a=after_s: s > a)  # type: ignore[misc]
    code, verdicts = _iwreplay("replay", "--jobs", 2, "--store", "s", cwd=tmp_path)
    assert (code, [v["grade"] for v in verdicts]) == (0, ["exact", "exact"])
    assert [v["root_hash"] for v in verdicts] == [e["root_hash"] for e in made]
    assert [p.read_bytes() for p in _logs(tmp_path / "s")] == logs


@pytest.mark.slow
def test_validations_killed_at_any_moment(tmp_path: Path) -> None:
    """Nothing is kept of them, so nothing but the workers can be left behind."""
    for after_s in (1.0, 2.0, 4.0, 8.0, 16.0):
        _killed("tasks", "check", *TASKS, "--jobs", 2, cwd=tmp_path, when=lambda s, a=after_s: s > a)  # type: ignore[misc]
    code, reports = _iwreplay("tasks", "check", *TASKS, "--jobs", 2, cwd=tmp_path)
    assert (code, [(r["task"], r["ok"]) for r in reports]) == (0, [(t, True) for t in TASKS])


# ------------------------------------------------------------------ deriving


def _made_up(folder: Path, *, episodes: int) -> Path:
    """A folder with a store "s" of made-up episodes."""
    folder.mkdir()
    store = Store.open_or_make(folder / "s", made_by="test")
    for n in range(episodes):
        write_episode(store, task=f"G{n % 7:02d}", seed=n, events=400)
    return folder


def _values(folder: Path) -> list[tuple[str, str, Any]]:
    code, lines = _iwreplay("score", "--store", "s", cwd=folder)
    assert code == 0
    return [(line["episode"], line["metric"], line["value"]) for line in lines]


def _score_and_kill(folder: Path, *, books: int) -> bool:
    """Killed once that many episodes have their scores."""
    folder_s = folder / "s"
    return _killed(
        "score", "--store", "s", cwd=folder, when=lambda _: len(list(folder_s.glob("episodes/*/scores.json"))) >= books
    )


def test_killed_scoring(tmp_path: Path) -> None:
    folder = _made_up(tmp_path / "a", episodes=30)
    assert _score_and_kill(folder, books=5), "it was done before it could be killed"
    kept = len(list((folder / "s").glob("episodes/*/scores.json")))
    assert 5 <= kept < 30
    assert _values(folder) == _values(_made_up(tmp_path / "b", episodes=30))


def _ask_and_kill(folder: Path, *, when: Callable[[float], bool], rebuild: bool = False) -> bool:
    extra = ("--rebuild",) if rebuild else ()
    return _killed("query", _COUNT, *extra, "--store", "s", cwd=folder, when=when)


def test_a_killed_refresh_of_the_catalogue(tmp_path: Path) -> None:
    folder = _made_up(tmp_path / "a", episodes=40)
    expected = _iwreplay("query", _COUNT, "--store", "s", cwd=_made_up(tmp_path / "b", episodes=40))

    def being_made(_: float) -> bool:
        return (folder / "s" / "catalogue.duckdb").exists()

    assert _ask_and_kill(folder, when=being_made), "it was done before it could be killed"
    assert _iwreplay("query", _COUNT, "--store", "s", cwd=folder) == expected
    assert expected[0] == 0
    assert sum(row["n"] for row in expected[1]) > 40


@pytest.mark.slow
def test_scoring_and_refreshing_killed_at_any_moment(tmp_path: Path) -> None:
    reference = _made_up(tmp_path / "reference", episodes=60)
    scored = _values(reference)
    started = time.monotonic()
    answer = _iwreplay("query", _COUNT, "--store", "s", cwd=reference)
    takes_s = time.monotonic() - started
    folder = _made_up(tmp_path / "a", episodes=60)
    for books in range(1, 60, 6):
        _score_and_kill(folder, books=books)
    assert _values(folder) == scored
    moments = random.Random(12)
    cut = 0
    for n in range(25):
        after_s = moments.uniform(0.2, takes_s)
        cut += _ask_and_kill(folder, rebuild=n % 2 == 0, when=lambda s, after_s=after_s: s > after_s)  # type: ignore[misc]
        if n % 5 == 4:
            assert _iwreplay("query", _COUNT, "--store", "s", cwd=folder) == answer
    assert cut >= 8, "hardly any was killed in time"
    assert _iwreplay("query", _COUNT, "--store", "s", cwd=folder) == answer
