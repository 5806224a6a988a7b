"""The scene as arrays for the kernels, kept in step with a world state.

A part is one mesh with one pose and one material: a shape of a thing's link, a text face, the liquid in a vessel, or
what has one colour of the wearer's body, whose vertices are worked out anew when it moves. All parts that can ever be
drawn exist from the start; attributes switch them on and off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from iwreplay.errors import RenderError, SceneError
from iwreplay.pose import IDENTITY, Pose, compose, quat_to_matrix
from iwreplay.render.appearance import liquid_of, liquid_share, material_name, shape_is_drawn
from iwreplay.render.extras import (
    CORD,
    CORD_RADIUS_M,
    EXTRA_MATERIALS,
    cord_between,
    extra_shapes,
    has_cord,
    plug_point,
)
from iwreplay.render.labels import bend_m, label
from iwreplay.render.layout import BODY_ID
from iwreplay.render.liquids import liquid_bodies, step_of
from iwreplay.render.looks import look_of, marked_shapes, shape_look, shown_by_class
from iwreplay.render.mesh import Mesh
from iwreplay.render.palette import Palette
from iwreplay.render.raster import place_parts
from iwreplay.render.shapes import tessellate
from iwreplay.render.shards import lying_at, shards_of
from iwreplay.render.skinning import copy_skin, skin_normals, skin_vertices
from iwreplay.render.text import draw_text
from iwreplay.render.textures import TEXTURES
from iwreplay.scene.breaking import BROKEN, falls_to_pieces
from iwreplay.scene.geometry import link_poses_at
from iwreplay.scene.lettering import face_pose, face_shows
from iwreplay.scene.model import CompiledScene, Face, Material, Shape, Thing
from iwreplay.vocabulary import AttrValue

__all__ = ["Posed", "Skin", "SkinPart", "Stage"]

#: text lies this far in front of the surface that carries it
_FACE_GAP_M = 0.0005
#: and is a little brighter than its surroundings, so that it can be read in a corner
_FACE_LIFT = 0.2


class SkinPart(Protocol):
    """Faces of a skin that have one colour."""

    @property
    def first_face(self) -> int: ...

    @property
    def end_face(self) -> int: ...

    @property
    def rgb(self) -> tuple[int, int, int]: ...

    @property
    def seen(self) -> bool:
        """Whether it is drawn; else it casts its shadow only."""


class Skin(Protocol):
    """The wearer's body: a mesh that hangs on bones. Arrays are read only."""

    @property
    def positions(self) -> npt.NDArray[np.float64]:
        """(n, 3) at rest, metres."""

    @property
    def bones(self) -> npt.NDArray[np.int32]:
        """(n, k) which bones each vertex hangs on."""

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """(n, k) and by how much; they add up to 1."""

    @property
    def origins(self) -> npt.NDArray[np.float64]:
        """(b, 3) where the bones begin at rest."""

    @property
    def faces(self) -> npt.NDArray[np.int32]:
        """(m, 3) counter-clockwise seen from outside; all of them shape the normals."""

    @property
    def parts(self) -> Sequence[SkinPart]:
        """The faces that are drawn, or cast shadows."""


class Posed(Protocol):
    """What drawing reads of a world state."""

    poses: dict[str, Pose]
    joints: dict[str, float]
    attrs: dict[str, dict[str, AttrValue]]


@dataclass(frozen=True)
class _Part:
    """Where a part comes from: exactly one of shape, face, cord, liquid, none for the wearer's body."""

    link: int
    shape: Shape | None = None
    face: Face | None = None
    #: number of the piece of its cord
    cord: int | None = None
    #: a piece of what is broken, which came off `shape`
    shard: bool = False
    #: which of the bodies that a liquid may have
    liquid: int | None = None
    #: whether wet and dirt show on it
    marked: bool = True


_Seen = tuple[Pose, tuple[float, ...], dict[str, AttrValue], Pose | None]


