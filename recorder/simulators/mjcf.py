"""From a compiled scene to MJCF, MuJoCo's scene language. Pure text; MuJoCo itself is not imported.

Bodies are named "thing:link index", joints "thing.joint", geoms "thing:link:shape". Fixed things stand still;
movable ones get a free joint. Every hinge and slide has a position actuator, so that a door stays where it was
driven to. Fixed things and their doors collide with movable things only, never with each other: a door that
grazes its frame must not jam.
"""

from __future__ import annotations

import hashlib
import math
import xml.etree.ElementTree as ET

from iwreplay.errors import SimulatorError
from iwreplay.pose import IDENTITY, Pose, Quat, Vec3, inverse, rotate, transform_point
from iwreplay.scene.geometry import shape_half
from iwreplay.scene.masses import solid_masses
from iwreplay.scene.model import CompiledScene, Joint, Link, Shape, Thing

__all__ = ["DT_S", "PROBE", "body_name", "physics_digest", "to_mjcf"]

#: seconds of one physics step
DT_S = 0.004

#: contact bits: (contype, conaffinity)
_FIXED = ("1", "2")
_MOVABLE = ("2", "3")

#: name of the helper body of overlap queries
PROBE = ":probe"

_CONE_SIDES = 16


def body_name(thing: str, link: int) -> str:
    """Name of a link's body."""
    return f"{thing}:{link}"


def to_mjcf(scene: CompiledScene) -> str:
    """The scene as MJCF text, the same text for the same scene."""
    root = ET.Element("mujoco", model=scene.id)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="auto", balanceinertia="true")
    option = ET.SubElement(
        root,
        "option",
        timestep=repr(DT_S),
        integrator="implicitfast",
        cone="elliptic",
        impratio="10",
        noslip_iterations="2",
        sleep_tolerance="0.002",
    )
    ET.SubElement(option, "flag", sleep="enable")
    ET.SubElement(root, "size", memory="64M")
    default = ET.SubElement(root, "default")
    ET.SubElement(
        default, "geom", condim="6", friction="0.9 0.02 0.002", solref="0.01 1", solimp="0.95 0.99 0.001", margin="0"
    )
    assets = ET.SubElement(root, "asset")
    world = ET.SubElement(root, "worldbody")
    contact = ET.SubElement(root, "contact")
    actuators = ET.SubElement(root, "actuator")
    for thing in scene.things:
        _add_thing(thing, world, assets, contact, actuators)
    # last body, last geom: the box that overlap queries measure against. It touches nothing, and its gravity
    # compensation makes MuJoCo keep that feature on, which held things rest on.
    probe = ET.SubElement(world, "body", name=PROBE, gravcomp="1")
    ET.SubElement(probe, "geom", name=PROBE, type="box", size="0.1 0.1 0.1", contype="0", conaffinity="0", group="5")
    return ET.tostring(root, encoding="unicode")


def physics_digest() -> str:
    """16 hex digits that change with any constant of the physics: the digest of a small model that has everything."""
    box = Shape(kind="box", size=(0.1, 0.1, 0.1), material="")
    slide = Joint(name="s", kind="slide", axis=(1.0, 0.0, 0.0), lo=0.0, hi=1.0, open_at=1.0, handle=(0.0, 0.0, 0.0))
    hinge = Joint(name="h", kind="hinge", axis=(1.0, 0.0, 0.0), lo=0.0, hi=1.0, open_at=1.0, handle=(0.0, 0.0, 0.0))
    links = (
        Link(name="base", shapes=(box,)),
        Link(name="s", parent=0, joint=slide, shapes=(box,)),
        Link(name="h", parent=0, joint=hinge, shapes=(box,)),
    )
    things = tuple(
        Thing(id=i, cls="", name="", nouns=("",), fixed=f, links=links, pose=IDENTITY, bounds_half=(1.0, 1.0, 1.0))
        for i, f in (("fixed", True), ("free", False))
    )
    scene = CompiledScene(
        id="physics", format=1, rooms=(), portals=(), materials=(), things=things, lights=(), spawn=(0.0, 0.0, 0.0)
    )
    return hashlib.sha256(to_mjcf(scene).encode()).hexdigest()[:16]


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(repr(float(v)) for v in values)


