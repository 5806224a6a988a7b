"""Scene files and compiled scenes.

`load_scene` reads and checks a file; `compile_scene` puts furniture, the scene's own objects and a task's placements
together into one frozen description, and refuses one that does not hold together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import msgspec

from iwreplay.errors import SceneError, UnknownNameError
from iwreplay.pose import Vec3, from_xyz_yaw
from iwreplay.scene.attributes import checked
from iwreplay.scene.building import fillings, portals_of, rooms_of, shell_of
from iwreplay.scene.expr import evaluate
from iwreplay.scene.files import SCENE_FORMAT, FurnitureSpec, SceneFile
from iwreplay.scene.geometry import joints_at_load
from iwreplay.scene.layout import check_held_up, check_inside_rooms, check_no_overlap, check_openings_clear
from iwreplay.scene.library import Library, Wanted, load_library
from iwreplay.scene.model import CompiledScene, Light, Material, Thing
from iwreplay.scene.pages import check_texts
from iwreplay.scene.placing import off_stage, spot_for
from iwreplay.scene.toml import Source, converted, parsed
from iwreplay.taskpack.model import Placement

__all__ = ["compile_scene", "data_root", "load_scene", "scene_ids"]

_LATE_MATERIALS = ("water",)


def data_root() -> Source:
    """The folder of the installed data package: objects/, scenes/ and a folder for each family."""
    root: Source = files("taskpacks")
    return root


def scene_ids(root: Source | None = None) -> tuple[str, ...]:
    """Ids of all scenes there are, sorted."""
    folder = (root or data_root()) / "scenes"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_scene(scene: str | Source, *, root: Source | None = None) -> SceneFile:
    """A scene by id from the data package, or from a path. SceneError with file, key and value when it is malformed;
    UnknownNameError for an id that is not there."""
    if isinstance(scene, str):
        known = scene_ids(root)
        if scene not in known:
            raise UnknownNameError("scene", scene, known=known)
        scene = (root or data_root()) / "scenes" / f"{scene}.toml"
    table = parsed(scene, error=SceneError)
    version = table.get("format")
    if version != SCENE_FORMAT:
        raise SceneError(f"{scene.name}: format {version!r} is not {SCENE_FORMAT}, the one that this build reads")
    loaded = converted(table, SceneFile, where=scene.name, error=SceneError)
    if f"{loaded.id}.toml" != scene.name:
        raise SceneError(f"{scene.name}: id {loaded.id!r} is not the file's name; rename one of them")
    return loaded


def compile_scene(
    scene: SceneFile, placements: Sequence[Placement] = (), *, library: Library | None = None, spawn: Vec3 | None = None
) -> CompiledScene:
    """The whole, resolved. `placements` add things to the scene's own, or change them (`cls` is "").

    SceneError names the two things that are in each other's way, or the place that is missing or too small."""
    build = _Build(scene, library or load_library(data_root() / "objects"))
    build.shell()
    for piece in (*fillings(scene), *scene.furniture):
        build.furniture(piece, placements)
    build.objects(placements)
    return build.finish(spawn)


