"""The closed vocabulary of the check language: operators with their arity, comparisons, event fields, limits."""

from __future__ import annotations

from iwreplay.vocabulary import FAILURE_CODES, HAPPENINGS

__all__ = [
    "BIND_FIELDS",
    "CHECKS_VERSION",
    "COMPARISONS",
    "DETAIL_FIELDS",
    "EPSILON",
    "EVENT_KINDS",
    "FUTURE",
    "HAPPENED_FIELDS",
    "INSTANT",
    "MAX_DEPTH",
    "MAX_NODES",
    "OPERATORS",
    "OUTCOME_CODES",
    "OUTCOME_FIELDS",
    "PICKS",
    "PRIMITIVES",
    "SELECTORS",
    "compare",
]

#: raised whenever the meaning of an operator changes
CHECKS_VERSION = 1

#: formula operator -> fewest and most arguments (None: any number)
OPERATORS: dict[str, tuple[int, int | None]] = {
    "true": (0, 0),
    "attr": (3, 4),
    "rel": (3, 3),
    "held": (1, 1),
    "baseline": (1, 1),
    "event": (1, 1),
    "and": (1, None),
    "or": (1, None),
    "not": (1, 1),
    "implies": (2, 2),
    "all": (3, 3),
    "exists": (3, 3),
    "count": (3, 3),
    "bag": (3, 3),
    "assign": (3, 3),
    "sum": (4, 4),
    "once": (1, 1),
    "hist": (1, 1),
    "prev": (1, 1),
    "since": (2, 2),
    "at_last": (2, 2),
    "ever": (1, 1),
    "always": (1, 1),
    "until": (2, 2),
    "gate": (2, 2),
    "never_moved": (1, 1),
    "bind": (5, 5),
    "clock": (2, 2),
    "route_length": (2, 2),
}

#: selector operator -> fewest and most arguments
SELECTORS: dict[str, tuple[int, int | None]] = {
    "class": (1, 1),
    "where": (3, 3),
    "in": (2, 2),
    "set": (1, None),
    "minus": (2, 2),
}

#: operators that look ahead; a live trigger may not use them
FUTURE: tuple[str, ...] = ("ever", "always", "until")
#: operators that hold for one step only
INSTANT: tuple[str, ...] = ("event",)
PICKS: tuple[str, ...] = ("first", "last", "any")
BIND_FIELDS: tuple[str, ...] = ("obj", "dest", "tool")

COMPARISONS: tuple[str, ...] = ("==", "!=", "<", "<=", ">", ">=", "has")

#: the canonical primitives, in the order of their numbers
PRIMITIVES: tuple[str, ...] = (
    "navigate_to",
    "forward",
    "turn",
    "sit",
    "standup",
    "face",
    "look_at",
    "scan",
    "read",
    "touch",
    "wait",
    "grab",
    "put_on",
    "put_inside",
    "drop",
    "discard",
    "push",
    "wear",
    "open",
    "close",
    "switch_on",
    "switch_off",
    "lock",
    "plug",
    "cut",
    "cook",
    "plate",
    "pour",
    "fill",
    "empty",
    "wash",
    "wipe",
    "sweep",
    "soak",
    "answer_phone",
    "hang_up",
)

OUTCOME_CODES: tuple[str, ...] = ("OK", *(code for group in FAILURE_CODES.values() for code in group))

#: fields of an event formula that has `verb`
OUTCOME_FIELDS: tuple[str, ...] = ("verb", "obj", "dest", "tool", "code", "ok")
#: fields of an event formula whose `kind` is one of HAPPENINGS
HAPPENED_FIELDS: tuple[str, ...] = ("kind", "obj", "dest", "tool", "detail")
#: every `kind` -> the fields that its formula may have
EVENT_KINDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(HAPPENINGS, HAPPENED_FIELDS),
    "contact": ("kind", "obj", "dest"),
    "scripted_event": ("kind", "script"),
    "assistant_decision": ("kind", "decision"),
    "phase_changed": ("kind", "phase"),
}

#: closed values of the fields of the last two kinds
DETAIL_FIELDS: dict[str, tuple[str, ...]] = {
    "decision": ("silent", "interrupt", "done"),
    "phase": ("scene_init", "warmup", "closed_loop", "end"),
}

#: two numbers closer than this are equal (litres and seconds are sums of floats)
EPSILON = 1e-6
#: deepest nesting of a formula
MAX_DEPTH = 64
#: most instances that one task's formulas may expand to
MAX_NODES = 60_000


def compare(left: object, cmp: str, right: object) -> bool:
    """``left cmp right``. Numbers are equal within EPSILON; values of different kinds are unequal and unordered.

    ``has``: a text that contains the other text, or a mapping with a positive amount under that key.
    """
    if cmp == "has":
        if isinstance(left, dict):
            amount = left.get(right, 0.0)
            return bool(amount > EPSILON)
        return isinstance(left, str) and isinstance(right, str) and right in left
    equal = _equal(left, right)
    if cmp == "==":
        return equal
    if cmp == "!=":
        return not equal
    if not (_number(left) and _number(right)):
        return False
    below = bool(left < right)  # type: ignore[operator]
    if cmp == "<":
        return below and not equal
    if cmp == "<=":
        return below or equal
    if cmp == ">":
        return not below and not equal
    return not below or equal


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(left: object, right: object) -> bool:
    if _number(left) and _number(right):
        return bool(abs(left - right) <= EPSILON)  # type: ignore[operator]
    if isinstance(left, dict) and isinstance(right, dict):
        keys = sorted({*left, *right})
        return all(abs(left.get(k, 0.0) - right.get(k, 0.0)) <= EPSILON for k in keys)
    return type(left) is type(right) and left == right
