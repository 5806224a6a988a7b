"""The object library: classes of things as data, and things made from them.

`load_library` reads every file of a folder of class files; `Library.make` gives the thing (and, for a composite,
the things that come with it).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from iwreplay.errors import GeometryError, SceneError, names_near
from iwreplay.pose import IDENTITY, Pose, compose, from_xyz_yaw
from iwreplay.scene.attributes import checked, defaults_for
from iwreplay.scene.building_blocks import face_from, interior_from, joint_from, surface_from
from iwreplay.scene.files import PartChange
from iwreplay.scene.geometry import thing_bounds
from iwreplay.scene.hanging import HUNG
from iwreplay.scene.model import Link, Material, Thing
from iwreplay.scene.numbers import Numbers
from iwreplay.scene.pages import check_texts, filed
from iwreplay.scene.solids import shapes_from
from iwreplay.scene.specs import ClassSpec, LinkSpec, MaterialSpec
from iwreplay.scene.toml import Source, converted, parsed, shown
from iwreplay.vocabulary import AFFORDANCES, AttrValue

__all__ = ["Library", "Wanted", "load_library", "rgb_from_hex"]

_HEX = re.compile(r"#[0-9a-fA-F]{6}")
_ID = re.compile(r"[a-z][a-z0-9_]*")
_MERGED = ("attrs", "props", "params", "paint", "texts", "lengths")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One thing to make. Empty fields mean what the class says."""

    id: str
    cls: str
    pose: Pose = IDENTITY
    name: str = ""
    adjectives: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    touch_nouns: tuple[str, ...] = ()
    params: Mapping[str, float] = field(default_factory=dict)
    attrs: Mapping[str, AttrValue] = field(default_factory=dict)
    props: Mapping[str, AttrValue] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    paint: Mapping[str, str] = field(default_factory=dict)
    #: of a composite: suffix -> what is different about the part
    parts: Mapping[str, PartChange] = field(default_factory=dict)
    scale: float = 1.0


def rgb_from_hex(text: str, *, where: str) -> tuple[int, int, int]:
    """Colour of "#rrggbb"; SceneError for anything else."""
    if not _HEX.fullmatch(text):
        raise SceneError(f'{where}: a colour is written "#rrggbb", not {shown(text)}')
    return (int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16))


