"""Names to things, for Humans with and without sight."""

from __future__ import annotations

import re

import msgspec
import pytest

from iwreplay.actions.grounding import Grounded, ground
from iwreplay.actions.perception import Perception
from iwreplay.actions.refusal import RefusedError
from iwreplay.events import Event, Happened, PosesSampled, PrimitiveOutcome, StateDelta
from iwreplay.pose import from_xyz_yaw
from iwreplay.scene.library import Wanted, load_library
from iwreplay.scene.loader import data_root
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.state import WorldState
from tests.actions.tiny import frame, scene_of, state_of, thing

_COUNTER = thing("counter_1", "counter", (0, 0.9, 0), half=(1.2, 0.3, 0.45), fixed=True, surfaces=("top",))
_SHELF = thing(
    "cabinet_1",
    "cabinet",
    (-2, 2, 0),
    half=(0.4, 0.2, 0.9),
    fixed=True,
    interiors=("upper", "lower"),
    door=True,
    adjectives=("white",),
)


def _mug(id_: str, x: float, *adjectives: str, on: str = "on:counter_1.top", y: float = 0.9) -> Thing:
    return thing(
        id_, "mug", (x, y, 0.9), adjectives=adjectives, nouns=("mug", "cup"), touch=("mug",), attrs={"parent": on}
    )


class Mind:
    """A state and a perception that are fed together."""

    def __init__(self, *things: Thing, sighted: bool = True) -> None:
        self.state: WorldState = state_of(scene_of(_COUNTER, _SHELF, *things))
        self.perception = Perception(self.state, sighted=sighted)

    def feed(self, *events: Event) -> Mind:
        for event in events:
            self.state.apply(event)
            self.perception.apply(event)
        return self

    def sees(self, *ids: str, action: int = 0) -> Mind:
        return self.feed(frame(self.state, *ids, action=action))

    def ground(self, text: str, *, held: str = "", rooms: bool = False) -> Grounded:
        return ground(tuple(text.split()), state=self.state, perception=self.perception, held=held, rooms=rooms)

    def refusal(self, text: str) -> tuple[str, str]:
        with pytest.raises(RefusedError) as no:
            self.ground(text)
        return no.value.refusal.code, no.value.refusal.sentence


def _delta(name: str, attr: str, new: object, cause: str = "primitive:grab") -> StateDelta:
    return StateDelta(
        sim_time_s=1.0, turn=1, phase="closed_loop", thing=name, attr=attr, old=None, new=new, cause=cause
    )  # type: ignore[arg-type]


def _moved(name: str, x: float, y: float, z: float) -> PosesSampled:
    pose = from_xyz_yaw(x, y, z, 0.0)
    return PosesSampled(sim_time_s=1.0, turn=1, phase="closed_loop", step=10, things=(name,), joints=(), values=pose)


def _done(obj: str) -> PrimitiveOutcome:
    return PrimitiveOutcome(
        sim_time_s=2.0,
        turn=1,
        phase="closed_loop",
        action=3,
        command="",
        verb="",
        primitive="put_on",
        obj=obj,
        ok=True,
        code="OK",
        refused=False,
        started_s=1.0,
        duration_s=1.0,
    )


# ---------------------------------------------------------------------- with sight


def test_a_name_an_adjective_and_a_place() -> None:
    mind = Mind(_mug("mug_1", -0.5, "blue"), _mug("mug_2", 0.5, "red")).sees("mug_1", "mug_2")
    assert mind.ground("the blue mug").id == "mug_1"
    assert mind.ground("red cup").id == "mug_2"
    assert mind.ground("red cup on the counter").id == "mug_2"
    assert mind.ground("counter").id == "counter_1"


def test_several_fits_are_listed_in_public_words() -> None:
    mind = Mind(_mug("mug_1", -0.5), _mug("mug_2", 0.5)).sees("mug_1", "mug_2")
    code, sentence = mind.refusal("mug")
    assert code == "AMBIGUOUS"
    assert "the left mug on the counter or the right mug on the counter" in sentence
    assert not re.search(r"_\d", sentence)


def test_only_perceivable_things_count_for_ambiguity() -> None:
    mind = Mind(_mug("mug_1", -0.5), _mug("mug_2", 0.5)).sees("mug_2")
    assert mind.ground("mug").id == "mug_2"


