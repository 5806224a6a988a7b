"""Facts about the world: outcomes, deltas, poses, contacts, happenings, snapshots."""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.events.base import Event
from iwreplay.vocabulary import AttrValue

__all__ = [
    "BODY_VALUES",
    "BodyPosed",
    "Contact",
    "Happened",
    "PosesSampled",
    "PrimitiveOutcome",
    "ScriptedEvent",
    "StateDelta",
    "WorldSnapshot",
]


class PrimitiveOutcome(Event, frozen=True, kw_only=True, tag="primitive_outcome"):
    """Result of one command. A refused command changed nothing and took no simulated time."""

    action: int
    #: the command's text as issued
    command: str
    #: surface verb as written, "" when it did not parse
    verb: str
    #: canonical primitive, "" when it did not parse
    primitive: str
    #: grounded ids: main object, destination, tool; "" when there is none
    obj: str = ""
    dest: str = ""
    tool: str = ""
    ok: bool
    #: "OK" or one of FAILURE_CODES
    code: str
    #: one sentence for the Human, without any hidden identifier; "" on success
    sentence: str = ""
    #: id of the blocking entity, or ""
    blocker: str = ""
    #: refused before anything moved
    refused: bool
    started_s: float
    duration_s: float
    #: metres walked
    distance_m: float = 0.0


class StateDelta(Event, frozen=True, kw_only=True, tag="state_delta"):
    """One attribute of one thing changed."""

    thing: str
    attr: str
    old: AttrValue
    new: AttrValue
    #: "primitive:<canonical>", "process:<name>", "script:<id>"
    cause: str


class Contact(Event, frozen=True, kw_only=True, tag="contact"):
    """Physical contact that matters to checks: began between two things."""

    a: str
    b: str


class Happened(Event, frozen=True, kw_only=True, tag="happened"):
    """A semantic happening (one of HAPPENINGS) that checks bind to."""

    what: str
    obj: str = ""
    dest: str = ""
    tool: str = ""
    detail: dict[str, AttrValue] = msgspec.field(default_factory=dict)


class ScriptedEvent(Event, frozen=True, kw_only=True, tag="scripted_event"):
    """A scripted event of the task fired."""

    script: str
    text: str = ""


class PosesSampled(Event, frozen=True, kw_only=True, tag="poses_sampled", omit_defaults=True):
    """Poses of the things, and positions of the joints, that moved since the last sample."""

    #: physics step
    step: int
    things: tuple[str, ...]
    #: "thing.joint"
    joints: tuple[str, ...]
    #: 7 values a thing (x y z qw qx qy qz; world frame), then one a joint (rad or m)
    values: tuple[float, ...] = ()


#: length of a body vector: 7 values of the root pose, then 156 axis-angle values
BODY_VALUES = 163


class BodyPosed(Event, frozen=True, kw_only=True, tag="body_posed", omit_defaults=True):
    """The wearer's body."""

    step: int
    #: 7 values of the root (pelvis ground projection: x y z and quaternion), then 156 axis-angle values in
    #: SMPL+H order (52 joints x 3, radians)
    values: tuple[float, ...] = ()


class WorldSnapshot(Event, frozen=True, kw_only=True, tag="world_snapshot", omit_defaults=True):
    """The whole foldable state, so that seeking needs no fold from the start."""

    reason: Literal["initial", "baseline", "periodic", "final"]
    step: int
    things: tuple[str, ...]
    joints: tuple[str, ...]
    #: thing id (and the wearer) -> attribute -> value
    attrs: dict[str, dict[str, AttrValue]]
    #: things, then joints, then the 163 body values; as in PosesSampled and BodyPosed
    values: tuple[float, ...] = ()
