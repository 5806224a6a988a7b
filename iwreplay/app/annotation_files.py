"""Annotations out of a store and into it: as text for other tools, for other teams, and back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from iwreplay.annotations import (
    FORMATS,
    Adjudication,
    Ledger,
    Record,
    TextFormat,
    check_together,
    onset_of,
    read_records,
    record_id,
    seq_of_turn,
    torn,
    write_records,
)
from iwreplay.app.subjects import Subject, refuse_label, refuse_statement, subject_of, turn_in
from iwreplay.errors import AnnotationError, LogError, StoreError, UnknownNameError
from iwreplay.log import read_log
from iwreplay.store import Store, write_whole
from iwreplay.store.annotations import add_annotations, kept_annotations

__all__ = ["Exported", "Imported", "export_annotations", "import_annotations"]


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """A file of annotations."""

    file: str
    format: TextFormat
    records: int


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of annotations brought."""

    file: str
    format: TextFormat
    #: records that are new here, those that were here already, and how many of the new ones are about logs that are not
    added: int
    present: int
    elsewhere: int
    #: who said the new ones, sorted
    annotators: tuple[str, ...]
    #: root hash and annotator of each who now says two things of one log, in records that do not know of each other
    torn: tuple[tuple[str, str], ...]


def export_annotations(store: Path, file: Path, *, form: str | None = None, annotator: str | None = None) -> Exported:
    """Writes all records, superseded ones included, in the order in which they were kept; with `annotator` only what
    this one said as an annotator (no adjudications). `form` is told from the name of the file when it is None.

    StoreError when the file is there already, or can't be written; StoreDamagedError when the annotations are damaged;
    UnknownNameError for nobody's name and for no format."""
    chosen = _format(file, form)
    ledger = kept_annotations(Store.open(store))
    if annotator is not None and annotator not in ledger.annotators:
        raise UnknownNameError("annotator", annotator, known=ledger.annotators)
    records = tuple(
        r
        for r in ledger.records.values()
        if annotator is None or (r.annotator == annotator and not isinstance(r, Adjudication))
    )
    if file.exists():
        raise StoreError(f"{file} is there already; nothing is overwritten: give another name")
    try:
        write_whole(file, write_records(records, form=chosen).encode())
    except OSError as e:
        raise StoreError(f"{file} can't be written: {e.strerror or e}") from e
    return Exported(file=str(file), format=chosen, records=len(records))


def import_annotations(store: Path, file: Path, *, form: str | None = None) -> Imported:
    """Takes in the records of a file: all of them, or none when any is refused. Those that are here are left as they
    are, so that importing again adds nothing.

    AnnotationError names the line of the first that is no record, that supersedes what it may not, or that a log of the
    store contradicts (an onset that is none, an episode that is no valid failure). What is about a log that is not in
    the store is taken in as it is. StoreDamagedError when the annotations are damaged."""
    chosen = _format(file, form)
    opened = Store.open(store)
    try:
        data = file.read_bytes()
    except OSError as e:
        raise StoreError(f"{file} can't be read: {e.strerror or e}") from e
    there = _Logs(opened)
    try:
        lines = read_records(data, form=chosen, root_of=there.root_of, seq_of=there.seq_of)
        before = kept_annotations(opened)
        _check(lines, before, there)
    except AnnotationError as e:
        raise AnnotationError(f"{file}, {e}; nothing was imported") from None
    records = tuple(r for _, r in lines)
    new, after = add_annotations(opened, lambda _: records)
    return Imported(
        file=str(file),
        format=chosen,
        added=len(new),
        present=len({record_id(r) for r in records}) - len(new),
        elsewhere=sum(r.root_hash not in there.by_root for r in new),
        annotators=tuple(sorted({r.annotator for r in new})),
        torn=tuple((root, name) for root in sorted({r.root_hash for r in new}) for name in torn(after.standing(root))),
    )


class _Logs:
    """The logs of a store, by their root hashes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.by_root: dict[str, Subject] = {
            s.root_hash: s for s in map(subject_of, store.episodes()) if s.root_hash is not None
        }

    def root_of(self, name: str) -> str:
        try:
            subject = subject_of(self.store.find(name))
        except UnknownNameError as e:
            raise AnnotationError(str(e)) from None
        if subject.root_hash is None:
            raise AnnotationError(f"{name} can't be annotated: {subject.why}")
        return subject.root_hash

    def seq_of(self, root_hash: str, turn: int) -> int:
        subject = self.by_root.get(root_hash)
        if subject is None:
            raise AnnotationError(f"turn {turn} is of a log that is not in the store; give the event with seq")
        with read_log(subject.episode.log) as log:
            return seq_of_turn(log, turn=turn)


def _check(lines: Iterable[tuple[int, Record]], before: Ledger, there: _Logs) -> None:
    new = [(n, r) for n, r in lines if record_id(r) not in before.records]
    check_together(new, before)
    for line, record in new:
        subject = there.by_root.get(record.root_hash)
        if subject is None:
            continue
        try:
            seq = onset_of(record)
            if seq is None:
                refuse_statement(subject)
            else:
                refuse_label(subject)
                turn_in(subject.episode, seq=seq)
        except (AnnotationError, LogError) as e:
            raise AnnotationError(str(e), line=line) from None


def _format(file: Path, form: str | None) -> TextFormat:
    name = form if form is not None else file.suffix.removeprefix(".")
    for known in FORMATS:
        if name == known:
            return known
    hint = "" if form is not None else f"The name {file.name!r} does not end in one; say it with --format."
    raise UnknownNameError("format", name, known=FORMATS, hint=hint)
