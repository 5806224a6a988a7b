"""A near miss and the no-help sequence, recorded by their names, are what `tasks check` plays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from iwreplay.app import validation
from iwreplay.checks import evaluate_task
from iwreplay.events import EpisodeOpened, Event
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import read_log
from iwreplay.loop import configured
from iwreplay.store import Store
from iwreplay.taskpack.loader import load_task, validate_task
from tests.cli.conftest import Run

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The task of docs/tasks.md."""
    path = tmp_path / "g90.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.S)), encoding="utf-8")
    return path


def _recorded(run: Run, file: Path, assistant: str) -> tuple[dict[str, Any], tuple[Event, ...]]:
    store = file.parent / "s"
    done = run("run", file, "--assistant", assistant, "--no-frames", "--json", "--store", store)
    assert done.code == 0, done.err
    (answer,) = done.json()
    with read_log(Store.open(store).find(answer["episode"]).log) as log:
        return answer, tuple(log.events())


@pytest.mark.parametrize("miss_id", ["red_mug", "guessed"])
def test_a_near_miss_fails_exactly_what_it_names(run: Run, file: Path, miss_id: str) -> None:
    answer, events = _recorded(run, file, f"near-miss:{miss_id}")
    assert (answer["episode"], answer["assistant"]) == (f"G90-near_miss_{miss_id}-literal-s0", f"near-miss:{miss_id}")
    (miss,) = (m for m in load_task(file).near_misses if m.id == miss_id)
    assert set(validation._failed(evaluate_task(events))) == set(miss.fails)
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    assert (opened.assistant.name, opened.task) == (f"near-miss:{miss_id}", load_task(file))


def test_no_help_is_what_the_check_plays(run: Run, file: Path, tmp_path: Path) -> None:
    answer, events = _recorded(run, file, "no-help")
    assert (answer["episode"], answer["passed"], answer["end_reason"]) == (
        "G90-no_help-literal-s0",
        False,
        "turn_limit",
    )
    task = load_task(file)
    scene = validate_task(task)
    maker = FrameMaker(scene, config=configured(task, draw_frames=False), threads=1)
    alone = validation._without_help(task, scene, tmp_path, maker=maker)
    opened = events[0]
    assert isinstance(opened, EpisodeOpened)
    assert opened.task.human.intent == task.no_help
    assert (msgspec.structs.replace(opened, assistant=alone.events[0].assistant), *events[1:]) == alone.events  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("near-miss:red_mgu", "unknown near miss of task G90 'red_mgu'. Nearest: red_mug. Known: red_mug, guessed."),
        ("near-miss:", "no near miss of task G90 is named. Known: red_mug, guessed."),
        ("near-miss", "unknown assistant 'near-miss'. Nearest: near-miss:ID"),
        (
            "nohelp",
            "unknown assistant 'nohelp'. Nearest: no-help. Known: oracle, silent, no-help, near-miss:ID, random",
        ),
    ],
)
def test_a_name_that_is_none_is_told_those_that_are(run: Run, file: Path, name: str, said: str) -> None:
    done = run("run", file, "--assistant", name, "--store", file.parent / "s")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (file.parent / "s").exists()


def test_a_task_without_near_misses_says_so(run: Run, file: Path) -> None:
    file.write_text(re.sub(r"\[\[near_misses\]\]\n(?:.+\n)+", "", file.read_text()))
    done = run("run", file, "--assistant", "near-miss:red_mug", "--store", file.parent / "s")
    assert (done.code, "unknown near miss of task G90 'red_mug'. It has none." in done.err) == (2, True)
