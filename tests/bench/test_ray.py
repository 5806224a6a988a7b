"""Runs on a Ray cluster, one that is started on this machine: the same episodes, whatever becomes of its workers."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from iwreplay.app.benching import BenchOptions, play_run
from recorder.benchmark import Begun, Ended, Lost
from tests.bench.speaking import acts, speaks
from tests.bench.test_runs import (
    MODELS,
    RUN,
    TASKS,
    finished,
    is_whole,
    planned,
    roots,
    so_far,
    started,
    wait_for,
)
from tests.models.provider import KEY

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Cell -> root hash of the same run without Ray."""
    store = tmp_path_factory.mktemp("undisturbed")
    play_run(store, "r", plan=planned("oracle", "silent"), options=BenchOptions())
    return roots(store)


def workers(under: int) -> list[int]:
    """Ray's worker processes that carry out a task, of the cluster that a process started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == under:
                name = (entry / "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
                if name.startswith("ray::_record"):
                    found.append(int(entry.name))
        except (ProcessLookupError, FileNotFoundError):
            continue  # it ended meanwhile
    return found


def test_a_worker_that_is_killed_costs_no_episode(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    process = started(tmp_path, *RUN, "--engine", "ray")
    wait_for(lambda: so_far(tmp_path, Begun) >= 2 and bool(workers(process.pid)))
    os.kill(workers(process.pid)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert so_far(tmp_path, Lost) >= 1
    is_whole(tmp_path, "r", 2 * len(TASKS))
    assert roots(tmp_path) == undisturbed


def test_ctrl_c_leaves_a_run_that_goes_on_without_ray(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    process = started(tmp_path, *RUN, "--engine", "ray")
    wait_for(lambda: so_far(tmp_path, Ended) >= 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    code, _, err = finished(tmp_path, "resume", "r")
    assert (code, err) == (0, "")
    is_whole(tmp_path, "r", 2 * len(TASKS))
    assert roots(tmp_path) == undisturbed


def test_what_models_take_is_counted_for_the_whole_cluster(tmp_path: Path, hosted: Any) -> None:
    there, env = hosted(speaks=speaks("F19", "V06"), acts=acts)
    run = (*MODELS, "--tasks", "F19,V06", "--engine", "ray", "--parallel", "2")
    code, out, err = finished(tmp_path, *run, "--run-tokens", "200", env=env)
    assert code == 1, err
    assert "the budget of the run is spent" in err
    first = json.loads(out)
    assert first["spent"]["calls"] == len(there.requests)
    code, out, err = finished(tmp_path, "resume", "r", "--json", "--engine", "ray", "--run-tokens", "100000", env=env)
    state = json.loads(out)
    assert (code, state["ended"], state["passed"]) == (0, 2, 2), err
    assert state["spent"]["calls"] == len(there.requests) > first["spent"]["calls"]
    # whole requests came back from the workers
    assert list(tmp_path.glob("episodes/*/requests/*.json"))
    is_whole(tmp_path, "r", 2)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path
