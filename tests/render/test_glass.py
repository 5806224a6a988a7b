"""Glass: mixed with what is behind it, pixel by pixel; for ids and depth it takes its share of the samples."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from iwreplay.render import Frame, Renderer, focal_from_fovy
from iwreplay.scene.model import CompiledScene, Material, Thing
from iwreplay.world.state import WorldState
from tests.render.kitchen import look, shape, small_scene, thing

W, H = 160, 120
FOCAL = focal_from_fovy(60.0, height=H)
AHEAD = look((0.0, -2.0, 0.0), (0.0, 0.0, 0.0))
MIDDLE = (slice(H // 2 - 15, H // 2 + 15), slice(W // 2 - 15, W // 2 + 15))


def pane(tid: str, *, y: float = 0.0, m: str = "pane", half: float = 0.603) -> Thing:
    return thing(tid, shape("box", half, 0.005, half, at=(0, y, 0), m=m))


def wall(m: str = "matt_red", *, y: float = 1.0) -> Thing:
    return thing("wall_1", shape("box", 9.0, 0.1, 9.0, at=(0, y, 0), m=m))


def scene_of(*things: Thing, alpha: float = 0.25) -> CompiledScene:
    more = (
        Material(name="pane", rgb=(120, 160, 200), alpha=alpha, texture="glass"),
        Material(name="pane_blue", rgb=(20, 40, 220), alpha=0.5, texture="glass"),
        Material(name="solid_pane", rgb=(120, 160, 200), texture="glass"),
        Material(name="matt_red", rgb=(200, 40, 30), texture="rubber"),
    )
    scene = small_scene(*things)
    return msgspec.structs.replace(scene, materials=(*scene.materials, *more))


def shot(scene: CompiledScene, *, threads: int = 1) -> Frame:
    return Renderer(scene, threads=threads).draw(WorldState(scene), camera=AHEAD, focal_px=FOCAL, width=W, height=H)


def linear(frame: Frame) -> np.ndarray:
    """Light of the middle, before the shoulder that bright colours are pressed with."""
    light = (frame.rgb[MIDDLE].astype(float) / 255.0) ** 2
    over = np.maximum(0.0, light - 0.62) / 0.38
    return np.where(light > 0.62, 0.62 + 0.38 * over / (1.0 - over), light)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75])
def test_a_pane_is_mixed_by_its_opacity(alpha: float) -> None:
    bare = linear(shot(scene_of(wall())))
    mixed = linear(shot(scene_of(wall(), pane("pane_1"), alpha=alpha)))
    solid = linear(shot(scene_of(wall(), pane("pane_1", m="solid_pane"))))
    # what it mirrors is not thinned out: the rest of it is
    colour = (np.array([120, 160, 200]) / 255.0) ** 2 * np.array([0.40, 0.40, 0.405])
    shine = (solid - colour).mean(axis=(0, 1))
    expected = (1.0 - alpha) * bare + alpha * colour + shine
    assert np.abs(mixed - expected).max() < 0.012


def test_these_pixels_exactly() -> None:
    frame = shot(scene_of(wall(), pane("pane_1"), pane("pane_2", y=0.4, m="pane_blue", half=0.35)))
    found = {
        "wall": frame.rgb[H // 2, 4],
        "one pane": frame.rgb[H // 2, W // 2 - 28],
        "two panes": frame.rgb[H // 2, W // 2],
        "edge of a pane": frame.rgb[H // 2, 48],
    }
    assert {k: tuple(int(c) for c in v) for k, v in found.items()} == PINNED


PINNED = {
    "wall": (127, 28, 22),
    "one pane": (127, 76, 84),
    "two panes": (110, 88, 127),
    "edge of a pane": (127, 57, 62),
}


def test_there_is_no_pattern_in_it() -> None:
    """The screen of samples that ids go by does not show in the colours."""
    frame = shot(scene_of(wall(), pane("pane_1")))
    area = frame.rgb[MIDDLE].astype(int)
    assert np.abs(np.diff(area, axis=0)).max() <= 1
    assert np.abs(np.diff(area, axis=1)).max() <= 1
    assert {0, 1} == set(np.unique(frame.lattice[H // 4 - 4 : H // 4 + 4, W // 4 - 4 : W // 4 + 4]).tolist())


def test_the_order_of_panes_does_not_matter() -> None:
    things = (
        wall(),
        pane("pane_1"),
        pane("pane_2", y=0.3, m="pane_blue"),
        thing("ball_1", shape("sphere", 0.2, m="red")),
    )
    a, b = shot(scene_of(*things)), shot(scene_of(*reversed(things)), threads=2)
    assert (a.rgb == b.rgb).all()
    assert (a.depth == b.depth).all()
    near, far = shot(scene_of(wall(), pane("pane_1", m="pane_blue"), pane("pane_2", y=0.3))), a
    assert (near.rgb[MIDDLE] != far.rgb[MIDDLE]).any()


def test_the_nearest_two_panes_are_mixed_and_no_more() -> None:
    three = [pane("pane_1"), pane("pane_2", y=0.2), pane("pane_3", y=0.4, m="pane_blue")]
    assert (shot(scene_of(wall(), *three)).rgb == shot(scene_of(wall(), *three[:2])).rgb)[MIDDLE].all()
    assert (shot(scene_of(wall(), *three[:2])).rgb != shot(scene_of(wall(), *three[:1])).rgb)[MIDDLE].any()


def test_ids_and_depth_are_of_the_surface_that_has_the_samples() -> None:
    for alpha, share in ((0.25, 0.25), (0.5, 0.5), (0.75, 0.75)):
        frame = shot(scene_of(wall(), pane("pane_1"), alpha=alpha))
        lattice = frame.lattice[H // 4 - 8 : H // 4 + 8, W // 4 - 8 : W // 4 + 8]
        assert (lattice == 1).mean() == pytest.approx(share, abs=0.05)
        area, depth = frame.ids[MIDDLE], frame.depth[MIDDLE]
        assert np.allclose(depth[area == 1], 1.995, atol=1e-5)
        assert np.allclose(depth[area == 0], 2.9, atol=1e-5)
        # the first of equals takes the pixel: from half on that may be either
        assert (area == 1).mean() == {0.25: 0.0, 0.75: 1.0}.get(alpha, (area == 1).mean())


def test_glass_behind_something_solid_is_not_there() -> None:
    block = thing("block_1", shape("box", 0.3, 0.1, 0.3, at=(0, -0.5, 0), m="green"))
    assert (shot(scene_of(wall(), block, pane("pane_1"))).rgb == shot(scene_of(wall(), block)).rgb)[
        H // 2 - 8 : H // 2 + 8, W // 2 - 8 : W // 2 + 8
    ].all()


def test_a_pane_before_the_open_sky() -> None:
    frame = shot(scene_of(pane("pane_1")))
    bare = shot(scene_of())
    assert (frame.rgb[0, 0] == bare.rgb[0, 0]).all()
    assert (frame.rgb[H // 2, W // 2].astype(int) < bare.rgb[H // 2, W // 2].astype(int)).all()
    assert set(np.unique(frame.ids)) <= {-1, 0}
