"""In every scene of the package, what furniture has several of is found by the words for one of them."""

from __future__ import annotations

import pytest

from iwreplay.actions.grounding import ground
from iwreplay.actions.naming import public_name
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.world.composites import members_of
from tests.actions.tiny import seen_whole


@pytest.mark.parametrize("scene_id", scene_ids())
def test_each_of_several_like_parts_is_found_with_its_owner(scene_id: str) -> None:
    state, perception = seen_whole(compile_scene(load_scene(scene_id)))
    asked = 0
    for owner in state.scene.things:
        parts = members_of(state, owner) if owner.fixed else ()
        alike = [p for p in parts if sum(q.cls == p.cls for q in parts) > 1]
        called = public_name(owner)
        if sum(public_name(t) == called for t in state.scene.things) > 1:
            continue  # the owner itself has to be told from its like first
        for part in alike:
            words = f"{public_name(part)} of the {called}".split()
            assert len(words) <= 8, words
            found = ground(tuple(words), state=state, perception=perception)
            assert found.id == part.id, words
            asked += 1
    if scene_id in ("mail_room", "classroom", "city_apartment"):
        assert asked >= 3


@pytest.mark.parametrize(
    ("scene_id", "words", "part"),
    [
        ("mail_room", "upper left pigeonhole", "_a"),
        ("mail_room", "lower right slot of the pigeonholes", "_f"),
        ("classroom", "middle cubby", "_middle"),
        ("city_apartment", "bottom drawer of the drawer unit", "_bottom"),
        ("bedroom_suite", "top drawer of the dresser", "_top"),
        ("dining_house", "middle drawer of the cutlery drawers", "_middle"),
    ],
)
def test_parts_are_called_as_people_call_them(scene_id: str, words: str, part: str) -> None:
    state, perception = seen_whole(compile_scene(load_scene(scene_id)))
    assert ground(tuple(words.split()), state=state, perception=perception).id.endswith(part)
