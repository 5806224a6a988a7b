"""Every primitive carried out, and tried and undone: what it was to bring about did not come about, or the simulator
failed on the way. And the codes of a command that is not one, on every row."""

from __future__ import annotations

import pytest

from iwreplay.actions.table import PRIMITIVES, by_verb
from iwreplay.errors import SimulatorError
from iwreplay.pose import Pose
from tests.actions.proving import World
from tests.actions.test_refusals import Setup, _do, _go, _holding, _nothing, _place, _seated, _set, _take, _then

_TOMATO_IN_PAN = _then(_place("tomato_1", "pan_1.main"), _set("oven_1_cooktop", on=True), _go(3.1, 4.8, 1.57))
_APPLE_AT_HAND = _then(_place("apple_1", "dining_table_1.top"), _go(2.5, 3.7, -1.57))
_TEA = _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug"))
_AT_TAP = _then(_holding("mug_1", "blue mug"), _set("sink_1_tap", on=True), _do("[Walk] sink"))

#: canonical -> (arrangement, a command that succeeds there)
WORKS: dict[str, tuple[Setup, str]] = {
    "navigate_to": (_nothing, "[Walk] fridge"),
    "forward": (_go(6.0, 4.0), "[Forward] 0.5"),
    "turn": (_nothing, "[TurnLeft] 40"),
    "sit": (_do("[Walk] chair"), "[Sit] chair"),
    "standup": (_seated, "[StandUp]"),
    "face": (_nothing, "[Face] fridge"),
    "look_at": (_do("[Walk] fridge"), "[LookAt] fridge"),
    "scan": (_nothing, "[Scan] 90"),
    "read": (_do("[Walk] jar"), "[Read] jar"),
    "touch": (_do("[Walk] fridge"), "[Touch] fridge"),
    "wait": (_nothing, "[Wait] 1"),
    "grab": (_do("[Walk] blue mug"), "[Grab] blue mug"),
    "put_on": (_then(_holding("mug_1", "blue mug"), _do("[Walk] work table")), "[PutOn] mug, work table"),
    "put_inside": (_then(_holding("mug_1", "blue mug"), _do("[Walk] sink")), "[PutInside] mug, sink"),
    "drop": (_holding("mug_1", "blue mug"), "[Drop] mug"),
    "discard": (_then(_holding("tomato_1", "tomato"), _do("[Walk] trash bin")), "[Discard] tomato, trash bin"),
    "push": (_do("[Walk] tomato"), "[Push] tomato, 0.05"),
    "wear": (_take("hat_1"), "[Wear] hat"),
    "open": (_do("[Walk] fridge"), "[Open] fridge"),
    "close": (_do("[Walk] fridge", "[Open] fridge"), "[Close] fridge"),
    "switch_on": (_do("[Walk] tap"), "[SwitchOn] tap"),
    "switch_off": (_do("[Walk] tap", "[SwitchOn] tap"), "[SwitchOff] tap"),
    "lock": (_then(_holding("key_1", "key"), _do("[Walk] side door")), "[Lock] side door"),
    "plug": (_do("[Walk] lamp on the desk"), "[PlugIn] lamp on the desk"),
    "cut": (_then(_holding("knife_1", "knife"), _do("[Walk] tomato")), "[Cut] tomato"),
    "cook": (_TOMATO_IN_PAN, "[Cook] tomato, 2"),
    "plate": (_APPLE_AT_HAND, "[Plate] apple, plate on the dining table"),
    "pour": (_then(_TEA, _do("[Walk] glass")), "[Pour] mug, glass"),
    "fill": (_AT_TAP, "[Fill] blue mug, tap"),
    "empty": (_then(_TEA, _do("[Walk] sink")), "[Empty] mug, sink"),
    "wash": (_AT_TAP, "[Wash] blue mug"),
    "wipe": (_then(_holding("sponge_1", "sponge"), _do("[Walk] work table")), "[Wipe] work table"),
    "sweep": (_then(_holding("broom_1", "broom"), _do("[Walk] crumbs")), "[Sweep] crumbs"),
    "soak": (
        _then(_set("bucket_1", contains={"water": 3.0}), _holding("cloth_1", "cloth"), _do("[Walk] bucket")),
        "[Soak] cloth, bucket",
    ),
    "answer_phone": (_then(_do("[Walk] phone"), _set("phone_1", ringing=True)), "[AnswerPhone] phone"),
    "hang_up": (_then(_do("[Walk] phone"), _set("phone_1", on_call=True)), "[HangUp] phone"),
}


