"""The DuckDB file: brought up to date from the store's logs, asked read-only.

What is in it is keyed by each log's root hash. A log whose file (size, times of change) is as it was when it was
taken in is not read again; one that changed is taken in anew; one that is gone is dropped. A file of another schema
version, or one that DuckDB can't read, is made again from nothing: it holds nothing that the store does not.
"""

from __future__ import annotations

import errno
import operator
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import duckdb
import filelock
import msgspec
import pyarrow as pa

from iwreplay.catalogue.annotated import ANNOTATED_DDL, annotated_stamp, annotations_stamp, bring_annotations
from iwreplay.catalogue.asking import one_line, only_a_select, rows_and_columns, tables_like, told_apart
from iwreplay.catalogue.filling import drop, in_groups, put, put_kept, transaction
from iwreplay.catalogue.gathering import Gathered, gather, gather_kept, log_stamp, loosely_the_same, score_stamp
from iwreplay.catalogue.interrupting import interruptibly
from iwreplay.catalogue.schema import SCHEMA_VERSION, TABLES, ddl
from iwreplay.catalogue.taskbook import DDL, NO_TASKS, TaskBook, compare_tasks, stamp_of
from iwreplay.errors import CatalogueReadOnlyError, QueryError
from iwreplay.store import Episode, Store

__all__ = ["Answer", "Catalogue", "Each", "Refreshed"]

Result = TypeVar("Result")

FILE_NAME = "catalogue.duckdb"
#: how long to wait for another process that is using the catalogue
_WAIT_S = 30.0
#: episodes that are read together
_EPISODES_A_TIME = 16
_MEMORY = "1GB"
#: rows of an answer that are handed on together
_ROWS_AT_ONCE = 50_000

#: tables that say what has been taken in; in a schema of their own, apart from the documented ones
_INTERNAL = f"""
CREATE SCHEMA iw;
CREATE TABLE iw.about AS SELECT {SCHEMA_VERSION} AS schema_version;
CREATE TABLE iw.taken (episode VARCHAR, log_stamp VARCHAR, score_stamp VARCHAR);
{DDL}{ANNOTATED_DDL}"""

#: a function that reads some episodes, of every sequence of episodes: `map`, or the same in several processes
Each = Callable[[Callable[[Sequence[Any]], Gathered], Sequence[Sequence[Any]]], Iterable[Gathered]]


class Refreshed(msgspec.Struct, frozen=True, kw_only=True):
    """What a refresh did, by episode id."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    rescored: tuple[str, ...] = ()
    unchanged: int = 0
    rebuilt: bool = False


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of an answer, in the order asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    #: True: there were more rows than allowed
    cut: bool


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the store and the catalogue."""

    new: tuple[Episode, ...]
    changed: tuple[Episode, ...]
    rescored: tuple[Episode, ...]
    gone: tuple[str, ...]
    unchanged: int
    #: the present tasks are others than those that the episodes were compared with
    other_tasks: bool
    #: somebody said something of an episode
    annotated: bool

    @property
    def empty(self) -> bool:
        reads = self.new or self.changed or self.rescored
        return not (reads or self.gone or self.other_tasks or self.annotated)

    @property
    def reads(self) -> int:
        return len(self.new) + len(self.changed) + len(self.rescored)


