"""What physics sees of a thing: rigid bodies with masses, collision shapes, joints with limits and drives.

A thing that stays where it is and has no joints is static: colliders without a body. One with joints is an
articulation whose base is fixed to the world; a movable one with joints floats. Drives, friction, gravity and step are
those of the embedded engine (a test holds them equal), and so is who collides with whom: what is fixed, doors
included, with movable things only; links of one thing never with each other.
"""

from __future__ import annotations

import math
from typing import Any

from pxr import Gf, Sdf, UsdGeom, UsdPhysics, UsdShade, Vt

from iwreplay.errors import StageError
from iwreplay.pose import IDENTITY, Pose, compose, inverse
from iwreplay.render.shapes import tessellate
from iwreplay.scene.geometry import shape_half
from iwreplay.scene.masses import solid_masses
from iwreplay.scene.model import Joint, Shape, Thing
from iwreplay.usd.edge import drive_per_degree, place, quat_to_usd, turn_of_axis, vectors

__all__ = ["ARMATURE", "FRICTION", "GRAVITY", "STIFFNESS", "add_physics", "add_world"]

#: m/s2
GRAVITY = 9.81
FRICTION = 0.9
#: of the drive of a joint: N m / rad, N / m
STIFFNESS = {"hinge": 1200.0, "slide": 12000.0}
#: kg m2, kg: inertia for which that drive is critically damped
ARMATURE = {"hinge": 0.5, "slide": 5.0}
_DRIVE = {"hinge": "angular", "slide": "linear"}
#: of a link without collision shapes: kg, kg m2
_LEAST_KG, _SMALL_INERTIA = 0.01, 0.001


def add_world(stage: Any, root: str, *, dt_s: float, fixed: list[str]) -> Any:
    """The physics scene, what things are made of, and who does not collide. fixed: paths of the fixed things.

    What PhysX needs to be deterministic is written as plain attributes under PhysX's names: its schemas are not part
    of USD. Gives the physics material."""
    UsdGeom.Scope.Define(stage, root)
    scene = UsdPhysics.Scene.Define(stage, f"{root}/scene")
    scene.CreateGravityDirectionAttr(Gf.Vec3f(0.0, 0.0, -1.0))
    scene.CreateGravityMagnitudeAttr(GRAVITY)
    prim = scene.GetPrim()
    prim.AddAppliedSchema("PhysxSceneAPI")
    steps = round(1.0 / dt_s)
    if not math.isclose(steps * dt_s, 1.0, rel_tol=1e-9):
        raise StageError(f"a step of {dt_s} s does not go into a second a whole number of times")
    for name, kind, value in (
        ("timeStepsPerSecond", Sdf.ValueTypeNames.UInt, steps),
        ("broadphaseType", Sdf.ValueTypeNames.Token, "MBP"),
        ("enableEnhancedDeterminism", Sdf.ValueTypeNames.Bool, True),
        ("enableGPUDynamics", Sdf.ValueTypeNames.Bool, False),
    ):
        varying = Sdf.VariabilityUniform if kind == Sdf.ValueTypeNames.Token else Sdf.VariabilityVarying
        prim.CreateAttribute(f"physxScene:{name}", kind, False, varying).Set(value)
    group = UsdPhysics.CollisionGroup.Define(stage, f"{root}/fixed_things")
    group.CreateFilteredGroupsRel().AddTarget(group.GetPath())
    includes = group.GetCollidersCollectionAPI().CreateIncludesRel()
    includes.SetTargets([Sdf.Path(p) for p in fixed])
    material = UsdShade.Material.Define(stage, f"{root}/contact")
    contact = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
    contact.CreateStaticFrictionAttr(FRICTION)
    contact.CreateDynamicFrictionAttr(FRICTION)
    contact.CreateRestitutionAttr(0.0)
    return material


def add_physics(
    stage: Any, thing: Thing, prim: Any, links: list[Any], *, present: bool, targets: dict[int, float]
) -> None:
    """Bodies, colliders and joints of a thing. links: the prim of each link; targets: number of a link -> where its
    joint stands at load, rad or m. What is not present touches nothing and stays where it is.

    SceneError for a shape that can't be collided with."""
    jointed = len(thing.links) > 1
    masses = solid_masses(thing)
    for k, link in enumerate(thing.links):
        solids = [(n, s) for n, s in enumerate(link.shapes) if s.role != "visual"]
        if solids:
            holder = UsdGeom.Scope.Define(stage, links[k].GetPath().AppendChild("collisions"))
            # not for the eye: what is seen has meshes of its own
            holder.CreatePurposeAttr(UsdGeom.Tokens.guide)
        for n, shape in solids:
            made = _collider(stage, links[k].GetPath().AppendPath(f"collisions/solid_{n}"), shape)
            UsdPhysics.CollisionAPI.Apply(made).CreateCollisionEnabledAttr(present)
        if not thing.fixed or jointed:
            _body(links[k], thing, [masses[k, n] for n, _ in solids], present=present, held=k > 0)
    if not jointed:
        return
    UsdPhysics.ArticulationRootAPI.Apply(prim)
    if thing.fixed:
        anchor = UsdPhysics.FixedJoint.Define(stage, links[0].GetPath().AppendChild("anchor"))
        anchor.CreateBody1Rel().SetTargets([links[0].GetPath()])
        _frames(anchor, compose(thing.pose, thing.links[0].offset), IDENTITY)
    for k, link in enumerate(thing.links[1:], start=1):
        assert link.joint is not None  # the builder has seen to it
        _joint(stage, link.joint, link.offset, links[k], links[link.parent], target=targets[k])
        strangers = [links[j].GetPath() for j in range(1, k) if j != link.parent]
        if link.parent != 0:
            strangers.insert(0, links[0].GetPath())
        if strangers:
            UsdPhysics.FilteredPairsAPI.Apply(links[k]).CreateFilteredPairsRel().SetTargets(strangers)


