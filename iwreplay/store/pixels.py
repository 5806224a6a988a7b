"""Pixels of frames, kept beside a log under their own hash: a PNG file for each, `<sha256 of its pixels>.png`.

They are a convenience, never a source: what does not have its hash is not used. The hash is of the bytes alone, so that
pictures of 640 x 480 and of 480 x 640 pixels may share one; the size is in the frame's event, and is asked for too. All
frames of an episode have one size, so no two of its pictures want the same name for different ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from iwreplay.errors import PictureWriteError, RenderError
from iwreplay.frames.png import pixels_sha256, png_bytes, png_pixels
from iwreplay.store.directory import write_whole

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["KeptPixels"]


class KeptPixels:
    """The pixels kept in one folder, which need not be there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: files that do not hold what their name says, or can't be read
        self.damaged: list[Path] = []

    def get(self, sha256: str, *, width: int, height: int) -> npt.NDArray[np.uint8] | None:
        """The pixels with that hash and of that size; None when they are not kept, or no longer intact (then the file
        is named in `damaged`)."""
        path = self._path(sha256)
        try:
            rgb = png_pixels(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (RenderError, OSError):
            rgb = None
        if rgb is None or rgb.shape != (height, width, 3) or pixels_sha256(rgb) != sha256:
            self.damaged.append(path)
            return None
        return rgb

    def keep(self, sha256: str, rgb: npt.NDArray[np.uint8]) -> None:
        """Keeps pixels that have that hash. PictureWriteError when the disk refuses; nothing half-written is left."""
        path = self._path(sha256)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, png_bytes(rgb), durable=False)
        except OSError as e:
            raise PictureWriteError(path, e) from e

    def _path(self, sha256: str) -> Path:
        return self.folder / f"{sha256}.png"
