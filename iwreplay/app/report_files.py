"""The files of a report: written whole beside an earlier one and then put in its place, and read again for a number.

A folder with numbers.json of this format is a report; in any other folder nothing is touched.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from iwreplay.errors import LogWriteError, ReportError
from iwreplay.reports import Number, Report, csv_files, markdown, page
from iwreplay.version import __version__

__all__ = ["PAGE", "TABLES", "TEXT", "Numbers", "check_folder", "read_numbers", "write_files"]

PAGE, TEXT, TABLES, NUMBERS = "report.html", "report.md", "tables", "numbers.json"
#: raised with any change of what numbers.json holds
_FORMAT = 1


class Numbers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What numbers.json holds."""

    report_format: int
    iwreplay: str
    #: names of the files in the folder of tables
    tables: tuple[str, ...]
    numbers: tuple[Number, ...]
    #: episode -> root hash of its log
    root_hashes: dict[str, str]


class _Format(msgspec.Struct):
    """What is read before anything else."""

    report_format: int


def check_folder(out: Path) -> None:
    """ReportError unless `out` is new, empty, or a report."""
    if out.exists() and not out.is_dir():
        raise ReportError(f"{out} is a file; --out names a folder")
    if out.is_dir() and any(out.iterdir()):
        if not (out / NUMBERS).exists():
            raise ReportError(f"{out} holds something else than a report; name a new folder with --out")
        try:
            read_numbers(out)
        except ReportError as e:
            raise ReportError(f"{e} Nothing was written; name a new folder with --out.") from None


def read_numbers(out: Path) -> Numbers:
    """The numbers of the report in `out`. ReportError when there is none, or it can't be read."""
    path = out / NUMBERS
    try:
        raw = path.read_bytes()
        version = msgspec.json.decode(raw, type=_Format).report_format
        if version != _FORMAT:
            raise ReportError(f"{path} has format {version}, and this build reads {_FORMAT}: write the report again.")
        return msgspec.json.decode(raw, type=Numbers)
    except FileNotFoundError:
        raise ReportError(f"there is no report in {out}: iwreplay report --out {out} writes one") from None
    except OSError as e:
        raise ReportError(f"{path} can't be read: {e.strerror}.") from None
    except (msgspec.MsgspecError, UnicodeError) as e:
        raise ReportError(f"{path} is not of a report: {e}.") from None


def write_files(out: Path, report: Report, *, root_hashes: dict[str, str]) -> None:
    """Writes a report to `out`, in place of the one that is there. LogWriteError when the disk refuses; what was there
    is then as it was, or is replaced whole but for tables that the new one lacks."""
    numbers = report.numbers()
    used = {e for n in numbers for e in n.episodes}
    tables = csv_files(report)
    kept = Numbers(
        report_format=_FORMAT,
        iwreplay=__version__,
        tables=tuple(tables),
        numbers=numbers,
        root_hashes={e: h for e, h in sorted(root_hashes.items()) if e in used},
    )
    files = {f"{TABLES}/{name}": text.encode() for name, text in tables.items()}
    files[TEXT] = markdown(report).encode()
    files[PAGE] = page(report).encode()
    # the last to be put in its place: a folder with it has the whole report
    files[NUMBERS] = msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"
    staging = out.parent / f".{out.name}.{os.getpid()}"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        (staging / TABLES).mkdir(parents=True)
        for name, data in files.items():
            (staging / name).write_bytes(data)
        old = read_numbers(out).tables if (out / NUMBERS).exists() else ()
        (out / TABLES).mkdir(parents=True, exist_ok=True)
        for name in files:
            os.replace(staging / name, out / name)
        for name in old:
            if name not in tables:
                (out / TABLES / Path(name).name).unlink(missing_ok=True)
    except OSError as e:
        raise LogWriteError(f"the report can't be written to {out}: {e.strerror or type(e).__name__}") from e
    finally:
        shutil.rmtree(staging, ignore_errors=True)
