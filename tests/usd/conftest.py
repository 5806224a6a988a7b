"""Scenes to write as stages: two of the library, and a made-up one with everything that a scene may hold."""

from __future__ import annotations

import math
from functools import lru_cache

from iwreplay.pose import IDENTITY, Pose, from_xyz_yaw, quat_about
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.model import CompiledScene, Face, Joint, Light, Link, Material, Room, Shape, Thing

DT_S = 0.004
#: in the normal suite; the slow one takes all
SCENES = ("family_kitchen", "grocery_store")


@lru_cache(maxsize=8)
def scene_named(name: str) -> CompiledScene:
    """A scene by id; "awkward" is the made-up one."""
    return awkward() if name == "awkward" else compile_scene(load_scene(name))


def awkward() -> CompiledScene:
    """Ids that are no names of prims, links on links, axes and offsets that are askew, every kind of solid."""
    turned: Pose = (0.1, -0.2, 0.3, *quat_about((1.0, 2.0, 3.0), 0.7))
    box = Shape(kind="box", size=(0.1, 0.2, 0.05), material="oak")
    lid = Joint(
        name="lid",
        kind="hinge",
        axis=(0.0, -0.6, 0.8),
        anchor=(0.01, 0.02, 0.03),
        lo=-1.25,
        hi=0.0,
        open_at=-1.0,
        handle=(0.0, 0.1, 0.0),
    )
    tray = Joint(name="tray", kind="slide", axis=(0.0, -1.0, 0.0), lo=0.0, hi=0.3, open_at=0.3, handle=(0.0, 0.0, 0.0))
    flap = Joint(name="flap", kind="hinge", axis=(-1.0, 0.0, 0.0), lo=0.0, hi=2.0, open_at=1.5, handle=(0.0, 0.0, 0.0))
    face = Face(name="front/1", pose=turned, size=(0.2, 0.1))
    bare = Face(name="back", pose=IDENTITY, size=(0.05, 0.04))
    solids = (
        Shape(kind="cylinder", size=(0.03, 0.1), pose=turned, material="glass"),
        Shape(kind="sphere", size=(0.04,), material="red lacquer", when={"open": (False,)}),
        Shape(kind="capsule", size=(0.02, 0.05), material="oak", role="collision"),
        Shape(kind="cone", size=(0.05, 0.02, 0.06), material="oak", repaint={"on": {"true": "glass"}}),
        Shape(kind="lathe", size=(0.0, 0.0, 0.05, 0.0, 0.04, 0.1), material="oak", role="visual"),
    )
    chest = (
        Link(name="base", shapes=(box, *solids), faces=(face, bare)),
        Link(name="the lid", parent=0, offset=turned, joint=lid, shapes=(box,)),
        Link(name="2nd", parent=0, joint=tray, shapes=(box,), faces=(face,)),
        Link(name="flap", parent=1, offset=turned, joint=flap),
    )
    text = 'He said "5 % off"\nü — \\n {x}'

    def thing(
        name: str, *, links: tuple[Link, ...] = chest, fixed: bool = False, x: float = 0.0, **more: object
    ) -> Thing:
        attrs = {"exists": True, "parent": "floor", "text:front/1": text, **more}
        return Thing(
            id=name,
            cls="chest",
            name="sea chest",
            adjectives=("old", "oak"),
            nouns=("chest",),
            fixed=fixed,
            links=links,
            pose=(x, 0.5, 0.25, *quat_about((0.3, -0.2, 0.9), 2.0)) if not fixed else from_xyz_yaw(x, 0.0, 0.0, 0.4),
            mass_kg=7.0,
            attrs=attrs,  # type: ignore[arg-type]
            props={"light": 0.5, "light_z": 0.2},
            stances=((0.0, -0.6, math.pi / 2), (0.5, 0.0, 3.0)) if fixed else (),
            bounds_half=(0.2, 0.2, 0.2),
        )

    return CompiledScene(
        id="awkward",
        format=1,
        rooms=(Room(id="room 1", nouns=("room",), rect=(-3.0, -3.0, 3.0, 3.0)),),
        portals=(),
        materials=(
            Material(name="oak", rgb=(150, 110, 70), texture="wood"),
            Material(name="glass", rgb=(200, 220, 230), alpha=0.3, texture="glass"),
            Material(name="red lacquer", rgb=(200, 20, 20), emission=0.5),
        ),
        things=(
            thing("1-chest", fixed=True, open=True),
            thing("1_chest", x=1.0, open=True, on=True, wet=True),
            thing("_u31_-chest", x=-1.0, links=chest[:1]),
            thing("gone", x=2.0, exists=False),
            thing("Kiste ü", x=-2.0, fixed=True, links=chest[:1]),
        ),
        lights=(Light(pos=(0.0, 0.0, 2.3), intensity=1.0),),
        spawn=(-1.5, -1.5, 0.3),
    )
