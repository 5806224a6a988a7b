"""Documents of several pages: opened, leafed through, read and closed with the primitives that there are."""

from __future__ import annotations

import math

import pytest

from iwreplay.errors import SceneError
from iwreplay.events import FrameCaptured
from iwreplay.frames import READABLE_CAP_PX, cap_height_px
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.pages import pages_of
from iwreplay.taskpack.model import Placement
from iwreplay.world.geometry import faces_of, thing_of
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World

PAGES = (
    "1 Safety\nUnplug before you open the lid.",
    "2 Rinse\nPress RINSE for 5 seconds.",
    "3 Errors\nE14: the filter is full.",
)


def _documents(**changes: object) -> list[Placement]:
    common = {"texts": {"cover": "Coffee maker", "page": "\f".join(PAGES)}, **changes}
    return [
        Placement(id="manual_1", cls="manual", at="dining_table_1.top", pos=(-0.1, 0.25), **common),  # type: ignore[arg-type]
        Placement(id="document_binder_1", cls="document_binder", at="floor", pos=(6.2, 4.2), **common),  # type: ignore[arg-type]
    ]


@pytest.fixture(scope="module")
def desk() -> Base:
    return Base(compile_scene(load_scene("proving_ground"), _documents()), MujocoSimulator())


def _read(world: World) -> list[object]:
    return [(e.detail["face"], e.detail.get("page"), e.detail["text"]) for e in world.happened("exposed_text")]


def test_each_opening_turns_to_the_next_page_and_closing_starts_over(desk: Base) -> None:
    world = World(desk)
    world.ok("[Walk] manual", "[Read] manual")
    assert _read(world) == [("cover", None, "Coffee maker")]
    for k, text in enumerate(PAGES, start=1):
        outcome = world.ok("[Open] manual")
        assert (outcome.obj, world.attr("manual_1", "page"), world.attr("manual_1", "open")) == ("manual_1", k, True)
        assert (world.attr("manual_1", "text:page"), world.attr("manual_1", "text:cover")) == (text, "")
        world.ok("[Read] manual")
        assert _read(world)[-1] == ("page", k, text)
    assert len(_read(world)) == 4, "reading shows the page that is open and no other"
    refused = world.refused("[Open] manual")
    assert (refused.code, refused.sentence) == ("ALREADY", "The manual is open at its last page already, page 3.")
    world.ok("[Close] manual")
    assert (world.attr("manual_1", "page"), world.attr("manual_1", "text:page")) == (0, "")
    assert world.attr("manual_1", "text:cover") == "Coffee maker"
    world.ok("[Open] manual")
    assert world.attr("manual_1", "text:page") == PAGES[0]


def test_the_page_is_in_the_log_and_no_other_text_is(desk: Base) -> None:
    world = World(desk)
    world.ok("[Walk] manual", "[Open] manual", "[Open] manual")
    assert [(d.old, d.new) for d in world.deltas("manual_1", "page")] == [(0, 1), (1, 2)]
    said = {str(v) for t in world.state.attrs.values() for v in t.values()}
    assert PAGES[1] in said
    assert not {PAGES[0], PAGES[2]} & said


def test_pages_are_turned_in_the_hand_and_read_there(desk: Base) -> None:
    world = World(desk)
    world.stand(6.2, 3.5, math.pi / 2).ok("[Grab] binder", "[Open] binder", "[Open] binder", "[Read] binder")
    assert _read(world)[-1] == ("page", 2, PAGES[1])
    assert world.attr("document_binder_1", "held") is True


@pytest.mark.parametrize("thing", ["manual_1", "document_binder_1"])
def test_every_page_is_legible_while_it_is_read(desk: Base, thing: str) -> None:
    world = World(desk)
    name = thing_of(world.state, thing).name
    world.ok(f"[Walk] {name}")
    for _ in PAGES:
        world.ok(f"[Open] {name}")
        since = len(world.events)
        world.ok(f"[Read] {name}")
        best = 0.0
        for event in world.events[since:]:
            if isinstance(event, FrameCaptured):
                owner = thing_of(world.state, thing)
                face = next(f for f in faces_of(owner, world.state) if f.name == "page")
                cap = next(f.cap_height_m for k in owner.links for f in k.faces if f.name == "page")
                px = cap_height_px(event.camera, focal_px=4.0 * event.focal_px, at=face.pose, cap_height_m=cap)
                best = max(best, px)
        assert best >= READABLE_CAP_PX


def test_what_was_legible_on_the_last_page_does_not_name_the_thing_by_the_next(desk: Base) -> None:
    world = World(desk)
    world.ok("[Walk] manual", "[Open] manual", "[Read] manual", "[LookAt] unplug manual", "[Open] manual")
    assert world.refused("[LookAt] unplug manual").code == "UNKNOWN_TARGET"


def test_a_script_opens_a_document_at_a_page(desk: Base) -> None:
    world = World(desk)
    world.set("manual_1", page=3)
    assert (world.attr("manual_1", "open"), world.attr("manual_1", "text:page")) == (True, PAGES[2])
    world.set("manual_1", open=False)
    assert (world.attr("manual_1", "page"), world.attr("manual_1", "text:cover")) == (0, "Coffee maker")
    with pytest.raises(SceneError, match="no page 4"):
        world.set("manual_1", page=4)


def test_a_document_may_lie_open_at_the_start() -> None:
    scene = compile_scene(load_scene("proving_ground"), _documents(attrs={"page": 2}))
    manual = next(t for t in scene.things if t.id == "manual_1")
    assert pages_of(manual) == PAGES
    assert (manual.attrs["open"], manual.attrs["text:page"], manual.attrs["text:cover"]) == (True, PAGES[1], "")


@pytest.mark.parametrize(
    ("texts", "attrs", "message"),
    [
        ({"page": "one\ftwo"}, {"page": 3}, r"manual_1: open at page 3 of 2"),
        (
            {"page": "one\f" + "Unpronounceable words " * 60},
            {},
            r"manual_1: texts.page: 'Unpron.*does not fit face 'page'",
        ),
        ({"cover": "one\ftwo"}, {}, r'manual_1: texts.cover: pages are for the face "page"'),
        ({"back": "one"}, {}, r"manual_1: texts.back: no such face; it has cover, page"),
    ],
)
def test_a_document_that_can_not_be_is_refused(texts: dict[str, str], attrs: dict[str, int], message: str) -> None:
    placed = [Placement(id="manual_1", cls="manual", at="dining_table_1.top", texts=texts, attrs=attrs)]  # type: ignore[arg-type]
    with pytest.raises(SceneError, match=message):
        compile_scene(load_scene("proving_ground"), placed)
