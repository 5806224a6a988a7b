"""Relations, against settled physics and at their edges."""

from __future__ import annotations

import math

import msgspec
import pytest

from iwreplay.errors import UnknownNameError
from iwreplay.pose import Pose, from_xyz_yaw, quat_about
from iwreplay.scene.model import CompiledScene
from iwreplay.vocabulary import RELATIONS, WEARER
from iwreplay.world.geometry import thing_of
from iwreplay.world.relations import holds, stands_on, support_of
from iwreplay.world.state import WorldState
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.world.conftest import state_of


def _moved(state: WorldState, thing: str, dx: float, dy: float, dz: float) -> WorldState:
    new = state.copy()
    x, y, z, *q = new.poses[thing]
    new.poses[thing] = (x + dx, y + dy, z + dz, *q)  # type: ignore[assignment]
    return new


@pytest.fixture
def state(kitchen: CompiledScene, sim: MujocoSimulator) -> WorldState:
    return state_of(kitchen, sim)


def test_belief_and_settled_geometry_agree(kitchen: CompiledScene, state: WorldState) -> None:
    for thing in kitchen.things:
        if thing.fixed or thing.attrs["parent"] in ("off", "floor"):
            continue
        found = support_of(state, thing.id)
        assert found is not None, thing.id
        assert f"{found[0]}:{found[1]}.{found[2]}" == thing.attrs["parent"], thing.id


def test_support_agrees_with_the_contacts_of_the_simulator(
    kitchen: CompiledScene, sim: MujocoSimulator, state: WorldState
) -> None:
    """Whatever rests on something touches it, and what rests on nothing else touches the floor."""
    contacts = set(sim.contacts())
    for thing in kitchen.things:
        if thing.fixed or thing.attrs["exists"] is False:
            continue
        found = support_of(state, thing.id)
        below = "floor" if found is None else found[1]
        assert (min(thing.id, below), max(thing.id, below)) in contacts, thing.id
        assert holds(state, "touching", thing.id, below)
        assert holds(state, "touching", below, thing.id)


def test_what_falls_is_found_where_it_came_to_rest(kitchen: CompiledScene, sim: MujocoSimulator) -> None:
    sim.set_pose("apple_1", (0.95, 0.22, 0.6, 1.0, 0.0, 0.0, 0.0))
    sim.set_pose("egg_1", (5.5, 1.0, 0.4, *quat_about((1.0, 0.2, 0.0), 1.2)))
    sim.set_pose("mug_1", (6.1, 2.3, 0.85, 1.0, 0.0, 0.0, 0.0))
    sim.step(round(2.0 / sim.dt_s))
    state = state_of(kitchen, sim)
    assert support_of(state, "apple_1") == ("in", "used_bin_1", "main")
    assert holds(state, "inside", "apple_1", "used_bin_1")
    assert support_of(state, "egg_1") is None
    assert holds(state, "ontop", "egg_1", "floor")
    assert not holds(state, "ontop", "egg_1", "dining_table_1")
    mug = support_of(state, "mug_1")
    assert mug is not None
    assert mug[1] in ("bread_1", "plate_1", "dining_table_1")


def test_ontop_is_direct_but_for_what_is_no_place(state: WorldState) -> None:
    assert holds(state, "ontop", "bread_1", "plate_1")
    assert holds(state, "ontop", "bread_1", "plate_1.top")
    assert holds(state, "ontop", "plate_1", "dining_table_1")
    assert not holds(state, "ontop", "bread_1", "dining_table_1")
    assert stands_on(state, "bread_1", "dining_table_1")
    assert holds(state, "ontop", "plate_2", "tray_1")
    assert not holds(state, "ontop", "plate_2", "dining_table_1")
    # a slice of apple put on the bread is plated too: bread is no place
    on_bread = state.copy()
    x, y, z, *_ = on_bread.poses["bread_1"]
    on_bread.poses["apple_1"] = from_xyz_yaw(x, y, z + 0.064, 0.0)
    assert support_of(on_bread, "apple_1") == ("on", "bread_1", "top")
    assert holds(on_bread, "ontop", "apple_1", "bread_1")
    assert holds(on_bread, "ontop", "apple_1", "plate_1")
    assert not holds(on_bread, "ontop", "apple_1", "dining_table_1")


