"""What attributes do to looks, without drawing."""

from __future__ import annotations

import pytest

from iwreplay.render.appearance import liquid_of, material_name, shape_is_drawn, value_text
from iwreplay.scene.model import Material
from tests.render.kitchen import shape, thing


def test_values_as_text() -> None:
    assert [value_text(v) for v in (True, False, None, 3, 2.5, "burnt")] == [
        "true",
        "false",
        "none",
        "3",
        "2.5",
        "burnt",
    ]


def test_when_needs_every_attribute() -> None:
    s = shape("sphere", 0.1, m="red", when={"cut": (True,), "cooked": ("raw", "cooked")})
    assert shape_is_drawn(s, {"cut": True, "cooked": "raw"})
    assert not shape_is_drawn(s, {"cut": True, "cooked": "burnt"})
    assert not shape_is_drawn(s, {"cut": True})
    assert not shape_is_drawn(shape("sphere", 0.1, m="red", role="collision"), {})


def test_the_last_repaint_that_applies_wins() -> None:
    s = shape("sphere", 0.1, m="red", repaint={"wet": {"true": "blue"}, "cooked": {"burnt": "char"}})
    assert material_name(s, {}) == "red"
    assert material_name(s, {"wet": True}) == "blue"
    assert material_name(s, {"wet": True, "cooked": "burnt"}) == "char"


@pytest.mark.parametrize(
    ("contains", "top", "rgb"),
    [
        ({"water": 0.5}, 0.11, (146, 190, 214)),
        ({"water": 9.0}, 0.21, (146, 190, 214)),
        ({"mystery": 1.0}, 0.21, (150, 130, 110)),
        ({"own": 1.0}, 0.21, (1, 2, 3)),
    ],
)
def test_liquid_level_and_colour(contains: dict[str, float], top: float, rgb: tuple[int, int, int]) -> None:
    jar = thing("jar_1", props={"liquid_radius": 0.05, "liquid_z0": 0.01, "liquid_height": 0.2, "capacity_l": 1})
    found = liquid_of(jar, {"contains": contains}, {"own": Material(name="own", rgb=(1, 2, 3))})
    assert found is not None
    assert found.z1_m == pytest.approx(top)
    assert found.rgb == rgb


def test_no_liquid_without_content_or_room() -> None:
    jar = thing("jar_1", props={"liquid_radius": 0.05, "liquid_z0": 0.01, "liquid_height": 0.2, "capacity_l": 1.0})
    assert liquid_of(jar, {"contains": {"water": 0.0}}, {}) is None
    assert liquid_of(jar, {}, {}) is None
    assert liquid_of(thing("jar_1"), {"contains": {"water": 1.0}}, {}) is None


def test_mixed_liquids_mix_colours() -> None:
    jar = thing("jar_1", props={"liquid_radius": 0.05, "liquid_z0": 0.0, "liquid_height": 0.2, "capacity_l": 1.0})
    materials = {"a": Material(name="a", rgb=(0, 0, 0)), "b": Material(name="b", rgb=(200, 100, 50))}
    found = liquid_of(jar, {"contains": {"b": 0.1, "a": 0.3}}, materials)
    assert found is not None
    assert found.rgb == (50, 25, 13)


def test_clear_spirits_look_like_water() -> None:
    glass = thing("glass_1", props={"liquid_radius": 0.03, "liquid_z0": 0.01, "liquid_height": 0.1, "capacity_l": 0.3})
    materials = {"water": Material(name="water", rgb=(140, 180, 210))}
    assert liquid_of(glass, {"contains": {"vodka": 0.1, "water": 0.1}}, materials) == liquid_of(
        glass, {"contains": {"water": 0.2}}, materials
    )


def test_a_broken_vessel_holds_nothing() -> None:
    jar = thing("jar_1", props={"liquid_radius": 0.05, "liquid_z0": 0.01, "liquid_height": 0.2, "capacity_l": 1.0})
    assert liquid_of(jar, {"contains": {"water": 0.5}, "broken": False}, {}) is not None
    assert liquid_of(jar, {"contains": {"water": 0.5}, "broken": True}, {}) is None
