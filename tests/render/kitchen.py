"""A small hand-made kitchen, for looking at and for measuring. Not a scene of the library."""

from __future__ import annotations

import math

from iwreplay.pose import Pose, Quat, from_xyz_yaw, quat_about, quat_mul
from iwreplay.scene.model import CompiledScene, Face, Joint, Light, Link, Material, Room, Shape, Thing
from iwreplay.vocabulary import AttrValue

IDENTITY_Q: Quat = (1.0, 0.0, 0.0, 0.0)

MATERIALS = (
    Material(name="wall", rgb=(228, 220, 204), texture="plaster"),
    Material(name="floor", rgb=(176, 130, 88), texture="planks"),
    Material(name="ceiling", rgb=(240, 240, 238)),
    Material(name="cabinet", rgb=(236, 236, 230), texture="wood"),
    Material(name="worktop", rgb=(92, 92, 98), texture="stone"),
    Material(name="oak", rgb=(170, 122, 76), texture="wood"),
    Material(name="steel", rgb=(188, 190, 194), texture="metal"),
    Material(name="black", rgb=(28, 28, 30), texture="plastic"),
    Material(name="tiles", rgb=(214, 222, 226), texture="tile"),
    Material(name="blue", rgb=(44, 88, 170), texture="ceramic"),
    Material(name="red", rgb=(196, 40, 36), texture="ceramic"),
    Material(name="green", rgb=(60, 140, 60), texture="plastic"),
    Material(name="orange", rgb=(240, 140, 20), texture="plastic"),
    Material(name="white", rgb=(244, 244, 240), texture="ceramic"),
    Material(name="glass", rgb=(206, 226, 230), alpha=0.25, texture="glass"),
    Material(name="cloth", rgb=(150, 60, 70), texture="fabric"),
    Material(name="card", rgb=(250, 248, 240), texture="paper"),
    Material(name="lamp", rgb=(255, 250, 235), emission=1.0),
    Material(name="dark_lamp", rgb=(180, 176, 168)),
    Material(name="raw", rgb=(232, 150, 150)),
    Material(name="cooked", rgb=(170, 110, 60)),
    Material(name="char", rgb=(30, 24, 20)),
)


def shape(
    kind: str, *size: float, at: tuple[float, float, float] = (0, 0, 0), q: Quat = IDENTITY_Q, m: str, **more: object
) -> Shape:
    return Shape(kind=kind, size=tuple(float(v) for v in size), pose=(*map(float, at), *q), material=m, **more)  # type: ignore[arg-type]


def thing(
    tid: str,
    *shapes: Shape,
    pose: Pose = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
    fixed: bool = False,
    attrs: dict[str, AttrValue] | None = None,
    props: dict[str, AttrValue] | None = None,
    faces: tuple[Face, ...] = (),
    links: tuple[Link, ...] = (),
) -> Thing:
    cls = tid.rsplit("_", 1)[0]
    return Thing(
        id=tid,
        cls=cls,
        name=cls,
        nouns=(cls,),
        fixed=fixed,
        pose=pose,
        attrs=attrs or {},
        props=props or {},
        links=(Link(name="base", shapes=tuple(shapes), faces=faces), *links),
        bounds_half=(0.1, 0.1, 0.1),
    )


def room_shell() -> list[Thing]:
    """A room 4 x 3 m, origin in a corner; the walls stand around it."""
    return [
        thing("floor_1", shape("box", 2.0, 1.5, 0.05, at=(2, 1.5, -0.05), m="floor"), fixed=True),
        thing("ceiling_1", shape("box", 2.0, 1.5, 0.05, at=(2, 1.5, 2.65), m="ceiling"), fixed=True),
        thing("wall_1", shape("box", 2.0, 0.05, 1.3, at=(2, 3.05, 1.3), m="wall"), fixed=True),
        thing("wall_2", shape("box", 2.0, 0.05, 1.3, at=(2, -0.05, 1.3), m="wall"), fixed=True),
        thing("wall_3", shape("box", 0.05, 1.6, 1.3, at=(-0.05, 1.5, 1.3), m="wall"), fixed=True),
        thing("wall_4", shape("box", 0.05, 1.6, 1.3, at=(4.05, 1.5, 1.3), m="wall"), fixed=True),
    ]


