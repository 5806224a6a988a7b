"""Task packs: every wrong line is refused by file, key and value; good ones compile with their scene."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from iwreplay.errors import CheckError, TaskError
from iwreplay.taskpack.loader import compile_task, load_task, load_tasks, validate_task
from iwreplay.taskpack.model import OracleStep

TASK = """\
format = 1
id = "G91"
family = "guidance"
title = "Mug on the table"
scene = "family_kitchen"
request = "Help me."
warmup = ["[Walk] counter"]
no_help = ["[Wait] 2"]

[human]
role = "A person."
restriction = "guidance"

[[things]]
id = "mug_1"
cls = "mug"
at = "counter_1.top"

[[things]]
id = "phone_1"
cls = "phone"
at = "dining_table_1.top"

[[script]]
id = "call"
when = { turn = 2 }
do = [{ do = "ring", thing = "phone_1" }]

[[oracle]]
say = "Bring the mug to the dining table."
do = ["[Grab] mug", "[PutOn] mug, dining table"]

[[objectives]]
id = "mug_there"
text = "The mug is on the table."
formula = ["rel", "ontop", "mug_1", "dining_table_1"]

[[near_misses]]
id = "left"
text = "It stays."
oracle = [{ say = "Wait a little.", do = ["[Wait] 2"] }]
fails = ["mug_there"]
"""


def _file(tmp_path: Path, text: str, *, name: str = "task.toml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_good_task_loads_compiles_and_validates(tmp_path: Path) -> None:
    task = load_task(_file(tmp_path, TASK.replace("no_help", "spawn = [1.0, 2.0, 90.0]\nno_help")))
    scene = validate_task(task)
    assert scene.spawn == (1.0, 2.0, math.radians(90.0))
    assert {"mug_1", "phone_1"} <= {t.id for t in scene.things}
    assert compile_task(task) == scene


def test_a_near_miss_names_steps_of_the_oracle(tmp_path: Path) -> None:
    more = '[[oracle]]\nsay = "Wait."\ndo = ["[Wait] 1"]\n[[oracle]]\nsay = "Done."\n\n[[objectives]]'
    wait = '{ say = "Wait a little.", do = ["[Wait] 2"] }'
    for written, wanted in (
        (f"[1, {wait}, 3]", (0, None, 2)),
        (f'["2-3", {wait}, "1"]', (1, 2, None, 0)),
        ("[2, 1, 2]", (1, 0, 1)),
    ):
        text = TASK.replace("[[objectives]]", more).replace(f"oracle = [{wait}]", f"oracle = {written}")
        task = load_task(_file(tmp_path, text))
        own = OracleStep(say="Wait a little.", do=("[Wait] 2",))
        assert task.near_misses[0].oracle == tuple(own if i is None else task.oracle[i] for i in wanted)


@pytest.mark.parametrize("step", ["0", "2", '"1-2"', '"2-1"', '"all"', "1.0", "true", '""', "-1"])
def test_a_step_that_the_oracle_has_not(step: str, tmp_path: Path) -> None:
    text = TASK.replace("oracle = [{", f"oracle = [{step}, {{")
    with pytest.raises(TaskError, match=r"task.toml: near_misses\[0\]: oracle\[0\]: must be .* found") as raised:
        load_task(_file(tmp_path, text))
    assert str(raised.value).endswith("found " + repr(tomllib.loads(f"step = {step}")["step"]))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("format = 1", "format = 2", "format: 2"),
        ('"G91"', '"G1"', "id: .*'G1'"),
        ('"G91"', '"P91"', "family: .*'guidance'"),
        ('family = "guidance"', 'family = "cooking"', "family: .*'cooking'"),
        ('title = "Mug on the table"', 'title = " "', "title"),
        ("[human]", 'colour = "red"\n[human]', "colour"),
        ('at = "counter_1.top"', 'at = "counter_1.top"\nplace = 1', r"things\[0\].*place"),
        ('id = "phone_1"', 'id = "mug_1"', "things: the.*|things: is there twice, found 'mug_1'"),
        ('id = "phone_1"', 'id = "Phone"', "things: an id.*'Phone'"),
        ("{ turn = 2 }", "{}", "script call: when"),
        ("{ turn = 2 }", '{ after = "storm" }', "'storm'"),
        ("{ turn = 2 }", '{ turn = "two" }', r"when\.turn.*'two'"),
        ('fails = ["mug_there"]', 'fails = ["nothing"]', r"near_misses left: fails.*'nothing'"),
        ('say = "Bring the mug to the dining table."', 'say = ""', r"oracle\[0\].*without words"),
        ("[human]", 'tests = ["C12"]\n[human]', "tests: .*'C12'"),
        ("[human]", "limits = { turns = 0, actions = 4 }\n[human]", "limits"),
        ("[human]", "spawn = [1, 2]\n[human]", "spawn"),
        ("[[oracle]]", "[[oracle]", "not TOML"),
    ],
)
def test_wrong_lines_are_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in TASK
    with pytest.raises(TaskError, match=says) as caught:
        load_task(_file(tmp_path, TASK.replace(old, new, 1)))
    assert "task.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"family_kitchen"', '"moon_base"', r"moon_base.*iwreplay scene list"),
        ('cls = "mug"', 'cls = "rocket"', "mug_1.*rocket"),
        ('at = "counter_1.top"', 'at = "counter_9.top"', "counter_9"),
        ('at = "counter_1.top"', 'at = "sink_1_tap.top"', "sink_1_tap has no 'top'"),
        ('at = "counter_1.top"', 'at = "counter_1.top"\nattrs = { sealed = 3 }', "sealed"),
        ('"[Walk] counter"', '"Walk counter"', r"warmup\[0\].*Walk counter"),
        ('"[Grab] mug"', '"[Fetch] mug"', r"oracle\[0\]\.do\[0\].*Fetch"),
        ('"[Wait] 2"', '"[Wait] mug"', r"no_help\[0\]"),
        ('{ do = "ring", thing = "phone_1" }', '{ do = "ring", thing = "mug_1" }', "mug_1 is no phone"),
        ('{ do = "ring", thing = "phone_1" }', '{ do = "ring", thing = "bell_1" }', "bell_1"),
        (
            '{ do = "ring", thing = "phone_1" }',
            '{ do = "set", thing = "mug_1", attr = "clean", value = "no" }',
            "clean is a bool, not 'no'",
        ),
        (
            '{ do = "ring", thing = "phone_1" }',
            '{ do = "place", thing = "mug_1", at = "fridge_1.roof" }',
            "fridge_1.roof",
        ),
    ],
)
def test_what_the_scene_does_not_have_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in TASK
    task = load_task(_file(tmp_path, TASK.replace(old, new, 1)))
    with pytest.raises(TaskError, match=says) as caught:
        validate_task(task)
    assert "G91" in str(caught.value)


def test_what_comes_to_exist_needs_a_place_to_exist_at(tmp_path: Path) -> None:
    late = TASK.replace('at = "counter_1.top"', 'at = "counter_1.top"\nattrs = { exists = false }')
    late = late.replace('do = "ring", thing = "phone_1"', 'do = "set", thing = "mug_1", attr = "exists", value = true')
    scene = validate_task(load_task(_file(tmp_path, late)))
    mug = next(t for t in scene.things if t.id == "mug_1")
    assert mug.pose[0] < 10.0
    nowhere = late.replace('at = "counter_1.top"', 'at = "off"')
    with pytest.raises(TaskError, match='mug_1 is placed at "off"'):
        validate_task(load_task(_file(tmp_path, nowhere)))


def test_a_bad_formula_names_task_check_and_path(tmp_path: Path) -> None:
    task = load_task(_file(tmp_path, TASK.replace('"ontop", "mug_1"', '"ontop", "cup_1"')))
    with pytest.raises(CheckError, match="cup_1") as caught:
        validate_task(task)
    assert (caught.value.task, caught.value.check) == ("G91", "mug_there")
    assert caught.value.path


def test_ids_are_unique_over_all_tasks_and_in_their_family(tmp_path: Path) -> None:
    (tmp_path / "guidance").mkdir()
    (tmp_path / "planning").mkdir()
    _file(tmp_path / "guidance", TASK, name="a.toml")
    assert [t.id for t in load_tasks(tmp_path)] == ["G91"]
    _file(tmp_path / "guidance", TASK, name="b.toml")
    with pytest.raises(TaskError, match=r"b\.toml.*G91.*a\.toml"):
        load_tasks(tmp_path)
    (tmp_path / "guidance" / "b.toml").unlink()
    _file(tmp_path / "planning", TASK.replace("G91", "G92"), name="c.toml")
    with pytest.raises(TaskError, match=r"planning/c\.toml: family"):
        load_tasks(tmp_path)


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read"):
        load_task(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'title = "caf\xe9"')
    with pytest.raises(TaskError, match="UTF-8"):
        load_task(tmp_path / "latin.toml")
