"""Cloths in class files: what they stand for, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from iwreplay.errors import GeometryError, SceneError
from iwreplay.scene.cloths import bounds_of_cloth, cloth_of, folded_line
from iwreplay.scene.geometry import shape_half, thing_bounds
from iwreplay.scene.library import Library, Wanted, load_library
from iwreplay.scene.model import Link, Shape

SIZE = (-0.2, 0.1, 0.01, 0.02, 1.0, 0.0, 0.1, 0.5, 0.1)


def _library(tmp_path: Path, shapes: str) -> Library:
    (tmp_path / "materials.toml").write_text('white = { rgb = "#ffffff" }\n')
    (tmp_path / "cloths.toml").write_text(f"[towel]\nshapes = [{{ {shapes} }}]\n")
    return load_library(tmp_path)


def test_a_size_is_read() -> None:
    cloth = cloth_of(SIZE)
    assert cloth.across == (-0.2, 0.1)
    assert (cloth.thickness, cloth.waves, cloth.gather) == (0.01, 0.02, 1.0)
    assert cloth.line == ((0.0, 0.1), (0.5, 0.1))


@pytest.mark.parametrize(
    ("size", "says"),
    [
        (SIZE[:7], "at least 2 points"),
        ((*SIZE, 0.0), "not 10 numbers"),
        ((*SIZE[:5], *(float(k) for k in range(514))), "at most 256"),
        ((0.1, 0.1, *SIZE[2:]), "not above zero"),
        ((*SIZE[:2], -0.01, *SIZE[3:]), "not above zero"),
        ((*SIZE[:3], 0.11, *SIZE[4:]), "waves of 0.11"),
        ((*SIZE[:4], 1.1, *SIZE[5:]), "gathered to 1.1"),
        ((*SIZE[:7], 0.0, 0.1), "twice in a row"),
        ((*SIZE[:7], 2000.0, 0.1), "more than 1000 m"),
    ],
)
def test_a_size_that_makes_no_cloth_is_refused(size: tuple[float, ...], says: str) -> None:
    with pytest.raises(GeometryError, match=says):
        cloth_of(size)


def test_bounds_of_a_cloth_fit_it() -> None:
    assert bounds_of_cloth(SIZE) == pytest.approx((-0.025, -0.22, 0.075, 0.525, 0.12, 0.105))
    cloth = Shape(kind="cloth", size=SIZE, material="m", role="visual")
    assert shape_half(cloth) == pytest.approx((0.525, 0.22, 0.105))
    pos, half = thing_bounds((Link(name="base", shapes=(cloth,)),), attrs={})
    assert pos == pytest.approx((0.25, -0.05, 0.09))
    assert half == pytest.approx((0.275, 0.17, 0.015))


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 5])
def test_a_folded_line_fills_its_box_in_so_many_layers(layers: int) -> None:
    line, thickness = folded_line(0.1, 0.04, layers)
    half = thickness / 2.0
    assert max(x for x, _ in line) + half == pytest.approx(0.1, abs=1e-9 if layers < 4 or layers == 5 else 0.01)
    assert min(x for x, _ in line) - half == pytest.approx(-0.1, abs=1e-9)
    assert 0.0 < min(z for _, z in line) - half < max(z for _, z in line) + half < 0.04
    level = {round(a[1], 9) for a, b in pairwise(line) if a[1] == b[1] and abs(a[0] - b[0]) > 0.05}
    assert len(level) == layers
    assert min((b - a for a, b in pairwise(sorted(level))), default=1.0) > thickness


def test_four_layers_are_folded_twice() -> None:
    """The outer fold is around the inner one: the layers are met as bottom, top, third, second."""
    line, _ = folded_line(0.1, 0.04, 4)
    level = [a[1] for a, b in pairwise(line) if a[1] == b[1] and abs(a[0] - b[0]) > 0.05]
    assert level == pytest.approx([0.005, 0.035, 0.025, 0.015])


def test_a_folded_cloth_collides_as_the_box_around_it(tmp_path: Path) -> None:
    library = _library(tmp_path, 'kind = "folded", size = [0.1, 0.08, 0.02, 0.003], pos = [0, 0, 0.02], mat = "white"')
    drawn, solid = library.make(Wanted(id="x", cls="towel"), where="test")[0].links[0].shapes
    assert (drawn.kind, drawn.role) == ("cloth", "visual")
    assert drawn.size[:2] == (-0.1, 0.1)
    assert (solid.kind, solid.size, solid.role) == ("box", (0.1, 0.08, 0.02), "collision")


def test_a_band_on_it_is_drawn_only_and_a_little_thicker(tmp_path: Path) -> None:
    size = "[0.1, 0.08, 0.02, 0.003, 0.05, 0.06]"
    board = '{ kind = "box", size = [0.1, 0.08, 0.02], mat = "white", role = "collision" }'
    library = _library(tmp_path, f'kind = "folded", size = {size}, mat = "white" }}, {board[:-1]}')
    band, _ = library.make(Wanted(id="x", cls="towel"), where="test")[0].links[0].shapes
    assert band.role == "visual"
    assert band.size[:2] == (0.05, 0.06)
    assert band.size[2] == pytest.approx(folded_line(0.08, 0.04, 4)[1] + 0.0012)


def test_a_cloth_grows_with_its_thing_and_is_gathered_as_before(tmp_path: Path) -> None:
    board = '{ kind = "box", size = [0.1, 0.08, 0.02], mat = "white", role = "collision" }'
    cloth = 'kind = "cloth", size = [-0.1, 0.1, 0.004, 0.01, 0.6, 0, 0, 0, -0.5], mat = "white"'
    library = _library(tmp_path, f"{cloth} }}, {board[:-1]}")
    made = library.make(Wanted(id="x", cls="towel", scale=2.0), where="test")[0].links[0].shapes[0]
    assert made.size == pytest.approx((-0.2, 0.2, 0.008, 0.02, 0.6, 0.0, 0.0, 0.0, -1.0))


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ('kind = "folded", size = [0.1, 0.08, 0.02], mat = "white"', "needs 4 or 6 numbers, not 3"),
        ('kind = "folded", size = [0.1, 0.08, 0.02, 0.003], n = 9, mat = "white"', "1 to 8 layers, not 9"),
        ('kind = "folded", size = [0.1, 0.02, 0.02, 0.003], mat = "white"', "don't fit"),
        ('kind = "folded", size = [0.1, 0.08, 0.02, 0.003, 0.05, 0.2], mat = "white"', "lies not on a cloth"),
        ('kind = "folded", size = [0.1, 0.08, 0.02, 0.003], when = { hung = [true] }, mat = "white"', "drawn only"),
        ('kind = "cloth", size = [0, 0.1, 0.01, 0, 1, 0, 0, 1, 0], role = "both", mat = "white"', "drawn only"),
        ('kind = "cloth", size = [0, 0.1, 0.01, 0, 1, 0, 0], mat = "white"', "at least 2 points"),
    ],
)
def test_what_makes_no_cloth_is_refused_by_name(tmp_path: Path, shape: str, says: str) -> None:
    with pytest.raises(SceneError, match=says):
        _library(tmp_path, shape).make(Wanted(id="x", cls="towel"), where="test")
