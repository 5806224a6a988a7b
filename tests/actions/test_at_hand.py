"""Everyday things done with what is in the hand or lies at hand: filling at a sink, sitting down with a thing, devices
with a battery."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from iwreplay.scene.files import SCENE_FORMAT, FurnitureSpec, RoomSpec, SceneFile
from iwreplay.scene.loader import compile_scene
from iwreplay.taskpack.model import Placement
from iwreplay.vocabulary import WEARER
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World


def _hall(furniture: Sequence[FurnitureSpec], objects: Sequence[Placement]) -> World:
    hall = SceneFile(
        format=SCENE_FORMAT,
        id="hall",
        spawn=(3.0, 1.5, 90.0),
        rooms=(RoomSpec(id="hall", nouns=("hall",), rect=(0.0, 0.0, 7.0, 5.0)),),
        furniture=tuple(furniture),
    )
    return World(Base(compile_scene(hall, tuple(objects)), MujocoSimulator()))


_TABLE = FurnitureSpec(id="table_1", cls="table", pos=(5.5, 2.0))


@pytest.fixture(scope="module")
def washroom() -> Base:
    objects = [
        Placement(id=f"{cls}_1", cls=cls, at="floor" if cls == "bucket" else "table_1.top", pos=pos)
        for cls, pos in (
            ("watering_can", (0.3, 0.0)),
            ("mug", (0.0, -0.2)),
            ("vase", (-0.3, -0.1)),
            ("bucket", (4.2, 3.4)),
        )
    ]
    sinks = [
        FurnitureSpec(id="sink_1", cls="sink", pos=(1.5, 4.6)),
        FurnitureSpec(id="outdoor_tap_1", cls="outdoor_tap", pos=(3.6, 4.92, 0.7)),
        FurnitureSpec(id="hose_reel_1", cls="hose_reel", pos=(2.95, 4.82, 0.4)),
        _TABLE,
    ]
    return _hall(sinks, objects).base


@pytest.mark.parametrize("tap", ["sink", "outdoor tap"])
@pytest.mark.parametrize("vessel", ["watering can", "mug", "vase", "bucket"])
def test_any_vessel_is_filled_at_a_sink_and_at_a_tap_on_the_wall(washroom: Base, tap: str, vessel: str) -> None:
    world = World(washroom)
    world.ok(f"[Walk] {vessel}", f"[Grab] {vessel}", f"[Walk] {tap}")
    world.ok("[SwitchOn] sink tap" if tap == "sink" else f"[SwitchOn] {tap}", f"[Fill] {vessel}, {tap}")
    held = str(world.attr(WEARER, "held"))
    contains = world.attr(held, "contains")
    assert isinstance(contains, dict)
    assert contains["water"] == pytest.approx(world.engine._state.scene.things[_index(world, held)].props["capacity_l"])
    assert world.happened("fill")[-1].dest == ("sink_1_tap" if tap == "sink" else "outdoor_tap_1")


def _index(world: World, thing: str) -> int:
    return next(n for n, t in enumerate(world.base.scene.things) if t.id == thing)


def test_a_sink_whose_tap_is_off_fills_nothing(washroom: Base) -> None:
    world = World(washroom)
    world.ok("[Walk] mug", "[Grab] mug", "[Walk] sink")
    outcome = world.refused("[Fill] mug, sink")
    assert (outcome.code, outcome.blocker) == ("DEVICE_OFF", "sink_1_tap")


@pytest.fixture(scope="module")
def dining() -> Base:
    """A table with a chair on each side of it, near walls."""
    chairs = [
        FurnitureSpec(id="chair_1", cls="chair", pos=(2.65, 1.5), yaw_deg=180, adjectives=("near",)),
        FurnitureSpec(id="chair_2", cls="chair", pos=(3.35, 2.9), adjectives=("far",)),
    ]
    furniture = [
        FurnitureSpec(id="dining_table_1", cls="dining_table", pos=(3.0, 2.2)),
        FurnitureSpec(id="counter_1", cls="counter", pos=(5.5, 4.6)),
        *chairs,
    ]
    objects = [
        Placement(id="vase_1", cls="vase", at="counter_1.top", pos=(-0.2, 0.0)),
        Placement(id="tray_1", cls="tray", at="counter_1.top", pos=(0.25, 0.0)),
        Placement(id="box_1", cls="box", at="floor", pos=(6.3, 2.0)),
    ]
    return _hall(furniture, objects).base


@pytest.mark.parametrize("seat", ["near chair", "far chair"])
@pytest.mark.parametrize("thing", ["vase", "tray", "box"])
def test_one_sits_down_with_a_thing_in_the_hand_and_gets_up_again(dining: Base, seat: str, thing: str) -> None:
    world = World(dining)
    world.ok(f"[Walk] {thing}", f"[Grab] {thing}", f"[Walk] {seat}", f"[Sit] {seat}")
    assert world.attr(WEARER, "sitting") == {"near chair": "chair_1", "far chair": "chair_2"}[seat]
    assert world.attr(WEARER, "held") == f"{thing}_1"
    world.ok("[StandUp]")
    assert world.attr(WEARER, "sitting") == ""


def test_a_seat_across_the_room_is_walked_to_first(dining: Base) -> None:
    world = World(dining).stand(6.2, 3.2, 0.0)
    outcome = world.refused("[Sit] near chair")
    assert outcome.code == "UNREACHABLE"
    assert outcome.sentence == "The near chair is too far away; I have to walk there first."


_DEVICES = {"tablet": "new tablet", "laptop": "laptop", "power_drill": "power drill"}


@pytest.fixture(scope="module")
def desk() -> Base:
    """Devices with a battery, full and empty, a lamp that has none, and a socket."""
    objects = [
        Placement(id=f"{c}_1", cls=c, at="table_1.top", pos=(0.4 * k - 0.4, 0.0), adjectives=tuple(name.split()[:-1]))
        for k, (c, name) in enumerate(_DEVICES.items())
    ]
    objects += [
        Placement(id="tablet_2", cls="tablet", at="table_2.top", adjectives=("old",), attrs={"charged": False}),
        Placement(id="desk_lamp_1", cls="desk_lamp", at="table_2.top", pos=(0.4, 0.0)),
    ]
    furniture = [
        _TABLE,
        FurnitureSpec(id="table_2", cls="table", pos=(1.5, 4.5)),
        FurnitureSpec(id="wall_socket_1", cls="wall_socket", pos=(2.45, 4.944, 0.3)),
    ]
    return _hall(furniture, objects).base


@pytest.mark.parametrize("cls", _DEVICES)
def test_a_device_with_a_battery_needs_no_socket_and_stays_on_in_the_hand(desk: Base, cls: str) -> None:
    world, name = World(desk), _DEVICES[cls]
    device = f"{cls}_1"
    assert world.attr(device, "powered") is True
    world.ok(f"[Walk] {name}", f"[SwitchOn] {name}", f"[Grab] {name}")
    assert world.attr(device, "on") is True
    world.ok(f"[SwitchOff] {name}", f"[SwitchOn] {name}")


def test_an_empty_battery_needs_the_plug(desk: Base) -> None:
    world = World(desk)
    assert world.attr("tablet_2", "powered") is False
    world.ok("[Walk] old tablet")
    outcome = world.refused("[SwitchOn] old tablet")
    assert outcome.code == "NO_POWER"
    assert outcome.sentence == "The old tablet has no power; its battery is empty, and it is not plugged in."
    world.ok("[PlugIn] old tablet", "[SwitchOn] old tablet")
    assert world.refused("[SwitchOn] desk lamp").code == "NO_POWER"


def test_a_battery_that_runs_out_switches_the_device_off(desk: Base) -> None:
    world = World(desk)
    world.ok("[Walk] laptop", "[SwitchOn] laptop")
    world.set("laptop_1", charged=False)
    assert (world.attr("laptop_1", "on"), world.attr("laptop_1", "powered")) == (False, False)
    assert world.refused("[SwitchOn] laptop").code == "NO_POWER"


def test_a_lid_right_below_a_shelf_does_not_open_and_the_shelf_is_named() -> None:
    """The closed lid is nearly in touch with it: it is no frame of it for that."""
    shelf = FurnitureSpec(id="wall_shelf_1", cls="wall_shelf", pos=(5.5, 2.25, 0.92))
    box = Placement(id="box_1", cls="box", at="table_1.top", pos=(0.0, 0.2))
    world = _hall([_TABLE, shelf], [box])
    world.ok("[Walk] box")
    refused = world.refused("[Open] box")
    assert (refused.code, refused.blocker) == ("BLOCKED", "wall_shelf_1")
    assert refused.sentence == "The box does not open: the wall shelf is in the way."


def test_a_lid_opens_as_far_as_the_wall_behind_it() -> None:
    box = Placement(id="box_1", cls="box", at="floor", pos=(3.0, 4.83))
    world = _hall([_TABLE], [box])
    world.ok("[Walk] box", "[Open] box")
    assert world.state.joints["box_1.lid"] > 0.9 * math.radians(95.0)


@pytest.mark.parametrize(
    ("stance", "away"),
    [
        ((5.5, 1.25, 1.57), (0.0, 1.0)),
        ((5.5, 2.75, -1.57), (0.0, -1.0)),
        ((4.4, 2.0, 0.0), (1.0, 0.0)),
        ((3.9, 1.6, 0.0), (1.0, 0.0)),
        ((6.6, 2.0, 3.14), (-1.0, 0.0)),
    ],
)
@pytest.mark.parametrize(("verb", "sign"), [("Push", 1.0), ("Pull", -1.0)])
def test_a_push_goes_away_from_where_the_wearer_stands_when_it_is_told(
    stance: tuple[float, float, float], away: tuple[float, float], verb: str, sign: float
) -> None:
    world = _hall([_TABLE], [Placement(id="mug_1", cls="mug", at="table_1.top")]).stand(*stance)
    x, y, *_ = world.state.poses["mug_1"]
    world.ok(f"[{verb}] mug, 0.06")
    there = world.state.poses["mug_1"]
    assert (there[0] - x, there[1] - y) == pytest.approx((sign * 0.06 * away[0], sign * 0.06 * away[1]), abs=0.005)
