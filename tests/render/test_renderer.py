"""Whole frames: pixels, depth and ids of known scenes; the same for any number of threads and any history."""

from __future__ import annotations

import hashlib
import math
import threading

import numpy as np
import pytest

from iwreplay.body import bone_poses, own_skin
from iwreplay.errors import RenderError, SceneError
from iwreplay.pose import Pose, quat_about
from iwreplay.render import BODY_ID, SKY_ID, Frame, Renderer, focal_from_fovy
from iwreplay.scene.model import CompiledScene, Thing
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen, look, shape, small_scene, thing

W, H = 160, 120
FOCAL = focal_from_fovy(60.0, height=H)
AHEAD = look((0.0, -2.0, 0.0), (0.0, 0.0, 0.0))


def shot(scene: CompiledScene, *, camera: Pose = AHEAD, state: WorldState | None = None, threads: int = 1) -> Frame:
    return Renderer(scene, threads=threads).draw(
        state or WorldState(scene), camera=camera, focal_px=FOCAL, width=W, height=H
    )


def digest(frame: Frame) -> str:
    h = hashlib.sha256()
    for a in (frame.rgb, frame.depth, frame.ids, frame.lattice):
        h.update(a.tobytes())
    return h.hexdigest()


def wall(tid: str = "wall_1", *, y: float = 1.0, m: str = "white", half: float = 9.0) -> Thing:
    return thing(tid, shape("box", half, 0.1, half, at=(0, y + 0.1, 0), m=m))


def test_pinned_frames() -> None:
    """These bytes are the same on every machine. A change needs a new number in RENDERER_NAME."""
    scene = kitchen()
    state = WorldState(scene)
    renderer = Renderer(scene, body=own_skin().without_head())
    found = []
    for eye, at in (
        ((2.2, 0.3, 1.55), (2.2, 1.6, 0.75)),
        ((0.5, 0.5, 1.6), (2.6, 2.4, 1.0)),
        ((2.2, 0.6, 1.2), (2.25, 1.4, 0.8)),
    ):
        frame = renderer.draw(
            state, camera=look(eye, at), focal_px=FOCAL, width=W, height=H, body=bone_poses(state.body)
        )
        found.append(digest(frame))
    assert found == PINNED


PINNED = [
    "6357dd4f0ced3d30e3fc4ef4fb57ce4b1a8bdf040eb3d70f6bc7059b8cae6f66",
    "9957394349fb463db46c750ac14239b5e4ac58df39078f338e56c08d172b860b",
    "1d1d7c8350350ea6a00250ae975710885271925dee0784b8d99011f8f13c8535",
]


def test_empty_scene_is_sky() -> None:
    frame = shot(small_scene())
    assert (frame.ids == SKY_ID).all()
    assert np.isinf(frame.depth).all()
    assert len(np.unique(frame.rgb.reshape(-1, 3), axis=0)) == 1


def test_depth_of_a_wall_is_its_distance_along_the_view() -> None:
    frame = shot(small_scene(wall(y=1.0)))
    assert (frame.ids == 0).all()
    assert np.allclose(frame.depth, 3.0, rtol=1e-6)


def test_depth_of_a_slanted_floor() -> None:
    scene = small_scene(thing("floor_1", shape("box", 50, 50, 0.1, at=(0, 0, -1.1), m="oak")))
    frame = shot(scene)
    rows = np.arange(H) + 0.5
    below = rows > H / 2 + 3
    expected = FOCAL * 1.0 / (rows - H / 2)
    assert np.allclose(frame.depth[below], expected[below, None], rtol=1e-4)


def test_depth_of_a_sphere() -> None:
    frame = shot(small_scene(thing("ball_1", shape("sphere", 0.5, m="red"))))
    x, y = np.meshgrid((np.arange(W) + 0.5 - W / 2) / FOCAL, (np.arange(H) + 0.5 - H / 2) / FOCAL)
    ray2 = x * x + y * y + 1.0
    root = 4.0 - ray2 * (4.0 - 0.25)
    well_inside = root > 0.05
    expected = (2.0 - np.sqrt(np.where(well_inside, root, 0.0))) / ray2
    assert well_inside.sum() > 500
    assert (frame.ids[well_inside] == 0).all()
    assert np.abs(frame.depth - expected)[well_inside].max() < 0.015
    assert (frame.ids[root < -0.2] == SKY_ID).all()