def mug(tid: str, x: float, y: float, z: float, m: str, **attrs: AttrValue) -> Thing:
    half_turn = quat_about((1.0, 0.0, 0.0), math.pi / 2)
    return thing(
        tid,
        shape("lathe", 0, 0, 0.038, 0, 0.040, 0.004, 0.040, 0.095, 0.036, 0.095, 0.036, 0.006, 0, 0.006, m=m),
        shape("capsule", 0.006, 0.020, at=(0.062, 0, 0.048), m=m),
        shape(
            "capsule",
            0.006,
            0.012,
            at=(0.050, 0, 0.070),
            q=quat_mul(quat_about((0.0, 0.0, 1.0), math.pi / 2), half_turn),
            m=m,
        ),
        shape(
            "capsule",
            0.006,
            0.012,
            at=(0.050, 0, 0.026),
            q=quat_mul(quat_about((0.0, 0.0, 1.0), math.pi / 2), half_turn),
            m=m,
        ),
        pose=from_xyz_yaw(x, y, z, -0.6),
        attrs=dict(attrs),
        props={"liquid_radius": 0.036, "liquid_z0": 0.006, "liquid_height": 0.085, "capacity_l": 0.3},
    )


def card(tid: str, text: str, pose: Pose) -> Thing:
    """A card 12 x 8 cm that stands upright and faces its -y."""
    face = Face(
        name="front",
        pose=(0.0, -0.002, 0.04, *quat_about((1.0, 0.0, 0.0), math.pi / 2)),
        size=(0.12, 0.08),
        cap_height_m=0.008,
    )
    return thing(
        tid,
        shape("box", 0.06, 0.002, 0.04, at=(0, 0, 0.04), m="card"),
        pose=pose,
        attrs={"text:front": text},
        faces=(face,),
    )


def cabinet(tid: str, x: float) -> Thing:
    """A wall cabinet on the back wall with a hinged door."""
    door = Link(
        name="door",
        parent=0,
        joint=Joint(
            name="door",
            kind="hinge",
            axis=(0.0, 0.0, 1.0),
            anchor=(-0.3, -0.16, 0.0),
            lo=-1.9,
            hi=0.0,
            open_at=-1.7,
            handle=(0.25, -0.2, 0.0),
        ),
        shapes=(
            shape("box", 0.295, 0.009, 0.345, at=(0, -0.17, 0), m="cabinet"),
            shape("capsule", 0.006, 0.06, at=(0.25, -0.20, -0.2), m="steel"),
        ),
    )
    return thing(
        tid,
        shape("box", 0.30, 0.16, 0.009, at=(0, 0, 0.341), m="cabinet"),
        shape("box", 0.30, 0.16, 0.009, at=(0, 0, -0.341), m="cabinet"),
        shape("box", 0.30, 0.15, 0.009, at=(0, 0, 0), m="cabinet"),
        shape("box", 0.009, 0.16, 0.35, at=(-0.291, 0, 0), m="cabinet"),
        shape("box", 0.009, 0.16, 0.35, at=(0.291, 0, 0), m="cabinet"),
        shape("box", 0.30, 0.006, 0.35, at=(0, 0.154, 0), m="cabinet"),
        pose=(x, 2.84, 1.75, *IDENTITY_Q),
        fixed=True,
        attrs={"open": False},
        links=(door,),
    )


