"""Shadows: under things, not on what is lit, within a room, the same after any history."""

from __future__ import annotations

import numpy as np

from iwreplay.body import BodySkin, bone_poses, own_skin
from iwreplay.render import BODY_ID, Frame, Renderer, focal_from_fovy
from iwreplay.scene.model import CompiledScene, Room
from iwreplay.world.state import WorldState
from tests.render.kitchen import look, shape, small_scene, thing

W, H = 160, 120
FOCAL = focal_from_fovy(60.0, height=H)
DOWN = look((0.0, -2.0, 2.0), (0.0, 0.0, 0.0))
FLOOR = thing("floor_1", shape("box", 4.0, 4.0, 0.05, at=(0, 0, -0.05), m="white"))


def floor_light(
    scene: CompiledScene, x: float, y: float, *, state: WorldState | None = None, renderer: Renderer | None = None
) -> float:
    """Brightness of the floor at a point, looked at from the side."""
    camera = look((x, y - 1.5, 0.5), (x, y, 0.0))
    frame = (renderer or Renderer(scene, threads=1)).draw(
        state or WorldState(scene), camera=camera, focal_px=FOCAL, width=W, height=H
    )
    assert frame.ids[H // 2, W // 2] == 0
    return float(frame.rgb[H // 2 - 1 : H // 2 + 1, W // 2 - 1 : W // 2 + 1].mean())


def test_it_is_dark_under_a_table_and_bright_beside_it() -> None:
    board = thing("board_1", shape("box", 0.5, 0.5, 0.02, at=(0, 0, 1.0), m="oak"))
    scene = small_scene(FLOOR, board, lit=True)
    open_floor = small_scene(FLOOR, lit=True)
    assert floor_light(scene, 0.0, 0.0) < floor_light(open_floor, 0.0, 0.0) - 25
    assert abs(floor_light(scene, 1.5, 0.0) - floor_light(open_floor, 1.5, 0.0)) < 1.0


def test_lit_surfaces_do_not_shadow_themselves() -> None:
    """A bare floor has no dark pixels among bright ones."""
    scene = small_scene(FLOOR, thing("slope_1", shape("sphere", 0.5, m="white")), lit=True)
    frame = Renderer(scene, threads=1).draw(WorldState(scene), camera=DOWN, focal_px=FOCAL, width=W, height=H)
    for tid in (0, 1):
        inner = np.zeros((H, W), bool)
        same = frame.ids == tid
        inner[1:-1, 1:-1] = same[1:-1, 1:-1] & same[:-2, 1:-1] & same[2:, 1:-1] & same[1:-1, :-2] & same[1:-1, 2:]
        level = frame.rgb.astype(int).sum(axis=2)
        jump = np.abs(np.diff(level, axis=1))[:, :-1]
        both = inner[:, 1:-1] & inner[:, 2:]
        # light changes gradually; acne would be specks of a third of the brightness
        assert np.percentile(jump[both[:, :]], 99) < 60


def test_glass_casts_no_shadow() -> None:
    pane = thing("pane_1", shape("box", 0.5, 0.5, 0.02, at=(0, 0, 1.0), m="glass"))
    assert (
        floor_light(small_scene(FLOOR, pane, lit=True), 0.0, 0.0)
        > floor_light(small_scene(FLOOR, lit=True), 0.0, 0.0) - 1.0
    )


def test_light_stays_in_its_room() -> None:
    here = Room(id="here", nouns=("room",), rect=(-2.0, -2.0, 2.0, 2.0))
    far = small_scene(FLOOR, lit=True, rooms=(here,))
    everywhere = small_scene(FLOOR, lit=True)
    assert abs(floor_light(far, 1.5, 0.0) - floor_light(everywhere, 1.5, 0.0)) < 1.0
    # 0.8 m outside the room nothing is left of it
    assert floor_light(far, 2.9, 0.0) == floor_light(small_scene(FLOOR), 2.9, 0.0)
    assert floor_light(everywhere, 2.9, 0.0) > floor_light(far, 2.9, 0.0) + 5


def test_shadows_move_with_things_and_leave_nothing_behind() -> None:
    board = thing("board_1", shape("box", 0.3, 0.3, 0.02, m="oak"), pose=(0, 0, 1.0, 1, 0, 0, 0))
    scene = small_scene(FLOOR, board, lit=True)
    state = WorldState(scene)
    renderer = Renderer(scene, threads=1)
    dark = floor_light(scene, 0.0, 0.0, state=state, renderer=renderer)
    state.poses["board_1"] = (1.5, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    bright = floor_light(scene, 0.0, 0.0, state=state, renderer=renderer)
    assert bright > dark + 25
    assert bright == floor_light(scene, 0.0, 0.0, state=state)
    state.poses["board_1"] = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    assert floor_light(scene, 0.0, 0.0, state=state, renderer=renderer) == dark
    # a survey in between notes the change as well
    state.attrs["board_1"]["exists"] = False
    renderer.survey(state, camera=DOWN, focal_px=FOCAL, width=W, height=H)
    assert floor_light(scene, 0.0, 0.0, state=state, renderer=renderer) > dark + 25


def _on_the_floor(skin: BodySkin, *, standing: bool = True, near: bool = False) -> Frame:
    """The wearer on the floor a step beside the lamp, and its shadow; or the wearer alone, from near."""
    scene = small_scene(FLOOR, lit=True)
    state = WorldState(scene)
    (_x, _y, z, *rest), light = state.body, scene.lights[0].pos
    body = bone_poses((light[0] + 0.8, light[1], z, *rest)) if standing else ()
    camera = look((light[0] + 1.2, light[1] - 2.5, 2.2), (light[0] + 1.2, light[1], 0.0))
    if near:
        camera = look((light[0] + 0.2, light[1] - 1.4, 1.6), (light[0] + 0.8, light[1], 1.2))
    return Renderer(scene, body=skin, threads=1).draw(
        state, camera=camera, focal_px=FOCAL, width=W, height=H, body=body
    )


def test_the_wearer_casts_a_shadow_with_its_head_whoever_looks() -> None:
    alone, whole = _on_the_floor(own_skin(), standing=False), _on_the_floor(own_skin())
    others, own = whole, _on_the_floor(own_skin().without_head())
    floor = (others.ids == 0) & (own.ids == 0)
    shaded = floor & (alone.rgb.astype(int).sum(axis=2) - others.rgb.astype(int).sum(axis=2) > 60)
    assert shaded.sum() > 150
    # the eyes that look out of the head do not see it, but its shadow
    assert (others.ids == BODY_ID).sum() > (own.ids == BODY_ID).sum()
    assert (others.rgb[floor] == own.rgb[floor]).all()


def test_the_wearer_does_not_speckle_itself() -> None:
    """Light on clothes and skin changes gradually along a row, but for the edges of shadows and of colours."""
    frame = _on_the_floor(own_skin(), near=True)
    level = frame.rgb.astype(int).sum(axis=2)
    body = frame.ids == BODY_ID
    # a speck is darker or brighter than both its neighbours
    inner = body[:, 1:-1] & body[:, 2:] & body[:, :-2]
    left, right = level[:, 1:-1] - level[:, :-2], level[:, 1:-1] - level[:, 2:]
    specks = inner & (np.sign(left) == np.sign(right)) & (np.minimum(np.abs(left), np.abs(right)) > 45)
    assert inner.sum() > 1000
    assert specks.sum() < 0.01 * inner.sum()
