"""A stage of ours read back: what USD itself says of objects, poses, joints, masses and shapes, in our units.

Ids, names and texts come from labels and custom data, everything else from the schemas that a physics engine reads.
Accuracy: places and sizes of solids as written (doubles, 1e-9), turns to 1e-8 rad (USD drops
smaller ones); joint frames, limits, drives, masses and hulls in single precision (1e-6 of a metre, a radian, a
kilogram; a millionth of what is larger).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

from pxr import Sdf, Tf, Usd, UsdGeom, UsdLux, UsdPhysics, UsdSemantics

from iwreplay.errors import StageError
from iwreplay.pose import Pose, Vec3, compose, inverse, rotate, yaw_of
from iwreplay.usd.building import LAMP_NITS, ROOT, STAGE_FORMAT
from iwreplay.usd.edge import axis_of, drive_per_degree, pose_of_matrix, quat_from_usd
from iwreplay.usd.model import (
    StageCamera,
    StageFace,
    StageJoint,
    StageLink,
    StageScene,
    StageSolid,
    StageThing,
    View,
)

__all__ = ["read_stage"]

_NOTHING: tuple[Any, ...] = ()


def read_stage(path: Path) -> StageScene:
    """A stage that `write_stage` wrote. StageError for a file that is none, that is newer than this build, or that
    lacks something."""
    if not path.is_file():
        raise StageError(f"there is no such file: {path}")
    try:
        # not from USD's own memory of files, which may be older than the file
        stage = Usd.Stage.Open(Sdf.Layer.OpenAsAnonymous(str(path)))
    except Tf.ErrorException as e:
        raise StageError(f"not a USD stage: {path} ({_first_line(str(e))})") from e
    root = stage.GetDefaultPrim()
    if not root or root.GetPath() != Sdf.Path(ROOT):
        raise StageError(f"not a stage of a scene: {path}: its default prim is not {ROOT}")
    found = root.GetCustomDataByKey("iwreplay:stage_format")
    if found != STAGE_FORMAT:
        raise StageError(f"{path}: stage format {found!r} is not {STAGE_FORMAT}, the one that this build reads")
    return _Reader(stage, path).scene(root)


class _Reader:
    def __init__(self, stage: Any, path: Path) -> None:
        self.stage, self.path = stage, path

    def at(self, path: Any) -> Any:
        prim = self.stage.GetPrimAtPath(path)
        if not prim:
            raise StageError(f"{self.path}: there is no prim {path}")
        return prim

    def value(self, attribute: Any) -> Any:
        """An attribute that has to be written there: what a schema falls back to is not what we wrote."""
        if not attribute or not attribute.HasAuthoredValue():
            raise StageError(f"{self.path}: {attribute.GetPath()} has no value")
        return attribute.Get()

    def note(self, prim: Any, key: str) -> Any:
        """Custom data that has to be there."""
        found = prim.GetCustomDataByKey(f"iwreplay:{key}")
        if found is None:
            raise StageError(f"{self.path}: {prim.GetPath()} has no custom data iwreplay:{key}")
        return found

    def label(self, prim: Any, taxonomy: str) -> str:
        labels = UsdSemantics.LabelsAPI.Get(prim, taxonomy).GetLabelsAttr().Get()
        if not labels:
            raise StageError(f"{self.path}: {prim.GetPath()} has no label {taxonomy}")
        return str(labels[0])

    def scene(self, root: Any) -> StageScene:
        physics = UsdPhysics.Scene(self.at(f"{ROOT}/Physics/scene"))
        steps = self.value(physics.GetPrim().GetAttribute("physxScene:timeStepsPerSecond"))
        stances = self.stances()
        things = [self.thing(p, stances) for p in self.at(f"{ROOT}/Things").GetChildren()]
        x, y, _, *q = self.pose(self.at(f"{ROOT}/Spawn"))
        return StageScene(
            id=self.note(root, "scene"),
            scene_hash=self.note(root, "scene_hash"),
            things=tuple(things),
            spawn=(x, y, yaw_of((q[0], q[1], q[2], q[3]))),
            camera=self.camera(),
            gravity=float(self.value(physics.GetGravityMagnitudeAttr())),
            dt_s=1.0 / steps,
            lamps=tuple(
                self.lamp(p) for p in self.stage.Traverse(Usd.PrimAllPrimsPredicate) if p.IsA(UsdLux.SphereLight)
            ),
        )

    def pose(self, prim: Any) -> Pose:
        """parent_from_prim."""
        return pose_of_matrix(UsdGeom.Xformable(prim).GetLocalTransformation())[0]

    def stances(self) -> dict[str, tuple[Vec3, ...]]:
        found = {}
        for holder in self.at(f"{ROOT}/Stances").GetChildren():
            places = [self.pose(p) for p in holder.GetChildren()]
            found[str(self.note(holder, "id"))] = tuple((p[0], p[1], yaw_of(p[3:])) for p in places)
        return found

    def thing(self, prim: Any, stances: dict[str, tuple[Vec3, ...]]) -> StageThing:
        name = str(self.note(prim, "id"))
        links: list[StageLink] = []
        numbers: dict[Any, int] = {}
        for link in prim.GetChildren():
            links.append(self.link(link, links, numbers))
            numbers[link.GetPath()] = len(links) - 1
        return StageThing(
            id=name,
            cls=self.label(prim, "class"),
            name=self.label(prim, "name"),
            fixed=bool(self.note(prim, "fixed")),
            present=UsdGeom.Imageable(prim).ComputeVisibility() != UsdGeom.Tokens.invisible,
            pose=self.pose(prim),
            links=tuple(links),
            stances=stances.get(name, ()),
        )

    def link(self, prim: Any, before: list[StageLink], numbers: dict[Any, int]) -> StageLink:
        pose = self.pose(prim)
        parent, joint = -1, None
        at = self.stage.GetPrimAtPath(prim.GetPath().AppendChild("joint"))
        if at:
            (body0,) = UsdPhysics.Joint(at).GetBody0Rel().GetTargets() or (None,)
            if body0 not in numbers:
                raise StageError(f"{self.path}: {at.GetPath()} is on {body0}, which is no link before it")
            parent = numbers[body0]
            joint = self.joint(at, before[parent].pose, pose)
        mass = None
        if prim.HasAPI(UsdPhysics.RigidBodyAPI):
            mass = float(self.value(UsdPhysics.MassAPI(prim).GetMassAttr()))
        return StageLink(
            name=str(self.note(prim, "name")),
            parent=parent,
            pose=pose,
            mass_kg=mass,
            joint=joint,
            solids=tuple(self.solid(p) for p in self.under(prim, "collisions")),
            faces=tuple(self.face(p) for p in self.under(prim, "faces")),
        )

    def under(self, prim: Any, name: str) -> Any:
        child = prim.GetChild(name)
        return child.GetChildren() if child else _NOTHING

    def joint(self, prim: Any, parent: Pose, link: Pose) -> StageJoint:
        hinge = prim.IsA(UsdPhysics.RevoluteJoint)
        kind: Literal["hinge", "slide"] = "hinge" if hinge else "slide"
        made = (UsdPhysics.RevoluteJoint if hinge else UsdPhysics.PrismaticJoint)(prim)
        base = UsdPhysics.Joint(prim)
        frame0 = self.frame(base.GetLocalPos0Attr(), base.GetLocalRot0Attr())
        frame1 = self.frame(base.GetLocalPos1Attr(), base.GetLocalRot1Attr())
        letter = axis_of(str(self.value(made.GetAxisAttr())))
        moved = compose(compose(inverse(compose(parent, frame0)), link), frame1)
        along = (letter[0] * moved[0] + letter[1] * moved[1] + letter[2] * moved[2]) if not hinge else 0.0
        turn = letter[0] * moved[4] + letter[1] * moved[5] + letter[2] * moved[6]
        drive = UsdPhysics.DriveAPI(prim, "angular" if hinge else "linear")
        inwards = math.radians if hinge else float
        per = drive_per_degree(1.0) if hinge else 1.0
        return StageJoint(
            name=str(self.note(prim, "name")),
            kind=kind,
            axis=rotate(frame0[3:], letter),
            anchor=frame0[:3],
            offset=compose(frame0, inverse(frame1)),
            lo=inwards(self.value(made.GetLowerLimitAttr())),
            hi=inwards(self.value(made.GetUpperLimitAttr())),
            position=math.remainder(2.0 * math.atan2(turn, moved[3]), 2.0 * math.pi) if hinge else along,
            stiffness=self.value(drive.GetStiffnessAttr()) / per,
            damping=self.value(drive.GetDampingAttr()) / per,
            target=inwards(self.value(drive.GetTargetPositionAttr())),
        )

    def frame(self, place: Any, turn: Any) -> Pose:
        x, y, z = self.value(place)
        return (float(x), float(y), float(z), *quat_from_usd(self.value(turn)))

    def solid(self, prim: Any) -> StageSolid:
        pose, scale = pose_of_matrix(UsdGeom.Xformable(prim).GetLocalTransformation())
        if prim.IsA(UsdGeom.Cube):
            half = self.value(UsdGeom.Cube(prim).GetSizeAttr()) / 2.0
            return StageSolid(kind="box", size=(half * scale[0], half * scale[1], half * scale[2]), pose=pose)
        if prim.IsA(UsdGeom.Sphere):
            return StageSolid(kind="sphere", size=(self.value(UsdGeom.Sphere(prim).GetRadiusAttr()),), pose=pose)
        if prim.IsA(UsdGeom.Mesh):
            points = self.value(UsdGeom.Mesh(prim).GetPointsAttr())
            return StageSolid(kind="hull", size=tuple(float(v) for p in points for v in p), pose=pose)
        round_kind: Literal["cylinder", "capsule"] = "cylinder" if prim.IsA(UsdGeom.Cylinder) else "capsule"
        shape = (UsdGeom.Cylinder if round_kind == "cylinder" else UsdGeom.Capsule)(prim)
        size = (float(self.value(shape.GetRadiusAttr())), float(self.value(shape.GetHeightAttr())) / 2.0)
        return StageSolid(kind=round_kind, size=size, pose=pose)

    def face(self, prim: Any) -> StageFace:
        width, height = self.note(prim, "size")
        text = prim.GetCustomDataByKey("iwreplay:text")
        return StageFace(
            name=str(self.note(prim, "name")),
            pose=self.pose(prim),
            size=(float(width), float(height)),
            text=None if text is None else str(text),
            picture=None if text is None else str(self.note(prim, "picture")),
        )

    def camera(self) -> StageCamera:
        prim = self.at(f"{ROOT}/HeadCamera")
        camera = UsdGeom.Camera(prim)
        high, focal = self.value(camera.GetVerticalApertureAttr()), self.value(camera.GetFocalLengthAttr())
        view = View(
            width=int(self.note(prim, "width")),
            height=int(self.note(prim, "height")),
            fovy_deg=float(self.note(prim, "fovy_deg")),
        )
        return StageCamera(pose=self.pose(prim), view=view, fovy_rad=2.0 * math.atan(0.5 * high / focal))

    def lamp(self, prim: Any) -> tuple[Vec3, float, bool]:
        world, _ = pose_of_matrix(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default()))
        shines = UsdGeom.Imageable(prim).ComputeVisibility() != UsdGeom.Tokens.invisible
        return world[:3], float(self.value(UsdLux.SphereLight(prim).GetIntensityAttr())) / LAMP_NITS, shines


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
