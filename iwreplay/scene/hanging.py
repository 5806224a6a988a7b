"""Things that hang: what a hook takes, and how a thing looks while it hangs.

A surface whose name begins with "hook" is a hook. It takes only what can hang: a thing of which a shape depends on
"hung". That is no attribute: it follows from what carries the thing, so a coat needs no one to say that it hangs.
"""

from __future__ import annotations

from collections.abc import Mapping

from iwreplay.scene.model import Thing
from iwreplay.vocabulary import AttrValue

__all__ = ["HUNG", "can_hang", "hangs", "is_hook", "look_of"]

#: in `Shape.when` and `Shape.repaint`, beside the names of attributes
HUNG = "hung"
_HOOK = "hook"


def is_hook(surface: str) -> bool:
    """Whether the surface of this name is a hook."""
    return surface.startswith(_HOOK)


def can_hang(thing: Thing) -> bool:
    """Whether the thing has a look of its own for when it hangs."""
    return any(HUNG in s.when for link in thing.links for s in link.shapes)


def hangs(attrs: Mapping[str, AttrValue]) -> bool:
    """Whether a thing with these attributes is on a hook."""
    parent = attrs.get("parent")
    if not isinstance(parent, str) or not parent.startswith("on:"):
        return False
    return is_hook(parent.partition(".")[2])


def look_of(attrs: Mapping[str, AttrValue], name: str) -> AttrValue:
    """What a shape that depends on `name` goes by: an attribute's value, or whether the thing hangs."""
    return hangs(attrs) if name == HUNG else attrs.get(name)
