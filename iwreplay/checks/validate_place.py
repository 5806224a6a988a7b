"""Which place fits which relation."""

from __future__ import annotations

from iwreplay.checks.index import SceneIndex
from iwreplay.vocabulary import WEARER

__all__ = ["FROM_WEARER", "place_problem"]

#: relations that may lead to the wearer
_TO_WEARER = ("near", "touching", "attached")
#: relations that may start from the wearer
FROM_WEARER = ("near", "touching", "attached", "in_room", "ontop")


def place_problem(index: SceneIndex, *, relation: str, owner: str, part: str) -> str | None:
    """None when `relation` can lead to `owner` (with `part`, one of its surfaces or interiors); else why it cannot."""
    if relation == "in_room":
        if owner in index.rooms and not part:
            return None
        return f"the scene has no room {owner!r}; it has {', '.join(index.rooms)}"
    if owner == WEARER:
        return None if relation in _TO_WEARER and not part else f"nothing is ever {relation!r} the wearer"
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