class _NotWritableError(Exception):
    """The store may be read only."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Catalogue:
    """The catalogue of one store.

    `scorers` is the present hash of each scorer by name: only scores made by them are shown. `tasks` are the present
    tasks, which those of the logs are compared with. `each` reads logs, perhaps in several processes. In a `with` block
    what is read is read through one connection, which takes longer to open than most questions take.
    """

    def __init__(
        self,
        store: Store,
        *,
        scorers: Mapping[str, str],
        tasks: TaskBook = NO_TASKS,
        each: Each = map,
        folder: Path | None = None,
    ) -> None:
        """`folder`: where the file is, if not in the store."""
        self.store = store
        self.path = (folder or store.root) / FILE_NAME
        self.scorers = dict(sorted(scorers.items()))
        self.tasks = tasks
        self._each = each
        #: `with` blocks that are open, and the connection that they share
        self._depth = 0
        self._reader: duckdb.DuckDBPyConnection | None = None

    def __enter__(self) -> Catalogue:
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._stop_reading()

    def refresh(self, *, rebuild: bool = False, progress: Callable[[int, int], None] | None = None) -> Refreshed:
        """Takes in what changed (everything, with `rebuild`). `progress` is told (done, of) episodes. What was taken in
        before an interruption stays, and the next refresh goes on.

        QueryError when the file can't be written (CatalogueReadOnlyError when it may not be, and something changed);
        what was taken in before stays. In a store that may not be written an up-to-date catalogue is as good: there the
        size and the time of a log say that it is the same, because a copy of a store has other inodes.
        """
        with self, self._as_errors():
            try:
                with self._alone():
                    return self._bring_up_to_date(rebuild, progress or _untold)
            except _NotWritableError as e:
                if not rebuild and self.path.exists() and self._usable():
                    plan = self._plan(same=loosely_the_same)
                    if plan.empty:
                        return Refreshed(unchanged=plan.unchanged)
                raise CatalogueReadOnlyError(_out_of_date(self.path, e.cause)) from e.cause

    def _bring_up_to_date(self, rebuild: bool, progress: Callable[[int, int], None]) -> Refreshed:
        rebuilt = self._make_if_needed(rebuild)
        plan = self._plan()
        if not plan.empty:
            with self._writing() as con:
                self._carry_out(con, plan, progress)
        return Refreshed(
            added=tuple(e.id for e in plan.new),
            changed=tuple(e.id for e in plan.changed),
            removed=plan.gone,
            rescored=tuple(e.id for e in plan.rescored),
            unchanged=plan.unchanged,
            rebuilt=rebuilt,
        )

    def arrow(self, sql: str) -> pa.Table:
        """The whole answer to one SELECT, as `ask` gives it. QueryError as there."""
        return self._asked(sql, lambda con: con.sql(sql).to_arrow_table())

    def stream(self, sql: str, take: Callable[[pa.RecordBatchReader], Result]) -> Result:
        """What `take` makes of the answer to one SELECT, whose rows it reads as DuckDB works them out; it runs in a
        thread of its own. QueryError as of `ask`."""

        def work(con: duckdb.DuckDBPyConnection) -> Result:
            # closed here: as long as a reader is open, DuckDB keeps the database open as it was
            with con.sql(sql).to_arrow_reader(_ROWS_AT_ONCE) as reader:
                return take(_renamed(reader))

        return self._asked(sql, work)

    def ask(self, sql: str, *, max_rows: int = 10_000) -> Answer:
        """The answer to one SELECT, at most `max_rows` of it. QueryError for anything that is not one, or fails.

        The connection is read-only, sees no file and no extension, and can't be reconfigured.
        """
        columns, rows = self._asked(sql, partial(rows_and_columns, sql=sql, count=max_rows + 1))
        return Answer(
            columns=told_apart(columns), rows=tuple(tuple(r) for r in rows[:max_rows]), cut=len(rows) > max_rows
        )

    def _asked(self, sql: str, work: Callable[[duckdb.DuckDBPyConnection], Result]) -> Result:
        only_a_select(sql)
        with self._reading() as con:
            try:
                return interruptibly(con, partial(work, con))
            except duckdb.Error as e:
                way_out = " Make it anew with: iwreplay query --rebuild" if "Corrupt database" in str(e) else ""
                way_out += tables_like(str(e), (t.name for t in TABLES))
                raise QueryError(f"DuckDB refuses {one_line(sql)!r}: {one_line(str(e))}{way_out}") from e

    def _carry_out(self, con: duckdb.DuckDBPyConnection, plan: _Plan, progress: Callable[[int, int], None]) -> None:
        done = 0

        def told(found: Iterable[Gathered]) -> Iterator[Gathered]:
            nonlocal done
            for gathered in found:
                done += len(gathered.taken)
                progress(done, plan.reads)
                yield gathered

        with transaction(con):
            drop(con, plan.gone)
        roots = dict(con.execute("SELECT episode, root_hash FROM episodes").fetchall()) if plan.rescored else {}
        rescored = [(e, roots[e.id]) for e in plan.rescored]
        for group in in_groups(told(self._each(partial(gather_kept, scorers=self.scorers), _cut(rescored)))):
            with transaction(con):
                put_kept(con, group)
        changed = {e.id for e in plan.changed}
        read = self._each(partial(gather, scorers=self.scorers), _cut([*plan.changed, *plan.new]))
        for group in in_groups(told(read)):
            with transaction(con):
                put(con, group, instead=changed)
        with transaction(con):
            compare_tasks(con, self.tasks)
        with transaction(con):
            bring_annotations(con, self.store)

    def _plan(self, *, same: Callable[[str, str], bool] = operator.eq) -> _Plan:
        with self._reading() as con:
            taken = {e: (a, b) for e, a, b in con.execute("SELECT * FROM iw.taken").fetchall()}
            other_tasks = stamp_of(con) != self.tasks.stamp
            annotated = not same(annotated_stamp(con) or "", annotations_stamp(self.store))
        new, changed, rescored, unchanged = [], [], [], 0
        there = set()
        for episode in self.store.episodes():
            there.add(episode.id)
            known = taken.get(episode.id)
            if known is None:
                new.append(episode)
            elif not same(known[0], log_stamp(episode)):
                changed.append(episode)
            elif not same(known[1], score_stamp(episode, scorers=self.scorers)):
                rescored.append(episode)
            else:
                unchanged += 1
        return _Plan(
            new=tuple(new),
            changed=tuple(changed),
            rescored=tuple(rescored),
            gone=tuple(sorted(e for e in taken if e not in there)),
            unchanged=unchanged,
            other_tasks=other_tasks,
            annotated=annotated,
        )

    def _make_if_needed(self, rebuild: bool) -> bool:
        """True when an older or unreadable file was thrown away."""
        if self.path.exists() and not rebuild and self._usable():
            return False
        existed = self.path.exists()
        self._stop_reading()
        for path in (self.path, self.path.with_name(FILE_NAME + ".wal")):
            path.unlink(missing_ok=True)
        with self._writing() as con, transaction(con):
            con.execute(ddl())
            con.execute(_INTERNAL)
        return existed

    def _usable(self) -> bool:
        try:
            with self._reading() as con:
                found = con.execute("SELECT schema_version FROM iw.about").fetchall()
        except QueryError:
            raise
        except duckdb.Error:
            return False
        return found == [(SCHEMA_VERSION,)]

    @contextmanager
    def _as_errors(self) -> Iterator[None]:
        try:
            yield
        except (duckdb.Error, OSError) as e:
            error = QueryError(_out_of_date(self.path, e))
            if os.strerror(errno.ENOSPC) in str(e):
                error.exit_code = 3
            raise error from e

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refreshes of several processes go one after the other."""
        lock = filelock.FileLock(self.path.with_name(f".{FILE_NAME}.lock"))
        try:
            held = lock.acquire(timeout=_WAIT_S)
        except filelock.Timeout as e:
            raise QueryError(f"another process has been refreshing {self.path} for {_WAIT_S:.0f} s; try again") from e
        except OSError as e:
            if e.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise _NotWritableError(e) from e
            raise
        with held:
            yield

    @contextmanager
    def _writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        # DuckDB refuses to open a file for writing that this process reads
        self._stop_reading()
        con = self._connect(read_only=False)
        try:
            yield con
        finally:
            con.close()

    @contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self:
            if self._reader is None:
                self._reader = self._connect(read_only=True)
            yield self._reader

    def _stop_reading(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _connect(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        config: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": _MEMORY,
        }
        if read_only:
            config |= {"enable_external_access": "false"}
        give_up = time.monotonic() + _WAIT_S
        while True:
            try:
                con = duckdb.connect(str(self.path), read_only=read_only, config=config)
                # it would be drawn on stdout, in the middle of the answer
                con.execute("SET enable_progress_bar = false")
                if read_only:
                    con.execute("SET lock_configuration = true")
                return con
            except duckdb.IOException as e:
                if "lock" not in str(e):
                    raise
                if time.monotonic() > give_up:
                    raise QueryError(f"the catalogue {self.path} is in use by another process: {e}") from e
                time.sleep(0.05)


def _renamed(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """With names that are told apart."""
    names = told_apart(tuple(reader.schema.names))
    schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, (b.rename_columns(names) for b in reader))


def _out_of_date(path: Path, cause: Exception) -> str:
    return (
        f"the catalogue {path} can't be brought up to date: {one_line(str(cause))}. "
        "It holds nothing that the store does not: it can be deleted at any time"
    )


def _untold(done: int, of: int) -> None:
    """For who does not ask."""


def _cut(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[i : i + _EPISODES_A_TIME] for i in range(0, len(items), _EPISODES_A_TIME)]
