"""What is in a stage besides what is read back: looks, physics settings, structure; and that its bytes are the same."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from pxr import Gf, Kind, Usd, UsdGeom, UsdPhysics, UsdSemantics, UsdShade

import taskpacks
from iwreplay.pose import IDENTITY, Pose, quat_about
from iwreplay.render.stage import Stage
from iwreplay.render.text import draw_text
from iwreplay.scene.geometry import initial_joints
from iwreplay.scene.library import Wanted, load_library
from iwreplay.scene.model import CompiledScene
from iwreplay.usd import prim_name, read_stage, write_stage
from iwreplay.vocabulary import AttrValue
from recorder.simulators.mjcf import DT_S, to_mjcf
from tests.usd.conftest import SCENES, scene_named

NAMES = ("awkward", *SCENES)


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The stages of the scenes of the normal suite, opened."""
    folder = tmp_path_factory.mktemp("stages")
    for name in NAMES:
        write_stage(scene_named(name), folder / f"{name}.usda", dt_s=DT_S)
    return {name: Usd.Stage.Open(str(folder / f"{name}.usda")) for name in NAMES}


def _meshes(stage: Any, under: str = "/World/Things") -> Iterator[Any]:
    """Prims of the meshes that are for the eye."""
    for prim in Usd.PrimRange(stage.GetPrimAtPath(under)):
        if prim.IsA(UsdGeom.Mesh) and UsdGeom.Imageable(prim).ComputePurpose() == UsdGeom.Tokens.default_:
            yield prim


@dataclass
class _AtLoad:
    poses: dict[str, Pose]
    joints: dict[str, float]
    attrs: dict[str, dict[str, AttrValue]]


def _drawn(scene: CompiledScene) -> dict[str, set[tuple[float, ...]]]:
    """Thing -> the points that the renderer draws it with, in the world, to a tenth of a millimetre; without cords."""
    stage = Stage(scene)
    things = scene.things
    stage.follow(_AtLoad({t.id: t.pose for t in things}, initial_joints(scene), {t.id: t.attrs for t in things}))
    found: dict[str, set[tuple[float, ...]]] = {t.id: set() for t in things}
    for p in np.flatnonzero(stage.part_drawn):
        first, last = stage.part_vertices[p]
        local = stage.vertices[first:last]
        world = (local[:, None, :] * stage.poses[p, None, :, :3]).sum(axis=2) + stage.poses[p, :, 3]
        found[things[stage.part_id[p]].id].update(map(tuple, np.round(world, 4) + 0.0))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_seen_is_what_the_renderer_draws(name: str, stages: dict[str, Any]) -> None:
    compared = _compare(scene_named(name), stages[name])
    assert compared > (400 if name == "awkward" else 4_000)


def _compare(scene: CompiledScene, stage: Any) -> int:
    """Asserts that a stage shows the points that the renderer draws, and says how many."""
    drawn = _drawn(scene)
    plugged = {t.id for t in scene.things if t.attrs.get("plugged")}
    compared = 0
    for thing in scene.things:
        points: set[tuple[float, ...]] = set()
        for prim in _meshes(stage, f"/World/Things/{prim_name(thing.id)}"):
            if UsdGeom.Imageable(prim).ComputeVisibility() != UsdGeom.Tokens.invisible:
                matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default()))
                local = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(), np.float64)
                points.update(map(tuple, np.round(local @ matrix[:3, :3] + matrix[3, :3], 4) + 0.0))
        if thing.id in plugged or thing.pose[0] >= 100.0:
            continue
        # what lies on the edge of a tenth of a millimetre may be rounded to either side
        assert all(_neighbours(p) & drawn[thing.id] for p in points - drawn[thing.id]), thing.id
        assert all(_neighbours(p) & points for p in drawn[thing.id] - points), thing.id
        compared += len(points)
    return compared


