"""The stage of a scene, put together in memory.

/World            the scene
  Looks           materials
  Physics         gravity and step, friction, who does not collide
  Things/<id>     every thing: its labels, <link>/visuals, collisions, faces, joint, lamp
  Stances/<id>    places to stand for using it
  Rooms, Lights, Spawn, HeadCamera
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pxr import Gf, Kind, Usd, UsdGeom, UsdLux, UsdPhysics, UsdSemantics, UsdShade

from iwreplay.actions.naming import public_name
from iwreplay.body import key_poses, standing
from iwreplay.canonical import struct_hash
from iwreplay.errors import StageError
from iwreplay.pose import IDENTITY, Pose, Vec3, from_xyz_yaw, transform_point, yaw_of
from iwreplay.render.lamps import Lamp, Lamps
from iwreplay.render.raster import NEAR_M
from iwreplay.scene.geometry import joints_at_load, link_poses_at
from iwreplay.scene.model import CompiledScene, Room, Thing
from iwreplay.scene.placing import is_off_stage
from iwreplay.usd.edge import place
from iwreplay.usd.looks import Looks, Picture
from iwreplay.usd.model import DEFAULT_VIEW, View
from iwreplay.usd.names import prim_name
from iwreplay.usd.physics import add_physics, add_world
from iwreplay.usd.visuals import Visuals, hidden
from iwreplay.vocabulary import AttrValue

__all__ = ["LAMP_NITS", "ROOT", "STAGE_FORMAT", "BuiltStage", "build_stage"]

#: rises with any change of what a reader must know
STAGE_FORMAT = 1

ROOT = "/World"
#: about 1500 lm, the light of a room, from a ball of this radius
LAMP_NITS, _LAMP_M = 6000.0, 0.08
#: nits of the even light around, for what no lamp reaches
_AROUND_NITS = 60.0
#: the width of a camera's film in tenths of a metre, as most cameras of USD have it; only ratios matter
_FILM = 20.955
_FAR_M = 100.0


@dataclass(frozen=True)
class BuiltStage:
    """A stage that is not written yet."""

    stage: Any
    #: pictures that have to lie in its folder, by file name
    pictures: dict[str, Picture]


@dataclass
class _AtLoad:
    """What lamps ask of a state."""

    poses: dict[str, Pose]
    attrs: dict[str, dict[str, AttrValue]]


def build_stage(
    scene: CompiledScene, *, folder: str, dt_s: float, view: View = DEFAULT_VIEW, task: str | None = None
) -> BuiltStage:
    """The stage of a compiled scene as it is at load. folder: where its pictures will lie, seen from the stage;
    dt_s: one physics step; task: the one whose things are in the scene.

    StageError, SceneError or RenderError for a scene that can't be written."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, ROOT).GetPrim()
    stage.SetDefaultPrim(root)
    Usd.ModelAPI(root).SetKind(Kind.Tokens.assembly)
    root.SetCustomDataByKey("iwreplay:scene", scene.id)
    if task is not None:
        root.SetCustomDataByKey("iwreplay:task", task)
    root.SetCustomDataByKey("iwreplay:scene_hash", struct_hash(scene))
    root.SetCustomDataByKey("iwreplay:stage_format", STAGE_FORMAT)
    UsdGeom.Scope.Define(stage, f"{ROOT}/Looks")
    paths = {t.id: f"{ROOT}/Things/{prim_name(t.id)}" for t in scene.things}
    contact = add_world(stage, f"{ROOT}/Physics", dt_s=dt_s, fixed=[paths[t.id] for t in scene.things if t.fixed])
    things = UsdGeom.Xform.Define(stage, f"{ROOT}/Things").GetPrim()
    Usd.ModelAPI(things).SetKind(Kind.Tokens.group)
    UsdShade.MaterialBindingAPI.Apply(things).Bind(contact, UsdShade.Tokens.weakerThanDescendants, "physics")
    looks = Looks(stage, f"{ROOT}/Looks", folder)
    visuals = Visuals(stage, scene, looks)
    for thing in scene.things:
        _add_thing(stage, thing, paths[thing.id], visuals)
    _add_stances(stage, scene)
    _add_rooms(stage, scene.rooms)
    _add_lamps(stage, scene, paths)
    _add_wearer(stage, scene.spawn, view)
    return BuiltStage(stage, looks.pictures)


def _add_thing(stage: Any, thing: Thing, path: str, visuals: Visuals) -> None:
    prim = UsdGeom.Xform.Define(stage, path).GetPrim()
    Usd.ModelAPI(prim).SetKind(Kind.Tokens.component)
    place(prim, thing.pose)
    prim.SetCustomDataByKey("iwreplay:id", thing.id)
    prim.SetCustomDataByKey("iwreplay:fixed", thing.fixed)
    UsdSemantics.LabelsAPI.Apply(prim, "class").CreateLabelsAttr([thing.cls])
    UsdSemantics.LabelsAPI.Apply(prim, "name").CreateLabelsAttr([public_name(thing)])
    present = thing.attrs.get("exists") is not False and not is_off_stage(thing.pose)
    if not present:
        hidden(prim)
    _check_links(thing)
    joints = joints_at_load((thing,))
    # links stand side by side, each with its pose in the thing: a rigid body must not lie under another
    links = []
    for link, pose in zip(thing.links, link_poses_at(thing, IDENTITY, joints), strict=True):
        made = UsdGeom.Xform.Define(stage, f"{path}/{prim_name(link.name)}").GetPrim()
        place(made, pose)
        made.SetCustomDataByKey("iwreplay:name", link.name)
        Usd.ModelAPI(made).SetKind(Kind.Tokens.subcomponent)
        links.append(made)
    visuals.draw(thing, links)
    targets = {k: joints[f"{thing.id}.{v.joint.name}"] for k, v in enumerate(thing.links) if v.joint is not None}
    add_physics(stage, thing, prim, links, present=present, targets=targets)


