"""A scene as the check language looks it up."""

from __future__ import annotations

from iwreplay.scene.model import CompiledScene, Thing

__all__ = ["SceneIndex"]


class SceneIndex:
    """Names of a compiled scene, in scene order. Read-only."""

    def __init__(self, scene: CompiledScene) -> None:
        self.scene = scene
        self.things: dict[str, Thing] = {t.id: t for t in scene.things}
        self.rooms: tuple[str, ...] = tuple(r.id for r in scene.rooms)
        classes: dict[str, list[str]] = {}
        for t in scene.things:
            classes.setdefault(t.cls, []).append(t.id)
        self.classes: dict[str, tuple[str, ...]] = {c: tuple(ids) for c, ids in classes.items()}
        #: what an `in` selector ranges over
        self.movable: tuple[str, ...] = tuple(t.id for t in scene.things if not t.fixed)
        self.props: frozenset[str] = frozenset(p for t in scene.things for p in t.props)
        #: "thing.joint" -> thing
        self.joint_owner: dict[str, str] = {
            f"{t.id}.{k.joint.name}": t.id for t in scene.things for k in t.links if k.joint is not None
        }

    def faces(self, thing: str) -> tuple[str, ...]:
        """Names of the text faces of a thing."""
        return tuple(f.name for k in self.things[thing].links for f in k.faces)

    def surfaces(self, thing: str) -> tuple[str, ...]:
        """Names of its surfaces."""
        return tuple(s.name for k in self.things[thing].links for s in k.surfaces)

    def interiors(self, thing: str) -> tuple[str, ...]:
        """Names of its interiors."""
        return tuple(i.name for k in self.things[thing].links for i in k.interiors)
