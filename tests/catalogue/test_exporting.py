"""An answer as a file: read back by others it is the answer, and the file is whole or not there."""

from __future__ import annotations

import datetime
import errno
import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from iwreplay.catalogue import Catalogue
from iwreplay.catalogue.exporting import SUFFIXES, export
from iwreplay.errors import QueryError
from iwreplay.store import Store
from tests.catalogue.conftest import write_episode

ROWS = 25_000
#: every kind of value that the tables have, and some that questions make
VALUES = """
SELECT i AS n, CAST(i AS HUGEINT) AS big, i / 4 AS real, i % 2 = 0 AS even,
       CASE WHEN i % 3 = 0 THEN NULL WHEN i % 3 = 1 THEN '' ELSE 'a "b", c' || chr(10) || 'd; ' || i END AS text,
       CASE WHEN i % 5 = 0 THEN NULL ELSE [i, NULL, i + 1] END AS list,
       {'a': i, 'b': ['x', 'y,z']} AS struct,
       '{"k": [1, "two"]}'::JSON AS json,
       TIMESTAMP '2026-01-02 03:04:05.678901' AS wall,
       1.50::DECIMAL(5, 2) AS dec
FROM range(ROWS) t(i) ORDER BY i
"""


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    store = Store.open_or_make(tmp_path_factory.mktemp("export") / "store", made_by="test")
    write_episode(store)
    found = Catalogue(store, scorers={})
    found.refresh()
    return found


def _values(rows: int) -> str:
    return VALUES.replace("ROWS", str(rows))


def _expected(rows: int) -> list[dict[str, Any]]:
    def text(i: int) -> str | None:
        return (None, "", f'a "b", c\nd; {i}')[i % 3]

    return [
        {
            "n": i,
            "big": i,
            "real": i / 4,
            "even": i % 2 == 0,
            "text": text(i),
            "list": None if i % 5 == 0 else [i, None, i + 1],
            "struct": {"a": i, "b": ["x", "y,z"]},
            "json": '{"k": [1, "two"]}',
            "wall": datetime.datetime.fromisoformat("2026-01-02T03:04:05.678901"),
            "dec": 1.5,
        }
        for i in range(rows)
    ]


def _as_text(row: dict[str, Any]) -> dict[str, Any]:
    """As CSV has it: lists and structs are JSON."""
    nested = {k: None if row[k] is None else json.dumps(row[k], separators=(",", ":")) for k in ("list", "struct")}
    return row | nested


