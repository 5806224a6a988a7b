"""Frames drawn from a log: the wearer's, verified against their hashes, and other views of the same moments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from iwreplay.actions.naming import public_name
from iwreplay.app.episodes import find_episode
from iwreplay.app.views import View, ViewName, view_of
from iwreplay.body import read_smplh, root_of
from iwreplay.errors import UnknownNameError
from iwreplay.events import EpisodeConfig, EpisodeOpened, FrameCaptured
from iwreplay.frames import png_bytes
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import LogReader, read_log
from iwreplay.scene.model import CompiledScene
from iwreplay.store import Episode, KeptPixels
from iwreplay.world.state import fold
from replayer.frames import moments, replay_frames

if TYPE_CHECKING:
    from iwreplay.app.pictures import VideoTrack
    from iwreplay.frames.pages import Pixels

__all__ = ["Drawing", "DrawnFrame", "FrameWish", "draw_frames"]

#: pictures a second of a video of logged frames, which are held in between
_HELD_FPS = 10
#: how long the last picture stays
_LAST_S = 2.0


class FrameWish(msgspec.Struct, frozen=True, kw_only=True):
    """Which frames, how seen, and what to make of them."""

    #: ids ("f000012") or numbers; () is all
    frames: tuple[str, ...] = ()
    every: int = 1
    turn: int | None = None
    view: ViewName | Literal["map"] = "wearer"
    #: width and height in pixels; None as logged
    size: tuple[int, int] | None = None
    #: the user's own SMPL+H model for the wearer's body; None is our own figure
    body: Path | None = None
    #: folder for PNG files; None the episode's own
    out: Path | None = None
    #: PNG files
    write: bool = True
    sheet: Path | None = None
    video: Path | None = None
    #: draw the video anew so many times a second; None holds the logged frames
    fps: int | None = None
    #: keep the pixels beside the log
    store_pixels: bool = False
    #: take pixels that are kept instead of drawing
    use_kept: bool = True


class DrawnFrame(msgspec.Struct, frozen=True, kw_only=True):
    """One frame, drawn from the log."""

    frame: str
    seq: int
    sim_time_s: float
    turn: int
    cause: str
    #: "same" as seen, "different", "never drawn" (there is no hash to compare with), "another view" or "another body"
    #: (nobody saw it)
    verdict: str
    file: str | None


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """Frames of one episode."""

    episode: str
    #: None when no PNG file was written
    folder: str | None
    frames: tuple[DrawnFrame, ...]
    #: the wearer's body, when it is not the figure that was seen
    body: str | None = None
    #: contact sheets, video with its subtitles, map
    files: tuple[str, ...]
    #: how many of the frames are kept pixels
    kept: int
    #: kept pixels that do not have the hash that they are named by; those frames were drawn
    damaged: tuple[str, ...]


class _Picture(NamedTuple):
    seq: int
    event: FrameCaptured
    rgb: Pixels
    verdict: str
    kept: bool

    @property
    def name(self) -> str:
        return self.event.frame_id

    @property
    def sim_time_s(self) -> float:
        return self.event.sim_time_s

    @property
    def turn(self) -> int:
        return self.event.turn


class _Known(NamedTuple):
    frame: str
    turn: int
    sim_time_s: float


def draw_frames(
    store: Path, wanted: str, wish: FrameWish, *, progress: Callable[[int, int], None] = lambda done, of: None
) -> Drawing:
    """Draws frames of an episode from its log, compares those that the wearer saw with the hashes in it, and writes
    what is wished for.

    UnknownNameError for a frame or turn that is not there; RenderError for a size that makes no picture;
    BodyModelError for a body that is no SMPL+H model; PictureWriteError when the disk refuses. Files are whole or not
    there.
    """
    episode = find_episode(store, wanted)
    with read_log(episode.log) as log:
        known = [_Known(e.frame_id, e.turn, e.sim_time_s) for _, e in log if isinstance(e, FrameCaptured)]
        chosen = _chosen(episode, log, known, wish)
        if wish.view == "map":
            return _map(episode, log, chosen, wish)
        return _Job(episode, log, chosen, wish, progress).done()


class _Job:
    """One call of `draw_frames`, but for maps."""

    def __init__(
        self,
        episode: Episode,
        log: LogReader,
        chosen: list[_Known],
        wish: FrameWish,
        progress: Callable[[int, int], None],
    ) -> None:
        self._episode, self._log, self._chosen, self._wish, self._progress = episode, log, chosen, wish, progress
        self._store = KeptPixels(episode.pixels)
        self._body = None if wish.body is None else read_smplh(wish.body)
        self._frames: list[DrawnFrame] = []
        self._files: list[Path] = []
        self._kept = 0

    def done(self) -> Drawing:
        wish = self._wish
        with ExitStack() as stack:
            video = None if wish.video is None else stack.enter_context(self._video(wish.video))
            # a video that is drawn anew needs the logged frames only for what else is wished for
            if wish.write or wish.sheet or wish.store_pixels or wish.fps is None or video is None:
                self._draw_logged(video if wish.fps is None else None)
            if video is not None and wish.fps is not None:
                self._draw_between(video, wish.fps)
        if video is not None:
            self._files += [video.path, video.subtitles]
        return Drawing(
            episode=self._episode.id,
            folder=str(self._folder) if wish.write else None,
            frames=tuple(self._frames),
            body=None if self._body is None else self._body.name,
            files=tuple(map(str, self._files)),
            kept=self._kept,
            damaged=tuple(map(str, self._store.damaged)),
        )

    @property
    def _folder(self) -> Path:
        return self._wish.out or self._episode.frames

    def _video(self, path: Path) -> VideoTrack:
        from iwreplay.app.pictures import VideoTrack
        from iwreplay.frames.captions import captions_of

        from_s, until_s = self._span()
        return VideoTrack(
            path,
            captions=captions_of(self._log),
            fps=self._wish.fps or _HELD_FPS,
            from_s=from_s,
            until_s=until_s + _LAST_S,
        )

    def _span(self) -> tuple[float, float]:
        """Simulated time of the first and the last picture of a video."""
        return self._chosen[0].sim_time_s, self._chosen[-1].sim_time_s

    def _draw_logged(self, video: VideoTrack | None) -> None:
        from iwreplay.app.pictures import PngFolder, SheetFiles

        wish = self._wish
        folder = PngFolder(self._folder, suffix=_suffix(wish)) if wish.write else None
        sheets = None if wish.sheet is None else SheetFiles(wish.sheet, pictures=len(self._chosen))
        last: _Picture | None = None
        for picture in self._pictures():
            file = None if folder is None else folder.take(picture, picture.rgb)
            if sheets is not None:
                sheets.take(picture, picture.rgb)
            if wish.store_pixels and picture.verdict == "same" and not picture.kept:
                assert picture.event.pixels_sha256 is not None, "what is the same has a hash"
                self._store.keep(picture.event.pixels_sha256, picture.rgb)
            if video is not None and last is not None:
                video.hold(last.rgb, until_s=picture.sim_time_s, turn=last.turn)
            last = picture
            self._kept += picture.kept
            self._frames.append(_told(picture, file))
            self._progress(len(self._frames), len(self._chosen))
        if video is not None and last is not None:
            video.hold(last.rgb, until_s=last.sim_time_s + _LAST_S, turn=last.turn)
        if sheets is not None:
            sheets.finish()
            self._files += sheets.files

    def _pictures(self) -> Iterator[_Picture]:
        wish, only = self._wish, frozenset(k.frame for k in self._chosen)
        if wish.view == "wearer" and wish.size is None and wish.body is None:
            for r in replay_frames(self._log, frames=_maker, only=only, kept=self._taken):
                verdict = "never drawn" if r.ok is None else "same" if r.ok else "different"
                yield _Picture(r.seq, r.event, r.rgb, verdict, r.kept)
            return
        view: View | None = None
        for seq, event, state in fold(self._log):
            if not isinstance(event, FrameCaptured):
                continue
            view = view or self._view()
            view.follow(state)
            if event.frame_id in only:
                verdict = "another view" if wish.body is None else "another body"
                yield _Picture(seq, event, view.drawn(state), verdict, False)

    def _taken(self, event: FrameCaptured) -> Pixels | None:
        if not self._wish.use_kept or event.pixels_sha256 is None:
            return None
        return self._store.get(event.pixels_sha256, width=event.width, height=event.height)

    def _view(self) -> View:
        opened = _opened(self._log)
        assert self._wish.view != "map", "maps are drawn elsewhere"
        return view_of(self._wish.view, opened.scene, opened.config, size=self._wish.size, body=self._body)

    def _draw_between(self, video: VideoTrack, fps: int) -> None:
        view, (from_s, until_s) = self._view(), self._span()
        rgb: Pixels | None = None
        turn, every = 0, int((until_s - from_s) * fps) + 1
        for k, moment in enumerate(moments(self._log, fps=fps, from_s=from_s, until_s=until_s)):
            if rgb is None or moment.changed:
                view.follow(moment.state)
                rgb = view.drawn(moment.state)
            turn = moment.state.turn
            video.add(rgb, turn=turn)
            self._progress(k + 1, every)
        if rgb is not None:
            video.hold(rgb, until_s=until_s + _LAST_S, turn=turn)


def _maker(scene: CompiledScene, config: EpisodeConfig) -> FrameMaker:
    return FrameMaker(scene, config=config)


def _opened(log: LogReader) -> EpisodeOpened:
    opened = log.at_seq(0)
    assert isinstance(opened, EpisodeOpened), "a log that has frames opens an episode"
    return opened


def _told(picture: _Picture, file: Path | None) -> DrawnFrame:
    return DrawnFrame(
        frame=picture.name,
        seq=picture.seq,
        sim_time_s=picture.sim_time_s,
        turn=picture.turn,
        cause=picture.event.cause,
        verdict=picture.verdict,
        file=None if file is None else str(file),
    )


def _suffix(wish: FrameWish) -> str:
    """Of the names of files, so that pictures that nobody saw are not taken for the wearer's frames."""
    view = "" if wish.view == "wearer" else f"-{wish.view}"
    view += "" if wish.body is None else "-body"
    return view if wish.size is None else f"{view}-{wish.size[0]}x{wish.size[1]}"