class Library:
    """Classes and materials, validated. `source` names where they came from in messages."""

    def __init__(self, classes: Mapping[str, ClassSpec], materials: Mapping[str, Material], *, source: str) -> None:
        self.classes, self.materials, self.source = dict(classes), dict(materials), source

    def cls(self, name: str, *, where: str) -> ClassSpec:
        """SceneError for a class that is not there."""
        found = self.classes.get(name)
        if found is None:
            raise SceneError(f"{where}: unknown class {name!r}. {names_near(name, tuple(sorted(self.classes)))}")
        return found

    def material(self, name: str, *, where: str) -> Material:
        """A material by name, or plain paint for "#rrggbb"."""
        if name in self.materials:
            return self.materials[name]
        if name.startswith("#"):
            return Material(name=name, rgb=rgb_from_hex(name, where=where))
        raise SceneError(f'{where}: unknown material {name!r}; "#rrggbb" or one of {", ".join(sorted(self.materials))}')

    def make(self, wanted: Wanted, *, where: str) -> tuple[Thing, ...]:
        """The thing, then the parts of a composite, in the class's order. SceneError names `where`."""
        if not _ID.fullmatch(wanted.id):
            raise SceneError(f"{where}: id {wanted.id!r} must be a lower-case letter, then letters, digits and _")
        if not (math.isfinite(wanted.scale) and 0.05 <= wanted.scale <= 20.0):
            raise SceneError(f"{where}: scale {wanted.scale} is not between 0.05 and 20")
        spec = self.cls(wanted.cls, where=where)
        for key in wanted.params:
            if key not in spec.params:
                raise SceneError(f"{where}: class {wanted.cls} has no parameter {key!r}; it has {_listed(spec.params)}")
        numbers = Numbers({**spec.params, **wanted.params}, wanted.scale)
        made = [self._thing(wanted, spec, numbers, where=where)]
        _check_parts(wanted, spec, where=where)
        for part in spec.parts:
            change = wanted.parts.get(part.suffix, PartChange())
            named = (change.name, *(n for n in part.nouns if n != change.name)) if change.name else part.nouns
            at = f"class {wanted.cls}.parts.{part.suffix}"
            x, y, z = numbers.point(part.pos, where=at)
            yaw = math.radians(numbers.value(part.yaw_deg, where=at))
            piece = Wanted(
                id=f"{wanted.id}_{part.suffix}",
                cls=part.cls,
                pose=compose(wanted.pose, from_xyz_yaw(x, y, z, yaw)),
                name=change.name or part.name,
                adjectives=part.adjectives if change.adjectives is None else change.adjectives,
                nouns=change.nouns or named,
                touch_nouns=change.touch_nouns,
                attrs=change.attrs,
                props=change.props,
                texts=change.texts,
                params={k: numbers.value(v, where=at) for k, v in part.params.items()},
                paint={k: v for k, v in wanted.paint.items() if k in self.cls(part.cls, where=at).paint},
                scale=wanted.scale,
            )
            things = self.make(piece, where=f"{where}: parts.{part.suffix}")
            made.extend((_resting(things[0], on=part.on, of=made[0], where=at), *things[1:]))
        return tuple(made)

    def _thing(self, wanted: Wanted, spec: ClassSpec, numbers: Numbers, *, where: str) -> Thing:
        in_class = f"class {wanted.cls}"
        paint = dict(spec.paint)
        for slot, colour in wanted.paint.items():
            if slot not in paint:
                raise SceneError(f"{where}: paint.{slot}: class {wanted.cls} has no such slot; it has {_listed(paint)}")
            paint[slot] = self.material(colour, where=f"{where}: paint.{slot}").name
        links = self._links(spec, numbers, paint=paint, where=in_class)
        faces = {f.name: f for k in links for f in k.faces}
        attrs = defaults_for(spec.affordances, fragile=spec.fragile, faces=faces)
        for name, value in spec.attrs.items():
            attrs[name] = checked(name, value, where=f"{in_class}.attrs")
        try:
            bounds_pos, bounds_half = thing_bounds(links, attrs=attrs)
        except GeometryError as problem:
            raise SceneError(f"{in_class}: {problem}") from problem
        texts = {**spec.texts, **wanted.texts}
        check_texts(texts, faces, paged="pages" in spec.affordances, where=where)
        attrs.update({f"text:{face}": text for face, text in texts.items()})
        for name, value in wanted.attrs.items():
            attrs[name] = checked(name, value, where=f"{where}: attrs.{name}", has=attrs)
        props: dict[str, AttrValue] = {
            **spec.props,
            **{k: numbers.length(v, where=in_class) for k, v in spec.lengths.items()},
        }
        props.update(wanted.props)
        if "pages" in spec.affordances:
            shown, written = filed(attrs, attrs=attrs, where=where)
            attrs.update(shown)
            props.update(written)
        usual = spec.nouns or (wanted.cls.replace("_", " "),)
        nouns = wanted.nouns or ((wanted.name, *(n for n in usual if n != wanted.name)) if wanted.name else usual)
        return Thing(
            id=wanted.id,
            cls=wanted.cls,
            name=wanted.name or nouns[0],
            adjectives=wanted.adjectives or spec.adjectives,
            nouns=nouns,
            touch_nouns=wanted.touch_nouns or spec.touch_nouns or (usual[0],),
            fixed=spec.fixed,
            links=links,
            pose=wanted.pose,
            mass_kg=spec.mass_kg * wanted.scale**3,
            affordances=spec.affordances,
            attrs={k: attrs[k] for k in sorted(attrs)},
            props={k: props[k] for k in sorted(props)},
            stances=tuple(
                (
                    numbers.length(x, where=in_class),
                    numbers.length(y, where=in_class),
                    math.radians(numbers.value(yaw, where=in_class)),
                )
                for x, y, yaw in spec.stances
            ),
            grip=numbers.point(spec.grip, where=f"{in_class}.grip"),
            bounds_half=bounds_half,
            bounds_pos=bounds_pos,
            fragile=spec.fragile,
        )

    def _links(self, spec: ClassSpec, numbers: Numbers, *, paint: dict[str, str], where: str) -> tuple[Link, ...]:
        names = ["base"]
        links = [self._link("base", -1, spec, numbers, paint=paint, where=where)]
        for i, piece in enumerate(spec.links):
            at = f"{where}.links[{i}]"
            if piece.parent not in names:
                raise SceneError(f"{at}: parent {piece.parent!r} is not an earlier link ({', '.join(names)})")
            if piece.name in names:
                raise SceneError(f"{at}: a second link named {piece.name!r}")
            links.append(self._link(piece.name, names.index(piece.parent), piece, numbers, paint=paint, where=at))
            names.append(piece.name)
        return tuple(links)

    def _link(
        self, name: str, parent: int, spec: ClassSpec | LinkSpec, numbers: Numbers, *, paint: dict[str, str], where: str
    ) -> Link:
        shapes = []
        for i, s in enumerate(spec.shapes):
            at = f"{where}.shapes[{i}]"
            shapes.extend(shapes_from(s, numbers, paint=paint, where=at))
            for m in (s.mat, *(m for table in s.repaint.values() for m in table.values())):
                self.material(paint.get(m, m), where=at)
        offset, joint = IDENTITY, None
        if isinstance(spec, LinkSpec):
            offset = numbers.pose(spec.pos, (0.0, 0.0, 0.0), where=where)
            joint = joint_from(spec.joint, numbers, where=f"{where}.joint")
        return Link(
            name=name,
            parent=parent,
            offset=offset,
            joint=joint,
            shapes=tuple(shapes),
            surfaces=tuple(surface_from(s, numbers, where=f"{where}.surfaces") for s in spec.surfaces),
            interiors=tuple(interior_from(s, numbers, where=f"{where}.interiors") for s in spec.interiors),
            faces=tuple(face_from(s, numbers, where=f"{where}.faces", rgb=rgb_from_hex) for s in spec.faces),
        )


