"""Records as text: JSON Lines, and CSV for spreadsheets. Both are exact: what is written reads back as the same.

A line of JSON is a record with its `id`. In a table, a cell that is empty is a field that is left out, and several ids
stand in one cell with blanks between. Text that others wrote may leave out the id, may name the `episode` in place of
its root hash, and the `turn` in place of the event; what has no `kind` is a label.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from iwreplay.annotations.model import Record, record_id
from iwreplay.annotations.rules import check_record
from iwreplay.errors import AnnotationError

__all__ = ["COLUMNS", "FORMATS", "TextFormat", "read_records", "write_records"]

TextFormat = Literal["jsonl", "csv"]
FORMATS: tuple[TextFormat, ...] = ("jsonl", "csv")
#: of a table, in this order
COLUMNS = (
    "id", "kind", "root_hash", "annotator", "label", "seq", "confidence", "valid", "reason", "rationale", "supersedes",
    "considered",
)  # fmt: skip
#: columns that others may use in place of `root_hash` and `seq`
_NAMED = ("episode", "turn")
_LISTS = ("supersedes", "considered")
_NUMBERS = ("seq", "turn")
_MAX_DIGITS = 19
_TRUTH = {"true": True, "false": False}

#: (name of an episode -> its root hash), (root hash, turn -> event); AnnotationError when there is none
RootOf = Callable[[str], str]
SeqOf = Callable[[str, int], int]


def write_records(records: Iterable[Record], *, form: TextFormat) -> str:
    """The text of records, in their order."""
    if form == "jsonl":
        return "".join(f"{msgspec.json.encode(_fields(r)).decode()}\n" for r in records)
    out = io.StringIO(newline="")
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for record in records:
        fields = _fields(record)
        table.writerow([_cell(fields.get(name)) for name in COLUMNS])
    return out.getvalue()


def read_records(data: bytes, *, form: TextFormat, root_of: RootOf, seq_of: SeqOf) -> tuple[tuple[int, Record], ...]:
    """(line that it begins on, from 1; record) of everything in the text. AnnotationError names the first line that is
    no record."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise AnnotationError(f"it is not UTF-8 (byte {data[e.start]:#x}); save it as UTF-8", line=line) from None
    lines = _json_lines(text) if form == "jsonl" else _rows(text)
    found = []
    for number, fields in lines:
        try:
            found.append((number, _record(fields, root_of=root_of, seq_of=seq_of)))
        except AnnotationError as e:
            raise AnnotationError(e.reason, line=number) from None
    return tuple(found)


def _fields(record: Record) -> dict[str, Any]:
    return {"id": record_id(record), **msgspec.to_builtins(record)}


def _cell(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _json_lines(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError as e:
            raise AnnotationError(f"it is no JSON object: {e}", line=number) from None


def _rows(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    begins, names = 1, None
    while True:
        try:
            row = next(table)
        except StopIteration:
            return
        except csv.Error as e:
            raise AnnotationError(f"it is no row of a table: {e}", line=begins) from None
        if names is None:
            names = _header(row)
        elif row:
            if len(row) != len(names):
                raise AnnotationError(f"it has {len(row)} cells, and there are {len(names)} columns", line=begins)
            yield begins, {n: _value(n, cell, begins) for n, cell in zip(names, row, strict=True) if cell}
        begins = table.line_num + 1


def _header(row: list[str]) -> list[str]:
    known = (*COLUMNS, *_NAMED)
    odd = [name for name in row if name not in known]
    if odd or len(set(row)) < len(row):
        what = f"there is no column {odd[0]!r}" if odd else "a column is there twice"
        raise AnnotationError(f"{what}; the first row names columns, of these: {', '.join(known)}", line=1)
    return row


def _value(name: str, cell: str, line: int) -> object:
    if name in _LISTS:
        return cell.split(" ")
    if name in _NUMBERS:
        if not (cell.isascii() and cell.isdecimal() and len(cell) <= _MAX_DIGITS):
            raise AnnotationError(f"{name} {cell!r} is no whole number", line=line)
        return int(cell)
    if name == "valid":
        if cell.lower() not in _TRUTH:
            raise AnnotationError(f"valid {cell!r} is neither true nor false", line=line)
        return _TRUTH[cell.lower()]
    return cell


def _record(fields: dict[str, Any], *, root_of: RootOf, seq_of: SeqOf) -> Record:
    fields = {"kind": "label", **fields}
    for name, instead in zip(("root_hash", "seq"), _NAMED, strict=True):
        if name in fields and instead in fields:
            raise AnnotationError(f"it has both {name} and {instead}; give one of them")
    stated, episode, turn = fields.pop("id", None), fields.pop("episode", None), fields.pop("turn", None)
    if episode is not None:
        fields["root_hash"] = root_of(str(episode))
    if turn is not None:
        if type(turn) is not int:
            raise AnnotationError(f"turn {turn!r} is no whole number")
        fields["seq"] = seq_of(str(fields.get("root_hash")), turn)
    try:
        record: Record = msgspec.convert(fields, type=Record)
    except msgspec.ValidationError as e:
        raise AnnotationError(str(e)) from None
    check_record(record)
    if stated is not None and stated != record_id(record):
        raise AnnotationError(
            f"its id {stated!r} is not that of what it says, {record_id(record)}: it was changed. A correction is a "
            "record of its own that supersedes the one it corrects; what is new needs no id"
        )
    return record
