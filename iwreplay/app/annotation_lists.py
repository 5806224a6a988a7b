"""What was said of the episodes of a store: everything for who analyses it, and blind for who annotates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from iwreplay.annotations import (
    Adjudication,
    Confidence,
    ErrorLabel,
    InvalidReason,
    Label,
    Ledger,
    Validity,
    Withdrawal,
    check_name,
    kind_of,
    onset_of,
)
from iwreplay.app.episodes import find_episodes
from iwreplay.app.subjects import Subject, refuse_label, subject_of, subjects
from iwreplay.errors import AnnotationError, LogError
from iwreplay.store import Store
from iwreplay.store.annotations import kept_annotations, turns_of_onsets

__all__ = ["Annotation", "Assignment", "list_annotations", "list_for"]

Told = Callable[[int, int], None]


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """A record, with what the store says of it."""

    #: id of the record
    record: str
    #: None: no intact log of the store has the root hash
    episode: str | None
    root_hash: str
    kind: str
    annotator: str
    #: True: another record is in its place
    superseded: bool
    label: ErrorLabel | None = None
    seq: int | None = None
    #: of the onset; None without one, and when the log is not there
    turn: int | None = None
    confidence: Confidence | None = None
    valid: bool | None = None
    reason: InvalidReason | None = None
    rationale: str = ""
    supersedes: tuple[str, ...] = ()
    considered: tuple[str, ...] = ()
    #: why it does not fit what is in the store; None when it does
    problem: str | None = None


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """A failed episode, as one annotator may see it."""

    episode: str
    root_hash: str
    task: str | None
    family: str | None
    #: what this annotator says of it at present, empty: it is to be annotated
    mine: tuple[Annotation, ...]
    #: what others say of it at present, and adjudications; empty as long as `mine` is, whatever they say
    others: tuple[Annotation, ...]


def list_annotations(
    store: Path, wanted: tuple[str, ...] = (), *, history: bool = False, progress: Told = lambda done, of: None
) -> tuple[Annotation, ...]:
    """What was said of episodes (of all, when none is named): what stands, or with `history` all of it, each record
    after those that it supersedes. What is about a log that is not in the store comes last.

    StoreDamagedError when the annotations are damaged. Whoever annotates uses `list_for`."""
    opened = Store.open(store)
    ledger = kept_annotations(opened)
    there = _by_root(opened, wanted, progress)
    elsewhere = [root for root in ledger.root_hashes if root not in there] if not wanted else []
    found: list[Annotation] = []
    for root, subject in [*there.items(), *((root, None) for root in elsewhere)]:
        names = [n for n in ledger.about(root) if history or n not in ledger.superseded]
        found += _annotations(ledger, root, names, subject)
    return tuple(found)


def list_for(
    store: Path, annotator: str, wanted: tuple[str, ...] = (), *, progress: Told = lambda done, of: None
) -> tuple[Assignment, ...]:
    """The failed episodes of a store, with what this annotator says of each. What others say is told of those only of
    which this annotator says something, so that every first label is given blind."""
    check_name(annotator)
    opened = Store.open(store)
    ledger = kept_annotations(opened)
    found = []
    for root, subject in _by_root(opened, wanted, progress).items():
        if subject.state != "failed":
            continue
        standing = ledger.standing(root)
        said = standing.pop(annotator, {})
        mine = [n for n, s in said.items() if not isinstance(s, Withdrawal)]
        names = [*(n for others in standing.values() for n in others), *ledger.adjudications(root)] if mine else []
        found.append(
            Assignment(
                episode=subject.episode.id,
                root_hash=root,
                task=subject.task,
                family=subject.family,
                mine=_annotations(ledger, root, mine, subject),
                others=_annotations(ledger, root, names, subject),
            )
        )
    return tuple(found)


def _by_root(store: Store, wanted: tuple[str, ...], progress: Told) -> dict[str, Subject]:
    """Root hash -> episode of the store; those without a root hash have no annotations."""
    named = map(subject_of, find_episodes(store.root, wanted)) if wanted else subjects(store, progress=progress)
    return {s.root_hash: s for s in named if s.root_hash is not None}


def _annotations(
    ledger: Ledger, root_hash: str, names: Sequence[str], subject: Subject | None
) -> tuple[Annotation, ...]:
    """Records about one log; no subject: it is not in the store."""
    turns = turns_of_onsets(subject.episode, ledger, root_hash) if subject is not None and names else {}
    return tuple(_annotation(ledger, name, subject, turns) for name in names)


def _annotation(ledger: Ledger, name: str, subject: Subject | None, turns: Mapping[int, int | str]) -> Annotation:
    record = ledger.records[name]
    label = record.label if isinstance(record, Label | Adjudication) else None
    seq = onset_of(record)
    turn = None if seq is None else turns.get(seq)
    problem = _no_label(subject) if isinstance(turn, int) else turn
    if subject is None:
        problem = "it is about another log: no intact log of the store has its root hash"
    return Annotation(
        record=name,
        episode=None if subject is None else subject.episode.id,
        root_hash=record.root_hash,
        kind=kind_of(record),
        annotator=record.annotator,
        superseded=name in ledger.superseded,
        label=label,
        seq=seq,
        turn=turn if isinstance(turn, int) else None,
        confidence=record.confidence if isinstance(record, Label) else None,
        valid=record.valid if isinstance(record, Validity) else None,
        reason=record.reason if isinstance(record, Validity | Adjudication) else None,
        rationale=record.rationale,
        supersedes=record.supersedes,
        considered=record.considered if isinstance(record, Adjudication) else (),
        problem=problem,
    )


def _no_label(subject: Subject | None) -> str | None:
    """Why an episode has no first error any more."""
    try:
        if subject is not None:
            refuse_label(subject)
    except (AnnotationError, LogError) as e:
        return str(e)
    return None
