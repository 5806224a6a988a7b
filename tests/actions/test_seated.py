"""What the wearer sits on, stands on, holds or wears is not moved from under it; from a seat it reaches sitting."""

from __future__ import annotations

import pytest

from iwreplay.body.postures import SEAT_TO_PELVIS_M
from iwreplay.body.skeleton import PELVIS_HEIGHT_M
from iwreplay.events import BodyPosed
from iwreplay.scene.files import FurnitureSpec, RoomSpec, SceneFile
from iwreplay.scene.library import load_library
from iwreplay.scene.loader import compile_scene, data_root
from iwreplay.taskpack.model import Placement
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import surfaces_of, thing_of
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World


@pytest.fixture(scope="module")
def office() -> Base:
    room = RoomSpec(id="hall", nouns=("hall",), rect=(0.0, 0.0, 8.0, 6.0), height=2.6)
    furniture = (
        FurnitureSpec(id="table_1", cls="table", pos=(4.5, 2.3)),
        FurnitureSpec(id="sofa_1", cls="sofa", pos=(2.0, 5.4)),
    )
    file = SceneFile(format=1, id="office", spawn=(2.5, 1.5, 30.0), rooms=(room,), furniture=furniture)
    things = (
        Placement(id="chair_1", cls="office_chair", at="floor", pos=(4.5, 3.05)),
        Placement(id="mug_1", cls="mug", at="table_1.top", pos=(0.0, 0.2)),
        Placement(id="paper_1", cls="newspaper", at="floor", pos=(6.5, 4.0)),
        Placement(id="laptop_1", cls="laptop", at="table_1.top", pos=(-0.35, 0.2)),
        Placement(id="hat_1", cls="hat", at="table_1.top", pos=(0.35, 0.2)),
    )
    library = load_library(data_root() / "objects")
    return Base(compile_scene(file, things, library=library), MujocoSimulator())


@pytest.fixture
def seated(office: Base) -> World:
    world = World(office)
    world.ok("[Walk] office chair", "[Sit] office chair")
    return world


@pytest.mark.parametrize("command", ["[Push] office chair, 0.2", "[Pull] office chair", "[Slide] office chair, 0.1"])
def test_a_seat_is_not_pushed_from_under_the_wearer(seated: World, command: str) -> None:
    outcome = seated.refused(command)
    assert outcome.code == "POSTURE"
    assert outcome.sentence == "I am sitting on the office chair; I have to stand up first."
    seated.ok("[StandUp]", "[Push] office chair, 0.1")


def test_one_sits_on_the_live_seat_top(seated: World) -> None:
    def on_top() -> None:
        chair = thing_of(seated.state, "chair_1")
        top = surfaces_of(chair, seated.state)[0]
        x, y, z = top.pose[:3]
        assert seated.state.body[2] + PELVIS_HEIGHT_M == pytest.approx(z + SEAT_TO_PELVIS_M, abs=1e-6)
        assert abs(seated.state.body[0] - x) < top.half[0]
        assert abs(seated.state.body[1] - y) < top.half[1] + 0.05

    on_top()
    before = seated.state.poses["chair_1"][:2]
    seated.ok("[StandUp]", "[Push] office chair, 0.3", "[Sit] office chair")
    assert seated.state.poses["chair_1"][:2] != pytest.approx(before, abs=0.1)
    on_top()


def test_a_reach_from_a_seat_stays_on_it(seated: World) -> None:
    seat, since = seated.state.body[:3], len(seated.events)
    seated.ok("[Touch] mug", "[Push] mug, 0.05", "[Grab] mug")
    assert seated.state.body[:3] == pytest.approx(seat, abs=1e-9)
    heights = {round(e.values[2], 6) for e in seated.events[since:] if isinstance(e, BodyPosed)}
    assert heights == {round(seat[2], 6)}
    assert seated.attr(WEARER, "sitting") == "chair_1"


def test_what_is_before_a_seat_is_opened_and_closed_from_it(seated: World) -> None:
    seat = seated.state.body[:3]
    seated.ok("[Open] laptop")
    assert seated.attr("laptop_1", "open") is True
    seated.ok("[Close] laptop")
    assert seated.attr("laptop_1", "open") is False
    assert seated.state.body[:3] == pytest.approx(seat, abs=1e-9)


def test_nothing_is_put_where_the_wearer_sits(seated: World) -> None:
    seated.ok("[Grab] mug")
    assert seated.refused("[PutOn] mug, office chair").code == "NO_SPACE"
    seated.ok("[PutOn] mug, table")


def test_what_one_stands_on_is_not_taken_or_pushed(office: Base) -> None:
    world = World(office).stand(6.5, 4.0, 0.0).look_around()
    outcome = world.refused("[Grab] newspaper")
    assert (outcome.code, outcome.sentence) == (
        "BLOCKED",
        "I am standing on the newspaper; I have to step off it.",
    )
    assert world.refused("[Push] newspaper").code == "COLLISION"
    world.ok("[Forward] -0.5", "[Grab] newspaper")


def test_what_is_held_or_worn_is_not_pushed(office: Base) -> None:
    world = World(office)
    world.ok("[Walk] hat", "[Grab] hat")
    assert world.refused("[Push] hat").code == "HAND_FULL"
    world.ok("[Wear] hat")
    outcome = world.refused("[Push] hat")
    assert outcome.code == "NO_AFFORDANCE"
    assert "wearing it" in outcome.sentence