def test_arrow_and_parquet_by_pyarrow(catalogue: Catalogue, tmp_path: Path) -> None:
    """More rows than are ever printed, in their order; lists and structs are what they are."""
    told: list[int] = []
    done = export(catalogue, _values(ROWS), tmp_path / "a.arrow", progress=told.append)
    assert (done.rows, done.columns) == (ROWS, tuple(_expected(1)[0]))
    assert told[-1] == ROWS
    with pa.OSFile(str(tmp_path / "a.arrow")) as file:
        assert pa.ipc.open_file(file).read_all().to_pylist() == _expected(ROWS)
    export(catalogue, _values(ROWS), tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == _expected(ROWS)


def test_parquet_csv_and_json_lines_by_duckdb(catalogue: Catalogue, tmp_path: Path) -> None:
    for suffix in (".parquet", ".csv", ".jsonl"):
        export(catalogue, _values(60), tmp_path / f"a{suffix}")
    with duckdb.connect() as con:

        def read(sql: str) -> list[dict[str, Any]]:
            return [dict(r) for r in con.sql(sql).to_arrow_table().to_pylist()]

        assert read(f"SELECT * FROM '{tmp_path}/a.parquet'") == _expected(60)
        csv = f"read_csv('{tmp_path}/a.csv', allow_quoted_nulls = false)"
        assert read(f"SELECT * FROM {csv}") == [_as_text(r) for r in _expected(60)]
        values = "* REPLACE (json::VARCHAR AS json, wall::TIMESTAMP AS wall)"
        lines = read(f"SELECT {values} FROM read_json('{tmp_path}/a.jsonl')")
        assert lines == _expected(60)


def test_csv_by_pyarrow(catalogue: Catalogue, tmp_path: Path) -> None:
    """Line breaks, quotes and separators in texts; null is not the empty text."""
    export(catalogue, _values(60), tmp_path / "a.csv")
    options = pacsv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    found = pacsv.read_csv(
        tmp_path / "a.csv", parse_options=pacsv.ParseOptions(newlines_in_values=True), convert_options=options
    ).to_pylist()
    wanted = [_as_text(r) for r in _expected(60)]
    assert [{k: r[k] for k in ("n", "real", "even", "text", "list", "struct")} for r in found] == [
        {k: r[k] for k in ("n", "real", "even", "text", "list", "struct")} for r in wanted
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_table_can_be_written(catalogue: Catalogue, tmp_path: Path, suffix: str) -> None:
    tables = catalogue.ask("SELECT DISTINCT table_name FROM information_schema.tables WHERE table_schema = 'main'").rows
    assert len(tables) > 15
    for (table,) in tables:
        done = export(catalogue, f"SELECT * FROM {table}", tmp_path / f"{table}{suffix}")
        assert ((done.rows,),) == catalogue.ask(f"SELECT count(*) FROM {table}").rows


def test_columns_of_one_name_are_told_apart(catalogue: Catalogue, tmp_path: Path) -> None:
    export(catalogue, "SELECT 1 AS a, 2 AS a, 3 AS a_1", tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [{"a": 1, "a_2": 2, "a_1": 3}]


def test_a_file_that_is_there_stays(catalogue: Catalogue, tmp_path: Path) -> None:
    target = tmp_path / "a.CSV"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(QueryError, match=r"a\.CSV is there already; with --replace it is replaced"):
        export(catalogue, "SELECT 1", target)
    assert target.read_text(encoding="utf-8") == "mine"
    export(catalogue, "SELECT 1 AS one", target, replace=True)
    assert target.read_text(encoding="utf-8") == '"one"\n1\n'
    assert os.listdir(tmp_path) == ["a.CSV"]


def test_one_that_appears_meanwhile_stays_too(catalogue: Catalogue, tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    with pytest.raises(QueryError, match="made by somebody else meanwhile"):
        export(catalogue, "SELECT 1", target, progress=lambda rows: target.write_text("mine") and None)
    assert target.read_text(encoding="utf-8") == "mine"
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(
    ("sql", "name", "said"),
    [
        ("SELECT 1", "a.xlsx", r"must end in \.arrow, \.parquet, \.csv or \.jsonl"),
        ("SELECT 1", "a", r"must end in \.arrow"),
        ("SELECT 1", "nowhere/a.csv", "there is no folder .*nowhere"),
        ("SELECT nope FROM episodes", "a.csv", "DuckDB refuses"),
        ("DELETE FROM episodes", "a.csv", "DELETE is refused"),
        ("SELECT CAST(CASE WHEN i > 60000 THEN 'x' ELSE '1' END AS INT) FROM range(90000) t(i)", "a.arrow", "'x'"),
        ("SELECT INTERVAL 1 DAY AS span", "a.parquet", "a.parquet can't be written: .*interval"),
    ],
)
def test_what_fails_leaves_nothing(catalogue: Catalogue, tmp_path: Path, sql: str, name: str, said: str) -> None:
    with pytest.raises(QueryError, match=said) as e:
        export(catalogue, sql, tmp_path / name)
    assert e.value.exit_code == 2
    assert os.listdir(tmp_path) == []


def test_what_is_stopped_leaves_nothing(catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("old", encoding="utf-8")

    def pressed(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(catalogue, "SELECT * FROM range(1000000)", tmp_path / "a.csv", replace=True, progress=pressed)
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_a_full_disk_is_code_3(catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(QueryError, match=r"a\.csv can't be written: No space left on device") as e:
        export(catalogue, "SELECT 1", tmp_path / "a.csv")
    assert e.value.exit_code == 3
    assert os.listdir(tmp_path) == []