def _chosen(episode: Episode, log: LogReader, known: list[_Known], wish: FrameWish) -> list[_Known]:
    chosen = known
    if wish.frames:
        ids = [f"f{int(w):06d}" if re.fullmatch(r"[0-9]{1,6}", w) else w for w in wish.frames]
        there = {k.frame for k in known}
        for frame in ids:
            if frame not in there:
                has = f"has {known[0].frame} to {known[-1].frame}." if known else "has no frame."
                raise UnknownNameError("frame", frame, hint=f"{episode.id} {has}")
        chosen = [k for k in known if k.frame in ids]
    if wish.turn is not None:
        chosen = [k for k in chosen if k.turn == wish.turn]
        if not chosen:
            last = max((e.turn for _, e in log), default=0)
            if wish.turn > last:
                raise UnknownNameError("turn", str(wish.turn), hint=f"{episode.id} has turns 0 to {last}.")
            raise UnknownNameError("frame", f"of turn {wish.turn}", hint="No frame was captured in that turn.")
    if not chosen and (wish.video is not None or wish.sheet is not None or wish.view == "map"):
        raise UnknownNameError("frame", "", hint=f"{episode.id} has no frame.")
    return chosen[:: wish.every]


def _map(episode: Episode, log: LogReader, chosen: list[_Known], wish: FrameWish) -> Drawing:
    """The scene from above as it was at the last of the frames, and the way up to there (of the turn, if one is
    wished for)."""
    from iwreplay.app.pictures import write_picture
    from iwreplay.frames.floorplan import draw_map

    opened, way = _opened(log), list[tuple[float, float]]()
    last = chosen[-1].frame
    for _, event, state in fold(log):
        if wish.turn is None or event.turn == wish.turn:
            here = (state.body[0], state.body[1])
            if not way or way[-1] != here:
                way.append(here)
        if not isinstance(event, FrameCaptured) or event.frame_id != last:
            continue
        maker = FrameMaker(opened.scene, config=opened.config, whole_body=True)
        rgb = draw_map(
            maker,
            state,
            title=f"{episode.id}   {event.sim_time_s:.1f} s",
            names={t.id: public_name(t) for t in opened.scene.things},
            size=wish.size,
            way=way,
            wearer=root_of(state.body),
        )
        break
    path = (wish.out or episode.frames) / "map.png"
    write_picture(path, png_bytes(rgb))
    return Drawing(episode=episode.id, folder=None, frames=(), files=(str(path),), kept=0, damaged=())
