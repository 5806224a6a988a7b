"""What annotators' records come to for an episode: unanimous, a majority, adjudicated, or open.

The rule: at least `needed` annotators say something of the episode, and strictly more than half of all who do say the
same (one of R1 to R6, or that it is invalid). That is the result: unanimous when all say it, else a majority. Anything
else is open until somebody adjudicates, and an adjudication goes before any count. The onset is the median of the
onsets of those who gave the label that holds, the earlier of the two in the middle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Literal

import msgspec

from iwreplay.annotations.ledger import Ledger
from iwreplay.annotations.model import Adjudication, ErrorLabel, InvalidReason, Label, Statement, Validity, Withdrawal

__all__ = ["NEEDED", "Outcome", "Result", "ResultStatus", "Vote", "result_of", "torn", "vote_of", "votes_of"]

#: annotators who must say something before anything holds
NEEDED = 2

Outcome = ErrorLabel | Literal["valid", "invalid"]
ResultStatus = Literal["unlabelled", "open", "unanimous", "majority", "adjudicated"]


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """What one annotator says at present."""

    annotator: str
    #: id of the record
    record: str
    #: a label, or "invalid", or "valid" (looked at, and not labelled yet)
    outcome: Outcome
    #: onset, with a label
    seq: int | None = None
    #: with "invalid"
    reason: InvalidReason | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for one log."""

    status: ResultStatus
    #: a label or "invalid"; None while nothing holds
    outcome: ErrorLabel | Literal["invalid"] | None = None
    #: onset of the label that holds
    seq: int | None = None
    #: why it is invalid: every reason that was given, sorted
    reasons: tuple[InvalidReason, ...] = ()
    #: why it is open, "" when it is not
    why: str = ""
    #: by annotator
    votes: tuple[Vote, ...] = ()
    #: ids of the adjudications that stand
    adjudications: tuple[str, ...] = ()
    #: True: annotators said other things since it was adjudicated
    outdated: bool = False


def vote_of(annotator: str, standing: Mapping[str, Statement]) -> Vote | None:
    """What an annotator says: None when all of it is withdrawn, or when records that do not know of each other say
    different things (after a merge)."""
    if len({_said(s) for s in standing.values()}) > 1:
        return None
    # any of them: they say the same
    record = min(standing)
    match standing[record]:
        case Label() as it:
            return Vote(annotator=annotator, record=record, outcome=it.label, seq=it.seq)
        case Validity() as it:
            return Vote(
                annotator=annotator, record=record, outcome="valid" if it.valid else "invalid", reason=it.reason
            )
        case Withdrawal():
            return None


def votes_of(said: Mapping[str, Mapping[str, Statement]]) -> tuple[Vote, ...]:
    """The votes of those who have one, in their order; `said` is as of a ledger: annotator -> id -> statement."""
    return tuple(v for name, of_it in said.items() if (v := vote_of(name, of_it)) is not None)


def torn(standing: Mapping[str, Mapping[str, Statement]]) -> tuple[str, ...]:
    """Annotators who say different things at once, in records that do not know of each other."""
    return tuple(name for name, said in standing.items() if len({_said(s) for s in said.values()}) > 1)


def result_of(
    ledger: Ledger, root_hash: str, *, needed: int = NEEDED, misplaced: Collection[str] = frozenset()
) -> Result:
    """What holds for the log of that root hash. Independent of the order of records. `misplaced`: ids of records whose
    onset is none of the log; nothing holds while one of them counts."""
    standing = ledger.standing(root_hash)
    votes = votes_of(standing)
    adjudications = ledger.adjudications(root_hash)
    counting = {n: a.annotator for n, a in adjudications.items()} or {v.record: v.annotator for v in votes}
    strays = sorted({who for name, who in counting.items() if name in misplaced})
    if strays:
        found = Result(status="open", why=f"onsets that are none of the log: {', '.join(strays)}")
    elif adjudications:
        found = _adjudicated(adjudications, standing)
    else:
        found = _counted(votes, torn(standing), needed)
    return msgspec.structs.replace(found, votes=votes, adjudications=tuple(adjudications))


def _adjudicated(adjudications: Mapping[str, Adjudication], standing: Mapping[str, Mapping[str, Statement]]) -> Result:
    said = {(a.label, a.seq, a.reason) for a in adjudications.values()}
    if len(said) > 1:
        names = ", ".join(sorted(a.annotator for a in adjudications.values()))
        return Result(status="open", why=f"adjudications differ: {names}")
    ((label, seq, reason),) = said
    known = {name for a in adjudications.values() for name in a.considered}
    return Result(
        status="adjudicated",
        outcome=label or "invalid",
        seq=seq,
        reasons=() if reason is None else (reason,),
        outdated=known != {name for said in standing.values() for name in said},
    )


def _counted(votes: tuple[Vote, ...], divided: tuple[str, ...], needed: int) -> Result:
    if divided:
        return Result(status="open", why=f"records that were merged differ: {', '.join(divided)}")
    if not votes:
        return Result(status="unlabelled")
    if len(votes) < needed:
        return Result(status="open", why=f"{len(votes)} of {needed} annotators")
    counts = Counter(v.outcome for v in votes)
    outcome, most = counts.most_common(1)[0]
    if 2 * most <= len(votes):
        return Result(status="open", why=f"no majority: {', '.join(f'{v.outcome} {v.annotator}' for v in votes)}")
    if outcome == "valid":
        return Result(status="open", why="valid, and not labelled by most")
    of_it = [v for v in votes if v.outcome == outcome]
    onsets = sorted(v.seq for v in of_it if v.seq is not None)
    return Result(
        status="unanimous" if most == len(votes) else "majority",
        outcome=outcome,
        seq=onsets[(len(onsets) - 1) // 2] if onsets else None,
        reasons=tuple(sorted({v.reason for v in of_it if v.reason is not None})),
    )


def _said(statement: Statement) -> tuple[object, ...]:
    """What it comes to, without its words: two records that say the same do not differ."""
    match statement:
        case Label():
            return ("label", statement.label, statement.seq)
        case Validity():
            return ("validity", statement.valid, statement.reason)
        case Withdrawal():
            return ("withdrawal",)