def counter() -> Thing:
    drawers: list[Shape] = []
    for i in range(6):
        drawers.append(shape("box", 0.295, 0.010, 0.40, at=(-1.5 + 0.6 * i, -0.29, 0.44), m="cabinet"))
        drawers.append(
            shape(
                "capsule",
                0.006,
                0.08,
                at=(-1.5 + 0.6 * i, -0.325, 0.80),
                q=quat_about((0.0, 1.0, 0.0), math.pi / 2),
                m="steel",
            )
        )
    return thing(
        "counter_1",
        shape("box", 1.8, 0.28, 0.43, at=(0, 0, 0.43), m="cabinet"),
        shape("box", 1.82, 0.31, 0.02, at=(0, 0, 0.88), m="worktop"),
        shape("box", 1.8, 0.006, 0.28, at=(0, 0.30, 1.18), m="tiles"),
        *drawers,
        pose=(2.0, 2.69, 0.0, *IDENTITY_Q),
        fixed=True,
    )


def table() -> Thing:
    legs = [
        shape("box", 0.03, 0.03, 0.36, at=(sx * 0.55, sy * 0.32, 0.36), m="oak") for sx in (-1, 1) for sy in (-1, 1)
    ]
    return thing(
        "table_1",
        shape("box", 0.62, 0.40, 0.018, at=(0, 0, 0.735), m="oak"),
        *legs,
        pose=(2.2, 1.2, 0.0, *IDENTITY_Q),
        fixed=True,
    )


def objects() -> list[Thing]:
    top, work = 0.753, 0.90
    glass = shape("lathe", 0.0, 0.0, 0.030, 0.0, 0.036, 0.13, 0.034, 0.13, 0.028, 0.006, 0.0, 0.006, m="glass")
    return [
        mug("mug_1", 2.0, 1.15, top, "blue", contains={"coffee": 0.2}),
        mug("mug_2", 2.55, 1.32, top, "red"),
        thing(
            "glass_1",
            glass,
            pose=(2.30, 1.05, top, *IDENTITY_Q),
            attrs={"contains": {"orange_juice": 0.12}},
            props={"liquid_radius": 0.029, "liquid_z0": 0.006, "liquid_height": 0.12, "capacity_l": 0.25},
        ),
        thing("glass_2", glass, pose=(2.42, 1.16, top, *IDENTITY_Q)),
        thing(
            "plate_1",
            shape("lathe", 0, 0, 0.07, 0, 0.12, 0.018, 0.115, 0.020, 0.07, 0.006, 0, 0.006, m="white"),
            pose=(2.25, 1.32, top, *IDENTITY_Q),
        ),
        thing(
            "steak_1",
            shape(
                "cylinder",
                0.05,
                0.011,
                at=(0, 0, 0.011),
                m="raw",
                repaint={"cooked": {"cooked": "cooked", "burnt": "char"}},
                when={"cut": (False,)},
            ),
            shape("box", 0.02, 0.045, 0.011, at=(-0.025, 0, 0.011), m="raw", when={"cut": (True,)}),
            shape("box", 0.02, 0.045, 0.011, at=(0.03, 0, 0.011), m="raw", when={"cut": (True,)}),
            pose=(2.25, 1.32, top + 0.006, *IDENTITY_Q),
            attrs={"cooked": "raw", "cut": False},
        ),
        thing("orange_1", shape("sphere", 0.038, at=(0, 0, 0.038), m="orange"), pose=(1.85, 1.36, top, *IDENTITY_Q)),
        thing(
            "cloth_1",
            shape("box", 0.10, 0.08, 0.004, at=(0, 0, 0.004), m="cloth"),
            pose=from_xyz_yaw(1.78, 1.02, top, 0.4),
        ),
        card("card_1", "FISH: USE BY 14 MAR\nOpen box 07 first\nKeep at 2-4 °C", from_xyz_yaw(2.22, 1.50, top, 0.08)),
        card("card_2", "Supplier B: 8.40 a box, 40 filters", from_xyz_yaw(2.60, 1.52, top, -0.25)),
        thing(
            "kettle_1",
            shape("cone", 0.085, 0.065, 0.10, at=(0, 0, 0.10), m="steel"),
            shape("sphere", 0.014, at=(0, 0, 0.21), m="black"),
            shape("capsule", 0.010, 0.06, at=(0.105, 0, 0.11), m="black"),
            pose=(1.1, 2.66, work, *IDENTITY_Q),
        ),
        thing(
            "bottle_1",
            shape("lathe", 0, 0, 0.035, 0, 0.037, 0.01, 0.037, 0.15, 0.012, 0.21, 0.012, 0.25, 0, 0.25, m="green"),
            pose=(1.55, 2.72, work, *IDENTITY_Q),
        ),
        thing(
            "pan_1",
            shape("lathe", 0, 0, 0.11, 0, 0.13, 0.045, 0.126, 0.045, 0.108, 0.005, 0, 0.005, m="black"),
            shape("capsule", 0.011, 0.09, at=(0.22, 0, 0.035), q=quat_about((0.0, 1.0, 0.0), math.pi / 2), m="black"),
            pose=from_xyz_yaw(2.6, 2.66, work, -0.9),
        ),
        thing(
            "board_1",
            shape("box", 0.17, 0.11, 0.009, at=(0, 0, 0.009), m="oak"),
            pose=from_xyz_yaw(2.05, 2.63, work, 0.1),
        ),
        thing(
            "knife_1",
            shape("box", 0.09, 0.012, 0.001, at=(0.09, 0, 0.002), m="steel"),
            shape("capsule", 0.009, 0.045, at=(-0.05, 0, 0.009), q=quat_about((0.0, 1.0, 0.0), math.pi / 2), m="black"),
            pose=from_xyz_yaw(2.03, 2.63, work + 0.018, 0.5),
        ),
        thing(
            "lamp_1",
            shape("cylinder", 0.16, 0.03, at=(0, 0, 0), m="dark_lamp", repaint={"on": {"true": "lamp"}}),
            pose=(2.1, 1.4, 2.57, *IDENTITY_Q),
            fixed=True,
            attrs={"on": True},
        ),
    ]


