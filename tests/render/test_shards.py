"""What is broken lies in pieces: every brittle class, whichever way it lay."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taskpacks
from iwreplay.pose import Pose, quat_about
from iwreplay.render import Renderer
from iwreplay.render.shards import lying_at, shards_of
from iwreplay.scene.breaking import falls_to_pieces
from iwreplay.scene.lettering import face_shows
from iwreplay.scene.library import Library, Wanted, load_library
from iwreplay.scene.model import CompiledScene, Light, Thing
from iwreplay.world.state import WorldState
from tests.render.kitchen import look, shape, thing

#: their classes draw them broken in a way of their own
OWN_WAY = {"bulb", "egg"}


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(taskpacks.root() / "objects")


def _brittle(library: Library) -> list[Thing]:
    made = [library.make(Wanted(id="a", cls=c), where="test")[0] for c in sorted(library.classes)]
    return [t for t in made if t.fragile]


def test_every_brittle_class_falls_to_several_pieces_that_lie_on_the_ground(library: Library) -> None:
    brittle = _brittle(library)
    assert len(brittle) > 20
    for t in brittle:
        pieces = [mesh for _, mesh in shards_of(t)]
        if t.cls in OWN_WAY:
            assert not falls_to_pieces(t), t.cls
            assert pieces == []
            continue
        assert len(pieces) >= 5, t.cls
        for mesh in pieces:
            assert 0.0 < mesh.positions[:, 2].min() < 0.003, t.cls
            # a foot may keep much of the height of its vessel, a neck lies on its side
            assert mesh.positions[:, 2].max() < max(0.03, 1.7 * t.bounds_half[2], 1.9 * t.bounds_half[0]), t.cls
            assert np.abs(np.sqrt((mesh.normals**2).sum(axis=1)) - 1.0).max() < 1e-9, t.cls
        spread = max(float(np.abs(m.positions[:, :2]).max()) for m in pieces)
        assert spread > 1.2 * min(t.bounds_half[:2]), t.cls


def test_pieces_lie_below_the_thing_whichever_way_it_fell(library: Library) -> None:
    bottle = library.make(Wanted(id="a", cls="wine_bottle"), where="test")[0]
    upright: Pose = (1.0, 2.0, 0.5, 1.0, 0.0, 0.0, 0.0)
    assert lying_at(bottle, upright) == pytest.approx((1.0, 2.0, 0.5, 1.0, 0.0, 0.0, 0.0), abs=2e-3)
    # on its side its axis is its radius above the ground
    lying: Pose = (1.0, 2.0, bottle.bounds_half[0], *quat_about((1.0, 0.0, 0.0), -math.pi / 2))
    at = lying_at(bottle, lying)
    assert at[2] == pytest.approx(0.0, abs=3e-3)
    assert abs(at[1] - 2.0) > 0.08, "below its middle, not its foot"
    assert at[3:] == (1.0, 0.0, 0.0, 0.0)


def test_what_is_whole_is_drawn_whole_and_what_is_broken_in_pieces(library: Library) -> None:
    glass = library.make(Wanted(id="a", cls="glass"), where="test")[0]
    names = sorted({s.material for k in glass.links for s in k.shapes})
    scene = CompiledScene(
        id="stand", format=1, rooms=(), portals=(), things=(glass,), spawn=(0.0, 0.0, 0.0),
        materials=tuple(library.material(n, where="test") for n in names),
        lights=(Light(pos=(-1.0, -2.0, 2.0), intensity=1.0),),
    )  # fmt: skip
    renderer, state = Renderer(scene, threads=1), WorldState(scene)
    camera = look((0.2, -0.5, 0.3), (0.0, 0.0, 0.05))

    def picture() -> np.ndarray:
        return renderer.draw(state, camera=camera, focal_px=200.0, width=160, height=120).rgb.astype(np.int16)

    state.attrs["a"]["exists"] = False
    nothing = picture()
    state.attrs["a"]["exists"] = True

    def outline() -> tuple[int, int, int]:
        """Pixels of the glass, its highest row, and how wide it is."""
        rows, columns = np.nonzero(np.abs(picture() - nothing).max(axis=2) > 3)
        return len(rows), int(rows.min()), int(columns.max() - columns.min())

    whole = outline()
    state.attrs["a"]["broken"] = True
    broken = outline()
    assert broken[1] > whole[1] + 10, "it is lower"
    assert broken[2] > 1.6 * whole[2], "and wider"
    state.attrs["a"]["broken"] = False
    assert outline() == whole


def test_the_label_of_what_falls_to_pieces_is_lost(library: Library) -> None:
    bottle = library.make(Wanted(id="a", cls="vodka_bottle"), where="test")[0]
    front = bottle.links[0].faces[0]
    assert face_shows(bottle, front, {"broken": False})
    assert not face_shows(bottle, front, {"broken": True})


def test_what_does_not_break_when_it_falls_has_no_pieces() -> None:
    tin = thing("tin_1", shape("cylinder", 0.04, 0.1, m="steel"))
    assert not falls_to_pieces(tin)
    assert list(shards_of(tin)) == []
