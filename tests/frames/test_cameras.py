"""Cameras beside and above the wearer: what they see, and that nothing stands in their way."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest

from iwreplay.body import fk, standing
from iwreplay.body.skeleton import joint
from iwreplay.errors import RenderError
from iwreplay.events import EpisodeConfig, EpisodeOpened, FrameCaptured
from iwreplay.frames.cameras import Beside, from_above, look_at, rooms_open, third_person
from iwreplay.frames.maker import FrameMaker
from iwreplay.frames.obstacles import Obstacles
from iwreplay.log import read_log
from iwreplay.pose import Vec3, rotate
from iwreplay.render import BODY_ID
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.world.state import WorldState, fold
from tests.render.kitchen import kitchen, look, shape, small_scene, thing

CONFIG = EpisodeConfig(frame_width=160, frame_height=120, max_turns=1, max_actions=1)
SCENE = kitchen()


@pytest.mark.parametrize("target", [(3.0, 0.0, 1.0), (-1.0, -2.0, 0.3), (0.0, -5.0, 4.0)])
def test_it_looks_where_it_is_told_upright(target: Vec3) -> None:
    eye = (0.2, 0.1, 1.5)
    pose = look_at(eye, target)
    assert pose == pytest.approx(look(eye, target), abs=1e-9) or pose == pytest.approx(
        tuple((1 if i < 3 else -1) * v for i, v in enumerate(look(eye, target))), abs=1e-9
    )


def test_straight_down_the_right_is_east() -> None:
    pose = look_at((1.0, 1.0, 3.0), (1.0, 1.0, 0.0))
    assert rotate(pose[3:], (1.0, 0.0, 0.0)) == pytest.approx((1.0, 0.0, 0.0))
    assert rotate(pose[3:], (0.0, 0.0, -1.0)) == pytest.approx((0.0, 0.0, -1.0))


@pytest.mark.parametrize("target", [(1.0, 1.0, 1.0), (math.nan, 0.0, 0.0), (math.inf, 0.0, 0.0)])
def test_no_direction_is_no_camera(target: Vec3) -> None:
    with pytest.raises(RenderError, match="no direction"):
        look_at((1.0, 1.0, 1.0), target)


def test_rays_stop_at_what_they_meet() -> None:
    box = thing("block_1", shape("box", 0.5, 0.5, 0.5, at=(3.0, 0, 0), m="oak"), fixed=True)
    loose = thing("ball_1", shape("sphere", 0.2, at=(1.0, 0, 0), m="red"))
    state = WorldState(small_scene(box, loose))
    rays = Obstacles(state.scene)
    assert rays.free_m(state, origin=(0.0, 0.0, 0.0), toward=(5.0, 0.0, 0.0), most_m=9.0) == pytest.approx(2.5)
    assert rays.free_m(state, origin=(0.0, 0.0, 0.0), toward=(1.0, 0.0, 0.0), most_m=2.0) == 2.0
    assert rays.free_m(state, origin=(0.0, 0.0, 0.0), toward=(-1.0, 0.0, 0.0), most_m=9.0) == 9.0
    assert rays.free_m(state, origin=(3.0, 0.0, 0.0), toward=(-1.0, 0.0, 0.0), most_m=9.0) == 9.0, "from inside"
    assert rays.holding(state, (2.6, 0.4, 0.4)) == "block_1"
    assert rays.holding(state, (1.15, 0.0, 0.0)) == "ball_1"
    assert rays.holding(state, (1.15, 0.15, 0.0)) == "", "a ball has no corners"
    state.poses["block_1"] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    assert rays.free_m(state, origin=(0.0, 0.0, 0.0), toward=(1.0, 0.0, 0.0), most_m=9.0) == pytest.approx(3.5)
    state.attrs["block_1"]["exists"] = False
    assert rays.free_m(state, origin=(0.0, 0.0, 0.0), toward=(1.0, 0.0, 0.0), most_m=9.0) == 9.0


@pytest.mark.parametrize(("x", "y", "yaw"), [(2.2, 0.5, 1.57), (0.5, 0.4, 3.0), (3.5, 0.5, -1.5), (2.0, 1.0, 0.0)])
def test_the_whole_wearer_is_seen_from_outside(x: float, y: float, yaw: float) -> None:
    """Also in a corner: the body from head to foot is in the picture, and the camera is in the room."""
    state = WorldState(SCENE)
    state.body = standing(x, y, yaw)
    maker = FrameMaker(SCENE, config=CONFIG, whole_body=True)
    obstacles = Obstacles(SCENE)
    camera = third_person(state, state.body, obstacles=obstacles, height=120)
    assert obstacles.holding(state, camera.pose[:3]) == ""
    assert 0.0 < camera.pose[0] < 4.0
    assert 0.0 < camera.pose[1] < 3.0
    frame = maker.draw(state, camera=camera.pose, focal_px=camera.focal_px, width=160, height=120)
    rows, columns = np.nonzero(frame.ids == BODY_ID)
    assert len(rows) > 300
    assert 0 < rows.min() < rows.max() < 119
    assert 0 < columns.min() < columns.max() < 159
    assert third_person(state, state.body, obstacles=Obstacles(SCENE), height=120) == camera


SPINE = joint("spine3")
ROOT = Path(__file__).parents[2]


def test_the_camera_beside_keeps_its_side_when_the_wearer_turns_around_and_walks_on() -> None:
    state = WorldState(SCENE)
    beside = Beside(Obstacles(SCENE))
    eyes = []
    for k in range(24):
        state.body = standing(1.8 + 0.02 * k, 1.0, 0.28 * k)
        beside.follow(state, state.body)
        eyes.append(beside.camera(state.body, height=120).pose[:3])
    assert max(math.dist(a, b) for a, b in pairwise(eyes)) < 0.35
    assert math.dist(eyes[0][:2], (1.8, 1.0)) > 0.5


def test_the_camera_beside_stays_in_the_room_wherever_the_wearer_goes() -> None:
    state = WorldState(SCENE)
    obstacles = Obstacles(SCENE)
    beside = Beside(obstacles)
    for y in (1.0, 0.8, 0.6, 0.4, 1.0, 1.6, 2.2, 2.6):
        for x in (2.0, 1.2, 0.5, 2.8, 3.4):
            state.body = standing(x, y, 0.0)
            beside.follow(state, state.body)
            eye = beside.camera(state.body, height=120).pose[:3]
            assert 0.0 < eye[0] < 4.0
            assert 0.0 < eye[1] < 3.0
            assert obstacles.holding(state, eye) == ""


def test_along_episodes_the_camera_beside_moves_with_the_wearer() -> None:
    """Within a room it goes no farther than the wearer and a step back, but where something came in between: at most
    once in twenty-five frames. The camera that follows from each frame alone jumps more often than that."""
    jumps, alone, frames = 0, 0, 0
    for sample in ("V06-oracle", "G05-oracle"):
        last: tuple[Vec3, Vec3, Vec3, str] | None = None
        with read_log(ROOT / "episodes" / "samples" / f"{sample}.arrows") as log:
            opened = log.at_seq(0)
            assert isinstance(opened, EpisodeOpened)
            scene, obstacles = opened.scene, Obstacles(opened.scene)
            beside = Beside(obstacles)
            for _, event, state in fold(log):
                if not isinstance(event, FrameCaptured):
                    continue
                beside.follow(state, state.body)
                at = fk(state.body)[SPINE][:3]
                here = next((r.id for r in scene.rooms if _is_in(at, r.rect)), "")
                with_it = beside.camera(state.body, height=120).pose[:3]
                by_itself = third_person(state, state.body, obstacles=obstacles, height=120).pose[:3]
                if last is not None and last[3] == here:
                    frames += 1
                    walked = math.dist(at, last[2])
                    jumps += math.dist(with_it, last[0]) > walked + 0.3
                    alone += math.dist(by_itself, last[1]) > walked + 0.3
                last = (with_it, by_itself, at, here)
    assert frames > 80
    assert jumps <= frames // 25
    assert alone > 2 * jumps + 3


def _is_in(at: Vec3, rect: tuple[float, float, float, float]) -> bool:
    return rect[0] <= at[0] <= rect[2] and rect[1] <= at[1] <= rect[3]


def test_only_others_see_the_head() -> None:
    state = WorldState(SCENE)
    state.body = standing(2.2, 0.6, 1.57)
    before = look((2.2, 1.6, 1.6), (2.2, 0.6, 1.5))
    seen = [
        FrameMaker(SCENE, config=CONFIG, whole_body=whole).draw(
            state, camera=before, focal_px=200.0, width=160, height=120
        )
        for whole in (False, True)
    ]
    own, others = ((f.ids == BODY_ID).sum() for f in seen)
    assert others > own + 500


def test_from_above_every_room_is_in_the_picture_and_open() -> None:
    scene = compile_scene(load_scene("family_kitchen"))
    state = WorldState(scene)
    camera = from_above(scene, width=160, height=120)
    maker = FrameMaker(scene, config=CONFIG, whole_body=True)
    shown = rooms_open(scene, state)
    frame = maker.draw(shown, camera=camera.pose, focal_px=camera.focal_px, width=160, height=120)
    found = {scene.things[i].id for i in np.unique(frame.ids) if i >= 0}
    assert "floor" in found
    assert "ceiling" not in found
    assert {"walls_kitchen", "walls_dining_room"} <= found
    assert state.attrs["ceiling"]["exists"] is True, "the state itself is untouched"


def test_from_above_a_large_building_is_followed_and_never_left() -> None:
    small = kitchen()
    hall = msgspec.structs.replace(small, rooms=(msgspec.structs.replace(small.rooms[0], rect=(0.0, 0.0, 40.0, 6.0)),))
    middle = from_above(hall, width=160, height=120, around=(20.0, 3.0))
    assert middle.pose[:2] == (20.0, 3.0)
    end = from_above(hall, width=160, height=120, around=(39.9, 3.0))
    assert end.pose[0] == pytest.approx(40.4 - 4.5)
    assert middle.focal_px == end.focal_px > from_above(hall, width=160, height=120).focal_px