def _add_thing(thing: Thing, world: ET.Element, assets: ET.Element, contact: ET.Element, actuators: ET.Element) -> None:
    bodies: list[ET.Element] = []
    weights = solid_masses(thing)
    for i, link in enumerate(thing.links):
        if i == 0:
            # a drive would keep a tree awake for ever; drives of this backend wake theirs when they are told to move
            sleeps = {} if thing.fixed else {"sleep": "allowed"}
            body = ET.SubElement(world, "body", {"name": body_name(thing.id, 0), **sleeps, **_place(thing.pose)})
            if not thing.fixed:
                ET.SubElement(body, "joint", name=f"{thing.id}:free", type="free", damping="0.002")
        else:
            if not 0 <= link.parent < i or link.joint is None:
                raise SimulatorError(
                    f"link {link.name!r} of {thing.id} needs a joint and a parent that comes before it"
                )
            sleeps = {"sleep": "allowed"} if thing.fixed and link.parent == 0 else {}
            body = ET.SubElement(
                bodies[link.parent],
                "body",
                {"name": body_name(thing.id, i), "gravcomp": "1", **sleeps, **_place(link.offset)},
            )
            _add_joint(thing, link.joint, link.offset, body, actuators)
        bodies.append(body)
        for j, shape in enumerate(link.shapes):
            if shape.role != "visual":
                _add_geom(thing, f"{thing.id}:{i}:{j}", shape, mass=weights[(i, j)], body=body, assets=assets)
        if not any(s.role != "visual" for s in link.shapes) and not (i == 0 and thing.fixed):
            ET.SubElement(
                body, "inertial", pos="0 0 0", mass=repr(max(thing.mass_kg, 0.01)), diaginertia="0.001 0.001 0.001"
            )
    for i in range(len(bodies)):
        for j in range(i + 1, len(bodies)):
            ET.SubElement(contact, "exclude", body1=body_name(thing.id, i), body2=body_name(thing.id, j))


def _place(pose: Pose) -> dict[str, str]:
    return {"pos": _numbers(pose[:3]), "quat": _numbers(pose[3:])}


def _add_joint(thing: Thing, joint: Joint, offset: Pose, body: ET.Element, actuators: ET.Element) -> None:
    # the scene gives axis and anchor in the parent link's frame, MJCF wants them in the body's own
    back = inverse(offset)
    turn: Quat = (back[3], back[4], back[5], back[6])
    axis: Vec3 = rotate(turn, joint.axis)
    lo, hi = min(joint.lo, joint.hi), max(joint.lo, joint.hi)
    name = f"{thing.id}.{joint.name}"
    ET.SubElement(
        body,
        "joint",
        name=name,
        type=joint.kind,
        axis=_numbers(axis),
        pos=_numbers(transform_point(back, joint.anchor)),
        range=_numbers((lo - 0.01, hi + 0.01)),
        armature="0.5" if joint.kind == "hinge" else "5",
        damping="0.1",
    )
    # 40 rad/s: reaches a target well within 0.2 s, and a shelf full of cans moves a drawer by less than 1 mm
    kp = "1200" if joint.kind == "hinge" else "12000"
    ET.SubElement(actuators, "position", name=name, joint=name, kp=kp, dampratio="1")


def _add_geom(thing: Thing, name: str, shape: Shape, *, mass: float, body: ET.Element, assets: ET.Element) -> None:
    shape_half(shape)  # refuses sizes that are not of the kind's form
    bits = _FIXED if thing.fixed else _MOVABLE
    common = {
        "name": name,
        "mass": repr(mass),
        "contype": bits[0],
        "conaffinity": bits[1],
        **_place(shape.pose),
    }
    if shape.kind == "cone":
        ET.SubElement(assets, "mesh", name=name, vertex=_numbers(_cone_vertices(shape.size)), inertia="convex")
        ET.SubElement(body, "geom", {**common, "type": "mesh", "mesh": name})
    else:
        ET.SubElement(body, "geom", {**common, "type": shape.kind, "size": _numbers(shape.size)})


def _cone_vertices(size: tuple[float, ...]) -> tuple[float, ...]:
    bottom, top, half = size
    out: list[float] = []
    for z, r in ((-half, max(bottom, 1e-4)), (half, max(top, 1e-4))):
        for k in range(_CONE_SIDES):
            a = 2.0 * math.pi * k / _CONE_SIDES
            out.extend((r * math.cos(a), r * math.sin(a), z))
    return tuple(out)
