"""Scenes: finding them, and what is in them in the words and places that a task file needs."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from iwreplay.actions.naming import public_name
from iwreplay.app.tasks import find_task
from iwreplay.app.usable import check_usable, check_usable_task, is_proven
from iwreplay.errors import AmbiguousNameError, IwreplayError, UnknownNameError
from iwreplay.pose import Pose, transform_point, yaw_of
from iwreplay.scene.geometry import joints_at_load, link_poses_at
from iwreplay.scene.library import load_library
from iwreplay.scene.loader import compile_scene, data_root, load_scene, scene_ids
from iwreplay.scene.model import CompiledScene, Portal, Room, Thing
from iwreplay.scene.placing import is_off_stage
from iwreplay.taskpack.loader import compile_task
from iwreplay.vocabulary import AttrValue

__all__ = ["ListedScene", "SceneView", "compiled_scene", "find_scene", "list_scenes", "view_scene"]

#: classes of the building itself, which nobody places or uses
_SHELL = ("floor", "wall", "ceiling")


class ListedScene(msgspec.Struct, frozen=True, kw_only=True):
    """A scene by its numbers."""

    id: str
    title: str
    rooms: int
    #: furniture and loose things, without walls and floors
    objects: int
    #: places of the form "thing.surface"
    surfaces: int


class SurfaceView(msgspec.Struct, frozen=True, kw_only=True):
    """A rectangle to put things on: `at = "counter_1.top"`."""

    at: str
    #: metres along the owner's x and y; `pos` of a placement runs from minus half of it to half of it
    size: tuple[float, float]
    #: of the surface above the floor, metres, doors and drawers as they are at the start
    height_m: float
    #: free height above it, metres
    clearance_m: float


class InteriorView(msgspec.Struct, frozen=True, kw_only=True):
    """A box to put things into: `at = "fridge_1.main"`."""

    at: str
    #: metres along the owner's x, y and z
    size: tuple[float, float, float]
    #: joints that close it; () is always open
    closed_by: tuple[str, ...]


class StanceView(msgspec.Struct, frozen=True, kw_only=True):
    """A place that the scene gives for using a thing; where there is none, one is worked out."""

    #: x, y in the world, metres, and the direction faced, degrees from +x towards +y
    x: float
    y: float
    yaw_deg: float


class ThingView(msgspec.Struct, frozen=True, kw_only=True):
    """A thing as a task's author needs it."""

    id: str
    cls: str
    #: what a command may call it: "left wall cabinet"
    name: str
    #: every other noun that names its kind
    nouns: tuple[str, ...]
    room: str
    #: part of the building or furniture
    fixed: bool
    #: x, y, z in the world, metres, and the turn about z in degrees; None off stage
    pos: tuple[float, float, float] | None
    yaw_deg: float | None
    #: of the box around it, in its own frame, metres
    size: tuple[float, float, float]
    affordances: tuple[str, ...]
    #: attributes at the start
    attrs: dict[str, AttrValue]
    surfaces: tuple[SurfaceView, ...]
    interiors: tuple[InteriorView, ...]
    stances: tuple[StanceView, ...]


class SceneView(msgspec.Struct, frozen=True, kw_only=True):
    """A compiled scene, without its shapes."""

    id: str
    title: str
    #: the task whose things are in it, or None
    task: str | None
    #: where the wearer starts: x, y, and the direction faced in degrees
    spawn: tuple[float, float, float]
    rooms: tuple[Room, ...]
    openings: tuple[Portal, ...]
    furniture: tuple[ThingView, ...]
    things: tuple[ThingView, ...]
    #: known to be usable as it is, without a task's things: False says nothing, `scene check` does
    proven: bool


def list_scenes() -> tuple[tuple[ListedScene, ...], tuple[IwreplayError, ...]]:
    """(every scene of the data package that holds together; what is wrong with the others)."""
    listed, problems = [], []
    library = load_library(data_root() / "objects")
    for name in scene_ids(data_root()):
        try:
            file = load_scene(name, root=data_root())
            scene = compile_scene(file, library=library)
        except IwreplayError as problem:
            problems.append(problem)
            continue
        things = _without_shell(scene)
        listed.append(
            ListedScene(
                id=name,
                title=file.title,
                rooms=len(scene.rooms),
                objects=len(things),
                surfaces=sum(len(k.surfaces) for t in things for k in t.links),
            )
        )
    return tuple(listed), tuple(problems)