def test_inside_is_not_ontop(state: WorldState) -> None:
    for thing, owner in (
        ("apple_1", "bowl_1"),
        ("sponge_1", "sink_1"),
        ("milk_1", "fridge_1"),
        ("mug_1", "wall_cabinet_1"),
        ("egg_1", "pan_1"),
        ("pen_1", "drawer_unit_1_middle"),
        ("can_1", "used_bin_1"),
    ):
        assert holds(state, "inside", thing, owner), thing
        assert not holds(state, "ontop", thing, owner), thing
        assert not holds(state, "under", thing, owner), thing
    assert holds(state, "inside", "milk_1", "fridge_1.main")
    assert holds(state, "ontop", "milk_1", "fridge_1.lower")
    assert not holds(state, "ontop", "milk_1", "fridge_1.middle")
    assert not holds(state, "inside", "milk_1", "fridge_1_freezer")
    assert not holds(state, "inside", "plate_1", "dining_table_1")


def test_inside_is_transitive_through_space(state: WorldState) -> None:
    packed = state.copy()
    x, y, z, *_ = packed.poses["towel_1"]
    packed.poses["pen_1"] = from_xyz_yaw(x, y, z + 0.0585, 0.0)
    # the pen lies on the towel in the cabinet: the towel is no place, the cabinet is where it is
    assert support_of(packed, "pen_1") == ("in", "cabinet_1", "main")
    assert holds(packed, "inside", "pen_1", "cabinet_1")


def test_edges_of_standing(state: WorldState) -> None:
    assert holds(_moved(state, "plate_1", 0.0, 0.0, 0.006), "ontop", "plate_1", "dining_table_1")
    assert not holds(_moved(state, "plate_1", 0.0, 0.0, 0.02), "ontop", "plate_1", "dining_table_1")
    assert support_of(_moved(state, "plate_1", 0.0, 0.0, 0.5), "plate_1") is None
    # half over the edge it still stands there; beyond the edge it does not
    edge = _moved(state, "bowl_1", -0.6, 0.0, 0.0)
    assert holds(edge, "ontop", "bowl_1", "counter_1")
    assert not holds(_moved(state, "bowl_1", 0.0, -0.5, 0.0), "ontop", "bowl_1", "counter_1")


def test_off_stage_things_are_in_no_relation(state: WorldState) -> None:
    for relation in RELATIONS:
        if relation == "in_room":
            assert not holds(state, relation, "late_1", "kitchen")
        else:
            assert not holds(state, relation, "late_1", "floor")
            assert not holds(state, relation, "plate_1", "late_1")
    assert support_of(state, "late_1") is None


def test_what_is_held_is_attached_and_nowhere_else(state: WorldState) -> None:
    assert not holds(state, "attached", "mug_1", WEARER)
    held = state.copy()
    held.attrs["mug_1"]["held"] = True
    assert holds(held, "attached", "mug_1", WEARER)
    assert holds(held, "attached", WEARER, "mug_1")
    assert not holds(held, "inside", "mug_1", "wall_cabinet_1")
    assert support_of(held, "mug_1") is None
    # food stays on a plate that is carried, and is not left in what the plate passes through
    carried = state.copy()
    carried.attrs["plate_1"]["held"] = True
    assert holds(carried, "ontop", "bread_1", "plate_1")
    assert not holds(carried, "ontop", "plate_1", "dining_table_1")
    away: Pose = thing_of(state, "sink_1").pose
    for thing in ("plate_1", "bread_1"):
        x, y, z, *q = carried.poses[thing]
        dx, dy = away[0] - 0.1 - state.poses["plate_1"][0], away[1] - 0.04 - state.poses["plate_1"][1]
        carried.poses[thing] = (x + dx, y + dy, z + 0.05, *q)  # type: ignore[assignment]
    assert not holds(carried, "inside", "bread_1", "sink_1")
    carried.attrs["plate_1"]["held"] = False
    assert holds(carried, "inside", "bread_1", "sink_1")


def test_plugs_attach(kitchen: CompiledScene, state: WorldState) -> None:
    plugged = state.copy()
    plugged.attrs["floor_lamp_1"]["plugged"] = "wall_socket_1"
    assert holds(plugged, "attached", "floor_lamp_1", "wall_socket_1")
    assert not holds(state, "attached", "floor_lamp_1", "wall_socket_1")


