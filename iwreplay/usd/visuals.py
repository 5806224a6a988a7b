"""What is seen of a thing: its shapes as the reference renderer tessellates them, extras, liquid, faces with text.

All shapes that can ever be drawn are there; those that the state at load does not show are invisible. What a shape
depends on is kept with it, so that a backend can follow a state: `iwreplay:when` and `iwreplay:repaint`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pxr import Gf, Sdf, UsdGeom, UsdShade, Vt

from iwreplay.errors import StageError
from iwreplay.pose import IDENTITY, Pose, compose, inverse
from iwreplay.render.appearance import liquid_of, liquid_share, material_name, shape_is_drawn
from iwreplay.render.extras import EXTRA_MATERIALS, extra_shapes
from iwreplay.render.labels import bend_m, label
from iwreplay.render.liquids import liquid_bodies, step_of
from iwreplay.render.looks import PLAIN, Look, look_of, marked_shapes, shape_look, shown_by_class
from iwreplay.render.mesh import Mesh
from iwreplay.render.shapes import tessellate
from iwreplay.render.shards import lying_at, shards_of
from iwreplay.render.textures import TEXTURES
from iwreplay.scene.breaking import BROKEN, falls_to_pieces
from iwreplay.scene.geometry import link_poses_at
from iwreplay.scene.lettering import face_pose, face_shows
from iwreplay.scene.model import CompiledScene, Face, Link, Material, Shape, Thing
from iwreplay.usd.edge import place, vectors
from iwreplay.usd.looks import Looks
from iwreplay.usd.names import prim_name

__all__ = ["Visuals", "author_mesh", "hidden"]

#: text lies this far in front of the surface that carries it, as the renderer has it
_FACE_GAP_M = 0.0005


@dataclass
class Visuals:
    """Draws things onto the prims of their links."""

    stage: Any
    scene: CompiledScene
    looks: Looks

    def __post_init__(self) -> None:
        self._materials: dict[str, Material] = {m.name: m for m in self.scene.materials} | EXTRA_MATERIALS
        #: names of the materials whose texture is not turned along a face's longer side
        self._upright = {m.name for m in self.scene.materials if m.texture in TEXTURES and TEXTURES[m.texture].upright}

    def draw(self, thing: Thing, links: list[Any]) -> None:
        """Authors everything that can be seen of a thing. links: the prim of each link.

        StageError for a material that the scene does not define."""
        shown = shown_by_class(thing)
        look = look_of(thing, thing.attrs, shown=shown)
        in_pieces = thing.attrs.get(BROKEN) is True and falls_to_pieces(thing)
        if in_pieces:
            look = replace(look, cracks=False)
        marked = marked_shapes(thing)
        for k, link in enumerate(thing.links):
            for n, shape in enumerate(link.shapes):
                if shape.role != "collision":
                    worn = shape_look(shape, thing.attrs, look, marked=not marked or (k == 0 and n in marked))
                    prim = self._shape(thing, shape, links[k], f"shape_{n}", worn)
                    if in_pieces:
                        hidden(prim)
            for face in link.faces:
                self._face(thing, link, face, links[k])
        for n, (k, shape) in enumerate(extra_shapes(thing, shown=shown)):
            prim = self._shape(thing, shape, links[k], f"extra_{n}", PLAIN)
            if in_pieces:
                hidden(prim)
        if in_pieces:
            self._pieces(thing, links[0], look)
        self._liquid(thing, links[0])

    def _pieces(self, thing: Thing, link: Any, look: Look) -> None:
        """What a thing has fallen to, each piece in the material of the shape that it comes off."""
        link_from_world = inverse(link_poses_at(thing, thing.pose, {})[0])
        at = compose(link_from_world, lying_at(thing, thing.pose))
        for n, (shape, mesh) in enumerate(shards_of(thing)):
            made, colour = self.looks.of(
                self._material(thing, shape), shape_look(shape, thing.attrs, look, marked=True)
            )
            prim = author_mesh(
                self.stage, _visuals(self.stage, link).AppendChild(f"piece_{n}"), mesh, tiled=(1.0, -1.0)
            )
            _paint(prim, made, colour)
            place(prim, at)

    def _material(self, thing: Thing, shape: Shape) -> Material:
        wanted = material_name(shape, thing.attrs)
        if wanted not in self._materials:
            raise StageError(f"thing {thing.id!r} uses material {wanted!r}, which scene {self.scene.id!r} has not")
        return self._materials[wanted]

    def _shape(self, thing: Thing, shape: Shape, link: Any, name: str, look: Look) -> Any:
        made, colour = self.looks.of(self._material(thing, shape), look)
        prim = author_mesh(
            self.stage,
            _visuals(self.stage, link).AppendChild(name),
            tessellate(shape.kind, shape.size, upright=shape.material in self._upright),
            tiled=(1.0, -1.0),
        )
        _paint(prim, made, colour)
        place(prim, shape.pose)
        if not shape_is_drawn(shape, thing.attrs):
            hidden(prim)
        if shape.when:
            prim.SetCustomDataByKey("iwreplay:when", json.dumps(shape.when, sort_keys=True))
        if shape.repaint:
            prim.SetCustomDataByKey("iwreplay:repaint", json.dumps(shape.repaint))
        return prim

    def _liquid(self, thing: Thing, link: Any) -> None:
        liquid = liquid_of(thing, thing.attrs, self._materials)
        if liquid is None:
            return
        rgb = "_".join(str(c) for c in liquid.rgb)
        made, colour = self.looks.of(Material(name=f"(liquid_{rgb})", rgb=liquid.rgb, texture="rubber"))
        step, stretch = step_of(liquid_share(thing, liquid))
        mesh = liquid_bodies(thing)[step]
        prim = author_mesh(self.stage, _visuals(self.stage, link).AppendChild("liquid"), mesh, tiled=(1.0, -1.0))
        _paint(prim, made, colour)
        place(prim, _up(liquid.z0_m), scale=(1.0, 1.0, stretch))

    def _face(self, thing: Thing, owner: Link, face: Face, link: Any) -> None:
        faces = UsdGeom.Scope.Define(self.stage, link.GetPath().AppendChild("faces"))
        holder = UsdGeom.Xform.Define(self.stage, faces.GetPath().AppendChild(prim_name(face.name))).GetPrim()
        place(holder, face_pose(thing, face, thing.attrs))
        holder.SetCustomDataByKey("iwreplay:name", face.name)
        holder.SetCustomDataByKey("iwreplay:size", Gf.Vec2d(*face.size))
        holder.SetCustomDataByKey("iwreplay:cap_height_m", face.cap_height_m)
        text = thing.attrs.get(f"text:{face.name}")
        at = holder.GetPath().AppendChild("paper")
        # bent where what carries it is round
        mesh = label(*face.size, bend_m(owner, face))
        if not isinstance(text, str):
            prim = author_mesh(self.stage, at, mesh, tiled=None)
        else:
            made, part, file = self.looks.of_text(text, face)
            # the renderer's v runs down from the top, st's t up from the bottom
            prim = author_mesh(self.stage, at, mesh, tiled=(part[0], -part[1]), top=1.0)
            UsdShade.MaterialBindingAPI.Apply(prim).Bind(made)
            holder.SetCustomDataByKey("iwreplay:text", text)
            holder.SetCustomDataByKey("iwreplay:picture", file)
        if not isinstance(text, str) or not face_shows(thing, face, thing.attrs):
            hidden(prim)
        place(prim, _up(_FACE_GAP_M))


def author_mesh(stage: Any, path: Any, mesh: Mesh, *, tiled: tuple[float, float] | None, top: float = 0.0) -> Any:
    """A UsdGeom.Mesh of triangles as they are, with normals and, if `tiled` (the factors of u and v; `top` is added to
    v), `st`. Gives its prim."""
    made = UsdGeom.Mesh.Define(stage, path)
    points = vectors(mesh.positions, width=3)
    made.CreatePointsAttr(points)
    made.CreateFaceVertexCountsAttr(Vt.IntArray(len(mesh.faces), 3))
    made.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.faces, np.int32).reshape(-1)))
    made.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    made.CreateNormalsAttr(vectors(mesh.normals, width=3))
    made.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    made.CreateExtentAttr(UsdGeom.Mesh.ComputeExtent(points))
    if mesh.two_sided:
        made.CreateDoubleSidedAttr(True)
    if tiled is not None:
        st = mesh.uv * np.array(tiled) + np.array((0.0, top))
        UsdGeom.PrimvarsAPI(made).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex).Set(
            vectors(st, width=2)
        )
    return made.GetPrim()


def hidden(prim: Any) -> None:
    """Makes a prim and what lies under it invisible."""
    UsdGeom.Imageable(prim).CreateVisibilityAttr(UsdGeom.Tokens.invisible)


def _paint(prim: Any, material: Any, colour: Any) -> None:
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)
    # for viewers that show no materials
    UsdGeom.Gprim(prim).CreateDisplayColorAttr(Vt.Vec3fArray([colour]))


def _visuals(stage: Any, link: Any) -> Any:
    return UsdGeom.Scope.Define(stage, link.GetPath().AppendChild("visuals")).GetPath()


def _up(z: float) -> Pose:
    return (0.0, 0.0, z, *IDENTITY[3:])
