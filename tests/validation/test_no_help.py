"""Without help a task fails by what the Human does, not by a command that it could not mean so."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from iwreplay.app import validation
from iwreplay.app.validation import TaskCheck
from iwreplay.frames.maker import FrameMaker
from iwreplay.loop import configured
from iwreplay.taskpack.loader import load_task, validate_task
from iwreplay.taskpack.model import TaskPack

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> TaskPack:
    """The task of docs/tasks.md."""
    path = tmp_path_factory.mktemp("task") / "g90.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.S)), encoding="utf-8")
    return load_task(path)


def _alone(task: TaskPack, folder: Path, *commands: str) -> TaskCheck:
    changed = msgspec.structs.replace(task, no_help=commands)
    scene = validate_task(changed)
    maker = FrameMaker(scene, config=configured(changed, draw_frames=False), threads=1)
    return validation._fails_alone(validation._without_help(changed, scene, folder, maker=maker))


def test_what_the_human_does_wrongly_is_what_fails(task: TaskPack, tmp_path: Path) -> None:
    check = _alone(task, tmp_path, "[Grab] red mug", "[Walk] dining table", "[PutOn] mug, dining table")
    assert check.ok
    assert check.detail == "mcr 0.00, fails note_was_read, blue_mug_on_table, read_before_choosing, red_mug_stays"


@pytest.mark.parametrize(
    ("commands", "code"),
    [
        (("[Grab] mug",), "AMBIGUOUS"),
        (("[Grab] red mug", "[Grab] blue mug"), "HAND_FULL"),
        (("[PutOn] red mug, counter",), "NOT_HELD"),
        (("[Grab] purple mug",), "UNKNOWN_TARGET"),
    ],
)
def test_a_slip_is_no_failure_of_the_task(task: TaskPack, tmp_path: Path, commands: tuple[str, ...], code: str) -> None:
    check = _alone(task, tmp_path, *commands)
    assert not check.ok
    assert f"{commands[-1]}: {code}:" in check.detail


def test_what_is_so_already_may_be_tried(task: TaskPack, tmp_path: Path) -> None:
    assert _alone(task, tmp_path, "[Open] left cabinet", "[Open] left cabinet").ok
