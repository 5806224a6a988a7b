"""Processes advance in ticks of simulated time and leave events with their own cause."""

from __future__ import annotations

import pytest

from iwreplay.events import Event, Happened, StateDelta
from iwreplay.processes import PROCESSES, TICK_S, AttrClock, tick_all
from iwreplay.processes.cycles import start_cycle
from iwreplay.processes.plumbing import amounts, room_l, sink_of, tap_of, with_more
from iwreplay.processes.power import has_power, load_a, overloaded_by, plugs_free, refresh_power
from iwreplay.processes.support import ancestors, closed_around, dependents, parent_of
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import AttrValue
from iwreplay.world.state import WorldState
from tests.actions.tiny import scene_of, state_of, thing


class Lab:
    """A world in which only time passes."""

    def __init__(self, *things: Thing) -> None:
        self.state: WorldState = state_of(scene_of(*things))
        self.clock = AttrClock()
        self.events: list[Event] = []
        self.now_s = 0.0

    def change(self, thing: str, attr: str, value: AttrValue, *, cause: str = "primitive:test") -> None:
        old = self.state.attr(thing, attr)
        if old != value:
            self._take(StateDelta(**self._stamp(), thing=thing, attr=attr, old=old, new=value, cause=cause))

    def happened(
        self, what: str, *, obj: str = "", dest: str = "", tool: str = "", detail: dict[str, AttrValue] | None = None
    ) -> None:
        self._take(Happened(**self._stamp(), what=what, obj=obj, dest=dest, tool=tool, detail=detail or {}))

    def _take(self, event: Event) -> None:
        self.state.apply(event)
        self.clock.apply(event)
        self.events.append(event)

    def _stamp(self) -> dict:  # type: ignore[type-arg]
        return {"sim_time_s": self.now_s, "turn": 1, "phase": "closed_loop"}

    def wait(self, seconds: float) -> Lab:
        for _ in range(round(seconds / TICK_S)):
            self.now_s += TICK_S
            tick_all(self)
        return self

    def happenings(self) -> list[str]:
        return [e.what for e in self.events if isinstance(e, Happened)]


def _hob(**attrs: AttrValue) -> Thing:
    return thing(
        "hob_1",
        "cooktop",
        (0, 1, 0),
        fixed=True,
        surfaces=("top",),
        affordances=("heat_source", "switch"),
        attrs={"on": False, **attrs},
    )


def _pan() -> Thing:
    return thing(
        "pan_1",
        "pan",
        (0, 1, 1),
        surfaces=("top",),
        affordances=("cookware",),
        attrs={"parent": "on:hob_1.top", "hot": False},
    )


def _meat(parent: str, **props: AttrValue) -> Thing:
    attrs: dict[str, AttrValue] = {"parent": parent, "cooked": "raw", "browned": False, "heat_s": 0.0, "hot": False}
    return thing(
        "meat_1",
        "schnitzel",
        (0, 1, 1),
        affordances=("cookable",),
        attrs=attrs,
        props={"cook_s": 10.0, "burn_s": 20.0, **props},
    )


def test_food_in_a_pan_on_a_hob_cooks_then_burns_by_the_seconds_of_heat() -> None:
    lab = Lab(_hob(), _pan(), _meat("on:pan_1.top"))
    lab.wait(30.0)
    assert lab.state.attr("meat_1", "cooked") == "raw"
    lab.change("hob_1", "on", True)
    lab.wait(9.5)
    assert (lab.state.attr("meat_1", "cooked"), lab.state.attr("meat_1", "hot")) == ("raw", True)
    lab.wait(0.5)
    assert (lab.state.attr("meat_1", "cooked"), lab.state.attr("meat_1", "browned")) == ("cooked", True)
    assert lab.state.attr("meat_1", "heat_s") == 10.0
    lab.change("hob_1", "on", False)
    lab.wait(60.0)
    assert lab.state.attr("meat_1", "cooked") == "cooked"
    lab.change("hob_1", "on", True)
    lab.wait(10.0)
    assert lab.state.attr("meat_1", "cooked") == "burnt"
    assert {e.cause for e in lab.events if isinstance(e, StateDelta) and e.thing == "meat_1"} == {"process:heating"}


def test_a_stronger_source_is_faster_and_heat_is_kept_between_sources() -> None:
    strong = thing(
        "hob_1",
        "cooktop",
        (0, 1, 0),
        fixed=True,
        affordances=("heat_source",),
        attrs={"on": True},
        props={"heat_rate": 2.0},
    )
    lab = Lab(strong, _meat("on:hob_1.top")).wait(5.0)
    assert lab.state.attr("meat_1", "cooked") == "cooked"


