"""Real tasks re-execute bit-exactly, with every frame drawn, in one fresh process after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iwreplay.events import EpisodeOpened, FrameCaptured
from iwreplay.log import read_log

ROOT = Path(__file__).resolve().parents[2]
ALL_SIX = ("A04", "D03", "F03", "G05", "P04", "V06")


def _cli(*args: object, cwd: Path) -> Any:
    """The JSON answer of `iwreplay ARGS` in a process of its own, with its own hash seed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("PYTHONHASHSEED", None)
    done = subprocess.run(
        [sys.executable, "-m", "iwreplay", *map(str, args), "--json"],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, f"{args}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return json.loads(done.stdout)


def _repeat(tasks: tuple[str, ...], folder: Path, *, times: int) -> None:
    made = _cli("run", *tasks, "--assistant", "oracle", "--jobs", 2, "--store", "s", cwd=folder)
    roots = {m["episode"]: m["root_hash"] for m in made}
    assert [m["task"] for m in made] == list(tasks)
    assert all(m["passed"] for m in made)
    for m in made:
        _every_frame_was_drawn(folder / m["log"])
    for repetition in range(1, times + 1):
        verdicts = _cli("replay", *roots, "--jobs", 2, "--store", "s", cwd=folder)
        for v in verdicts:
            where = f"repetition {repetition}: {v['episode']}: {v['first_divergence']}"
            assert (v["grade"], v["differences"], v["environment"]) == ("exact", 0, []), where
            assert v["root_hash"] == v["recorded_root_hash"] == roots[v["episode"]], where
        events = {v["episode"]: v["events"] for v in verdicts}
        assert events == {m["episode"]: m["events"] for m in made}
        print(f"repetition {repetition} of {times}: {sum(events.values())} events exact")  # noqa: T201


def _every_frame_was_drawn(path: Path) -> None:
    """The hashes that are compared are hashes of pixels."""
    with read_log(path) as log:
        opened = log.at_seq(0)
        assert isinstance(opened, EpisodeOpened)
        assert opened.config.draw_frames
        frames = [e for e in log.events() if isinstance(e, FrameCaptured)]
    assert len(frames) >= 4
    assert all(f.pixels_sha256 and len(f.pixels_sha256) == 64 for f in frames)


def test_two_tasks_reexecute_exactly_in_a_fresh_process(tmp_path: Path) -> None:
    _repeat(("A04", "D03"), tmp_path, times=1)


@pytest.mark.slow
def test_all_six_reexecute_exactly_twenty_times_in_fresh_processes(tmp_path: Path) -> None:
    _repeat(ALL_SIX, tmp_path, times=20)
