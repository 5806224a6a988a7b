"""Reads an Assistant's lines from a file: plain text, TOML or JSON.

Plain text, one decision a line:

    Walk to the sink.          an interrupt with these words
    silent                     a silent turn
    done                       the end; "done: Well done." says a last sentence
    # a comment, and empty lines, are skipped

TOML: `[[decision]]` tables with `decision`, `text`, `memory`. JSON: a list of such objects, or of strings as above.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from iwreplay.errors import ParticipantError
from iwreplay.loop.answers import AnswerError, checked_assistant_act
from iwreplay.ports import AssistantAct

__all__ = ["LinesError", "load_lines", "parse_lines"]

_FIELDS = ("decision", "text", "memory")


class LinesError(ParticipantError):
    """A file of decisions that can't be used; names the place, the value and what is expected."""

    def __init__(self, message: str, *, name: str, place: str, value: object) -> None:
        self.name, self.place, self.value = name, place, value
        super().__init__(f"{name}, {place}: {message}; got {value!r}"[:500])


def load_lines(path: Path | str) -> tuple[AssistantAct, ...]:
    """Decisions from a .toml, .json or text file. Raises LinesError."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LinesError(
            f"can't be read ({error.strerror}); name a file of decisions", name=path.name, place="file", value=str(path)
        ) from error
    except UnicodeDecodeError as error:
        raise LinesError(f"is no UTF-8 text ({error})", name=path.name, place="file", value=str(path)) from error
    return parse_lines(text, form=path.suffix.removeprefix(".").lower(), name=path.name)


def parse_lines(text: str, *, form: str = "txt", name: str = "lines") -> tuple[AssistantAct, ...]:
    """Decisions from the text of a file of the form "toml", "json" or anything else for plain text."""
    if form == "toml":
        acts = _from_toml(text, name)
    elif form == "json":
        acts = _from_json(text, name)
    else:
        if text.lstrip().startswith(("[", "{")):
            raise LinesError(
                "looks like TOML or JSON; name the file .toml or .json, or write one sentence a line",
                name=name,
                place="line 1",
                value=text.lstrip().splitlines()[0][:80],
            )
        acts = [
            (f"line {number}", _from_words(line.strip(), name, f"line {number}"))
            for number, line in enumerate(text.splitlines(), start=1)
            if line.strip() and not line.lstrip().startswith("#")
        ]
    if not acts:
        raise LinesError("there is no decision in it; write one a line", name=name, place="file", value=text[:40])
    for place, act in acts[:-1]:
        if act.decision == "done":
            raise LinesError("nothing can follow `done`, it ends the episode", name=name, place=place, value="done")
    return tuple(act for _, act in acts)


def _from_words(line: str, name: str, place: str) -> AssistantAct:
    lowered = line.lower()
    if lowered == "silent":
        return AssistantAct(decision="silent")
    if lowered == "done" or lowered.startswith("done:"):
        return AssistantAct(decision="done", text=line[5:].strip() or None)
    return _checked(AssistantAct(decision="interrupt", text=line), name, place)


def _checked(act: AssistantAct, name: str, place: str) -> AssistantAct:
    try:
        return checked_assistant_act(act)
    except AnswerError as fault:
        raise LinesError(fault.detail, name=name, place=place, value=act.decision) from fault


def _from_toml(text: str, name: str) -> list[tuple[str, AssistantAct]]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LinesError(f"is no TOML: {error}", name=name, place="file", value=text[:40]) from error
    except RecursionError as error:
        raise LinesError("is nested too deep", name=name, place="file", value=text[:40]) from error
    extra = sorted(set(data) - {"decision"})
    if extra:
        raise LinesError("only [[decision]] tables are known", name=name, place=f"key {extra[0]}", value=data[extra[0]])
    return _from_list(data.get("decision", []), name)


def _from_json(text: str, name: str) -> list[tuple[str, AssistantAct]]:
    try:
        data = json.loads(text)
    except ValueError as error:
        # also a number of more digits than Python reads
        raise LinesError(f"is no JSON: {error}", name=name, place="file", value=text[:40]) from error
    except RecursionError as error:
        raise LinesError("is nested too deep", name=name, place="file", value=text[:40]) from error
    return _from_list(data, name)


def _from_list(items: Any, name: str) -> list[tuple[str, AssistantAct]]:
    if not isinstance(items, list):
        raise LinesError("a list of decisions is expected", name=name, place="file", value=items)
    return [(f"decision {i}", _from_item(item, name, f"decision {i}")) for i, item in enumerate(items, start=1)]


def _from_item(item: Any, name: str, place: str) -> AssistantAct:
    if isinstance(item, str):
        return _from_words(item.strip(), name, place)
    if not isinstance(item, dict):
        raise LinesError("a decision is a table or a string", name=name, place=place, value=item)
    for key, value in item.items():
        if key not in _FIELDS:
            raise LinesError(f"unknown key {key!r}; known: {', '.join(_FIELDS)}", name=name, place=place, value=value)
        if not isinstance(value, str):
            raise LinesError(f"{key} must be text", name=name, place=place, value=value)
    if "decision" not in item:
        raise LinesError("`decision` is missing: silent, interrupt or done", name=name, place=place, value=item)
    return _checked(AssistantAct(**item), name, place)
