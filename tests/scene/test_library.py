"""The object library: what every class promises is there, and bad class files are refused by file, key and value."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from iwreplay.errors import SceneError
from iwreplay.pose import IDENTITY, rotate
from iwreplay.scene.convex import solid_aabb, top_at
from iwreplay.scene.expr import evaluate
from iwreplay.scene.geometry import solids_at
from iwreplay.scene.library import Library, Wanted, load_library
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import AFFORDANCES, ATTRIBUTES

#: a material file that every test library starts from
MATERIALS = '[white]\nrgb = "#ffffff"\n[black]\nrgb = "#000000"\n'
CUBE = 'shapes = [{ kind = "box", size = [0.1, 0.1, 0.1], pos = [0, 0, 0.1], mat = "white" }]\n'


def _library(tmp_path: Path, classes: str, *, materials: str = MATERIALS) -> Library:
    (tmp_path / "materials.toml").write_text(materials)
    (tmp_path / "things.toml").write_text(classes)
    return load_library(tmp_path)


def _all(library: Library) -> list[Thing]:
    return [t for name in sorted(library.classes) for t in library.make(Wanted(id="a", cls=name), where="test")]


def test_every_affordance_that_a_primitive_asks_for_has_a_class(library: Library) -> None:
    offered = {a for t in _all(library) for a in t.affordances}
    assert set(AFFORDANCES) <= offered


def test_attributes_are_of_the_vocabulary(library: Library) -> None:
    for thing in _all(library):
        for name in thing.attrs:
            assert name in ATTRIBUTES or name.startswith("text:"), (thing.cls, name)


def test_every_thing_can_be_named(library: Library) -> None:
    for thing in _all(library):
        assert thing.name == thing.nouns[0]
        for words in (*thing.nouns, *thing.adjectives, *thing.touch_nouns):
            assert words == words.lower()
            assert 1 <= len(words.split()) <= 4
            assert all(c.isalnum() or c in " '-" for c in words), words


def test_movable_things_stand_on_their_origin(library: Library) -> None:
    for thing in _all(library):
        if not thing.fixed:
            lowest = min(solid_aabb(s)[2] for s in solids_at(thing, IDENTITY, {}))
            assert lowest == pytest.approx(0.0, abs=1e-6), thing.cls


def test_surfaces_are_backed_by_something_solid(library: Library) -> None:
    """What is set down on a surface must find something there, at its middle and near its corners."""
    for thing in _all(library):
        closed = solids_at(thing, IDENTITY, {})
        for link in thing.links:
            for s in link.surfaces:
                for fx, fy in ((0.0, 0.0), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)):
                    x, y = s.pos[0] + fx * s.half[0], s.pos[1] + fy * s.half[1]
                    tops = [top_at(b, x, y, s.pos[2] + 0.01) for b in closed]
                    assert max((t for t in tops if t is not None), default=-9.0) == pytest.approx(
                        s.pos[2], abs=0.003
                    ), (
                        thing.cls,
                        s.name,
                    )


def test_interiors_have_a_floor_and_are_empty(library: Library) -> None:
    for thing in _all(library):
        for link in thing.links:
            for i in link.interiors:
                floor = i.pos[2] - i.half[2]
                tops = [top_at(b, i.pos[0], i.pos[1], floor + 0.012) for b in solids_at(thing, IDENTITY, {})]
                found = max((t for t in tops if t is not None), default=-9.0)
                assert found == pytest.approx(floor, abs=0.004), (thing.cls, i.name)


def test_handles_are_in_front_of_what_they_move(library: Library) -> None:
    for thing in _all(library):
        for link in thing.links:
            if link.joint is None:
                continue
            x, y, z = link.joint.handle
            assert math.isfinite(x + y + z)
            assert link.joint.open_at > 0.0
            assert abs(math.dist(link.joint.axis, (0, 0, 0)) - 1.0) < 1e-9


def test_faces_look_out_of_their_thing(library: Library) -> None:
    for thing in _all(library):
        for link in thing.links:
            for face in link.faces:
                nx, ny, nz = rotate(face.pose[3:], (0.0, 0.0, 1.0))
                up = rotate(face.pose[3:], (0.0, 1.0, 0.0))
                if nz > 0.9:
                    continue
                assert up[2] > 0.7, (thing.cls, face.name)
                # standing in front of the face, nothing solid of the thing is between it and the reader
                p = [face.pose[k] + 0.004 * n for k, n in enumerate((nx, ny, nz))]
                for s in solids_at(thing, IDENTITY, {}):
                    x0, y0, z0, x1, y1, z1 = solid_aabb(s)
                    assert not (x0 < p[0] < x1 and y0 < p[1] < y1 and z0 < p[2] < z1), (thing.cls, face.name)


def test_a_composite_brings_its_parts(library: Library) -> None:
    things = library.make(Wanted(id="dresser_1", cls="drawer_unit"), where="test")
    assert [t.id for t in things] == ["dresser_1", "dresser_1_top", "dresser_1_middle", "dresser_1_bottom"]
    assert things[1].adjectives == ("top",)
    heights = [t.pose[2] for t in things[1:]]
    assert heights == sorted(heights, reverse=True)


def test_a_part_that_can_be_taken_away_rests_on_its_composite(library: Library, tmp_path: Path) -> None:
    made = library.make(Wanted(id="machine_1", cls="coffee_machine"), where="test")
    assert {t.id: t.attrs["parent"] for t in made if not t.fixed} == {"machine_1_tray": "on:machine_1.tray_slot"}
    base = '[base]\nnouns = ["base"]\nfixed = true\n' + CUBE
    base += 'surfaces = [{ name = "top", pos = [0, 0, 0.2], half = [0.1, 0.1] }]\n'
    cup = '[cup]\nnouns = ["cup"]\naffordances = ["grab"]\ngrip = [0, 0, 0.2]\n' + CUBE
    for part, says in (
        ('cls = "cup"', r"parts\.x: on = '' is no surface of class base; it has top"),
        ('cls = "cup", on = "side"', r"on = 'side' is no surface of class base; it has top"),
        ('cls = "post", on = "top"', r"on = 'top' is for parts that can be taken away; class post is fixed"),
    ):
        post = '[post]\nnouns = ["post"]\nfixed = true\n' + CUBE
        with pytest.raises(SceneError, match=says):
            _library(tmp_path, base + f'parts = [{{ suffix = "x", {part} }}]\n' + cup + post)


def test_parameters_and_scale_change_the_size(library: Library) -> None:
    usual = library.make(Wanted(id="a", cls="table"), where="test")[0]
    wide = library.make(Wanted(id="a", cls="table", params={"w": 2.0}), where="test")[0]
    assert usual.bounds_half[0] == pytest.approx(0.6)
    assert wide.bounds_half[0] == pytest.approx(1.0)
    big = library.make(Wanted(id="a", cls="mug", scale=2.0), where="test")[0]
    mug = library.make(Wanted(id="a", cls="mug"), where="test")[0]
    assert big.bounds_half == pytest.approx([2 * v for v in mug.bounds_half])
    assert big.mass_kg == pytest.approx(8 * mug.mass_kg)
    assert big.props["liquid_height"] == pytest.approx(2 * mug.props["liquid_height"])  # type: ignore[operator]


def test_paint_and_words_and_texts_of_one_thing(library: Library) -> None:
    mug = library.make(
        Wanted(id="a", cls="mug", paint={"body": "#2244cc"}, name="tea mug", adjectives=("blue",)), where="test"
    )[0]
    assert {s.material for s in mug.links[0].shapes if s.role == "visual"} >= {"#2244cc"}
    assert mug.nouns[:2] == ("tea mug", "mug")
    box = library.make(Wanted(id="a", cls="carton", texts={"front": "AXO"}), where="test")[0]
    assert box.attrs["text:front"] == "AXO"
    assert box.attrs["text:top"] == ""


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cls": "spaceship"}, "spaceship"),
        ({"id": "Mug 1"}, "Mug 1"),
        ({"scale": 0.0}, "0.0"),
        ({"params": {"length": 1.0}}, "length"),
        ({"paint": {"handle": "white"}}, "handle"),
        ({"paint": {"body": "blueish"}}, "blueish"),
        ({"paint": {"body": "#12"}}, "#12"),
        ({"attrs": {"ringing": True}}, "ringing"),
        ({"attrs": {"clean": "yes"}}, "yes"),
        ({"attrs": {"contains": {"tea": -1.0}}}, "-1.0"),
        ({"texts": {"front": "X"}}, "front"),
    ],
)
def test_what_the_class_does_not_have_is_refused(library: Library, changes: dict[str, object], says: str) -> None:
    wanted = Wanted(**{"id": "mug_1", "cls": "mug", **changes})  # type: ignore[arg-type]
    with pytest.raises(SceneError, match=says) as caught:
        library.make(wanted, where="placement 7")
    assert "placement 7" in str(caught.value)


@pytest.mark.parametrize(
    ("classes", "says"),
    [
        ("[cup\n", "things.toml"),
        ("[cup]\nwheels = 4\n" + CUBE, "wheels"),
        ("[cup]\nmass_kg = 'heavy'\n" + CUBE, "mass_kg.*heavy"),
        ("cup = 3\n", "cup"),
        ("[Cup]\n" + CUBE, "Cup"),
        ("[cup]\naffordances = ['fly']\n" + CUBE, "fly"),
        ("[cup]\naffordances = ['container']\n" + CUBE, "container"),
        ("[cup]\naffordances = ['liquid_container']\n" + CUBE, "liquid_container"),
        ("[cup]\naffordances = ['cookable']\n" + CUBE, "cookable"),
        ("[cup]\nattrs = { colour = 'red' }\n" + CUBE, "colour"),
        ("[cup]\nattrs = { open = 1 }\n" + CUBE, "open"),
        ("[cup]\nextends = 'mug'\n" + CUBE, "mug"),
        ("[cup]\nextends = 'cup'\n" + CUBE, "cup"),
        ('[cup]\nshapes = [{ kind = "box", size = [0.1, 0.1], mat = "white" }]\n', "shapes.0.*box needs 3"),
        ('[cup]\nshapes = [{ kind = "box", size = [0.1, 0.1, -1], mat = "white" }]\n', "-1"),
        ('[cup]\nshapes = [{ kind = "blob", size = [0.1], mat = "white" }]\n', "blob"),
        ('[cup]\nshapes = [{ kind = "box", size = ["w", 1, 1], mat = "white" }]\n', "'w'"),
        ('[cup]\nshapes = [{ kind = "box", size = ["1/0", 1, 1], mat = "white" }]\n', "divides by zero"),
        ('[cup]\nshapes = [{ kind = "box", size = [1, 1, 1], mat = "gold" }]\n', "gold"),
        ('[cup]\nshapes = [{ kind = "cone", size = [1, 1, 1], mat = "white", role = "both" }]\n', "cone"),
        ('[cup]\nshapes = [{ kind = "cone", size = [1, 1, 1], mat = "white" }]\n', "collide"),
        ('[cup]\nshapes = [{ kind = "box", size = [1, 1, 1], mat = "white", when = { cut = [true] } }]\n', "visual"),
        (
            '[cup]\nshapes = [{ kind = "prism", size = [0.1, 0, 0, 1, 1, 1, 0, 0, 1], mat = "white" }]\n',
            r"shapes.0.*crosses itself: \(0.0, 0.0\) to \(1.0, 1.0\) meets \(1.0, 0.0\) to \(0.0, 1.0\)",
        ),
        ('[cup]\nshapes = [{ kind = "prism", size = [0.1, 0, 0, 1, 1], mat = "white" }]\n', "at least 3 points"),
        (
            '[cup]\nshapes = [{ kind = "prism", size = [0.1, 0, 0, 1, 0, 0, 1], mat = "white", role = "both" }]\n',
            "prism is drawn only",
        ),
        ('[cup]\nshapes = [{ kind = "rounded_box", size = [1, 1, 1], mat = "white" }]\n', "rounded_box needs 4"),
        ('[cup]\nshapes = [{ kind = "rounded_box", size = [1, 1, 1, 2], mat = "white" }]\n', "radius of 2"),
        (
            "[cup]\n"
            + CUBE
            + 'links = [{ name = "l", joint = { name = "j", kind = "hinge", axis = [0, 0, 0], open = 90, '
            "handle = [0, 0, 0] } }]\n",
            "axis",
        ),
        (
            "[cup]\n"
            + CUBE
            + 'links = [{ name = "l", joint = { name = "j", kind = "slide", axis = [0, 0, 1], open = -1, '
            "handle = [0, 0, 0] } }]\n",
            "-1",
        ),
        (
            "[cup]\naffordances = ['container']\n"
            + CUBE
            + "interiors = [{ name = 'm', pos = [0,0,0], half = [1,1,1], closed_by = ['lid'] }]\n",
            "lid",
        ),
        ("[cup]\n" + CUBE + "surfaces = [{ name = 't', pos = [0,0,0], half = [0, 1] }]\n", "half"),
        ("[cup]\n" + CUBE + "faces = [{ name = 't', pos = [0,0,0], size = [1, 1], ink = 'red' }]\n", "red"),
    ],
)
def test_bad_class_files_are_refused(tmp_path: Path, classes: str, says: str) -> None:
    with pytest.raises(SceneError, match=says):
        _library(tmp_path, classes)


def test_bad_materials_are_refused(tmp_path: Path) -> None:
    for text, says in (
        ('[white]\nrgb = "white"\n', "white"),
        ('[white]\nrgb = "#ffffff"\nalpha = 2.0\n', "2.0"),
        ('[white]\nrgb = "#ffffff"\nshine = 1\n', "shine"),
    ):
        with pytest.raises(SceneError, match=says):
            _library(tmp_path, "[cup]\n" + CUBE, materials=text)


def test_a_class_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "more.toml").write_text("[cup]\n" + CUBE)
    with pytest.raises(SceneError, match=r"cup.*more\.toml"):
        _library(tmp_path, "[cup]\n" + CUBE)


def test_extending_takes_what_is_not_given(tmp_path: Path) -> None:
    library = _library(
        tmp_path,
        "[cup]\nmass_kg = 0.5\naffordances = ['grab', 'wash']\nparams = { r = 0.1 }\nprops = { a = 1.0 }\n"
        'paint = { body = "white" }\nshapes = [{ kind = "sphere", size = ["r"], pos = [0, 0, "r"], mat = "body" }]\n'
        "[ball]\nextends = 'cup'\naffordances = ['grab']\nparams = { r = 0.2 }\nprops = { b = 2.0 }\n"
        'paint = { body = "black" }\n',
    )
    ball = library.make(Wanted(id="x", cls="ball"), where="test")[0]
    assert ball.mass_kg == 0.5
    assert ball.affordances == ("grab",)
    assert ball.props == {"a": 1.0, "b": 2.0}
    assert ball.bounds_half == pytest.approx((0.2, 0.2, 0.2))
    assert ball.links[0].shapes[0].material == "black"
    assert "clean" not in ball.attrs


def test_a_rounded_box_is_drawn_round_and_collided_with_as_a_box(tmp_path: Path) -> None:
    library = _library(
        tmp_path, '[cup]\nshapes = [{ kind = "rounded_box", size = [0.3, 0.2, 0.1, 0.02], mat = "white" }]\n'
    )
    shapes = library.make(Wanted(id="x", cls="cup"), where="test")[0].links[0].shapes
    assert [(s.kind, s.size, s.role) for s in shapes] == [
        ("rounded_box", (0.3, 0.2, 0.1, 0.02), "visual"),
        ("box", (0.3, 0.2, 0.1), "collision"),
    ]


def test_formulas(tmp_path: Path) -> None:
    names = {"w": 2.0, "d": 0.5}
    assert evaluate("w/2 - (d + 0.1)*2", names, where="t") == pytest.approx(-0.2)
    assert evaluate("max(w, d, 3)", names, where="t") == 3.0
    assert evaluate(4, names, where="t") == 4.0
    for bad in ("w**2", "__import__('os')", "w if d else 1", "'a'", "w +", "True", "min()", "w" * 200, "1e999"):
        with pytest.raises(SceneError, match=r"^t:"):
            evaluate(bad, names, where="t")
