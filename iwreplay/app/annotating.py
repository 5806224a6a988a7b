"""Saying what the first error of an episode is: labels, validity, corrections, withdrawals, adjudications.

Nothing here shows an annotator what others said: not an answer, and not an error either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from iwreplay.annotations import (
    LABELS,
    REASONS,
    Adjudication,
    Confidence,
    ErrorLabel,
    InvalidReason,
    Label,
    Ledger,
    Record,
    Statement,
    Validity,
    Withdrawal,
    check_name,
    kind_of,
    onset_of,
    record_id,
    seq_of_turn,
)
from iwreplay.app.episodes import find_episode
from iwreplay.app.subjects import Subject, refuse_label, refuse_statement, subject_of, turn_in
from iwreplay.errors import AnnotationError, UnknownNameError
from iwreplay.log import read_log
from iwreplay.store import Episode, Store
from iwreplay.store.annotations import add_annotations

__all__ = ["Said", "adjudicate", "say_invalid", "say_label", "say_valid", "withdraw"]

#: before the number of a turn, in place of that of an event
_TURN = "turn:"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is kept now."""

    episode: str
    root_hash: str
    #: its id
    record: str
    kind: str
    annotator: str
    #: False: the very same stood already, and nothing was written
    added: bool
    label: ErrorLabel | None = None
    #: onset, and its turn
    seq: int | None = None
    turn: int | None = None
    reason: InvalidReason | None = None
    #: ids of the records that it takes the place of
    supersedes: tuple[str, ...] = ()


def say_label(
    store: Path,
    episode: str,
    *,
    annotator: str,
    label: str,
    onset: str,
    confidence: Confidence | None = None,
    rationale: str = "",
    correct: bool = False,
) -> Said:
    """Labels the first error of a valid failed episode. `onset` is the number of an event ("341"), or "turn:3" for the
    Assistant's decision in that turn.

    AnnotationError when the episode is none that can be labelled, when the onset is none of its live interaction, and
    when the annotator said something of it already and this is no correction. UnknownNameError for no label.
    LogCorruptError when the log is damaged.
    """
    code = _label_named(label)
    subject = _subject(store, episode, annotator)
    refuse_label(subject)
    seq = _onset_named(subject.episode, onset)

    def make(root_hash: str, supersedes: tuple[str, ...]) -> Statement:
        return Label(
            root_hash=root_hash,
            annotator=annotator,
            label=code,
            seq=seq,
            confidence=confidence,
            rationale=rationale,
            supersedes=supersedes,
        )

    return _state(store, subject, annotator, make, correct=correct)


def say_valid(store: Path, episode: str, *, annotator: str, rationale: str = "", correct: bool = False) -> Said:
    """States that an episode is valid, without a label. AnnotationError and LogCorruptError as of `say_label`."""
    subject = _subject(store, episode, annotator)
    refuse_statement(subject)

    def make(root_hash: str, supersedes: tuple[str, ...]) -> Statement:
        return Validity(
            root_hash=root_hash, annotator=annotator, valid=True, rationale=rationale, supersedes=supersedes
        )

    return _state(store, subject, annotator, make, correct=correct)


def say_invalid(
    store: Path, episode: str, *, annotator: str, reason: str, rationale: str = "", correct: bool = False
) -> Said:
    """States that an episode is invalid, for one of `REASONS`. AnnotationError and LogCorruptError as of `say_label`,
    UnknownNameError for no reason."""
    why = _reason_named(reason)
    subject = _subject(store, episode, annotator)
    refuse_statement(subject)

    def make(root_hash: str, supersedes: tuple[str, ...]) -> Statement:
        return Validity(
            root_hash=root_hash,
            annotator=annotator,
            valid=False,
            reason=why,
            rationale=rationale,
            supersedes=supersedes,
        )

    return _state(store, subject, annotator, make, correct=correct)


def withdraw(store: Path, episode: str, *, annotator: str, rationale: str = "") -> Said:
    """Takes back what an annotator says of an episode. AnnotationError when nothing is there to take back."""
    subject = _subject(store, episode, annotator)

    def make(root_hash: str, supersedes: tuple[str, ...]) -> Statement:
        return Withdrawal(root_hash=root_hash, annotator=annotator, rationale=rationale, supersedes=supersedes)

    return _state(store, subject, annotator, make, correct=True)


