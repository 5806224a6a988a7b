"""The journal of a run, folded; plans and what differs between them."""

from __future__ import annotations

import msgspec

from recorder.benchmark import Begun, Cell, Ended, Lost, Plan, PlanTask, differences, progress_of


def ended(cell: str = "a", episode: str = "e1", *, valid: bool = True) -> Ended:
    return Ended(
        cell=cell, episode=episode, root_hash="00", status="ended" if valid else "fault", end_reason="done",
        valid=valid, passed=valid or None, mcr=1.0, turns=1, actions=1, detail="",
    )  # fmt: skip


def task(name: str = "G05", digest: str = "11") -> PlanTask:
    return PlanTask(id=name, family="guidance", version=1, task_sha256=digest, scene_sha256="22")


PLAN = Plan(
    format=1, assistants=("oracle", "silent"), humans=("literal",), asked=("all",), tasks=(task(), task("V06")),
    seeds=(0, 1), frames=True, prompts={}, made_by="iwreplay 0",
)  # fmt: skip


def test_what_was_begun_is_open_until_it_ends_or_is_lost() -> None:
    at = progress_of(
        [Begun(cell="a", episode="e1"), Begun(cell="b", episode="e2"), ended(), Begun(cell="c", episode="e3")]
    )
    assert (set(at.ended), at.open) == ({"a"}, {"b": "e2", "c": "e3"})
    at.take(Lost(cell="b", episode="e2", why="killed"))
    at.take(Lost(cell="c", episode="e3", why="worker"))
    assert (at.open, at.losses) == ({}, {"b": 0, "c": 1})


def test_nothing_counts_twice() -> None:
    at = progress_of([Begun(cell="a", episode="e1"), ended(), ended(episode="e9")])
    assert at.ended["a"].episode == "e1"


def test_one_that_is_played_again_takes_the_place_of_the_one_before() -> None:
    records = [Begun(cell="a", episode="e1"), ended(valid=False), Begun(cell="a", episode="e2")]
    assert progress_of(records).ended["a"].episode == "e1"
    assert progress_of([*records, ended(episode="e2")]).ended["a"].episode == "e2"


def test_every_pair_plays_every_task_with_every_seed() -> None:
    cells = list(PLAN.cells())
    assert len(cells) == len({c.key for c in cells}) == 8
    assert cells[:3] == [
        Cell(task="G05", assistant="oracle", human="literal", seed=0),
        Cell(task="G05", assistant="silent", human="literal", seed=0),
        Cell(task="V06", assistant="oracle", human="literal", seed=0),
    ]


def test_plans_differ_in_words() -> None:
    assert differences(PLAN, PLAN) == ()
    other = msgspec.structs.replace(PLAN, seeds=(0,), tasks=(task(digest="33"), task("F01")), frames=False)
    assert set(differences(PLAN, other)) == {
        "task F01 is not in the run",
        "task V06 of the run is not asked for",
        "task G05 was changed since the run began",
        "seeds: [0,1], now [0]",
        "frames: true, now false",
    }
    turned = msgspec.structs.replace(PLAN, tasks=(task("V06"), task()))
    assert differences(PLAN, turned) == ("the order of the tasks",)


def test_a_changed_prompt_is_another_plan() -> None:
    one = msgspec.structs.replace(PLAN, prompts={"assistant": "aa"})
    assert differences(one, PLAN) == ('prompts: {"assistant":"aa"}, now {}',)