@dataclass
class _Build:
    scene: SceneFile
    library: Library
    fixed: list[Thing] = field(default_factory=list)
    placed: list[Thing] = field(default_factory=list)

    def known(self) -> dict[str, Thing]:
        return {t.id: t for t in (*self.fixed, *self.placed)}

    def where(self, thing: str) -> str:
        return f"scene {self.scene.id}: {thing}"

    def shell(self) -> None:
        rooms_of(self.scene)
        portals_of(self.scene)
        self.fixed.extend(shell_of(self.scene, self.library))

    def furniture(self, piece: FurnitureSpec, placements: Sequence[Placement]) -> None:
        where = self.where(piece.id)
        if not 2 <= len(piece.pos) <= 3 or not all(math.isfinite(v) for v in (*piece.pos, piece.yaw_deg)):
            raise SceneError(f"{where}: pos is x, y or x, y, z, not {list(piece.pos)}")
        x, y, z = (*piece.pos, 0.0)[:3]
        change = _merged_change([p for p in placements if p.id == piece.id and not p.cls])
        if change is not None and change.at:
            raise SceneError(f"{where}: furniture stays where it is; leave `at` out")
        made = self.library.make(
            Wanted(
                id=piece.id,
                cls=piece.cls,
                pose=from_xyz_yaw(x, y, z, math.radians(piece.yaw_deg)),
                name=piece.name,
                adjectives=piece.adjectives,
                nouns=piece.nouns,
                touch_nouns=piece.touch_nouns,
                params={k: evaluate(v, {}, where=f"{where}: params.{k}") for k, v in piece.params.items()},
                attrs=piece.attrs,
                props=piece.props,
                texts=piece.texts,
                parts=piece.parts,
                paint={**piece.paint, **(change.paint if change else {})},
            ),
            where=where,
        )
        parents = {True: "fixed", False: "floor"}
        for thing in made:
            self._add(_with_attrs(thing, {"parent": thing.attrs["parent"] or parents[thing.fixed]}))
        for p in placements:
            if not p.cls and p.id in {t.id for t in made}:
                self._change(p)

    def objects(self, placements: Sequence[Placement]) -> None:
        """Places them owners first."""
        waiting = _own_and_added(self.scene.objects, placements, where=f"scene {self.scene.id}")
        known = {*self.known(), *(p.id for p in waiting)}
        for p in placements:
            if p.id not in known:
                raise SceneError(f"{self.where(p.id)}: no such thing to change; give cls to add one")
        ids = {p.id for p in waiting}
        number = 0
        while waiting:
            ready = [p for p in waiting if p.at.partition(".")[0] not in ids]
            if not ready:
                loop = ", ".join(sorted(p.id for p in waiting))
                raise SceneError(f"scene {self.scene.id}: placements that stand on each other in a ring: {loop}")
            for p in ready:
                number = self._place(p, number)
            ids -= {p.id for p in ready}
            waiting = [p for p in waiting if p.id in ids]

    def _place(self, p: Placement, number: int) -> int:
        where = self.where(p.id)
        if not p.at:
            raise SceneError(f'{where}: at is missing: a surface, an interior, "floor" or "off"')
        off = p.at == "off" or p.attrs.get("exists") is False
        made = self.library.make(
            Wanted(
                id=p.id,
                cls=p.cls,
                name=p.name,
                adjectives=p.adjectives,
                nouns=p.nouns,
                touch_nouns=p.touch_nouns,
                attrs=p.attrs,
                props=p.props,
                texts=p.texts,
                paint=p.paint,
                scale=p.scale,
            ),
            where=where,
        )
        if len(made) > 1:
            raise SceneError(f"{where}: class {p.cls} brings parts; put it among the scene's furniture")
        thing = made[0]
        if p.at == "off":
            spot = off_stage(number)
        else:
            # what does not exist yet waits where it will be once it does
            known = self.known()
            owner = known.get(p.at.partition(".")[0])
            if owner is not None and owner.attrs.get("exists") is False and not off:
                raise SceneError(f"{where}: at = {p.at!r}: {owner.id} is off stage")
            spot = spot_for(
                thing,
                at=p.at,
                pos=p.pos,
                yaw_deg=p.yaw_deg,
                owners=known,
                joints=joints_at_load(known.values()),
                rooms=rooms_of(self.scene),
                where=where,
            )
        thing = msgspec.structs.replace(thing, pose=spot.pose)
        self._add(_with_attrs(thing, {"parent": "off" if off else spot.parent, "exists": not off}), to_placed=True)
        return number + (p.at == "off")

    def _change(self, p: Placement) -> None:
        """Attributes, words and texts of a thing that is there (paint was used when it was made)."""
        where = self.where(p.id)
        for i, thing in enumerate(self.fixed):
            if thing.id != p.id:
                continue
            if p.scale != 1.0 or (p.paint and not any(f.id == p.id for f in self.scene.furniture)):
                raise SceneError(f"{where}: a part of furniture or the building keeps its size and paint")
            attrs = {k: checked(k, v, where=f"{where}: attrs.{k}", has=thing.attrs) for k, v in p.attrs.items()}
            check_texts(p.texts, {f.name: f for k in thing.links for f in k.faces}, paged=False, where=where)
            for face, text in p.texts.items():
                key = f"text:{face}"
                attrs[key] = checked(key, text, where=f"{where}: texts.{face}", has=thing.attrs)
            words: dict[str, Any] = {
                k: getattr(p, k) for k in ("name", "adjectives", "nouns", "touch_nouns") if getattr(p, k)
            }
            if p.name and not p.nouns:
                words["nouns"] = (p.name, *(n for n in thing.nouns if n != p.name))
            props = {**thing.props, **p.props}
            self.fixed[i] = msgspec.structs.replace(
                _with_attrs(thing, attrs), props={k: props[k] for k in sorted(props)}, **words
            )

    def _add(self, thing: Thing, *, to_placed: bool = False) -> None:
        if thing.id in self.known():
            raise SceneError(f"{self.where(thing.id)}: the id is taken")
        (self.placed if to_placed else self.fixed).append(thing)

    def finish(self, spawn: Vec3 | None) -> CompiledScene:
        where = f"scene {self.scene.id}"
        things = (*self.fixed, *self.placed)
        joints = joints_at_load(things)
        here = [t for t in things if t.attrs.get("exists") is not False]
        rooms = rooms_of(self.scene)
        standing = [t for t in self.fixed if t in here]
        check_inside_rooms(standing, rooms, joints, where=where)
        check_held_up(standing, joints, where=where)
        check_no_overlap(here, joints, where=where)
        check_openings_clear(standing, joints, where=where)
        x, y, yaw_deg = self.scene.spawn
        start = spawn if spawn is not None else (x, y, math.radians(yaw_deg))
        if not any(r.rect[0] < start[0] < r.rect[2] and r.rect[1] < start[1] < r.rect[3] for r in rooms):
            raise SceneError(f"{where}: the wearer's start {start} is in no room")
        lights = tuple(Light(pos=s.pos, intensity=s.intensity) for s in self.scene.lights) or tuple(
            Light(pos=((r.rect[0] + r.rect[2]) / 2, (r.rect[1] + r.rect[3]) / 2, r.height - 0.3), intensity=1.0)
            for r in rooms
        )
        return CompiledScene(
            id=self.scene.id,
            format=SCENE_FORMAT,
            rooms=rooms,
            portals=portals_of(self.scene),
            materials=_materials_of(things, self.library),
            things=things,
            lights=lights,
            spawn=start,
        )


