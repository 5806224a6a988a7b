"""The closed vocabularies that scenes, primitives, checks and logs share.

Everything here is an explicit tuple: order is part of the contract, duplicates are refused by a test.
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "AFFORDANCES",
    "ATTRIBUTES",
    "CAPABILITIES",
    "FAILURE_CODES",
    "FAMILIES",
    "HAPPENINGS",
    "PHASES",
    "RELATIONS",
    "WEARER",
    "AttrValue",
    "Family",
    "Phase",
]

#: The id of the person who wears the camera, as a thing in relations and attributes.
WEARER = "wearer"

AttrValue = bool | int | float | str | dict[str, float] | None

Phase = Literal["scene_init", "warmup", "closed_loop", "end"]
#: in the order in which they come, rule 1
PHASES: tuple[Phase, ...] = ("scene_init", "warmup", "closed_loop", "end")

Family = Literal["guidance", "planning", "accessibility", "decision", "prevention", "finding"]
FAMILIES: tuple[Family, ...] = ("guidance", "planning", "accessibility", "decision", "prevention", "finding")

CAPABILITIES: dict[str, str] = {
    "C1": "object and state recognition",
    "C2": "spatial grounding",
    "C3": "scene-text reading",
    "C4": "episodic memory and state tracking",
    "C5": "planning and replanning",
    "C6": "knowledge and reasoning",
    "C7": "error detection",
    "C8": "proactivity",
    "C9": "communication",
}

#: What a class of things can be used for. A primitive asks for these, never for class names.
AFFORDANCES: tuple[str, ...] = (
    "grab",  # can be picked up with one hand
    "surface",  # things can be put on it (has surfaces)
    "container",  # things can be put inside it (has interiors)
    "open",  # has a door, drawer, lid, sash or curtain that opens and closes
    "lock",  # can be locked
    "key",  # locks and unlocks what names it in prop `key`
    "switch",  # can be switched on and off
    "plug",  # has a mains plug
    "socket",  # a plug goes in here
    "seat",  # can be sat on
    "cuttable",  # can be cut
    "cutter",  # cuts
    "cookable",  # raw -> cooked -> burnt by heat
    "heat_source",  # heats what is on or in it while on
    "cookware",  # a pan: carries heat from the source it stands on
    "server_tool",  # spatula, tongs: moves hot food
    "plate",  # food is plated on it; carries it when held
    "liquid_container",  # holds liquids (attr `contains`)
    "water_source",  # a tap
    "sink",  # things are washed and emptied here
    "bin",  # things are discarded here
    "wash",  # can be washed
    "wipe",  # a surface that can be wiped
    "wiper",  # a cloth or sponge that wipes
    "sweepable",  # debris
    "sweeper",  # a broom
    "dustpan",  # receives debris
    "soak",  # can be soaked
    "wear",  # can be worn
    "phone",  # rings and is answered
    "read",  # carries text on a face
    "pages",  # a document of several pages: shows one of them while it is open
    "push",  # can be pushed along its support
    "machine",  # runs cycles while on and closed (oven, washer, microwave)
    "edible",
)

#: Attribute name -> python type name of its values; `text:<face>` attributes are str and not listed.
ATTRIBUTES: dict[str, str] = {
    "exists": "bool",  # False: off stage (not delivered yet, or consumed)
    "open": "bool",
    "page": "int",  # of a document: the page that it shows, 0 while it is closed
    "locked": "bool",
    "sealed": "bool",
    "on": "bool",
    "running": "bool",
    "cycle": "int",  # id of the present or last cycle; each start adds one
    "plugged": "str",  # id of the socket, "" when unplugged
    "powered": "bool",
    "charged": "bool",  # of a device with a battery: False while that is empty
    "cooked": "str",  # raw | cooked | burnt
    "browned": "bool",
    "heat_s": "float",  # accumulated seconds of cooking heat
    "hot": "bool",
    "cut": "bool",
    "moldy": "bool",  # hidden until cut
    "mold_exposed": "bool",
    "broken": "bool",
    "clean": "bool",
    "used": "bool",
    "wet": "bool",
    "soaked": "bool",
    "contains": "dict",  # liquid -> litres
    "ringing": "bool",
    "on_call": "bool",
    "worn": "bool",
    "discarded": "bool",
    "plated_on": "str",
    "held": "bool",
    # what the semantic layer believes: "on:counter.top", "in:fridge.main", "held", "worn", "floor", "off", "fixed"
    "parent": "str",
    "temperature_zone": "str",
    "load_a": "float",  # amperes drawn by a device, or summed over a strip
    "posture": "str",  # wearer: stand | stoop | crouch | sit
    "sitting": "str",  # wearer: id of the seat or ""
    "room": "str",  # wearer: id of the room
}

RELATIONS: tuple[str, ...] = (
    "ontop",
    "inside",
    "attached",
    "under",
    "left_of",
    "right_of",
    "behind",
    "in_front_of",
    "near",
    "in_room",
    "touching",
)

#: Kinds of `happened` events: facts that checks bind to.
HAPPENINGS: tuple[str, ...] = (
    "pour",  # obj source vessel, dest vessel, detail liquid + litres
    "fill",
    "empty",
    "wipe",  # obj surface, tool
    "wash",
    "soak",
    "touch",  # obj touched thing, tool held thing or ""
    "cut",  # obj, tool
    "exposed_text",  # obj, detail face + text
    "seen",  # obj became visible to the wearer for the first time
    "fell",
    "broke",
    "cycle_started",
    "cycle_ended",
    "collision",
    "sweep",
    "discard",
    "ring_started",
    "ring_stopped",
)

#: Closed set of outcome codes: group -> codes. "OK" is success.
FAILURE_CODES: dict[str, tuple[str, ...]] = {
    "parse": ("PARSE", "UNKNOWN_VERB", "ARITY", "BAD_NUMBER"),
    "grounding": ("UNKNOWN_TARGET", "AMBIGUOUS", "NOT_VISIBLE", "FORBIDDEN_REF", "NO_VISION_REF"),
    "motion": ("NO_PATH", "COLLISION", "UNREACHABLE", "OCCLUDED", "TOO_FAR", "POSTURE", "OCCUPIED"),
    "hand": ("HAND_FULL", "NOT_HELD", "NO_TOOL"),
    "affordance": ("NO_AFFORDANCE", "NOT_GRABBABLE"),
    "state": (
        "ALREADY",
        "CLOSED",
        "OPEN",
        "LOCKED",
        "RUNNING",
        "DEVICE_OFF",
        "NO_POWER",
        "OVERLOAD",
        "SEALED",
        "EMPTY",
        "FULL",
        "NO_SPACE",
        "BLOCKED",
        "NOT_RINGING",
    ),
    "execution": ("EXECUTION", "POSTCONDITION"),
    "protocol": ("LIMIT",),
}