def test_an_oven_heats_only_while_it_runs() -> None:
    oven = thing(
        "oven_1",
        "oven",
        (0, 1, 0),
        fixed=True,
        interiors=("main",),
        door=True,
        affordances=("heat_source", "machine", "switch"),
        attrs={"on": True, "running": False},
    )
    lab = Lab(oven, _meat("in:oven_1.main")).wait(15.0)
    assert lab.state.attr("meat_1", "heat_s") == 0.0
    start_cycle(lab, "oven_1", cause="primitive:test")
    assert lab.wait(10.0).state.attr("meat_1", "cooked") == "cooked"


def test_pans_and_kettles_get_hot_and_hot_things_cool() -> None:
    kettle = thing(
        "kettle_1",
        "kettle",
        (0, 0, 0),
        affordances=("heat_source", "switch", "liquid_container"),
        attrs={"on": False, "hot": False, "contains": {"water": 0.5}},
        props={"boil_s": 8.0, "cool_s": 30.0},
    )
    lab = Lab(_hob(), _pan(), kettle)
    lab.change("hob_1", "on", True)
    lab.change("kettle_1", "on", True)
    assert lab.wait(4.5).state.attr("pan_1", "hot") is False
    assert lab.wait(0.5).state.attr("pan_1", "hot") is True
    lab.wait(3.0)
    assert (lab.state.attr("kettle_1", "hot"), lab.state.attr("kettle_1", "on")) == (True, False)
    lab.change("hob_1", "on", False)
    assert lab.wait(29.5).state.attr("kettle_1", "hot") is True
    assert lab.wait(0.5).state.attr("kettle_1", "hot") is False
    assert lab.state.attr("pan_1", "hot") is True
    assert lab.wait(90.0).state.attr("pan_1", "hot") is False


@pytest.mark.parametrize(
    ("program", "expected"), [("wash", (True, True)), ("dry", (False, False)), ("heat", (False, True))]
)
def test_a_cycle_ends_after_its_time_with_its_effect(program: str, expected: tuple[bool, bool]) -> None:
    washer = thing(
        "washer_1",
        "washer",
        (0, 1, 0),
        fixed=True,
        interiors=("main",),
        door=True,
        affordances=("machine", "switch"),
        attrs={"on": False, "running": False, "cycle": 4},
        props={"cycle_s": 20.0, "program": program},
    )
    towel = thing(
        "towel_1",
        "towel",
        (0, 1, 0),
        affordances=("wash",),
        attrs={"parent": "in:washer_1.main", "clean": False, "wet": True},
    )
    lab = Lab(washer, towel)
    lab.change("washer_1", "on", True)
    start_cycle(lab, "washer_1", cause="primitive:test")
    assert lab.state.attr("washer_1", "cycle") == 5
    lab.wait(19.5)
    assert lab.state.attr("washer_1", "running") is True
    lab.wait(0.5)
    assert (lab.state.attr("washer_1", "running"), lab.state.attr("washer_1", "on")) == (False, False)
    assert (lab.state.attr("towel_1", "clean"), lab.state.attr("towel_1", "wet")) == expected
    assert lab.happenings() == ["cycle_started", "cycle_ended"]


def test_a_phone_stops_ringing_by_itself() -> None:
    phone = thing(
        "phone_1", "phone", (0, 0, 0), affordances=("phone",), attrs={"ringing": False}, props={"ring_s": 12.0}
    )
    lab = Lab(phone).wait(5.0)
    lab.change("phone_1", "ringing", True)
    assert lab.wait(11.5).state.attr("phone_1", "ringing") is True
    assert lab.wait(0.5).state.attr("phone_1", "ringing") is False
    assert lab.happenings() == ["ring_stopped"]


def test_open_vessels_in_the_sink_of_a_running_tap_fill_to_the_brim() -> None:
    sink = thing("sink_1", "sink", (0, 1, 0), fixed=True, interiors=("basin",), affordances=("sink",))
    tap = thing(
        "tap_1",
        "tap",
        (0, 1.2, 0.2),
        fixed=True,
        affordances=("water_source", "switch"),
        attrs={"on": True},
        props={"flow_lps": 0.2},
    )
    far = thing("tap_2", "tap", (2.9, -2.9, 0), fixed=True, affordances=("water_source",))
    pot = thing(
        "pot_1",
        "pot",
        (0, 1, 0),
        affordances=("liquid_container",),
        attrs={"parent": "in:sink_1.basin", "contains": {}},
        props={"capacity_l": 1.0},
    )
    jar = thing(
        "jar_1",
        "jar",
        (0, 1, 0),
        affordances=("liquid_container",),
        attrs={"parent": "in:sink_1.basin", "open": False, "contains": {}},
    )
    lab = Lab(sink, tap, far, pot, jar)
    assert (sink_of(lab.state, "tap_1"), tap_of(lab.state, "sink_1"), sink_of(lab.state, "tap_2")) == (
        "sink_1",
        "tap_1",
        "",
    )
    assert lab.wait(2.5).state.attr("pot_1", "contains") == {"water": 0.5}
    lab.wait(10.0)
    assert (amounts(lab.state, "pot_1"), room_l(lab.state, "pot_1")) == ({"water": 1.0}, 0.0)
    assert amounts(lab.state, "jar_1") == {}


