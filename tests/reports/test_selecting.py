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
    assert [a.setup for a in apart.arms] == ["setup 1", "setup 2"]
    assert apart.warnings == ()


def test_one_way_of_recording_has_no_name() -> None:
    assert select([instance(G01)], tasks=TASKS, separate=True).arms == (ARM,)


def test_another_version_of_a_task_is_told() -> None:
    old = msgspec.structs.replace(instance(G01), task_version=3, task_state="newer")
    assert select([old, instance(G02)], tasks=TASKS).warnings == (
        "G01: 1 episode has version 3 of the task (newer); now it is at version 1. Each was scored by the checks that "
        "it was recorded with.",
    )


def test_seeds_that_only_some_tasks_have_are_told() -> None:
    found = select([instance(G01), instance(G02), instance(G02, seed=1, episode="G02-s1")], tasks=TASKS)
    assert "some tasks lack some of the seeds" in found.warnings[0]
