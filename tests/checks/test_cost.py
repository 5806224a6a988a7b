"""What evaluation costs, counted instead of timed."""

from __future__ import annotations

import gc
from typing import Any

import msgspec

from iwreplay.checks import CheckRun, Monitor, Relations, compile_check
from iwreplay.checks.ground import Grounding
from iwreplay.checks.index import SceneIndex
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import Objective, TaskPack
from iwreplay.world.state import WorldState
from tests.checks.worlds import TOY, Story, holds, support_of, task

FORMULAS: dict[str, Any] = {
    "count": ["count", ["in", "ontop", "table_1"], ">=", 3],
    "keep": ["baseline", "mug_2"],
    "gate": ["gate", ["event", {"verb": "grab"}], ["rel", "ontop", "mug_1", "table_1"]],
    "bind": ["bind", "x", ["event", {"verb": "wipe"}], "tool", "last", ["rel", "inside", "x", "box_1"]],
    "ahead": ["hist", ["implies", ["held", "mug_1"], ["ever", ["rel", "ontop", "mug_1", "shelf_1"]]]],
}


class Counting:
    """Toy relations that count how often they are asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.relations = Relations(holds=self._holds, support_of=self._support_of, version="counting")

    def _holds(self, state: WorldState, relation: str, a: str, b: str) -> bool:
        self.asked += 1
        return holds(state, relation, a, b)

    def _support_of(self, state: WorldState, thing: str) -> tuple[str, str, str] | None:
        self.asked += 1
        return support_of(state, thing)


def _monitor(counting: Counting, story: Story) -> Monitor:
    index = SceneIndex(story.state.scene)
    checks = {k: compile_check(f, task="T", check=k, scene=index) for k, f in FORMULAS.items()}
    return Monitor(checks, relations=counting.relations)


def _feed(monitor: Monitor, story: Story) -> WorldState:
    state = WorldState(story.state.scene)
    for seq, event in enumerate(story.events):
        state.apply(event)
        monitor.feed(seq, event, state)
    return state


def test_nothing_is_derived_again_while_nothing_moves() -> None:
    counting, story = Counting(), Story()
    story.live()
    monitor = _monitor(counting, story)
    state = _feed(monitor, story)
    before = counting.asked
    for _ in range(1000):
        seq = story.frame()
        state.apply(story.events[seq])
        monitor.feed(seq, story.events[seq], state)
    seq = story.periodic()
    state.apply(story.events[seq])
    monitor.feed(seq, story.events[seq], state)
    assert counting.asked == before


def test_a_move_asks_only_about_what_moved() -> None:
    counting, story = Counting(), Story()
    story.live()
    monitor = _monitor(counting, story)
    state = _feed(monitor, story)
    before = counting.asked
    seq = story.move("sponge_1", 5.0, 0.0, 0.8)
    state.apply(story.events[seq])
    monitor.feed(seq, story.events[seq], state)
    assert counting.asked - before == 2, "its place on the table, and in the box when it was bound"


def test_memory_grows_with_changes_not_with_the_log() -> None:
    counting, story = Counting(), Story()
    story.live()
    monitor = _monitor(counting, story)
    state = _feed(monitor, story)
    frame = story.events[story.frame()]
    kept = [_kept(monitor)]
    for seq in range(len(story.events) - 1, 2000):
        state.apply(frame)
        monitor.feed(seq, frame, state)
    kept.append(_kept(monitor))
    assert kept[0] == kept[1]
    moved = story.events[story.move("mug_1", 5.0, 0.0, 0.8)]
    state.apply(moved)
    monitor.feed(2000, moved, state)
    assert _kept(monitor) > kept[1], "a change below an operator that looks ahead is kept"


def _kept(monitor: Monitor) -> int:
    gc.collect()
    return sum(len(n.history or ()) for n in monitor._graph.nodes)


def test_runs_of_one_task_share_what_they_begin_with_and_nothing_else(monkeypatch: Any) -> None:
    first, second = Story(), Story()
    for story in (first, second):
        story.live()
    second.move("mug_1", 5.0, 0.0, 0.8)
    second.move("mug_2", 5.0, 1.0, 0.8)
    pack = msgspec.structs.replace(
        task(), objectives=tuple(Objective(id=f"o{i}", text="", formula=f) for i, f in enumerate(FORMULAS.values()))
    )
    scene = first.state.scene
    alone = [_results(pack, story, scene) for story in (first, second)]
    assert alone[0] != alone[1]
    asked: list[str] = []
    real = Grounding.formula
    monkeypatch.setattr(Grounding, "formula", lambda *a: asked.append(a[1][0]) or real(*a))
    runs = [CheckRun(pack, scene, relations=TOY) for _ in range(2)]
    states = [WorldState(scene) for _ in range(2)]
    for seq in range(max(len(first.events), len(second.events))):
        for run, state, story in zip(runs, states, (first, second), strict=True):
            if seq < len(story.events):
                state.apply(story.events[seq])
                run.feed(seq, story.events[seq], state)
    assert [run.result() for run in runs] == alone
    assert not asked, "formulas are expanded once for a task, not for each of its logs"


def _results(pack: TaskPack, story: Story, scene: CompiledScene) -> Any:
    run, state = CheckRun(pack, scene, relations=TOY), WorldState(scene)
    for seq, event in enumerate(story.events):
        state.apply(event)
        run.feed(seq, event, state)
    return run.result()
