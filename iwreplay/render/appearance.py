"""What a thing's attributes do to its looks: which shapes are drawn, in which material, and how full it is. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from iwreplay.scene.hanging import look_of
from iwreplay.scene.model import Material, Shape, Thing
from iwreplay.vocabulary import AttrValue

__all__ = [
    "LIQUID_RGB",
    "LOOKS_LIKE",
    "Liquid",
    "liquid_of",
    "liquid_share",
    "liquid_space",
    "material_name",
    "shape_is_drawn",
    "value_text",
]

Attrs = Mapping[str, AttrValue]

#: colours of liquids (and of what is poured like one) that the scene has no material of the same name for; a space in
#: a name is written _
LIQUID_RGB: dict[str, tuple[int, int, int]] = {
    "ammonia": (196, 224, 232),
    "batter": (232, 208, 150),
    "bleach": (226, 232, 190),
    "broth": (196, 150, 80),
    "chocolate_syrup": (66, 34, 16),
    "cleaner": (90, 170, 210),
    "cleanser": (224, 206, 90),
    "coconut_milk": (246, 244, 238),
    "coffee": (58, 36, 22),
    "detergent": (80, 120, 200),
    "flour": (240, 236, 224),
    "iced_tea": (176, 104, 36),
    "juice": (240, 160, 40),
    "lemon_tea": (206, 150, 60),
    "lemonade": (236, 232, 150),
    "milk": (244, 242, 234),
    "oil": (214, 180, 60),
    "orange_juice": (240, 150, 30),
    "paint": (200, 60, 50),
    "salt": (244, 244, 242),
    "sanitizer": (190, 222, 236),
    "sauce": (160, 50, 30),
    "soda": (96, 52, 30),
    "soup": (206, 130, 60),
    "sugar": (250, 249, 245),
    "syrup": (66, 34, 16),
    "tea": (150, 86, 36),
    "vinegar": (214, 196, 150),
    "water": (146, 190, 214),
    "white_wine": (226, 214, 140),
    "wine": (110, 20, 40),
}
#: liquids that can't be told from another by looking
LOOKS_LIKE: dict[str, str] = {"gin": "water", "tonic": "water", "vodka": "water"}
_UNKNOWN_LIQUID = (150, 130, 110)


@dataclass(frozen=True)
class Liquid:
    """How a vessel's content looks: a cylinder from `z0_m` up to `z1_m` in link 0's frame."""

    radius_m: float
    z0_m: float
    z1_m: float
    rgb: tuple[int, int, int]


def value_text(value: AttrValue) -> str:
    """An attribute's value as `Shape.repaint` writes it: true, false, none, numbers as Python writes them."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def shape_is_drawn(shape: Shape, attrs: Attrs) -> bool:
    """Whether the shape is visual and every attribute of its `when` has one of the listed values."""
    return shape.role != "collision" and all(look_of(attrs, name) in values for name, values in shape.when.items())


def material_name(shape: Shape, attrs: Attrs) -> str:
    """The material that the shape has now. Of several repaints that apply, the last one listed wins."""
    name = shape.material
    for attr, table in shape.repaint.items():
        name = table.get(value_text(look_of(attrs, attr)), name)
    return name


def liquid_space(thing: Thing) -> tuple[float, float, float, float] | None:
    """(radius, bottom z, height, capacity in litres) of the room for liquid, or None when the props don't give it."""
    values = [thing.props.get(k) for k in ("liquid_radius", "liquid_z0", "liquid_height", "capacity_l")]
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < 4 or not (numbers[0] > 0.0 and numbers[2] > 0.0 and numbers[3] > 0.0):
        return None
    return (numbers[0], numbers[1], numbers[2], numbers[3])


def liquid_share(thing: Thing, liquid: Liquid) -> float:
    """How much of the height that a thing has for liquid a content takes, in (0, 1]."""
    space = liquid_space(thing)
    assert space is not None, f"{thing.id} has no room for liquid"
    return min(1.0, (liquid.z1_m - liquid.z0_m) / space[2])


def liquid_of(thing: Thing, attrs: Attrs, materials: Mapping[str, Material]) -> Liquid | None:
    """The content to draw, or None for an empty or broken vessel or a thing without room for liquid.

    Several liquids are mixed: the colour is their average by volume. Above its capacity a vessel looks full.
    """
    space = liquid_space(thing)
    contains = attrs.get("contains")
    if space is None or not isinstance(contains, dict) or attrs.get("broken") is True:
        return None
    parts = [(name, litres) for name, litres in sorted(contains.items()) if litres > 0.0]
    if not parts:
        return None
    total = 0.0
    mixed = [0.0, 0.0, 0.0]
    for name, litres in parts:
        look = LOOKS_LIKE.get(name, name)
        known = materials.get(look)
        rgb = known.rgb if known is not None else LIQUID_RGB.get(look.replace(" ", "_"), _UNKNOWN_LIQUID)
        total += litres
        for i in range(3):
            mixed[i] += litres * rgb[i]
    radius, z0, height, capacity = space
    # a little always shows: a drop in a pot is half a millimetre otherwise
    level = min(1.0, max(0.03, total / capacity))
    r, g, b = (int(c / total + 0.5) for c in mixed)
    return Liquid(radius, z0, z0 + height * level, (r, g, b))
