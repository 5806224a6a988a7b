"""With the project's own relations on a real scene: re-deriving only what a move concerns changes no answer."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from iwreplay.checks import Monitor, compile_check, derived_relations
from iwreplay.checks.index import SceneIndex
from iwreplay.events import EpisodeConfig, EpisodeOpened, Event, Participant, PosesSampled, StateDelta
from iwreplay.pose import from_xyz_yaw
from iwreplay.taskpack.loader import compile_task, load_tasks
from iwreplay.world.geometry import thing_aabb, thing_of
from iwreplay.world.state import WorldState
from tests.world.test_placed import forgetting

_WHO = Participant(name="x", version="1")


def _log(seed: int, *, task_id: str, most: int) -> list[Event]:
    """Things lifted, carried, stacked on each other and set down anywhere; doors that open; things that vanish."""
    rng = Random(seed)
    task = next(t for t in load_tasks() if t.id == task_id)
    scene = compile_task(task)
    state = WorldState(scene)
    events: list[Event] = []
    time_s = 0.0

    def add(kind: type[Event], **fields: Any) -> None:
        event = kind(sim_time_s=time_s, turn=1, phase="closed_loop", **fields)
        events.append(event)
        state.apply(event)

    add(EpisodeOpened, format_version=1, task=task, scene=scene, scene_hash="",
        config=EpisodeConfig(max_turns=1, max_actions=1), assistant=_WHO, human=_WHO, simulator=_WHO, renderer="",
        fingerprint={})  # fmt: skip
    events.append(state.snapshot("baseline"))
    movable = [t.id for t in scene.things if not t.fixed]
    joints = list(state.joints)
    for _ in range(most):
        time_s += 0.1
        kind = rng.choice(("put", "put", "put", "lift", "joint", "held", "exists", "snapshot", *["carry"] * 8))
        t, other = rng.choice(movable), rng.choice([x.id for x in scene.things])
        if kind == "put":
            box = thing_aabb(thing_of(state, other), state)
            own = thing_aabb(thing_of(state, t), state)
            x, y = rng.uniform(box[0], box[3]), rng.uniform(box[1], box[4])
            z = rng.choice((box[2], box[5], (box[2] + box[5]) / 2)) + state.poses[t][2] - own[2]
            add(PosesSampled, step=0, things=(t,), joints=(), values=from_xyz_yaw(x, y, z, rng.uniform(0.0, 3.0)))
        elif kind == "lift":
            x, y, z = state.poses[t][:3]
            add(PosesSampled, step=0, things=(t,), joints=(), values=from_xyz_yaw(x, y, z + 0.1, 0.0))
        elif kind == "carry":
            held = [x for x in movable if state.attrs[x].get("held") is True]
            taken = rng.sample(held, min(len(held), rng.choice((1, 1, 2))))
            values: list[float] = []
            for x in taken:
                near = state.poses[other][:3] if rng.random() < 0.3 else state.poses[x][:3]
                values += (near[0] + rng.uniform(-0.1, 0.1), near[1] + rng.uniform(-0.1, 0.1), near[2] + 0.1)
                values += (1.0, 0.0, 0.0, 0.0)
            add(PosesSampled, step=0, things=tuple(taken), joints=(), values=tuple(values))
        elif kind == "joint":
            add(PosesSampled, step=0, things=(), joints=(rng.choice(joints),), values=(rng.choice((0.0, 0.4, 1.5)),))
        elif kind in ("held", "exists"):
            new = rng.random() < (0.3 if kind == "held" else 0.8)
            add(StateDelta, thing=t, attr=kind, old=not new, new=new, cause="script:x")
        else:
            events.append(state.snapshot("periodic"))
    return events


@pytest.mark.parametrize(("task_id", "seed"), [("G05", 1), ("P04", 2), ("V06", 3), ("F03", 4)])
def test_every_answer_is_that_of_deriving_everything_anew(task_id: str, seed: int) -> None:
    _every_answer(task_id, seed, most=100, relations=("ontop", "near", "under", "inside"))


def _every_answer(task_id: str, seed: int, *, most: int, relations: tuple[str, ...]) -> int:
    """Compares them; gives how many moves were skipped."""
    events = _log(seed, task_id=task_id, most=most)
    scene = events[0].scene  # type: ignore[attr-defined]
    index = SceneIndex(scene)
    places = [t.id for t in scene.things if t.links[0].surfaces or t.links[0].interiors]
    asked: list[tuple[str, str, str]] = []
    for a in index.movable:
        for b in (*places, *index.movable):
            if a != b:
                asked += [("ontop", a, b), ("near", a, b), ("under", a, b)]
                asked += [("inside", a, b)] if index.interiors(b) else []
                asked += [("ontop", a, f"{b}.{s}") for s in index.surfaces(b)]
    asked = [x for x in asked if x[0] in relations]
    asked = Random(seed).sample(asked, min(160, len(asked)))
    checks = {f"{r} {a} {b}": compile_check(["rel", r, a, b], task="T", check="r", scene=index) for r, a, b in asked}
    checks |= {f"base {t}": compile_check(["baseline", t], task="T", check="b", scene=index) for t in index.movable}
    derived = derived_relations()
    monitor = Monitor(checks, relations=derived)
    skipping, skipped = monitor.unfed_copy(), 0
    state = WorldState(scene)
    support: dict[str, Any] = {}
    start: WorldState | None = None
    true = 0
    for seq, event in enumerate(events):
        state.apply(event)
        monitor.feed(seq, event, state)
        if seq and skipping.passes(event, state):
            skipping.skip(seq)
            skipped += isinstance(event, PosesSampled) and len(event.things) > 0
        else:
            skipping.feed(seq, event, state)
        assert all(skipping.value(name) is monitor.value(name) for name in checks), (seq, event)
        with forgetting():
            expected = {f"{r} {a} {b}": derived.holds(state, r, a, b) for r, a, b in asked}
            supports = {t: derived.support_of(state, t) for t in index.movable}
        assert {name: monitor.value(name) for name in expected} == expected, (seq, event)
        true += sum(expected.values())
        if seq == 1:
            start, support = state.copy(), supports
        if start is not None:
            for t in index.movable:
                still = state.poses[t] == start.poses[t] and state.attrs[t] == start.attrs[t]
                if still:
                    assert monitor.value(f"base {t}") is (supports[t] == support[t]), (seq, t)
    assert true > 0
    assert skipping.verdicts() == monitor.verdicts()
    return skipped


def test_what_is_carried_clear_of_everything_is_skipped() -> None:
    skipped = [_every_answer("P04", seed, most=120, relations=("ontop", "inside")) for seed in range(3)]
    assert sum(skipped) > 20
