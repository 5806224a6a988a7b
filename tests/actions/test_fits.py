"""What goes on and into what: common pairs of the household, put there by hand and at rest afterwards."""

from __future__ import annotations

import pytest

from iwreplay.scene.convex import base_of
from iwreplay.scene.geometry import solids_at
from iwreplay.scene.library import Wanted, load_library
from iwreplay.scene.loader import compile_scene, data_root, load_scene
from iwreplay.scene.model import Thing
from iwreplay.scene.placing import spot_for
from iwreplay.world.relations import holds
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World


def _thing(cls: str, id_: str) -> Thing:
    return load_library(data_root() / "objects").make(Wanted(id=id_, cls=cls), where="test")[0]


@pytest.mark.parametrize(("cls", "radius_m"), [("plate", 0.115), ("bowl", 0.061), ("pan", 0.114)])
def test_a_flaring_vessel_stands_on_its_base_not_on_its_rim(cls: str, radius_m: float) -> None:
    x0, y0, _, x1, y1, _ = base_of(solids_at(_thing(cls, "it_1"), (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), {}))
    assert max(x1, -x0, y1) <= radius_m
    assert y0 >= -0.31


@pytest.mark.parametrize(
    ("what", "on"),
    [("plate", "cutting_board"), ("bowl", "plate"), ("plate", "tray"), ("mug", "trivet"), ("bowl", "trivet")],
)
def test_scenes_can_place_common_pairs(what: str, on: str) -> None:
    owner = _thing(on, "owner_1")
    spot = spot_for(
        _thing(what, "it_1"),
        at="owner_1.top",
        pos=(0, 0),
        yaw_deg=0,
        owners={"owner_1": owner},
        joints={},
        rooms=(),
        where="",
    )
    assert spot.parent == "on:owner_1.top"


def _at_the_work_table(world: World, *things: str) -> World:
    """The things on the free middle of the work table, and the wearer before it."""
    for k, thing in enumerate(things):
        world.place(thing, "table_1.top", 0.2 + 0.22 * k, -0.1)
    return world.settle().look_around().stand(6.4, 1.85, 1.57)


def test_a_bowl_stands_on_a_plate(world: World) -> None:
    _at_the_work_table(world, "plate_1", "bowl_1")
    world.ok("[Grab] bowl on the work table", "[PutOn] bowl, plate on the work table", "[Wait] 1")
    assert holds(world.state, "ontop", "bowl_1", "plate_1")
    world.ok("[Grab] plate on the work table")
    assert holds(world.state, "ontop", "bowl_1", "plate_1")


def test_long_things_lie_over_the_edge_of_small_ones(world: World) -> None:
    _at_the_work_table(world, "plate_1", "pen_1")
    world.ok("[Grab] pen on the work table", "[PutOn] pen, plate on the work table", "[Wait] 1")
    assert holds(world.state, "ontop", "pen_1", "plate_1")


def test_a_carton_goes_back_where_only_its_flaps_meet_the_shelf() -> None:
    base = Base(compile_scene(load_scene("classroom")), MujocoSimulator())
    world = World(base)
    before = world.state.poses["open_carton_1"]
    world.ok("[Walk] open carton", "[Grab] open carton", "[PutOn] open carton, bottom of the supply shelf", "[Wait] 1")
    assert world.attr("open_carton_1", "parent") == "on:supply_shelf_1.bottom"
    assert world.state.poses["open_carton_1"][2] == pytest.approx(before[2], abs=0.003)
