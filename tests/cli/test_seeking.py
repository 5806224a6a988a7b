"""The world at any event of real episodes: `iwreplay at` and seeking against folds from the start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iwreplay.events import BodyPosed, EpisodeOpened, Event, PosesSampled, StateDelta, WorldSnapshot
from iwreplay.log import read_log, state_at
from iwreplay.vocabulary import WEARER
from iwreplay.world.state import WorldState
from tests.cli.conftest import Run
from tests.tasks.playing import played

#: a delivery in warmup and twelve equal things; liquids and a phone
TASKS = ("D03", "F03")


def _plainly_folded(events: tuple[Event, ...]) -> Iterator[dict[str, Any]]:
    """A second fold, written without the first: the newest value of everything, from facts alone, no snapshots."""
    world: dict[str, Any] = {}
    for event in events:
        if isinstance(event, EpisodeOpened):
            world = {
                "poses": {t.id: list(t.pose) for t in event.scene.things},
                "attrs": {WEARER: {}, **{t.id: dict(t.attrs) for t in event.scene.things}},
                "joints": {},
                "body": None,
            }
        elif isinstance(event, PosesSampled):
            values = list(event.values)
            for thing in event.things:
                world["poses"][thing], values = values[:7], values[7:]
            for joint in event.joints:
                world["joints"][joint], values = values[0], values[1:]
            assert not values
        elif isinstance(event, BodyPosed):
            world["body"] = list(event.values)
        elif isinstance(event, StateDelta):
            world["attrs"][event.thing][event.attr] = event.new
        yield world


@pytest.mark.parametrize("task", TASKS)
def test_seeking_any_event_gives_the_fold_from_the_start(task: str) -> None:
    done = played(task, "oracle")
    folded = WorldState(done.events[0].scene)  # type: ignore[attr-defined]
    sought, by_snapshot = 0, 0
    with read_log(done.path) as log:
        for seq, (event, plain) in enumerate(zip(done.events, _plainly_folded(done.events), strict=True)):
            folded.apply(event)
            found = state_at(log, seq)
            assert vars(found) | {"scene": None} == vars(folded) | {"scene": None}, seq
            assert {k: list(v) for k, v in found.poses.items()} == plain["poses"], seq
            assert found.attrs == plain["attrs"], seq
            assert plain["joints"].items() <= found.joints.items(), seq
            assert plain["body"] is None or list(found.body) == plain["body"], seq
            sought += 1
            by_snapshot += (log.snapshot_before(seq) or 0) > 0
    assert sought == len(done.events) > 300
    assert by_snapshot > sought // 2, "snapshots shorten the way"


@pytest.mark.parametrize("task", TASKS)
def test_snapshots_say_what_the_facts_say(task: str) -> None:
    """A snapshot adds nothing: leaving them all out, every one of them is what was folded up to it."""
    found = []
    state = WorldState(played(task, "oracle").events[0].scene)  # type: ignore[attr-defined]
    for event in played(task, "oracle").events:
        if isinstance(event, WorldSnapshot):
            state.sim_time_s, state.turn, state.phase = event.sim_time_s, event.turn, event.phase
            assert state.snapshot(event.reason) == event
            found.append(event.reason)
        else:
            state.apply(event)
    assert {"initial", "baseline", "final"} <= set(found)


@pytest.mark.parametrize("task", TASKS)
def test_at_answers_with_that_world(run: Run, tmp_path: Path, task: str) -> None:
    done = played(task, "oracle")
    last = len(done.events) - 1
    wanted = sorted({0, 1, 2, last - 1, last, *range(0, last, max(1, last // 20))})
    states = {}
    for seq, plain in enumerate(_plainly_folded(done.events)):
        if seq in wanted:
            states[seq] = (
                {k: list(v) for k, v in plain["poses"].items()},
                {k: dict(v) for k, v in plain["attrs"].items()},
            )
    for seq in wanted:
        answer = run("at", done.path, "--seq", seq, "--json", "--store", tmp_path).json()
        event = done.events[seq]
        assert (answer["seq"], answer["sim_time_s"], answer["turn"], answer["phase"]) == (
            seq, event.sim_time_s, event.turn, event.phase,
        )  # fmt: skip
        poses, attrs = states[seq]
        assert {t: v["pose"] for t, v in answer["things"].items() if t != WEARER} == poses
        assert {t: v["attrs"] for t, v in answer["things"].items()} == attrs
    beyond = run("at", done.path, "--seq", last + 1, "--store", tmp_path)
    assert (beyond.code, f"events 0 to {last}" in beyond.err) == (2, True)
