"""What falls to pieces when it breaks: whatever is brittle, has a round wall, and no look of its own for it."""

from __future__ import annotations

from iwreplay.scene.model import Shape, Thing

__all__ = ["BROKEN", "falls_to_pieces", "wall_of"]

BROKEN = "broken"
#: a rounder shape that is so much smaller than another is no wall
_ROUND = ("lathe", "cylinder")


def falls_to_pieces(thing: Thing) -> bool:
    """Whether it is drawn in pieces of its wall while it is broken. What its class draws broken by itself is not, and
    neither is what does not break when it falls, or has no wall: that shows cracks."""
    if not thing.fragile or any(BROKEN in (*s.when, *s.repaint) for link in thing.links for s in link.shapes):
        return False
    return wall_of(thing) is not None


def wall_of(thing: Thing) -> Shape | None:
    """The largest upright round shape of its base that is always drawn, None when there is none."""
    best: tuple[float, Shape] | None = None
    for shape in thing.links[0].shapes:
        if shape.role == "collision" or shape.kind not in _ROUND or shape.when or shape.pose[4] or shape.pose[5]:
            continue
        if shape.kind == "lathe":
            radius, zs = max(shape.size[0::2]), shape.size[1::2]
            height = max(zs) - min(zs)
        else:
            radius, height = shape.size[0], 2.0 * shape.size[1]
        size = radius * (radius + height)
        if best is None or size > best[0]:
            best = (size, shape)
    return None if best is None else best[1]
