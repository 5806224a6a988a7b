"""`iwreplay scene render` and `iwreplay scene check`: looking at scenes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from iwreplay.cli.frames import size_of
from iwreplay.cli.options import DEFAULT_STORE, JsonOption, NoStoreOption, SceneArgument, SceneTaskOption
from iwreplay.cli.output import counted, print_json, print_table, progress, say
from iwreplay.pose import Vec3

if TYPE_CHECKING:
    from iwreplay.app.checking import SceneCheck

__all__ = ["add_to"]


def render(
    scene: SceneArgument = None,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the PNG files, or a file for one picture.", metavar="DIR")
    ] = None,
    stance: Annotated[
        str | None,
        typer.Option(
            "--stance",
            help="From there: start, a room (its best free corner; ROOM.2 is the second), or a thing (a place before "
            "it).",
            metavar="NAME",
        ),
    ] = None,
    eye: Annotated[str | None, typer.Option("--from", help="Camera, metres.", metavar="X,Y,Z")] = None,
    toward: Annotated[str | None, typer.Option("--toward", help="What it looks at.", metavar="X,Y,Z")] = None,
    view: Annotated[
        Literal["top", "map"] | None,
        typer.Option("--view", help="top: from above without ceilings; map: the same with names."),
    ] = None,
    size: Annotated[str | None, typer.Option("--size", help="Width and height in pixels.", metavar="WxH")] = None,
    task: SceneTaskOption = None,
    gallery: Annotated[
        Path | None,
        typer.Option(
            "--gallery",
            help="Instead: a contact sheet of every scene into this folder, and a page DIR.md that shows them.",
            metavar="DIR",
        ),
    ] = None,
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Draw a scene as PNG files: from its start, from the corners of its rooms, from above, and as a map with names.

    With --stance, --from and --toward, or --view, one picture. A camera in a wall, inside of a thing or outside of the
    building is refused, and what is in its way is named.

    Example: iwreplay scene render family_kitchen --out kitchen
    """
    if gallery is not None:
        _gallery(gallery, alone=not any((scene, out, stance, eye, toward, view, size, task)), json=json)
        return
    if out is None:
        raise typer.BadParameter("--out DIR (or FILE.png for one picture) is missing")
    if (eye is None) != (toward is None):
        raise typer.BadParameter("--from and --toward go together")
    if sum(v is not None for v in (stance, eye, view)) > 1:
        raise typer.BadParameter("--stance, --from and --view are three ways to look; give one")
    camera = None if eye is None or toward is None else (_point("--from", eye), _point("--toward", toward))
    wanted = size_of(size)
    from iwreplay.app.rendering import SceneWish, render_scene

    done = render_scene(scene, SceneWish(task=task, stance=stance, camera=camera, view=view, size=wanted, out=out))
    if json:
        print_json(done)
    else:
        for file in done.files:
            say(file)


def check(
    scene: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of scenes, unique beginnings of them, or TOML files; all when none is given."),
    ] = None,
    *,
    task: Annotated[
        str | None, typer.Option("--task", help="The scene of this task, with its things in it.", metavar="TASK")
    ] = None,
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Check that scenes hold together, that everything in them can be used, and that their texts can be read.

    Nothing may interpenetrate, rooms must be connected, every room must be walked to, and no 0.3 square metres of floor
    where one could stand be cut off. Every handle, switch, seat, loose thing, surface and interior must be within reach
    of a hand, with the doors between rooms open. Every text is drawn from where
    [Read] looks at it: its capitals must be 4.75 pixels high in a frame of 640x480, and the contrast of ink to paper
    3 or more in the pixels, as WCAG measures it. Exit code 1 when something fails. Physics and pictures: up to a minute
    a scene.

    --json gives a list of {scene, task, ok, problems, texts, reached}.

    Example: iwreplay scene check family_kitchen
    """
    if task is not None and scene and len(scene) > 1:
        raise typer.BadParameter("--task has one scene; leave the others out")
    from iwreplay.app.checking import check_scene
    from iwreplay.app.scenes import find_scene
    from iwreplay.scene.loader import scene_ids

    wanted = [None] if task is not None and not scene else list(map(str, map(find_scene, scene or scene_ids())))
    found = []
    for name in wanted:
        with progress(f"checking {name or task}") as tell:
            found.append(check_scene(name, task=task, progress=tell))
        if not json:
            _tell_check(found[-1])
    if json:
        print_json(found)
    else:
        bad = sum(not c.ok for c in found)
        say(f"{counted(len(found), 'scene')}, {bad} with problems")
    if not all(c.ok for c in found):
        raise typer.Exit(1)


def _tell_check(c: SceneCheck) -> None:
    say(f"{c.scene}{f' with the things of {c.task}' if c.task else ''}")
    if c.texts:
        names = ("thing", "face", "text", "read_from", "cap_px", "contrast", "ok")
        print_table(names, [[getattr(t, n) for n in names] for t in c.texts])
    for p in c.problems:
        say(str(p))
    say(f"{c.reached} rooms, things, surfaces and interiors within reach, {counted(len(c.texts), 'text')}, "
        f"{counted(len(c.problems), 'problem')}\n")  # fmt: skip


def _gallery(folder: Path, *, alone: bool, json: bool) -> None:
    if not alone:
        raise typer.BadParameter("--gallery draws every scene; leave the rest out")
    from iwreplay.app.rendering import draw_gallery

    with progress("drawing") as tell:
        files = draw_gallery(folder, folder.with_name(f"{folder.name}.md"), progress=tell)
    if json:
        print_json(files)
    else:
        for file in files:
            say(file)


def _point(option: str, text: str) -> Vec3:
    """Three numbers; not finite ones are for the camera's own check to name."""
    try:
        x, y, z = (float(v) for v in text.split(","))
    except ValueError as e:
        raise typer.BadParameter(f"{option} {text!r} is not of the form X,Y,Z, like 1.5,2,1.6") from e
    if any(abs(v) > 1e6 and math.isfinite(v) for v in (x, y, z)):
        raise typer.BadParameter(f"{option} {text!r} is more than a million metres away")
    return (x, y, z)


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(render)
    app.command()(check)
