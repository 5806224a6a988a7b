"""Frames: which are shown, how they are hashed and written, whether text in them can be read.

`iwreplay.frames.maker` draws them; it is not imported here, because it loads the renderer.
"""

from __future__ import annotations

from iwreplay.frames.budget import FRAME_LIMIT, LATEST_FRAMES, choose_frames, frame_indices
from iwreplay.frames.legibility import READABLE_CAP_PX, FaceView, cap_height_px, view_face
from iwreplay.frames.png import pixels_sha256, png_bytes, png_pixels

__all__ = [
    "FRAME_LIMIT",
    "LATEST_FRAMES",
    "READABLE_CAP_PX",
    "FaceView",
    "cap_height_px",
    "choose_frames",
    "frame_indices",
    "pixels_sha256",
    "png_bytes",
    "png_pixels",
    "view_face",
]
