"""The documented tables are the real ones."""

from __future__ import annotations

from pathlib import Path

from iwreplay.catalogue import Catalogue, questions
from iwreplay.catalogue.project import LogFacts, project
from iwreplay.catalogue.schema import TABLES, markdown
from iwreplay.store import Store

ROOT = Path(__file__).resolve().parents[2]


def test_the_document_is_the_schema() -> None:
    assert (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8") == markdown(), "run: make docs"


def test_the_database_is_the_schema(store: Store) -> None:
    catalogue = Catalogue(store, scorers={})
    catalogue.refresh()
    answer = catalogue.ask(
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "WHERE table_schema = 'main' ORDER BY table_name, ordinal_position"
    )
    wanted = [(t.name, c.name, c.sql) for t in sorted(TABLES, key=lambda t: t.name) for c in t.columns]
    assert list(answer.rows) == wanted


def test_names_are_not_repeated() -> None:
    assert len({t.name for t in TABLES}) == len(TABLES)
    for table in TABLES:
        assert len({c.name for c in table.columns}) == len(table.columns)
    assert len({q.name for q in questions()}) == len(questions())


def test_every_projected_column_exists() -> None:
    from benchmarks.synthetic import episode

    rows = project("e", enumerate(episode(400)), lambda: LogFacts(state="sealed", problem=None, root_hash="x"))
    for table in TABLES:
        columns = {c.name for c in table.columns}
        for row in rows.get(table.name, []):
            assert set(row) <= columns, table.name


def test_every_question_can_be_asked_of_an_empty_store(store: Store) -> None:
    catalogue = Catalogue(store, scorers={})
    catalogue.refresh()
    for question in questions():
        assert catalogue.ask(question.sql).rows == (), question.name
