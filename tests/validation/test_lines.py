"""What is wrong with a task is told with the line of its file and the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iwreplay.app.validation import TaskReport, check_tasks

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
#: the task of docs/tasks.md
TASK = "\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.S))


def report(folder: Path, text: str) -> TaskReport:
    path = folder / "g90.toml"
    path.write_text(text, encoding="utf-8")
    (found,) = check_tasks((str(path),))
    return found


def failed(found: TaskReport) -> dict[str, str]:
    return {c.name: c.detail for c in found.checks if not c.ok}


def line(text: str, mark: str, *, last: bool = False) -> int:
    at = [n for n, v in enumerate(text.splitlines(), start=1) if mark in v]
    return at[-1 if last else 0]


@pytest.mark.parametrize(
    ("old", "new", "mark", "reason"),
    [
        ('["rel", "ontop", "mug_1"', '["rel", "ontop", "mug_9"', 'id = "blue_mug_on_table"', "no thing 'mug_9'"),
        ('["baseline", "mug_2"]', '["baselin", "mug_2"]', 'id = "red_mug_stays"', "unknown operator 'baselin'"),
        ('["baseline", "mug_2"]', '["count", ["class", "mug"], "==", 7]', 'id = "red_mug_stays"', "never == 7"),
        ('["baseline", "mug_2"]', '["count", ["in", "ontop", "mug_1"], ">", 99]', 'id = "red_mug_stays"', "never > 99"),
        ('["baseline", "mug_2"]', '["attr", "mug_2", "locked", true]', 'id = "red_mug_stays"', "'locked'"),
        ('tests = ["C1", "C3"]', 'tests = ["C1", "C3", "C6"]', "tests =", "tests C6 (knowledge and"),
        ('capability = "C1"', 'capability = "C4"', 'id = "mugs_told_apart"', "measures C4, which `tests`"),
        ('read = "note_1.top"', 'read = "note_1.back"', "[[evidence]]", "note_1 has no face 'back'; it has top"),
        ('of = ["mug_1", "mug_2"]', 'of = ["mug_1"]', "[[choices]]", "leaves nothing to choose"),
        ('pos = [0.15, -0.1]', 'pos = [-0.25, -0.1]', 'id = "mug_2"', "they overlap by"),
    ],
)  # fmt: skip
def test_a_mistake_that_the_scene_shows(tmp_path: Path, old: str, new: str, mark: str, reason: str) -> None:
    assert old in TASK
    text = TASK.replace(old, new, 1)
    said = failed(report(tmp_path, text))
    assert list(said) == ["loads"]
    assert f"g90.toml, line {line(text, mark)}: " in said["loads"]
    assert reason in said["loads"]


def test_of_two_things_with_one_id_it_is_the_second(tmp_path: Path) -> None:
    text = TASK.replace('id = "mug_2"', 'id = "mug_1"', 1)
    said = failed(report(tmp_path, text))["loads"]
    assert f"g90.toml, line {line(text, 'id = ' + chr(34) + 'mug_1', last=True)}: things: is there twice" in said


def test_a_warmup_that_fails_is_one_finding(tmp_path: Path) -> None:
    text = TASK.replace('warmup = ["[Walk] counter"]', 'warmup = ["[Walk] ballroom"]')
    said = failed(report(tmp_path, text))
    assert list(said) == ["oracle passes"]
    assert f"g90.toml, line {line(text, 'warmup')}: not valid (recorder: WARMUP: " in said["oracle passes"]


def test_an_oracle_that_fails_is_told_by_check_turn_and_command(tmp_path: Path) -> None:
    """It takes the mug before it has read the note, and another thing is so from the beginning."""
    text = TASK.replace('say = "Read the note."\ndo = ["[Read] note"]', 'say = "Wait."\ndo = ["[Wait] 1"]')
    text = text.replace(
        '["once", ["event", { kind = "exposed_text", obj = "note_1" }]]', '["not", ["held", "mug_2"]]', 1
    )
    text = text.replace("oracle = [{ say", 'oracle = [{ say = "Read the note.", do = ["[Read] note"] }, { say', 1)
    said = failed(report(tmp_path, text))
    gate, note = line(text, 'id = "read_before_choosing"'), line(text, 'id = "note_was_read"')
    start = said["objectives are false, keeps true at the start"]
    assert f"g90.toml, line {note}: note_was_read: objective is true at the start" in start
    assert f"g90.toml, line {gate}: fails read_before_choosing since turn 2, [Grab] blue mug" in said["oracle passes"]
    assert (
        f"g90.toml, line {line(text, 'id = ' + chr(34) + 'guessed')}: fails nothing, not exactly"
        in said["near miss guessed"]
    )


def test_one_near_miss_is_too_few(tmp_path: Path) -> None:
    head, _, tail = TASK.partition('[[near_misses]]\nid = "guessed"')
    said = failed(report(tmp_path, head + tail[tail.index("[[evidence]]") :]))
    assert said == {"near misses": "the task has 1; at least 2 are asked for"}
