"""What is kept of where things are gives the answers of working everything out anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.log import read_log
from iwreplay.pose import Pose
from iwreplay.scene.model import CompiledScene
from iwreplay.vocabulary import RELATIONS, WEARER
from iwreplay.world import placed
from iwreplay.world.geometry import (
    loose_box_of,
    region_of,
    solid_boxes_of,
    solids_of,
    surfaces_of,
    thing_aabb,
    thing_of,
)
from iwreplay.world.placed import places_of
from iwreplay.world.relations import holds, support_of
from iwreplay.world.state import WorldState, fold
from iwreplay.world.support import rests_on

SAMPLES = sorted((Path(__file__).parents[2] / "episodes" / "samples").glob("*.arrows"))
_WORLDS = 24


@cache
def worlds(path: Path) -> tuple[WorldState, ...]:
    """The world at so many events of a recorded episode at which something had moved, in order."""
    kept: list[WorldState] = []
    with read_log(path) as log:
        for _, _, state in fold(log):
            if not kept or kept[-1].poses != state.poses or kept[-1].joints != state.joints:
                kept.append(state.copy())
    return tuple(kept[i * (len(kept) - 1) // (_WORLDS - 1)] for i in range(_WORLDS))


@contextmanager
def forgetting() -> Iterator[None]:
    """Nothing that was kept is known within, and nothing of it is lost."""
    kept = placed._LATEST[:]
    placed._LATEST.clear()
    try:
        yield
    finally:
        placed._LATEST[:] = kept


def asked(state: WorldState) -> dict[Any, Any]:
    """What can be asked of a world that rests on where its movable things are."""
    scene = state.scene
    movable = [t.id for t in scene.things if not t.fixed]
    answers: dict[Any, Any] = {}
    for a in movable:
        answers["rests", a] = rests_on(state, a)
        answers["support", a] = support_of(state, a)
        answers["solids", a] = solids_of(thing_of(state, a), state)
        for b in (*movable, *(t.id for t in scene.things if t.links[0].surfaces or t.links[0].interiors)):
            for relation in RELATIONS:
                if relation not in ("in_room", "attached") and a != b:
                    answers[relation, a, b] = holds(state, relation, a, b)
    for t in scene.things:
        answers["placed", t.id] = (solid_boxes_of(t, state), surfaces_of(t, state), region_of(t, state))
    return answers


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_along_a_recorded_episode(path: Path) -> None:
    true = 0
    for state in worlds(path)[::3]:
        kept = asked(state)
        with forgetting():
            assert kept == asked(state)
        true += sum(v is True for v in kept.values())
    assert true > 0


@given(
    path=st.sampled_from(SAMPLES),
    visits=st.lists(
        st.tuples(
            st.integers(0, _WORLDS - 1),
            st.lists(
                st.tuples(st.integers(0, 999), st.sampled_from(("lift", "drop onto", "hide", "hold", "open", "turn"))),
                max_size=3,
            ),
        ),
        min_size=2,
        max_size=5,
    ),
    again=st.integers(0, 999),
)
@settings(deadline=None, max_examples=40)
def test_worlds_in_any_order_changed_in_place(
    path: Path, visits: list[tuple[int, list[tuple[int, str]]]], again: int
) -> None:
    for at, changes in visits:
        state = worlds(path)[at].copy()
        # so that something is kept from before the changes
        some = [t.id for t in state.scene.things if not t.fixed]
        support_of(state, some[again % len(some)])
        rests_on(state, some[(again + 1) % len(some)])
        for which, what in changes:
            _change(state, which, what)
            pairs = [(a, b) for a in some for b in (*some, WEARER) if a != b]
            a, b = pairs[(which + again) % len(pairs)]
            mine = (rests_on(state, a), support_of(state, a), holds(state, "ontop", a, b), holds(state, "inside", a, b))
            with forgetting():
                assert mine == (
                    rests_on(state, a),
                    support_of(state, a),
                    holds(state, "ontop", a, b),
                    holds(state, "inside", a, b),
                )
        supports = {t: (rests_on(state, t), support_of(state, t)) for t in some}
        with forgetting():
            assert supports == {t: (rests_on(state, t), support_of(state, t)) for t in some}


def _change(state: WorldState, which: int, what: str) -> None:
    """Changes a world in place, as no event would have to."""
    movable = [t.id for t in state.scene.things if not t.fixed]
    thing, other = movable[which % len(movable)], state.scene.things[which % len(state.scene.things)].id
    x, y, z, *q = state.poses[thing]
    if what == "lift":
        state.poses[thing] = (x, y, z + 0.1, *q)  # type: ignore[assignment]
    elif what == "drop onto":
        x0, y0, _, x1, y1, z1 = thing_aabb(thing_of(state, other), state)
        low = thing_aabb(thing_of(state, thing), state)[2]
        state.poses[thing] = ((x0 + x1) / 2, (y0 + y1) / 2, z1 + z - low, *q)  # type: ignore[assignment]
    elif what == "turn":
        state.poses[thing] = (x, y, z, *_TURNED[which % len(_TURNED)])
    elif what == "open" and state.joints:
        joint = list(state.joints)[which % len(state.joints)]
        state.joints[joint] = state.joints[joint] + 0.3
    else:
        name = "exists" if what == "hide" else "held"
        state.attrs[thing][name] = state.attrs[thing].get(name) is not (name == "held") if which % 2 else which % 3 == 0


#: unit quaternions, and one that stretches: a forged log may hold it
_TURNED = ((1.0, 0.0, 0.0, 0.0), (0.6, 0.0, 0.0, 0.8), (0.5, 0.5, 0.5, 0.5), (0.8, 0.0, 0.6, 0.0), (1.5, 0.0, 0.5, 0.0))


@given(which=st.integers(0, 999), at=st.integers(0, _WORLDS - 1), turned=st.sampled_from(_TURNED))
@settings(deadline=None, max_examples=60)
def test_loose_boxes_hold_the_close_ones(which: int, at: int, turned: tuple[float, float, float, float]) -> None:
    state = worlds(SAMPLES[which % len(SAMPLES)])[at].copy()
    thing = state.scene.things[which % len(state.scene.things)]
    pose: Pose = (*state.poses[thing.id][:3], *turned)
    state.poses[thing.id] = pose
    close, loose = region_of(thing, state), loose_box_of(thing, state)
    assert all(loose[i] <= close[i] and close[i + 3] <= loose[i + 3] for i in range(3))


def test_a_drawer_is_drawn_from_under_a_thing(kitchen: CompiledScene) -> None:
    state = WorldState(kitchen)
    below = rests_on(state, "pen_1")
    assert below.startswith("drawer_unit_1")
    slide = next(j for j in state.joints if j.startswith(f"{below}."))
    state.joints[slide] += 0.4
    drawn = rests_on(state, "pen_1")
    assert drawn != below
    with forgetting():
        assert rests_on(state, "pen_1") == drawn
    state.joints[slide] -= 0.4
    assert rests_on(state, "pen_1") == below


def test_what_is_off_stage_carries_nothing(kitchen: CompiledScene) -> None:
    state = WorldState(kitchen)
    assert rests_on(state, "plate_2") == "tray_1"
    state.attrs["tray_1"]["exists"] = False
    assert rests_on(state, "plate_2") != "tray_1"
    state.attrs["tray_1"]["exists"] = True
    assert rests_on(state, "plate_2") == "tray_1"


def test_only_the_last_few_scenes_are_kept() -> None:
    scene = worlds(SAMPLES[0])[0].scene
    first = places_of(scene)
    assert places_of(scene) is first
    others = [_renamed(scene, f"scene_{i}") for i in range(placed._MOST_SCENES)]
    for other in others:
        places_of(other)
    assert len(placed._LATEST) == placed._MOST_SCENES
    assert places_of(scene) is not first


def _renamed(scene: CompiledScene, name: str) -> CompiledScene:
    return CompiledScene(**{f: getattr(scene, f) for f in scene.__struct_fields__} | {"id": name})