def _check_links(thing: Thing) -> None:
    names = [link.name for link in thing.links]
    if len(set(names)) < len(names):
        raise StageError(f"thing {thing.id!r} has two links of one name: {', '.join(names)}")
    for k, link in enumerate(thing.links[1:], start=1):
        if link.joint is None or not 0 <= link.parent < k:
            raise StageError(f"link {link.name!r} of {thing.id} needs a joint and a parent that comes before it")


def _add_stances(stage: Any, scene: CompiledScene) -> None:
    UsdGeom.Scope.Define(stage, f"{ROOT}/Stances")
    for thing in scene.things:
        if not thing.stances:
            continue
        holder = UsdGeom.Scope.Define(stage, f"{ROOT}/Stances/{prim_name(thing.id)}").GetPrim()
        holder.SetCustomDataByKey("iwreplay:id", thing.id)
        for n, (x, y, yaw) in enumerate(thing.stances):
            at = transform_point(thing.pose, (x, y, 0.0))
            made = UsdGeom.Xform.Define(stage, holder.GetPath().AppendChild(f"stance_{n}")).GetPrim()
            place(made, from_xyz_yaw(at[0], at[1], 0.0, yaw_of(thing.pose[3:]) + yaw))


def _add_rooms(stage: Any, rooms: tuple[Room, ...]) -> None:
    UsdGeom.Scope.Define(stage, f"{ROOT}/Rooms")
    for room in rooms:
        x0, y0, x1, y1 = room.rect
        made = UsdGeom.Xform.Define(stage, f"{ROOT}/Rooms/{prim_name(room.id)}").GetPrim()
        place(made, ((x0 + x1) / 2.0, (y0 + y1) / 2.0, 0.0, *IDENTITY[3:]))
        made.SetCustomDataByKey("iwreplay:id", room.id)
        made.SetCustomDataByKey("iwreplay:rect", Gf.Vec4d(*room.rect))
        made.SetCustomDataByKey("iwreplay:height_m", room.height)
        UsdSemantics.LabelsAPI.Apply(made, "name").CreateLabelsAttr(list(room.nouns))


def _add_lamps(stage: Any, scene: CompiledScene, paths: dict[str, str]) -> None:
    UsdGeom.Scope.Define(stage, f"{ROOT}/Lights")
    around = UsdLux.DomeLight.Define(stage, f"{ROOT}/Lights/around")
    around.CreateIntensityAttr(_AROUND_NITS)
    lamps = Lamps(scene)
    lamps.follow(_AtLoad({t.id: t.pose for t in scene.things}, {t.id: t.attrs for t in scene.things}))
    lit = {k.index for k in lamps.lit}
    for i, lamp in enumerate(lamps.lamps):
        if lamp.thing < 0:
            path = f"{ROOT}/Lights/light_{i}"
        else:
            thing = scene.things[lamp.thing]
            path = f"{paths[thing.id]}/{prim_name(thing.links[0].name)}/lamp"
        _add_lamp(stage, path, lamp, shines=i in lit)


def _add_lamp(stage: Any, path: str, lamp: Lamp, *, shines: bool) -> None:
    made = UsdLux.SphereLight.Define(stage, path)
    made.CreateRadiusAttr(_LAMP_M)
    made.CreateExtentAttr([(-_LAMP_M, -_LAMP_M, -_LAMP_M), (_LAMP_M, _LAMP_M, _LAMP_M)])
    made.CreateIntensityAttr(LAMP_NITS * lamp.strength)
    made.CreateColorAttr(Gf.Vec3f(*(c / lamp.strength for c in lamp.rgb)))
    prim = made.GetPrim()
    place(prim, (*lamp.at, *IDENTITY[3:]))
    prim.SetCustomDataByKey("iwreplay:strength", lamp.strength)
    prim.SetCustomDataByKey("iwreplay:when", lamp.when if lamp.thing >= 0 else "")
    if not shines:
        hidden(prim)


def _add_wearer(stage: Any, spawn: Vec3, view: View) -> None:
    """Where the wearer starts, and its camera: standing there, as at the beginning of an episode."""
    if not (view.width > 0 and view.height > 0 and 1.0 <= view.fovy_deg <= 170.0):
        raise StageError(f"no camera has {view.width} x {view.height} pixels and {view.fovy_deg} degrees")
    x, y, yaw = spawn
    place(UsdGeom.Xform.Define(stage, f"{ROOT}/Spawn").GetPrim(), from_xyz_yaw(x, y, 0.0, yaw))
    camera = UsdGeom.Camera.Define(stage, f"{ROOT}/HeadCamera")
    # ours looks along its -z with y up, as USD's does
    place(camera.GetPrim(), key_poses(standing(x, y, yaw)).camera)
    high = _FILM * view.height / view.width
    camera.CreateProjectionAttr(UsdGeom.Tokens.perspective)
    camera.CreateHorizontalApertureAttr(_FILM)
    camera.CreateVerticalApertureAttr(high)
    camera.CreateFocalLengthAttr(0.5 * high / math.tan(math.radians(view.fovy_deg) / 2.0))
    camera.CreateClippingRangeAttr(Gf.Vec2f(NEAR_M, _FAR_M))
    prim = camera.GetPrim()
    prim.SetCustomDataByKey("iwreplay:width", view.width)
    prim.SetCustomDataByKey("iwreplay:height", view.height)
    prim.SetCustomDataByKey("iwreplay:fovy_deg", view.fovy_deg)
