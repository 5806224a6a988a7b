"""Where surfaces, interiors, faces and handles of a state are."""

from __future__ import annotations

import math

import pytest

from iwreplay.errors import UnknownNameError
from iwreplay.pose import from_xyz_yaw, rotate
from iwreplay.scene.model import CompiledScene
from iwreplay.world.geometry import (
    face_of,
    grip_point,
    handle_point,
    interior_at,
    link_pose,
    room_at,
    solids_of,
    surface_at,
    thing_aabb,
    thing_of,
)
from iwreplay.world.state import WorldState


@pytest.fixture
def state(kitchen: CompiledScene) -> WorldState:
    return WorldState(kitchen)


def test_an_interior_moves_with_its_drawer(state: WorldState) -> None:
    shut = interior_at(state, "drawer_unit_1_top.main")
    assert shut.closed
    state.joints["drawer_unit_1_top.slide"] = 0.3
    state.attrs["drawer_unit_1_top"]["open"] = True
    pulled = interior_at(state, "drawer_unit_1_top.main")
    assert not pulled.closed
    # the unit stands at the south wall and opens to the north
    assert pulled.box.pose[1] - shut.box.pose[1] == pytest.approx(0.3)
    handle = handle_point(thing_of(state, "drawer_unit_1_top"), state)
    assert handle is not None
    assert handle[1] > pulled.box.pose[1]


def test_a_door_handle_swings(state: WorldState) -> None:
    fridge = thing_of(state, "fridge_1")
    shut = handle_point(fridge, state, joint="door")
    state.joints["fridge_1.door"] = math.radians(90.0)
    opened = handle_point(fridge, state, joint="door")
    assert shut is not None
    assert opened is not None
    # the kitchen hinges it on the left
    hinge = (fridge.pose[0] - 0.35, fridge.pose[1] - 0.34 + 0.024)
    assert math.dist(shut[:2], hinge) == pytest.approx(math.dist(opened[:2], hinge))
    assert opened[1] < shut[1] - 0.4
    assert handle_point(thing_of(state, "plate_1"), state) is None
    # the box of its solids grows with it
    assert thing_aabb(fridge, state)[1] < fridge.pose[1] - 0.9


def test_surfaces_and_faces_follow_their_thing(state: WorldState) -> None:
    state.poses["tray_1"] = from_xyz_yaw(1.0, 2.0, 0.5, math.pi / 2)
    assert surface_at(state, "tray_1.top").pose[:3] == pytest.approx((1.0, 2.0, 0.506))
    state.poses["carton_1"] = from_xyz_yaw(1.0, 2.0, 0.0, math.pi / 2)
    face = face_of(state, "carton_1", "front")
    # turned by 90 degrees its front, local -y, looks along +x
    assert rotate(face.pose[3:], (0.0, 0.0, 1.0)) == pytest.approx((1.0, 0.0, 0.0), abs=1e-12)
    assert rotate(face.pose[3:], (0.0, 1.0, 0.0)) == pytest.approx((0.0, 0.0, 1.0), abs=1e-12)
    assert grip_point(thing_of(state, "carton_1"), state) == pytest.approx((1.0, 2.0, 0.112))


def test_a_memo_never_outlives_a_move(state: WorldState) -> None:
    plate = thing_of(state, "plate_1")
    first = solids_of(plate, state)
    assert solids_of(plate, state) is first
    other = state.copy()
    other.poses["plate_1"] = from_xyz_yaw(0.0, 0.0, 3.0, 0.0)
    assert solids_of(plate, other) != first
    assert thing_aabb(plate, other)[2] == pytest.approx(3.0, abs=1e-6)
    assert solids_of(plate, state) == first
    assert link_pose(plate, 0, state) == state.poses["plate_1"]


def test_rooms(kitchen: CompiledScene) -> None:
    assert room_at(kitchen, 1.0, 1.0) == "kitchen"
    assert room_at(kitchen, 6.0, 1.0) == "dining_room"
    assert room_at(kitchen, 4.6, 0.9) == "kitchen"
    assert room_at(kitchen, -1.0, 0.0) == ""


def test_unknown_places_are_named_with_what_there_is(state: WorldState) -> None:
    with pytest.raises(UnknownNameError, match=r"counter_1\.side.*counter_1\.top"):
        surface_at(state, "counter_1.side")
    with pytest.raises(UnknownNameError, match=r"fridge_1\.top.*fridge_1\.main"):
        interior_at(state, "fridge_1.top")
    with pytest.raises(UnknownNameError, match="ghost"):
        surface_at(state, "ghost.top")
    with pytest.raises(UnknownNameError, match=r"side.*front"):
        face_of(state, "carton_1", "side")