class _Broken:
    """The simulator, with a defect."""

    def __init__(self, world: World) -> None:
        self._real = world.sim

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


class _Unstable(_Broken):
    """Its first step fails."""

    def step(self, n: int = 1) -> None:
        raise SimulatorError("the physics became unstable")


class _Elsewhere(_Broken):
    """What is put somewhere comes to be half a metre beside it."""

    def set_pose(self, thing: str, pose: Pose) -> None:
        self._real.set_pose(thing, (pose[0] + 0.5, *pose[1:]))


class _Slippery(_Broken):
    """Nothing stays in the hand."""

    def attach(self, thing: str, *, hand: str, hand_from_thing: Pose) -> None:
        self._real.attach(thing, hand=hand, hand_from_thing=(*hand_from_thing[:2], 0.4, *hand_from_thing[3:]))


class _Jammed(_Broken):
    """Doors and drawers stay as they are."""

    def drive_joint(self, joint: str, position: float) -> None:
        pass


#: canonical, the defect, what is said
UNDONE: tuple[tuple[str, type[_Broken], str], ...] = (
    ("grab", _Slippery, "The blue mug slipped out of my hand."),
    ("put_on", _Elsewhere, "The blue mug did not stay on the work table."),
    ("put_inside", _Elsewhere, "The blue mug did not stay in the sink."),
    ("discard", _Elsewhere, "The tomato did not stay in the trash bin."),
    ("push", _Elsewhere, "The tomato did not stay where I pushed it."),
    ("open", _Jammed, "The fridge did not open all the way."),
    ("close", _Jammed, "The fridge did not close all the way."),
    ("plate", _Elsewhere, "The apple did not stay on the plate."),
)


def test_there_is_one_command_for_every_row() -> None:
    assert list(WORKS) == [row.canonical for row in PRIMITIVES]


@pytest.mark.parametrize("row", PRIMITIVES, ids=lambda r: r.canonical)
def test_it_works_or_is_undone_when_the_simulator_fails(world: World, row) -> None:  # type: ignore[no-untyped-def]
    setup, command = WORKS[row.canonical]
    setup(world)
    world.engine._sim = _Unstable(world)  # type: ignore[assignment]
    failed = world.refused(command)
    assert (failed.primitive, failed.code) == (row.canonical, "EXECUTION")
    world.engine._sim = world.sim
    assert world.ok(command).primitive == row.canonical


@pytest.mark.parametrize(("canonical", "defect", "said"), UNDONE, ids=[u[0] for u in UNDONE])
def test_what_did_not_come_about_is_undone(world: World, canonical: str, defect: type[_Broken], said: str) -> None:
    setup, command = WORKS[canonical]
    setup(world)
    world.engine._sim = defect(world)  # type: ignore[assignment]
    undone = world.refused(command)
    assert (undone.primitive, undone.code, undone.sentence) == (canonical, "POSTCONDITION", said)
    world.engine._sim = world.sim
    world.ok(command)


@pytest.mark.parametrize("row", PRIMITIVES, ids=lambda r: r.canonical)
def test_a_command_that_is_not_one_is_refused_on_every_row(world: World, row) -> None:  # type: ignore[no-untyped-def]
    for verb in row.verbs:
        assert by_verb[verb.lower()][1] is row
        most = len(row.args)
        too_many = world.refused(f"[{verb}] {', '.join(['fridge'] * (most + 1))}")
        assert (too_many.primitive, too_many.code) == (row.canonical, "ARITY")
        if row.least():
            assert world.refused(f"[{verb}]").code == "ARITY"
        if most and row.args[-1].is_number and verb not in row.without_number:
            words = ["fridge"] * (most - 1)
            for number in ("1e9", "0", "nan", "inf", "far", "1 2"):
                refused = world.refused(f"[{verb}] {', '.join([*words, number])}")
                assert (refused.primitive, refused.code) == (row.canonical, "BAD_NUMBER"), number
    for command in (f"{row.verbs[0]} fridge", f"[{row.verbs[0]} fridge"):
        assert world.refused(command).code == "PARSE", command
    assert world.refused(f"[{row.verbs[0]}x] fridge").code == "UNKNOWN_VERB"