def _check_parts(wanted: Wanted, spec: ClassSpec, *, where: str) -> None:
    known = tuple(p.suffix for p in spec.parts)
    for suffix in wanted.parts:
        if suffix not in known:
            has = names_near(suffix, known) if known else "It has none."
            raise SceneError(f"{where}: parts.{suffix}: class {wanted.cls} has no part {suffix!r}. {has}")


def _resting(part: Thing, *, on: str, of: Thing, where: str) -> Thing:
    """The part with what carries it: a surface of its composite for one that can be taken away."""
    surfaces = [s.name for k in of.links for s in k.surfaces]
    if part.fixed and on:
        raise SceneError(f"{where}: on = {on!r} is for parts that can be taken away; class {part.cls} is fixed")
    if not part.fixed and on not in surfaces:
        raise SceneError(f"{where}: on = {on!r} is no surface of class {of.cls}; it has {_listed(surfaces)}")
    if part.fixed:
        return part
    return msgspec.structs.replace(part, attrs={**part.attrs, "parent": f"on:{of.id}.{on}"})


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def load_library(folder: Source) -> Library:
    """Every class of the folder's *.toml files (materials.toml holds the materials). SceneError names file and key."""
    materials: dict[str, Material] = {}
    raw: dict[str, tuple[str, ClassSpec, frozenset[str]]] = {}
    if not folder.is_dir():
        raise SceneError(f"{folder}: no folder of object classes there")
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".toml"):
            continue
        for name, table in parsed(file, error=SceneError).items():
            where = f"{file.name}: {name}"
            if not _ID.fullmatch(name):
                raise SceneError(f"{where}: a name is a lower-case letter, then letters, digits and _")
            if file.name == "materials.toml":
                materials[name] = _material(name, table, where=where)
                continue
            if name in raw:
                raise SceneError(f"{where}: the class is in {raw[name][0]} already")
            if not isinstance(table, dict):
                raise SceneError(f"{where}: a class is a table, not {shown(table)}")
            raw[name] = (file.name, converted(table, ClassSpec, where=where, error=SceneError), frozenset(table))
    classes = {name: _resolved(name, raw, ()) for name in sorted(raw)}
    library = Library(classes, materials, source=str(folder))
    for name, spec in classes.items():
        _check_class(library, name, spec, where=f"{raw[name][0]}: {name}")
    return library


