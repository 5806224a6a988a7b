"""The DuckDB file: brought up to date from the store's logs, asked read-only.

What is in it is keyed by each log's root hash. A log whose file (size, times of change) is as it was when it was
taken in is not read again; one that changed is taken in anew; one that is gone is dropped. A file of another schema
version, or one that DuckDB can't read, is made again from nothing: it holds nothing that the logs don't.
"""

from __future__ import annotations

import errno
import operator
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import duckdb
import filelock
import msgspec
import pyarrow as pa

from iwreplay.catalogue.asking import one_line, only_a_select, rows_and_columns, told_apart
from iwreplay.catalogue.interrupting import interruptibly
from iwreplay.catalogue.kept import kept_rows
from iwreplay.catalogue.project import LogFacts, Rows, project
from iwreplay.catalogue.schema import KEPT, SCHEMA_VERSION, TABLES, Table, ddl
from iwreplay.errors import CatalogueReadOnlyError, EventError, LogCorruptError, LogError, QueryError
from iwreplay.log import read_log
from iwreplay.store import Episode, ScoreBook, Store, kept_verdicts, verdicts_stamp

__all__ = ["Answer", "Catalogue", "Refreshed"]

Result = TypeVar("Result")

FILE_NAME = "catalogue.duckdb"
#: how long to wait for another process that is using the catalogue
_WAIT_S = 30.0
#: rows taken in per transaction, about; an interrupted refresh keeps the transactions before
_ROWS_PER_COMMIT = 50_000
_MEMORY = "1GB"

_ARROW: dict[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "JSON": pa.string(),
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "BIGINT[]": pa.list_(pa.int64()),
    "TIMESTAMP": pa.timestamp("us"),
}

#: tables that say what has been taken in; in a schema of their own, apart from the documented ones
_INTERNAL = f"""
CREATE SCHEMA iw;
CREATE TABLE iw.about AS SELECT {SCHEMA_VERSION} AS schema_version;
CREATE TABLE iw.taken (episode VARCHAR PRIMARY KEY, log_stamp VARCHAR, score_stamp VARCHAR);
"""


#: size and time of change of the content, then what differs between copies
_STAMP = re.compile(r"(\d+-\d+)-\d+(?:-\d+)?")

_TABLE = {t.name: t for t in TABLES}


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

    @property
    def empty(self) -> bool:
        return not (self.new or self.changed or self.rescored or self.gone)