def test_ids_are_indices_into_the_scene() -> None:
    scene = small_scene(
        wall(),
        thing("ball_1", shape("sphere", 0.2, at=(-0.5, 0, 0), m="red")),
        thing("ball_2", shape("sphere", 0.2, at=(0.5, 0, 0), m="blue")),
    )
    frame = shot(scene)
    assert frame.ids[H // 2, W // 2] == 0
    assert frame.ids[H // 2, int(W / 2 - 0.5 / 2 * FOCAL)] == 1
    assert frame.ids[H // 2, int(W / 2 + 0.5 / 2 * FOCAL)] == 2
    assert sorted(np.unique(frame.ids)) == [0, 1, 2]


def test_any_number_of_threads_gives_the_same_bytes() -> None:
    scene = kitchen()
    camera = look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0))
    assert len({digest(shot(scene, camera=camera, threads=n)) for n in (1, 2, 3, 7)}) == 1


def test_the_order_of_things_does_not_matter() -> None:
    things = kitchen().things
    camera = look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0))
    base = kitchen()
    turned = CompiledScene(
        id="turned", format=1, rooms=base.rooms, portals=(), materials=base.materials[::-1], things=things[::-1],
        lights=base.lights, spawn=base.spawn,
    )  # fmt: skip
    a, b = shot(base, camera=camera), shot(turned, camera=camera)
    assert (a.depth == b.depth).all()
    # shapes of one colour that touch in one plane may swap ids, nothing else
    assert (a.rgb == b.rgb).all()
    assert (np.where(b.ids >= 0, len(things) - 1 - b.ids, b.ids) == a.ids).mean() > 0.9999


def test_a_survey_sees_what_the_frame_sees() -> None:
    scene = kitchen()
    state = WorldState(scene)
    renderer = Renderer(scene, threads=2)
    for width, height in ((160, 120), (161, 121), (33, 1)):
        camera = look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0))
        frame = renderer.draw(state, camera=camera, focal_px=100.0, width=width, height=height)
        lattice = renderer.survey(state, camera=camera, focal_px=100.0, width=width, height=height)
        assert lattice.shape == (-(-height // 2), -(-width // 2))
        assert (lattice == frame.lattice).all()


def test_history_leaves_no_trace() -> None:
    scene = kitchen()
    camera = look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0))
    state = WorldState(scene)
    renderer = Renderer(scene, threads=1)

    def now() -> str:
        return digest(renderer.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H))

    before = now()
    state.joints["cabinet_2.door"] = -1.7
    state.poses["mug_1"] = (2.2, 1.0, 1.4, *quat_about((1.0, 1.0, 0.0), 0.7))
    state.attrs["glass_2"]["exists"] = False
    state.attrs["card_1"]["text:front"] = "Something else"
    state.attrs["steak_1"].update(cooked="burnt")
    changed = now()
    assert changed != before
    assert changed == digest(shot(scene, camera=camera, state=state))
    for name in ("joints", "poses", "attrs"):
        setattr(state, name, getattr(WorldState(scene), name))
    assert now() == before


def test_the_first_frame_survives_too_little_room() -> None:
    scene = kitchen()
    camera = look((0.5, 0.5, 1.6), (2.6, 2.4, 1.0))
    renderer = Renderer(scene, threads=1)
    for projection in (renderer._projection, renderer._shadows._projection):
        projection._make_room(3)
        projection.order = np.zeros(1, np.int32)
    state = WorldState(scene)
    assert digest(renderer.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H)) == digest(
        shot(scene, camera=camera)
    )


