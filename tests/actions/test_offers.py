"""What an AMBIGUOUS refusal offers can be typed as it stands, and then names that one thing: in every shipped scene."""

from __future__ import annotations

from collections import Counter

import pytest

from iwreplay.actions.grammar import entity_words, parse_command
from iwreplay.actions.grounding import Grounded, ground
from iwreplay.actions.perception import Perception
from iwreplay.actions.refusal import RefusedError
from iwreplay.events import FrameCaptured
from iwreplay.motion.model import Refusal
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.scene.model import CompiledScene
from iwreplay.world.geometry import exists
from iwreplay.world.state import WorldState
from tests.actions.proving import World
from tests.actions.tiny import frame, state_of, thing
from tests.actions.tiny import scene_of as tiny_scene


def _mind(scene: CompiledScene, *, sighted: bool) -> tuple[WorldState, Perception]:
    """The wearer at its start, who has seen or felt everything that is there."""
    state = state_of(scene)
    mind = Perception(state, sighted=True)
    seen: FrameCaptured = frame(state, *(t.id for t in scene.things if exists(state, t.id)))
    mind.apply(seen)
    mind.sighted = sighted
    return state, mind


def _several(scene: CompiledScene, *, sighted: bool) -> list[str]:
    """Every noun that more than one thing has, and the shelves of every container."""
    count: Counter[str] = Counter()
    for t in scene.things:
        count.update({n.lower() for n in ((t.name, *t.nouns) if sighted or t.fixed else t.touch_nouns)})
    shelves = {f"shelf of the {t.name.lower()}" for t in scene.things if t.fixed and len(t.links[0].surfaces) > 1}
    return [*sorted(n for n, k in count.items() if k > 1), *sorted(shelves)]


def _refusal(words: str, state: WorldState, mind: Perception) -> Refusal:
    try:
        ground(entity_words(words), state=state, perception=mind, rooms=True)
    except RefusedError as no:
        return no.refusal
    return Refusal("OK", "")


def _offered(sentence: str) -> list[str]:
    """The descriptions of "Which one is 'x': a, b or 3 more?" """
    items = sentence.partition(": ")[2].removesuffix("?").replace(" or ", ", ").split(", ")
    return [i for i in items if not i.endswith(" more")]


@pytest.mark.parametrize("scene_id", scene_ids())
def test_what_is_offered_is_understood(scene_id: str) -> None:
    scene = compile_scene(load_scene(scene_id))
    asked = 0
    for sighted in (True, False):
        state, mind = _mind(scene, sighted=sighted)
        for noun in _several(scene, sighted=sighted):
            refusal = _refusal(noun, state, mind)
            if refusal.code != "AMBIGUOUS":
                continue
            offered = _offered(refusal.sentence)
            assert len(offered) > 1, refusal.sentence
            named: dict[Grounded, str] = {}
            for text in offered:
                typed = parse_command(f"[Walk] {text}").entities["target"]
                meant = ground(typed, state=state, perception=mind, rooms=True)
                assert meant not in named, f"{text!r} and {named[meant]!r} name the same thing"
                named[meant] = text
            asked += 1
    assert asked, "no noun of this scene is ambiguous: the test has shown nothing"


def test_the_engine_takes_what_it_offered(world: World) -> None:
    refused = world.refused("[Walk] mug")
    assert refused.code == "AMBIGUOUS"
    reached = {world.ok(f"[Walk] {text}").obj for text in _offered(refused.sentence)}
    assert {"mug_1", "mug_2"} <= reached


def test_a_stack_is_told_apart_by_height() -> None:
    table = thing("table_1", "table", (0.0, 1.0, 0.0), half=(0.6, 0.4, 0.36), fixed=True, surfaces=("top",))
    plates = [
        thing(
            f"plate_{k}",
            "plate",
            (0.0, 1.0, 0.72 + 0.012 * k),
            half=(0.1, 0.1, 0.006),
            attrs={"parent": "on:table_1.top"},
        )
        for k in range(4)
    ]
    state, mind = _mind(tiny_scene(table, *plates), sighted=True)
    with pytest.raises(RefusedError) as no:
        ground(("plate",), state=state, perception=mind)
    found = {ground(entity_words(t), state=state, perception=mind).id for t in _offered(no.value.refusal.sentence)}
    assert found == {p.id for p in plates}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("second nearest mug", "mug_2"),
        ("third highest mug", "mug_1"),
        ("second farthest mug", "mug_2"),
        ("mug in the kitchen", "mug_1"),
    ],
)
def test_counting_by_distance_and_height_and_naming_the_room(words: str, meant: str) -> None:
    mugs = [thing(f"mug_{k}", "mug", (0.1 * k, 0.5 * k, 0.3 * k), attrs={"parent": "floor"}) for k in (1, 2, 3)]
    if "kitchen" in words:
        mugs = [mugs[0], thing("mug_4", "mug", (4.0, 0.0, 0.0), attrs={"parent": "floor"})]
    state, mind = _mind(tiny_scene(*mugs), sighted=True)
    assert ground(entity_words(words), state=state, perception=mind).id == meant
