"""What a scene file says of the parts of its composites."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.errors import SceneError
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.model import Thing

HALL = """
format = 1
id = "hall"
spawn = [3.0, 1.0, 90.0]
[[rooms]]
id = "hall"
nouns = ["hall"]
rect = [0.0, 0.0, 6.0, 5.0]
[[furniture]]
id = "unit_1"
cls = "drawer_unit"
pos = [1.0, 4.7]
parts = { %s }
"""


def things(tmp_path: Path, parts: str) -> dict[str, Thing]:
    file = tmp_path / "hall.toml"
    file.write_text(HALL % parts, encoding="utf-8")
    return {t.id: t for t in compile_scene(load_scene(file)).things}


def test_a_part_is_called_as_the_scene_says_and_the_others_as_ever(tmp_path: Path) -> None:
    made = things(tmp_path, 'top = { name = "key drawer", adjectives = [], touch_nouns = ["drawer"] }')
    top, middle = made["unit_1_top"], made["unit_1_middle"]
    assert (top.name, top.adjectives) == ("key drawer", ())
    assert top.nouns == ("key drawer", "drawer", "top drawer", "upper drawer")
    assert (middle.name, middle.adjectives) == ("drawer", ("middle",))
    kept = things(tmp_path, 'top = { name = "key drawer" }')["unit_1_top"]
    assert kept.adjectives == ("top",)
    told = things(tmp_path, 'top = { nouns = ["tray"], attrs = { open = true }, props = { key = "" } }')["unit_1_top"]
    assert told.nouns == ("tray",)
    assert told.attrs["open"] is True
    assert told.props["key"] == ""


def test_a_part_carries_the_text_that_the_scene_gives_it(tmp_path: Path) -> None:
    file = tmp_path / "hall.toml"
    rack = HALL.replace("drawer_unit", "key_rack").replace("[1.0, 4.7]", "[1.0, 4.88, 1.5]")
    file.write_text(rack % '2 = { name = "cellar hook", texts = { label = "CELLAR" } }', encoding="utf-8")
    made = {t.id: t for t in compile_scene(load_scene(file)).things}
    assert made["unit_1_2"].attrs["text:label"] == "CELLAR"
    assert made["unit_1_1"].attrs["text:label"] != "CELLAR"


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ('topp = { name = "x" }', r"unit_1: parts\.topp: class drawer_unit has no part 'topp'\. Nearest: top"),
        ('top = { colour = "red" }', "colour"),
        ('top = { texts = { label = "A" } }', r"parts\.top: texts\.label: no such face"),
        ("top = { attrs = { lit = true } }", r"parts\.top: attrs\.lit"),
    ],
)
def test_what_a_composite_does_not_have_is_an_error(tmp_path: Path, parts: str, says: str) -> None:
    with pytest.raises(SceneError, match=says):
        things(tmp_path, parts)


def test_furniture_without_parts_says_so(tmp_path: Path) -> None:
    file = tmp_path / "hall.toml"
    file.write_text(HALL.replace("drawer_unit", "table") % 'top = { name = "x" }', encoding="utf-8")
    with pytest.raises(SceneError, match=r"class table has no part 'top'\. It has none"):
        compile_scene(load_scene(file))
