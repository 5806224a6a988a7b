"""What a thing is called is what it looks like: a colour in its name is one of the colours that it has."""

from __future__ import annotations

import colorsys
from collections import defaultdict

import pytest

from iwreplay.scene.cloths import bounds_of_cloth
from iwreplay.scene.library import Library
from iwreplay.scene.model import CompiledScene, Face, Shape, Thing
from iwreplay.taskpack.loader import load_tasks, validate_task

#: what a colour covers of all that shows, at least: a pink flower does not make a pink vase
LEAST = 0.1
COLOURS = frozenset(
    ("white", "black", "grey", "silver", "red", "orange", "brown", "yellow", "gold", "green", "teal", "turquoise",
     "blue", "navy", "purple", "violet", "pink")
)  # fmt: skip
#: name -> hues from and to, degrees; red and pink go over zero
HUES = {
    "orange": (10, 48), "brown": (10, 48), "yellow": (38, 70), "gold": (38, 70), "green": (70, 175),
    "teal": (165, 195), "turquoise": (165, 195), "blue": (190, 262), "navy": (190, 262), "purple": (255, 320),
    "violet": (255, 320),
}  # fmt: skip


def names_of(rgb: tuple[int, int, int]) -> set[str]:
    """Every name that may be said of a colour; they overlap widely, as they do among people."""
    hue, saturation, value = colorsys.rgb_to_hsv(*(c / 255 for c in rgb))
    degrees = 360 * hue
    found: set[str] = set()
    if saturation < 0.22:
        found |= {"grey", "silver"} | ({"white"} if value > 0.75 else set())
    if value < 0.35:
        found.add("black")
    if saturation < 0.3 and value > 0.8:
        found.add("white")
    if saturation > 0.12:
        found |= {name for name, (low, high) in HUES.items() if low <= degrees < high}
        found |= {"red"} if degrees < 18 or degrees > 340 else set()
        found |= {"pink"} if degrees < 18 or degrees >= 300 else set()
    return found


def area(shape: Shape) -> float:
    """Of the box around it, square metres: as good as its own to tell much from little."""
    z = shape.size
    if shape.kind in ("box", "rounded_box"):
        a, b, c = z[:3]
    elif shape.kind == "sphere":
        a = b = c = z[0]
    elif shape.kind == "cone":
        a = b = max(z[:2])
        c = z[2]
    elif shape.kind == "lathe":
        a = b = max(z[::2])
        c = (max(z[1::2]) - min(z[1::2])) / 2
    elif shape.kind == "prism":
        a, b, c = (max(z[1::2]) - min(z[1::2])) / 2, (max(z[2::2]) - min(z[2::2])) / 2, z[0]
    elif shape.kind == "cloth":
        x0, y0, z0, x1, y1, z1 = bounds_of_cloth(z)
        a, b, c = (x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2
    else:
        a = b = z[0]
        c = z[1] + (z[0] if shape.kind == "capsule" else 0.0)
    return 8 * (a * b + b * c + c * a)


def wrong_colours(thing: Thing, materials: dict[str, tuple[int, int, int]]) -> set[str]:
    """Colours in its name and adjectives that it does not have."""
    said = COLOURS & set(" ".join((*thing.adjectives, thing.name)).lower().split())
    if not said:
        return set()
    shown: defaultdict[str, float] = defaultdict(float)
    shapes: list[Shape] = [s for link in thing.links for s in link.shapes if s.role != "collision"]
    faces: list[Face] = [f for link in thing.links for f in link.faces]
    for shape in shapes:
        for name in names_of(materials[shape.material]):
            shown[name] += area(shape)
    for face in faces:
        for name in names_of(face.paper):
            shown[name] += face.size[0] * face.size[1]
    least = LEAST * sum(map(area, shapes))
    return {c for c in said if shown[c] < least}


def wrong_in(scene: CompiledScene, *, only: frozenset[str] | None = None) -> dict[str, set[str]]:
    materials = {m.name: m.rgb for m in scene.materials}
    found = {t.id: wrong_colours(t, materials) for t in scene.things if only is None or t.id in only}
    return {thing: colours for thing, colours in found.items() if colours}


def test_colours_in_the_names_of_a_scene_are_true(shipped_scene: CompiledScene) -> None:
    assert wrong_in(shipped_scene) == {}


@pytest.mark.slow
def test_colours_in_the_names_of_what_tasks_bring_are_true(library: Library) -> None:
    wrong = {}
    for task in load_tasks():
        own = frozenset(t.id for t in task.things)
        if found := wrong_in(validate_task(task, library=library), only=own):
            wrong[task.id] = found
    assert wrong == {}


@pytest.mark.parametrize(
    ("rgb", "told", "not_told"),
    [
        ((60, 90, 170), "blue", "green"),
        ((79, 138, 91), "green", "blue"),
        ((170, 120, 70), "brown", "red"),
        ((245, 245, 240), "white", "black"),
        ((20, 20, 22), "black", "white"),
    ],
)
def test_names_of_colours(rgb: tuple[int, int, int], told: str, not_told: str) -> None:
    assert told in names_of(rgb)
    assert not_told not in names_of(rgb)
