"""Rows of some episodes as Arrow tables, read from their logs and from what is kept beside them. Writes nothing, and
knows no database: it may be done in another process."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from iwreplay.catalogue.kept import kept_rows
from iwreplay.catalogue.project import LogFacts, Rows, project
from iwreplay.catalogue.schema import TABLES
from iwreplay.errors import EventError, LogCorruptError, LogError
from iwreplay.log import read_log
from iwreplay.store import Episode, ScoreBook, kept_verdicts, verdicts_stamp

__all__ = [
    "Gathered",
    "Taken",
    "as_tables",
    "file_stamp",
    "gather",
    "gather_kept",
    "log_stamp",
    "loosely_the_same",
    "score_stamp",
]

_ARROW: dict[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "JSON": pa.string(),
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "BIGINT[]": pa.list_(pa.int64()),
    "TIMESTAMP": pa.timestamp("us"),
}
#: size and time of change of the content, then what differs between copies
_STAMP = re.compile(r"(\d+-\d+)-\d+(?:-\d+)?")


class Taken(msgspec.Struct, frozen=True):
    """An episode that was read, and how its files were before."""

    episode: str
    log_stamp: str
    score_stamp: str


class Gathered(msgspec.Struct, frozen=True):
    """What some episodes give."""

    taken: tuple[Taken, ...]
    #: by name of the table; those without rows are left out
    tables: dict[str, pa.Table]

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(t.num_rows for t in self.tables.values())


def gather(episodes: Sequence[Episode], *, scorers: Mapping[str, str]) -> Gathered:
    """All rows of the episodes, of whatever is intact of them; `scorers` has the hash of each by name."""
    rows: Rows = {}
    taken = []
    for episode in episodes:
        # before reading: what grows meanwhile is read again
        stamps = Taken(episode.id, log_stamp(episode), score_stamp(episode, scorers=scorers))
        found = _rows_of(episode)
        _add(rows, found)
        _add(rows, _kept_of(episode, root_hash=found["episodes"][0]["root_hash"], scorers=scorers))
        taken.append(stamps)
    return Gathered(tuple(taken), as_tables(rows))


def gather_kept(episodes: Sequence[tuple[Episode, str | None]], *, scorers: Mapping[str, str]) -> Gathered:
    """Rows of the tables `KEPT` alone, of episodes with the root hashes of their logs. No log is read, so the stamp of
    the log is empty."""
    rows: Rows = {}
    taken = []
    for episode, root_hash in episodes:
        stamps = Taken(episode.id, "", score_stamp(episode, scorers=scorers))
        _add(rows, _kept_of(episode, root_hash=root_hash, scorers=scorers))
        taken.append(stamps)
    return Gathered(tuple(taken), as_tables(rows))


def log_stamp(episode: Episode) -> str:
    """Changes when the log does."""
    return file_stamp(episode.log)


def score_stamp(episode: Episode, *, scorers: Mapping[str, str]) -> str:
    """Changes when what is kept beside the log does, or what of it counts."""
    scores = episode.scores
    kept = file_stamp(scores) if scores is not None else ""
    return f"{kept}|{','.join(scorers.values())}|{verdicts_stamp(episode)}"


def loosely_the_same(a: str, b: str) -> bool:
    """Whether two stamps are of the same content as far as size and time tell: copies have other inodes."""
    return _STAMP.sub(r"\1", a) == _STAMP.sub(r"\1", b)


def _rows_of(episode: Episode) -> Rows:
    if not episode.begun:
        return _nothing_of(episode, "open", "no event was committed")
    try:
        with read_log(episode.log, strict=False) as log:

            def facts() -> LogFacts:
                problem = log.problem
                return LogFacts(
                    state=log.state,
                    problem=None if problem is None else f"{problem.what}; {problem.lost}",
                    root_hash=log.root_hash,
                    lossless=log.recovered is None or log.recovered.lossless,
                )

            return project(episode.id, log, facts)
    except (EventError, LogCorruptError) as e:
        return _nothing_of(episode, "corrupt", str(e))
    except LogError as e:
        return _nothing_of(episode, "unreadable", str(e))


def _nothing_of(episode: Episode, state: str, problem: str) -> Rows:
    return project(episode.id, (), lambda: LogFacts(state=state, problem=problem, root_hash=None))


def _kept_of(episode: Episode, *, root_hash: str | None, scorers: Mapping[str, str]) -> Rows:
    kept = () if root_hash is None else ScoreBook.load(episode).entries
    valid = [s for s in kept if s.key.root_hash == root_hash and scorers.get(s.key.scorer) == s.key.scorer_hash]
    return kept_rows(episode.id, root_hash=root_hash, scores=valid, verdicts=kept_verdicts(episode))


def _add(rows: Rows, more: Rows) -> None:
    for name, found in more.items():
        rows.setdefault(name, []).extend(found)


def as_tables(rows: Rows) -> dict[str, pa.Table]:
    """Rows by the name of their table; those without rows are left out."""
    made = {}
    for table in TABLES:
        found: list[dict[str, Any]] = rows.get(table.name, [])
        if found:
            made[table.name] = pa.table(
                {c.name: pa.array([r.get(c.name) for r in found], type=_ARROW[c.sql]) for c in table.columns}
            )
    return made


def file_stamp(path: Path) -> str:
    """Changes when the file does, or whether it may be read."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return "none"
    except PermissionError:
        return "closed to us"
    # ctime: of permissions too, as what could not be read may be readable now
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"