class Stage:
    """Geometry and looks of a scene. `follow` brings it to a state; what has not changed is not touched."""

    def __init__(self, scene: CompiledScene, *, body: Skin | None = None) -> None:
        self.scene = scene
        self.palette = Palette()
        self._materials = {m.name: m for m in scene.materials} | EXTRA_MATERIALS
        upright = (m.name for m in self._materials.values() if m.texture in TEXTURES and TEXTURES[m.texture].upright)
        self._upright = frozenset(upright)
        self._things = scene.things
        self._by_id = {t.id: t for t in scene.things}
        #: attributes that a thing's class shows by itself
        self._shown = [shown_by_class(t) for t in scene.things]
        self._brittle = [falls_to_pieces(t) for t in scene.things]
        self._joints = [tuple(f"{t.id}.{k.joint.name}" for k in t.links if k.joint is not None) for t in scene.things]
        self._parts: list[_Part] = []
        meshes: list[Mesh] = []
        ids: list[int] = []
        #: per thing: its first part and the one after its last
        self._ranges: list[tuple[int, int]] = []
        for i, thing in enumerate(scene.things):
            begin = len(self._parts)
            for part, mesh in _parts_of(thing, shown=self._shown[i], upright=self._upright):
                if part.shape is not None:
                    self._check_materials(thing, part.shape)
                self._parts.append(part)
                meshes.append(mesh)
                ids.append(i)
            self._ranges.append((begin, len(self._parts)))
        self._body_begin = len(self._parts)
        self._worn = _Worn(body) if body is not None else None
        if self._worn is not None:
            self._parts += [_Part(link=0)] * len(self._worn.meshes)
            meshes += self._worn.meshes
            ids += [BODY_ID] * len(self._worn.meshes)
        self._lay_out(meshes, ids)
        pieces = body.parts if body is not None else ()
        self._body_seen = np.array([piece.seen for piece in pieces], np.uint8)
        for k, piece in enumerate(pieces):
            p = self._body_begin + k
            self._wear(p, self.palette.material(Material(name="body", rgb=piece.rgb)))
            self._put(p, IDENTITY, [])
        self._seen: list[_Seen | None] = [None] * len(scene.things)
        self._seen_body: tuple[Pose, ...] | None = None

    def _check_materials(self, thing: Thing, shape: Shape) -> None:
        for name in (shape.material, *(m for table in shape.repaint.values() for m in table.values())):
            if name not in self._materials:
                raise SceneError(
                    f"thing {thing.id!r} uses material {name!r}, which scene {self.scene.id!r} does not define"
                )

    def _lay_out(self, meshes: list[Mesh], ids: list[int]) -> None:
        parts = len(meshes)
        vertex_starts, face_starts = [0], [0]
        for m in meshes:
            vertex_starts.append(vertex_starts[-1] + len(m.positions))
            face_starts.append(face_starts[-1] + len(m.faces))
        if max(vertex_starts[-1], face_starts[-1]) >= 1 << 31:
            raise RenderError(f"scene {self.scene.id!r} has {face_starts[-1]} triangles; the limit is 2**31")

        def joined(arrays: list[np.ndarray], width: int, kind: type[np.generic]) -> np.ndarray:
            return np.ascontiguousarray(np.concatenate(arrays), kind) if arrays else np.zeros((0, width), kind)

        #: local to the part
        self.vertices = joined([m.positions for m in meshes], 3, np.float64)
        self.normals = joined([m.normals for m in meshes], 3, np.float64)
        self.uv = joined([m.uv for m in meshes], 2, np.float64)
        self.faces = joined([m.faces + v for m, v in zip(meshes, vertex_starts, strict=False)], 3, np.int32)
        self.part_vertices = np.array([vertex_starts[:-1], vertex_starts[1:]], np.int32).T.copy()
        self.part_faces = np.array([face_starts[:-1], face_starts[1:]], np.int32).T.copy()
        self.face_part = np.repeat(np.arange(parts, dtype=np.int32), np.diff(face_starts))
        self.part_id = np.array(ids, np.int32)
        self.part_two_sided = np.array([m.two_sided for m in meshes], np.uint8)
        self.part_drawn = np.zeros(parts, np.uint8)
        #: drawn, or there to cast a shadow
        self.part_there = np.zeros(parts, np.uint8)
        #: number of the last change of any part's place, shape or presence, and of each part's own
        self.change = 0
        self.part_changed = np.zeros(parts, np.int64)
        self.part_material = np.zeros(parts, np.int32)
        self.part_level = np.full(parts, 4, np.uint8)
        #: world_from_part, with its scale, and its rotation alone
        self.poses = np.zeros((parts, 3, 4))
        self.turns = np.zeros((parts, 3, 3))
        self._local_balls = np.array([_ball(m) for m in meshes], np.float64).reshape(parts, 4)
        #: world balls around the parts: centre and radius
        self.balls = np.zeros((parts, 4))

    def follow(self, state: Posed, *, body: Sequence[Pose] = ()) -> None:
        """Takes over poses, joints and attributes of a state, and the body's poses (none: the body is not drawn).

        RenderError when the number of body poses is not that of the body's bones. KeyError is an error of the
        state: it lacks a thing of the scene.
        """
        moved: list[int] = []
        changed: list[int] = []
        for i, thing in enumerate(self._things):
            pose = state.poses[thing.id]
            joints = tuple(state.joints[j] for j in self._joints[i])
            attrs = state.attrs[thing.id]
            plugged = attrs.get("plugged")
            socket = state.poses.get(plugged) if isinstance(plugged, str) else None
            seen = self._seen[i]
            if seen is not None and seen[0] == pose and seen[1] == joints and seen[2] == attrs and seen[3] == socket:
                continue
            begin, end = self._ranges[i]
            before = [a[begin:end].copy() for a in (self.poses, self.part_drawn, self.part_level)]
            self._dress(i, state, moved)
            self._seen[i] = (pose, joints, dict(attrs), socket)
            # a thing may also have got warm only
            poses, drawn, level = before
            other = (poses != self.poses[begin:end]).any(axis=(1, 2))
            other |= (drawn != self.part_drawn[begin:end]) | (level != self.part_level[begin:end])
            changed.extend((begin + np.flatnonzero(other)).tolist())
        if self._follow_body(tuple(body)):
            changed.extend(range(self._body_begin, len(self.part_id)))
        if moved:
            place_parts(np.array(moved, np.int64), self.poses, self._local_balls, self.balls)
        if changed:
            self.change += 1
            self.part_changed[changed] = self.change

    def _follow_body(self, body: tuple[Pose, ...]) -> bool:
        """Whether it has moved, come or gone."""
        bones = 0 if self._worn is None else len(self._worn.skin.origins)
        if body and len(body) != bones:
            raise RenderError(f"{len(body)} poses for a body of {bones} bones")
        if body == self._seen_body:
            return False
        self.part_drawn[self._body_begin :] = self._body_seen if body else 0
        self.part_there[self._body_begin :] = 1 if body else 0
        if body and self._worn is not None:
            places, normals = self._worn.posed(body)
            source = self._worn.source
            copy_skin(places, normals, source, self.part_vertices, self._body_begin, self.vertices, self.normals,
                      self.balls)  # fmt: skip
        self._seen_body = body
        return True

    def _dress(self, i: int, state: Posed, moved: list[int]) -> None:
        thing = self._things[i]
        attrs = state.attrs[thing.id]
        begin, end = self._ranges[i]
        if attrs.get("exists") is False:
            self.part_drawn[begin:end] = self.part_there[begin:end] = 0
            return
        links = link_poses_at(thing, state.poses[thing.id], state.joints)
        look = look_of(thing, attrs, shown=self._shown[i])
        in_pieces = self._brittle[i] and attrs.get(BROKEN) is True
        if in_pieces:
            look = replace(look, cracks=False)
        cord = self._cord_of(i, state)
        for p in range(begin, end):
            part = self._parts[p]
            world_from_link = links[part.link]
            if part.shape is not None:
                shown = in_pieces if part.shard else not in_pieces and shape_is_drawn(part.shape, attrs)
                if shown:
                    material = self._materials[material_name(part.shape, attrs)]
                    worn = shape_look(part.shape, attrs, look, marked=part.marked)
                    self._wear(p, self.palette.material(material, worn))
                    lying = lying_at(thing, state.poses[thing.id]) if part.shard else None
                    self._put(p, lying or compose(world_from_link, part.shape.pose), moved)
            elif part.cord is not None:
                shown = part.cord < len(cord)
                if shown:
                    at, half = cord[part.cord]
                    self._wear(p, self.palette.material(EXTRA_MATERIALS[CORD]))
                    self._put(p, at, moved, scale=(CORD_RADIUS_M, CORD_RADIUS_M, half))
            elif part.face is not None:
                text = attrs.get(f"text:{part.face.name}")
                shown = isinstance(text, str) and face_shows(thing, part.face, attrs)
                if shown and isinstance(text, str):
                    self._wear(p, self._text_material(text, part.face))
                    at = face_pose(thing, part.face, attrs)
                    raised = compose(at, (0.0, 0.0, _FACE_GAP_M, 1.0, 0.0, 0.0, 0.0))
                    self._put(p, compose(world_from_link, raised), moved)
            else:
                liquid = liquid_of(thing, attrs, self._materials)
                step, stretch = (None, 1.0) if liquid is None else step_of(liquid_share(thing, liquid))
                shown = step is not None and step == part.liquid
                if liquid is not None and shown:
                    self._wear(p, self.palette.material(Material(name="liquid", rgb=liquid.rgb, texture="rubber")))
                    at = compose(world_from_link, (0.0, 0.0, liquid.z0_m, *IDENTITY[3:]))
                    self._put(p, at, moved, scale=(1.0, 1.0, stretch))
            self.part_drawn[p] = self.part_there[p] = 1 if shown else 0

    def _cord_of(self, i: int, state: Posed) -> list[tuple[Pose, float]]:
        thing = self._things[i]
        socket = state.attrs[thing.id].get("plugged")
        if not isinstance(socket, str) or socket not in self._by_id or not has_cord(thing, shown=self._shown[i]):
            return []
        end = plug_point(self._by_id[socket], state.poses[socket], number=i)
        return cord_between(thing, state.poses[thing.id], end)

    def _text_material(self, text: str, face: Face) -> int:
        key = ("text", text, face.size, face.cap_height_m, face.ink, face.paper)
        known = self.palette.knows(key)
        if known is not None:
            return known
        image, part = draw_text(text, face)
        return self.palette.image(key, image, part=part, lift=_FACE_LIFT)

    def _wear(self, p: int, material: int) -> None:
        self.part_material[p] = material
        self.part_level[p] = self.palette.level[material]

    def _put(
        self, p: int, pose: Pose, moved: list[int], *, scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    ) -> None:
        rows = quat_to_matrix(pose[3:])
        self.turns[p] = rows
        self.poses[p] = [(r[0] * scale[0], r[1] * scale[1], r[2] * scale[2], pose[i]) for i, r in enumerate(rows)]
        moved.append(p)


