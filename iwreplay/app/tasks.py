"""The tasks that there are."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import msgspec

import taskpacks
from iwreplay.errors import TaskError, UnknownNameError
from iwreplay.taskpack.loader import load_task
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import FAMILIES

__all__ = ["TaskFile", "find_task", "task_files"]


class TaskFile(msgspec.Struct, frozen=True, kw_only=True):
    """A task and the file that it came from."""

    task: TaskPack
    path: Path


def task_files() -> Iterator[TaskFile]:
    """Every shipped task, by family in the usual order, then by id. TaskError for a file that is malformed."""
    root = Path(str(files(taskpacks)))
    seen: dict[str, Path] = {}
    for family in FAMILIES:
        found = [TaskFile(task=load_task(path), path=path) for path in sorted((root / family).glob("*.toml"))]
        for entry in sorted(found, key=lambda f: f.task.id):
            if entry.task.id in seen:
                raise TaskError(f"task id {entry.task.id} is used by {seen[entry.task.id]} and by {entry.path}")
            seen[entry.task.id] = entry.path
            yield entry


def find_task(wanted: str) -> TaskFile:
    """The task of that id (in either case), of that unique prefix of an id, or in the TOML file of that path."""
    if wanted.endswith(".toml"):
        path = Path(wanted)
        if not path.is_file():
            raise UnknownNameError("task", wanted, hint="There is no such file.")
        return TaskFile(task=load_task(path), path=path)
    every = list(task_files())
    exact = [f for f in every if f.task.id.lower() == wanted.lower()]
    fits = exact or [f for f in every if wanted and f.task.id.lower().startswith(wanted.lower())]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise UnknownNameError(
            "task", wanted, hint=f"It fits {', '.join(f.task.id for f in fits)}. Give more of the id."
        )
    raise UnknownNameError("task", wanted, known=tuple(f.task.id for f in every))
