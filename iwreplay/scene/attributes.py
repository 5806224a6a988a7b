"""Which attributes a thing has, and their values at the start: from its affordances, its class, its placement."""

from __future__ import annotations

from collections.abc import Iterable

from iwreplay.errors import SceneError
from iwreplay.scene.toml import shown
from iwreplay.vocabulary import ATTRIBUTES, AttrValue

__all__ = ["checked", "defaults_for"]

_ALWAYS: dict[str, AttrValue] = {"exists": True, "parent": ""}
_BY_AFFORDANCE: dict[str, dict[str, AttrValue]] = {
    "grab": {"held": False, "discarded": False},
    "open": {"open": False},
    "lock": {"locked": False},
    "switch": {"on": False},
    "plug": {"plugged": "", "load_a": 0.0},
    "socket": {"powered": True, "load_a": 0.0},
    "cuttable": {"cut": False, "moldy": False, "mold_exposed": False},
    "cookable": {"cooked": "raw", "browned": False, "heat_s": 0.0, "hot": False},
    "heat_source": {"hot": False},
    "cookware": {"hot": False},
    "liquid_container": {"contains": {}, "sealed": False},
    "water_source": {"on": False},
    "wash": {"clean": True, "wet": False},
    "wipe": {"clean": True, "wet": False},
    "wiper": {"used": False, "clean": True, "wet": False},
    "sweepable": {"clean": False},
    "soak": {"soaked": False, "wet": False},
    "wear": {"worn": False},
    "phone": {"ringing": False, "on_call": False},
    "machine": {"running": False, "cycle": 0},
    "pages": {"page": 0},
    "edible": {"plated_on": ""},
}
_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str, "dict": dict}


def defaults_for(affordances: Iterable[str], *, fragile: bool, faces: Iterable[str]) -> dict[str, AttrValue]:
    """Attributes that a thing with these affordances has, at their usual values. A device without a plug is powered."""
    kinds = tuple(affordances)
    attrs = dict(_ALWAYS)
    for kind in kinds:
        attrs.update(_BY_AFFORDANCE.get(kind, {}))
    if "switch" in kinds:
        attrs["powered"] = "plug" not in kinds
    if fragile:
        attrs["broken"] = False
    attrs.update({f"text:{face}": "" for face in faces})
    return attrs


def checked(name: str, value: AttrValue, *, where: str, has: Iterable[str] | None = None) -> AttrValue:
    """`value` if attribute `name` may have it (an int is taken for a float). SceneError otherwise.

    `has`: the attributes of the thing; None allows any of the vocabulary."""
    known = tuple(ATTRIBUTES) if has is None else tuple(has)
    if name not in known and not (has is None and name.startswith("text:")):
        raise SceneError(f"{where}: no attribute {name!r} here; it has {', '.join(sorted(known))}")
    kind = "str" if name.startswith("text:") else ATTRIBUTES[name]
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind == "dict" and isinstance(value, dict):
        amounts = {str(k): float(v) for k, v in sorted(value.items())}
        if any(not 0.0 < v < 1000.0 for v in amounts.values()):
            raise SceneError(f"{where}: {name} holds litres above 0, not {shown(value)}")
        return amounts
    if not isinstance(value, _TYPES[kind]) or (kind != "bool" and isinstance(value, bool)):
        raise SceneError(f"{where}: {name} is a {kind}, not {shown(value)}")
    if name == "cooked" and value not in ("raw", "cooked", "burnt"):
        raise SceneError(f"{where}: cooked is raw, cooked or burnt, not {shown(value)}")
    return value
