"""The closed table of the 36 canonical primitives. `docs/primitives.md` states it in words; a test holds them equal."""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.vocabulary import FAILURE_CODES

__all__ = ["COMMON_CODES", "NUMBER_RANGES", "PRIMITIVES", "Arg", "Primitive", "by_verb"]

NumberKind = Literal["distance", "shift", "angle", "arc", "error", "duration", "cooking"]
ArgKind = Literal["thing", "held", "place"] | NumberKind

#: kind -> (lowest, highest, unit); a walking distance may be negative (backwards), its size is at least 0.05 m
NUMBER_RANGES: dict[str, tuple[float, float, str]] = {
    "distance": (-2.0, 10.0, "metres"),
    "shift": (0.02, 1.0, "metres"),
    "angle": (1.0, 360.0, "degrees"),
    "arc": (10.0, 360.0, "degrees"),
    "error": (1.0, 180.0, "degrees"),
    "duration": (0.1, 600.0, "seconds"),
    "cooking": (1.0, 3600.0, "seconds"),
}

#: codes that every primitive can give
COMMON_CODES: tuple[str, ...] = (*FAILURE_CODES["parse"], *FAILURE_CODES["grounding"], *FAILURE_CODES["execution"])


class Arg(msgspec.Struct, frozen=True):
    """One argument position."""

    name: str
    #: "held": names the thing in the hand; "place": a thing or a room; "thing": any thing; else a number
    kind: ArgKind
    optional: bool = False

    @property
    def is_number(self) -> bool:
        """True for distances, angles, durations and the angle error."""
        return self.kind in NUMBER_RANGES


