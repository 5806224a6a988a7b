"""Deterministic drawing on the CPU: RGB, depth and ids of a world state in one pass.

Importing this package loads numba; kernels are compiled at the first frame (see `jit.py` for where they are kept).
"""

from __future__ import annotations

from iwreplay.render.layout import BODY_ID, SKY_ID
from iwreplay.render.renderer import MAX_SIDE_PX, RENDERER_NAME, Frame, Renderer, focal_from_fovy
from iwreplay.render.stage import Skin, SkinPart
from iwreplay.render.text import TextFit, fit_text
from iwreplay.render.textures import TEXTURES

__all__ = [
    "BODY_ID",
    "MAX_SIDE_PX",
    "RENDERER_NAME",
    "SKY_ID",
    "TEXTURES",
    "Frame",
    "Renderer",
    "Skin",
    "SkinPart",
    "TextFit",
    "fit_text",
    "focal_from_fovy",
]
