"""The JSON object in what a model said: tolerant of what is around it, strict about which it is. Pure."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["MalformedError", "find_object", "optional_text"]

_LONGEST = 200_000
_SHOWN = 80


def _paired(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object with its keys in small letters; ValueError for one that says two things under one key."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key.strip().lower(), value) != value:
            raise ValueError(f"{key!r} is said twice")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_paired)


class MalformedError(Exception):
    """An answer that is not what was asked for; the message says why, for the model to read."""


def find_object(text: str, *, having: str) -> dict[str, Any]:
    """The object that has the key `having`: the whole text, or in a fenced block, or among words. The same one said
    twice is one. MalformedError when there is none, or there are several that differ: none of them is guessed at."""
    if not text.strip():
        raise MalformedError("the answer is empty")
    if len(text) > _LONGEST:
        raise MalformedError(f"the answer has {len(text)} characters, at most {_LONGEST} are read")
    found = [o for o in _objects(text) if having in o]
    if not found:
        raise MalformedError(f"there is no JSON object with {having!r} in the answer, which begins {_begin(text)}")
    if any(o != found[0] for o in found):
        raise MalformedError(f"there are {len(found)} different JSON objects with {having!r}; give one")
    return found[0]


def optional_text(value: object, where: str) -> str | None:
    """A text, or None for null and for nothing but blanks. MalformedError for any other value."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise MalformedError(f"{where} is a text or null, not {json.dumps(value)[:_SHOWN]}")
    return value.strip() or None


def _objects(text: str) -> list[dict[str, Any]]:
    """Every outermost JSON object in a text."""
    found: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    return found


def _begin(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + " ...")
