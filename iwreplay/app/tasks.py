"""Finding tasks."""

from __future__ import annotations

from pathlib import Path

from iwreplay.errors import UnknownNameError
from iwreplay.taskpack.loader import load_task, load_tasks
from iwreplay.taskpack.model import TaskPack

__all__ = ["find_task", "find_tasks"]


def find_tasks(wanted: tuple[str, ...]) -> tuple[TaskPack, ...]:
    """Each one named, in that order and once; all tasks when none is named, or "all" is. TaskError for a file that is
    malformed."""
    if not wanted or "all" in wanted:
        return load_tasks()
    return tuple({t.id: t for t in map(find_task, wanted)}.values())


def find_task(wanted: str) -> TaskPack:
    """The task of that id (in either case), of that unique beginning of an id, or in the TOML file of that path."""
    if wanted.endswith(".toml"):
        path = Path(wanted)
        if not path.is_file():
            raise UnknownNameError("task", wanted, hint="There is no such file.")
        return load_task(path)
    every = load_tasks()
    exact = [t for t in every if t.id.lower() == wanted.lower()]
    fits = exact or [t for t in every if wanted and t.id.lower().startswith(wanted.lower())]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise UnknownNameError("task", wanted, hint=f"It fits {', '.join(t.id for t in fits)}. Give more of the id.")
    raise UnknownNameError("task", wanted, known=tuple(t.id for t in every))
