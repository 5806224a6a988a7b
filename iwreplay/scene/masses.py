"""How a thing's mass is spread over its collision solids: evenly, by volume. Scalar Python, pure."""

from __future__ import annotations

import math

from iwreplay.errors import SceneError
from iwreplay.scene.model import Shape, Thing

__all__ = ["solid_masses"]

#: kilograms; a solid weighs at least so much, or physics could not move it
_LEAST_KG = 0.001


def solid_masses(thing: Thing) -> dict[tuple[int, int], float]:
    """(number of the link, number of the shape) of every collision solid -> kilograms: its share of the thing's mass
    by volume, at least a gram. SceneError for a shape that can't be collided with."""
    volumes = {
        (i, j): _volume(s)
        for i, link in enumerate(thing.links)
        for j, s in enumerate(link.shapes)
        if s.role != "visual"
    }
    total = 0.0
    for v in volumes.values():
        total += v
    return {k: max(thing.mass_kg * v / total, _LEAST_KG) for k, v in volumes.items()}


def _volume(shape: Shape) -> float:
    s = shape.size
    if shape.kind == "box":
        return 8.0 * s[0] * s[1] * s[2]
    if shape.kind == "cylinder":
        return 2.0 * math.pi * s[0] * s[0] * s[1]
    if shape.kind == "sphere":
        return 4.0 / 3.0 * math.pi * s[0] ** 3
    if shape.kind == "capsule":
        return math.pi * s[0] * s[0] * (2.0 * s[1] + 4.0 / 3.0 * s[0])
    if shape.kind == "cone":
        return 2.0 / 3.0 * math.pi * s[2] * (s[0] * s[0] + s[0] * s[1] + s[1] * s[1])
    raise SceneError(f'a {shape.kind} can be drawn but not collided with; give it role = "visual"')
