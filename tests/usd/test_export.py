"""`iwreplay scene export`, and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iwreplay.errors import SceneError, StageError, StageWriteError
from iwreplay.scene.model import Link, Shape
from iwreplay.usd import read_stage, write_stage, writing
from iwreplay.usd.building import build_stage
from tests.cli.conftest import Run, run
from tests.usd.conftest import DT_S, awkward, scene_named

__all__ = ["run"]


def test_a_scene_is_exported(run: Run, tmp_path: Path) -> None:
    done = run("scene", "export", "family", "--usd", tmp_path / "kitchen.usda")
    assert (done.code, done.err) == (0, "")
    assert f"family_kitchen: 35 things, 17 joints in {tmp_path / 'kitchen.usda'}" in done.out
    stage = read_stage(tmp_path / "kitchen.usda")
    assert [t.id for t in stage.things] == [t.id for t in scene_named("family_kitchen").things]
    assert {p.name for p in tmp_path.iterdir()} == {"kitchen.usda", "kitchen_textures"}


def test_with_the_things_of_a_task(run: Run, tmp_path: Path) -> None:
    told = run("scene", "export", "--task", "V06", "--usd", tmp_path / "x.usdc", "--json").json()
    stage = read_stage(tmp_path / "x.usdc")
    assert (told["task"], told["scene"]) == ("V06", stage.id)
    assert told["things"] == len(stage.things) > len(scene_named(stage.id).things)
    assert told["bytes"] == sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file())


def test_a_stage_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.usda"
    write_stage(scene_named("awkward"), path, dt_s=DT_S)
    first = path.read_bytes()
    write_stage(scene_named("family_kitchen"), path, dt_s=DT_S)
    assert read_stage(path).id == "family_kitchen"
    write_stage(scene_named("awkward"), path, dt_s=DT_S)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nowhere", "--usd", "x.usda"], "unknown scene 'nowhere'"),
        (["family_kitchen", "--usd", "x.usd"], "written as .usda or .usdc, not to 'x.usd'"),
        (["family_kitchen", "--usd", "x"], "written as .usda or .usdc"),
        (["family_kitchen", "--usd", "no/x.usda"], "there is no folder 'no'"),
        (["family_kitchen", "--usd", "file/x.usda"], "there is no folder 'file'"),
        (["family_kitchen", "--usd", "folder.usda"], "is a folder"),
        (["family_kitchen", "--usd", "taken.usda"], "the pictures need a folder"),
        (["family_kitchen"], "Missing option '--usd'"),
        (["--usd", "x.usda"], "Name a scene, or a task"),
        (["grocery_store", "--task", "V06", "--usd", "x.usda"], "plays in"),
    ],
)
def test_wrong_use_is_told_and_leaves_nothing(
    args: list[str], said: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "taken_textures").write_text("")
    (tmp_path / "folder.usda").mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = run("scene", "export", *args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(run: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    done = run("scene", "export", "family_kitchen", "--usd", tmp_path / "x.usda")
    tmp_path.chmod(0o700)
    assert done.code == 2
    assert "Permission denied" in done.err


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="has no /proc")
def test_a_place_that_takes_no_files(run: Run) -> None:
    done = run("scene", "export", "family_kitchen", "--usd", "/proc/x.usda")
    assert done.code == 2
    assert "'/proc/x.usda' can't be written" in done.err


def test_without_the_extra_the_way_out_is_told(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pxr'] = None; from iwreplay.cli.main import main; main()"
    # None in sys.modules is what an import of a module that is not installed comes to, but for the error's name
    hide = code.replace(
        "sys.modules['pxr'] = None",
        "sys.meta_path.insert(0, type('No', (), {'find_spec': staticmethod(lambda name, *a: (_ for _ in ()).throw("
        "ModuleNotFoundError(name, name='pxr')) if name.split('.')[0] == 'pxr' else None)}))",
    )
    done = subprocess.run(
        [sys.executable, "-c", hide, "scene", "export", "family_kitchen", "--usd", str(tmp_path / "x.usda")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 2
    assert "pip install 'iwreplay[usd]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fails_at", [0, 3, -1])
def test_a_write_that_fails_leaves_the_old_stage(
    fails_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails at the first picture that is moved, at a later one, and at the stage itself."""
    path = tmp_path / "x.usda"
    write_stage(scene_named("awkward"), path, dt_s=DT_S)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    move, moves = os.replace, []

    def failing(a: Any, b: Any) -> None:
        moves.append(b)
        if len(moves) - 1 == fails_at or (fails_at == -1 and str(b) == str(path)):
            raise OSError(28, "No space left on device")
        move(a, b)

    monkeypatch.setattr(writing.os, "replace", failing)
    with pytest.raises(StageWriteError, match="No space left on device"):
        write_stage(scene_named("family_kitchen"), path, dt_s=DT_S)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    assert len(list(tmp_path.iterdir())) == 2