def test_sides_are_from_the_wearers_view() -> None:
    mind = Mind(*(_mug(f"mug_{i}", x) for i, x in enumerate((-0.5, 0.0, 0.5)))).sees("mug_0", "mug_1", "mug_2")
    assert mind.ground("left mug").id == "mug_0"
    assert mind.ground("the middle mug").id == "mug_1"
    assert mind.ground("mug on the right").id == "mug_2"
    assert mind.ground("second mug").id == "mug_1"
    assert mind.ground("second mug from the right").id == "mug_1"
    assert mind.ground("third mug from the right").id == "mug_0"
    assert mind.ground("last mug on the counter").id == "mug_2"
    mind.state.body = mind.state.body[:3] + from_xyz_yaw(0, 0, 0, -1.5707963)[3:] + mind.state.body[7:]
    assert mind.ground("left mug").id == "mug_2"


def test_nearest_larger_and_higher() -> None:
    big = thing("bowl_1", "bowl", (-0.5, 0.9, 0.9), half=(0.1, 0.1, 0.05), attrs={"parent": "on:counter_1.top"})
    small = thing("bowl_2", "bowl", (0.3, 0.9, 1.2), half=(0.06, 0.06, 0.05), attrs={"parent": "on:counter_1.top"})
    mind = Mind(big, small).sees("bowl_1", "bowl_2")
    assert mind.ground("larger bowl").id == "bowl_1"
    assert mind.ground("smallest bowl").id == "bowl_2"
    assert mind.ground("nearest bowl").id == "bowl_2"
    assert mind.ground("upper bowl").id == "bowl_2"


def test_the_other_one_is_the_one_not_handled_last() -> None:
    mind = Mind(_mug("mug_1", -0.5), _mug("mug_2", 0.5)).sees("mug_1", "mug_2")
    assert mind.refusal("other mug")[0] == "AMBIGUOUS"
    mind.feed(_done("mug_1"))
    assert mind.ground("the other mug").id == "mug_2"


def test_nested_places() -> None:
    tray = thing(
        "tray_1",
        "tray",
        (0.8, 0.9, 0.9),
        half=(0.2, 0.15, 0.01),
        surfaces=("top",),
        attrs={"parent": "on:counter_1.top"},
    )
    mind = Mind(tray, _mug("mug_1", -0.5), _mug("mug_2", 0.8, on="on:tray_1.top"), _mug("mug_3", 0, on="floor", y=-1.5))
    mind.sees("tray_1", "mug_1", "mug_2", "mug_3")
    assert mind.ground("mug on the tray").id == "mug_2"
    assert mind.ground("mug on the tray on the counter").id == "mug_2"
    assert mind.ground("mug next to the tray").id == "mug_2"
    assert mind.refusal("mug on the counter")[0] == "AMBIGUOUS"
    assert mind.refusal("mug in the cabinet")[0] == "UNKNOWN_TARGET"


def test_parts_of_furniture() -> None:
    mind = Mind()
    assert mind.ground("upper shelf of the cabinet") == Grounded("cabinet_1", part="upper")
    assert mind.ground("lower shelf of the white cabinet") == Grounded("cabinet_1", part="lower")
    assert mind.refusal("middle shelf of the cabinet")[0] == "UNKNOWN_TARGET"


def test_rooms_only_where_a_place_is_meant() -> None:
    mind = Mind()
    assert mind.ground("the hallway", rooms=True) == Grounded("hall_1", is_room=True)
    assert mind.refusal("hallway")[0] == "UNKNOWN_TARGET"


def test_what_is_nowhere_what_is_hidden_and_what_is_no_name() -> None:
    mind = Mind(_mug("mug_1", -0.5, "blue"))
    assert mind.refusal("unicorn")[0] == "UNKNOWN_TARGET"
    assert mind.refusal("blue mug")[0] == "NOT_VISIBLE"
    assert mind.refusal("green mug")[0] == "UNKNOWN_TARGET"
    for pronoun in ("it", "them", "this one", "something"):
        code, sentence = mind.refusal(pronoun)
        assert code == "UNKNOWN_TARGET", pronoun
        assert sentence.startswith(f"Just '{pronoun}' could be anything.")


