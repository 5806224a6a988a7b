"""Where drawn pictures go: PNG files, contact sheets, a video with its words. Whole files only, whatever happens."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from iwreplay.errors import PictureWriteError
from iwreplay.frames import png_bytes
from iwreplay.frames.captions import Caption, srt_of
from iwreplay.frames.pages import Pixels
from iwreplay.frames.sheet import SHEET_CELLS, CaptionStrip, SheetPage
from iwreplay.store import write_whole

if TYPE_CHECKING:
    from iwreplay.frames.video import VideoFile

__all__ = ["PngFolder", "SheetFiles", "VideoTrack", "ready_folder", "write_picture"]


def ready_folder(folder: Path) -> None:
    """A folder that can be written to, made where there is none, so that a target that can't be is known before the
    work. PictureWriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as e:
        raise PictureWriteError(folder, e) from e


def write_picture(path: Path, data: bytes) -> None:
    """A file in one step, its folder made. PictureWriteError when the disk refuses; nothing half-written is left."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, durable=False)
    except OSError as e:
        raise PictureWriteError(path, e) from e


class Taken(Protocol):
    """What is told of a picture."""

    @property
    def name(self) -> str: ...

    @property
    def sim_time_s(self) -> float: ...

    @property
    def turn(self) -> int: ...


class PngFolder:
    """A PNG file for each picture."""

    def __init__(self, folder: Path, *, suffix: str) -> None:
        """The folder is made at once; PictureWriteError as of `ready_folder`."""
        self._folder, self._suffix = folder, suffix
        ready_folder(folder)

    def take(self, picture: Taken, rgb: Pixels) -> Path:
        """Writes it; the file."""
        path = self._folder / f"{picture.name}{self._suffix}.png"
        write_picture(path, png_bytes(rgb))
        return path


class SheetFiles:
    """Contact sheets: FILE.png, or FILE-1.png, FILE-2.png ... when there are more pictures than fit on one."""

    def __init__(self, path: Path, *, pictures: int) -> None:
        """Its folder is made at once; PictureWriteError as of `ready_folder`."""
        ready_folder(path.parent)
        self._path, self._pictures = path, pictures
        self._page: SheetPage | None = None
        self._aspect = 1.0
        #: those written so far
        self.files: list[Path] = []

    def take(self, picture: Taken, rgb: Pixels) -> None:
        """The next picture; a full page is written."""
        if self._page is None:
            self._aspect = rgb.shape[1] / rgb.shape[0]
            cells = min(SHEET_CELLS, self._pictures - SHEET_CELLS * len(self.files))
            self._page = SheetPage(aspect=self._aspect, cells=cells)
        self._page.add(rgb, f"{picture.name}   {picture.sim_time_s:.2f} s   turn {picture.turn}")
        if self._page.filled == SHEET_CELLS:
            self.finish()

    def finish(self) -> None:
        """Writes the page that is begun, if there is one."""
        if self._page is None:
            return
        one = self._pictures <= SHEET_CELLS
        name = self._path.name if one else f"{self._path.stem}-{len(self.files) + 1}{self._path.suffix}"
        path = self._path.with_name(name)
        write_picture(path, png_bytes(self._page.pixels()))
        self.files.append(path)
        self._page = None


class VideoTrack:
    """A video on simulated time, words below the picture, and beside it the same words as FILE.srt.

    As a context: both files appear when it ends well, and neither otherwise.
    """

    def __init__(self, path: Path, *, captions: Sequence[Caption], fps: int, from_s: float, until_s: float) -> None:
        # only a video needs PyAV, and says so before the work
        from iwreplay.frames.video import VideoFile

        self._make = VideoFile
        self.path, self.subtitles = path, path.with_suffix(".srt")
        self._captions, self._fps, self._from_s, self._until_s = captions, fps, from_s, until_s
        self._strip: CaptionStrip | None = None
        self._file: VideoFile | None = None
        self._count = 0
        self._last: tuple[Pixels, str, tuple[str, ...], Pixels] | None = None
        ready_folder(path.parent)

    @property
    def now_s(self) -> float:
        """Simulated time of the next picture."""
        return self._from_s + self._count / self._fps

    def add(self, rgb: Pixels, *, turn: int) -> None:
        """The picture of `now_s`."""
        if self._strip is None or self._file is None:
            self._strip = CaptionStrip(self._captions, width=rgb.shape[1], height=rgb.shape[0])
            self._file = self._make(self.path, width=self._strip.width, height=self._strip.height, fps=self._fps)
        now = self.now_s
        heading, lines = f"{now:.1f} s   turn {turn}", self._strip.at(now)
        if self._last is None or self._last[0] is not rgb or self._last[1:3] != (heading, lines):
            self._last = (rgb, heading, lines, self._strip.composed(rgb, heading=heading, lines=lines))
        self._file.add(self._last[3])
        self._count += 1

    def hold(self, rgb: Pixels, *, until_s: float, turn: int) -> None:
        """The same picture until a time."""
        while self.now_s < until_s:
            self.add(rgb, turn=turn)

    def __enter__(self) -> VideoTrack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        self._file.__exit__(kind, error, trace)
        if kind is not None:
            return
        words = srt_of(self._captions, from_s=self._from_s, until_s=self._until_s)
        try:
            write_picture(self.subtitles, words.encode())
        except PictureWriteError:
            self.path.unlink(missing_ok=True)
            raise
