"""Finding tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from iwreplay.app.task_lines import line_of
from iwreplay.errors import AmbiguousNameError, TaskError, UnknownNameError
from iwreplay.scene.loader import data_root
from iwreplay.scene.toml import Source
from iwreplay.taskpack.loader import load_task, survey_tasks
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import FAMILIES

__all__ = ["MalformedTask", "TaskFile", "all_or_none", "find_task", "find_tasks", "list_tasks", "survey", "text_of"]


class TaskFile(msgspec.Struct, frozen=True, kw_only=True):
    """A task, and the file that it is in."""

    task: TaskPack
    path: str


class MalformedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A file that should be a task."""

    path: str
    #: from 1; None when the file does not show it
    line: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.path}{f', line {self.line}' if self.line else ''}: {self.reason}"


def list_tasks() -> tuple[tuple[TaskPack, ...], tuple[TaskError, ...]]:
    """(every task that can be read; what is wrong with the files of the others)."""
    return survey_tasks(data_root())


def find_tasks(wanted: tuple[str, ...]) -> tuple[TaskPack, ...]:
    """Each one named, in that order and once; all tasks when none is named, or "all" is. TaskError names every file
    that is malformed."""
    found = survey(wanted)
    all_or_none(f for f in found if isinstance(f, MalformedTask))
    return tuple({f.task.id: f.task for f in found if isinstance(f, TaskFile)}.values())


def all_or_none(problems: Iterable[object]) -> None:
    """TaskError that names every one of some problems; nothing when there are none."""
    said = [str(p) for p in problems]
    if said:
        count = f"{len(said)} tasks can't be used: " if len(said) > 1 else ""
        raise TaskError(count + "; ".join(said))


def survey(wanted: tuple[str, ...] = ()) -> tuple[TaskFile | MalformedTask, ...]:
    """As `find_tasks`, with the file of each task, and with the malformed files in their place. UnknownNameError for a
    name that is none."""
    if wanted and "all" not in wanted:
        return tuple({f.path: f for f in map(_survey_one, wanted)}.values())
    files = {str(f): f for f in _files()}
    tasks, problems = survey_tasks(data_root())
    bad = [_malformed(p, _file_of(p, files.values())) for p in problems]
    spoilt = {b.path for b in bad}
    paths: dict[str, str] = {}
    for path, file in files.items():
        if path not in spoilt:
            paths[load_task(file).id] = path
    return (*(TaskFile(task=t, path=paths[t.id]) for t in tasks), *bad)


def _survey_one(wanted: str) -> TaskFile | MalformedTask:
    if wanted.endswith(".toml"):
        path = Path(wanted)
        if not path.is_file():
            raise UnknownNameError("task", wanted, hint="There is no such file.")
        try:
            return TaskFile(task=load_task(path), path=wanted)
        except TaskError as e:
            return _malformed(e, path)
    readable: list[TaskFile] = []
    malformed: list[MalformedTask] = []
    for file in _files():
        try:
            readable.append(TaskFile(task=load_task(file), path=str(file)))
        except TaskError as e:
            malformed.append(_malformed(e, file))
    exact = [f for f in readable if f.task.id.lower() == wanted.lower()]
    fits = exact or [f for f in readable if wanted and f.task.id.lower().startswith(wanted.lower())]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise AmbiguousNameError("task", wanted, fits=tuple(f.task.id for f in fits))
    if malformed:
        return malformed[0]
    raise UnknownNameError("task", wanted, known=tuple(f.task.id for f in readable))


def find_task(wanted: str) -> TaskPack:
    """The task of that id (in either case), of that unique beginning of an id, or in the TOML file of that path.

    A malformed file of another task is in nobody's way; when nothing fits, it may be the one that was meant, and its
    TaskError is raised.
    """
    found = _survey_one(wanted)
    if isinstance(found, MalformedTask):
        raise TaskError(str(found))
    return found.task


def text_of(path: str) -> str:
    """What a task file says; "" when it is not there any more."""
    file = next((f for f in _files() if str(f) == path), Path(path))
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _malformed(problem: TaskError, file: Source) -> MalformedTask:
    reason = str(problem)
    for name in (f"{file}: ", f"{_family(file)}/{file.name}: ", f"{file.name}: "):
        reason = reason.removeprefix(name)
    raw = file.read_bytes() if file.is_file() else b""
    return MalformedTask(path=str(file), line=line_of(raw.decode("utf-8", "replace"), reason), reason=reason)


def _file_of(problem: TaskError, files: Iterable[Source]) -> Source:
    """The file that a message of `survey_tasks` begins with."""
    said = str(problem)
    names = ((f, (f"{f}: ", f"{_family(f)}/{f.name}: ", f"{f.name}: ")) for f in files)
    return next(f for f, begins in names if said.startswith(begins))


def _family(file: Source) -> str:
    return Path(str(file)).parent.name


def _files() -> Iterator[Source]:
    for family in FAMILIES:
        folder = data_root() / family
        if folder.is_dir():
            yield from sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