def test_under(state: WorldState) -> None:
    assert holds(state, "under", "carton_1", "dining_table_1")
    assert not holds(state, "under", "dining_table_1", "carton_1")
    assert not holds(state, "under", "plate_1", "dining_table_1")
    assert not holds(_moved(state, "carton_1", 1.2, 0.0, 0.0), "under", "carton_1", "dining_table_1")
    covered = state.copy()
    x, y, z, *_ = covered.poses["bowl_1"]
    covered.poses["apple_1"] = from_xyz_yaw(x + 0.3, y, z, 0.0)
    covered.poses["pen_1"] = from_xyz_yaw(x + 0.3, y, z, 0.0)
    assert holds(covered, "under", "pen_1", "apple_1")


def test_sides_are_those_of_the_anchor_seen_from_its_front(state: WorldState) -> None:
    # the plate's front is -y: one who looks at it from there has +x to the right
    for dx, dy, relation in (
        (-0.2, 0.05, "left_of"),
        (0.2, -0.05, "right_of"),
        (0.05, 0.2, "behind"),
        (0.0, -0.2, "in_front_of"),
    ):
        new = state.copy()
        x, y, z, *_ = new.poses["plate_1"]
        new.poses["knife_1"] = from_xyz_yaw(x + dx, y + dy, z, 0.0)
        for other in ("left_of", "right_of", "behind", "in_front_of"):
            assert holds(new, other, "knife_1", "plate_1") == (other == relation)
        # turned by half a turn, left is right
        new.poses["plate_1"] = from_xyz_yaw(x, y, z, math.pi)
        opposite = {"left_of": "right_of", "right_of": "left_of", "behind": "in_front_of", "in_front_of": "behind"}
        assert holds(new, opposite[relation], "knife_1", "plate_1")
    far = _moved(state, "knife_1", 40.0, 0.0, 0.0)
    assert not holds(far, "right_of", "knife_1", "plate_1")


def test_near_and_rooms(state: WorldState) -> None:
    assert holds(state, "near", "plate_1", "tray_1")
    assert not holds(state, "near", "plate_1", "milk_1")
    assert holds(state, "in_room", "plate_1", "dining_room")
    assert holds(state, "in_room", "milk_1", "kitchen")
    assert holds(state, "in_room", WEARER, "kitchen")
    at_table = state.copy()
    at_table.body = (6.5, 1.2, *state.body[2:])
    assert holds(at_table, "in_room", WEARER, "dining_room")
    assert holds(at_table, "near", WEARER, "dining_table_1")
    assert not holds(state, "near", WEARER, "dining_table_1")
    seated = state.copy()
    seated.attrs[WEARER]["sitting"] = "chair_1"
    assert holds(seated, "ontop", WEARER, "chair_1")


def test_touching_is_exact(state: WorldState) -> None:
    beside = state.copy()
    a, b = beside.poses["bowl_1"], 0.0
    beside.poses["can_1"] = from_xyz_yaw(a[0] + 0.3, a[1], a[2], b)
    # two round things on the diagonal: their boxes overlap, they do not touch
    beside.poses["apple_1"] = from_xyz_yaw(a[0] + 0.3 + 0.052, a[1] + 0.052, a[2], b)
    assert not holds(beside, "touching", "apple_1", "can_1")
    beside.poses["apple_1"] = from_xyz_yaw(a[0] + 0.3 + 0.049, a[1] + 0.049, a[2], b)
    assert holds(beside, "touching", "apple_1", "can_1")


def test_unknown_names_are_refused(state: WorldState) -> None:
    for relation, a, b in (
        ("beside", "plate_1", "tray_1"),
        ("ontop", "plate_9", "tray_1"),
        ("ontop", "plate_1", "tray_9"),
        ("in_room", "plate_1", "attic"),
    ):
        with pytest.raises(UnknownNameError, match=r"beside|_9|attic"):
            holds(state, relation, a, b)
    with pytest.raises(UnknownNameError, match="plate_9"):
        support_of(state, "plate_9")


def test_every_relation_of_the_vocabulary_is_decided(state: WorldState) -> None:
    for relation in RELATIONS:
        assert holds(state, relation, "plate_1", "dining_room" if relation == "in_room" else "tray_1") in (True, False)


def test_relations_do_not_read_belief(kitchen: CompiledScene, state: WorldState) -> None:
    lied = state.copy()
    for attrs in lied.attrs.values():
        if "parent" in attrs:
            attrs["parent"] = "on:moon.top"
    for thing in kitchen.things:
        assert support_of(lied, thing.id) == support_of(state, thing.id)
    assert msgspec.json.encode(lied.poses) == msgspec.json.encode(state.poses)