def kitchen(*, more: tuple[Thing, ...] = ()) -> CompiledScene:
    return CompiledScene(
        id="test_kitchen",
        format=1,
        rooms=(Room(id="kitchen", nouns=("kitchen",), rect=(0.0, 0.0, 4.0, 3.0)),),
        portals=(),
        materials=MATERIALS,
        things=(
            *room_shell(),
            counter(),
            cabinet("cabinet_1", 0.9),
            cabinet("cabinet_2", 2.9),
            table(),
            *objects(),
            *more,
        ),
        lights=(Light(pos=(2.1, 1.4, 2.45), intensity=1.0),),
        spawn=(2.0, 0.4, 1.57),
    )


def look(eye: tuple[float, float, float], at: tuple[float, float, float]) -> Pose:
    """A camera at `eye` that looks at `at`, upright."""
    d = [b - a for a, b in zip(eye, at, strict=True)]
    yaw = math.atan2(d[1], d[0]) - math.pi / 2
    pitch = math.atan2(d[2], math.hypot(d[0], d[1]))
    # from looking down -z with y up: lift by 90 degrees to look along +y
    q = quat_mul(quat_about((0.0, 0.0, 1.0), yaw), quat_about((1.0, 0.0, 0.0), math.pi / 2 + pitch))
    return (*eye, *q)


def small_scene(*things: Thing, lit: bool = False, rooms: tuple[Room, ...] = ()) -> CompiledScene:
    """A few things in the open, with one lamp above or none."""
    lights = (Light(pos=(0.0, 0.0, 2.4), intensity=1.0),) if lit else ()
    return CompiledScene(
        id="small",
        format=1,
        rooms=rooms,
        portals=(),
        materials=MATERIALS,
        things=things,
        lights=lights,
        spawn=(0.0, 0.0, 0.0),
    )