def test_a_first_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "png_bytes", full)
    with pytest.raises(StageWriteError) as caught:
        write_stage(scene_named("awkward"), tmp_path / "x.usdc", dt_s=DT_S)
    assert caught.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []


def test_scenes_that_can_not_become_a_stage(tmp_path: Path) -> None:
    from msgspec.structs import replace

    scene = awkward()
    chest = scene.things[0]

    def with_links(*links: Link) -> Any:
        return replace(scene, things=(replace(chest, links=links),))

    base, lid = chest.links[0], chest.links[1]
    lathe = Shape(kind="lathe", size=(0.1, 0.0, 0.1, 0.2), material="oak")
    unknown = Shape(kind="box", size=(0.1, 0.1, 0.1), material="gold", role="visual")
    for bad, kind, said in (
        (with_links(base, replace(lid, name="base")), StageError, "two links of one name"),
        (with_links(base, replace(lid, joint=None)), StageError, "needs a joint"),
        (with_links(base, replace(lid, parent=1)), StageError, "parent that comes before it"),
        (with_links(Link(name="base", shapes=(lathe,))), SceneError, "not collided with"),
        (with_links(Link(name="base", shapes=(*base.shapes, unknown))), StageError, "uses material 'gold'"),
    ):
        with pytest.raises(kind, match=said):
            write_stage(bad, tmp_path / "x.usda", dt_s=DT_S)
    with pytest.raises(StageError, match="does not go into a second"):
        build_stage(scene, folder="x", dt_s=0.0037)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_stage_of_ours(tmp_path: Path) -> None:
    def told(text: str) -> str:
        path = tmp_path / "x.usda"
        path.write_text(text)
        with pytest.raises(StageError) as caught:
            read_stage(path)
        return str(caught.value)

    with pytest.raises(StageError, match="there is no such file"):
        read_stage(tmp_path / "none.usda")
    assert "not a USD stage" in told("hello")
    assert "not a USD stage" in told("")
    assert "its default prim is not /World" in told('#usda 1.0\n(\n)\ndef Xform "World" {}\n')
    whole = tmp_path / "whole.usda"
    write_stage(scene_named("awkward"), whole, dt_s=DT_S)
    text = whole.read_text()
    assert "stage format 2 is not 1" in told(text.replace("int stage_format = 1", "int stage_format = 2"))
    assert "no prim /World/HeadCamera" in told(text.replace('"HeadCamera"', '"Camera"'))
    assert "no custom data iwreplay:id" in told(text.replace('string id = "1-chest"', 'string nr = "1-chest"'))
    assert "has no value" in told(text.replace("float physics:mass = 7", "float physics:mess = 7"))
    assert "which is no link before it" in told(
        text.replace("rel physics:body0 = </World/Things/_u31__u2d_chest/base>", "rel physics:body0 = </World/Nothing>")
    )
