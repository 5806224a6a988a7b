"""Writing rows into the catalogue's tables, some hundred episodes at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from iwreplay.catalogue.gathering import Gathered, Taken
from iwreplay.catalogue.schema import ANNOTATED, KEPT, TABLES

__all__ = ["drop", "in_groups", "put", "put_kept", "transaction"]

#: rows taken in per transaction, about; an interrupted refresh keeps the transactions before
_ROWS_PER_COMMIT = 250_000
#: of episodes; annotations are about logs
_EVERY = tuple(t.name for t in TABLES if t.name not in ANNOTATED)
_TAKEN = "iw.taken"


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All of it or nothing."""
    con.execute("BEGIN")
    try:
        yield
    except BaseException:
        con.execute("ROLLBACK")
        raise
    con.execute("COMMIT")


def in_groups(found: Iterable[Gathered]) -> Iterator[list[Gathered]]:
    """What goes into one transaction each: as much as bounds memory, and no less, because each has its price."""
    group: list[Gathered] = []
    rows = 0
    for gathered in found:
        group.append(gathered)
        rows += gathered.rows
        if rows >= _ROWS_PER_COMMIT:
            yield group
            group, rows = [], 0
    if group:
        yield group


def put(con: duckdb.DuckDBPyConnection, group: Sequence[Gathered], *, instead: Collection[str]) -> None:
    """All rows of the episodes of a group. Those that are in `instead` have rows already, which are dropped."""
    taken = [t for gathered in group for t in gathered.taken]
    drop(con, [t.episode for t in taken if t.episode in instead])
    _put(con, group, tables=_EVERY)
    _insert(con, _TAKEN, _stamps(taken))


def put_kept(con: duckdb.DuckDBPyConnection, group: Sequence[Gathered]) -> None:
    """Rows of what is kept beside the logs of a group, in the place of those that are there."""
    taken = [t for gathered in group for t in gathered.taken]
    drop(con, [t.episode for t in taken], tables=KEPT)
    _put(con, group, tables=KEPT)
    con.register("incoming", _stamps(taken))
    con.execute(f"UPDATE {_TAKEN} SET score_stamp = i.score_stamp FROM incoming i WHERE i.episode = {_TAKEN}.episode")
    con.unregister("incoming")


def drop(con: duckdb.DuckDBPyConnection, episodes: Sequence[str], *, tables: Sequence[str] = (*_EVERY, _TAKEN)) -> None:
    """Takes the rows of episodes out of tables."""
    if not episodes:
        return
    con.register("leaving", pa.table({"episode": list(episodes)}))
    for table in tables:
        con.execute(f"DELETE FROM {table} WHERE episode IN (SELECT episode FROM leaving)")
    con.unregister("leaving")


def _put(con: duckdb.DuckDBPyConnection, group: Sequence[Gathered], *, tables: Sequence[str]) -> None:
    for name in tables:
        parts = [g.tables[name] for g in group if name in g.tables]
        if parts:
            _insert(con, name, pa.concat_tables(parts))


def _insert(con: duckdb.DuckDBPyConnection, table: str, rows: pa.Table) -> None:
    con.register("incoming", rows)
    con.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
    con.unregister("incoming")


def _stamps(taken: Sequence[Taken]) -> pa.Table:
    return pa.table({name: [getattr(t, name) for t in taken] for name in Taken.__struct_fields__})
