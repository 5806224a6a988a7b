"""What a stage says of a scene, read back: plain frozen data in our units. Metres, radians, kilograms, wxyz."""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.pose import Pose, Vec3

__all__ = [
    "DEFAULT_VIEW",
    "StageCamera",
    "StageFace",
    "StageJoint",
    "StageLink",
    "StageScene",
    "StageSolid",
    "StageThing",
    "View",
]


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What the wearer's camera takes in."""

    #: pixels
    width: int = 640
    height: int = 480
    #: vertical field of view, degrees
    fovy_deg: float = 60.0


DEFAULT_VIEW = View()


class StageSolid(msgspec.Struct, frozen=True, kw_only=True):
    """A collision shape. `size` as in `scene.model.Shape`; of a hull: x, y, z of its points."""

    kind: Literal["box", "cylinder", "sphere", "capsule", "hull"]
    size: tuple[float, ...]
    #: link_from_solid
    pose: Pose


class StageFace(msgspec.Struct, frozen=True, kw_only=True):
    """A face that carries text, or could."""

    name: str
    #: link_from_face
    pose: Pose
    #: width and height, metres
    size: tuple[float, float]
    text: str | None
    #: the picture of the text, a path from the stage's folder; None without text
    picture: str | None


class StageJoint(msgspec.Struct, frozen=True, kw_only=True):
    """How a link moves against its parent; position 0 is closed."""

    name: str
    kind: Literal["hinge", "slide"]
    #: unit axis and anchor in the parent link's frame
    axis: Vec3
    anchor: Vec3
    #: parent_from_link at position 0
    offset: Pose
    #: rad or m
    lo: float
    hi: float
    #: where it stands in the stage, rad or m
    position: float
    #: of its drive: N m / rad or N / m, and the same times seconds
    stiffness: float
    damping: float
    #: where its drive wants it, rad or m
    target: float


class StageLink(msgspec.Struct, frozen=True, kw_only=True):
    """A rigid piece of a thing."""

    name: str
    #: number of the link that it moves against, -1 for the base
    parent: int
    #: thing_from_link in the stage
    pose: Pose
    #: None for what is part of the building and does not move
    mass_kg: float | None
    joint: StageJoint | None
    solids: tuple[StageSolid, ...]
    faces: tuple[StageFace, ...]


class StageThing(msgspec.Struct, frozen=True, kw_only=True):
    """An object or a piece of furniture."""

    id: str
    #: semantic labels: its class, and its public name
    cls: str
    name: str
    fixed: bool
    #: False: off stage, hidden and without physics
    present: bool
    #: world_from_thing
    pose: Pose
    links: tuple[StageLink, ...]
    #: (x, y, yaw) in the world of every place that the scene gives for using it
    stances: tuple[Vec3, ...]


class StageCamera(msgspec.Struct, frozen=True, kw_only=True):
    """The wearer's camera."""

    #: world_from_camera; it looks along its -z, y up
    pose: Pose
    view: View
    #: field of view as focal length and aperture have it, rad
    fovy_rad: float


class StageScene(msgspec.Struct, frozen=True, kw_only=True):
    """A stage."""

    id: str
    #: sha256 of the compiled scene that it was made from, as in a log's `scene_hash`
    scene_hash: str
    things: tuple[StageThing, ...]
    #: x, y, yaw where the wearer starts
    spawn: Vec3
    camera: StageCamera
    #: downwards, m/s2
    gravity: float
    #: of one physics step
    dt_s: float
    #: (place, strength, whether it shines) of every lamp
    lamps: tuple[tuple[Vec3, float, bool], ...]
