"""What makes a record one: by itself, and beside those that are there. What a log says of it is asked elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from iwreplay.annotations.ledger import Ledger
from iwreplay.annotations.model import Adjudication, Label, Record, Validity, Withdrawal, record_id
from iwreplay.errors import AnnotationError

__all__ = ["MAX_NAME", "MAX_RATIONALE", "check_name", "check_record", "check_together"]

#: characters
MAX_NAME, MAX_RATIONALE = 64, 4000
_HASH = re.compile(r"[0-9a-f]{64}")
#: characters of an id that tell which is meant
_SHORT = 12


def check_name(name: str) -> None:
    """AnnotationError unless it can name an annotator: one line of printable text, without blanks around it."""
    if not name or name != name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise AnnotationError(
            f"{name!r} can't name an annotator: a name is 1 to {MAX_NAME} printable characters, no blanks around them"
        )
    if unicodedata.normalize("NFC", name) != name:
        raise AnnotationError(f"{name!r} can't name an annotator: its accents are apart from their letters (not NFC)")


def check_record(record: Record) -> None:
    """AnnotationError for a record that says nothing, contradicts itself, or can't be written."""
    if not _HASH.fullmatch(record.root_hash):
        raise AnnotationError(f"root hash {record.root_hash!r} is none: it has 64 hexadecimal digits, in lower case")
    check_name(record.annotator)
    _check_rationale(record.rationale)
    _check_ids("supersedes", record.supersedes)
    match record:
        case Label():
            _check_seq(record.seq)
        case Validity():
            if record.valid != (record.reason is None):
                raise AnnotationError("an episode is valid, or it is invalid for a reason: one of the two")
            if record.reason == "other" and not record.rationale:
                raise AnnotationError("the reason 'other' needs a rationale that says what")
        case Withdrawal():
            if not record.supersedes:
                raise AnnotationError("a withdrawal names the records that it takes back")
        case Adjudication():
            _check_ids("considered", record.considered)
            if (record.label is None) == (record.reason is None) or (record.label is None) != (record.seq is None):
                raise AnnotationError("an adjudication has a label and its onset, or a reason why it is invalid")
            if record.seq is not None:
                _check_seq(record.seq)
            if not record.rationale:
                raise AnnotationError("an adjudication needs a rationale")


def check_together(new: Iterable[tuple[int | None, Record]], ledger: Ledger) -> None:
    """AnnotationError when a record takes the place of one that is neither in the ledger nor among the new ones, or
    that it may not supersede: only one's own statements, and any adjudication of the same log. `new`: (line of the file
    that it came from, record)."""
    new = tuple(new)
    there = ledger.records | {record_id(r): r for _, r in new}
    for line, record in new:
        for name in record.supersedes:
            old = there.get(name)
            if old is None:
                raise AnnotationError(
                    f"it supersedes {name[:_SHORT]}, which is neither here nor in the store; import that with it",
                    line=line,
                )
            if old.root_hash != record.root_hash:
                raise AnnotationError(f"it supersedes {name[:_SHORT]}, which is about another log", line=line)
            adjudicates, adjudicated = isinstance(record, Adjudication), isinstance(old, Adjudication)
            if adjudicates != adjudicated:
                raise AnnotationError(
                    f"it supersedes {name[:_SHORT]}: an adjudication takes the place of adjudications only, "
                    "and nothing else does",
                    line=line,
                )
            if not adjudicates and old.annotator != record.annotator:
                raise AnnotationError(
                    f"it supersedes {name[:_SHORT]}, which {old.annotator} said: nobody corrects another's record, "
                    "that is what adjudication is for",
                    line=line,
                )


def _check_seq(seq: int) -> None:
    if not 0 <= seq < 2**63:
        raise AnnotationError(f"onset {seq} is no number of an event")


def _check_ids(what: str, ids: tuple[str, ...]) -> None:
    for name in ids:
        if not _HASH.fullmatch(name):
            raise AnnotationError(f"{what}: {name!r} is no id of a record, which has 64 hexadecimal digits")
    if list(ids) != sorted(set(ids)):
        raise AnnotationError(f"{what}: ids are sorted, and each is there once")


def _check_rationale(text: str) -> None:
    if len(text) > MAX_RATIONALE:
        raise AnnotationError(f"a rationale has {MAX_RATIONALE} characters at most, this one {len(text)}")
    odd = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"), None)
    if odd is not None:
        raise AnnotationError(f"a rationale is text; it can't hold the character {odd!r}")