class Primitive(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    number: int
    canonical: str
    #: surface verbs, the usual one first
    verbs: tuple[str, ...]
    args: tuple[Arg, ...] = ()
    #: codes beyond `COMMON_CODES` with which it can be refused
    codes: tuple[str, ...]
    #: verbs of this row that take no number although the row has one
    without_number: tuple[str, ...] = ()

    def least(self) -> int:
        """Fewest arguments."""
        return sum(not a.optional for a in self.args)


#: codes of everything that first brings the hand to a thing; and to things that nothing shuts away
_REACH = ("UNREACHABLE", "POSTURE", "CLOSED")
_REACH_FIXED = _REACH[:2]


def _row(
    number: int,
    canonical: str,
    verbs: str,
    args: tuple[Arg, ...],
    codes: str,
    *,
    reach: bool = False,
    reach_fixed: bool = False,
    without_number: tuple[str, ...] = (),
) -> Primitive:
    own = tuple(codes.split())
    extra = _REACH if reach else _REACH_FIXED if reach_fixed else ()
    return Primitive(
        number=number,
        canonical=canonical,
        verbs=tuple(verbs.split()),
        args=args,
        codes=own + extra,
        without_number=without_number,
    )


_TARGET = Arg("target", "thing")
_PLACE = Arg("target", "place")
_HELD = Arg("held", "held")


PRIMITIVES: tuple[Primitive, ...] = (
    _row(1, "navigate_to", "Walk Run WalkTowards", (_PLACE,), "NO_PATH COLLISION POSTURE"),
    _row(2, "forward", "Forward WalkForward", (Arg("distance", "distance", True),), "COLLISION POSTURE"),
    _row(
        3,
        "turn",
        "TurnLeft TurnRight TurnAround",
        (Arg("angle", "angle", True),),
        "COLLISION POSTURE",
        without_number=("TurnAround",),
    ),
    _row(4, "sit", "Sit", (Arg("seat", "thing"),), "UNREACHABLE OCCUPIED ALREADY NO_AFFORDANCE"),
    _row(5, "standup", "StandUp", (), "ALREADY NO_PATH"),
    _row(6, "face", "Face TurnTo", (_PLACE, Arg("angle error", "error", True)), "COLLISION POSTURE"),
    _row(7, "look_at", "LookAt Look PointAt", (_TARGET,), "OCCLUDED"),
    _row(8, "scan", "Scan LookAround", (Arg("angle", "arc", True),), ""),
    _row(9, "read", "Read Inspect", (_TARGET,), "TOO_FAR OCCLUDED NO_AFFORDANCE"),
    _row(10, "touch", "Touch", (_TARGET,), "", reach=True),
    _row(11, "wait", "Wait Idle", (Arg("duration", "duration", True),), ""),
    _row(
        12, "grab", "Grab PickUp Take", (Arg("object", "thing"),), "HAND_FULL NOT_GRABBABLE LOCKED BLOCKED", reach=True
    ),
    _row(
        13,
        "put_on",
        "PutOn Put PlaceOn",
        (_HELD, Arg("surface", "thing")),
        "NOT_HELD NO_SPACE NO_AFFORDANCE",
        reach=True,
    ),
    _row(
        14,
        "put_inside",
        "PutInside PutIn",
        (_HELD, Arg("container", "thing")),
        "NOT_HELD NO_SPACE NO_AFFORDANCE",
        reach=True,
    ),
    _row(15, "drop", "Drop Release", (_HELD,), "NOT_HELD"),
    _row(
        16,
        "discard",
        "Discard ThrowAway",
        (_HELD, Arg("bin", "thing")),
        "NOT_HELD NO_SPACE NO_AFFORDANCE",
        reach=True,
    ),
    _row(
        17,
        "push",
        "Push Pull Slide",
        (Arg("object", "thing"), Arg("distance", "shift", True)),
        "HAND_FULL COLLISION NO_AFFORDANCE",
        reach=True,
    ),
    _row(18, "wear", "Wear TakeOff", (Arg("item", "thing"),), "NOT_HELD HAND_FULL ALREADY NO_AFFORDANCE"),
    _row(19, "open", "Open", (Arg("object", "thing"),), "ALREADY LOCKED RUNNING BLOCKED NO_AFFORDANCE", reach=True),
    _row(20, "close", "Close", (Arg("object", "thing"),), "ALREADY BLOCKED NO_AFFORDANCE", reach=True),
    _row(
        21,
        "switch_on",
        "SwitchOn TurnOn Start Press",
        (Arg("device", "thing"),),
        "ALREADY NO_POWER OPEN NO_AFFORDANCE",
        reach=True,
    ),
    _row(22, "switch_off", "SwitchOff TurnOff Stop", (Arg("device", "thing"),), "ALREADY NO_AFFORDANCE", reach=True),
    _row(23, "lock", "Lock Unlock", (Arg("object", "thing"),), "NO_TOOL OPEN ALREADY NO_AFFORDANCE", reach_fixed=True),
    _row(
        24,
        "plug",
        "PlugIn PlugOut",
        (Arg("device", "thing"), Arg("socket", "thing", True)),
        "NO_AFFORDANCE OVERLOAD ALREADY OCCUPIED TOO_FAR",
        reach=True,
    ),
    _row(25, "cut", "Cut Slice Score", (Arg("food", "thing"),), "NO_TOOL NO_AFFORDANCE ALREADY", reach=True),
    _row(
        26,
        "cook",
        "Cook Fry",
        (Arg("food", "thing"), Arg("duration", "cooking", True)),
        "DEVICE_OFF NO_AFFORDANCE UNREACHABLE POSTURE ALREADY",
    ),
    _row(
        27,
        "plate",
        "Plate Serve",
        (Arg("food", "thing"), Arg("plate", "thing")),
        "NO_TOOL NO_SPACE NO_AFFORDANCE HAND_FULL",
        reach=True,
    ),
    _row(
        28,
        "pour",
        "Pour",
        (_HELD, Arg("container", "thing")),
        "NOT_HELD EMPTY SEALED FULL NO_AFFORDANCE",
        reach=True,
    ),
    _row(
        29,
        "fill",
        "Fill",
        (Arg("vessel", "thing"), Arg("source", "thing")),
        "DEVICE_OFF FULL NOT_HELD NO_AFFORDANCE",
        reach=True,
    ),
    _row(30, "empty", "Empty", (_HELD, Arg("sink", "thing")), "NOT_HELD EMPTY SEALED NO_AFFORDANCE", reach=True),
    _row(
        31,
        "wash",
        "Wash Rinse Scrub",
        (Arg("object", "thing"), Arg("sink", "thing", True)),
        "DEVICE_OFF NOT_HELD NO_AFFORDANCE",
        reach_fixed=True,
    ),
    _row(32, "wipe", "Wipe", (Arg("surface", "thing"),), "NO_TOOL NO_AFFORDANCE", reach_fixed=True),
    _row(
        33,
        "sweep",
        "Sweep",
        (Arg("debris", "thing"), Arg("pan", "thing", True)),
        "NO_TOOL NO_AFFORDANCE NO_SPACE",
        reach=True,
    ),
    _row(34, "soak", "Soak", (_HELD, Arg("vessel", "thing")), "EMPTY NOT_HELD NO_AFFORDANCE", reach=True),
    _row(35, "answer_phone", "AnswerPhone", (Arg("phone", "thing"),), "NOT_RINGING NO_AFFORDANCE", reach=True),
    _row(36, "hang_up", "HangUp", (Arg("phone", "thing"),), "ALREADY NO_AFFORDANCE", reach=True),
)


def _verbs() -> dict[str, tuple[str, Primitive]]:
    table: dict[str, tuple[str, Primitive]] = {}
    for row in PRIMITIVES:
        for verb in row.verbs:
            key = verb.lower()
            assert key not in table, f"the verb {verb} is listed twice"
            table[key] = (verb, row)
    return table


#: lower-case surface verb -> (the verb as documented, its row)
by_verb: dict[str, tuple[str, Primitive]] = _verbs()
