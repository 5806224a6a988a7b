"""Scenes that can be used, on load: those of the package are known to pass, any other is asked, once per process.

`taskpacks/usable.toml` names what each scene was when it passed (`make proofs` writes it, a test holds it). What a task
puts into its scene is asked for each time that it is loaded: that is a few things and places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

import msgspec

from iwreplay.app.tasks import all_or_none
from iwreplay.errors import IwreplayError, SceneError, TaskError
from iwreplay.scene.library import Library, load_library
from iwreplay.scene.loader import compile_scene, data_root, load_scene
from iwreplay.scene.model import CompiledScene
from iwreplay.scene.toml import Source, converted, parsed
from iwreplay.taskpack.loader import validate_task
from iwreplay.taskpack.model import TaskPack
from iwreplay.usability import USABILITY_RULE, Problem, Usability, usability_digest
from recorder.simulators.mujoco_backend import MujocoSimulator

__all__ = [
    "PROOFS",
    "Proofs",
    "check_tasks_load",
    "check_usable",
    "check_usable_task",
    "is_proven",
    "proofs_in",
    "task_problems",
]

#: in the folder of the data package
PROOFS = "usable.toml"
#: so many problems are in one message
_MOST_TOLD = 3


class Proofs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which scenes passed, as of one version of the rule."""

    rule: int
    #: scene id -> its `usability_digest`
    scenes: dict[str, str]


def proofs_in(root: Source) -> Proofs:
    """The proofs of a data package; none when it has no such file, or one of another rule. SceneError when it is
    malformed."""
    file = root / PROOFS
    found = (
        converted(parsed(file, error=SceneError), Proofs, where=PROOFS, error=SceneError) if file.is_file() else None
    )
    return found if found is not None and found.rule == USABILITY_RULE else Proofs(rule=USABILITY_RULE, scenes={})


def is_proven(scene: CompiledScene, *, root: Source | None = None) -> bool:
    """Whether the data package has a proof of the scene as it is now."""
    return proofs_in(root or data_root()).scenes.get(scene.id) == usability_digest(scene)


class _Asked:
    """What was found in this process: digest of a scene -> its problems."""

    found: ClassVar[dict[str, tuple[Problem, ...]]] = {}


def check_usable(scene: CompiledScene, *, root: Source | None = None) -> None:
    """SceneError when a room or floor of the scene can't be walked to, or a thing, surface or interior not reached. It
    names them and says why. Seconds for a scene without a proof."""
    if is_proven(scene, root=root):
        return
    digest = usability_digest(scene)
    if digest not in _Asked.found:
        _Asked.found[digest] = _problems_of(scene)
    problems = _Asked.found[digest]
    if problems:
        raise SceneError(f"scene {scene.id}: {_told(problems)} (iwreplay scene check {scene.id})")


def _problems_of(scene: CompiledScene) -> tuple[Problem, ...]:
    return tuple(Usability(scene, MujocoSimulator()).problems())


def check_usable_task(task: TaskPack, scene: CompiledScene, *, library: Library | None = None) -> None:
    """TaskError when what a task puts into its compiled scene, or the place of it, can't be reached; SceneError when
    the scene without it can't be used."""
    problems = task_problems(task, scene, library=library)
    if problems:
        raise TaskError(f"task {task.id}: {_told(problems)} (iwreplay tasks check {task.id})")


def check_tasks_load(
    tasks: Sequence[TaskPack], *, progress: Callable[[int, int], None] = lambda done, of: None
) -> None:
    """Compiles each task and everything in it, and asks whether it can be used. TaskError names every one that does not
    hold, and what is wrong with it."""
    library, problems = load_library(data_root() / "objects"), []
    for n, task in enumerate(tasks):
        progress(n, len(tasks))
        try:
            check_usable_task(task, validate_task(task, library=library), library=library)
        except IwreplayError as e:
            problems.append(e)
    all_or_none(problems)


def task_problems(
    task: TaskPack, scene: CompiledScene, *, library: Library | None = None, also: Iterable[str] = ()
) -> tuple[Problem, ...]:
    """What of the things of a task, the places that they are at, and the things in `also` can't be reached in its
    compiled scene, and which rooms not be walked to with them in it. SceneError when the scene itself can't be used."""
    check_usable(compile_scene(load_scene(task.scene), library=library))
    use = Usability(scene, MujocoSimulator())
    return (*use.start(), *use.rooms(), *use.uses(frozenset((*_used(task, scene), *also))))


def _used(task: TaskPack, scene: CompiledScene) -> Iterator[str]:
    """Ids of the things that the task places or speaks of, and the places that they are at."""
    known = {t.id for t in scene.things}
    placed = [(p.id, p.at) for p in task.things]
    placed += [(a.thing, a.at) for event in task.script for a in event.do]
    for thing, at in placed:
        owner = at.partition(".")[0]
        yield from (name for name in (thing, owner) if name in known)
        if owner in known:
            yield at


def _told(problems: tuple[Problem, ...]) -> str:
    rest = len(problems) - _MOST_TOLD
    return "; ".join(map(str, problems[:_MOST_TOLD])) + (f"; and {rest} more" if rest > 0 else "")
