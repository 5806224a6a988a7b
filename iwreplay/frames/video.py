"""Videos: H.264 in an MP4 file, written through PyAV, from pictures of one size."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Final

import av

from iwreplay.errors import PictureWriteError
from iwreplay.frames.pages import Pixels

__all__ = ["VideoFile"]

_CODEC: Final = "libx264"
#: constant quality; 18 is all but perfect, 28 is poor
_OPTIONS = {"crf": "21", "preset": "veryfast"}
#: fixed, because the bytes depend on it
_THREADS = 2


class VideoFile:
    """A video that is being written. As a context: it appears under its name when the context ends well, and not at
    all otherwise, whatever ended it."""

    def __init__(self, path: Path, *, width: int, height: int, fps: int) -> None:
        """width, height: even. PictureWriteError when the file can't be made."""
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}")
        self._count = 0
        try:
            # PyAV opens the file when the first picture comes; whether it can be is to be known before
            self._temporary.touch()
            self._file = av.open(str(self._temporary), "w", format="mp4")
            self._stream = self._file.add_stream(_CODEC, rate=fps, options=dict(_OPTIONS))
        except OSError as e:
            raise PictureWriteError(path, e) from e
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"
        self._stream.thread_count = _THREADS
        self._each_s = Fraction(1, fps)

    def add(self, rgb: Pixels) -> None:
        """The next picture, for one `fps`-th of a second. PictureWriteError when the disk refuses."""
        frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
        frame.pts, frame.time_base = self._count, self._each_s
        self._count += 1
        try:
            self._file.mux(self._stream.encode(frame))
        except OSError as e:
            raise PictureWriteError(self._path, e) from e

    def __enter__(self) -> VideoFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
            else:
                self._abandon()
        finally:
            self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        try:
            if self._count:
                self._file.mux(self._stream.encode())
            self._file.close()
            self._temporary.replace(self._path)
        except OSError as e:
            raise PictureWriteError(self._path, e) from e

    def _abandon(self) -> None:
        try:
            self._file.close()
        except OSError:
            # a full disk, most likely: the file goes away all the same, and its error is already on its way
            return