#: things of the library in states that frames show, and what of it their materials tell
_STATES: dict[str, tuple[str, dict[str, AttrValue], str]] = {
    "glass_1": ("glass", {"broken": True, "contains": {"milk": 0.2}}, ""),
    "plate_1": ("plate", {"broken": True}, ""),
    "vase_1": ("vase", {"broken": True}, ""),
    "tomato_1": ("tomato", {"cut": True}, ""),
    "lasagne_1": ("lasagne", {"cooked": "burnt"}, "roast3"),
    "bread_1": ("bread", {"cut": True, "mold_exposed": True}, ""),
    "spill_1": ("spill", {}, ""),
    "mug_1": ("mug", {"clean": False, "contains": {"coffee": 0.1}}, "smear"),
    "cloth_1": ("hand_towel", {"parent": "on:rail_1.hook_left"}, ""),
    "shirt_1": ("shirt", {"parent": "on:rail_1.hook_left", "wet": True}, ""),
    "lamp_1": ("desk_lamp", {"on": True}, ""),
}


@pytest.fixture(scope="module")
def in_states() -> CompiledScene:
    """Things that are broken, cut, burnt, spilled, dirty, hung, on; the broken ones lie on their sides."""
    library = load_library(taskpacks.root() / "objects")
    things = []
    for k, (name, (cls, attrs, _)) in enumerate(_STATES.items()):
        turned = quat_about((1.0, 2.0, 0.5), 1.2) if attrs.get("broken") else IDENTITY[3:]
        wanted = Wanted(id=name, cls=cls, pose=(0.7 * k, 0.2, 0.3, *turned))
        made = library.make(wanted, where="test")[0]
        things.append(msgspec.structs.replace(made, attrs={**made.attrs, **attrs}))
    shapes = [s for t in things for link in t.links for s in link.shapes]
    names = {m for s in shapes for m in (s.material, *(v for table in s.repaint.values() for v in table.values()))}
    materials = tuple(library.material(n, where="test") for n in sorted(names))
    return msgspec.structs.replace(scene_named("awkward"), things=tuple(things), materials=materials)


def test_states_that_frames_show_are_in_the_stage(in_states: CompiledScene, tmp_path: Path) -> None:
    write_stage(in_states, tmp_path / "x.usda", dt_s=DT_S)
    stage = Usd.Stage.Open(str(tmp_path / "x.usda"))
    _compare(in_states, stage)
    for name, (_, _, mark) in _STATES.items():
        bound = {
            UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0].GetPath().name
            for prim in _meshes(stage, f"/World/Things/{prim_name(name)}")
            if UsdGeom.Imageable(prim).ComputeVisibility() != UsdGeom.Tokens.invisible
        }
        assert any(mark in m for m in bound), (name, bound)


def test_what_is_broken_lies_in_pieces(in_states: CompiledScene, tmp_path: Path) -> None:
    write_stage(in_states, tmp_path / "x.usda", dt_s=DT_S)
    stage = Usd.Stage.Open(str(tmp_path / "x.usda"))
    for name in ("glass_1", "plate_1", "vase_1"):
        seen = [
            p.GetName()
            for p in _meshes(stage, f"/World/Things/{name}")
            if UsdGeom.Imageable(p).ComputeVisibility() != UsdGeom.Tokens.invisible
        ]
        assert len(seen) >= 5
        assert all(n.startswith("piece_") for n in seen), seen


def _neighbours(point: tuple[float, ...]) -> set[tuple[float, ...]]:
    """Places a tenth of a millimetre beside it."""
    steps = [(x, y, z) for x in (-1e-4, 0, 1e-4) for y in (-1e-4, 0, 1e-4) for z in (-1e-4, 0, 1e-4)]
    return {tuple(np.round(np.add(point, d), 4) + 0.0) for d in steps}