class _NotWritableError(Exception):
    """The store may be read only."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Catalogue:
    """The catalogue of one store.

    `scorers` is the present hash of each scorer by name: only scores made by them are shown. In a `with` block what is
    read is read through one connection, which takes longer to open than most questions take.
    """

    def __init__(self, store: Store, *, scorers: Mapping[str, str], folder: Path | None = None) -> None:
        """`folder`: where the file is, if not in the store."""
        self.store = store
        self.path = (folder or store.root) / FILE_NAME
        self.scorers = dict(sorted(scorers.items()))
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
        """Takes in what changed (everything, with `rebuild`). `progress` is told (done, of) episodes.

        QueryError when the file can't be written (CatalogueReadOnlyError when it may not be, and something changed);
        what was taken in before stays. In a store that may not be written
        an up-to-date catalogue is as good: there the size and the time of a log say that it is the same, because a
        copy of a store has other inodes.
        """
        with self, self._as_errors():
            try:
                with self._alone():
                    return self._bring_up_to_date(rebuild, progress)
            except _NotWritableError as e:
                if not rebuild and self.path.exists() and self._usable():
                    plan = self._plan(same=_loosely_the_same)
                    if plan.empty:
                        return Refreshed(unchanged=plan.unchanged)
                raise CatalogueReadOnlyError(_out_of_date(self.path, e.cause)) from e.cause

    def _bring_up_to_date(self, rebuild: bool, progress: Callable[[int, int], None] | None) -> Refreshed:
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
                raise QueryError(f"DuckDB refuses {one_line(sql)!r}: {one_line(str(e))}{way_out}") from e

    def _carry_out(
        self, con: duckdb.DuckDBPyConnection, plan: _Plan, progress: Callable[[int, int], None] | None
    ) -> None:
        todo = [*plan.changed, *plan.new]
        with _transaction(con):
            for episode_id in plan.gone:
                _drop(con, episode_id)
            for episode in plan.rescored:
                for name in KEPT:
                    con.execute(f"DELETE FROM {name} WHERE episode = ?", [episode.id])
                self._take_kept(con, episode)
        done = 0
        while done < len(todo):
            with _transaction(con):
                size = 0
                pending: Rows = {}
                while done < len(todo) and size < _ROWS_PER_COMMIT:
                    episode = todo[done]
                    stamp = _log_stamp(episode)  # before reading: a log that grows meanwhile is read again
                    rows = _rows_of(episode)
                    _drop(con, episode.id)
                    for name, new in rows.items():
                        pending.setdefault(name, []).extend(new)
                        size += len(new)
                    con.execute("INSERT INTO iw.taken VALUES (?, ?, NULL)", [episode.id, stamp])
                    done += 1
                    if progress is not None:
                        progress(done, len(todo))
                for table in TABLES:
                    _insert(con, table, pending.get(table.name, []))
                for row in pending.get("episodes", []):
                    self._take_kept(con, self.store.find(row["episode"]))

    def _take_kept(self, con: duckdb.DuckDBPyConnection, episode: Episode) -> None:
        stamp = self._score_stamp(episode)
        found = con.execute("SELECT root_hash FROM episodes WHERE episode = ?", [episode.id]).fetchall()
        root_hash = found[0][0] if found else None
        kept = () if root_hash is None else ScoreBook.load(episode).entries
        valid = [
            s for s in kept if s.key.root_hash == root_hash and self.scorers.get(s.key.scorer) == s.key.scorer_hash
        ]
        rows = kept_rows(episode.id, root_hash=root_hash, scores=valid, verdicts=kept_verdicts(episode))
        for name in KEPT:
            _insert(con, _TABLE[name], rows[name])
        con.execute("UPDATE iw.taken SET score_stamp = ? WHERE episode = ?", [stamp, episode.id])

    def _plan(self, *, same: Callable[[str, str], bool] = operator.eq) -> _Plan:
        with self._reading() as con:
            taken = {e: (a, b) for e, a, b in con.execute("SELECT * FROM iw.taken").fetchall()}
        new, changed, rescored, unchanged = [], [], [], 0
        there = set()
        for episode in self.store.episodes():
            there.add(episode.id)
            known = taken.get(episode.id)
            if known is None:
                new.append(episode)
            elif not same(known[0], _log_stamp(episode)):
                changed.append(episode)
            elif not same(known[1], self._score_stamp(episode)):
                rescored.append(episode)
            else:
                unchanged += 1
        gone = tuple(sorted(e for e in taken if e not in there))
        return _Plan(new=tuple(new), changed=tuple(changed), rescored=tuple(rescored), gone=gone, unchanged=unchanged)

    def _score_stamp(self, episode: Episode) -> str:
        kept = _file_stamp(episode.scores) if episode.scores is not None else ""
        return f"{kept}|{_json(self.scorers)}|{verdicts_stamp(episode)}"

    def _make_if_needed(self, rebuild: bool) -> bool:
        """True when an older or unreadable file was thrown away."""
        if self.path.exists() and not rebuild and self._usable():
            return False
        existed = self.path.exists()
        self._stop_reading()
        for path in (self.path, self.path.with_name(FILE_NAME + ".wal")):
            path.unlink(missing_ok=True)
        with self._writing() as con, _transaction(con):
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


def _out_of_date(path: Path, cause: Exception) -> str:
    return (
        f"the catalogue {path} can't be brought up to date: {one_line(str(cause))}. "
        "It holds nothing that the logs don't: it can be deleted at any time"
    )


def _rows_of(episode: Episode) -> Rows:
    """Rows of one episode, of whatever is intact of it."""
    if not episode.begun:
        return _nothing_of(episode, "open", "no event was committed")
    try:
        with read_log(episode.log, strict=False) as log:

            def facts() -> LogFacts:
                problem = log.problem
                return LogFacts(
                    state=log.state,
                    problem=None if problem is None else f"{problem.what}; {problem.lost}",
                    root_hash=log.root_hash,
                    lossless=log.recovered is None or log.recovered.lossless,
                )

            return project(episode.id, log, facts)
    except (EventError, LogCorruptError) as e:
        return _nothing_of(episode, "corrupt", str(e))
    except LogError as e:
        return _nothing_of(episode, "unreadable", str(e))


def _nothing_of(episode: Episode, state: str, problem: str) -> Rows:
    return project(episode.id, (), lambda: LogFacts(state=state, problem=problem, root_hash=None))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _insert(con: duckdb.DuckDBPyConnection, table: Table, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    columns = {c.name: pa.array([r.get(c.name) for r in rows], type=_ARROW[c.sql]) for c in table.columns}
    con.register("incoming", pa.table(columns))
    con.execute(f"INSERT INTO {table.name} BY NAME SELECT * FROM incoming")
    con.unregister("incoming")


def _drop(con: duckdb.DuckDBPyConnection, episode_id: str) -> None:
    for table in TABLES:
        con.execute(f"DELETE FROM {table.name} WHERE episode = ?", [episode_id])
    con.execute("DELETE FROM iw.taken WHERE episode = ?", [episode_id])


@contextmanager
def _transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    con.execute("BEGIN")
    try:
        yield
    except BaseException:
        con.execute("ROLLBACK")
        raise
    con.execute("COMMIT")


def _log_stamp(episode: Episode) -> str:
    return _file_stamp(episode.log)


def _loosely_the_same(a: str, b: str) -> bool:
    return _STAMP.sub(r"\1", a) == _STAMP.sub(r"\1", b)


def _file_stamp(path: Path) -> str:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return "none"
    except PermissionError:
        return "closed to us"
    # ctime: of permissions too, as what could not be read may be readable now
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"
