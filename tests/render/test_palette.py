"""Materials and texels: deterministic, tiling, growing, bounded."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from iwreplay.errors import RenderError
from iwreplay.render import palette as palette_module
from iwreplay.render.palette import Palette, coverage_level
from iwreplay.render.textures import TEXTURE_PX, TEXTURES, paint
from iwreplay.scene.model import Material


def test_textures_are_pinned() -> None:
    h = hashlib.sha256()
    for name in sorted(TEXTURES):
        texels = paint(name, (170, 120, 80))
        h.update(b"-" if texels is None else texels.tobytes())
    assert h.hexdigest() == "b2ff4952f9a93e5055699b042e714c041a5fd97f7e4daa79c920f258b9ec556b"


@pytest.mark.parametrize("name", [n for n in TEXTURES if paint(n, (1, 2, 3)) is not None])
def test_textures_keep_the_colour_and_have_a_pattern(name: str) -> None:
    texels = paint(name, (170, 120, 80))
    assert texels is not None
    assert texels.shape == (TEXTURE_PX, TEXTURE_PX, 3)
    assert texels.std() > 0.5
    middle = np.median(texels.reshape(-1, 3), axis=0)
    if name not in {"check", "checker", "stripes"}:
        assert np.abs(middle - (170, 120, 80)).max() < 30


def test_unknown_texture_lists_the_known_ones() -> None:
    with pytest.raises(RenderError, match=r"velvet.*wood"):
        paint("velvet", (0, 0, 0))


def test_coverage_levels() -> None:
    assert [coverage_level(a) for a in (0.01, 0.25, 0.5, 0.75, 1.0)] == [1, 1, 2, 3, 4]


def test_a_material_is_kept_once_and_many_fit() -> None:
    palette = Palette()
    first = palette.material(Material(name="oak", rgb=(170, 120, 70), texture="wood"))
    assert palette.material(Material(name="oak", rgb=(170, 120, 70), texture="wood")) == first
    indices = {palette.material(Material(name=f"m{i}", rgb=(i, 0, 0))) for i in range(100)}
    assert len(indices) == 100
    assert palette.rgb[max(indices), 0] == pytest.approx(99 / 255)
    assert palette.texture[first] == 0


def test_texels_are_packed_with_their_mip_levels() -> None:
    palette = Palette()
    image = np.zeros((2, 4, 3), np.uint8)
    image[:, :2], image[:, 2:] = (10, 20, 30), (20, 40, 61)
    i = palette.image("x", image, part=(0.5, 1.0))
    t = palette.texture[i]
    assert palette.level_count[t] == 3
    start, log_w, log_h = palette.levels[t, 2]
    assert (log_w, log_h) == (0, 0)
    assert int(palette.texels[start]) == 15 | 30 << 20 | 46 << 40
    assert palette.uv_scale[i].tolist() == [0.5, 1.0]


def test_refuses_what_it_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RenderError, match="powers of two"):
        Palette().image("x", np.zeros((3, 4, 3), np.uint8), part=(1.0, 1.0))
    monkeypatch.setattr(palette_module, "MAX_TEXELS", 100)
    with pytest.raises(RenderError, match="limit of 100"):
        Palette().image("x", np.zeros((16, 16, 3), np.uint8), part=(1.0, 1.0))
    with pytest.raises(RenderError, match="alpha"):
        Palette().material(Material(name="m", rgb=(0, 0, 0), alpha=0.0))
    with pytest.raises(RenderError, match="colour"):
        Palette().material(Material(name="m", rgb=(0, 300, 0)))
