"""TOML into validated structs, with errors that name the file, the key path and the value."""

from __future__ import annotations

import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from iwreplay.errors import IwreplayError

__all__ = ["Source", "converted", "parsed", "shown"]

Source = Path | Traversable
_T = TypeVar("_T")
_PATH = re.compile(r" - at `(key in )?\$(.*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def shown(value: object, *, limit: int = 80) -> str:
    """A value in an error message, cut to `limit` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def parsed(source: Source, *, error: type[IwreplayError]) -> dict[str, Any]:
    """The file's tables. `error` when it can't be read or is not TOML."""
    try:
        raw = source.read_bytes()
    except OSError as problem:
        raise error(f"{source}: cannot be read: {problem.strerror or problem}") from problem
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as problem:
        raise error(f"{source}: not UTF-8 text at byte {problem.start}") from problem
    except tomllib.TOMLDecodeError as problem:
        raise error(f"{source}: not TOML: {problem}") from problem
    except RecursionError as problem:
        raise error(f"{source}: not TOML: brackets are nested too deep") from problem


def converted(data: Any, kind: type[_T], *, where: str, error: type[IwreplayError]) -> _T:
    """`data` as a `kind`. `error` says "where: key.path: what is wrong: value"."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as problem:
        text = str(problem)
        found = _PATH.search(text)
        path = found.group(2) if found else ""
        reason = text[: found.start()] if found else text
        value = _value_at(data, path)
        tail = "" if reason.startswith("Object") else f", found {shown(value)}"
        raise error(f"{where}: {path.lstrip('.') or 'top level'}: {reason}{tail}") from problem


def _value_at(data: Any, path: str) -> Any:
    """Follows msgspec's path as far as it can be followed (it writes [...] for any item of a mapping)."""
    for key, index in _STEP.findall(path):
        if key and isinstance(data, dict) and key in data:
            data = data[key]
        elif index.isdigit() and isinstance(data, list) and int(index) < len(data):
            data = data[int(index)]
        else:
            return data
    return data
