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

    #: index of the command that this is the result of
    action: int
    #: the command's text as issued
    command: str
    #: surface verb as written, "" when it did not parse
    verb: str
    #: canonical primitive, "" when it did not parse
    primitive: str
    #: grounded id of the main object, or ""
    obj: str = ""
    #: grounded id of the destination, or ""
    dest: str = ""
    #: grounded id of the tool, or ""
    tool: str = ""
    #: True: it was carried out
    ok: bool
    #: "OK" or one of FAILURE_CODES
    code: str
    #: one sentence for the Human, without any hidden identifier; "" on success
    sentence: str = ""
    #: id of the blocking entity, or ""
    blocker: str = ""
    #: refused before anything moved
    refused: bool
    #: simulated seconds at which it began
    started_s: float
    #: simulated seconds that it took; 0 when refused
    duration_s: float
    #: metres walked
    distance_m: float = 0.0


class StateDelta(Event, frozen=True, kw_only=True, tag="state_delta"):
    """One attribute of one thing changed."""

    #: id of a thing, or "wearer"
    thing: str
    #: name of the attribute
    attr: str
    #: value before; None when it was never set
    old: AttrValue
    #: value from now on
    new: AttrValue
    #: "primitive:<canonical>", "process:<name>", "script:<id>"
    cause: str


class Contact(Event, frozen=True, kw_only=True, tag="contact"):
    """Physical contact that matters to checks: began between two things."""

    #: id of a thing; the lesser of the two
    a: str
    #: id of the other thing
    b: str


class Happened(Event, frozen=True, kw_only=True, tag="happened"):
    """A semantic happening (one of HAPPENINGS) that checks bind to."""

    #: one of HAPPENINGS
    what: str
    #: id of the main thing, or ""
    obj: str = ""
    #: id of what it happened to or into, or ""
    dest: str = ""
    #: id of what it was done with, or ""
    tool: str = ""
    #: more of it by name, such as a liquid and its litres
    detail: dict[str, AttrValue] = msgspec.field(default_factory=dict)


class ScriptedEvent(Event, frozen=True, kw_only=True, tag="scripted_event"):
    """A scripted event of the task fired."""

    #: id of the scripted event in the task
    script: str
    #: a remark for readers of the log, or "" (words that are heard are an utterance)
    text: str = ""


class PosesSampled(Event, frozen=True, kw_only=True, tag="poses_sampled", omit_defaults=True):
    """Poses of the things, and positions of the joints, that moved since the last sample."""

    #: physics step
    step: int
    #: ids of what moved
    things: tuple[str, ...]
    #: "thing.joint"
    joints: tuple[str, ...]
    #: 7 values a thing (x y z qw qx qy qz; world frame), then one a joint (rad or m)
    values: tuple[float, ...] = ()


#: length of a body vector: 7 values of the root pose, then 156 axis-angle values
BODY_VALUES = 163


class BodyPosed(Event, frozen=True, kw_only=True, tag="body_posed", omit_defaults=True):
    """Where the wearer's body is: a sample, like those of the things."""

    #: physics step
    step: int
    #: 7 values of the root (pelvis ground projection: x y z and quaternion), then 156 axis-angle values in
    #: SMPL+H order (52 joints x 3, radians)
    values: tuple[float, ...] = ()


class WorldSnapshot(Event, frozen=True, kw_only=True, tag="world_snapshot", omit_defaults=True):
    """The whole foldable state, so that seeking needs no fold from the start."""

    #: why here: at the start, when live interaction begins, every so many events, at the end
    reason: Literal["initial", "baseline", "periodic", "final"]
    #: physics step
    step: int
    #: ids of all things
    things: tuple[str, ...]
    #: all joints, "thing.joint"
    joints: tuple[str, ...]
    #: thing id (and the wearer) -> attribute -> value
    attrs: dict[str, dict[str, AttrValue]]
    #: things, then joints, then the 163 body values; as in PosesSampled and BodyPosed
    values: tuple[float, ...] = ()