@pytest.mark.parametrize("name", NAMES)
def test_meshes_are_whole(name: str, stages: dict[str, Any]) -> None:
    for prim in _meshes(stages[name]):
        mesh = UsdGeom.Mesh(prim)
        points, normals = np.array(mesh.GetPointsAttr().Get()), np.array(mesh.GetNormalsAttr().Get())
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
        assert len(normals) == len(points)
        assert np.allclose((normals * normals).sum(axis=1), 1.0, atol=1e-5)
        a, b, c = (points[corners[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        # seen from the side of its normals a triangle runs counter-clockwise (an open shell has two sides)
        if not mesh.GetDoubleSidedAttr().Get():
            assert ((across * normals[corners].sum(axis=1)).sum(axis=1) >= 0.0).all(), prim.GetPath()
        low, high = mesh.GetExtentAttr().Get()
        assert np.allclose(points.min(axis=0), low)
        assert np.allclose(points.max(axis=0), high)
        if UsdGeom.Imageable(prim).ComputeVisibility() != UsdGeom.Tokens.invisible:
            material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
            assert material, prim.GetPath()
            assert len(UsdGeom.PrimvarsAPI(prim).GetPrimvar("st").Get()) == len(points)


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_pictures_beside_the_stage(name: str, stages: dict[str, Any]) -> None:
    scene, stage = scene_named(name), stages[name]
    folder = Path(stage.GetRootLayer().realPath).parent
    read = read_stage(Path(stage.GetRootLayer().realPath))
    texts = 0
    for got, thing in zip(read.things, scene.things, strict=True):
        for link, wanted in zip(got.links, thing.links, strict=True):
            for face, f in zip(link.faces, wanted.faces, strict=True):
                assert (face.picture is None) == (face.text is None)
                if face.text is not None:
                    assert face.picture is not None
                    assert face.picture.startswith(f"./{name}_textures/")
                    pixels, _ = draw_text(face.text, f)
                    assert np.array_equal(np.array(Image.open(folder / face.picture)), pixels)
                    texts += 1
    assert texts > 0
    assert str(folder) not in stage.GetRootLayer().ExportToString()


def test_a_text_is_not_mirrored(stages: dict[str, Any]) -> None:
    """The corner of a face at the reader's upper left shows the upper left of its picture."""
    stage = stages["awkward"]
    paper = stage.GetPrimAtPath(f"/World/Things/_u31__u2d_chest/base/faces/{prim_name('front/1')}/paper")
    points = np.array(UsdGeom.Mesh(paper).GetPointsAttr().Get())
    st = np.array(UsdGeom.PrimvarsAPI(paper).GetPrimvar("st").Get())
    corner = int(np.argmin(points[:, 0] - points[:, 1]))
    assert tuple(points[corner][:2]) == pytest.approx((-0.1, 0.05))
    assert tuple(st[corner]) == pytest.approx((0.0, 1.0))
    assert st[:, 0].max() > 0.3
    assert st[:, 1].min() >= 0.0


def test_materials_are_those_of_the_scene(stages: dict[str, Any]) -> None:
    def shader(path: str) -> Any:
        return UsdShade.Shader(stages["awkward"].GetPrimAtPath(f"/World/Looks/{path}"))

    glass = shader("glass/surface")
    assert glass.GetInput("opacity").Get() == pytest.approx(0.3)
    lacquer = shader("red_u20_lacquer/surface")
    # 200 of 255 as linear light
    assert lacquer.GetInput("diffuseColor").Get()[0] == pytest.approx(0.577580, abs=1e-5)
    assert lacquer.GetInput("emissiveColor").Get()[0] == pytest.approx(0.288790, abs=1e-5)
    assert shader("oak/tiles").GetInput("scale").Get()[0] == pytest.approx(1.0 / 0.70)
    # a wet thing has a material of its own, darker and smoother
    wet, dry = shader("oak_wet1/surface"), shader("oak/surface")
    assert wet.GetInput("roughness").Get() < dry.GetInput("roughness").Get()
    assert shader("oak_wet1/picture").GetInput("file").Get() != shader("oak/picture").GetInput("file").Get()


def test_what_does_not_show_is_there_but_invisible(stages: dict[str, Any]) -> None:
    stage = stages["awkward"]

    def seen(path: str) -> bool:
        imageable = UsdGeom.Imageable(stage.GetPrimAtPath(f"/World/Things/{path}"))
        return bool(imageable.ComputeVisibility() != UsdGeom.Tokens.invisible)

    # a ball that is drawn only while the chest is closed
    assert not seen("_u31__u2d_chest/base/visuals/shape_2")
    ball = stage.GetPrimAtPath("/World/Things/_u31__u2d_chest/base/visuals/shape_2")
    assert ball.GetCustomDataByKey("iwreplay:when") == '{"open": [false]}'
    # a cone that is glass while the chest is on
    cones = [
        stage.GetPrimAtPath(f"/World/Things/{t}/base/visuals/shape_4")
        for t in ("_u31__u2d_chest", prim_name("1_chest"))
    ]
    bound = [UsdShade.MaterialBindingAPI(c).ComputeBoundMaterial()[0].GetPath().name for c in cones]
    assert bound == ["oak", "glass_wet1"]
    assert not seen("gone")
    assert seen("_u31__u2d_chest")


@pytest.mark.parametrize("name", NAMES)
def test_structure(name: str, stages: dict[str, Any]) -> None:
    scene, stage = scene_named(name), stages[name]
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    root = stage.GetDefaultPrim()
    assert Usd.ModelAPI(root).GetKind() == Kind.Tokens.assembly
    for thing in scene.things:
        prim = stage.GetPrimAtPath(f"/World/Things/{prim_name(thing.id)}")
        assert prim.IsModel()
        assert Usd.ModelAPI(prim).GetKind() == Kind.Tokens.component
        assert UsdSemantics.LabelsAPI.GetDirectTaxonomies(prim) == ["class", "name"]
        assert prim.HasAPI(UsdPhysics.ArticulationRootAPI) == (len(thing.links) > 1)
        anchors = [p for p in Usd.PrimRange(prim) if p.IsA(UsdPhysics.FixedJoint)]
        assert len(anchors) == (thing.fixed and len(thing.links) > 1)


def test_physics_is_set_as_the_embedded_engine_has_it(stages: dict[str, Any]) -> None:
    scene, stage = scene_named("awkward"), stages["awkward"]
    mjcf = ET.fromstring(to_mjcf(scene))
    option = mjcf.find("option")
    geom = mjcf.find("default/geom")
    assert option is not None
    assert geom is not None
    physics = stage.GetPrimAtPath("/World/Physics/scene")
    values = {a.GetName(): a.Get() for a in physics.GetAuthoredAttributes()}
    assert 1.0 / values["physxScene:timeStepsPerSecond"] == float(option.get("timestep", "0"))
    # MuJoCo's own gravity, which the model leaves alone
    assert "gravity" not in option.attrib
    assert values["physics:gravityMagnitude"] == pytest.approx(9.81)
    assert values["physics:gravityDirection"] == Gf.Vec3f(0, 0, -1)
    assert values["physxScene:broadphaseType"] == "MBP"
    assert values["physxScene:enableEnhancedDeterminism"] is True
    assert values["physxScene:enableGPUDynamics"] is False
    contact = UsdPhysics.MaterialAPI(stage.GetPrimAtPath("/World/Physics/contact"))
    assert contact.GetDynamicFrictionAttr().Get() == pytest.approx(float(geom.get("friction", "").split()[0]))
    gains = {a.get("name"): float(a.get("kp", "0")) for a in mjcf.iter("position")}
    inertia = {j.get("name"): float(j.get("armature", "0")) for j in mjcf.iter("joint")}
    read = read_stage(Path(stage.GetRootLayer().realPath))
    for thing in read.things:
        for link in thing.links:
            if link.joint is not None:
                name = f"{thing.id}.{link.joint.name}"
                assert link.joint.stiffness == pytest.approx(gains[name], rel=1e-6)
                # critically damped: 2 sqrt(k m), as dampratio 1 has it
                assert link.joint.damping == pytest.approx(2.0 * (gains[name] * inertia[name]) ** 0.5, rel=1e-6)


def test_who_does_not_collide(stages: dict[str, Any]) -> None:
    scene, stage = scene_named("awkward"), stages["awkward"]
    group = UsdPhysics.CollisionGroup(stage.GetPrimAtPath("/World/Physics/fixed_things"))
    assert group.GetFilteredGroupsRel().GetTargets() == [group.GetPath()]
    members = group.GetCollidersCollectionAPI().ComputeMembershipQuery()
    chest = scene.things[0]
    for thing in scene.things:
        base = stage.GetPrimAtPath(f"/World/Things/{prim_name(thing.id)}/base/collisions/solid_0")
        assert members.IsPathIncluded(base.GetPath()) == thing.fixed
        enabled = UsdPhysics.CollisionAPI(base).GetCollisionEnabledAttr().Get()
        assert enabled == (thing.id != "gone")
        assert UsdGeom.Imageable(base).ComputePurpose() == UsdGeom.Tokens.guide
    # links of one thing never: a joint parts its two, pairs part the others
    parted = set()
    for k, link in enumerate(chest.links):
        prim = stage.GetPrimAtPath(f"/World/Things/_u31__u2d_chest/{prim_name(link.name)}")
        if link.parent >= 0:
            parted.add((link.parent, k))
            assert not UsdPhysics.Joint(prim.GetChild("joint")).GetCollisionEnabledAttr().Get()
        names = [prim_name(v.name) for v in chest.links]
        pairs = UsdPhysics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets() if k else []
        parted |= {(names.index(p.name), k) for p in pairs}
    assert parted == {(i, k) for k in range(len(chest.links)) for i in range(k)}


def test_the_camera_sees_a_point_where_the_renderer_does(stages: dict[str, Any]) -> None:
    camera = UsdGeom.Camera(stages["awkward"].GetPrimAtPath("/World/HeadCamera")).GetCamera(Usd.TimeCode.Default())
    frustum = camera.frustum
    view, projection = frustum.ComputeViewMatrix(), frustum.ComputeProjectionMatrix()
    # 0.3 to the right, 0.2 up, 2 m ahead of the eye
    eye = frustum.position
    point = (
        eye
        + 0.3 * Gf.Vec3d(view.GetColumn(0)[:3])
        + 0.2 * Gf.Vec3d(view.GetColumn(1)[:3])
        - 2.0 * Gf.Vec3d(view.GetColumn(2)[:3])
    )
    x, y, _ = projection.Transform(view.Transform(point))
    focal_px = 240.0 / np.tan(np.pi / 6)
    assert (0.5 + 0.5 * x) * 640 == pytest.approx(320 + focal_px * 0.15, abs=1e-3)
    assert (0.5 - 0.5 * y) * 480 == pytest.approx(240 - focal_px * 0.10, abs=1e-3)


_WRITE = """
import sys
from pathlib import Path
from tests.usd.conftest import scene_named
from iwreplay.usd import write_stage
for suffix in (".usda", ".usdc"):
    write_stage(scene_named("family_kitchen"), Path(sys.argv[1] + suffix), dt_s=0.004)
"""


def test_the_same_scene_gives_the_same_bytes(tmp_path: Path) -> None:
    """In another process, with another order of hashes."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    for suffix in (".usda", ".usdc"):
        write_stage(scene_named("family_kitchen"), here / f"x{suffix}", dt_s=DT_S)
    subprocess.run(
        [sys.executable, "-c", _WRITE, str(there / "x")],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    files = sorted(p.relative_to(here) for p in here.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(there) for p in there.rglob("*") if p.is_file())
    assert len(files) > 10
    for name in files:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name


def test_equal_pictures_are_one_file(stages: dict[str, Any]) -> None:
    folder = Path(stages["grocery_store"].GetRootLayer().realPath).parent / "grocery_store_textures"
    contents = [p.read_bytes() for p in folder.iterdir()]
    assert len(set(contents)) == len(contents)
