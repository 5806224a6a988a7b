"""`iwreplay frames`: pictures of an episode, drawn from its log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from iwreplay.cli.options import DEFAULT_STORE, EpisodeArgument, JsonOption, ReadStoreOption
from iwreplay.cli.output import counted, note, print_json, print_table, progress, say

__all__ = ["MOST_SIDE_PX", "add_to", "file_of_kind", "size_of"]

#: of a picture; the renderer draws no longer side
MOST_SIDE_PX = 8192
_MOST_FPS = 120


def frames(
    episode: EpisodeArgument,
    *,
    frame: Annotated[
        list[str] | None, typer.Option("--frame", help="Only this frame (repeat): f000012 or 12.", metavar="ID")
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", help="Only frames of this turn; 0 is the warmup.", min=0)
    ] = None,
    every: Annotated[int, typer.Option("--every", help="Only every n-th frame.", min=1)] = 1,
    view: Annotated[
        Literal["wearer", "third", "top", "map"],
        typer.Option(
            "--view",
            help="wearer: what was seen; third: the wearer from outside; top: from above; map: one picture from above, "
            "with names and the way walked.",
        ),
    ] = "wearer",
    size: Annotated[
        str | None, typer.Option("--size", help="Width and height in pixels; else as logged.", metavar="WxH")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for the PNG files; else the episode's own, or ID-frames for a log outside a store.",
            metavar="DIR",
        ),
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option(
            "--sheet",
            help="A contact sheet with 30 frames (more: FILE-1.png, FILE-2.png ...) instead of PNG files, unless --out "
            "asks for these too.",
            metavar="FILE.png",
        ),
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(
            "--video",
            help="A video on simulated time with the words below the picture, and FILE.srt, instead of PNG files. "
            "Needs the extra `video`.",
            metavar="FILE.mp4",
        ),
    ] = None,
    fps: Annotated[
        int | None,
        typer.Option(
            "--fps",
            help="Draw the video anew so many times a second (bodies are logged ten times a second); without it, the "
            "logged frames are held.",
            min=1,
            max=_MOST_FPS,
        ),
    ] = None,
    body: Annotated[
        Path | None,
        typer.Option(
            "--body",
            help="Draw the wearer with your own SMPL+H model (SMPLH_NEUTRAL.npz and the like) in place of our figure. "
            "Such frames are compared with no hash.",
            metavar="FILE.npz",
        ),
    ] = None,
    store_pixels: Annotated[
        bool,
        typer.Option(
            "--store-pixels", help="Also keep the pixels beside the log, named by their hash, for this command to use."
        ),
    ] = False,
    verify_only: Annotated[
        bool, typer.Option("--verify", help="Draw and compare, write nothing. Kept pixels are not used.")
    ] = False,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Draw frames from the log as PNG files, contact sheets, a video or a map, and compare pixels with their hashes.

    The frames that the wearer saw are verified: exit code 1 when the pixels of one are not those that were seen. A
    frame that was never drawn has no hash, and says so. Other views and other sizes were seen by nobody; their files
    are named for them (f000012-third.png). Every file is whole or not there, also after Ctrl-C or on a full disk.

    With kept pixels (--store-pixels) the results are the same, and come faster.

    Example: iwreplay frames V06-oracle --every 10 --out pictures
    """
    _fitting_together(
        verify_only=verify_only, targets=any((out, sheet, video, store_pixels)), view=view, size=size,
        store_pixels=store_pixels, pictures=any((sheet, video)), fps=fps, video=video, body=body,
    )  # fmt: skip
    wanted = size_of(size)
    from iwreplay.app.drawing import FrameWish, draw_frames

    wish = FrameWish(
        frames=tuple(frame or ()),
        every=every,
        turn=turn,
        view=view,
        size=wanted,
        body=body,
        out=out,
        write=not verify_only and (out is not None or (sheet is None and video is None)),
        sheet=file_of_kind(sheet, ".png", "--sheet"),
        video=file_of_kind(video, ".mp4", "--video"),
        fps=fps,
        store_pixels=store_pixels,
        use_kept=not verify_only,
    )
    with progress("drawing") as tell:
        drawn = draw_frames(store, episode, wish, progress=tell)
    for damaged in drawn.damaged:
        note(f"{damaged} does not hold the pixels that it is named for; the frame was drawn")
    if drawn.body is not None:
        note(f"the wearer is drawn with {drawn.body}; nobody saw these pixels, they are compared with no hash")
    if json:
        print_json(drawn)
    else:
        if drawn.frames:
            names = ("frame", "seq", "turn", "sim_time_s", "cause")
            rows = [(*(getattr(f, n) for n in names), f.verdict) for f in drawn.frames]
            print_table((*names, "pixels"), rows)
        if drawn.folder is not None:
            say(f"{counted(len(drawn.frames), 'frame')} in {drawn.folder}")
        for file in drawn.files:
            say(file)
    if any(f.verdict == "different" for f in drawn.frames):
        note("the pixels of some frames are not those that were seen; was the log changed, or the renderer?")
        raise typer.Exit(1)


def _fitting_together(
    *, verify_only: bool, targets: bool, view: str, size: str | None, store_pixels: bool, pictures: bool,
    fps: int | None, video: Path | None, body: Path | None,
) -> None:  # fmt: skip
    if verify_only and targets:
        raise typer.BadParameter("--verify writes nothing; leave --out, --sheet, --video and --store-pixels out")
    if (verify_only or store_pixels) and (view != "wearer" or size is not None):
        raise typer.BadParameter("only what the wearer saw has a hash; leave --view and --size out")
    if body is not None and (verify_only or store_pixels):
        raise typer.BadParameter("nobody saw frames with another body; leave --body out of --verify and --store-pixels")
    if body is not None and view == "map":
        raise typer.BadParameter("--view map shows no body; leave --body out")
    if view == "map" and pictures:
        raise typer.BadParameter("--view map is one picture; leave --sheet and --video out")
    if fps is not None and video is None:
        raise typer.BadParameter("--fps is about a video; give --video FILE.mp4 too")


def size_of(text: str | None) -> tuple[int, int] | None:
    """Width and height of "640x480". BadParameter names what is no size."""
    if text is None:
        return None
    width, _, height = text.partition("x")
    if not (width.isascii() and width.isdigit() and height.isascii() and height.isdigit()):
        raise typer.BadParameter(f"--size {text!r} is not of the form WxH, like 640x480")
    w, h = int(width[:9]), int(height[:9])
    if not (1 <= w <= MOST_SIDE_PX and 1 <= h <= MOST_SIDE_PX):
        raise typer.BadParameter(f"--size {text!r}: each side is 1 to {MOST_SIDE_PX} pixels")
    return w, h


def file_of_kind(path: Path | None, kind: str, option: str) -> Path | None:
    """The path, when it names a file of that kind. BadParameter otherwise."""
    if path is not None and path.suffix.lower() != kind:
        raise typer.BadParameter(f"{option} {str(path)!r} does not end in {kind}")
    return path


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(frames)
