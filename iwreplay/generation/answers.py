"""Reading what a model answered: tolerant of what is around an answer, strict about the answer."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from iwreplay.errors import IwreplayError

__all__ = ["MalformedAnswerError", "read_pack_text", "read_struct"]

T = TypeVar("T")

#: a fenced block and the language that it claims
_FENCED = re.compile(r"^```[ \t]*([A-Za-z]*)[ \t]*\n(.*?)^```", re.M | re.S)
_LONGEST = 200_000
_SHOWN = 80


class MalformedAnswerError(IwreplayError):
    """An answer that is not what was asked for; the message says why, for the model to read."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def read_struct(text: str, kind: type[T]) -> T:
    """The one JSON object of an answer, alone or in a fenced block or between words. MalformedAnswerError otherwise."""
    body = _block(text, "json")
    if not body.startswith("{"):
        first, last = body.find("{"), body.rfind("}")
        if first < 0 or last < first:
            raise MalformedAnswerError(f"there is no JSON object in the answer, which begins {_begin(text)}")
        body = body[first : last + 1]
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeError) as e:
        raise MalformedAnswerError(f"the JSON object can't be used: {e}") from None


def read_pack_text(text: str) -> str:
    """The task file of an answer: what is in its one fenced block, or all of it. MalformedAnswerError otherwise."""
    body = _block(text, "toml")
    if "[[objectives]]" not in body:
        raise MalformedAnswerError(f"the answer is not a whole task file; it begins {_begin(text)}")
    return body + "\n"


def _block(text: str, language: str) -> str:
    if not text.strip():
        raise MalformedAnswerError("the answer is empty")
    if len(text) > _LONGEST:
        raise MalformedAnswerError(f"the answer has {len(text)} characters, at most {_LONGEST} are read")
    blocks = _FENCED.findall(text)
    fitting = [b for name, b in blocks if name.lower() in (language, "")] or [b for _, b in blocks]
    if len(fitting) > 1:
        raise MalformedAnswerError(f"there are {len(fitting)} fenced blocks in the answer, there must be one")
    if not fitting and text.lstrip().startswith("```"):
        raise MalformedAnswerError("the fenced block is not closed: the answer was cut off")
    return (fitting[0] if fitting else text).strip()


def _begin(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + " ...")
