"""`iwreplay scene`: which scenes there are, what is in them, and one as a USD stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, NoStoreOption, SceneArgument, SceneTaskOption
from iwreplay.cli.output import counted, exit_with, note, print_json, print_table, say, say_wrapped

if TYPE_CHECKING:
    from iwreplay.app.scenes import SceneView, ThingView
    from iwreplay.scene.model import Portal

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The scenes that tasks play in: list, show what is in one, draw, check, export.",
)


@app.command(name="list")
def list_all(*, store: NoStoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """List the scenes, with the numbers of their rooms, of the objects in them, and of surfaces to put things on.

    One that does not hold together is named on stderr, and hides no other; the exit code is 1 then.

    Example: iwreplay scene list --json
    """
    from iwreplay.app.scenes import list_scenes

    listed, problems = list_scenes()
    if json:
        print_json(listed)
    else:
        names = ("id", "title", "rooms", "objects", "surfaces")
        print_table(names, [[getattr(s, n) for n in names] for s in listed])
    exit_with(problems)


@app.command()
def show(
    scene: SceneArgument = None,
    *,
    task: SceneTaskOption = None,
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show what a task file can use: rooms, openings, furniture with its surfaces and interiors, and things.

    Places are named as `at` of a placement takes them; metres and degrees, x to the east, y to the north.

    Example: iwreplay scene show family_kitchen
    """
    from iwreplay.app.scenes import view_scene

    view = view_scene(scene, task=task)
    if json:
        print_json(view)
    else:
        _describe(view)
    if view.task is None and not view.proven:
        note(f"whether everything in it can be reached is not known: iwreplay scene check {scene}")


@app.command()
def export(
    scene: SceneArgument = None,
    *,
    usd: Annotated[
        Path,
        typer.Option(
            "--usd", help="File to write: .usda (text) or .usdc (smaller); replaced if there.", metavar="FILE"
        ),
    ],
    task: SceneTaskOption = None,
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Write a scene as one USD stage: bodies, collision shapes, joints, meshes, materials, texts, lights, the camera.

    Pictures of textures and texts go to a folder beside it. Needs: pip install 'iwreplay[usd]'.

    Example: iwreplay scene export family_kitchen --usd kitchen.usda
    """
    from iwreplay.app.staging import export_scene

    written = export_scene(scene, usd, task=task)
    if json:
        print_json(written)
        return
    title = written.scene + (f" with the things of task {written.task}" if written.task else "")
    say(f"{title}: {counted(written.things, 'thing')}, {counted(written.joints, 'joint')} in {written.path}")
    if written.pictures:
        say(f"{counted(written.textures, 'texture')} in {written.pictures}; keep them beside the stage")


def _describe(view: SceneView) -> None:
    say(f"{view.id}: {view.title}" + (f", with the things of task {view.task}" if view.task else ""))
    x, y, yaw = view.spawn
    say(f"The wearer starts at {x:g} {y:g}, facing {yaw:g} degrees.")
    say("\nRooms")
    for r in view.rooms:
        x0, y0, x1, y1 = r.rect
        say(f"  {r.id}: x {x0:g} to {x1:g}, y {y0:g} to {y1:g}, {r.height:g} m high; called {', '.join(r.nouns)}")
    say("\nOpenings to walk through")
    for o in view.openings:
        say(f"  {_opening(o)}")
    say(f"\n{_title('Furniture', view.furniture)}")
    _things(view.furniture)
    say(f"\n{_title('Things', view.things)}")
    _things(view.things)


def _title(what: str, things: Sequence[ThingView]) -> str:
    return f"{what} (id, class, name, x y z, turned by; size)" if things else f"{what}: none"


def _opening(o: Portal) -> str:
    return f"{o.a} - {o.b or 'outside'}: at {o.pos[0]:g} {o.pos[1]:g}, {o.width:g} m wide"


def _things(things: Iterable[ThingView]) -> None:
    for t in things:
        where = "off stage" if t.pos is None else f"{t.pos[0]:g} {t.pos[1]:g} {t.pos[2]:g}, {t.yaw_deg:g} degrees"
        size = " x ".join(f"{v:.2f}" for v in t.size)
        say_wrapped(f'  {t.id}  {t.cls}  "{t.name}"  {where}; {size}', indent=6)
        for s in t.surfaces:
            clear = "" if s.clearance_m >= 1.0 else f", {s.clearance_m:.2f} m free above it"
            say(f"      on {s.at}: {s.size[0]:.2f} x {s.size[1]:.2f} at height {s.height_m:.2f}{clear}")
        for i in t.interiors:
            closed = f", closed by its {' and '.join(i.closed_by)}" if i.closed_by else ""
            say(f"      in {i.at}: {' x '.join(f'{v:.2f}' for v in i.size)}{closed}")
        for stance in t.stances:
            say(f"      stance at {stance.x:g} {stance.y:g}, facing {stance.yaw_deg:g} degrees")
