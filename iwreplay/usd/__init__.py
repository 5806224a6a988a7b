"""A scene as one USD stage, for Isaac Sim and other engines, and such a stage read back. Needs the extra `usd`.

Importing this package loads USD and the renderer, whose meshes, textures and texts the stage holds.
"""

from __future__ import annotations

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
from iwreplay.usd.names import id_of_prim, prim_name
from iwreplay.usd.reading import read_stage
from iwreplay.usd.writing import SUFFIXES, WrittenStage, check_target, write_stage

__all__ = [
    "SUFFIXES",
    "StageCamera",
    "StageFace",
    "StageJoint",
    "StageLink",
    "StageScene",
    "StageSolid",
    "StageThing",
    "View",
    "WrittenStage",
    "check_target",
    "id_of_prim",
    "prim_name",
    "read_stage",
    "write_stage",
]
