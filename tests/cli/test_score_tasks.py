"""A score of a log with another task than the released one says so."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from iwreplay.app import scoring
from iwreplay.app.scoring import other_tasks, score_episodes
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
SAMPLES = [ROOT / "episodes" / "samples" / f"{n}.arrows" for n in ("V06-oracle", "V06-silent", "G05-oracle")]


@pytest.fixture
def samples(run: Run, tmp_path: Path) -> Path:
    store = tmp_path / "samples"
    assert run("log", "import", *SAMPLES, "--store", store).code == 0
    return store


def test_released_tasks_are_no_news(run: Run, samples: Path) -> None:
    lines = score_episodes(samples)
    assert {line.task.id for line in lines if line.task is not None} == {"V06", "G05"}
    assert other_tasks(lines) == ()
    assert "released" not in run("score", "--store", samples).err


def test_another_task_is_told_once_for_all_its_episodes(samples: Path) -> None:
    lines = score_episodes(samples)
    older = [
        msgspec.structs.replace(s, task=msgspec.structs.replace(s.task, version=0, sha256="0" * 64))
        if s.task is not None and s.task.id == "V06"
        else s
        for s in lines
    ]
    now = next(s.task.version for s in lines if s.task is not None and s.task.id == "V06")
    assert other_tasks(older) == (
        f"V06: 2 episodes have version 0 of the task, and not the released version {now}; scored by the checks in the "
        "log",
    )
    changed = [
        msgspec.structs.replace(s, task=msgspec.structs.replace(s.task, sha256="0" * 64))
        for s in lines
        if s.task is not None and s.task.id == "G05"
    ]
    assert "G05: 1 episode has another task of that version" in other_tasks(changed)[0]


def test_a_task_that_was_never_released_is_compared_with_nothing(samples: Path) -> None:
    line = score_episodes(samples)[0]
    assert line.task is not None
    own = msgspec.structs.replace(line, task=msgspec.structs.replace(line.task, id="X99", sha256="0" * 64))
    assert other_tasks([own, msgspec.structs.replace(line, task=None)]) == ()


def test_the_command_says_it(run: Run, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = scoring.read_releases

    def newer(root: Path) -> object:
        *_, last = real(root)  # type: ignore[arg-type]
        entry = msgspec.structs.replace(last.tasks["V06"], version=99, task_sha256="1" * 64)
        return (msgspec.structs.replace(last, tasks={**last.tasks, "V06": entry}),)

    monkeypatch.setattr(scoring, "read_releases", newer)
    done = run("score", "V06-silent", "--store", samples)
    assert done.code == 0
    assert "V06: 1 episode has version" in done.err
    assert "and not the released version 99; scored by the checks in the log" in done.err
