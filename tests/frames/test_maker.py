"""Frames of an episode: pure in the state, the same facts drawn or not, verified against their hash."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iwreplay.body import key_poses, standing
from iwreplay.errors import RenderError
from iwreplay.events import EpisodeConfig
from iwreplay.frames import pixels_sha256
from iwreplay.frames.maker import FrameMaker, visible_things
from iwreplay.render import RENDERER_NAME
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, shape, small_scene, thing

SCENE = kitchen()


def config(**more: object) -> EpisodeConfig:
    return EpisodeConfig(**{"frame_width": 160, "frame_height": 120, "max_turns": 1, "max_actions": 1, **more})  # type: ignore[arg-type]


def standing_state() -> WorldState:
    state = WorldState(SCENE)
    state.body = standing(2.2, 0.55, math.pi / 2)
    state.sim_time_s, state.turn, state.phase, state.step = 1.5, 2, "closed_loop", 750
    return state


def test_an_event_is_a_recipe_and_a_hash() -> None:
    state = standing_state()
    maker = FrameMaker(SCENE, config=config())
    event = maker.event(state, frame_id="f000003", cause="action", action=4)
    assert (event.frame_id, event.cause, event.action) == ("f000003", "action", 4)
    assert (event.sim_time_s, event.turn, event.phase, event.step) == (1.5, 2, "closed_loop", 750)
    assert (event.width, event.height, event.renderer) == (160, 120, RENDERER_NAME)
    assert event.camera == key_poses(state.body).camera
    assert event.focal_px == pytest.approx(60.0 / math.tan(math.radians(30.0)))
    assert event.pixels_sha256 == pixels_sha256(maker.pixels("f000003"))
    assert list(event.visible) == sorted(event.visible)
    assert {"counter_1", "card_1", "kettle_1"} <= set(event.visible)
    assert "wall_2" not in event.visible  # behind the wearer


def test_the_same_state_gives_the_same_event_whatever_came_before() -> None:
    maker = FrameMaker(SCENE, config=config())
    first = maker.event(standing_state(), frame_id="f0", cause="initial")
    other = standing_state()
    other.body = standing(1.0, 1.0, 0.0)
    other.attrs["mug_2"]["exists"] = False
    assert maker.event(other, frame_id="f0", cause="initial") != first
    assert maker.event(standing_state(), frame_id="f0", cause="initial") == first


@pytest.mark.parametrize("size", [(160, 120), (320, 240), (101, 75)])
def test_undrawn_frames_say_the_same_about_what_is_visible(size: tuple[int, int]) -> None:
    state = standing_state()
    drawn = FrameMaker(SCENE, config=config(frame_width=size[0], frame_height=size[1]))
    undrawn = FrameMaker(SCENE, config=config(frame_width=size[0], frame_height=size[1], draw_frames=False))
    a = drawn.event(state, frame_id="f0", cause="initial")
    b = undrawn.event(state, frame_id="f0", cause="initial")
    assert b.pixels_sha256 is None
    assert a.visible == b.visible
    assert undrawn.verify(b, state)
    assert undrawn.verify(a, state)
    with pytest.raises(RenderError, match="f0"):
        undrawn.pixels("f0")


def test_verify_notices_another_state_and_another_renderer() -> None:
    maker = FrameMaker(SCENE, config=config())
    state = standing_state()
    event = maker.event(state, frame_id="f0", cause="initial")
    assert maker.verify(event, state)
    state.poses["orange_1"] = (1.9, 1.36, 0.753, 1.0, 0.0, 0.0, 0.0)
    assert not maker.verify(event, state)
    older = type(event)(**{**{f: getattr(event, f) for f in event.__struct_fields__}, "renderer": "iwreplay-raster/0"})
    with pytest.raises(RenderError, match="iwreplay-raster/0"):
        maker.verify(older, standing_state())


def test_pixels_are_of_the_last_frame_only() -> None:
    maker = FrameMaker(SCENE, config=config())
    maker.event(standing_state(), frame_id="f0", cause="initial")
    maker.event(standing_state(), frame_id="f1", cause="idle")
    assert maker.pixels("f1").shape == (120, 160, 3)
    with pytest.raises(RenderError, match=r"'f0'.*f1"):
        maker.pixels("f0")


def test_counts_and_the_threshold_scale_with_the_frame() -> None:
    scene = small_scene(thing("a_1", shape("sphere", 0.1, m="red")), thing("b_1", shape("sphere", 0.1, m="red")))
    lattice = np.full((120, 160), -1, np.int32)
    lattice[0, :2], lattice[1, :3] = 0, 1
    assert visible_things(lattice, scene, width=320, height=240, visible_px=40) == {"b_1": 12}
    assert visible_things(lattice, scene, width=320, height=240, visible_px=12) == {"a_1": 8, "b_1": 12}
    lattice[2:] = -2
    assert visible_things(lattice, scene, width=320, height=240, visible_px=1) == {"a_1": 8, "b_1": 12}


def test_things_off_stage_are_not_visible() -> None:
    maker = FrameMaker(SCENE, config=config(draw_frames=False))
    state = standing_state()
    assert "kettle_1" in maker.event(state, frame_id="f0", cause="initial").visible
    state.attrs["kettle_1"]["exists"] = False
    assert "kettle_1" not in maker.event(state, frame_id="f0", cause="initial").visible
