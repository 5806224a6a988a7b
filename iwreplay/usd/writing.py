"""A stage on disk: one .usda or .usdc file and, beside it, the folder of its pictures. Whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

import msgspec
from pxr import Tf

from iwreplay.errors import StageError, StageWriteError
from iwreplay.frames import png_bytes
from iwreplay.scene.model import CompiledScene
from iwreplay.usd.building import BuiltStage, build_stage
from iwreplay.usd.model import DEFAULT_VIEW, View

__all__ = ["SUFFIXES", "WrittenStage", "check_target", "write_stage"]

#: text, and USD's binary form
SUFFIXES = (".usda", ".usdc")


class WrittenStage(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    scene: str
    #: the task whose things are in it, or None
    task: str | None
    path: str
    #: folder of the pictures, "" when there is none
    pictures: str
    things: int
    joints: int
    textures: int
    #: of the stage and its pictures
    bytes: int


def check_target(path: Path) -> None:
    """StageError when no stage can be written to `path`: its suffix, its folder, or something that is in the way."""
    if path.suffix not in SUFFIXES:
        raise StageError(f"a stage is written as {' or '.join(SUFFIXES)}, not to {str(path)!r}")
    if path.is_dir():
        raise StageError(f"{str(path)!r} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise StageError(f"there is no folder {str(path.parent)!r} to write {path.name!r} to")
    folder = _pictures_of(path)
    if folder.exists() and not folder.is_dir():
        raise StageError(f"the pictures need a folder {str(folder)!r}, but there is a file of that name")


def write_stage(
    scene: CompiledScene, path: Path, *, dt_s: float, view: View = DEFAULT_VIEW, task: str | None = None
) -> WrittenStage:
    """Writes the stage of a scene to `path`; a stage that is there is replaced. dt_s: one physics step; task: the one
    whose things are in the scene.

    The pictures go to a folder named after the file, "kitchen_textures" for kitchen.usda; the stage names them by
    relative paths. The same scene gives the same bytes. StageError for a place that can't be written to or a scene
    that can't become a stage, StageWriteError for a disk that is full; then nothing is left behind.
    """
    check_target(path)
    folder = _pictures_of(path)
    built = build_stage(scene, folder=folder.name, dt_s=dt_s, view=view, task=task)
    try:
        size = _write(built, path, folder)
    except OSError as e:
        kind = StageWriteError if e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) else StageError
        raise kind(f"{str(path)!r} can't be written: {e.strerror or e}") from e
    return WrittenStage(
        scene=scene.id,
        task=task,
        path=str(path),
        pictures=str(folder) if built.pictures else "",
        things=len(scene.things),
        joints=sum(k.joint is not None for t in scene.things for k in t.links),
        textures=len(built.pictures),
        bytes=size,
    )


def _write(built: BuiltStage, path: Path, folder: Path) -> int:
    """Everything is written aside first, then moved: pictures, and at last the stage that names them."""
    aside = Path(tempfile.mkdtemp(prefix=f".{path.stem}.", dir=path.parent))
    placed: list[Path] = []
    made_folder = False
    try:
        size = 0
        for name, picture in built.pictures.items():
            data = png_bytes(picture.pixels)
            (aside / name).write_bytes(data)
            size += len(data)
        stage = aside / path.name
        layer = built.stage.GetRootLayer()
        if path.suffix == ".usda":
            stage.write_text(layer.ExportToString(), encoding="utf-8", newline="\n")
        else:
            try:
                layer.Export(str(stage))
            except Tf.ErrorException as e:
                raise StageError(f"{str(path)!r} can't be written: {' '.join(str(e).split())}") from e
        size += stage.stat().st_size
        if built.pictures and not folder.is_dir():
            folder.mkdir()
            made_folder = True
        for name in built.pictures:
            there = (folder / name).exists()
            os.replace(aside / name, folder / name)
            if not there:
                placed.append(folder / name)
        os.replace(stage, path)
    except BaseException:
        for picture_path in placed:
            picture_path.unlink(missing_ok=True)
        if made_folder:
            folder.rmdir()
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return size


def _pictures_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}_textures")
