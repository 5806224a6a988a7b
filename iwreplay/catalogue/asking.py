"""What may be asked of the catalogue, and the form of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import duckdb

from iwreplay.errors import QueryError

__all__ = ["one_line", "only_a_select", "rows_and_columns", "tables_like", "told_apart"]


def only_a_select(sql: str) -> None:
    """QueryError for what is not one SELECT (or EXPLAIN)."""
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as e:
        raise QueryError(f"not SQL: {one_line(sql)!r}: {one_line(str(e))}") from e
    if len(statements) != 1:
        raise QueryError(f"give one SELECT, not {len(statements)} statements: {one_line(sql)!r}")
    kind = statements[0].type.name
    if kind not in ("SELECT", "EXPLAIN"):
        raise QueryError(
            f"{kind} is refused: the catalogue is read-only, it is made from the logs. Ask with a SELECT, "
            f"not {one_line(sql)!r}; for anything else copy the file catalogue.duckdb and open the copy in DuckDB"
        )


def rows_and_columns(
    con: duckdb.DuckDBPyConnection, sql: str, count: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Names of the columns and the first `count` rows of the answer."""
    cursor = con.execute(sql)
    return tuple(d[0] for d in cursor.description), cursor.fetchmany(count)


def told_apart(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The names, each once: `a`, `a_1`, as DuckDB names them in a subquery. A row object would lose the others."""
    given: list[str] = []
    for name in columns:
        n, unique = 0, name
        while unique in given or (n and unique in columns):
            n += 1
            unique = f"{name}_{n}"
        given.append(unique)
    return tuple(given)


def one_line(text: str) -> str:
    """Without line breaks, for a message."""
    return " ".join(text.split())


def tables_like(refusal: str, known: Iterable[str]) -> str:
    """Names the tables in whose names there is the one that DuckDB does not find (it goes by spelling only), or ""."""
    missing = re.search(r"Table with name (\w+) does not exist", refusal)
    fits = [name for name in known if missing is not None and missing[1].lower() in name.split("_")]
    return f" There is: {', '.join(fits)}." if fits else ""
