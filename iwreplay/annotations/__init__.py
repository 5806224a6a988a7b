"""First errors of failed episodes, as people see them: records, what stands of them, and what they come to. Pure.

docs/annotations.md says what each record means and which rules hold.
"""

from __future__ import annotations

from iwreplay.annotations.agreement import AgreementFigures, PairFigures, Rating, agreement_figures
from iwreplay.annotations.distribution import Distribution, distribution
from iwreplay.annotations.ledger import Ledger
from iwreplay.annotations.model import (
    CONFIDENCES,
    LABELS,
    REASONS,
    Adjudication,
    Confidence,
    ErrorLabel,
    InvalidReason,
    Label,
    Record,
    Statement,
    Validity,
    Withdrawal,
    kind_of,
    onset_of,
    record_id,
)
from iwreplay.annotations.onsets import EventLog, seq_of_turn, turn_at
from iwreplay.annotations.results import NEEDED, Result, Vote, result_of, torn, vote_of, votes_of
from iwreplay.annotations.rules import check_name, check_record, check_together
from iwreplay.annotations.text import FORMATS, TextFormat, read_records, write_records

__all__ = [
    "CONFIDENCES",
    "FORMATS",
    "LABELS",
    "NEEDED",
    "REASONS",
    "Adjudication",
    "AgreementFigures",
    "Confidence",
    "Distribution",
    "ErrorLabel",
    "EventLog",
    "InvalidReason",
    "Label",
    "Ledger",
    "PairFigures",
    "Rating",
    "Record",
    "Result",
    "Statement",
    "TextFormat",
    "Validity",
    "Vote",
    "Withdrawal",
    "agreement_figures",
    "check_name",
    "check_record",
    "check_together",
    "distribution",
    "kind_of",
    "onset_of",
    "read_records",
    "record_id",
    "result_of",
    "seq_of_turn",
    "torn",
    "turn_at",
    "vote_of",
    "votes_of",
    "write_records",
]