def test_with_more_keeps_keys_sorted_and_drops_traces() -> None:
    assert list(with_more({"water": 0.1, "milk": 0.0}, "juice", 0.2)) == ["juice", "water"]


def test_no_process_acts_without_time_and_each_names_itself() -> None:
    lab = Lab(_hob(on=True), _pan(), _meat("on:pan_1.top"))
    assert lab.events == []
    lab.wait(30.0)
    names = {name for name, _ in PROCESSES}
    for event in lab.events:
        if isinstance(event, StateDelta):
            assert event.cause.removeprefix("process:") in names | {"cooling"}


# ---------------------------------------------------------------------- power


def _grid() -> Lab:
    wall = thing(
        "socket_1", "wall socket", (0, 2, 0.3), fixed=True, affordances=("socket",), props={"max_a": 16.0, "outlets": 2}
    )
    strip = thing(
        "strip_1",
        "power strip",
        (0, 1, 0),
        affordances=("socket", "plug"),
        attrs={"plugged": "socket_1", "powered": True, "load_a": 0.0},
        props={"max_a": 10.0, "outlets": 3},
    )
    attrs: dict[str, AttrValue] = {"plugged": "", "powered": False, "on": False}
    heater = thing("heater_1", "heater", (0, 1, 0), affordances=("plug", "switch"), attrs=attrs, props={"amps": 8.0})
    router = thing("router_1", "router", (0, 1, 0), affordances=("plug", "switch"), attrs=attrs, props={"watts": 690.0})
    lamp = thing("lamp_1", "lamp", (0, 1, 2), fixed=True, affordances=("switch",), attrs={"on": False})
    return Lab(wall, strip, heater, router, lamp)


def test_power_comes_through_strips_and_loads_add_up() -> None:
    lab = _grid()
    assert has_power(lab.state, "lamp_1")
    assert not has_power(lab.state, "heater_1")
    lab.change("heater_1", "plugged", "strip_1")
    refresh_power(lab, cause="primitive:plug")
    assert lab.state.attr("heater_1", "powered") is True
    assert (lab.state.attr("strip_1", "load_a"), load_a(lab.state, "socket_1")) == (8.0, 8.0)
    assert overloaded_by(lab.state, "router_1", "strip_1") == "strip_1"
    assert overloaded_by(lab.state, "router_1", "socket_1") == ""
    assert plugs_free(lab.state, "strip_1") == 2


def test_what_loses_power_goes_off() -> None:
    lab = _grid()
    lab.change("heater_1", "plugged", "strip_1")
    refresh_power(lab, cause="primitive:plug")
    lab.change("heater_1", "on", True)
    lab.change("strip_1", "plugged", "")
    refresh_power(lab, cause="primitive:plug")
    assert (lab.state.attr("heater_1", "on"), lab.state.attr("heater_1", "powered")) == (False, False)


# ---------------------------------------------------------------------- supports


def test_supports_chain_and_closed_things_shut_in() -> None:
    box = thing("box_1", "box", (0, 0, 0), interiors=("main",), door=True, attrs={"parent": "on:table_1.top"})
    table = thing("table_1", "table", (0, 0, 0), fixed=True, surfaces=("top",))
    cup = thing("cup_1", "cup", (0, 0, 0), attrs={"parent": "in:box_1.main"})
    spoon = thing("spoon_1", "spoon", (0, 0, 0), attrs={"parent": "in:cup_1.main"})
    lab = Lab(box, table, cup, spoon)
    assert [p.thing for p in ancestors(lab.state, "spoon_1")] == ["cup_1", "box_1", "table_1", ""]
    assert dependents(lab.state, "box_1") == ("cup_1", "spoon_1")
    assert closed_around(lab.state, "spoon_1") == "box_1"
    lab.state.attrs["box_1"]["open"] = True
    assert closed_around(lab.state, "spoon_1") == ""
    assert parent_of(lab.state, "table_1").how == "fixed"
