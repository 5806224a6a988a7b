"""Legibility: cap heights by hand, and what hides a face."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iwreplay.frames import READABLE_CAP_PX, cap_height_px, view_face
from iwreplay.frames.legibility import FaceView, on_its_head, share_in_view
from iwreplay.pose import Pose, compose, from_xyz_yaw, quat_about
from iwreplay.render import Renderer, focal_from_fovy
from iwreplay.scene.model import Thing
from iwreplay.world.state import WorldState
from tests.render.kitchen import card, look, shape, small_scene, thing

FOCAL = focal_from_fovy(60.0, height=480)
UPRIGHT = (0.0, 0.0, 0.0, *quat_about((1.0, 0.0, 0.0), math.pi / 2))


def test_straight_ahead_it_is_focal_times_height_over_distance() -> None:
    camera = look((0.0, -0.7, 0.0), (0.0, 0.0, 0.0))
    assert cap_height_px(camera, focal_px=FOCAL, at=UPRIGHT, cap_height_m=0.008) == pytest.approx(FOCAL * 0.008 / 0.7)
    # the sizes that rendering was designed for
    assert cap_height_px(camera, focal_px=FOCAL, at=UPRIGHT, cap_height_m=0.008) >= READABLE_CAP_PX
    assert cap_height_px(camera, focal_px=FOCAL, at=UPRIGHT, cap_height_m=0.006) < READABLE_CAP_PX


@pytest.mark.parametrize("yaw", [-0.9, 0.5, 1.2])
def test_a_turned_face_counts_as_shortened(yaw: float) -> None:
    camera = look((0.0, -0.7, 0.0), (0.0, 0.0, 0.0))
    turned = compose(from_xyz_yaw(0, 0, 0, yaw), UPRIGHT)
    straight = cap_height_px(camera, focal_px=FOCAL, at=UPRIGHT, cap_height_m=0.01)
    assert cap_height_px(camera, focal_px=FOCAL, at=turned, cap_height_m=0.01) == pytest.approx(
        straight * math.cos(yaw)
    )


def test_from_behind_or_behind_the_camera_it_is_nothing() -> None:
    for camera in (look((0.0, 0.7, 0.0), (0.0, 0.0, 0.0)), look((0.0, -0.7, 0.0), (0.0, -2.0, 0.0))):
        assert cap_height_px(camera, focal_px=FOCAL, at=UPRIGHT, cap_height_m=0.01) == 0.0


@pytest.mark.parametrize(("turned_deg", "told"), [(0, False), (60, False), (90, False), (105, False), (115, True),
                                                  (180, True), (-90, False), (-150, True)])  # fmt: skip
def test_letters_stand_on_their_heads_beyond_a_quarter_turn(turned_deg: float, told: bool) -> None:
    camera = look((0.0, -0.7, 0.0), (0.0, 0.0, 0.0))
    turned = compose(UPRIGHT, (0.0, 0.0, 0.0, *quat_about((0.0, 0.0, 1.0), math.radians(turned_deg))))
    assert on_its_head(camera, turned) is told


def test_a_sheet_on_a_table_is_upright_from_one_side_only() -> None:
    sheet = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    assert not on_its_head(look((0.1, -0.5, 0.5), (0.0, 0.0, 0.0)), sheet)
    assert on_its_head(look((0.1, 0.5, 0.5), (0.0, 0.0, 0.0)), sheet)
    assert not on_its_head(look((0.0, 2.0, 0.5), (0.0, 3.0, 0.5)), sheet)


def seen(*others: Thing, camera: Pose) -> FaceView:
    page = card("card_1", "HELLO", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    scene = small_scene(page, *others)
    frame = Renderer(scene, threads=1).draw(WorldState(scene), camera=camera, focal_px=FOCAL, width=640, height=480)
    face = page.links[0].faces[0]
    return view_face(
        camera, focal_px=FOCAL, face=compose(page.pose, face.pose), size_m=face.size, cap_height_m=face.cap_height_m,
        ids=frame.ids, depth=frame.depth, thing_index=0,
    )  # fmt: skip


def test_a_face_in_view_is_readable() -> None:
    view = seen(camera=look((0.0, -0.6, 0.04), (0.0, 0.0, 0.04)))
    assert view.shown == 1.0
    assert view.readable


def test_a_face_half_hidden_or_half_outside_is_not() -> None:
    camera = look((0.0, -0.6, 0.04), (0.0, 0.0, 0.04))
    hidden = seen(thing("board_1", shape("box", 0.06, 0.01, 0.2, at=(-0.06, -0.1, 0), m="oak")), camera=camera)
    assert 0.2 < hidden.shown < 0.8
    assert not hidden.readable
    outside = seen(camera=look((0.46, -0.6, 0.04), (0.46, 0.0, 0.04)))
    assert 0.2 < outside.shown < 0.8


def test_too_far_is_shown_but_not_readable() -> None:
    view = seen(camera=look((0.0, -1.5, 0.04), (0.0, 0.0, 0.04)))
    assert view.shown == 1.0
    assert not view.readable


def test_the_back_of_a_card_shows_no_face() -> None:
    view = seen(camera=look((0.0, 0.6, 0.04), (0.0, 0.0, 0.04)))
    assert (view.cap_px, view.shown) == (0.0, 0.0)


#: points along a line of text, 20 cm wide
LINE = np.array([[x, y] for x in np.linspace(-0.1, 0.1, 41) for y in (-0.01, 0.0, 0.01)])


def _share(camera: Pose, *, ids: np.ndarray | None = None, depth: float = 9.0, bend_m: float = 0.0) -> float:
    return share_in_view(
        LINE, camera, focal_px=FOCAL, face=UPRIGHT, bend_m=bend_m,
        ids=np.zeros((480, 640), np.int32) if ids is None else ids,
        depth=np.full((480, 640), depth, np.float32), thing_index=0,
    )  # fmt: skip


def test_the_share_of_points_in_view() -> None:
    """Those in the frame, before the camera, in pixels of the thing, with nothing before them count."""
    ahead = look((0.0, -0.7, 0.0), (0.0, 0.0, 0.0))
    assert _share(ahead) == 1.0
    another = np.zeros((480, 640), np.int32)
    another[:, 320:] = 1
    assert _share(ahead, ids=another) == pytest.approx(20 / 41)
    assert _share(ahead, depth=0.695) == 1.0
    assert _share(ahead, depth=0.6) == 0.0
    # the right half lies beyond the edge of the frame, whose own column shows the face
    edge = 320 / FOCAL * 0.7
    assert _share(look((-edge, -0.7, 0.0), (-edge, 0.0, 0.0))) == pytest.approx(0.5, abs=0.02)
    assert _share(look((0.0, -0.7, 0.0), (0.0, -2.0, 0.0))) == 0.0
    assert _share(look((0.0, 0.7, 0.0), (0.0, 0.0, 0.0))) == 0.0, "from behind"


def test_a_bent_label_shows_what_is_turned_to_the_camera() -> None:
    """20 cm around a radius of 10 cm are a radian to either side, around 5 cm two; the horizon of a cylinder is
    acos(r / (r + d)) away."""
    assert _share(look((0.0, -0.7, 0.0), (0.0, 0.0, 0.0)), bend_m=0.1) == 1.0
    narrow = _share(look((0.0, -0.3, 0.0), (0.0, 0.0, 0.0)), bend_m=0.05)
    assert narrow == pytest.approx(math.acos(0.05 / 0.35) / 2.0, abs=0.03)
    # half of it goes around the side that is looked at from the right
    aside = _share(look((0.9, 0.1, 0.0), (0.0, 0.1, 0.0)), bend_m=0.1)
    assert aside == pytest.approx((1.0 - (math.pi / 2 - math.acos(0.1 / 0.9))) / 2, abs=0.03)
