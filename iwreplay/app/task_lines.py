"""In which line of a task file something is: an error message names keys, an author looks for lines."""

from __future__ import annotations

import re

__all__ = ["header_of", "line_of", "line_of_check", "line_of_command", "line_of_id"]

_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_HEADER = re.compile(r"\s*\[\[?\s*([\w.]+)\s*\]\]?")
_FIELD = re.compile(r"Object (?:contains unknown|missing required) field `(\w+)`")
#: "things[3].attrs.open", "script call: when.after"; what follows it is the reason
_KEYS = re.compile(r"([a-z_]\w*)(?:\[(\d+)\]| ([a-z]\w*):)?(.*)", re.DOTALL)
#: "scene S: thing_id: ..." after the keys, or "scene S: ... thing_id ..."
_THING = re.compile(r"scene \w+: (.*)", re.DOTALL)
_TWICE = re.compile(r"is there twice, found '(\w+)'")


def header_of(text: str) -> str:
    """What the comment at the top of the file says, in one line; "" when there is none."""
    said = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        said.append(line.lstrip("# ").strip())
    return " ".join(said).strip()


def line_of(text: str, message: str) -> int | None:
    """Line, from 1, of what an error message of `iwreplay.taskpack.loader` (without the file or the task that it begins
    with) is about; None when the file does not show it."""
    found = _TOML_LINE.search(message)
    if found:
        return int(found[1])
    twice = _TWICE.search(message)
    if twice:
        return _last(text, re.compile(rf'\bid\s*=\s*"{twice[1]}"'))
    about = _THING.search(message)
    if about:
        named = (line_of_id(text, word) for word in re.findall(r"\w+", about[1]))
        return next((n for n in named if n is not None), None)
    field = _FIELD.search(message)
    lines = text.splitlines()
    keys = "" if message.startswith("top level:") else message.split(": ", 1)[0]
    within = re.match(r"([a-z_]\w*) ([a-z]\w*): ([a-z_][\w.\[\]]*)", message)
    if within:
        keys = f"{within[1]} {within[2]}: {within[3]}"
    elif not re.fullmatch(r"[a-z_][\w.\[\]]*", keys):
        keys = ""
    at = _located(lines, keys, field[1] if field else "")
    return None if at is None else at + 1


def line_of_id(text: str, name: str) -> int | None:
    """Line of `id = "name"`."""
    return _first(text, re.compile(rf'\bid\s*=\s*"{re.escape(name)}"'))


def line_of_check(text: str, where: str) -> int | None:
    """Line of what a finding is about: the id of a check or of a scripted event, perhaps with "/credit_if" or the like
    after it, or a place in a list, as in "evidence[2]"."""
    if re.fullmatch(r"[a-z_]+\[\d+\]", where):
        return line_of(text, f"{where}: ")
    return line_of_id(text, where.partition("/")[0])


def line_of_command(text: str, command: str) -> int | None:
    """Line with a command as it is written."""
    return _first(text, re.compile(re.escape(command)))


def _first(text: str, pattern: re.Pattern[str]) -> int | None:
    return next((n for n, line in enumerate(text.splitlines(), start=1) if pattern.search(line)), None)


def _last(text: str, pattern: re.Pattern[str]) -> int | None:
    found = [n for n, line in enumerate(text.splitlines(), start=1) if pattern.search(line)]
    return found[-1] if found else None


def _located(lines: list[str], keys: str, field: str) -> int | None:
    """Index of the line of a key; of the table that it should be in, when it is not there."""
    lo, hi, prefix = 0, len(lines), ""
    found: int | None = None
    rest = keys
    while rest:
        step = _KEYS.match(rest.lstrip(". "))
        if step is None:
            break
        name, number, ident, rest = step[1], step[2], step[3], step[4]
        tables = [n for n in range(lo, hi) if (h := _HEADER.match(lines[n])) and h[1] == prefix + name]
        if ident is not None:
            tables = [n for n in tables if any(f'"{ident}"' in v for v in lines[n + 1 : _end(lines, n, hi, h="")])]
        index = int(number or 0)
        if index >= len(tables):
            at = _key(lines, lo, hi, name)
            return found if at is None else at
        found = lo = tables[index]
        hi = _end(lines, lo, hi, h=prefix + name + ".")
        prefix += name + "."
    if field:
        at = _key(lines, lo, hi, field)
        return (at if at is not None else found) if keys else at
    return found


def _key(lines: list[str], lo: int, hi: int, name: str) -> int | None:
    pattern = re.compile(rf"(?:^|[{{,])\s*{re.escape(name)}\s*=")
    return next((n for n in range(lo, hi) if pattern.search(lines[n])), None)


def _end(lines: list[str], start: int, hi: int, *, h: str) -> int:
    """Where the table that begins at `start` ends: at the next header that is not within it (begins with `h`)."""
    for n in range(start + 1, hi):
        header = _HEADER.match(lines[n])
        if header and not (h and header[1].startswith(h)):
            return n
    return hi
