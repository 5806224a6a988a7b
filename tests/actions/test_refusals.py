"""Every primitive with every code that its row of the table can give; each leaves the world exactly as it was."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from iwreplay.actions.table import PRIMITIVES
from iwreplay.motion.model import Refusal
from iwreplay.vocabulary import WEARER
from tests.actions.proving import World

Setup = Callable[[World], object]

#: a corner of the workshop, far from everything but the broom
_FAR = (8.5, 2.6, math.pi)


def _far(world: World) -> World:
    return world.stand(*_FAR)


def _seated(world: World) -> World:
    """On the chair at the dining table, where the north wall is out of reach."""
    return world.ok("[Walk] chair", "[Sit] chair") and world  # type: ignore[return-value]


def _holding(thing: str, name: str) -> Callable[[World], World]:
    def setup(world: World) -> World:
        world.ok(f"[Walk] {name}", f"[Grab] {name}")
        return world

    setup.__name__ = f"holding_{thing}"
    return setup


def _then(*steps: Setup) -> Setup:
    def setup(world: World) -> World:
        for step in steps:
            step(world)
        return world

    return setup


def _shut(thing: str) -> Setup:
    """The thing is in a closed cabinet, and the wearer stands before it and knows."""
    return lambda w: w.place(thing, "cabinet_1.floor", 0.0, 0.05).settle().look_around().stand(0.8, 1.2, -1.57)


def _take(thing: str, at: str = "table_1.top") -> Setup:
    """In the hand, wherever it was: put on the work table and taken."""

    def setup(world: World) -> World:
        name = {t.id: t for t in world.base.scene.things}[thing].name
        world.place(thing, at, 0.45, -0.2).settle().look_around().stand(6.6, 1.9, 1.57)
        world.ok(f"[Grab] {name} on the work table")
        return world

    return setup


def _go(x: float, y: float, yaw: float = 0.0) -> Setup:
    return lambda w: w.stand(x, y, yaw)


def _set(thing: str, **attrs: object) -> Setup:
    return lambda w: w.set(thing, **attrs)  # type: ignore[arg-type]


def _place(thing: str, at: str, x: float = 0.0, y: float = 0.0) -> Setup:
    return lambda w: w.place(thing, at, x, y).settle().look_around()


def _do(*commands: str) -> Setup:
    return lambda w: w.ok(*commands)


def _nothing(world: World) -> World:
    return world


def _no_way_up(world: World) -> World:
    _seated(world)
    world.engine._planner.stand_up_stance = lambda state: Refusal(  # type: ignore[method-assign]
        "NO_PATH", "There is no free place to stand beside the seat."
    )
    return world


#: (canonical, code, arrangement, command)
CASES: tuple[tuple[str, str, Setup, str], ...] = (
    ("navigate_to", "NO_PATH", _nothing, "[Walk] side room"),
    (
        "navigate_to",
        "COLLISION",
        _then(
            _do("[Walk] side door", "[Open] side door"),
            _place("box_1", "floor", 9.0, 2.85),
            _place("carton_1", "floor", 9.0, 3.2),
            _go(7.0, 3.0),
        ),
        "[Walk] side room",
    ),
    ("navigate_to", "POSTURE", _seated, "[Walk] fridge"),
    ("forward", "COLLISION", _go(6.0, 4.0, 0.0), "[Forward] 9"),
    ("forward", "POSTURE", _seated, "[Forward]"),
    ("turn", "COLLISION", _then(_holding("broom_1", "broom"), _go(8.6, 3.0, math.pi)), "[TurnAround]"),
    ("turn", "POSTURE", _seated, "[TurnLeft]"),
    ("sit", "UNREACHABLE", _far, "[Sit] chair"),
    ("sit", "OCCUPIED", _place("mug_1", "chair_1.seat"), "[Sit] chair"),
    ("sit", "ALREADY", _seated, "[Sit] chair"),
    ("sit", "NO_AFFORDANCE", _nothing, "[Sit] fridge"),
    ("standup", "ALREADY", _nothing, "[StandUp]"),
    ("standup", "NO_PATH", _no_way_up, "[StandUp]"),
    ("face", "COLLISION", _then(_holding("broom_1", "broom"), _go(8.6, 3.0, math.pi)), "[Face] side door"),
    ("face", "POSTURE", _seated, "[Face] work table"),
    ("look_at", "OCCLUDED", _then(_far), "[LookAt] pen"),
    ("look_at", "OCCLUDED", _go(10.5, 3.0, 1.57), "[LookAt] notice board"),
    ("read", "TOO_FAR", _far, "[Read] jar"),
    ("read", "OCCLUDED", _shut("carton_1"), "[Read] carton in the cabinet"),
    ("read", "NO_AFFORDANCE", _nothing, "[Read] blue mug"),
    ("touch", "UNREACHABLE", _far, "[Touch] fridge"),
    ("touch", "POSTURE", _seated, "[Touch] fridge"),
    ("touch", "CLOSED", _shut("mug_1"), "[Touch] blue mug"),
    ("grab", "HAND_FULL", _holding("mug_1", "blue mug"), "[Grab] red mug"),
    ("grab", "HAND_FULL", _holding("mug_1", "blue mug"), "[Grab] blue mug"),
    ("grab", "NOT_GRABBABLE", _nothing, "[Grab] fridge"),
    (
        "grab",
        "LOCKED",
        _then(_set("locked_cabinet_1", locked=True), _place("fuse_1", "locked_cabinet_1.floor")),
        "[Grab] fuse",
    ),
    ("grab", "BLOCKED", _do("[Walk] lamp on the desk", "[PlugIn] lamp on the desk"), "[Grab] lamp on the desk"),
    ("grab", "UNREACHABLE", _far, "[Grab] tomato"),
    ("grab", "POSTURE", _seated, "[Grab] tomato"),
    ("grab", "CLOSED", _nothing, "[Grab] milk carton"),
    ("put_on", "NOT_HELD", _nothing, "[PutOn] blue mug, work table"),
    ("put_on", "NO_SPACE", _then(_take("tray_1"), _go(6.2, 1.85, 1.57)), "[PutOn] tray, knife rest"),
    ("put_on", "NO_AFFORDANCE", _holding("mug_1", "blue mug"), "[PutOn] blue mug, tomato"),
    ("put_on", "UNREACHABLE", _then(_holding("mug_1", "blue mug"), _far), "[PutOn] blue mug, counter"),
    (
        "put_on",
        "POSTURE",
        _then(_holding("mug_1", "blue mug"), _do("[Walk] chair", "[Sit] chair")),
        "[PutOn] mug, work table",
    ),
    (
        "put_on",
        "CLOSED",
        _then(_shut("plate_1"), _place("mug_1", "dining_table_1.top"), _holding("mug_1", "blue mug")),
        "[PutOn] mug, plate in the cabinet",
    ),
    ("put_inside", "NOT_HELD", _nothing, "[PutInside] blue mug, trash bin"),
    ("put_inside", "NO_SPACE", _take("tray_1"), "[PutInside] tray, red mug"),
    ("put_inside", "NO_AFFORDANCE", _holding("mug_1", "blue mug"), "[PutInside] blue mug, tomato"),
    ("put_inside", "UNREACHABLE", _then(_holding("mug_1", "blue mug"), _far), "[PutInside] blue mug, sink"),
    (
        "put_inside",
        "POSTURE",
        _then(_holding("mug_1", "blue mug"), _do("[Walk] chair", "[Sit] chair")),
        "[PutInside] mug, sink",
    ),
    ("put_inside", "CLOSED", _holding("mug_1", "blue mug"), "[PutInside] blue mug, fridge"),
    ("drop", "NOT_HELD", _nothing, "[Drop] blue mug"),
    ("discard", "NOT_HELD", _nothing, "[Discard] tomato, trash bin"),
    ("discard", "NO_SPACE", _then(_take("tray_1"), _go(4.85, 1.0, -1.57)), "[Discard] tray, trash bin"),
    ("discard", "NO_AFFORDANCE", _holding("tomato_1", "tomato"), "[Discard] tomato, bowl"),
    ("discard", "UNREACHABLE", _then(_holding("tomato_1", "tomato"), _far), "[Discard] tomato, trash bin"),
    (
        "discard",
        "POSTURE",
        _then(_holding("mug_1", "blue mug"), _do("[Walk] chair", "[Sit] chair")),
        "[Discard] mug, trash bin",
    ),
    ("discard", "CLOSED", _then(_take("mug_1"), _go(5.5, 1.0, -1.57)), "[Discard] mug, pedal bin"),
    ("push", "HAND_FULL", _holding("mug_1", "blue mug"), "[Push] red mug"),
    (
        "push",
        "COLLISION",
        _then(
            _place("mug_1", "table_1.top", 0.0, -0.1), _place("carton_1", "table_1.top", 0.0, 0.1), _go(6.2, 1.85, 1.57)
        ),
        "[Push] blue mug, 0.3",
    ),
    (
        "push",
        "COLLISION",
        _then(_place("mug_1", "table_1.top", 0.4, -0.1), _go(6.6, 1.85, 1.57)),
        "[Pull] blue mug, 0.8",
    ),
    ("push", "NO_AFFORDANCE", _nothing, "[Push] fridge"),
    ("push", "UNREACHABLE", _far, "[Push] tomato"),
    ("push", "POSTURE", _seated, "[Push] tomato"),
    ("push", "CLOSED", _shut("mug_1"), "[Push] blue mug"),
    ("wear", "NOT_HELD", _go(11.0, 2.4), "[Wear] hat"),
    ("wear", "NOT_HELD", _go(11.0, 2.4), "[TakeOff] hat"),
    (
        "wear",
        "HAND_FULL",
        _then(_take("hat_1"), _do("[Wear] hat"), _holding("mug_1", "blue mug")),
        "[TakeOff] hat",
    ),
    ("wear", "ALREADY", _then(_take("hat_1"), _do("[Wear] hat")), "[Wear] hat"),
    ("wear", "NO_AFFORDANCE", _nothing, "[Wear] blue mug"),
    ("open", "ALREADY", _do("[Walk] fridge", "[Open] fridge"), "[Open] fridge"),
    ("open", "LOCKED", _then(_set("locked_cabinet_1", locked=True), _go(1.95, 1.2, -1.57)), "[Open] grey cabinet"),
    ("open", "RUNNING", _do("[Walk] oven", "[SwitchOn] oven"), "[Open] oven"),
    ("open", "BLOCKED", _then(_place("bucket_1", "floor", 0.8, 0.85), _go(1.0, 1.7, -1.57)), "[Open] nearest cabinet"),
    ("open", "NO_AFFORDANCE", _nothing, "[Open] work table"),
    ("open", "UNREACHABLE", _far, "[Open] fridge"),
    ("open", "POSTURE", _seated, "[Open] fridge"),
    ("open", "CLOSED", _shut("box_1"), "[Open] box in the cabinet"),
    ("close", "ALREADY", _nothing, "[Close] fridge"),
    (
        "close",
        "BLOCKED",
        _then(
            _do("[Walk] top drawer", "[Open] top drawer"),
            _go(2.95, 1.4, -1.57),
            _place("pen_1", "desk_1.top"),
            _place("bucket_1", "drawer_unit_1_top.main", 0.0, -0.06),
        ),
        "[Close] top drawer",
    ),
    ("close", "NO_AFFORDANCE", _nothing, "[Close] work table"),
    ("close", "UNREACHABLE", _then(_set("fridge_1", open=True), _far), "[Close] fridge"),
    ("close", "POSTURE", _then(_set("fridge_1", open=True), _seated), "[Close] fridge"),
    ("close", "CLOSED", _then(_set("jar_1", open=True), _shut("jar_1")), "[Close] jar"),
    ("switch_on", "ALREADY", _set("sink_1_tap", on=True), "[SwitchOn] tap"),
    ("switch_on", "NO_POWER", _nothing, "[SwitchOn] lamp on the desk"),
    ("switch_on", "OPEN", _do("[Walk] oven", "[Open] oven"), "[SwitchOn] oven"),
    ("switch_on", "NO_AFFORDANCE", _nothing, "[SwitchOn] work table"),
    ("switch_on", "UNREACHABLE", _far, "[SwitchOn] tap"),
    ("switch_on", "POSTURE", _seated, "[SwitchOn] tap"),
    ("switch_on", "CLOSED", _shut("candle_1"), "[SwitchOn] candle"),
    ("switch_off", "ALREADY", _nothing, "[SwitchOff] tap"),
    ("switch_off", "NO_AFFORDANCE", _nothing, "[SwitchOff] work table"),
    ("switch_off", "UNREACHABLE", _then(_set("sink_1_tap", on=True), _far), "[SwitchOff] tap"),
    ("switch_off", "POSTURE", _then(_set("sink_1_tap", on=True), _seated), "[SwitchOff] tap"),
    ("switch_off", "CLOSED", _then(_set("candle_1", on=True), _shut("candle_1")), "[SwitchOff] candle"),
    ("lock", "NO_TOOL", _go(8.3, 3.0), "[Lock] side door"),
    ("lock", "OPEN", _then(_holding("key_1", "key"), _set("door_1", open=True)), "[Lock] side door"),
    ("lock", "ALREADY", _nothing, "[Unlock] side door"),
    ("lock", "NO_AFFORDANCE", _nothing, "[Lock] work table"),
    ("lock", "UNREACHABLE", _then(_holding("key_1", "key"), _go(4.2, 3.9)), "[Lock] side door"),
    ("lock", "POSTURE", _then(_holding("key_1", "key"), _do("[Walk] chair", "[Sit] chair")), "[Lock] side door"),
    ("plug", "NO_AFFORDANCE", _nothing, "[PlugIn] blue mug"),
    ("plug", "NO_AFFORDANCE", _go(7.2, 4.8, 1.57), "[PlugIn] lamp on the desk, work table"),
    (
        "plug",
        "OVERLOAD",
        _then(_go(7.2, 4.9, 1.57), _do("[PlugIn] power strip", "[PlugIn] heater, power strip")),
        "[PlugIn] kettle, power strip",
    ),
    ("plug", "ALREADY", _then(_go(7.2, 4.9, 1.57), _do("[PlugIn] heater")), "[PlugIn] heater"),
    ("plug", "ALREADY", _nothing, "[PlugOut] heater"),
    (
        "plug",
        "OCCUPIED",
        _then(
            _go(7.2, 4.9, 1.57),
            lambda w: [w.set(t, plugged="wall_socket_1") for t in ("lamp_1", "heater_1", "kettle_1")],
        ),
        "[PlugIn] power strip, wall socket near the desk",
    ),
    ("plug", "TOO_FAR", _then(_place("lamp_1", "dining_table_1.top", -0.2, 0.25)), "[PlugIn] lamp on the dining table"),
    (
        "plug",
        "TOO_FAR",
        _then(_place("lamp_1", "dining_table_1.top", -0.2, 0.25)),
        "[PlugIn] lamp on the dining table, wall socket near the desk",
    ),
    ("plug", "UNREACHABLE", _far, "[PlugIn] heater"),
    ("plug", "POSTURE", _seated, "[PlugIn] heater"),
    (
        "plug",
        "CLOSED",
        _then(_shut("power_strip_1"), _place("lamp_1", "cabinet_1.top")),
        "[PlugIn] lamp on the cabinet, power strip",
    ),
    ("cut", "NO_TOOL", _go(4.1, 4.9, 1.57), "[Cut] tomato"),
    ("cut", "NO_AFFORDANCE", _holding("knife_1", "knife"), "[Cut] work table"),
    (
        "cut",
        "NO_AFFORDANCE",
        _then(_place("tomato_1", "floor", 5.6, 4.4), _holding("knife_1", "knife")),
        "[Cut] tomato",
    ),
    ("cut", "ALREADY", _then(_set("tomato_1", cut=True), _holding("knife_1", "knife")), "[Cut] tomato"),
    ("cut", "UNREACHABLE", _then(_holding("knife_1", "knife"), _far), "[Cut] tomato"),
    ("cut", "POSTURE", _then(_holding("knife_1", "knife"), _do("[Walk] chair", "[Sit] chair")), "[Cut] tomato"),
    ("cut", "CLOSED", _then(_holding("knife_1", "knife"), _shut("tomato_1")), "[Cut] tomato"),
    ("cook", "DEVICE_OFF", _then(_place("tomato_1", "pan_1.main"), _go(3.1, 4.8, 1.57)), "[Cook] tomato"),
    ("cook", "DEVICE_OFF", _nothing, "[Cook] tomato"),
    ("cook", "NO_AFFORDANCE", _nothing, "[Cook] blue mug"),
    (
        "cook",
        "UNREACHABLE",
        _then(_place("tomato_1", "pan_1.main"), _set("oven_1_cooktop", on=True), _far),
        "[Cook] tomato",
    ),
    (
        "cook",
        "POSTURE",
        _then(_place("tomato_1", "pan_1.main"), _set("oven_1_cooktop", on=True), _seated),
        "[Cook] tomato",
    ),
    (
        "cook",
        "ALREADY",
        _then(
            _place("tomato_1", "pan_1.main"),
            _set("oven_1_cooktop", on=True),
            _set("tomato_1", heat_s=30.0, cooked="cooked"),
        ),
        "[Cook] tomato",
    ),
    (
        "plate",
        "NO_TOOL",
        _then(_place("egg_1", "pan_1.main"), _set("egg_1", hot=True), _place("plate_1", "prep_counter_1.top", 0.4)),
        "[Plate] egg, plate on the prep counter",
    ),
    (
        "plate",
        "NO_SPACE",
        _then(_place("carton_1", "plate_1.top"), _go(2.5, 3.7, -1.57)),
        "[Plate] apple, plate on the dining table",
    ),
    ("plate", "NO_AFFORDANCE", _nothing, "[Plate] tomato, work table"),
    ("plate", "NO_AFFORDANCE", _nothing, "[Plate] phone, plate on the dining table"),
    ("plate", "HAND_FULL", _holding("mug_1", "blue mug"), "[Plate] apple, plate on the dining table"),
    ("plate", "UNREACHABLE", _far, "[Plate] apple, plate on the dining table"),
    ("plate", "POSTURE", _then(_place("egg_1", "counter_1.top"), _seated), "[Plate] egg, plate on the dining table"),
    ("plate", "CLOSED", _shut("plate_1"), "[Plate] apple, plate in the cabinet"),
    ("pour", "NOT_HELD", _nothing, "[Pour] water bottle, glass"),
    ("pour", "EMPTY", _holding("mug_1", "blue mug"), "[Pour] mug, glass"),
    (
        "pour",
        "SEALED",
        _then(_set("mug_1", contains={"tea": 0.2}, sealed=True), _holding("mug_1", "blue mug")),
        "[Pour] mug, glass",
    ),
    ("pour", "SEALED", _holding("bottle_1", "oil bottle"), "[Pour] oil bottle, sink"),
    (
        "pour",
        "FULL",
        _then(
            _set("mug_1", contains={"tea": 0.2}),
            _set("glass_1", contains={"water": 0.3}),
            _holding("mug_1", "blue mug"),
        ),
        "[Pour] mug, glass",
    ),
    (
        "pour",
        "NO_AFFORDANCE",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug")),
        "[Pour] mug, work table",
    ),
    (
        "pour",
        "UNREACHABLE",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug"), _far),
        "[Pour] mug, glass",
    ),
    (
        "pour",
        "POSTURE",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug"), _do("[Walk] chair", "[Sit] chair")),
        "[Pour] mug, sink",
    ),
    (
        "pour",
        "CLOSED",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug"), _shut("glass_1")),
        "[Pour] mug, glass",
    ),
    ("fill", "DEVICE_OFF", _holding("mug_1", "blue mug"), "[Fill] blue mug, tap"),
    (
        "fill",
        "FULL",
        _then(_set("mug_1", contains={"water": 0.35}), _set("sink_1_tap", on=True), _holding("mug_1", "blue mug")),
        "[Fill] blue mug, tap",
    ),
    ("fill", "NOT_HELD", _set("sink_1_tap", on=True), "[Fill] blue mug, tap"),
    ("fill", "NO_AFFORDANCE", _set("sink_1_tap", on=True), "[Fill] tomato, tap"),
    ("fill", "NO_AFFORDANCE", _holding("mug_1", "blue mug"), "[Fill] blue mug, work table"),
    (
        "fill",
        "UNREACHABLE",
        _then(_set("sink_1_tap", on=True), _holding("mug_1", "blue mug"), _far),
        "[Fill] blue mug, tap",
    ),
    (
        "fill",
        "POSTURE",
        _then(_set("sink_1_tap", on=True), _holding("mug_1", "blue mug"), _do("[Walk] chair", "[Sit] chair")),
        "[Fill] blue mug, tap",
    ),
    (
        "fill",
        "CLOSED",
        _then(_set("sink_1_tap", on=True), _set("bottle_1", contains={}), _holding("bottle_1", "oil bottle")),
        "[Fill] oil bottle, tap",
    ),
    ("empty", "NOT_HELD", _nothing, "[Empty] water bottle, sink"),
    ("empty", "EMPTY", _holding("mug_1", "blue mug"), "[Empty] mug, sink"),
    (
        "empty",
        "SEALED",
        _then(_set("mug_1", contains={"tea": 0.2}, sealed=True), _holding("mug_1", "blue mug")),
        "[Empty] mug, sink",
    ),
    (
        "empty",
        "NO_AFFORDANCE",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug")),
        "[Empty] mug, work table",
    ),
    ("empty", "NO_AFFORDANCE", _holding("bowl_1", "bowl"), "[Empty] bowl, sink"),
    (
        "empty",
        "UNREACHABLE",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug"), _far),
        "[Empty] mug, sink",
    ),
    (
        "empty",
        "POSTURE",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug"), _do("[Walk] chair", "[Sit] chair")),
        "[Empty] mug, sink",
    ),
    (
        "empty",
        "CLOSED",
        _then(_set("mug_1", contains={"tea": 0.2}), _holding("mug_1", "blue mug")),
        "[Empty] mug, pedal bin",
    ),
    ("wash", "DEVICE_OFF", _holding("mug_2", "red mug"), "[Wash] red mug, sink"),
    ("wash", "NOT_HELD", _set("sink_1_tap", on=True), "[Wash] red mug"),
    ("wash", "NO_AFFORDANCE", _set("sink_1_tap", on=True), "[Wash] phone"),
    ("wash", "UNREACHABLE", _then(_set("sink_1_tap", on=True), _holding("mug_2", "red mug"), _far), "[Wash] red mug"),
    (
        "wash",
        "POSTURE",
        _then(_set("sink_1_tap", on=True), _holding("mug_2", "red mug"), _do("[Walk] chair", "[Sit] chair")),
        "[Wash] red mug",
    ),
    ("wipe", "NO_TOOL", _go(6.2, 1.85, 1.57), "[Wipe] work table"),
    ("wipe", "NO_AFFORDANCE", _holding("cloth_1", "cloth"), "[Wipe] fridge"),
    ("wipe", "UNREACHABLE", _then(_holding("cloth_1", "cloth"), _far), "[Wipe] counter"),
    ("wipe", "POSTURE", _then(_holding("cloth_1", "cloth"), _do("[Walk] chair", "[Sit] chair")), "[Wipe] counter"),
    ("sweep", "NO_TOOL", _go(7.2, 3.0, 1.57), "[Sweep] debris"),
    ("sweep", "NO_AFFORDANCE", _holding("broom_1", "broom"), "[Sweep] blue mug"),
    (
        "sweep",
        "NO_SPACE",
        _then(_holding("broom_1", "broom"), _place("mug_1", "dustpan_1.main")),
        "[Sweep] debris, dustpan",
    ),
    ("sweep", "UNREACHABLE", _then(_holding("broom_1", "broom"), _go(4.2, 3.9)), "[Sweep] debris"),
    ("sweep", "POSTURE", _then(_holding("broom_1", "broom"), _do("[Walk] chair", "[Sit] chair")), "[Sweep] debris"),
    ("sweep", "CLOSED", _holding("broom_1", "broom"), "[Sweep] debris, pedal bin"),
    ("soak", "EMPTY", _holding("cloth_1", "cloth"), "[Soak] cloth, blue mug"),
    ("soak", "NOT_HELD", _nothing, "[Soak] cloth, bucket"),
    ("soak", "NO_AFFORDANCE", _holding("mug_1", "blue mug"), "[Soak] mug, bucket"),
    ("soak", "NO_AFFORDANCE", _holding("cloth_1", "cloth"), "[Soak] cloth, work table"),
    ("soak", "UNREACHABLE", _then(_holding("cloth_1", "cloth"), _go(2.0, 4.0)), "[Soak] cloth, bucket"),
    (
        "soak",
        "POSTURE",
        _then(_holding("cloth_1", "cloth"), _do("[Walk] chair", "[Sit] chair")),
        "[Soak] cloth, bucket",
    ),
    (
        "soak",
        "CLOSED",
        _then(_set("bottle_1", contains={"water": 0.3}), _holding("cloth_1", "cloth")),
        "[Soak] cloth, oil bottle",
    ),
    ("answer_phone", "NOT_RINGING", _nothing, "[AnswerPhone] phone"),
    ("answer_phone", "NO_AFFORDANCE", _nothing, "[AnswerPhone] blue mug"),
    ("answer_phone", "UNREACHABLE", _then(_set("phone_1", ringing=True), _go(2.0, 4.0)), "[AnswerPhone] phone"),
    ("answer_phone", "POSTURE", _then(_seated, _set("phone_1", ringing=True)), "[AnswerPhone] phone"),
    ("answer_phone", "CLOSED", _then(_shut("phone_1"), _set("phone_1", ringing=True)), "[AnswerPhone] phone"),
    ("hang_up", "ALREADY", _nothing, "[HangUp] phone"),
    ("hang_up", "NO_AFFORDANCE", _nothing, "[HangUp] blue mug"),
    ("hang_up", "UNREACHABLE", _then(_set("phone_1", on_call=True), _go(2.0, 4.0)), "[HangUp] phone"),
    ("hang_up", "POSTURE", _then(_seated, _set("phone_1", on_call=True)), "[HangUp] phone"),
    ("hang_up", "CLOSED", _then(_shut("phone_1"), _set("phone_1", on_call=True)), "[HangUp] phone"),
)


@pytest.mark.parametrize(("row", "code", "setup", "command"), CASES, ids=[f"{c[0]}-{c[1]}-{c[3]}" for c in CASES])
def test_is_refused(world: World, row: str, code: str, setup: Setup, command: str) -> None:
    setup(world)
    outcome = world.refused(command)
    assert (outcome.primitive, outcome.code) == (row, code), outcome.sentence
    if outcome.blocker:
        assert outcome.blocker in world.state.attrs


def test_the_cases_cover_every_code_of_every_row() -> None:
    tested = {(row, code) for row, code, _, _ in CASES}
    in_table = {(row.canonical, code) for row in PRIMITIVES for code in row.codes}
    assert tested == in_table


@pytest.mark.parametrize("row", PRIMITIVES, ids=lambda r: r.canonical)
def test_the_common_codes_on_every_row_with_an_entity(world: World, row) -> None:  # type: ignore[no-untyped-def]
    if not any(not a.is_number for a in row.args):
        return
    verb, rest = row.verbs[0], ", tomato" if row.least() > 1 else ""
    assert world.refused(f"[{verb}] unicorn{rest}").code == "UNKNOWN_TARGET"
    assert world.refused(f"[{verb}] mug{rest}").code == "AMBIGUOUS"
    assert world.refused(f"[{verb}] mug_1{rest}").code == "FORBIDDEN_REF"
    assert world.refused(f"[{verb}] it{rest}").code == "UNKNOWN_TARGET"


def test_not_visible_without_having_seen_it(make: Callable[..., World]) -> None:
    world = make(sees_all=False)
    assert world.refused("[Grab] blue mug").code == "NOT_VISIBLE"
    assert world.refused("[Walk] blue mug").code == "NOT_VISIBLE"


def test_refusals_of_motion_call_things_by_their_public_description(world: World) -> None:
    world.ok("[Walk] top drawer", "[Open] top drawer")
    blocked = world.stand(2.95, 1.5, -math.pi / 2).refused("[Forward] 1")
    assert (blocked.code, blocked.blocker) == ("COLLISION", "drawer_unit_1_top")
    assert blocked.sentence == "The top drawer is in the way."


def test_no_vision_ref_without_sight(make: Callable[..., World]) -> None:
    world = make(sighted=False)
    world.stand(3.0, 3.7, -1.57)
    assert world.refused("[Grab] blue mug").code == "NO_VISION_REF"
    assert world.refused("[Grab] mug").code == "AMBIGUOUS"
    world.ok("[Grab] right mug")
    assert world.attr(WEARER, "held") == "mug_1"


def test_a_refusal_takes_an_outcome_and_nothing_else(world: World) -> None:
    for command in ("", "nonsense", "[Dance]", "[Walk]", "[TurnLeft] x", "[Grab] mug_1"):
        outcome = world.refused(command)
        assert outcome.command == command
