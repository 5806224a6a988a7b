"""Scenes: the shipped ones hold together, and layouts or placements that don't are refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from iwreplay.errors import SceneError, UnknownNameError
from iwreplay.scene.files import FurnitureSpec, OpeningSpec, RoomSpec, SceneFile
from iwreplay.scene.library import Library
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.taskpack.model import Placement
from iwreplay.world.geometry import interior_at, surface_at, thing_aabb
from iwreplay.world.relations import support_of
from iwreplay.world.state import WorldState


def _hall(**changes: object) -> SceneFile:
    base: dict[str, object] = {
        "format": 1,
        "id": "hall",
        "spawn": (0.5, 0.5, 0.0),
        "rooms": (
            RoomSpec(id="hall", nouns=("hall",), rect=(0.0, 0.0, 4.0, 4.0)),
            RoomSpec(id="den", nouns=("den",), rect=(4.0, 0.0, 7.0, 4.0)),
        ),
        "openings": (OpeningSpec(a="hall", b="den", pos=(4.0, 2.0)),),
        "furniture": (
            FurnitureSpec(id="table_1", cls="table", pos=(2.0, 2.0)),
            FurnitureSpec(id="cabinet_1", cls="cabinet", pos=(1.0, 3.69)),
        ),
    }
    return SceneFile(**{**base, **changes})  # type: ignore[arg-type]


def _thing(scene: CompiledScene, thing: str) -> Thing:
    return next(t for t in scene.things if t.id == thing)


def test_the_scenes_that_tasks_need_are_there() -> None:
    assert set(scene_ids()) >= {"bathroom_suite", "electronics_shop", "family_kitchen", "lounge_bar", "proving_ground"}


def test_shipped_scenes_have_unique_ids_and_known_materials(shipped_scene: CompiledScene) -> None:
    ids = [t.id for t in shipped_scene.things]
    assert len(set(ids)) == len(ids)
    known = {m.name for m in shipped_scene.materials}
    for thing in shipped_scene.things:
        for link in thing.links:
            for shape in link.shapes:
                assert shape.material in known
                assert {m for t in shape.repaint.values() for m in t.values()} <= known


def test_shipped_scenes_survive_the_log(shipped_scene: CompiledScene) -> None:
    encoded = msgspec.json.encode(shipped_scene)
    assert msgspec.json.encode(msgspec.json.decode(encoded, type=CompiledScene)) == encoded


def test_what_stands_somewhere_is_found_there(shipped_scene: CompiledScene) -> None:
    """Belief and geometry agree before anything has moved."""
    state = WorldState(shipped_scene)
    for thing in shipped_scene.things:
        parent = thing.attrs["parent"]
        found = support_of(state, thing.id)
        if parent == "fixed":
            continue
        if parent in ("floor", "off"):
            assert found is None, thing.id
        else:
            assert found is not None, thing.id
            assert f"{found[0]}:{found[1]}.{found[2]}" == parent


def test_compiling_twice_gives_the_same_bytes(library: Library) -> None:
    scene = load_scene("proving_ground")
    assert msgspec.json.encode(compile_scene(scene, library=library)) == msgspec.json.encode(
        compile_scene(scene, library=library)
    )


def test_walls_leave_their_openings_free(library: Library) -> None:
    scene = compile_scene(_hall(), library=library)
    state = WorldState(scene)
    for walls in ("walls_hall", "walls_den"):
        for shape in _thing(scene, walls).links[0].shapes:
            x, y, z = shape.pose[:3]
            in_hole = abs(x - 4.0) < 0.06 and abs(y - 2.0) < shape.size[1] + 0.474 and z - shape.size[2] < 2.0
            assert not in_hole, (walls, shape)
    assert scene.portals[0].along == "y"
    assert thing_aabb(_thing(scene, "floor"), state)[5] == pytest.approx(0.0)


def test_a_yard_has_no_ceiling_and_no_skirting(library: Library) -> None:
    hall, den = _hall().rooms
    yard = msgspec.structs.replace(den, open_sky=True, height=2.2)
    scene = compile_scene(_hall(rooms=(hall, yard)), library=library)
    ceiling = _thing(scene, "ceiling").links[0].shapes
    assert [s.pose[:2] for s in ceiling] == [(2.0, 2.0)]
    assert {s.material for s in _thing(scene, "walls_den").links[0].shapes} == {"plaster_white"}
    open_air = msgspec.structs.replace(hall, open_sky=True)
    scene = compile_scene(_hall(rooms=(open_air, yard)), library=library)
    assert "ceiling" not in {t.id for t in scene.things}


def test_a_window_has_a_sill_and_is_no_portal(library: Library) -> None:
    window = OpeningSpec(
        a="hall", pos=(1.0, 4.0), width=1.0, height=1.0, sill=1.0, fill=FurnitureSpec(id="w_1", cls="window")
    )
    scene = compile_scene(_hall(openings=(*_hall().openings, window)), library=library)
    assert len(scene.portals) == 1
    pane = _thing(scene, "w_1")
    assert pane.pose[:3] == (1.0, 4.0, 1.0)


def test_a_door_fills_its_opening_and_looks_into_room_a(library: Library) -> None:
    door = OpeningSpec(a="hall", b="den", pos=(4.0, 2.0), width=0.9, fill=FurnitureSpec(id="door_1", cls="door"))
    scene = compile_scene(_hall(openings=(door,)), library=library)
    x0, y0, _, x1, y1, _ = thing_aabb(_thing(scene, "door_1"), WorldState(scene))
    assert (y0, y1) == pytest.approx((1.558, 2.442), abs=0.02)
    assert 3.9 < x0 < x1 < 4.1
    opened = WorldState(scene)
    opened.joints["door_1.hinge"] = 1.5
    assert thing_aabb(_thing(scene, "door_1"), opened)[3] > 4.7  # it swings into the den


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {
                "furniture": (
                    FurnitureSpec(id="a", cls="table", pos=(2, 2)),
                    FurnitureSpec(id="b", cls="sofa", pos=(2, 2.3)),
                )
            },
            r"b at \(.*\) and a at \(.*\) are in the same place: they overlap by .* Move b by .* of the world",
        ),
        ({"furniture": (FurnitureSpec(id="a", cls="table", pos=(0.2, 2)),)}, "a is not inside a room"),
        (
            {
                "furniture": (
                    FurnitureSpec(id="a", cls="table", pos=(2, 2)),
                    FurnitureSpec(id="a", cls="sofa", pos=(2, 3)),
                )
            },
            "id is taken",
        ),
        ({"furniture": (FurnitureSpec(id="a", cls="rocket", pos=(2, 2)),)}, "rocket"),
        ({"furniture": (FurnitureSpec(id="a", cls="table", pos=(2,)),)}, "pos"),
        (
            {
                "furniture": (
                    FurnitureSpec(id="a", cls="cabinet", pos=(1, 1)),
                    FurnitureSpec(id="b", cls="table", pos=(1, 0.45), params={"h": 0.5, "d": 0.5}),
                )
            },
            "a cannot open.*b",
        ),
        ({"openings": ()}, "no opening to walk through leads to room den"),
        ({"openings": (OpeningSpec(a="hall", b="den", pos=(4.0, 3.9)),)}, "not wholly on a wall of hall and of den"),
        ({"openings": (OpeningSpec(a="hall", b="attic", pos=(4.0, 2.0)),)}, "attic"),
        ({"openings": (OpeningSpec(a="hall", b="den", pos=(4.0, 2.0), width=0.5),)}, "0.5"),
        ({"openings": (OpeningSpec(a="hall", b="den", pos=(4.0, 2.0), height=3.0),)}, "3.0"),
        ({"spawn": (9.0, 9.0, 0.0)}, "start"),
        (
            {
                "rooms": (
                    RoomSpec(id="a", nouns=("a",), rect=(0, 0, 4, 4)),
                    RoomSpec(id="b", nouns=("b",), rect=(3, 0, 6, 4)),
                )
            },
            "room b: rect .* overlaps room a",
        ),
        ({"rooms": ()}, "rooms is empty"),
        ({"rooms": (RoomSpec(id="a", nouns=("a",), rect=(0, 0, 0.5, 4)),)}, "room a: rect .* at least 1 m"),
        ({"rooms": (RoomSpec(id="a", nouns=("a",), rect=(0, 0, 4, 4), height=1.5),)}, "room a: height 1.5 m"),
        ({"rooms": (RoomSpec(id="a", nouns=(), rect=(0, 0, 4, 4)),)}, "room a: nouns"),
    ],
)
def test_layouts_that_do_not_hold_are_refused(library: Library, changes: dict[str, object], says: str) -> None:
    with pytest.raises(SceneError, match=says):
        compile_scene(_hall(**changes), library=library)


def test_placements_stand_where_they_are_put(library: Library) -> None:
    scene = compile_scene(
        _hall(),
        [
            Placement(id="apple_1", cls="apple", at="bowl_1.main"),
            Placement(id="bowl_1", cls="bowl", at="table_1.top", pos=(0.2, 0.1), yaw_deg=90.0),
            Placement(id="box_1", cls="carton", at="floor", pos=(3.0, 1.0)),
            Placement(id="late_1", cls="carton", at="off"),
            Placement(id="late_2", cls="carton", at="off"),
            Placement(id="jar_1", cls="jar", at="cabinet_1.shelf"),
        ],
        library=library,
    )
    state = WorldState(scene)
    assert _thing(scene, "bowl_1").pose[:3] == pytest.approx((2.2, 2.1, 0.7405))
    assert _thing(scene, "apple_1").attrs["parent"] == "in:bowl_1.main"
    assert _thing(scene, "jar_1").attrs["parent"] == "in:cabinet_1.main"
    assert _thing(scene, "box_1").attrs["parent"] == "floor"
    late = [_thing(scene, f"late_{i}") for i in (1, 2)]
    assert all(t.attrs["exists"] is False and t.attrs["parent"] == "off" for t in late)
    assert late[0].pose != late[1].pose
    assert surface_at(state, "table_1.top").pose[:3] == pytest.approx((2.0, 2.0, 0.74))
    assert interior_at(state, "cabinet_1.main").closed


@pytest.mark.parametrize(
    ("placement", "says"),
    [
        (Placement(id="a", cls="mug", at="table_2.top"), "table_2"),
        (Placement(id="a", cls="mug", at="table_1.drawer"), "drawer"),
        (Placement(id="a", cls="mug"), "at is missing"),
        (Placement(id="a", cls="mug", at="table_1.top", pos=(2.0, 0.0)), "does not fit"),
        (Placement(id="a", cls="broom", at="cabinet_1.main"), "does not fit"),
        (Placement(id="a", cls="bottle", at="cabinet_1.shelf", scale=1.5), "free height"),
        (Placement(id="a", cls="mug", at="floor", pos=(99.0, 0.0)), "no room"),
        (Placement(id="a", cls="mug", at="floor", pos=(2.53, 2.3)), "table_1"),
        (Placement(id="table_1", cls="mug", at="floor", pos=(3.0, 3.0)), "taken"),
        (Placement(id="table_1", at="floor"), "stays where it is"),
        (Placement(id="ghost_1", attrs={"open": True}), "ghost_1"),
        (Placement(id="a", cls="stove", at="floor", pos=(3.0, 3.0)), "brings parts"),
        (Placement(id="a", cls="mug", at="a.main"), "ring"),
        (Placement(id="a", cls="mug", at="floor", pos=(float("nan"), 1.0)), "not finite"),
    ],
)
def test_placements_that_do_not_hold_are_refused(library: Library, placement: Placement, says: str) -> None:
    with pytest.raises(SceneError, match=says):
        compile_scene(_hall(), [placement], library=library)


@pytest.mark.parametrize(
    ("owner", "first", "second"),
    [
        ("table_1.top", (0.0, 0.0), (0.05, 0.0)),
        ("table_1.top", (0.0, 0.0), (0.01, -0.03)),
        # at the back edge: the shortest way, over it, is none
        ("cabinet_1.top", (0.0, 0.17), (0.0, 0.18)),
        # the cabinet is turned, and so is the frame of `pos`
        ("cabinet_2.top", (0.0, 0.0), (0.03, 0.01)),
    ],
)
def test_two_things_in_one_place_are_named_with_a_way_out(
    library: Library, owner: str, first: tuple[float, float], second: tuple[float, float]
) -> None:
    hall = _hall(
        furniture=(
            *_hall().furniture,
            FurnitureSpec(id="cabinet_2", cls="cabinet", pos=(6.6, 1.0), yaw_deg=-90),
        )
    )

    def put(at: tuple[float, float]) -> CompiledScene:
        one = Placement(id="mug_1", cls="mug", at=owner, pos=first)
        return compile_scene(hall, [one, Placement(id="mug_2", cls="mug", at=owner, pos=at)], library=library)

    with pytest.raises(SceneError) as caught:
        put(second)
    told = re.search(
        r"mug_2 at \(.*\) and mug_1 at \(.*\) are in the same place: they overlap by (.*) m along .*\. "
        r"Move mug_2 by (.*) m towards ([+-])([xy]) of (\w+) \(its pos is in that frame\)",
        str(caught.value),
    )
    assert told is not None, str(caught.value)
    depth, way, sign, axis, frame = told.groups()
    assert float(depth) <= float(way)
    assert frame == owner.partition(".")[0]

    def moved(by: float) -> tuple[float, float]:
        by = by if sign == "+" else -by
        return (second[0] + by, second[1]) if axis == "x" else (second[0], second[1] + by)

    assert put(moved(float(way))).things
    with pytest.raises(SceneError, match="same place"):
        put(moved(float(way) - 0.003))


def test_where_no_straight_way_leads_out_the_error_says_so(library: Library) -> None:
    """A second plate has no room on the seat of a chair."""
    with pytest.raises(
        SceneError, match=r"No straight way for plate_2 along x or y of chair_1 .* choose another place"
    ):
        compile_scene(
            _hall(),
            [
                Placement(id="chair_1", cls="chair", at="floor", pos=(3.0, 1.0)),
                Placement(id="plate_1", cls="plate", at="chair_1.seat"),
                Placement(id="plate_2", cls="plate", at="chair_1.seat", pos=(0.01, 0.0)),
            ],
            library=library,
        )


def test_a_task_changes_what_the_scene_has(library: Library) -> None:
    own = (Placement(id="mug_1", cls="mug", at="table_1.top"),)
    scene = compile_scene(
        _hall(objects=own),
        [
            Placement(id="cabinet_1", attrs={"open": True}, name="clean cabinet", paint={"door": "board_green"}),
            Placement(id="mug_1", at="floor", pos=(3.0, 3.0), attrs={"clean": False}, adjectives=("dirty",)),
        ],
        library=library,
    )
    cabinet, mug = _thing(scene, "cabinet_1"), _thing(scene, "mug_1")
    assert cabinet.attrs["open"] is True
    assert cabinet.nouns[0] == "clean cabinet"
    assert cabinet.links[1].shapes[0].material == "board_green"
    assert WorldState(scene).joints["cabinet_1.left"] == pytest.approx(1.745, abs=0.01)
    assert mug.pose[:2] == (3.0, 3.0)
    assert mug.attrs["clean"] is False
    assert mug.adjectives == ("dirty",)


def test_files_are_refused_by_name_key_and_value(tmp_path: Path) -> None:
    text = 'format = 1\nid = "room"\nspawn = [1, 1, 0]\n[[rooms]]\nid = "a"\nnouns = ["a"]\nrect = [0, 0, 4, 4]\n'
    good = tmp_path / "room.toml"
    good.write_text(text)
    assert load_scene(good).rooms[0].id == "a"
    for bad, says in (
        (text.replace("format = 1", "format = 9"), "format 9"),
        (text.replace('"room"', '"other"'), "other"),
        (text.replace("[0, 0, 4, 4]", '[0, 0, 4, "x"]'), r"room\.toml: rooms\[0\]\.rect\[3\].*'x'"),
        (text + "colour = 3\n", "colour"),
        (text + "]", "not TOML"),
        (text + "\nx = " + "[" * 100_000, "nested too deep"),
    ):
        good.write_text(bad)
        with pytest.raises(SceneError, match=says):
            load_scene(good)
    with pytest.raises(SceneError, match="cannot be read"):
        load_scene(tmp_path / "nowhere.toml")
    with pytest.raises(UnknownNameError, match=r"mars.*Nearest: market_hall"):
        load_scene("mars")
