"""Whether a log's frozen task is the task of that id as it is now: so that a table can say what it is made of.

Logs hold their whole task and scene, by hashes that the present tasks and the releases of the task pack have too.
"""

from __future__ import annotations

from typing import Protocol

import duckdb
import msgspec
import pyarrow as pa

__all__ = [
    "DDL",
    "NO_TASKS",
    "TASK_STATES",
    "KnownTasks",
    "PresentTask",
    "ReleasedTask",
    "TaskBook",
    "compare_tasks",
    "stamp_of",
]

TASK_STATES = {
    "current": "the task and its scene are the present ones",
    "older": "they are of a lower version, or as an earlier release has them",
    "newer": "the task is of a higher version than the present one",
    "changed": "the version is the present one, but the task or its scene is another",
    "unknown": "there is no task of that id now, or the log does not say which it is",
}


class PresentTask(msgspec.Struct, frozen=True):
    """A task as it is now."""

    task: str
    version: int
    sha256: str
    #: of its scene with its things in it; None when no release tells it, and any is taken for the present one
    scene_sha256: str | None


class ReleasedTask(msgspec.Struct, frozen=True):
    """A task as a release of the task pack has it."""

    task: str
    release: int
    sha256: str
    scene_sha256: str


class KnownTasks(msgspec.Struct, frozen=True):
    """What logs are compared with."""

    present: tuple[PresentTask, ...] = ()
    released: tuple[ReleasedTask, ...] = ()


class TaskBook(Protocol):
    """Where the present tasks are."""

    @property
    def stamp(self) -> str:
        """Changes whenever `read` would give something else; quickly made."""

    def read(self) -> KnownTasks:
        """All of them."""


class _NoTasks:
    stamp = ""

    def read(self) -> KnownTasks:
        return KnownTasks()


#: every task is unknown
NO_TASKS: TaskBook = _NoTasks()

#: tables of the catalogue's own
DDL = """
CREATE TABLE iw.tasks_stamp (stamp VARCHAR);
CREATE TABLE iw.present (task VARCHAR, version INTEGER, sha256 VARCHAR, scene_sha256 VARCHAR);
CREATE TABLE iw.released (task VARCHAR, release INTEGER, sha256 VARCHAR, scene_sha256 VARCHAR);
"""

_COMPARE = """
UPDATE episodes SET task_state = found.state, task_release = found.release
FROM (
    SELECT e.episode, r.release,
           CASE WHEN p.task IS NULL THEN 'unknown'
                WHEN e.task_sha256 = p.sha256 AND e.scene_hash = coalesce(p.scene_sha256, e.scene_hash) THEN 'current'
                WHEN e.task_version > p.version THEN 'newer'
                WHEN e.task_version < p.version OR r.release IS NOT NULL THEN 'older'
                ELSE 'changed' END AS state
    FROM episodes e
    LEFT JOIN iw.present p ON p.task = e.task
    LEFT JOIN (
        SELECT task, sha256, scene_sha256, max(release) AS release FROM iw.released GROUP BY ALL
    ) r ON r.task = e.task AND r.sha256 = e.task_sha256 AND r.scene_sha256 = e.scene_hash
) found
WHERE found.episode = episodes.episode
  AND (episodes.task_state IS DISTINCT FROM found.state OR episodes.task_release IS DISTINCT FROM found.release)
"""


def stamp_of(con: duckdb.DuckDBPyConnection) -> str | None:
    """Stamp of the tasks that the catalogue's episodes were compared with; None before the first time."""
    found = con.execute("SELECT stamp FROM iw.tasks_stamp").fetchall()
    return str(found[0][0]) if found else None


def compare_tasks(con: duckdb.DuckDBPyConnection, book: TaskBook) -> None:
    """Fills in `task_state` and `task_release` of every episode that lacks them, and of all when tasks changed."""
    stamp = book.stamp
    if stamp_of(con) != stamp:
        known = book.read()
        _replace(con, "present", known.present, PresentTask)
        _replace(con, "released", known.released, ReleasedTask)
        con.execute("DELETE FROM iw.tasks_stamp")
        con.execute("INSERT INTO iw.tasks_stamp VALUES (?)", [stamp])
    con.execute(_COMPARE)


def _replace(
    con: duckdb.DuckDBPyConnection,
    table: str,
    rows: tuple[PresentTask, ...] | tuple[ReleasedTask, ...],
    kind: type[PresentTask | ReleasedTask],
) -> None:
    con.execute(f"DELETE FROM iw.{table}")
    if not rows:
        return
    incoming = pa.table({name: [getattr(r, name) for r in rows] for name in kind.__struct_fields__})
    con.register("incoming", incoming)
    con.execute(f"INSERT INTO iw.{table} BY NAME SELECT * FROM incoming")
    con.unregister("incoming")
