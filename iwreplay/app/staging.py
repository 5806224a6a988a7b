"""A scene written as a USD stage, with the step of the embedded physics engine."""

from __future__ import annotations

from pathlib import Path

from iwreplay.app.scenes import compiled_scene
from iwreplay.usd import WrittenStage, check_target, write_stage
from recorder.simulators.mjcf import DT_S

__all__ = ["export_scene"]


def export_scene(wanted: str | None, path: Path, *, task: str | None = None) -> WrittenStage:
    """Writes a scene, with the things of `task` in it if given, to a .usda or .usdc file.

    ModuleNotFoundError (pxr) without the extra `usd`; UnknownNameError, SceneError or TaskError as `view_scene`;
    StageError for a place that can't be written to. Nothing is left half-written.
    """
    check_target(path)
    scene, _, pack = compiled_scene(wanted, task=task)
    return write_stage(scene, path, dt_s=DT_S, task=pack)
