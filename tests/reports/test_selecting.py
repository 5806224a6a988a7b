"""Which episodes count, and what is said of the others."""

from __future__ import annotations

import msgspec
import pytest

from iwreplay.reports import Arm, select
from tests.reports.made_up import instance, outcomes, tasks

TASKS = tasks()
G01, G02 = TASKS[0], TASKS[1]
ARM = Arm("lab/big", "literal")


def test_everything_whole_counts_once() -> None:
    found = select(outcomes(), tasks=TASKS)
    assert len(found.arms) == 6
    assert {arm: len(mine) for arm, mine in found.counted.items()} == dict.fromkeys(found.arms, 120)
    assert (found.left_out, found.warnings) == ((), ())
    assert all(not found.missing(a) for a in found.arms)


def test_the_first_of_a_place_counts_and_the_others_are_named() -> None:
    """Not the best: recording again until it passes is of no use. -r10 comes after -r2."""
    names = ["G01-a-b-s0-r10", "G01-a-b-s0-r2", "G01-a-b-s0"]
    found = select([instance(G01, episode=n, passed=n.endswith("r2")) for n in names], tasks=TASKS)
    assert [i.episode for i in found.counted[ARM]] == ["G01-a-b-s0"]
    assert [(e.episode, e.reason) for e in found.left_out] == [
        ("G01-a-b-s0-r2", "the same place in the run as G01-a-b-s0"),
        ("G01-a-b-s0-r10", "the same place in the run as G01-a-b-s0"),
    ]


def test_an_invalid_first_one_makes_room_for_the_next() -> None:
    broken = instance(G01, episode="G01-a-b-s0", status="fault", problem="no answer", passed=None)
    found = select([broken, instance(G01, episode="G01-a-b-s0-r2")], tasks=TASKS)
    assert [i.episode for i in found.counted[ARM]] == ["G01-a-b-s0-r2"]
    assert [(e.episode, e.reason) for e in found.left_out] == [("G01-a-b-s0", "it is fault: no answer")]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "damaged", "problem": "a checksum"}, "it is damaged: a checksum"),
        ({"passed": None, "problem": "events are missing"}, "it can't be scored: events are missing"),
        ({"task": "X01"}, "X01 is no task of the benchmark"),
    ],
)
def test_what_can_not_count_is_left_out_by_name(changes: dict[str, object], reason: str) -> None:
    found = select([instance(G01, **changes)], tasks=TASKS)
    assert (found.arms, [e.reason for e in found.left_out]) == ((), [reason])


def test_missing_tasks_are_named() -> None:
    found = select([instance(t) for t in TASKS if t.id not in ("G02", "V11")], tasks=TASKS)
    assert found.missing(ARM) == {"guidance": ("G02",), "prevention": ("V11",)}


def test_other_limits_are_told_and_can_be_kept_apart() -> None:
    other = {"limits": "9 turns, 9 actions", "renderer": "r/1"}
    mixed = [instance(G01), instance(G02, setup=other)]
    together = select(mixed, tasks=TASKS)
    assert together.arms == (ARM,)
    assert together.warnings == (
        "lab/big with literal: episodes with different limits are counted together (9 turns, 9 actions, the tasks' "
        "own). --separate makes an arm of each.",
    )
    apart = select(mixed, tasks=TASKS, separate=True)
    assert [(a.setup, a.variant) for a in apart.arms] == [("setup 1", ""), ("setup 2", "")]
    assert apart.warnings == ()


def test_setups_have_the_same_number_for_every_assistant() -> None:
    """Arms of one setup can be compared: a number must mean the same everywhere."""
    few, many = ({"limits": n, "parameters of the Assistant": f"temperature {n}"} for n in ("5 turns", "9 turns"))
    mixed = [
        instance(G01, setup=few, assistant="a"),
        instance(G01, setup=many, assistant="b"),
        instance(G02, setup=few, assistant="b"),
    ]
    found = select(mixed, tasks=TASKS, separate=True)
    assert [(a.assistant, a.setup, a.variant) for a in found.arms] == [
        ("a", "setup 1", ""),
        ("b", "setup 1", "variant 1"),
        ("b", "setup 2", "variant 2"),
    ]


def test_an_episode_of_the_same_place_with_other_settings_says_which() -> None:
    other = {"limits": "9 turns", "renderer": "r/1"}
    again = instance(G01, episode="G01-lab_big-literal-s0-r2", setup=other, script="ab")
    found = select([instance(G01), again], tasks=TASKS)
    assert found.left_out[0].reason == (
        "the same place in the run as G01-lab_big-literal-s0, recorded with other limits, lines"
    )
    assert "recorded with other limits, lines have the same place as others" in found.warnings[0]
    assert len(select([instance(G01), again], tasks=TASKS, separate=True).arms) == 2


def test_the_lines_of_scripts_are_no_setting() -> None:
    """Each task has a script of its own."""
    scripted = [instance(t, assistant="scripted", script=t.id) for t in (G01, G02)]
    assert select(scripted, tasks=TASKS).warnings == ()


def test_one_way_of_recording_has_no_name() -> None:
    assert select([instance(G01)], tasks=TASKS, separate=True).arms == (ARM,)


def test_another_version_of_a_task_is_told() -> None:
    old = msgspec.structs.replace(instance(G01), task_version=3, task_state="newer")
    changed = msgspec.structs.replace(instance(G02), task_state="changed")
    assert select([old, changed], tasks=TASKS).warnings == (
        "G01: 1 episode has version 3 of it, not 1; scored by the checks in the log.",
        "G02: 1 episode has another task of this name; scored by the checks in the log.",
    )


def test_seeds_that_only_some_tasks_have_are_told() -> None:
    found = select([instance(G01), instance(G02), instance(G02, seed=1, episode="G02-s1")], tasks=TASKS)
    assert "some tasks lack some of the seeds" in found.warnings[0]