def adjudicate(
    store: Path,
    episode: str,
    *,
    annotator: str,
    label: str | None = None,
    onset: str | None = None,
    reason: str | None = None,
    rationale: str,
    correct: bool = False,
) -> Said:
    """Decides what holds for an episode: a label with its onset, or the reason why it is invalid.

    AnnotationError when no annotator said anything of it yet, and when it is adjudicated already and this is no
    correction; else as of `say_label` and `say_invalid`.
    """
    if (label is None) == (reason is None) or (label is None) != (onset is None):
        raise AnnotationError("an adjudication has a label and its onset, or a reason why the episode is invalid")
    code = None if label is None else _label_named(label)
    why = None if reason is None else _reason_named(reason)
    subject = _subject(store, episode, annotator)
    (refuse_statement if onset is None else refuse_label)(subject)
    seq = None if onset is None else _onset_named(subject.episode, onset)
    name = subject.episode.id

    def say(ledger: Ledger) -> tuple[Record, ...]:
        root_hash = _root_hash(subject)
        _check_new_name(ledger, annotator)
        considered = {n for said in ledger.standing(root_hash).values() for n in said}
        if not considered:
            raise AnnotationError(f"there is nothing to adjudicate: nobody has said anything of {name}")
        before = ledger.adjudications(root_hash)
        made = Adjudication(
            root_hash=root_hash,
            annotator=annotator,
            label=code,
            seq=seq,
            reason=why,
            rationale=rationale,
            considered=tuple(sorted(considered)),
        )
        return (_in_place_of(before, made, correct=correct, what=f"{name} is adjudicated already"),)

    return _added(store, subject, say)


def _label_named(text: str) -> ErrorLabel:
    """UnknownNameError unless it is one of R1 to R6."""
    for name in LABELS:
        if text == name:
            return name
    raise UnknownNameError("label", text, known=tuple(LABELS))


def _reason_named(text: str) -> InvalidReason:
    """UnknownNameError unless it is one of `REASONS`."""
    for name in REASONS:
        if text == name:
            return name
    raise UnknownNameError("reason", text, known=tuple(REASONS))


def _onset_named(episode: Episode, text: str) -> int:
    """The event that an onset names: "341", or "turn:3". AnnotationError when it is none of live interaction."""
    number = text.removeprefix(_TURN)
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise AnnotationError(f"onset {text!r} is neither the number of an event nor turn:N, such as turn:3")
    if number == text:
        turn_in(episode, seq=int(number))
        return int(number)
    with read_log(episode.log) as log:
        return seq_of_turn(log, turn=int(number))


def _subject(store: Path, wanted: str, annotator: str) -> Subject:
    check_name(annotator)
    Store.open(store)
    episode = find_episode(store, wanted)
    if episode.folder is None:
        raise AnnotationError(
            f"{wanted} is a log outside the store, where annotations are kept; take it in first: "
            f"iwreplay log import {wanted} --store {store}"
        )
    return subject_of(episode)


def _root_hash(subject: Subject) -> str:
    assert subject.root_hash is not None, "what has none was refused"
    return subject.root_hash


def _state(
    store: Path,
    subject: Subject,
    annotator: str,
    make: Callable[[str, tuple[str, ...]], Statement],
    *,
    correct: bool,
) -> Said:
    """Keeps a statement, in place of those of the same annotator that stand."""
    name = subject.episode.id
    if subject.root_hash is None:
        refuse_statement(subject)

    def say(ledger: Ledger) -> tuple[Record, ...]:
        root_hash = _root_hash(subject)
        _check_new_name(ledger, annotator)
        standing = ledger.standing(root_hash).get(annotator, {})
        made = make(root_hash, ())
        withdrawn = all(isinstance(s, Withdrawal) for s in standing.values())
        if withdrawn and isinstance(made, Withdrawal):
            raise AnnotationError(f"there is nothing to withdraw: {annotator} says nothing of {name}")
        what = f"{annotator} has annotated {name} already"
        return (_in_place_of(standing, made, correct=correct or withdrawn, what=what),)

    return _added(store, subject, say)


def _in_place_of(standing: Mapping[str, Record], made: Record, *, correct: bool, what: str) -> Record:
    """`made`, superseding what stands; or what stands, when that is the very same."""
    for record in standing.values():
        if len(standing) == 1 and msgspec.structs.replace(record, supersedes=()) == made:
            return record
    if standing and not correct:
        raise AnnotationError(f"{what}; to put this in its place, say that it is a correction: --correct")
    return msgspec.structs.replace(made, supersedes=tuple(sorted(standing)))


def _check_new_name(ledger: Ledger, annotator: str) -> None:
    """One person under two names would count twice."""
    alike = [a for a in ledger.annotators if a != annotator and a.casefold() == annotator.casefold()]
    if alike and annotator not in ledger.annotators:
        raise AnnotationError(f"there is an annotator {alike[0]!r}, and {annotator!r} differs in case only")


def _added(store: Path, subject: Subject, say: Callable[[Ledger], tuple[Record, ...]]) -> Said:
    opened = Store.open(store)
    made: list[Record] = []

    def once(ledger: Ledger) -> tuple[Record, ...]:
        made[:] = say(ledger)
        return tuple(made)

    new, _ = add_annotations(opened, once)
    (record,) = made
    seq = onset_of(record)
    return Said(
        episode=subject.episode.id,
        root_hash=record.root_hash,
        record=record_id(record),
        kind=kind_of(record),
        annotator=record.annotator,
        added=bool(new),
        label=None if isinstance(record, Validity | Withdrawal) else record.label,
        seq=seq,
        turn=None if seq is None else turn_in(subject.episode, seq=seq),
        reason=None if isinstance(record, Label | Withdrawal) else record.reason,
        supersedes=record.supersedes,
    )
