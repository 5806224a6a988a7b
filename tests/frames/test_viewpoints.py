"""Cameras in scenes: free of everything, looking at what they are for; impossible ones are named."""

from __future__ import annotations

import math

import pytest

from iwreplay.errors import RenderError
from iwreplay.frames.obstacles import Obstacles
from iwreplay.frames.viewpoints import before_thing, checked_camera, room_views, start_view
from iwreplay.pose import Pose, Vec3, inverse, transform_point
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.world.geometry import interiors_of
from iwreplay.world.state import WorldState

SCENE = compile_scene(load_scene("family_kitchen"))
STATE = WorldState(SCENE)
OBSTACLES = Obstacles(SCENE)


def ahead(camera: Pose, point: Vec3) -> bool:
    x, y, z = transform_point(inverse(camera), point)
    return z < 0.0 and abs(x) < -z and abs(y) < -z


def test_the_start_is_where_the_wearer_stands() -> None:
    camera = start_view(SCENE)
    x, y, yaw = SCENE.spawn
    assert camera[:2] == (x, y)
    assert ahead(camera, (x + 2.0 * math.cos(yaw), y + 2.0 * math.sin(yaw), 1.0))


def test_rooms_are_seen_from_their_free_corners() -> None:
    for room in SCENE.rooms:
        views = room_views(SCENE, STATE, OBSTACLES, room=room)
        assert 1 <= len(views) <= 4
        x0, y0, x1, y1 = room.rect
        for camera in views:
            assert OBSTACLES.holding(STATE, camera[:3]) == ""
            assert x0 < camera[0] < x1
            assert y0 < camera[1] < y1
            assert ahead(camera, ((x0 + x1) / 2, (y0 + y1) / 2, 1.0))
    assert room_views(SCENE, STATE, Obstacles(SCENE), room=SCENE.rooms[0]) == room_views(
        SCENE, STATE, OBSTACLES, room=SCENE.rooms[0]
    )


@pytest.mark.parametrize(("scene_id", "room_id"), [("laundry_house", "utility"), ("storage_hall", "north_store")])
def test_the_best_corner_is_not_in_the_midst_of_a_ladder(scene_id: str, room_id: str) -> None:
    scene = compile_scene(load_scene(scene_id))
    state, obstacles = WorldState(scene), Obstacles(scene)
    ladder = next(t for t in scene.things if t.cls == "ladder")
    room = next(r for r in scene.rooms if r.id == room_id)
    views = room_views(scene, state, obstacles, room=room)
    eyes = [transform_point(inverse(state.poses[ladder.id]), view[:3]) for view in views]
    apart = [max(abs(e[k]) - ladder.bounds_half[k] for k in (0, 1)) for e in eyes]
    assert apart[0] > 0.1
    # nor is any, while there is another place in the same corner
    assert sum(a < 0.1 for a in apart) <= 1


def test_before_everything_loose_or_large_there_is_a_place() -> None:
    for thing in SCENE.things:
        if thing.cls in ("floor", "wall", "ceiling") or thing.attrs.get("exists") is False:
            continue
        camera = before_thing(SCENE, STATE, OBSTACLES, thing=thing)
        assert OBSTACLES.holding(STATE, camera[:3]) == "", thing.id
        assert ahead(camera, transform_point(thing.pose, thing.bounds_pos)), thing.id
    fridge = next(t for t in SCENE.things if t.id == "fridge_1")
    with pytest.raises(RenderError, match="no place number 99 to stand before fridge_1"):
        before_thing(SCENE, STATE, OBSTACLES, thing=fridge, number=99)


@pytest.mark.parametrize(
    ("scene_id", "thing_id"),
    [("garage_workshop", "car_1"), ("bedroom_suite", "wardrobe_1"), ("bedroom_suite", "clothes_rail_1")],
)
def test_before_a_thing_is_not_behind_the_wall_that_it_stands_at(scene_id: str, thing_id: str) -> None:
    scene = compile_scene(load_scene(scene_id))
    thing = next(t for t in scene.things if t.id == thing_id)
    camera = before_thing(scene, WorldState(scene), Obstacles(scene), thing=thing)

    def room_of(x: float, y: float) -> str:
        return next(r.id for r in scene.rooms if r.rect[0] <= x <= r.rect[2] and r.rect[1] <= y <= r.rect[3])

    assert room_of(camera[0], camera[1]) == room_of(thing.pose[0], thing.pose[1])


@pytest.mark.parametrize(
    ("eye", "toward", "says"),
    [
        ((math.nan, 1.0, 1.0), (2.0, 2.0, 1.0), r"camera at \(nan, 1, 1\) .* not finite"),
        ((1.0, 1.0, 1.0), (1.0, math.inf, 1.0), "not finite"),
        ((2.0, 2.0, 1.6), (2.0, 2.0, 1.6), "no direction"),
        ((-3.0, 2.0, 1.6), (2.0, 2.0, 1.0), r"\(-3, 2, 1.6\) is outside of the building; its rooms: kitchen x 0 to"),
        ((2.0, 2.0, 2.62), (2.0, 1.0, 1.0), "is inside of ceiling, or touches it|above kitchen"),
        ((2.0, 2.0, 9.0), (2.0, 1.0, 1.0), "above kitchen, which is 2.6 m high"),
        ((2.0, 2.0, -0.04), (2.0, 1.0, 1.0), "inside of floor|below the floor"),
        ((4.62, 0.3, 1.6), (2.0, 1.0, 1.0), "inside of walls_"),
    ],
)
def test_an_impossible_camera_is_named(eye: Vec3, toward: Vec3, says: str) -> None:
    with pytest.raises(RenderError, match=says):
        checked_camera(SCENE, STATE, OBSTACLES, eye=eye, toward=toward)


def test_a_camera_in_a_closed_thing_is_named_with_the_thing() -> None:
    shut = next(t for t in SCENE.things if any(i.closed for i in interiors_of(t, STATE)))
    inside = next(i for i in interiors_of(shut, STATE) if i.closed).box.pose[:3]
    with pytest.raises(RenderError, match=f"inside of {shut.id}"):
        checked_camera(SCENE, STATE, OBSTACLES, eye=inside, toward=(5.0, 0.5, 1.0))


def test_a_camera_in_a_thing_is_named_with_the_thing() -> None:
    table = next(t for t in SCENE.things if t.id.startswith("dining_table"))
    top = transform_point(table.pose, (0.0, 0.0, 0.72))
    with pytest.raises(RenderError, match=table.id):
        checked_camera(SCENE, STATE, OBSTACLES, eye=top, toward=(5.0, 0.5, 1.0))


def test_a_possible_camera_is_taken() -> None:
    camera = checked_camera(SCENE, STATE, OBSTACLES, eye=(2.0, 2.0, 1.6), toward=(2.0, 3.0, 1.0))
    assert camera[:3] == (2.0, 2.0, 1.6)
    assert ahead(camera, (2.0, 3.0, 1.0))
