"""Lamps light what is around them while they are on; a room whose lights are off is dark, and still to be made out."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from iwreplay.errors import RenderError
from iwreplay.pose import Pose, from_xyz_yaw
from iwreplay.render import Frame, Renderer, focal_from_fovy
from iwreplay.render.layout import MAX_LAMPS
from iwreplay.scene.model import CompiledScene, Face, Interior, Light, Link, Room, Shape, Thing
from iwreplay.vocabulary import AttrValue
from iwreplay.world.state import WorldState
from tests.render.kitchen import look, shape, small_scene, thing

W, H = 160, 120
FOCAL = focal_from_fovy(70.0, height=H)
HERE = Room(id="here", nouns=("room",), rect=(-3.0, -3.0, 3.0, 3.0))
THERE = Room(id="there", nouns=("other room",), rect=(3.0, -3.0, 9.0, 3.0))
FLOOR = thing("floor_1", shape("box", 12.0, 3.0, 0.05, at=(3, 0, -0.05), m="white"))
WALL = thing("wall_1", shape("box", 6.0, 0.05, 1.3, at=(3, 2.95, 1.3), m="oak"))
PARTITION = thing("wall_2", shape("box", 0.05, 3.0, 1.3, at=(3, 0, 1.3), m="white"))
EYE = look((0.0, -2.0, 1.5), (0.0, 1.0, 0.6))


BEFORE_THE_WALL = from_xyz_yaw(0.0, 1.0, 0.0, 0.0)


def lamp(tid: str = "lamp_1", *, at: Pose = BEFORE_THE_WALL, **more: AttrValue) -> Thing:
    props: dict[str, AttrValue] = {"light": 0.5, "light_z": 0.5, **more}
    shapes = (shape("cylinder", 0.02, 0.2, at=(0, 0, 0.2), m="black"), shape("sphere", 0.08, at=(0, 0, 0.5), m="white"))
    return thing(tid, *shapes, pose=at, attrs={"on": False, "powered": True}, props=props)


def switch(tid: str, *, at: Pose, on: bool = True) -> Thing:
    return thing(tid, shape("box", 0.04, 0.005, 0.04, m="white"), pose=at, attrs={"on": on}, props={"lights": "room"})


def house(*more: Thing) -> CompiledScene:
    scene = small_scene(FLOOR, WALL, PARTITION, *more, rooms=(HERE, THERE))
    lights = (Light(pos=(0.0, 0.0, 2.4), intensity=1.0), Light(pos=(6.0, 0.0, 2.4), intensity=1.0))
    return msgspec.structs.replace(scene, lights=lights)


SWITCH = switch("switch_1", at=from_xyz_yaw(-1.0, 2.88, 1.1, 0.0))


def shot(
    scene: CompiledScene, state: WorldState, *, camera: Pose = EYE, renderer: Renderer | None = None, threads: int = 1
) -> Frame:
    made = renderer or Renderer(scene, threads=threads)
    return made.draw(state, camera=camera, focal_px=FOCAL, width=W, height=H)


def mean(frame: Frame) -> float:
    return float(frame.rgb.mean())


def test_a_lamp_lights_its_surroundings_while_it_is_on() -> None:
    scene = house(SWITCH, lamp())
    state = WorldState(scene)
    state.attrs["switch_1"]["on"] = False
    renderer = Renderer(scene, threads=1)
    dark = shot(scene, state, renderer=renderer)
    state.attrs["lamp_1"]["on"] = True
    lit = shot(scene, state, renderer=renderer)
    assert mean(lit) > mean(dark) + 25
    # near it more than far from it
    change = lit.rgb.astype(int).sum(axis=2) - dark.rgb.astype(int).sum(axis=2)
    assert change[H // 2 + 20, W // 2] > change[H // 2 + 20, 2] + 30
    state.attrs["lamp_1"]["on"] = False
    assert (shot(scene, state, renderer=renderer).rgb == dark.rgb).all()


@pytest.mark.parametrize("change", [{"powered": False}, {"exists": False}, {"on": False}])
def test_without_power_or_away_it_gives_no_light(change: dict[str, AttrValue]) -> None:
    scene = house(lamp())
    state = WorldState(scene)
    state.attrs["lamp_1"]["on"] = True
    on = shot(scene, state, camera=look((0.0, 0.0, 0.3), (1.0, 0.9, 0.0)))
    state.attrs["lamp_1"].update(change)
    off = shot(scene, state, camera=look((0.0, 0.0, 0.3), (1.0, 0.9, 0.0)))
    assert mean(on) > mean(off) + 3


def test_a_room_is_dark_when_its_switch_is_off_and_still_to_be_made_out() -> None:
    scene = house(SWITCH)
    state = WorldState(scene)
    lit = shot(scene, state)
    state.attrs["switch_1"]["on"] = False
    dark = shot(scene, state)
    assert mean(dark) < 0.45 * mean(lit)
    assert mean(dark) > 20
    # floor and wall can be told apart
    floor, wall = dark.rgb[dark.ids == 0], dark.rgb[dark.ids == 1]
    assert abs(float(floor.mean()) - float(wall.mean())) > 8
    assert (dark.ids == lit.ids).all()
    assert (dark.depth == lit.depth).all()


def test_the_other_room_keeps_its_light_and_gives_none_through_the_wall() -> None:
    scene = house(SWITCH)
    state = WorldState(scene)
    there = look((6.0, -2.0, 1.5), (6.0, 1.0, 0.6))
    corner = look((1.0, -1.0, 1.5), (3.0, 1.0, 1.5))
    before = shot(scene, state, camera=there)
    state.attrs["switch_1"]["on"] = False
    assert (shot(scene, state, camera=there).rgb == before.rgb).all()
    bright = shot(scene, state, camera=corner)
    without = msgspec.structs.replace(scene, lights=scene.lights[:1])
    state = WorldState(without)
    state.attrs["switch_1"]["on"] = False
    leaked = np.abs(shot(without, state, camera=corner).rgb.astype(int) - bright.rgb)
    # a seam between two walls may let a ray through, no more
    assert leaked.max() <= 2
    assert (leaked > 0).sum() <= 4


def test_any_of_two_switches_is_enough_and_a_room_without_one_is_always_lit() -> None:
    # one on the partition, its front towards -x: it belongs to the room it faces
    second = switch("switch_2", at=from_xyz_yaw(2.94, 0.0, 1.1, -np.pi / 2))
    scene = house(SWITCH, second)
    state = WorldState(scene)
    both = shot(scene, state)
    state.attrs["switch_1"]["on"] = False
    assert (shot(scene, state).rgb == both.rgb)[: H // 3].all()
    state.attrs["switch_2"]["on"] = False
    assert mean(shot(scene, state)) < 0.45 * mean(both)
    assert mean(shot(house(), WorldState(house()))) > 0.9 * mean(both)


def test_text_is_as_dark_as_what_it_is_written_on() -> None:
    face = Face(name="front", pose=(0, 0, 0.011, 1, 0, 0, 0), size=(0.5, 0.5), cap_height_m=0.05)
    card = thing("card_1", shape("box", 0.25, 0.25, 0.01, m="card"), pose=(0, 0, 0.02, 1, 0, 0, 0),
                 attrs={"text:front": "Read me"}, faces=(face,))  # fmt: skip
    scene = house(SWITCH, card)
    state = WorldState(scene)
    down = look((0.0, -0.3, 1.0), (0.0, 0.0, 0.0))
    lit = shot(scene, state, camera=down)
    state.attrs["switch_1"]["on"] = False
    dark = shot(scene, state, camera=down)
    assert float(dark.rgb[H // 2 - 5 : H // 2 + 5].max()) < 0.5 * float(lit.rgb[H // 2 - 5 : H // 2 + 5].max())


def test_light_and_shadow_go_where_the_lamp_goes() -> None:
    table = thing("board_1", shape("box", 0.3, 0.3, 0.01, at=(0, 0.3, 0.2), m="oak"))
    scene = house(SWITCH, lamp(), table)
    state = WorldState(scene)
    state.attrs["switch_1"]["on"] = False
    state.attrs["lamp_1"]["on"] = True
    renderer = Renderer(scene, threads=2)
    seen = []
    for x in (-1.0, 0.0, 1.0, 0.0):
        state.poses["lamp_1"] = from_xyz_yaw(x, 1.0, 0.4, 0.3)
        seen.append(shot(scene, state, renderer=renderer))
        assert (seen[-1].rgb == shot(scene, state).rgb).all()
    assert (seen[1].rgb == seen[3].rgb).all()
    left = [float(f.rgb[:, : W // 2].mean() - f.rgb[:, W // 2 :].mean()) for f in seen]
    assert left[0] > left[1] + 2 > left[2] + 4


def test_the_colour_of_a_lamp_is_its_light() -> None:
    pictures = []
    for rgb in ("#ff4020", "#2040ff"):
        scene = house(SWITCH, lamp(light_rgb=rgb))
        state = WorldState(scene)
        state.attrs["switch_1"]["on"] = False
        state.attrs["lamp_1"]["on"] = True
        pictures.append(shot(scene, state).rgb.astype(int))
    assert (pictures[0] - pictures[1])[..., 0].mean() > 5
    assert (pictures[0] - pictures[1])[..., 2].mean() < -5


def test_a_light_inside_a_cupboard_stays_there() -> None:
    box = Shape(kind="box", size=(0.4, 0.02, 0.4), pose=from_xyz_yaw(0.0, 0.4, 0.4, 0.0), material="white")
    link = Link(name="base", shapes=(box,), interiors=(Interior(name="main", pos=(0, 0, 0.4), half=(0.4, 0.38, 0.4)),))
    base = thing("fridge_1", attrs={"open": False}, props={
        "light": 0.4, "light_z": 0.75, "light_when": "open", "light_inside": "main"})  # fmt: skip
    fridge = msgspec.structs.replace(base, links=(link,), pose=from_xyz_yaw(0.0, 1.0, 0.0, 0.0))
    scene = house(SWITCH, fridge)
    state = WorldState(scene)
    state.attrs["switch_1"]["on"] = False
    closed = shot(scene, state)
    state.attrs["fridge_1"]["open"] = True
    opened = shot(scene, state)
    change = opened.rgb.astype(int).sum(axis=2) - closed.rgb.astype(int).sum(axis=2)
    assert change[closed.ids == 4].mean() > 60
    assert (change[H - 3 :] == 0).all()
    with pytest.raises(RenderError, match="'attic'"):
        Renderer(house(msgspec.structs.replace(fridge, props={"light": 0.4, "light_inside": "attic"})))


def test_many_lamps_are_the_same_for_any_number_of_threads() -> None:
    lamps = [lamp(f"lamp_{i}", at=from_xyz_yaw(-2.0 + 0.5 * i, 0.5 + 0.2 * i, 0.0, 0.0)) for i in range(8)]
    scene = house(SWITCH, *lamps)
    state = WorldState(scene)
    for i in range(8):
        state.attrs[f"lamp_{i}"]["on"] = True
    assert len({shot(scene, state, threads=n).rgb.tobytes() for n in (1, 2, 5)}) == 1


@pytest.mark.parametrize(
    ("props", "match"),
    [
        ({"light": 0.0}, "strength of 0.0"),
        ({"light": True}, "strength of True"),
        ({"light": 99.0}, "99.0"),
        ({"light_z": "high"}, "light_z.*'high'"),
        ({"light_x": float("inf")}, "inf"),
        ({"light_rgb": "orange"}, "'orange'"),
        ({"light_when": 3}, "3"),
    ],
)
def test_lamps_that_make_no_sense_are_named(props: dict[str, AttrValue], match: str) -> None:
    with pytest.raises(RenderError, match=rf"lamp_1.*{match}"):
        Renderer(house(lamp(**props)))


def test_too_many_lamps_at_a_time_are_an_error() -> None:
    lamps = [lamp(f"lamp_{i}") for i in range(MAX_LAMPS)]
    scene = house(*lamps)
    state = WorldState(scene)
    shot(scene, state)
    for i in range(MAX_LAMPS):
        state.attrs[f"lamp_{i}"]["on"] = True
    with pytest.raises(RenderError, match=f"{MAX_LAMPS + 2} lamps"):
        shot(scene, state)