def _body(link: Any, thing: Thing, masses: list[float], *, present: bool, held: bool) -> None:
    body = UsdPhysics.RigidBodyAPI.Apply(link)
    if not present:
        # switched off altogether it could carry no joint
        body.CreateStartsAsleepAttr(True)
    mass = UsdPhysics.MassAPI.Apply(link)
    total = 0.0
    for m in masses:
        total += m
    mass.CreateMassAttr(total if masses else max(thing.mass_kg, _LEAST_KG))
    if not masses:
        mass.CreateCenterOfMassAttr(Gf.Vec3f(0.0))
        mass.CreateDiagonalInertiaAttr(Gf.Vec3f(_SMALL_INERTIA))
        mass.CreatePrincipalAxesAttr(Gf.Quatf(1.0))
    if held or not present:
        # a door or lid stays where its drive has it
        link.AddAppliedSchema("PhysxRigidBodyAPI")
        link.CreateAttribute("physxRigidBody:disableGravity", Sdf.ValueTypeNames.Bool, False).Set(True)


def _collider(stage: Any, path: Any, shape: Shape) -> Any:
    shape_half(shape)  # refuses sizes that are not of the kind's form
    s = shape.size
    scale = None
    if shape.kind == "box":
        made = UsdGeom.Cube.Define(stage, path)
        made.CreateSizeAttr(2.0)
        scale = (s[0], s[1], s[2])
    elif shape.kind == "sphere":
        made = UsdGeom.Sphere.Define(stage, path)
        made.CreateRadiusAttr(s[0])
    elif shape.kind in ("cylinder", "capsule"):
        made = (UsdGeom.Cylinder if shape.kind == "cylinder" else UsdGeom.Capsule).Define(stage, path)
        made.CreateRadiusAttr(s[0])
        made.CreateHeightAttr(2.0 * s[1])
        made.CreateAxisAttr(UsdGeom.Tokens.z)
    else:
        made = UsdGeom.Mesh.Define(stage, path)
        mesh = tessellate(shape.kind, s)
        made.CreatePointsAttr(vectors(mesh.positions, width=3))
        made.CreateFaceVertexCountsAttr(Vt.IntArray(len(mesh.faces), 3))
        made.CreateFaceVertexIndicesAttr(Vt.IntArray([int(i) for i in mesh.faces.reshape(-1)]))
        made.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        UsdPhysics.MeshCollisionAPI.Apply(made.GetPrim()).CreateApproximationAttr(UsdPhysics.Tokens.convexHull)
    place(made.GetPrim(), shape.pose, scale=scale)
    made.CreateExtentAttr(UsdGeom.Boundable.ComputeExtentFromPlugins(made, 0.0))
    return made.GetPrim()


def _joint(stage: Any, joint: Joint, offset: Pose, link: Any, parent: Any, *, target: float) -> None:
    path = link.GetPath().AppendChild("joint")
    hinge = joint.kind == "hinge"
    made = (UsdPhysics.RevoluteJoint if hinge else UsdPhysics.PrismaticJoint).Define(stage, path)
    made.CreateBody0Rel().SetTargets([parent.GetPath()])
    made.CreateBody1Rel().SetTargets([link.GetPath()])
    letter, turn = turn_of_axis(joint.axis)
    made.CreateAxisAttr(letter)
    frame: Pose = (*joint.anchor, *turn)
    # one frame seen from both links: they coincide at position 0
    _frames(made, frame, compose(inverse(offset), frame))
    unit = math.degrees if hinge else float
    made.CreateLowerLimitAttr(unit(min(joint.lo, joint.hi)))
    made.CreateUpperLimitAttr(unit(max(joint.lo, joint.hi)))
    drive = UsdPhysics.DriveAPI.Apply(made.GetPrim(), _DRIVE[joint.kind])
    drive.CreateTypeAttr(UsdPhysics.Tokens.force)
    stiffness = STIFFNESS[joint.kind]
    damping = 2.0 * math.sqrt(stiffness * ARMATURE[joint.kind])
    drive.CreateStiffnessAttr(drive_per_degree(stiffness) if hinge else stiffness)
    drive.CreateDampingAttr(drive_per_degree(damping) if hinge else damping)
    drive.CreateTargetPositionAttr(unit(target))
    prim = made.GetPrim()
    prim.SetCustomDataByKey("iwreplay:name", joint.name)
    prim.SetCustomDataByKey("iwreplay:open_at", joint.open_at)
    prim.SetCustomDataByKey("iwreplay:handle", Gf.Vec3d(*joint.handle))


def _frames(joint: Any, in_body0: Pose, in_body1: Pose) -> None:
    joint.CreateLocalPos0Attr(Gf.Vec3f(*in_body0[:3]))
    joint.CreateLocalRot0Attr(quat_to_usd(in_body0[3:], single=True))
    joint.CreateLocalPos1Attr(Gf.Vec3f(*in_body1[:3]))
    joint.CreateLocalRot1Attr(quat_to_usd(in_body1[3:], single=True))
