"""Named questions: SQL kept as data in questions.toml."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import msgspec

from iwreplay.errors import UnknownNameError

__all__ = ["Question", "question", "questions"]


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question that is asked often."""

    name: str
    #: one line
    title: str
    sql: str


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    question: tuple[Question, ...]


def questions() -> tuple[Question, ...]:
    """All named questions, in the file's order."""
    text = files("iwreplay.catalogue").joinpath("questions.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), type=_File).question


def question(name: str) -> Question:
    """The question of that name; UnknownNameError lists them."""
    known = {q.name: q for q in questions()}
    try:
        return known[name]
    except KeyError:
        raise UnknownNameError("question", name, known=tuple(known)) from None
