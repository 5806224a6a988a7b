"""Which place fits which relation."""

from __future__ import annotations

from iwreplay.checks.index import SceneIndex
from iwreplay.vocabulary import WEARER

__all__ = ["place_problem"]

#: relations that may be anchored to the wearer or to the floor
_TO_WEARER = ("near", "touching", "attached", "left_of", "right_of", "behind", "in_front_of")
_TO_FLOOR = ("ontop", "touching")


def place_problem(index: SceneIndex, relation: str, owner: str, part: str) -> str | None:
    """None when `relation` can lead to `owner` (with `part`, one of its surfaces or interiors); else why it cannot."""
    if relation == "in_room":
        if owner in index.rooms and not part:
            return None
        return f"the scene has no room {owner!r}; it has {', '.join(index.rooms)}"
    if owner == WEARER:
        return None if relation in _TO_WEARER and not part else f"nothing is ever {relation!r} the wearer"
    if owner == "floor" and "floor" not in index.things:
        return None if relation in _TO_FLOOR and not part else f"nothing is ever {relation!r} the floor"
    if owner not in index.things:
        return f"the scene has no thing {owner!r}, and it is no bound variable"
    if relation == "inside":
        interiors = index.interiors(owner)
        if not interiors:
            return f"{owner} (class {index.things[owner].cls}) has no interior"
        return (
            None if not part or part in interiors else f"{owner} has no interior {part!r}, only {', '.join(interiors)}"
        )
    if not part:
        return None
    surfaces = index.surfaces(owner)
    if relation != "ontop":
        return f"{relation!r} leads to a whole thing, not to {owner}.{part}"
    return None if part in surfaces else f"{owner} has no surface {part!r}, only {', '.join(surfaces) or 'none'}"