@pytest.mark.parametrize(
    ("words", "cls", "part"),
    [
        ("upper shelf of the cabinet", "wall_cabinet", "shelf"),
        ("top shelf of the cabinet", "cabinet", "shelf"),
        ("lower shelf of the cabinet", "wall_cabinet", "floor"),
        ("bottom shelf of the cabinet", "cabinet", "floor"),
        ("shelf of the cabinet", "cabinet", "shelf"),
        ("top of the cabinet", "cabinet", "top"),
        ("floor of the cabinet", "cabinet", "floor"),
        ("middle shelf of the fridge", "fridge", "middle"),
        ("top shelf of the fridge", "fridge", "upper"),
        ("bottom shelf of the fridge", "fridge", "lower"),
        ("top shelf of the shelf", "shelf", "top"),
    ],
)
def test_shelves_are_named_by_their_height(words: str, cls: str, part: str) -> None:
    made = load_library(data_root() / "objects").make(Wanted(id="it_1", cls=cls), where="test")[0]
    state = state_of(scene_of(msgspec.structs.replace(made, attrs={**made.attrs, "parent": "fixed"})))
    found = ground(tuple(words.split()), state=state, perception=Perception(state, sighted=True))
    assert (found.id, found.part) == ("it_1", part)


def test_an_off_stage_thing_has_no_name() -> None:
    off = thing("carton_1", "carton", (0, 0, 0), attrs={"exists": False, "parent": "off"})
    assert Mind(off).refusal("carton")[0] == "UNKNOWN_TARGET"


def test_what_was_seen_is_remembered_until_it_moves() -> None:
    mind = Mind(_mug("mug_1", -0.5)).sees("mug_1").sees("counter_1", action=1)
    assert mind.ground("mug").id == "mug_1"
    mind.feed(_moved("mug_1", 0.5, 0.9, 0.9))
    assert mind.refusal("mug")[0] == "NOT_VISIBLE"
    mind.sees("mug_1", action=2)
    assert mind.ground("mug").id == "mug_1"


def test_what_is_carried_away_on_its_support_is_still_known_with_the_support() -> None:
    tray = thing(
        "tray_1",
        "tray",
        (0.8, 0.9, 0.9),
        half=(0.2, 0.15, 0.01),
        surfaces=("top",),
        attrs={"parent": "on:counter_1.top"},
    )
    mind = Mind(tray, _mug("mug_1", 0.8, on="on:tray_1.top")).sees("tray_1", "mug_1").sees(action=1)
    mind.feed(_delta(WEARER, "held", "tray_1"), _delta("tray_1", "parent", "held"))
    mind.feed(_moved("tray_1", -0.8, -1.0, 0.9), _moved("mug_1", -0.8, -1.0, 0.9), _done("tray_1"))
    assert mind.ground("mug").id == "mug_1"


def test_what_the_wearer_put_down_stays_known() -> None:
    mind = Mind(_mug("mug_1", -0.5))
    mind.feed(_delta(WEARER, "held", "mug_1"), _delta("mug_1", "parent", "held"), _done("mug_1"))
    mind.feed(
        _delta("mug_1", "parent", "on:counter_1.top", "primitive:put_on"),
        _moved("mug_1", 0.7, 0.9, 0.9),
        _done("mug_1"),
    )
    assert mind.ground("mug").id == "mug_1"


def test_a_held_argument_means_the_held_thing() -> None:
    mind = Mind(_mug("mug_1", -0.5), _mug("mug_2", 0.5)).sees("mug_1", "mug_2")
    assert mind.ground("mug", held="mug_2").id == "mug_2"


def test_states_that_show_are_words() -> None:
    fresh = thing("bread_1", "bread", (-0.5, 0.9, 0.9), attrs={"cut": False, "used": False}, repaint="cut")
    sliced = thing("bread_2", "bread", (0.5, 0.9, 0.9), attrs={"cut": True, "used": True}, repaint="cut")
    mind = Mind(fresh, sliced).sees("bread_1", "bread_2")
    assert mind.ground("sliced bread").id == "bread_2"
    assert mind.ground("uncut bread").id == "bread_1"
    assert mind.ground("closed cabinet").id == "cabinet_1"
    assert mind.refusal("used bread")[0] == "UNKNOWN_TARGET"


def test_printed_words_count_once_they_were_legible() -> None:
    box = thing(
        "box_1",
        "box",
        (0, 0.9, 0.9),
        attrs={"text:front": "AXO 500 ml", "parent": "on:counter_1.top"},
        faces=("front",),
    )
    back = thing(
        "box_2",
        "box",
        (0.4, 0.9, 0.9),
        attrs={"text:front": "CUE 2 l", "parent": "on:counter_1.top"},
        faces=("front",),
        yaw=3.14159,
    )
    mind = Mind(box, back)
    assert mind.refusal("axo box")[0] == "UNKNOWN_TARGET"
    mind.sees("box_1", "box_2")
    assert mind.ground("axo box").id == "box_1"
    assert mind.refusal("cue box")[0] == "UNKNOWN_TARGET"
    mind.feed(
        Happened(
            sim_time_s=1.0, turn=1, phase="closed_loop", what="exposed_text", obj="box_2", detail={"face": "front"}
        )
    )
    assert mind.ground("cue box").id == "box_2"


