"""The whole answer to a question as a file: Arrow, Parquet, CSV or JSON lines, by the file's name.

Rows go to the file as DuckDB works them out, so that memory is bounded however many there are. The file appears under
its name once it is whole and on disk.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from iwreplay.catalogue.database import Catalogue
from iwreplay.errors import QueryError

__all__ = ["SUFFIXES", "Exported", "check_target", "export"]

_JSON = msgspec.json.Encoder(decimal_format="number", enc_hook=str)
#: values of these types are written into CSV as JSON
_NESTED = (pa.types.is_nested, pa.types.is_interval, pa.types.is_binary)


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    file: str
    rows: int
    columns: tuple[str, ...]


class _Rows(Protocol):
    """Takes rows batch by batch; what it writes is whole after `close`."""

    def write_batch(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


class _Csv:
    """A header, then rows as RFC 4180 has them. Null is nothing, an empty text is "". Lists, structs and maps are JSON,
    bytes base64 in it."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._schema = pa.schema([(f.name, pa.string() if _is_nested(f.type) else f.type) for f in schema])
        self._writer = pacsv.CSVWriter(file, self._schema)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        columns = [_as_json(c) if _is_nested(c.type) else c for c in batch.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class _JsonLines:
    """An object a line, as `iwreplay query --json` writes values."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._file = file

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._file.write(_JSON.encode_lines(batch.to_pylist()))

    def close(self) -> None:
        """Nothing is held back."""


_FORMS: dict[str, Callable[[BinaryIO, pa.Schema], _Rows]] = {
    ".arrow": pa.ipc.new_file,
    ".parquet": lambda file, schema: pq.ParquetWriter(file, schema, compression="zstd"),
    ".csv": _Csv,
    ".jsonl": _JsonLines,
}
#: endings of the names of files that can be written
SUFFIXES = tuple(_FORMS)


def check_target(file: Path, *, replace: bool = False) -> None:
    """QueryError when `export` would not write this file, told before any work is done."""
    if file.suffix.lower() not in _FORMS:
        raise QueryError(f"{file} can't be written: its name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if file.is_dir() or (not replace and file.exists()):
        what = "is a folder" if file.is_dir() else "is there already; with --replace it is replaced"
        raise QueryError(f"{file} {what}; nothing was written")
    if not file.parent.is_dir():
        raise QueryError(f"{file} can't be written: there is no folder {file.parent}")


def export(
    catalogue: Catalogue,
    sql: str,
    file: Path,
    *,
    replace: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> Exported:
    """Writes every row of the answer to one SELECT. `progress` is told the rows so far.

    QueryError as of `Catalogue.ask`; for a name that says no form, for a file that is there (unless `replace`), for a
    type that the form has not, and when the disk refuses (exit code 3). Nothing is left behind then.
    """
    check_target(file, replace=replace)
    form = _FORMS[file.suffix.lower()]
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as out:
            done = catalogue.stream(sql, lambda reader: _write(reader, form, out, file=file, progress=progress))
            out.flush()
            os.fsync(out.fileno())
        if replace:
            temporary.replace(file)
        else:
            _put(temporary, file)
    except (pa.ArrowException, OSError) as e:
        error = QueryError(f"{file} can't be written: {' '.join(str(getattr(e, 'strerror', None) or e).split())}")
        error.exit_code = 3 if isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT) else 2
        raise error from e
    finally:
        temporary.unlink(missing_ok=True)
    return done


def _put(temporary: Path, file: Path) -> None:
    """Gives a file its name, unless something else got it meanwhile."""
    try:
        os.link(temporary, file)
    except FileExistsError as e:
        raise QueryError(f"{file} was made by somebody else meanwhile; nothing was written") from e
    except OSError:
        # a file system without links
        temporary.replace(file)


def _write(
    reader: pa.RecordBatchReader,
    form: Callable[[BinaryIO, pa.Schema], _Rows],
    out: BinaryIO,
    *,
    file: Path,
    progress: Callable[[int], None],
) -> Exported:
    rows = 0
    writer = form(out, reader.schema)
    for batch in reader:
        writer.write_batch(batch)
        rows += batch.num_rows
        progress(rows)
    writer.close()
    return Exported(file=str(file), rows=rows, columns=tuple(reader.schema.names))


def _is_nested(kind: pa.DataType) -> bool:
    return any(is_such(kind) for is_such in _NESTED)


def _as_json(column: pa.Array) -> pa.Array:
    return pa.array([None if v is None else _JSON.encode(v).decode() for v in column.to_pylist()], pa.string())
