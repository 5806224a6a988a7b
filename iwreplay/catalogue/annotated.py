"""What people say of episodes as rows: every record, and what holds for each failed episode.

An episode's rows are made anew when its log, its `pass` score or its annotations changed, and only then. Records about
logs that are not in the store have rows too, without an episode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import msgspec
import pyarrow as pa

from iwreplay.annotations import Adjudication, Label, Ledger, Record, Validity, kind_of, onset_of, result_of
from iwreplay.canonical import sha256_hex
from iwreplay.catalogue.gathering import as_tables, file_stamp
from iwreplay.catalogue.project import Rows
from iwreplay.catalogue.schema import ANNOTATED
from iwreplay.store import Store
from iwreplay.store.annotations import annotations_file, kept_annotations, turns_of_onsets

__all__ = ["ANNOTATED_DDL", "annotated_stamp", "annotations_stamp", "bring_annotations"]

#: tables of the catalogue's own: how the journal was, and of each episode or log what its rows were made of
ANNOTATED_DDL = """
CREATE TABLE iw.annotated_stamp (stamp VARCHAR);
CREATE TABLE iw.annotated (episode VARCHAR, root_hash VARCHAR, made_of VARCHAR);
"""

_FACTS = """
SELECT e.episode, e.root_hash, CASE WHEN e.valid AND e.status = 'ended' THEN s.value END AS pass
FROM episodes e LEFT JOIN scores s ON s.episode = e.episode AND s.metric = 'pass'
"""

#: onset -> its turn, or why it is none of the log
Turns = Mapping[int, int | str]


class _Subject(msgspec.Struct, frozen=True):
    """What rows are about: an episode, or a log that is not in the store."""

    episode: str | None
    root_hash: str
    #: 0 or 1; None without a valid score, or an episode
    passed: float | None = None


def annotations_stamp(store: Store) -> str:
    """Changes when somebody says something; quickly made."""
    return file_stamp(annotations_file(store))


def annotated_stamp(con: duckdb.DuckDBPyConnection) -> str | None:
    """The stamp of the annotations that the rows were made of; None before the first time."""
    found = con.execute("SELECT stamp FROM iw.annotated_stamp").fetchall()
    return str(found[0][0]) if found else None


def bring_annotations(con: duckdb.DuckDBPyConnection, store: Store) -> None:
    """Brings the tables `ANNOTATED` up to date, after those of episodes and scores are. StoreDamagedError when the
    annotations are damaged: then nothing is changed."""
    stamp = annotations_stamp(store)
    ledger = kept_annotations(store)
    wanted = {s: _made_of(s, ledger) for s in _subjects(con, ledger)}
    there = {(e, r): made for e, r, made in con.execute("SELECT * FROM iw.annotated").fetchall()}
    keys = {(s.episode, s.root_hash): s for s in wanted}
    leaving = [k for k, made in there.items() if k not in keys or wanted[keys[k]] != made]
    coming = [s for k, s in keys.items() if there.get(k) != wanted[s]]
    if leaving:
        con.register("leaving", pa.table({"episode": [e for e, _ in leaving], "root_hash": [r for _, r in leaving]}))
        for table in (*ANNOTATED, "iw.annotated"):
            con.execute(
                f"DELETE FROM {table} USING leaving l "
                f"WHERE {table}.root_hash = l.root_hash AND {table}.episode IS NOT DISTINCT FROM l.episode"
            )
        con.unregister("leaving")
    rows: Rows = {name: [] for name in ANNOTATED}
    episodes = {e.id: e for e in store.episodes()} if coming else {}
    for subject in coming:
        episode = episodes.get(subject.episode or "")
        turns = turns_of_onsets(episode, ledger, subject.root_hash) if episode is not None else {}
        said = list(_annotation_rows(subject, ledger, turns))
        rows["annotations"] += said
        rows["first_errors"] += _result_rows(subject, ledger, said)
    made = {"episode": [s.episode for s in coming], "root_hash": [s.root_hash for s in coming]}
    tables = as_tables(rows) | {"iw.annotated": pa.table(made | {"made_of": [wanted[s] for s in coming]})}
    for name, table in tables.items():
        if table.num_rows:
            con.register("incoming", table)
            con.execute(f"INSERT INTO {name} BY NAME SELECT * FROM incoming")
            con.unregister("incoming")
    con.execute("DELETE FROM iw.annotated_stamp")
    con.execute("INSERT INTO iw.annotated_stamp VALUES (?)", [stamp])


def _subjects(con: duckdb.DuckDBPyConnection, ledger: Ledger) -> Iterator[_Subject]:
    """Failed episodes, others that somebody said something of, and logs that are not there."""
    said = set(ledger.root_hashes)
    there = set()
    for episode, root_hash, passed in con.execute(_FACTS).fetchall():
        if root_hash is None:
            continue
        there.add(root_hash)
        if passed == 0.0 or root_hash in said:
            yield _Subject(episode, root_hash, passed)
    for root_hash in sorted(said - there):
        yield _Subject(None, root_hash)


def _made_of(subject: _Subject, ledger: Ledger) -> str:
    return f"{subject.passed}|{sha256_hex(','.join(sorted(ledger.about(subject.root_hash))).encode())}"


def _annotation_rows(subject: _Subject, ledger: Ledger, turns: Turns) -> Iterator[dict[str, Any]]:
    for name in ledger.about(subject.root_hash):
        record = ledger.records[name]
        seq = onset_of(record)
        turn = None if seq is None else turns.get(seq)
        yield {
            "episode": subject.episode,
            "root_hash": subject.root_hash,
            "record": name,
            "kind": kind_of(record),
            "annotator": record.annotator,
            "about": "another log" if subject.episode is None else "this log",
            "superseded": name in ledger.superseded,
            "label": record.label if isinstance(record, Label | Adjudication) else None,
            "seq": seq,
            "turn": turn if isinstance(turn, int) else None,
            "confidence": record.confidence if isinstance(record, Label) else None,
            "valid": _valid(record),
            "reason": record.reason if isinstance(record, Validity | Adjudication) else None,
            "rationale": record.rationale,
            "supersedes": _json(record.supersedes),
            "considered": _json(record.considered) if isinstance(record, Adjudication) else "[]",
            "problem": turn if isinstance(turn, str) else None,
        }


def _result_rows(subject: _Subject, ledger: Ledger, said: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """`said`: the rows of its annotations."""
    if subject.episode is None:
        return
    misplaced = {row["record"] for row in said if row["problem"] is not None}
    found = result_of(ledger, subject.root_hash, misplaced=misplaced)
    turns = {row["seq"]: row["turn"] for row in said}
    invalid = found.outcome == "invalid"
    yield {
        "episode": subject.episode,
        "root_hash": subject.root_hash,
        "failed": None if subject.passed is None else subject.passed == 0.0,
        "status": found.status,
        "label": None if invalid else found.outcome,
        "seq": found.seq,
        # the onset that holds is that of a record
        "turn": None if found.seq is None else turns[found.seq],
        "invalid": invalid,
        "reasons": ", ".join(found.reasons),
        "annotators": len(found.votes),
        "outdated": found.outdated,
        "why": found.why,
    }


def _valid(record: Record) -> bool | None:
    match record:
        case Label():
            return True
        case Validity():
            return record.valid
        case Adjudication():
            return record.label is not None
        case _:
            return None


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
