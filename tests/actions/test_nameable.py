"""What can be named this moment: it is perceived, and each name may be typed as it stands and means one thing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iwreplay.actions.grammar import entity_words
from iwreplay.actions.grounding import Grounded, ground, nameable
from iwreplay.actions.perception import Perception
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.world.geometry import exists
from tests.actions.proving import World
from tests.actions.tiny import frame, scene_of, state_of, thing


def _meaning(world: World, name: str) -> Grounded:
    return ground(entity_words(name), state=world.state, perception=world.engine.perception, rooms=True)


def test_it_is_what_is_in_the_latest_frames_and_in_the_hand_and_the_rooms(make: Callable[..., World]) -> None:
    world = make(sees_all=False)
    for command in ("[Scan]", "[Walk] dining table", "[Grab] blue mug", "[TurnAround]", "[Wait] 1"):
        world.ok(command)
    mind = world.engine.perception
    meant = [_meaning(world, name) for name in world.engine.names()]
    things = [g.id for g in meant if not g.is_room]
    assert things[0] == world.state.attr("wearer", "held")
    assert set(things) == {things[0], *mind.visible}
    # the table was seen before, and is behind now
    table = _meaning(world, "dining table").id
    assert table in mind.seen
    assert table not in things
    assert {g.id for g in meant if g.is_room} == {r.id for r in world.state.scene.rooms}


def test_who_is_blind_names_what_is_in_reach_of_the_hands(make: Callable[..., World]) -> None:
    world = make(sighted=False)
    world.ok("[Walk] dining table")
    mind = world.engine.perception
    things = [g.id for g in (_meaning(world, name) for name in world.engine.names()) if not g.is_room]
    assert things
    assert all(mind.in_touch_reach(t) for t in things)
    assert not any("blue" in name for name in world.engine.names())


def test_what_was_not_seen_and_what_is_gone_has_no_name() -> None:
    scene = scene_of(
        thing("table_1", "table", (2.0, 0.0, 0.0), half=(0.5, 0.5, 0.4), fixed=True, surfaces=("top",)),
        thing("mug_1", "mug", (2.1, 0.0, 0.8), adjectives=("blue",), attrs={"parent": "on:table_1.top"}),
        thing("mug_2", "mug", (2.2, 0.0, 0.8), adjectives=("blue",), attrs={"parent": "on:table_1.top"}),
        thing("ghost_1", "ghost", (2.3, 0.0, 0.8), attrs={"exists": False}),
    )
    state = state_of(scene)
    mind = Perception(state, sighted=True)
    rooms = [r.nouns[0] for r in scene.rooms]
    assert nameable(state, mind) == tuple(rooms)
    mind.apply(frame(state, "mug_1", "ghost_1"))
    assert nameable(state, mind) == ("blue mug", *rooms)
    mind.apply(frame(state, "mug_1", "mug_2"))
    assert nameable(state, mind) == ("left blue mug on the table", "right blue mug on the table", *rooms)


@pytest.mark.parametrize("scene_id", scene_ids()[::7])
def test_every_name_means_one_thing(scene_id: str) -> None:
    state = state_of(compile_scene(load_scene(scene_id)))
    mind = Perception(state, sighted=True)
    mind.apply(frame(state, *(t.id for t in state.scene.things if exists(state, t.id))))
    names = nameable(state, mind)
    meant = [ground(entity_words(n), state=state, perception=mind, rooms=True).id for n in names]
    assert len(set(meant)) == len(names) > 0