def _own_and_added(own: Sequence[Placement], added: Sequence[Placement], *, where: str) -> list[Placement]:
    """The scene's objects as changed by the task, then the task's."""
    merged: dict[str, Placement] = {}
    for p in own:
        if p.id in merged or not p.cls:
            raise SceneError(f"{where}: objects: {p.id}: a second object of that id, or one without cls")
        merged[p.id] = p
    for p in added:
        if p.cls and p.id in merged:
            raise SceneError(f"{where}: {p.id}: the id is taken; leave cls out to change the one that is there")
        if p.cls:
            merged[p.id] = p
        elif p.id in merged:
            merged[p.id] = _changed(merged[p.id], p)
    return list(merged.values())


def _changed(base: Placement, change: Placement) -> Placement:
    """`base` with what `change` gives; mappings are merged. A new `at` brings its pos and yaw."""
    new: dict[str, Any] = {k: {**getattr(base, k), **getattr(change, k)} for k in ("attrs", "props", "texts", "paint")}
    new.update({k: getattr(change, k) for k in ("name", "adjectives", "nouns", "touch_nouns") if getattr(change, k)})
    if change.at:
        new.update(at=change.at, pos=change.pos, yaw_deg=change.yaw_deg)
    if change.scale != 1.0:
        new["scale"] = change.scale
    return msgspec.structs.replace(base, **new)


def _merged_change(changes: Sequence[Placement]) -> Placement | None:
    merged: Placement | None = None
    for change in changes:
        merged = change if merged is None else _changed(merged, change)
    return merged


def _with_attrs(thing: Thing, attrs: Mapping[str, Any]) -> Thing:
    merged = {**thing.attrs, **attrs}
    return msgspec.structs.replace(thing, attrs={k: merged[k] for k in sorted(merged)})


def _materials_of(things: Sequence[Thing], library: Library) -> tuple[Material, ...]:
    """Every material that a shape may show, by name; and those that effects need."""
    names = set(_LATE_MATERIALS)
    for thing in things:
        for link in thing.links:
            for shape in link.shapes:
                names.add(shape.material)
                names.update(m for table in shape.repaint.values() for m in table.values())
    return tuple(library.material(n, where="materials") for n in sorted(names))