def _material(name: str, table: object, *, where: str) -> Material:
    spec = converted(table, MaterialSpec, where=where, error=SceneError)
    if not (0.0 < spec.alpha <= 1.0 and 0.0 <= spec.emission <= 1.0):
        raise SceneError(f"{where}: alpha {spec.alpha} and emission {spec.emission} lie between 0 and 1")
    rgb = rgb_from_hex(spec.rgb, where=f"{where}.rgb")
    return Material(name=name, rgb=rgb, alpha=spec.alpha, texture=spec.texture, emission=spec.emission)


def _resolved(name: str, raw: Mapping[str, tuple[str, ClassSpec, frozenset[str]]], trail: tuple[str, ...]) -> ClassSpec:
    file, spec, given = raw[name]
    if not spec.extends:
        return spec
    if spec.extends not in raw or spec.extends in (*trail, name):
        raise SceneError(f"{file}: {name}.extends: {spec.extends!r} is no other class, or leads back to this one")
    base = _resolved(spec.extends, raw, (*trail, name))
    changes = {k: getattr(spec, k) for k in given if k not in _MERGED}
    changes.update({k: {**getattr(base, k), **getattr(spec, k)} for k in _MERGED})
    return msgspec.structs.replace(base, **changes)


def _check_class(library: Library, name: str, spec: ClassSpec, *, where: str) -> None:
    """What a class promises must be there; making one thing of it finds bad formulas and materials."""
    for kind in spec.affordances:
        if kind not in AFFORDANCES:
            raise SceneError(f"{where}.affordances: {kind!r} is not one of {', '.join(AFFORDANCES)}")
    for slot, colour in spec.paint.items():
        library.material(colour, where=f"{where}.paint.{slot}")
    thing = library.make(Wanted(id="trial", cls=name), where=where)[0]
    needs = {
        "surface": any(k.surfaces for k in thing.links),
        "container": any(k.interiors for k in thing.links),
        "read": any(k.faces for k in thing.links),
        "pages": "open" in spec.affordances and any(f.name == "page" for k in thing.links for f in k.faces),
        "open": any(k.joint for k in thing.links) or any("open" in s.when for k in thing.links for s in k.shapes),
        "plate": any(k.surfaces for k in thing.links),
        "liquid_container": "capacity_l" in thing.props,
        "cookable": {"cook_s", "burn_s"} <= thing.props.keys(),
    }
    for kind in spec.affordances:
        if not needs.get(kind, True):
            raise SceneError(
                f"{where}: affordance {kind!r} without what it needs (surface, interior, face, joint or prop)"
            )
    if not any(s.role != "visual" for k in thing.links for s in k.shapes):
        raise SceneError(f'{where}: nothing to collide with; give one shape the role "both" or "collision"')
    joints = {k.joint.name for k in thing.links if k.joint is not None}
    for link in thing.links:
        for interior in link.interiors:
            unknown = set(interior.closed_by) - joints
            if unknown:
                raise SceneError(
                    f"{where}: interior {interior.name} is closed by {sorted(unknown)[0]!r}, which is no joint"
                )
        for s in link.shapes:
            for attr in (*s.when, *s.repaint):
                if attr != HUNG and attr not in thing.attrs:
                    raise SceneError(f"{where}: a shape depends on {attr!r}, which the class does not have")
