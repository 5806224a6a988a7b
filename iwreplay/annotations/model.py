"""What people say of a failed episode, as records: each points at (root hash of the log, number of an event).

A record is never changed. Its id is the hash of what it says, so the same words are the same record wherever they come
from. A later record names the ids that it supersedes; both stay. No record has a wall time: the order that matters is
in what supersedes what.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from iwreplay.canonical import struct_hash

__all__ = [
    "CONFIDENCES",
    "LABELS",
    "REASONS",
    "Adjudication",
    "Confidence",
    "ErrorLabel",
    "InvalidReason",
    "Label",
    "Record",
    "Statement",
    "Validity",
    "Withdrawal",
    "kind_of",
    "onset_of",
    "record_id",
]

ErrorLabel = Literal["R1", "R2", "R3", "R4", "R5", "R6"]
#: rule 37: the earliest critical error of a failed episode is one of these
LABELS: dict[ErrorLabel, str] = {
    "R1": "visual misreading",
    "R2": "lost state tracking",
    "R3": "wrong rule or causal reasoning",
    "R4": "planning error",
    "R5": "instruction that can't be executed",
    "R6": "wrong time to intervene",
}

InvalidReason = Literal["human_restriction", "task_defect", "world_defect", "other"]
#: why an episode that ran to its end says nothing about its Assistant; a fault or an interruption is in the log itself
REASONS: dict[InvalidReason, str] = {
    "human_restriction": "the Human broke its restriction: it inferred, planned or repaired what it must not",
    "task_defect": "the task can't be done as it is asked, or is judged wrongly",
    "world_defect": "the simulated world did what it must not",
    "other": "something else; the rationale says what",
}

Confidence = Literal["low", "medium", "high"]
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)


# Defaults are left out of the canonical form, so that a field that a later version adds changes no id.
class _Record(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="kind"
):
    #: of the log that it is about
    root_hash: str
    #: who says it
    annotator: str
    #: ids of the records that it takes the place of, sorted
    supersedes: tuple[str, ...] = ()
    #: why, in words
    rationale: str = ""


class Label(_Record, frozen=True, kw_only=True, tag="label"):
    """The first error of a failed episode. It says too that the episode is valid."""

    label: ErrorLabel
    #: onset: number of the event at which it begins, in live interaction
    seq: int
    confidence: Confidence | None = None


class Validity(_Record, frozen=True, kw_only=True, tag="validity"):
    """Whether the episode says anything about its Assistant. `valid` alone is no label yet."""

    valid: bool
    #: None when it is valid
    reason: InvalidReason | None = None


class Withdrawal(_Record, frozen=True, kw_only=True, tag="withdrawal"):
    """What was said is taken back, and nothing is put in its place."""


class Adjudication(_Record, frozen=True, kw_only=True, tag="adjudication"):
    """What holds where annotators differ, decided by one person. It takes the place of no annotator's record, only of
    earlier adjudications."""

    #: None: the episode is invalid
    label: ErrorLabel | None = None
    #: onset; None without a label
    seq: int | None = None
    #: why it is invalid; None with a label
    reason: InvalidReason | None = None
    #: ids of the annotators' records that stood when it was decided, sorted
    considered: tuple[str, ...] = ()


#: what an annotator says of an episode: at any time one of them stands
Statement = Label | Validity | Withdrawal
Record = Label | Validity | Withdrawal | Adjudication


def kind_of(record: Record) -> str:
    """label, validity, withdrawal or adjudication."""
    return str(record.__struct_config__.tag)


def onset_of(record: Record) -> int | None:
    """The event at which the error begins; None in a record without a label."""
    return record.seq if isinstance(record, Label | Adjudication) else None


def record_id(record: Record) -> str:
    """SHA-256 of its canonical JSON, 64 hexadecimal digits."""
    return struct_hash(record)