class _Worn:
    """The skin of the wearer's body, cut into a mesh for each of its parts."""

    def __init__(self, skin: Skin) -> None:
        self.skin = skin
        self.meshes: list[Mesh] = []
        sources: list[npt.NDArray[np.int32]] = []
        for part in skin.parts:
            used, corners = np.unique(skin.faces[part.first_face : part.end_face], return_inverse=True)
            sources.append(used.astype(np.int32))
            places = skin.positions[used]
            # normals come with the pose
            self.meshes.append(
                Mesh(places, np.zeros_like(places), np.zeros((len(used), 2)), corners.reshape(-1, 3).astype(np.int32))
            )
        #: vertex of the skin for each vertex of the meshes, in order
        self.source = np.concatenate(sources) if sources else np.zeros(0, np.int32)
        self._rows = np.zeros((len(skin.origins), 3, 4))
        self._places = np.zeros_like(skin.positions)
        self._normals = np.zeros_like(skin.positions)

    def posed(self, bones: tuple[Pose, ...]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """World places and normals of the skin's vertices; good until the next call."""
        s = self.skin
        skin_vertices(s.positions, s.bones, s.shares, s.origins, np.array(bones), self._rows, self._places)
        skin_normals(self._places, s.faces, self._normals)
        return self._places, self._normals


def _parts_of(thing: Thing, *, shown: frozenset[str], upright: frozenset[str]) -> list[tuple[_Part, Mesh]]:
    """upright: names of the materials whose texture is not turned along a face's longer side."""
    found: list[tuple[_Part, Mesh]] = []
    marked = marked_shapes(thing)
    for k, link in enumerate(thing.links):
        for n, s in enumerate(link.shapes):
            if s.role != "collision":
                part = _Part(link=k, shape=s, marked=not marked or (k == 0 and n in marked))
                found.append((part, tessellate(s.kind, s.size, upright=s.material in upright)))
        found.extend((_Part(link=k, face=f), label(*f.size, bend_m(link, f))) for f in link.faces)
    found.extend(
        (_Part(link=k, shape=s, marked=False), tessellate(s.kind, s.size)) for k, s in extra_shapes(thing, shown=shown)
    )
    found.extend((_Part(link=0, shape=s, shard=True), mesh) for s, mesh in shards_of(thing))
    # cylinders of unit size, stretched to the length of a cord's piece
    unit = tessellate("cylinder", (1.0, 1.0))
    if has_cord(thing, shown=shown):
        found.extend((_Part(link=0, cord=k), unit) for k in range(2))
    found.extend((_Part(link=0, liquid=k), mesh) for k, mesh in enumerate(liquid_bodies(thing)))
    return found


def _ball(mesh: Mesh) -> tuple[float, float, float, float]:
    """A ball around a mesh: the middle of its box, and the farthest vertex from there."""
    low, high = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
    x, y, z = ((low + high) * 0.5).tolist()
    d = mesh.positions - (x, y, z)
    d2 = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2]
    return (x, y, z, float(np.sqrt(d2.max())))
