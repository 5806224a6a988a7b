"""The catalogue of a store, with the tasks and scorers of this build, and users' own scorers as they were used last."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from iwreplay.app.pool import in_order
from iwreplay.app.releases import FOLDER, read_releases
from iwreplay.app.scoring import scorer_hashes
from iwreplay.canonical import struct_hash
from iwreplay.catalogue import Catalogue, KnownTasks, PresentTask, ReleasedTask
from iwreplay.scene.loader import data_root
from iwreplay.scene.toml import Source
from iwreplay.store import Store, present_scorers
from iwreplay.taskpack.loader import survey_tasks
from iwreplay.vocabulary import FAMILIES

__all__ = ["DataTasks", "open_catalogue"]

Item = TypeVar("Item")
Result = TypeVar("Result")

#: groups of episodes that a process must have to read for it to be worth starting it
_PAYS_FROM = 16


def open_catalogue(store: Path, *, folder: Path | None = None) -> Catalogue:
    """The file is in the store, or in `folder`. StoreError when `store` is not one."""
    tasks = DataTasks(data_root())
    opened = Store.open(store)
    scorers = {**present_scorers(store), **scorer_hashes()}
    return Catalogue(opened, scorers=scorers, tasks=tasks, each=_each, folder=folder)


def _each(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """In as many processes as pay, which is one for most stores."""
    return in_order(work, items, jobs=max(1, min(os.cpu_count() or 1, len(items) // _PAYS_FROM)))


class DataTasks:
    """The tasks and releases of a data package."""

    def __init__(self, root: Source) -> None:
        self._root = root
        self._stamp: str | None = None

    @property
    def stamp(self) -> str:
        """Hash over the files: reading them as tasks takes a hundred times as long."""
        if self._stamp is None:
            digest = hashlib.sha256()
            for file in self._files():
                content = file.read_bytes()
                digest.update(f"{file.name} {len(content)}\n".encode() + content)
            self._stamp = digest.hexdigest()
        return self._stamp

    def read(self) -> KnownTasks:
        """A task whose file is malformed is not known. StoreDamagedError when a release was changed."""
        tasks, _ = survey_tasks(self._root)
        releases = read_releases(self._root)
        latest = releases[-1].tasks if releases else {}
        present = []
        for task in tasks:
            sha256 = struct_hash(task)
            entry = latest.get(task.id)
            scene = entry.scene_sha256 if entry is not None and entry.task_sha256 == sha256 else None
            present.append(PresentTask(task.id, task.version, sha256, scene))
        released = [
            ReleasedTask(name, release.number, entry.task_sha256, entry.scene_sha256)
            for release in releases
            for name, entry in release.tasks.items()
        ]
        return KnownTasks(tuple(present), tuple(released))

    def _files(self) -> Iterator[Source]:
        for name in (*FAMILIES, FOLDER):
            folder = self._root / name
            if folder.is_dir():
                yield from sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
