"""First errors of the episodes of a store: what holds for each, how they are distributed, how far annotators agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from iwreplay.annotations import (
    NEEDED,
    AgreementFigures,
    Distribution,
    Ledger,
    Rating,
    Result,
    Vote,
    agreement_figures,
    distribution,
    onset_of,
    result_of,
    votes_of,
)
from iwreplay.app.subjects import Subject, subjects
from iwreplay.store import Store
from iwreplay.store.annotations import kept_annotations, turns_of_onsets

__all__ = ["FirstError", "FirstErrors", "LeftOut", "first_errors"]


class FirstError(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for a failed episode."""

    episode: str
    root_hash: str
    task: str | None
    family: str | None
    assistant: str | None
    human: str | None
    #: turn of the onset that holds
    turn: int | None
    result: Result


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What is in no distribution, counted."""

    passed: int
    #: not valid by their logs: a fault, an interruption
    spoilt: int
    unfinished: int
    damaged: int
    #: whole and valid, and `pass` can't judge them
    unscorable: int
    #: records about logs that are not in the store
    records_about_other_logs: int


class FirstErrors(msgspec.Struct, frozen=True, kw_only=True):
    """First errors of a store."""

    #: annotators who must say something before anything holds
    needed: int
    #: of every failed episode
    episodes: tuple[FirstError, ...]
    #: of all failed episodes, and of each Assistant's
    total: Distribution
    by_assistant: dict[str, Distribution]
    left_out: LeftOut
    #: over what annotators say at present, and over what the same ones said first, before any correction
    agreement: AgreementFigures
    agreement_first: AgreementFigures

    @property
    def settled(self) -> bool:
        """Every valid failure has a label that holds."""
        return self.total.labelled == self.total.failures


def first_errors(
    store: Path, *, needed: int = NEEDED, progress: Callable[[int, int], None] = lambda done, of: None
) -> FirstErrors:
    """First errors of all failed episodes of a store. StoreDamagedError when the annotations are damaged."""
    opened = Store.open(store)
    ledger = kept_annotations(opened)
    every = subjects(opened, progress=progress)
    failed = {s.root_hash: s for s in every if s.state == "failed" and s.root_hash is not None}
    turns = {root: turns_of_onsets(s.episode, ledger, root) for root, s in failed.items()}
    episodes = tuple(_first_error(s, ledger, root, turns[root], needed) for root, s in failed.items())
    present = [(root, votes_of(ledger.standing(root))) for root in failed]
    first = [
        (root, tuple(v for v in votes_of(ledger.first(root)) if v.annotator in {p.annotator for p in votes}))
        for root, votes in present
    ]
    known = {s.root_hash for s in every}
    return FirstErrors(
        needed=needed,
        episodes=episodes,
        total=distribution(e.result for e in episodes),
        by_assistant={
            name: distribution(e.result for e in episodes if e.assistant == name)
            for name in sorted({e.assistant for e in episodes if e.assistant is not None})
        },
        left_out=LeftOut(
            **{
                state: sum(s.state == state for s in every)
                for state in ("passed", "spoilt", "unfinished", "damaged", "unscorable")
            },
            records_about_other_logs=sum(r.root_hash not in known for r in ledger.records.values()),
        ),
        agreement=agreement_figures([_ratings(votes, turns[root]) for root, votes in present]),
        agreement_first=agreement_figures([_ratings(votes, turns[root]) for root, votes in first]),
    )


def _first_error(
    subject: Subject, ledger: Ledger, root_hash: str, turns: dict[int, int | str], needed: int
) -> FirstError:
    onsets = ((name, onset_of(ledger.records[name])) for name in ledger.about(root_hash))
    misplaced = [name for name, seq in onsets if seq is not None and _turn(turns, seq) is None]
    result = result_of(ledger, root_hash, needed=needed, misplaced=misplaced)
    return FirstError(
        episode=subject.episode.id,
        root_hash=root_hash,
        task=subject.task,
        family=subject.family,
        assistant=subject.assistant,
        human=subject.human,
        turn=_turn(turns, result.seq),
        result=result,
    )


def _ratings(votes: tuple[Vote, ...], turns: dict[int, int | str]) -> list[Rating]:
    return [Rating(annotator=v.annotator, outcome=v.outcome, turn=_turn(turns, v.seq)) for v in votes]


def _turn(turns: dict[int, int | str], seq: int | None) -> int | None:
    """None for no onset, and for one that is none of the log."""
    found = None if seq is None else turns[seq]
    return found if isinstance(found, int) else None
