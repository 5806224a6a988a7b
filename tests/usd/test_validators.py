"""Every validator that comes with USD finds nothing in a stage: no error, no warning, none left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, UsdValidation

from iwreplay.scene.loader import scene_ids
from iwreplay.usd import write_stage
from tests.usd.conftest import DT_S, SCENES, scene_named


def complaints(path: Path) -> list[str]:
    """What all validators say of a stage, of its layer, and of each of its prims."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    names = {v.GetMetadata().name for v in validators}
    assert {"usdPhysicsValidators:PhysicsJointChecker", "usdShadeValidators:ShaderSdrCompliance"} <= names
    context = UsdValidation.ValidationContext(validators)
    stage = Usd.Stage.Open(str(path))
    found = [*context.Validate(stage), *context.Validate(stage.GetRootLayer())]
    return [e.GetErrorAsString() for e in found]


@pytest.mark.parametrize("name", ["awkward", *SCENES])
@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_no_validator_complains(name: str, suffix: str, tmp_path: Path) -> None:
    write_stage(scene_named(name), tmp_path / f"x{suffix}", dt_s=DT_S)
    assert complaints(tmp_path / f"x{suffix}") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", scene_ids())
def test_no_validator_complains_of_any_scene(name: str, tmp_path: Path) -> None:
    write_stage(scene_named(name), tmp_path / "x.usdc", dt_s=DT_S)
    assert complaints(tmp_path / "x.usdc") == []


def test_validators_do_notice(tmp_path: Path) -> None:
    """What they are asked is not nothing: each of these spoils a stage in a way of its own."""
    path = tmp_path / "x.usda"
    write_stage(scene_named("awkward"), path, dt_s=DT_S)
    stage = Usd.Stage.Open(str(path))
    base = stage.GetPrimAtPath("/World/Things/_u31__u2d_chest/base")
    stage.ClearMetadata("metersPerUnit")
    UsdPhysics.MassAPI(base).CreateDiagonalInertiaAttr((1.0, 1.0, 1.0))
    UsdPhysics.Joint(stage.GetPrimAtPath("/World/Things/_u31__u2d_chest/_u32_nd/joint")).GetBody0Rel().AddTarget("/no")
    shader = UsdShade.Shader(stage.GetPrimAtPath("/World/Looks/oak/surface"))
    shader.GetPrim().RemoveProperty("inputs:metallic")
    shader.CreateInput("metallic", Sdf.ValueTypeNames.String).Set("very")
    mesh = UsdGeom.Mesh.Define(stage, "/World/Things/_u31__u2d_chest/base/visuals/shape_0/inside")
    mesh.GetPrim().CreateRelationship("material:binding").AddTarget("/World/Looks/oak")
    spoilt = tmp_path / "spoilt.usda"
    stage.GetRootLayer().Export(str(spoilt))
    said = " ".join(complaints(spoilt))
    wanted = ("StageMetadataChecker", "RigidBodyChecker", "PhysicsJointChecker", "ShaderSdrCompliance")
    for validator in (*wanted, "EncapsulationChecker", "MaterialBindingApiAppliedValidator"):
        assert validator in said, validator


def test_a_lost_picture_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.usda"
    write_stage(scene_named("awkward"), path, dt_s=DT_S)
    next((tmp_path / "x_textures").glob("text_*.png")).unlink()
    assert "MissingReferenceValidator" in " ".join(complaints(path))
