"""The catalogue: compact tables over all episodes of a store, for questions in SQL. Derived, and disposable."""

from __future__ import annotations

from iwreplay.catalogue.database import Answer, Catalogue, Refreshed
from iwreplay.catalogue.questions import Question, question, questions
from iwreplay.catalogue.schema import TABLES
from iwreplay.catalogue.taskbook import KnownTasks, PresentTask, ReleasedTask, TaskBook

__all__ = [
    "Answer",
    "Catalogue",
    "KnownTasks",
    "PresentTask",
    "Question",
    "Refreshed",
    "ReleasedTask",
    "TaskBook",
    "question",
    "questions",
    "table_names",
]


def table_names() -> tuple[str, ...]:
    """Names of the tables that can be asked."""
    return tuple(t.name for t in TABLES)
