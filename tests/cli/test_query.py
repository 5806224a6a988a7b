"""`query`."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import duckdb
import pytest

from iwreplay.store import Store
from tests.catalogue.conftest import write_episode
from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("store")


def test_rows_as_json(run: Run, store: Store) -> None:
    done = run("query", "SELECT episode, valid, events FROM episodes ORDER BY 1", "--json", "--store", store.root)
    assert done.code == 0, done.err
    rows = done.json()
    assert [r["episode"] for r in rows] == [e.id for e in store.episodes()]
    assert [r["valid"] for r in rows] == [True, None, False]
    assert list(rows[0]) == ["episode", "valid", "events"]


def test_a_new_episode_is_seen_at_once(run: Run, store: Store) -> None:
    ask = ("query", "SELECT count(*) AS n FROM episodes", "--json", "--store", store.root)
    assert run(*ask).json() == [{"n": 3}]
    write_episode(store, seed=5)
    assert run(*ask).json() == [{"n": 4}]


def test_values_that_json_has_not(run: Run, store: Store) -> None:
    sql = (
        "SELECT 'nan'::DOUBLE AS nan, 1.50::DECIMAL(5,2) AS dec, DATE '2026-01-02' AS day, "
        "12345678901234567890::HUGEINT AS big, [1, NULL] AS list, {'a': true} AS struct, 'x'::BLOB AS blob, "
        "INTERVAL 90 SECOND AS span, NULL AS none"
    )
    (row,) = run("query", sql, "--json", "--store", store.root).json()
    assert row == {
        "nan": None,
        "dec": 1.5,
        "day": "2026-01-02",
        "big": 12345678901234567890,
        "list": [1, None],
        "struct": {"a": True},
        "blob": "eA==",
        "span": "PT90S",
        "none": None,
    }


def test_columns_of_one_name_are_told_apart(run: Run, store: Store) -> None:
    done = run("query", "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS b", "--json", "--store", store.root)
    assert done.json() == [{"a": 1, "a_2": 2, "a_1": 3, "b": 4}]


def test_text_table(run: Run, store: Store) -> None:
    done = run("query", "SELECT 1 AS one, 'a' AS word UNION ALL SELECT 20, NULL ORDER BY 1", "--store", store.root)
    assert done.out.splitlines() == ["one  word", "---  ----", "  1  a", " 20  -"]


def test_named_questions(run: Run, store: Store) -> None:
    listing = run("query", "--list").out
    names = [q["name"] for q in run("query", "--list", "--json").json()]
    for name in names:
        assert f"{name}: " in listing
        assert run("query", "--named", name, "--json", "--store", store.root).code == 0
    assert {"pass", "refusals", "effort"} <= set(names)
    # a line each; SQL where one is asked for
    assert len(listing.splitlines()) == len(names)
    one = run("query", "--list", "--named", "pass").out
    assert one.startswith("pass: ")
    assert "    SELECT" in one
    assert "refusals: " not in one


def test_a_full_disk_is_code_3(run: Run, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> NoReturn:
        raise duckdb.IOException('Could not write file "catalogue.duckdb.wal": No space left on device')

    monkeypatch.setattr("iwreplay.catalogue.filling._insert", refuse)
    done = run("query", "SELECT 1", "--store", store.root)
    assert (done.code, done.out) == (3, "")
    assert "can't be brought up to date" in done.err
    monkeypatch.undo()
    assert run("query", "SELECT count(*) AS n FROM episodes", "--json", "--store", store.root).json() == [{"n": 3}]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("SELEC 1",), "syntax error"),
        (("DROP TABLE episodes",), "DROP is refused: the catalogue is read-only"),
        (("COPY episodes TO 'x.csv'",), "COPY is refused"),
        (("SELECT * FROM read_text('/etc/hostname')",), "disabled by configuration"),
        (("SELECT nope FROM episodes",), "nope"),
        (("SELECT * FROM calls",), "There is: model_calls."),
        ((), "give either SQL or --named NAME"),
        (("SELECT 1", "--named", "pass"), "give either SQL or --named NAME"),
        (("--named", "nope"), "unknown question 'nope'. Known: pass"),
    ],
)
def test_wrong_questions(run: Run, store: Store, args: tuple[str, ...], said: str) -> None:
    done = run("query", *args, "--store", store.root)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_rows_are_bounded_and_it_says_so(run: Run, store: Store) -> None:
    done = run("query", "SELECT * FROM range(50)", "--max-rows", 5, "--json", "--store", store.root)
    assert len(done.json()) == 5
    assert "only the first 5 rows" in done.err


def test_not_a_store(run: Run, store: Store) -> None:
    done = run("query", "SELECT 1", "--store", store.root / "episodes")
    assert (done.code, "is not an episode store" in done.err) == (2, True)
    assert not (store.root / "episodes" / "catalogue.duckdb").exists()


def test_a_file_gets_every_row(run: Run, store: Store, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    ask = ("query", "SELECT range AS n FROM range(12000)", "--out", target, "--store", store.root)
    done = run(*ask)
    assert (done.code, done.out) == (0, "")
    assert f"12000 rows of 1 column written to {target}" in done.err
    assert len(target.read_text(encoding="utf-8").splitlines()) == 12_001
    again = run(*ask)
    assert again.code == 2
    assert "is there already" in again.err
    done = run(*ask, "--replace", "--json")
    assert done.json() == {"file": str(target), "rows": 12_000, "columns": ["n"]}


def test_a_file_that_can_t_be_written_is_told_before_any_log_is_read(run: Run, store: Store, tmp_path: Path) -> None:
    done = run("query", "--named", "pass", "--out", tmp_path / "rows.txt", "--store", store.root)
    assert done.code == 2
    assert "must end in .arrow, .parquet, .csv or .jsonl" in done.err
    assert not (store.root / "catalogue.duckdb").exists()
