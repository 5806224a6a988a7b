"""The task pack as data. `loader` reads it from TOML and validates it against its scene."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from iwreplay.pose import Vec3
from iwreplay.vocabulary import AttrValue, Family

__all__ = [
    "Choice",
    "Evidence",
    "Formula",
    "Gate",
    "HumanRole",
    "Limits",
    "NearMiss",
    "Objective",
    "OracleStep",
    "Placement",
    "Point",
    "ScriptAction",
    "ScriptedWorldEvent",
    "TaskPack",
    "Trigger",
]

#: A formula of the check language: nested arrays whose first item names the operator.
Formula = list[Any]


class Placement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object that the task adds to its scene, or a change of one that the scene has (`cls` is "")."""

    id: str
    cls: str = ""
    name: str = ""
    adjectives: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    touch_nouns: tuple[str, ...] = ()
    #: "counter.top" (a surface), "fridge.main" (an interior), "floor", "off" (not there yet) or "" (unchanged)
    at: str = ""
    #: offset on that surface or in that interior, metres, in the owner's frame; the yaw is in degrees
    pos: tuple[float, float] = (0.0, 0.0)
    yaw_deg: float = 0.0
    attrs: dict[str, AttrValue] = {}
    props: dict[str, AttrValue] = {}
    #: face -> text
    texts: dict[str, str] = {}
    #: class material slot -> material name or "#rrggbb"
    paint: dict[str, str] = {}
    scale: float = 1.0


class Trigger(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a scripted event fires: the first moment, in live interaction unless `phase` says warmup, at which
    every given condition holds."""

    phase: Literal["warmup", "closed_loop"] = "closed_loop"
    #: at the start of this turn or later
    turn: int | None = None
    #: simulated seconds since the phase began
    after_s: float | None = None
    #: a formula of the check language that has become true
    formula: Formula | None = None
    #: id of another scripted event that has fired
    after: str | None = None


class ScriptAction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that a scripted event does."""

    do: Literal["say", "set", "place", "ring", "stop_ring", "intend"]
    #: say: who speaks ("caller", "wearer", "colleague"), and the words
    speaker: str = ""
    text: str = ""
    #: set, place, ring, stop_ring: which thing
    thing: str = ""
    #: set: attribute and value
    attr: str = ""
    value: AttrValue = None
    #: place: as in Placement
    at: str = ""
    pos: tuple[float, float] = (0.0, 0.0)
    yaw_deg: float = 0.0
    #: intend: commands the Human is about to carry out by itself, one a turn, until interrupted
    commands: tuple[str, ...] = ()


class ScriptedWorldEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scripted event: a phone call, a delivery, a spoken correction, a Human about to err."""

    id: str
    when: Trigger
    do: tuple[ScriptAction, ...]


class HumanRole(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who the Human is and what it must not do."""

    role: str
    #: family restriction by default ("accessibility" hides every image); a task may add a sentence
    restriction: Family
    extra: str = ""
    #: what it does by itself, one command a turn, until the Assistant interrupts
    intent: tuple[str, ...] = ()


class OracleStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One oracle turn: a natural sentence, and the commands that the literal Human must make of it.
    An empty `say` is a silent turn."""

    say: str = ""
    do: tuple[str, ...] = ()


class Objective(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Counted by Pass and MCR."""

    id: str
    text: str
    formula: Formula
    #: counted only while this holds too
    credit_if: Formula | None = None


class Gate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A gate (must have held throughout) or a keep (must hold at the end); vetoes Pass."""

    id: str
    text: str
    formula: Formula


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A capability evaluation point with its own state check."""

    id: str
    capability: str
    text: str
    formula: Formula
    #: reached when this has been true (not_reached otherwise); None is always reached
    reached: Formula | None = None


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    turns: int
    actions: int


class NearMiss(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A causal control: the oracle with one thing wrong fails exactly the checks it names."""

    id: str
    text: str
    #: in a file also the number of a step of the task's oracle, counted from 1, or several as "2-5"
    oracle: tuple[OracleStep, ...]
    #: ids of the objectives, gates and keeps that must be false at the end; all others must be true
    fails: tuple[str, ...]


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that the Assistant can't do without, and by when. `tasks check` proves that it was shown it."""

    #: id of a thing that must have been seen; exactly one of `see` and `read` is given
    see: str = ""
    #: id of a thing whose text must have been legible, or one face of it: "note_1", "note_1.top"
    read: str = ""
    #: when the frame was captured
    source: Literal["warmup", "live"] = "live"
    #: what depends on it: id of an objective, or a formula; the first moment at which that is true
    before: str | Formula
    #: it is out of sight by then, so that it must be remembered
    gone: bool = False


class Choice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A choice that the Human could also make by lot: so many of the alternatives are taken, each to one of so many
    places. Several choices of a task are independent."""

    text: str
    #: ids of the alternatives
    of: tuple[str, ...]
    #: how many of them are taken
    take: int = 1
    #: how many places each of those may go to
    places: int = 1
    #: how many of all the outcomes are right
    right: int = 1


class TaskPack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen task."""

    format: int
    #: "G05"; the letter is the family's (G P A D V F)
    id: str
    #: raised whenever anything in it changes
    version: int = 1
    family: Family
    title: str
    scene: str
    #: what the wearer says at the start
    request: str
    tests: tuple[str, ...] = ()
    things: tuple[Placement, ...] = ()
    #: wearer's start if not the scene's: x, y, and the direction faced, degrees from +x towards +y
    spawn: Vec3 | None = None
    human: HumanRole
    warmup: tuple[str, ...] = ()
    script: tuple[ScriptedWorldEvent, ...] = ()
    oracle: tuple[OracleStep, ...]
    no_help: tuple[str, ...] = ()
    objectives: tuple[Objective, ...]
    gates: tuple[Gate, ...] = ()
    keeps: tuple[Gate, ...] = ()
    points: tuple[Point, ...] = ()
    #: None: 3 x oracle turns + 8, 4 x oracle actions + 16
    limits: Limits | None = None
    near_misses: tuple[NearMiss, ...] = ()
    #: left out of the log where a task has none, as in logs from before there were any
    evidence: tuple[Evidence, ...] | msgspec.UnsetType = msgspec.UNSET
    choices: tuple[Choice, ...] | msgspec.UnsetType = msgspec.UNSET
