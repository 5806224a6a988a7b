"""Text: fitted by the stated rule, the same bytes, legible in a frame."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from iwreplay.errors import RenderError
from iwreplay.render import Renderer, fit_text, focal_from_fovy
from iwreplay.render.text import draw_text
from iwreplay.scene.model import Face
from iwreplay.world.state import WorldState
from tests.render.kitchen import card, look, small_scene

CARD = Face(name="front", pose=(0, 0, 0, 1, 0, 0, 0), size=(0.12, 0.08), cap_height_m=0.008)


def test_short_text_keeps_its_height() -> None:
    fit = fit_text("FISH: USE BY\n14 MAR", CARD)
    assert fit.lines == ("FISH: USE BY", "14 MAR")
    assert fit.cap_height_m == CARD.cap_height_m
    assert fit.fits


def test_words_wrap_and_a_long_text_shrinks_in_steps() -> None:
    text = "Supplier B sells forty filters in boxes of ten for eight pounds forty a box, sent within a week"
    text += " of the order, unless it is July"
    fit = fit_text(text, CARD)
    assert fit.fits
    assert len(fit.lines) > 2
    assert " ".join(fit.lines) == text
    share = fit.cap_height_m / CARD.cap_height_m
    assert 0.6 <= share < 1.0
    assert (share * 20) == pytest.approx(round(share * 20))


def test_what_does_not_fit_is_said() -> None:
    fit = fit_text("word " * 100, CARD)
    assert not fit.fits
    assert fit.cap_height_m == pytest.approx(0.6 * CARD.cap_height_m)
    assert len(fit.lines) < 12
    assert not fit_text("Donaudampfschifffahrtsgesellschaft" * 2, CARD).fits


def test_empty_text_is_bare_paper() -> None:
    image, _ = draw_text("", CARD)
    assert (image == CARD.paper).all()
    assert fit_text("", CARD).fits


def test_image_is_pinned_and_sized_in_powers_of_two() -> None:
    image, part = draw_text("FISH: USE BY 14 MAR\n2-4 °C → fridge", CARD)
    height, width = image.shape[:2]
    assert (width & (width - 1), height & (height - 1)) == (0, 0)
    assert part[0] * width / (part[1] * height) == pytest.approx(1.5, rel=0.02)
    assert (
        hashlib.sha256(image.tobytes()).hexdigest()
        == "abeacff7403ace04314df626fa56e8191d3dd933fa43e32056eb738af3a906d1"
    )


def test_large_faces_get_a_coarser_image() -> None:
    poster = Face(name="p", pose=CARD.pose, size=(0.8, 1.2), cap_height_m=0.01)
    image, _ = draw_text("Rules", poster)
    assert max(image.shape[:2]) <= 1024
    with pytest.raises(RenderError, match="too small"):
        draw_text("Rules", Face(name="p", pose=CARD.pose, size=(60.0, 1.2), cap_height_m=0.002))
    with pytest.raises(RenderError, match="above zero"):
        fit_text("x", Face(name="p", pose=CARD.pose, size=(0.0, 1.2)))


@pytest.mark.parametrize(("distance_m", "cap_m"), [(0.5, 0.006), (0.7, 0.008)])
def test_capitals_are_tall_and_dark_enough_in_a_frame(distance_m: float, cap_m: float) -> None:
    """The rows that "I I I I I I" darkens are as many as its cap height in pixels, and far darker than the paper."""
    base = card("card_1", "I I I I I I", (0, 0, 0, 1, 0, 0, 0))
    face = base.links[0].faces[0]
    text = Face(name="front", pose=face.pose, size=face.size, cap_height_m=cap_m)
    link = type(base.links[0])(name="base", shapes=base.links[0].shapes, faces=(text,))
    scene = small_scene(type(base)(**{**{f: getattr(base, f) for f in base.__struct_fields__}, "links": (link,)}))
    focal = focal_from_fovy(60.0, height=480)
    frame = Renderer(scene, threads=1).draw(
        WorldState(scene),
        camera=look((0.0, -distance_m, 0.04), (0.0, 0.0, 0.04)),
        focal_px=focal,
        width=640,
        height=480,
    )
    cap_px = focal * cap_m / distance_m
    assert cap_px >= 4.75
    rows = np.flatnonzero((frame.ids == 0).any(axis=1))
    columns = np.flatnonzero((frame.ids == 0).any(axis=0))
    page = frame.rgb[rows[4] : rows[-4], columns[4] : columns[-4]].astype(float).mean(axis=2)
    paper = float(np.median(page))
    dark = page.min(axis=1) < paper * 0.7
    assert math.floor(cap_px) - 1 <= dark.sum() <= math.ceil(cap_px) + 1
    strokes = page[dark].min(axis=1)
    assert strokes.mean() < 0.5 * paper
    # strokes and gaps can be told apart: along a row of the letters, dark and light alternate six times
    middle = page[np.flatnonzero(dark)[0] + 1]
    edges = np.diff((middle < 0.75 * paper).astype(int))
    assert (edges == 1).sum() == 6