@pytest.mark.parametrize(("yaw", "legible"), [(0.0, True), (0.5, True), (1.35, False), (-1.35, False)])
def test_words_seen_at_a_slant_are_too_narrow_to_read(yaw: float, legible: bool) -> None:
    box = thing(
        "box_1",
        "box",
        (0, 0.9, 0.9),
        attrs={"text:front": "AXO", "parent": "on:counter_1.top"},
        faces=("front",),
        yaw=yaw,
    )
    mind = Mind(box).sees("box_1")
    assert (mind.perception.printed_words(box) == ("axo",)) is legible


# ---------------------------------------------------------------------- without sight


def test_without_sight_touch_nouns_sides_and_supports_name_things() -> None:
    mind = Mind(_mug("mug_1", -0.4, "blue", "small"), _mug("mug_2", 0.4, "red"), sighted=False)
    assert mind.ground("left mug").id == "mug_1"
    assert mind.ground("small mug").id == "mug_1"
    assert mind.ground("mug on the right").id == "mug_2"
    assert mind.refusal("mug on the counter")[0] == "AMBIGUOUS"
    assert mind.ground("counter").id == "counter_1"


def test_without_sight_colours_and_printed_names_say_nothing() -> None:
    juice = thing("carton_1", "orange juice", (0, 0.9, 0.9), nouns=("orange juice", "juice"), touch=("carton",))
    mind = Mind(_mug("mug_1", -0.4, "blue"), juice, sighted=False)
    assert mind.refusal("blue mug")[0] == "NO_VISION_REF"
    assert mind.refusal("juice")[0] == "NO_VISION_REF"
    assert mind.refusal("white cabinet")[0] == "NO_VISION_REF"
    assert mind.refusal("red lamp")[0] == "NO_VISION_REF"
    assert mind.refusal("lamp")[0] == "UNKNOWN_TARGET"
    assert mind.ground("carton").id == "carton_1"


def test_without_sight_frames_teach_nothing_and_hands_do() -> None:
    far = _mug("mug_1", 0.0, on="floor", y=-2.5)
    mind = Mind(far, sighted=False).sees("mug_1")
    assert mind.refusal("mug")[0] == "NOT_VISIBLE"
    mind.feed(_delta(WEARER, "held", "mug_1"), _delta("mug_1", "parent", "held"), _done("mug_1"))
    mind.feed(_delta("mug_1", "parent", "floor", "primitive:drop"), _done("mug_1"))
    assert mind.ground("mug").id == "mug_1"


def test_what_is_shut_away_is_out_of_touch() -> None:
    inside = thing("mug_1", "mug", (0.3, 0.6, 0.1), touch=("mug",), attrs={"parent": "in:box_1.main"})
    box = thing("box_1", "box", (0.3, 0.6, 0.0), half=(0.2, 0.2, 0.2), touch=("box",), interiors=("main",), door=True)
    mind = Mind(inside, box, sighted=False)
    assert mind.refusal("mug")[0] == "NOT_VISIBLE"
    mind.state.attrs["box_1"]["open"] = True
    assert mind.ground("mug").id == "mug_1"


# ---------------------------------------------------------------------- what it says about itself


def test_proprioception_is_public_words() -> None:
    mind = Mind(_mug("mug_1", -0.4, "blue"), _mug("mug_2", 0.4), sighted=False)
    mind.state.attrs[WEARER]["held"] = "mug_2"
    mind.state.attrs["mug_2"]["parent"] = "held"
    said = mind.perception.proprioception()
    assert said["holding"] == "mug"
    assert said["room"] == "kitchen"
    assert said["within reach"] == "left: mug on the counter"
    assert Mind().perception.proprioception()["holding"] == "nothing"
    for key, value in said.items():
        assert not re.search(r"_\d", key + value)


def test_perception_is_a_fold_that_a_replay_rebuilds() -> None:
    things = (_mug("mug_1", -0.4, "blue"), _mug("mug_2", 0.4))
    events = [
        frame(Mind(*things).state, "mug_1", action=0),
        _delta(WEARER, "held", "mug_2"),
        _delta("mug_2", "parent", "held"),
        _done("mug_2"),
    ]
    one, two = Mind(*things).feed(*events), Mind(*things).feed(*events)
    assert vars(one.perception).keys() == vars(two.perception).keys()
    for name, value in vars(one.perception).items():
        if name != "_state":
            assert value == getattr(two.perception, name), name
