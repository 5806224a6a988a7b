"""Finding tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iwreplay.errors import AmbiguousNameError, TaskError, UnknownNameError
from iwreplay.scene.loader import data_root
from iwreplay.scene.toml import Source
from iwreplay.taskpack.loader import load_task, load_tasks, survey_tasks
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import FAMILIES

__all__ = ["find_task", "find_tasks", "list_tasks"]


def list_tasks() -> tuple[tuple[TaskPack, ...], tuple[TaskError, ...]]:
    """(every task that can be read; what is wrong with the files of the others)."""
    return survey_tasks(data_root())


def find_tasks(wanted: tuple[str, ...]) -> tuple[TaskPack, ...]:
    """Each one named, in that order and once; all tasks when none is named, or "all" is. TaskError for a file that is
    malformed."""
    if not wanted or "all" in wanted:
        return load_tasks()
    return tuple({t.id: t for t in map(find_task, wanted)}.values())


def find_task(wanted: str) -> TaskPack:
    """The task of that id (in either case), of that unique beginning of an id, or in the TOML file of that path.

    A malformed file of another task is in nobody's way; when nothing fits, it may be the one that was meant, and its
    TaskError is raised.
    """
    if wanted.endswith(".toml"):
        path = Path(wanted)
        if not path.is_file():
            raise UnknownNameError("task", wanted, hint="There is no such file.")
        return load_task(path)
    readable: list[TaskPack] = []
    malformed: list[TaskError] = []
    for file in _files():
        try:
            readable.append(load_task(file))
        except TaskError as e:
            malformed.append(e)
    exact = [t for t in readable if t.id.lower() == wanted.lower()]
    fits = exact or [t for t in readable if wanted and t.id.lower().startswith(wanted.lower())]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise AmbiguousNameError("task", wanted, fits=tuple(t.id for t in fits))
    if malformed:
        raise malformed[0]
    raise UnknownNameError("task", wanted, known=tuple(t.id for t in readable))


def _files() -> Iterator[Source]:
    for family in FAMILIES:
        folder = data_root() / family
        if folder.is_dir():
            yield from sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