def test_several_threads_may_call_one_renderer() -> None:
    scene = kitchen()
    state = WorldState(scene)
    renderer = Renderer(scene, threads=2)
    cameras = [look((0.5, 0.5, 1.6), (2.6, 2.4, 0.6 + 0.1 * i)) for i in range(6)]
    expected = [digest(shot(scene, camera=c)) for c in cameras]
    found = [""] * 6

    def draw(i: int) -> None:
        found[i] = digest(renderer.draw(state, camera=cameras[i], focal_px=FOCAL, width=W, height=H))

    crowd = [threading.Thread(target=draw, args=(i,)) for i in range(6)]
    for t in crowd:
        t.start()
    for t in crowd:
        t.join()
    assert found == expected


def test_glass_shows_and_shows_what_is_behind() -> None:
    red = wall(m="red")
    pane = thing("pane_1", shape("box", 0.4, 0.005, 0.4, m="glass"))
    bare, glazed = shot(small_scene(red)), shot(small_scene(red, pane))
    middle = (slice(H // 2 - 8, H // 2 + 8), slice(W // 2 - 8, W // 2 + 8))
    seen = glazed.rgb[middle].astype(int)
    behind = bare.rgb[middle].astype(int)
    assert np.abs(seen - behind).mean() > 4
    assert (seen[..., 0] > seen[..., 1] + 30).all()
    assert {0, 1} == set(np.unique(glazed.lattice[H // 4 - 4 : H // 4 + 4, W // 4 - 4 : W // 4 + 4]).tolist())
    opaque = thing("pane_1", shape("box", 0.4, 0.005, 0.4, m="white"))
    assert (shot(small_scene(red, opaque)).ids[middle] == 1).all()


def test_what_glows_is_bright_without_light() -> None:
    lamp = thing("lamp_1", shape("sphere", 0.4, m="dark_lamp", repaint={"on": {"true": "lamp"}}), attrs={"on": False})
    scene = small_scene(lamp)
    state = WorldState(scene)
    off = shot(scene, state=state).rgb[H // 2, W // 2].astype(int)
    state.attrs["lamp_1"]["on"] = True
    on = shot(scene, state=state).rgb[H // 2, W // 2].astype(int)
    assert (on > off + 40).all()
    assert on.min() > 200


def test_light_falls_on_the_side_that_faces_it() -> None:
    frame = shot(small_scene(thing("ball_1", shape("sphere", 0.5, m="white")), lit=True))
    column = frame.rgb[:, W // 2].astype(int).sum(axis=1)
    ball = np.flatnonzero(frame.ids[:, W // 2] == 0)
    assert column[ball[3]] > column[ball[-4]] + 150


def test_attributes_switch_shapes_and_paint() -> None:
    scene = small_scene(
        thing(
            "steak_1",
            shape("sphere", 0.3, m="raw", when={"cut": (False,)}, repaint={"cooked": {"burnt": "char"}}),
            shape("sphere", 0.2, at=(-0.5, 0, 0), m="raw", when={"cut": (True,)}),
            attrs={"cut": False, "cooked": "raw"},
        )
    )
    state = WorldState(scene)
    whole = shot(scene, state=state)
    assert whole.ids[H // 2, W // 2] == 0
    state.attrs["steak_1"]["cooked"] = "burnt"
    assert (
        shot(scene, state=state).rgb[H // 2, W // 2].astype(int).sum()
        < whole.rgb[H // 2, W // 2].astype(int).sum() - 100
    )
    state.attrs["steak_1"]["cut"] = True
    cut = shot(scene, state=state)
    assert cut.ids[H // 2, W // 2] == SKY_ID
    assert cut.ids[H // 2, int(W / 2 - 0.5 / 2 * FOCAL)] == 0
    state.attrs["steak_1"]["exists"] = False
    assert (shot(scene, state=state).ids == SKY_ID).all()


def test_collision_shapes_are_not_drawn() -> None:
    scene = small_scene(
        thing("box_1", shape("box", 0.3, 0.3, 0.3, m="red", role="collision"), shape("sphere", 0.1, m="red"))
    )
    assert (shot(scene).ids == 0).sum() < 900


def test_doors_turn_with_their_joint() -> None:
    scene = kitchen()
    camera = look((2.9, 1.0, 1.75), (2.9, 2.84, 1.75))
    closed = shot(scene, camera=camera)
    state = WorldState(scene)
    state.joints["cabinet_2.door"] = -1.6
    opened = shot(scene, camera=camera, state=state)
    assert opened.depth[H // 2 - 6, W // 2] > closed.depth[H // 2 - 6, W // 2] + 0.2


def test_liquid_rises_with_its_volume() -> None:
    jar = thing(
        "jar_1", shape("box", 0.2, 0.2, 0.005, at=(0, 0, -0.3), m="white"), attrs={"contains": {}},
        props={"liquid_radius": 0.15, "liquid_z0": -0.29, "liquid_height": 0.6, "capacity_l": 2.0},
    )  # fmt: skip
    scene = small_scene(jar)
    heights = []
    for litres in (0.0, 0.5, 1.0, 2.0, 3.0):
        state = WorldState(scene)
        state.attrs["jar_1"]["contains"] = {"milk": litres} if litres else {}
        heights.append(int((shot(scene, state=state).ids[:, W // 2] == 0).sum()))
    assert heights[0] < heights[1] < heights[2] < heights[3] == heights[4]


def test_the_body_is_drawn_when_its_poses_are_given() -> None:
    scene = small_scene(wall())
    state = WorldState(scene)
    renderer = Renderer(scene, body=own_skin().without_head(), threads=1)
    poses = bone_poses(state.body)
    x, y, z = poses[0][:3]
    camera = look((x, y - 2.0, z), (x, y, z))
    seen = renderer.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H, body=poses)
    assert (seen.ids == BODY_ID).sum() > 200
    assert (renderer.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H).ids != BODY_ID).all()
    with pytest.raises(RenderError, match="1 poses for a body of 76 bones"):
        renderer.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H, body=poses[:1])


def test_unknown_material_names_thing_and_material() -> None:
    with pytest.raises(SceneError, match=r"ball_1.*unobtainium"):
        Renderer(small_scene(thing("ball_1", shape("sphere", 0.1, m="unobtainium"))))
    with pytest.raises(SceneError, match="unobtainium"):
        Renderer(small_scene(thing("ball_1", shape("sphere", 0.1, m="red", repaint={"on": {"true": "unobtainium"}}))))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"width": 0}, "0 x 120"),
        ({"height": 9000}, "9000"),
        ({"focal_px": 0.0}, "focal"),
        ({"focal_px": math.nan}, "focal"),
        ({"camera": (math.nan, 0, 0, 1, 0, 0, 0)}, "camera"),
    ],
)
def test_refuses_cameras_that_make_no_picture(change: dict[str, object], match: str) -> None:
    scene = small_scene()
    args: dict[str, object] = {"camera": AHEAD, "focal_px": FOCAL, "width": W, "height": H, **change}
    with pytest.raises(RenderError, match=match):
        Renderer(scene).draw(WorldState(scene), **args)  # type: ignore[arg-type]


def test_focal_length() -> None:
    assert focal_from_fovy(90.0, height=480) == pytest.approx(240.0, rel=1e-12)
    with pytest.raises(RenderError, match="180"):
        focal_from_fovy(180.0, height=480)
    with pytest.raises(RenderError, match="threads"):
        Renderer(small_scene(), threads=0)


def test_an_arm_close_before_the_eyes_is_not_cut_open() -> None:
    """From a centimetre before the body one sees its surface, nearer than things are drawn, and not through it."""
    scene = small_scene(wall())
    state = WorldState(scene)
    renderer = Renderer(scene, body=own_skin().without_head(), threads=1)
    poses = bone_poses(state.body)
    x, y, z = poses[0][:3]

    def seen(distance_m: float) -> Frame:
        camera = look((x, y - distance_m, z), (x, y, z))
        return renderer.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H, body=poses)

    surface_m = 2.0 - float(seen(2.0).depth[H // 2, W // 2])
    near = seen(surface_m + 0.01)
    assert near.depth[H // 2, W // 2] == pytest.approx(0.01, abs=0.001)
    assert (near.ids[H // 2 - 30 : H // 2 + 30, W // 2 - 30 : W // 2 + 30] == BODY_ID).all()
