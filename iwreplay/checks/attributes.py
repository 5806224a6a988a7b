"""Which thing can have which attribute, of what type, and what it is when nothing was ever said about it."""

from __future__ import annotations

import math

from iwreplay.checks.index import SceneIndex
from iwreplay.checks.language import EPSILON
from iwreplay.vocabulary import ATTRIBUTES, WEARER, AttrValue

__all__ = [
    "ID_ATTRIBUTES",
    "comparison_problem",
    "constant_of",
    "default_of",
    "is_constant",
    "type_of",
    "value_problem",
    "why_not",
]

#: attribute -> affordances any of which gives it; () is every thing. Wearer attributes stand apart.
_NEEDS: dict[str, tuple[str, ...]] = {
    "exists": (),
    "open": ("open",),
    "locked": ("lock",),
    "sealed": ("open", "liquid_container"),
    "on": ("switch", "heat_source", "water_source", "machine"),
    "running": ("machine",),
    "cycle": ("machine",),
    "plugged": ("plug",),
    "powered": ("plug", "socket", "switch"),
    "charged": ("switch",),
    "cooked": ("cookable",),
    "browned": ("cookable",),
    "heat_s": ("cookable",),
    "hot": ("cookable", "cookware", "heat_source", "machine", "plate", "liquid_container"),
    "cut": ("cuttable",),
    "moldy": ("cuttable", "edible"),
    "mold_exposed": ("cuttable", "edible"),
    "broken": ("grab",),
    "clean": ("wash", "wipe", "wiper", "grab", "soak"),
    "used": ("grab",),
    "wet": ("wash", "wipe", "wiper", "soak", "grab"),
    "soaked": ("soak", "wiper"),
    "contains": ("liquid_container",),
    "ringing": ("phone",),
    "on_call": ("phone",),
    "worn": ("wear",),
    "discarded": ("grab", "sweepable"),
    "plated_on": ("edible", "cookable", "cuttable"),
    "held": ("grab",),
    "temperature_zone": (),
    "load_a": ("plug", "socket"),
}
_WEARER: tuple[str, ...] = ("posture", "sitting", "held", "room")

#: closed values of text attributes
_CHOICES: dict[str, tuple[str, ...]] = {
    "cooked": ("raw", "cooked", "burnt"),
    "posture": ("stand", "stoop", "crouch", "sit"),
}
#: attributes whose value is the id of a thing or ""
ID_ATTRIBUTES: tuple[str, ...] = ("plugged", "plated_on", "sitting", "held")

_BY_TYPE: dict[str, AttrValue] = {"bool": False, "number": 0, "str": "", "dict": {}}
_DEFAULTS: dict[str, AttrValue] = {"exists": True, "cooked": "raw", "clean": True}


def is_constant(index: SceneIndex, attr: str) -> bool:
    """True for what never changes: the class, the public name, and the constants (`props`) of things."""
    return attr in ("class", "name") or (attr not in ATTRIBUTES and ":" not in attr and attr in index.props)


def constant_of(index: SceneIndex, thing: str, attr: str) -> AttrValue:
    """Value of a constant attribute; None when the thing lacks it."""
    found = index.things[thing]
    if attr == "class":
        return found.cls
    if attr == "name":
        return found.name
    return found.props.get(attr)


def type_of(index: SceneIndex, thing: str, attr: str) -> str:
    """ "bool", "number", "str" or "dict" for an attribute that `thing` can have (see `why_not`)."""
    if attr.startswith("contains:"):
        return "number"
    if attr.startswith("text:") or attr in ("class", "name"):
        return "str"
    if thing == WEARER and attr == "held":
        return "str"
    if attr in ATTRIBUTES:
        return _plain(ATTRIBUTES[attr])
    value = index.things[thing].props[attr]
    return _plain(type(value).__name__)


def default_of(attr: str, type_name: str) -> AttrValue:
    """What an attribute is while no event and no scene has given it a value."""
    return _DEFAULTS.get(attr, _BY_TYPE[type_name])


def why_not(index: SceneIndex, thing: str, attr: str) -> str | None:
    """None when `thing` can have `attr`; otherwise a sentence saying why it cannot."""
    if attr == "parent":
        return '`parent` is what the recorder believed; ask for the relation with ["rel", ...] instead'
    if thing == WEARER:
        return None if attr in _WEARER else f"the wearer has no attribute {attr!r}, only {', '.join(_WEARER)}"
    found = index.things[thing]
    if attr.startswith("text:"):
        face = attr.removeprefix("text:")
        faces = index.faces(thing)
        if face in faces or attr in found.attrs:
            return None
        return f"{thing} (class {found.cls}) has no face {face!r}; it has {', '.join(faces) or 'none'}"
    if attr.startswith("contains:"):
        if "liquid_container" in found.affordances or "contains" in found.attrs:
            return None
        return f"{thing} (class {found.cls}) cannot have {attr!r}: it holds no liquid"
    if attr in ("class", "name") or attr in found.props or attr in found.attrs:
        return None
    if attr not in ATTRIBUTES:
        if attr in index.props:
            return f"{thing} (class {found.cls}) has no constant {attr!r}"
        return f"there is no attribute {attr!r}, in the vocabulary or among the constants of the scene's things"
    needs = _NEEDS.get(attr)
    if needs is None:
        return f"{attr!r} is an attribute of the wearer, not of {thing}"
    if needs and not any(a in found.affordances for a in needs):
        return f"{thing} (class {found.cls}) cannot have {attr!r}: that needs {' or '.join(needs)}"
    return None


def comparison_problem(attr: str, type_name: str, cmp: str) -> str | None:
    """None when values of that type can be compared by `cmp`; otherwise a sentence saying why not."""
    if cmp == "has":
        if type_name in ("str", "dict") and attr not in ID_ATTRIBUTES:
            return None
        return f"`has` looks into texts and contents; {attr!r} is a {type_name}"
    if cmp not in ("==", "!=") and type_name != "number":
        return f"{cmp!r} compares numbers; {attr!r} is a {type_name}"
    return None


def value_problem(index: SceneIndex, *, attr: str, type_name: str, value: object, cmp: str) -> str | None:
    """None when `attr cmp value` makes sense for an attribute of that type; otherwise a sentence saying why not."""
    if cmp == "has":
        return None if isinstance(value, str) and value else f"`has` needs a text that is not empty, not {value!r}"
    if type_name == "number":
        fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    elif type_name == "dict":
        fits = isinstance(value, dict) and all(
            isinstance(k, str) and isinstance(v, int | float) and not isinstance(v, bool) and v > EPSILON
            for k, v in value.items()
        )
    else:
        fits = isinstance(value, bool if type_name == "bool" else str)
    if not fits:
        wanted = "a table of liquid -> litres above 0" if type_name == "dict" else f"a {type_name}"
        return f"{attr!r} takes {wanted}, not {value!r}"
    choices = _CHOICES.get(attr)
    if choices is not None and value not in choices:
        return f"{attr!r} is one of {', '.join(choices)}, not {value!r}"
    if attr == "room" and value not in index.rooms:
        return f"the scene has no room {value!r}; it has {', '.join(index.rooms)}"
    if attr in ID_ATTRIBUTES and isinstance(value, str) and value and value not in index.things:
        return f"the scene has no thing {value!r} (value of {attr!r})"
    return None


def _plain(name: str) -> str:
    return "number" if name in ("int", "float") else name
