"""Every attribute of a state that a thing can be in is seen: in its own shapes, or in what everything shows."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

import taskpacks
from iwreplay.pose import Pose, from_xyz_yaw
from iwreplay.render import Renderer
from iwreplay.render.looks import PLAIN, Look, look_of, marked_shapes, shown_by_class, stained, tinted
from iwreplay.render.palette import Palette
from iwreplay.scene.library import Library, Wanted, load_library
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.model import CompiledScene, Joint, Light, Link, Material, Surface, Thing
from iwreplay.vocabulary import ATTRIBUTES, AttrValue
from iwreplay.world.state import WorldState
from tests.render.kitchen import look, shape, small_scene, thing

W, H, FOCAL = 240, 180, 200.0
#: a change by less than this in every channel is not seen
_SEEN = 24

#: attribute -> (value before, value after, least number of changed pixels of a cup-sized thing that fills the frame)
SHOWN: dict[str, tuple[AttrValue, AttrValue, int]] = {
    "exists": (True, False, 5000),
    "locked": (False, True, 40),
    "sealed": (False, True, 300),
    "on": (False, True, 15),
    "running": (False, True, 15),
    "plugged": ("", "socket_1", 40),
    "cooked": ("raw", "cooked", 5000),
    "browned": (False, True, 2000),
    "mold_exposed": (False, True, 2000),
    "broken": (False, True, 1000),
    "clean": (True, False, 1000),
    "used": (False, True, 500),
    "wet": (False, True, 500),
    "soaked": (False, True, 5000),
    "contains": ({}, {"milk": 0.5}, 250),
}
#: what shows in poses, joints, texts or shapes of the class, or can't be seen at all
ELSEWHERE: dict[str, str] = {
    "open": "joints of the thing",
    "cut": "shapes of the class: a test of the library below",
    "ringing": "shapes of the class: a test of the library below",
    "on_call": "shapes of the class: a test of the library below",
    "page": "the text of its face, which changes with it: the tests of documents read every page",
    "cycle": "a number that tells cycles apart; `running` shows",
    "powered": "nothing to see in a socket or a cord; what is on shows",
    "heat_s": "not until it is browned, cooked or burnt",
    "hot": "heat of a pan can't be seen",
    "moldy": "hidden until it is cut; then mold_exposed",
    "worn": "pose of the thing",
    "discarded": "pose of the thing",
    "plated_on": "pose of the thing",
    "held": "pose of the thing",
    "parent": "pose of the thing",
    "charged": "of a device: whether it can be on",
    "temperature_zone": "can't be seen",
    "load_a": "can't be seen",
    "posture": "body",
    "sitting": "body",
    "room": "body",
}

SOCKET = thing("socket_1", shape("box", 0.04, 0.01, 0.04, m="white"), pose=from_xyz_yaw(0.35, 0.3, -0.1, 0.0))


def everything() -> Thing:
    """A thing that carries every attribute and shows none by itself."""
    door = Link(
        name="door",
        joint=Joint(name="door", kind="hinge", axis=(0, 0, 1), lo=0.0, hi=1.5, open_at=1.5, handle=(0.1, -0.3, 0.0)),
        shapes=(shape("box", 0.2, 0.01, 0.2, at=(0.0, -0.22, 0.0), m="white"),),
    )
    body = shape("box", 0.2, 0.2, 0.2, m="oak")
    neck = shape("cylinder", 0.12, 0.03, at=(0, 0, 0.21), m="white")
    props: dict[str, AttrValue] = {
        "liquid_radius": 0.1, "liquid_z0": 0.2, "liquid_height": 0.05, "capacity_l": 0.5,
    }  # fmt: skip
    made = thing("thing_1", body, neck, attrs={a: v[0] for a, v in SHOWN.items()}, props=props, links=(door,))

    return msgspec.structs.replace(
        made, affordances=("switch", "plug", "machine", "wash"), bounds_half=(0.2, 0.23, 0.24)
    )


def shots(scene: CompiledScene, state: WorldState, *, cameras: list[Pose]) -> list[npt.NDArray[np.int16]]:
    renderer = Renderer(scene, threads=1)
    return [renderer.draw(state, camera=c, focal_px=FOCAL, width=W, height=H).rgb.astype(np.int16) for c in cameras]


def changed_pixels(
    scene: CompiledScene,
    tid: str,
    attr: str,
    values: tuple[AttrValue, AttrValue],
    *,
    cameras: list[Pose],
    **so: AttrValue,
) -> int:
    """Pixels that look another way when an attribute of a thing changes, while others are as in `so`."""
    pictures = []
    for value in values:
        state = WorldState(scene)
        state.attrs[tid][attr] = value
        state.attrs[tid].update(so)
        pictures.append(shots(scene, state, cameras=cameras))
    return sum(int((np.abs(a - b).max(axis=2) >= _SEEN).sum()) for a, b in zip(*pictures, strict=True))


def test_every_attribute_is_shown_or_named() -> None:
    assert set(SHOWN) | set(ELSEWHERE) == set(ATTRIBUTES)
    assert not set(SHOWN) & set(ELSEWHERE)


@pytest.mark.parametrize("attr", SHOWN)
def test_an_attribute_changes_pixels_of_any_thing_that_carries_it(attr: str) -> None:
    before, after, least = SHOWN[attr]
    scene = small_scene(everything(), SOCKET, lit=True)
    views = [look((0.4, -0.75, 0.5), (0.0, 0.0, 0.0)), look((0.3, 0.8, 0.5), (0.0, 0.0, 0.0))]
    assert changed_pixels(scene, "thing_1", attr, (before, after), cameras=views) >= least


def test_a_class_that_shows_an_attribute_itself_gets_nothing_on_top() -> None:
    own = thing("mug_1", shape("sphere", 0.2, m="white", repaint={"clean": {"false": "red"}}), attrs={"clean": False})
    assert shown_by_class(own) == {"clean"}
    assert look_of(own, own.attrs, shown=shown_by_class(own)) == PLAIN
    assert look_of(own, own.attrs, shown=frozenset()) == Look(dirt=2)


def test_what_is_burnt_is_not_browned_over() -> None:
    loaf = thing("loaf_1", shape("sphere", 0.2, m="white", repaint={"cooked": {"burnt": "red"}}))
    shown = shown_by_class(loaf)
    assert look_of(loaf, {"cooked": "cooked", "browned": True}, shown=shown) == Look(roast=1)
    assert look_of(loaf, {"cooked": "burnt", "browned": True}, shown=shown) == PLAIN
    assert look_of(loaf, {"cooked": "burnt", "browned": True}, shown=frozenset()) == Look(roast=3)


def test_dirt_shows_on_dark_things_too() -> None:
    for value in (40, 100, 130, 220):
        base = np.full((256, 256, 3), value, np.uint8)
        change = np.abs(stained(base, Look(dirt=2), period_m=0.28, hard=True).astype(int) - value).max(axis=2)
        assert (change >= _SEEN).mean() > 0.2


def test_dirt_is_never_dirty() -> None:

    crumbs = msgspec.structs.replace(thing("crumbs_1", attrs={"clean": False}), affordances=("sweepable",))
    assert look_of(crumbs, crumbs.attrs, shown=frozenset()) == PLAIN


def test_of_furniture_the_surface_is_marked_and_not_the_legs() -> None:
    table = thing("table_1", shape("box", 0.5, 0.5, 0.02, at=(0, 0, 0.7), m="oak"),
                  shape("box", 0.02, 0.02, 0.34, at=(0.4, 0.4, 0.34), m="oak"))  # fmt: skip
    link = msgspec.structs.replace(table.links[0], surfaces=(Surface(name="top", pos=(0, 0, 0.72), half=(0.5, 0.5)),))
    table = msgspec.structs.replace(table, links=(link,), affordances=("wipe",))
    assert marked_shapes(table) == {0}
    assert marked_shapes(msgspec.structs.replace(table, affordances=("wash",))) == frozenset()


def test_wet_is_darker_and_glossier_and_burnt_is_black() -> None:
    palette = Palette()
    for texture in ("wood", "ceramic", "fabric", ""):
        material = Material(name="m", rgb=(200, 160, 120), texture=texture)
        dry, wet, soaked, burnt = (
            palette.material(material, k) for k in (PLAIN, Look(wet=1), Look(wet=2), Look(roast=3))
        )
        assert len({dry, wet, soaked, burnt}) == 4
        assert palette.gloss[wet] > palette.gloss[dry]
        assert palette.rgb[soaked].sum() <= palette.rgb[wet].sum() < palette.rgb[dry].sum()
        assert palette.rgb[burnt].sum() < 0.3 * palette.rgb[dry].sum()
        assert palette.material(material, Look(wet=1)) == wet


def test_stains_are_the_same_every_time_and_tile() -> None:
    base = np.full((256, 256, 3), 200, np.uint8)
    for k in (Look(wet=1), Look(dirt=1), Look(dirt=2), Look(roast=1), Look(mould=True), Look(cracks=True)):
        a = stained(base, k, period_m=0.28, hard=True)
        assert (a == stained(base, k, period_m=0.28, hard=True)).all()
        assert a.std() > 5
        if not k.cracks:
            seam = np.abs(a[:, 0].astype(int) - a[:, -1]).mean()
            assert seam <= 2.0 * np.abs(np.diff(a.astype(int), axis=1)).mean() + 1.0
    assert tinted((200, 100, 50), PLAIN, hard=True) == (200, 100, 50)


# the library --------------------------------------------------------------------------------------------------------

#: attribute -> values to compare
SWEPT: dict[str, tuple[AttrValue, AttrValue]] = {
    "sealed": (False, True),
    "cut": (False, True),
    "mold_exposed": (False, True),
    "clean": (True, False),
    "wet": (False, True),
    "soaked": (False, True),
    "broken": (False, True),
    "cooked": ("raw", "burnt"),
    "browned": (False, True),
    "used": (False, True),
    "ringing": (False, True),
    "on_call": (False, True),
    "locked": (False, True),
    "running": (False, True),
}


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(taskpacks.root() / "objects")


def stand(library: Library, cls: str) -> tuple[CompiledScene, Thing, list[Pose]]:
    """A thing of a class alone, and three cameras around it."""
    made = library.make(Wanted(id="a", cls=cls), where="test")[0]
    names = {s.material for k in made.links for s in k.shapes}
    names |= {m for k in made.links for s in k.shapes for table in s.repaint.values() for m in table.values()}
    x, y, z = made.bounds_pos
    r = 2.2 * max(0.05, float(np.sqrt(sum(h * h for h in made.bounds_half))))
    scene = CompiledScene(
        id="stand", format=1, rooms=(), portals=(), things=(made,), spawn=(0.0, 0.0, 0.0),
        materials=tuple(library.material(n, where="test") for n in sorted(names)),
        lights=(Light(pos=(x - 1.0, y - 2.0, z + 2.0), intensity=1.0),),
    )  # fmt: skip
    directions = ((0.3, -0.8, 0.5), (-0.5, 0.7, 0.6), (0.1, -0.3, 1.0))
    return scene, made, [look((x + dx * r, y + dy * r, z + dz * r), (x, y, z)) for dx, dy, dz in directions]


@pytest.mark.parametrize("attr", SWEPT)
def test_every_class_of_the_library_shows_what_it_carries(attr: str, library: Library) -> None:
    """Up to four classes for each attribute; all of them in the slow test."""
    unseen, carriers = _sweep(library, attr, most=4)
    assert carriers
    assert unseen == []


@pytest.mark.slow
@pytest.mark.parametrize("attr", SWEPT)
def test_all_classes_of_the_library_show_what_they_carry(attr: str, library: Library) -> None:
    assert _sweep(library, attr, most=10_000)[0] == []


def _sweep(library: Library, attr: str, *, most: int) -> tuple[list[str], int]:
    unseen, carriers = [], 0
    for cls in sorted(library.classes):
        if carriers == most:
            break
        scene, made, cameras = stand(library, cls)
        if attr not in made.attrs or (attr == "clean" and "sweepable" in made.affordances):
            continue
        carriers += 1
        seen = changed_pixels(scene, made.id, attr, SWEPT[attr], cameras=cameras)
        if attr == "mold_exposed":
            # in what is cut open as a rule
            seen = max(seen, changed_pixels(scene, made.id, attr, SWEPT[attr], cameras=cameras, cut=True))
        if seen < 12:
            unseen.append(cls)
    return unseen, carriers


def test_a_shipped_scene_draws_with_every_look(library: Library) -> None:
    """Nothing in a scene refuses to be wet, dirty, broken, cooked and sealed at once."""
    scene = compile_scene(load_scene("proving_ground"), library=library)
    state = WorldState(scene)
    for attrs in state.attrs.values():
        for name, (_, after) in SWEPT.items():
            if name in attrs:
                attrs[name] = after
    frame = Renderer(scene, threads=1).draw(
        state, camera=look((4.0, 3.0, 1.6), (2.0, 5.5, 0.9)), focal_px=FOCAL, width=W, height=H
    )
    assert len(np.unique(frame.ids)) > 10
