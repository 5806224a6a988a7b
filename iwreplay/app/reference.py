"""What a task's author is told about scenes, classes, commands and other tasks: plain text from the data itself."""

from __future__ import annotations

from iwreplay.actions.table import PRIMITIVES
from iwreplay.app.scenes import ThingView, view_scene
from iwreplay.app.tasks import list_tasks, survey, text_of
from iwreplay.scene.library import Library
from iwreplay.scene.loader import load_scene, scene_ids
from iwreplay.scene.specs import ClassSpec
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import CAPABILITIES, Family

__all__ = ["capabilities", "classes", "example_of", "one_scene", "primitives", "scenes", "tasks_of"]


def capabilities() -> str:
    """One a line."""
    return "\n".join(f"  {name}: {text}" for name, text in CAPABILITIES.items())


def primitives() -> str:
    """The 36, one a line: their verbs, their arguments, and the name that checks call them by."""
    lines = []
    for row in PRIMITIVES:
        verbs = " or ".join(f"[{v}]" for v in row.verbs)
        args = ", ".join(f"({a.name})" if a.optional else a.name for a in row.args)
        lines.append(f"{verbs} {args}".rstrip() + f" -- {row.canonical}")
    return "\n".join(lines)


def classes(library: Library) -> str:
    """Classes of things that a task may add, one a line."""
    return "\n".join(_class_line(name, spec) for name, spec in sorted(library.classes.items()) if not spec.fixed)


def _class_line(name: str, spec: ClassSpec) -> str:
    parts = [
        ("can", spec.affordances),
        ("text on", tuple(f.name for f in spec.faces)),
        ("paint", tuple(sorted(spec.paint))),
    ]
    said = "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)
    return f"{name}: {said}" if said else name


def scenes() -> str:
    """All scenes, one a line, with their rooms and kinds of furniture."""
    lines = []
    for name in scene_ids():
        file = load_scene(name)
        kinds = sorted({f.cls for f in file.furniture})
        lines.append(f"{name} ({file.title}): rooms {', '.join(r.id for r in file.rooms)}; has {', '.join(kinds)}")
    return "\n".join(lines)


def one_scene(scene: str) -> str:
    """Rooms, furniture with its places, and what stands around."""
    view = view_scene(scene)
    x, y, yaw = view.spawn
    lines = [
        f"{view.id}: {view.title}. The wearer begins at {x}, {y}, facing {yaw} degrees.",
        *(f"room {r.id}: x {r.rect[0]} to {r.rect[2]}, y {r.rect[1]} to {r.rect[3]}" for r in view.rooms),
        *(f"furniture {_thing_line(t)}" for t in view.furniture),
        *(f"thing {_thing_line(t)}" for t in view.things),
    ]
    return "\n".join(lines)


def _thing_line(t: ThingView) -> str:
    where = f"at {t.pos[0]}, {t.pos[1]} in {t.room or 'no room'}" if t.pos else "off stage"
    places = [f"surface {s.at} {s.size[0]} x {s.size[1]} m, {s.height_m} m high" for s in t.surfaces]
    places += [
        f"interior {i.at} {' x '.join(map(str, i.size))} m" + (", behind a door or lid" if i.closed_by else "")
        for i in t.interiors
    ]
    can = f"; can: {', '.join(t.affordances)}" if t.affordances else ""
    return f"{t.id} ({t.cls}), called {t.name!r}, {where}{can}" + "".join(f"; {p}" for p in places)


def tasks_of(family: Family) -> str:
    """The tasks that there are, one a line."""
    return "\n".join(f"{t.title}: {t.request}" for t in _tasks(family)) or "none"


def example_of(family: Family) -> str:
    """The file of the family's first task; of the first task at all when it has none."""
    tasks = _tasks(family) or list_tasks()[0]
    (found,) = survey((tasks[0].id,))
    return text_of(found.path)


def _tasks(family: Family) -> tuple[TaskPack, ...]:
    return tuple(t for t in list_tasks()[0] if t.family == family)
