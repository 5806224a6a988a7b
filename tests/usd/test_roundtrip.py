"""A stage read back is the scene that it was made from: objects, poses, joints, masses, shapes, texts, camera, lamps.

Tolerances: 1e-9 where USD keeps doubles (poses, sizes of solids), 1e-6 where it keeps single precision (joint frames,
limits, masses, hulls); what is larger than one, a millionth of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from pxr import Usd

from iwreplay.actions.naming import public_name
from iwreplay.body import key_poses, standing
from iwreplay.canonical import struct_hash
from iwreplay.events import EpisodeConfig
from iwreplay.pose import IDENTITY, Pose, compose, transform_point, yaw_of
from iwreplay.render.shapes import tessellate
from iwreplay.scene.geometry import joints_at_load, link_poses_at
from iwreplay.scene.lettering import face_pose
from iwreplay.scene.loader import scene_ids
from iwreplay.scene.masses import solid_masses
from iwreplay.scene.model import CompiledScene, Link, Thing
from iwreplay.usd import StageLink, StageScene, StageThing, View, read_stage, write_stage
from tests.usd.conftest import DT_S, SCENES, scene_named

FINE, COARSE = 1e-9, 1e-6


def same(got: Sequence[float], wanted: Sequence[float], tolerance: float) -> None:
    assert got == pytest.approx(tuple(wanted), abs=tolerance, rel=tolerance)


def same_pose(got: Pose, wanted: Pose, tolerance: float) -> None:
    same(got[:3], wanted[:3], tolerance)
    # q and -q are one turn; half the angle between two turns is about what this misses to one
    cosine = abs(sum(a * b for a, b in zip(got[3:], wanted[3:], strict=True)))
    assert math.sqrt(max(0.0, 1.0 - min(1.0, cosine) ** 2)) < max(10 * tolerance, 3e-8)


def _written(name: str, tmp_path: Path, suffix: str) -> tuple[CompiledScene, StageScene]:
    scene = scene_named(name)
    write_stage(scene, tmp_path / f"x{suffix}", dt_s=DT_S)
    return scene, read_stage(tmp_path / f"x{suffix}")


def _compare(scene: CompiledScene, stage: StageScene) -> None:
    assert (stage.id, stage.scene_hash) == (scene.id, struct_hash(scene))
    assert [t.id for t in stage.things] == [t.id for t in scene.things]
    for got, thing in zip(stage.things, scene.things, strict=True):
        _compare_thing(got, thing)
    x, y, yaw = scene.spawn
    same(stage.spawn[:2], (x, y), FINE)
    assert math.remainder(stage.spawn[2] - yaw, 2 * math.pi) == pytest.approx(0.0, abs=FINE)
    same_pose(stage.camera.pose, key_poses(standing(x, y, yaw)).camera, FINE)
    assert stage.gravity == pytest.approx(9.81, rel=COARSE)
    assert stage.dt_s == DT_S


def _compare_thing(got: StageThing, thing: Thing) -> None:
    assert (got.cls, got.name, got.fixed) == (thing.cls, public_name(thing), thing.fixed)
    assert got.present == (thing.attrs.get("exists") is not False and thing.pose[0] < 100.0)
    same_pose(got.pose, thing.pose, FINE)
    joints = joints_at_load((thing,))
    poses = link_poses_at(thing, IDENTITY, joints)
    masses = solid_masses(thing)
    assert [k.name for k in got.links] == [k.name for k in thing.links]
    for k, (link, wanted) in enumerate(zip(got.links, thing.links, strict=True)):
        same_pose(link.pose, poses[k], FINE)
        assert link.parent == wanted.parent
        if thing.fixed and len(thing.links) == 1:
            assert link.mass_kg is None
        else:
            own = [m for (i, _), m in masses.items() if i == k]
            assert link.mass_kg == pytest.approx(sum(own) if own else max(thing.mass_kg, 0.01), rel=COARSE)
        _compare_joint(link, wanted, joints.get(f"{thing.id}.{wanted.joint.name}", 0.0) if wanted.joint else None)
        _compare_solids(link, wanted)
        assert [f.name for f in link.faces] == [f.name for f in wanted.faces]
        for face, f in zip(link.faces, wanted.faces, strict=True):
            same_pose(face.pose, face_pose(thing, f, thing.attrs), FINE)
            same(face.size, f.size, FINE)
            assert face.text == thing.attrs.get(f"text:{f.name}")
    assert len(got.stances) == len(thing.stances)
    for place, (x, y, yaw) in zip(got.stances, thing.stances, strict=True):
        same(place[:2], transform_point(thing.pose, (x, y, 0.0))[:2], FINE)
        assert math.remainder(place[2] - yaw - yaw_of(thing.pose[3:]), 2 * math.pi) == pytest.approx(0.0, abs=1e-7)


def _compare_joint(got: StageLink, wanted: Link, position: float | None) -> None:
    if wanted.joint is None:
        assert got.joint is None
        return
    joint, j = got.joint, wanted.joint
    assert joint is not None
    assert position is not None
    assert (joint.name, joint.kind) == (j.name, j.kind)
    same(joint.axis, j.axis, COARSE)
    same(joint.anchor, j.anchor, COARSE)
    same_pose(joint.offset, wanted.offset, COARSE)
    same((joint.lo, joint.hi), (min(j.lo, j.hi), max(j.lo, j.hi)), COARSE)
    same((joint.position, joint.target), (position, position), COARSE)


def _compare_solids(got: StageLink, wanted: Link) -> None:
    solids = [s for s in wanted.shapes if s.role != "visual"]
    assert len(got.solids) == len(solids)
    for solid, s in zip(got.solids, solids, strict=True):
        same_pose(solid.pose, s.pose, FINE)
        if s.kind == "cone":
            assert solid.kind == "hull"
            same(solid.size, [float(v) for v in tessellate("cone", s.size).positions.ravel()], COARSE)
        else:
            assert solid.kind == s.kind
            same(solid.size, s.size, FINE)


@pytest.mark.parametrize("name", ["awkward", *SCENES])
@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_a_stage_is_its_scene(name: str, suffix: str, tmp_path: Path) -> None:
    _compare(*_written(name, tmp_path, suffix))


@pytest.mark.slow
@pytest.mark.parametrize("name", scene_ids())
def test_every_stage_is_its_scene(name: str, tmp_path: Path) -> None:
    _compare(*_written(name, tmp_path, ".usdc"))


def test_the_comparison_notices(tmp_path: Path) -> None:
    """A joint that is off by 20 micrometres or a milliradian, a text or a mass: none of it goes through."""
    scene, stage = _written("awkward", tmp_path, ".usda")
    text = (tmp_path / "x.usda").read_text()
    changes = (
        ("float physics:lowerLimit = -71.6197", "float physics:lowerLimit = -71.5624"),
        ("point3f physics:localPos0 = (0.01, 0.02, 0.03)", "point3f physics:localPos0 = (0.01, 0.02002, 0.03)"),
        ("string text = '''He said", "string text = '''She said"),
        ("float physics:mass = 2.6048841", "float physics:mass = 2.6049"),
        ('class = ["chest"]', 'class = ["box"]'),
        ("double3 xformOp:scale = (0.1, 0.2, 0.05)", "double3 xformOp:scale = (0.1, 0.2000001, 0.05)"),
    )
    # USD keeps a layer that is in use; what is read must be the file as it is all the same
    held = Usd.Stage.Open(str(tmp_path / "x.usda"))
    for old, new in changes:
        assert old in text
        (tmp_path / "x.usda").write_text(text.replace(old, new))
        with pytest.raises(AssertionError):
            _compare(scene, read_stage(tmp_path / "x.usda"))
    assert held.GetRootLayer().ExportToString() == text
    _compare(scene, stage)


def test_the_camera_is_the_one_that_episodes_record_with(tmp_path: Path) -> None:
    config = EpisodeConfig(max_turns=1, max_actions=1)
    scene, stage = _written("awkward", tmp_path, ".usda")
    assert stage.camera.view == View(width=config.frame_width, height=config.frame_height, fovy_deg=config.fovy_deg)
    assert stage.camera.fovy_rad == pytest.approx(math.radians(60.0), abs=COARSE)
    wide = View(width=1280, height=480, fovy_deg=40.0)
    write_stage(scene, tmp_path / "wide.usda", dt_s=DT_S, view=wide)
    camera = read_stage(tmp_path / "wide.usda").camera
    assert camera.view == wide
    assert camera.fovy_rad == pytest.approx(math.radians(40.0), abs=COARSE)


def test_lamps_are_where_they_hang_and_shine_when_they_are_on(tmp_path: Path) -> None:
    scene, stage = _written("awkward", tmp_path, ".usda")
    lamps = {tuple(round(v, 6) for v in at): (strength, shines) for at, strength, shines in stage.lamps}
    assert lamps[(0.0, 0.0, 2.3)] == (1.0, True)
    for thing in scene.things:
        at = transform_point(compose(thing.pose, thing.links[0].offset), (0.0, 0.0, 0.2))
        strength, shines = lamps[tuple(round(v, 6) for v in at)]
        assert (strength, shines) == (pytest.approx(0.5), thing.id == "1_chest")
    assert len(lamps) == 1 + len(scene.things)
