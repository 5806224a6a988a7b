"""The annotations of a store: one journal, whoever says something.

    DIR/annotations/journal.jsonl    a line for each time that somebody said something

A line holds all records of one act, such as an import, so that an act is kept whole or not at all. Writers take turns:
one waits for the other, and looks at what is there once it is its turn. Annotations are about logs, by their root
hashes, so they lie beside the episodes and not in one; what is about a log that is not in the store stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from iwreplay.annotations import Ledger, Record, check_record, check_together, onset_of, record_id, turn_at
from iwreplay.canonical import canonical_bytes
from iwreplay.errors import AnnotationError, LogError, StoreDamagedError, StoreError
from iwreplay.log import read_log
from iwreplay.store.directory import Episode, Store
from iwreplay.store.journal import Journal, read_journal

__all__ = ["Act", "add_annotations", "annotations_file", "kept_annotations", "turns_of_onsets"]

#: raised when records change so that an older build would misread them
ANNOTATIONS_VERSION = 1
#: how long one waits for others who write; each takes milliseconds
_WAIT_S = 30.0
_WAY_OUT = (
    "Nothing in it is used. The lines before are as they were written: keep the file, put those alone in its place, "
    "and import what others have of the rest."
)


class Act(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was said at once."""

    version: int = ANNOTATIONS_VERSION
    records: tuple[msgspec.Raw, ...]


def annotations_file(store: Store) -> Path:
    """Where they are kept; there is no file before the first."""
    return store.root / "annotations" / "journal.jsonl"


def kept_annotations(store: Store) -> Ledger:
    """Everything that was said. StoreDamagedError names the line that is damaged, forged or from a newer version:
    nothing is left out silently. A last line that a killed writer left half was never acknowledged, and is none."""
    path = annotations_file(store)
    try:
        acts = read_journal(path, Act, way_out=_WAY_OUT)
    except FileNotFoundError:
        return Ledger()
    except OSError as e:
        raise StoreError(f"the annotations of {store.root} can't be read: {e.strerror} ({path})") from e
    return _ledger(path, acts)


def add_annotations(store: Store, say: Callable[[Ledger], Iterable[Record]]) -> tuple[tuple[Record, ...], Ledger]:
    """Appends what `say` makes of the records that are there, in one act. `say` may be asked twice: what it refuses
    leaves no trace, and then it is asked again once nobody else writes.

    Returns the records that are new (those that were there already are not written again), and the ledger with them,
    once they are on the disk. StoreDamagedError as of `kept_annotations`, LogLockedError when others write for too
    long, LogWriteError when the disk refuses, and what `say` raises.
    """
    before = kept_annotations(store)
    if not _new(say(before), before):
        return (), before
    path = annotations_file(store)
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as e:
        raise StoreError(f"the annotations can't be kept in {path.parent}: {e.strerror}") from e
    with Journal[Act](path, Act, wait_s=_WAIT_S, way_out=_WAY_OUT) as journal:
        before = _ledger(path, journal.records)
        new = _new(say(before), before)
        if new:
            journal.append(Act(records=tuple(msgspec.Raw(canonical_bytes(r)) for r in new)))
    return new, Ledger((*before.records.values(), *new))


def turns_of_onsets(episode: Episode, ledger: Ledger, root_hash: str) -> dict[int, int | str]:
    """Of the records about an episode's log: onset -> its turn, or why it is none of the log."""
    seqs = sorted({s for name in ledger.about(root_hash) if (s := onset_of(ledger.records[name])) is not None})
    if not seqs:
        return {}
    found: dict[int, int | str] = {}
    try:
        with read_log(episode.log) as log:
            for seq in seqs:
                try:
                    found[seq] = turn_at(log, seq=seq)
                except AnnotationError as e:
                    found[seq] = e.reason
    except LogError as e:
        return {seq: str(e) for seq in seqs} | found
    return found


def _new(said: Iterable[Record], there: Ledger) -> tuple[Record, ...]:
    found = {name: r for r in said if (name := record_id(r)) not in there.records}
    for record in found.values():
        check_record(record)
    check_together(((None, r) for r in found.values()), there)
    return tuple(found.values())


def _ledger(path: Path, acts: Iterable[Act]) -> Ledger:
    records: list[Record] = []
    for number, act in enumerate(acts, start=1):
        if act.version > ANNOTATIONS_VERSION:
            raise StoreDamagedError(
                f"{path}, line {number} has version {act.version}, newer than {ANNOTATIONS_VERSION}, the newest that "
                "this build reads; upgrade iwreplay"
            )
        try:
            for raw in act.records:
                records.append(msgspec.json.decode(raw, type=Record))
                check_record(records[-1])
        except (msgspec.MsgspecError, AnnotationError) as e:
            raise StoreDamagedError(f"{path}, line {number}: {e}. {_WAY_OUT}") from None
    ledger = Ledger(records)
    try:
        check_together(((None, r) for r in records), Ledger())
    except AnnotationError as e:
        raise StoreDamagedError(f"{path}: {e}. {_WAY_OUT}") from None
    return ledger