def find_scene(wanted: str) -> str | Path:
    """The id of that scene, of that unique beginning of an id, or the path of a TOML file. UnknownNameError names
    those that are spelt like it."""
    if wanted.endswith(".toml"):
        if not Path(wanted).is_file():
            raise UnknownNameError("scene", wanted, hint="There is no such file.")
        return Path(wanted)
    known = scene_ids()
    fits = [i for i in known if i == wanted] or [i for i in known if wanted and i.startswith(wanted)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise AmbiguousNameError("scene", wanted, fits=tuple(fits))
    raise UnknownNameError("scene", wanted, known=known, hint="All: iwreplay scene list.")


def view_scene(wanted: str | None, *, task: str | None = None) -> SceneView:
    """What is in a scene; with the things of `task` in it (`wanted` may then be None, or must be that task's scene).

    UnknownNameError for a name; SceneError or TaskError for a file that is malformed or does not hold together. What
    can't be used is shown: its author looks here for where things are.
    """
    scene, title, pack = compiled_scene(wanted, task=task, usable=False)
    return _viewed(scene, title=title, task=pack)


def compiled_scene(
    wanted: str | None, *, task: str | None = None, usable: bool = True
) -> tuple[CompiledScene, str, str | None]:
    """(the scene compiled, its title, id of the task whose things are in it or None); errors as of `view_scene`.

    usable: refuse a scene with something in it that can't be walked to or reached.
    """
    if task is not None:
        pack = find_task(task)
        named = None if wanted is None else find_scene(wanted)
        if named not in (None, pack.scene):
            raise UnknownNameError("scene", str(wanted), hint=f"Task {pack.id} plays in {pack.scene}.")
        scene = compile_task(pack)
        if usable:
            check_usable_task(pack, scene)
        return scene, load_scene(pack.scene).title, pack.id
    if wanted is None:
        raise UnknownNameError("scene", "", hint="Name a scene, or a task with --task. All: iwreplay scene list.")
    file = load_scene(find_scene(wanted))
    scene = compile_scene(file)
    if usable:
        check_usable(scene)
    return scene, file.title, None


def _without_shell(scene: CompiledScene) -> tuple[Thing, ...]:
    return tuple(t for t in scene.things if t.cls not in _SHELL)


def _viewed(scene: CompiledScene, *, title: str, task: str | None) -> SceneView:
    views = [(t.fixed, _thing(t, scene)) for t in _without_shell(scene)]
    x, y, yaw = scene.spawn
    return SceneView(
        id=scene.id,
        title=title,
        task=task,
        spawn=(_m(x), _m(y), _deg(yaw)),
        rooms=scene.rooms,
        openings=scene.portals,
        furniture=tuple(v for fixed, v in views if fixed),
        things=tuple(v for fixed, v in views if not fixed),
        proven=task is None and is_proven(scene),
    )


def _thing(thing: Thing, scene: CompiledScene) -> ThingView:
    off = is_off_stage(thing.pose)
    joints = joints_at_load((thing,))
    surfaces, interiors = [], []
    for link, pose in zip(thing.links, link_poses_at(thing, thing.pose, joints), strict=True):
        surfaces += [
            SurfaceView(
                at=f"{thing.id}.{s.name}",
                size=(_m(2 * s.half[0]), _m(2 * s.half[1])),
                height_m=_m(transform_point(pose, s.pos)[2]),
                clearance_m=_m(s.clearance),
            )
            for s in link.surfaces
        ]
        interiors += [
            InteriorView(
                at=f"{thing.id}.{i.name}",
                size=(_m(2 * i.half[0]), _m(2 * i.half[1]), _m(2 * i.half[2])),
                closed_by=i.closed_by,
            )
            for i in link.interiors
        ]
    x, y, z = thing.pose[:3]
    return ThingView(
        id=thing.id,
        cls=thing.cls,
        name=public_name(thing),
        nouns=tuple(n for n in thing.nouns if n != thing.name),
        room="" if off else _room(scene, x, y),
        fixed=thing.fixed,
        pos=None if off else (_m(x), _m(y), _m(z)),
        yaw_deg=None if off else _deg(yaw_of(thing.pose[3:])),
        size=(_m(2 * thing.bounds_half[0]), _m(2 * thing.bounds_half[1]), _m(2 * thing.bounds_half[2])),
        affordances=thing.affordances,
        attrs=thing.attrs,
        surfaces=tuple(surfaces),
        interiors=tuple(interiors),
        stances=tuple(_stance(thing.pose, s) for s in thing.stances),
    )


def _stance(world_from_thing: Pose, stance: tuple[float, float, float]) -> StanceView:
    x, y, _ = transform_point(world_from_thing, (stance[0], stance[1], 0.0))
    yaw = yaw_of(world_from_thing[3:]) + stance[2]
    return StanceView(x=_m(x), y=_m(y), yaw_deg=_deg(yaw))


def _room(scene: CompiledScene, x: float, y: float) -> str:
    return next((r.id for r in scene.rooms if r.rect[0] <= x <= r.rect[2] and r.rect[1] <= y <= r.rect[3]), "")


def _m(value: float) -> float:
    """Metres to the millimetre, without a minus before nothing."""
    return round(value, 3) + 0.0


def _deg(angle_rad: float) -> float:
    return round(math.degrees(angle_rad), 1) + 0.0
