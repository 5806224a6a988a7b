"""JSON Lines and CSV read back as what was written, and foreign text is refused by its line."""

from __future__ import annotations

import csv
import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwreplay.annotations import (
    CONFIDENCES,
    FORMATS,
    LABELS,
    REASONS,
    Adjudication,
    Label,
    Record,
    TextFormat,
    Validity,
    Withdrawal,
    read_records,
    record_id,
    write_records,
)
from iwreplay.errors import AnnotationError

LOG, OTHER = "a" * 64, "b" * 64

_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=30)
_NAMES = st.sampled_from(["anna", "Zoë", "大和", "a,b", 'the "other"', "=1+1", "true", "1"])
_ROOTS = st.sampled_from([LOG, OTHER])
_IDS = st.lists(st.text("0123456789abcdef", min_size=64, max_size=64), max_size=3).map(lambda x: tuple(sorted(set(x))))
_SEQS = st.integers(0, 2**63 - 1)
_SOME: dict[str, st.SearchStrategy[object]] = {
    "root_hash": _ROOTS, "annotator": _NAMES, "supersedes": _IDS, "rationale": _TEXT
}  # fmt: skip
_WHY = _TEXT.filter(bool)
RECORDS: st.SearchStrategy[Record] = st.one_of(
    st.builds(
        Label, **_SOME, label=st.sampled_from(list(LABELS)), seq=_SEQS, confidence=st.sampled_from([None, *CONFIDENCES])
    ),
    st.builds(Validity, **_SOME, valid=st.just(True)),
    st.builds(Validity, **{**_SOME, "rationale": _WHY}, valid=st.just(False), reason=st.sampled_from(list(REASONS))),
    st.builds(Withdrawal, **{**_SOME, "supersedes": _IDS.filter(bool)}),
    st.builds(
        Adjudication,
        **{**_SOME, "rationale": _WHY},
        label=st.sampled_from(list(LABELS)),
        seq=_SEQS,
        considered=_IDS,
    ),
    st.builds(Adjudication, **{**_SOME, "rationale": _WHY}, reason=st.sampled_from(list(REASONS)), considered=_IDS),
)


def _root_of(name: str) -> str:
    if name != "V06-silent":
        raise AnnotationError(f"unknown episode {name!r}")
    return LOG


def _seq_of(root_hash: str, turn: int) -> int:
    if (root_hash, turn) != (LOG, 2):
        raise AnnotationError(f"the log has no turn {turn}")
    return 565


def _read(data: bytes, form: TextFormat) -> tuple[tuple[int, Record], ...]:
    return read_records(data, form=form, root_of=_root_of, seq_of=_seq_of)


@pytest.mark.parametrize("form", FORMATS)
@given(records=st.lists(RECORDS, max_size=6))
def test_what_is_written_reads_back_as_the_same(form: TextFormat, records: list[Record]) -> None:
    text = write_records(records, form=form)
    read = [r for _, r in _read(text.encode(), form)]
    assert read == records
    assert write_records(read, form=form) == text


def test_a_line_of_json_is_the_record_with_its_id() -> None:
    made = Label(root_hash=LOG, annotator="anna", label="R2", seq=341, rationale='"so"\nand so')
    (line,) = write_records([made], form="jsonl").splitlines()
    assert json.loads(line) == {
        "id": record_id(made),
        "kind": "label",
        "root_hash": LOG,
        "annotator": "anna",
        "label": "R2",
        "seq": 341,
        "rationale": '"so"\nand so',
    }


def test_a_table_that_a_spreadsheet_has_saved_reads_the_same() -> None:
    """With a byte order mark, other ends of lines, and every cell in quotes."""
    made = [
        Label(root_hash=LOG, annotator="anna", label="R2", seq=341, rationale="one\ntwo"),
        Validity(root_hash=LOG, annotator="ben", valid=False, reason="other", rationale="x"),
    ]
    rows = list(csv.reader(io.StringIO(write_records(made, form="csv"), newline="")))
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerows(rows)
    saved = out.getvalue().replace("false", "FALSE").encode("utf-8-sig")
    assert [r for _, r in _read(saved, "csv")] == made


def test_people_may_write_less() -> None:
    table = b"annotator,episode,turn,label\nanna,V06-silent,2,R6\n\nben,V06-silent,2,R1\n"
    assert _read(table, "csv") == (
        (2, Label(root_hash=LOG, annotator="anna", label="R6", seq=565)),
        (4, Label(root_hash=LOG, annotator="ben", label="R1", seq=565)),
    )
    lines = b'\n{"annotator":"anna","root_hash":"%s","label":"R6","seq":1}\n' % LOG.encode()
    assert _read(lines, "jsonl") == ((2, Label(root_hash=LOG, annotator="anna", label="R6", seq=1)),)


def test_the_line_is_that_on_which_the_record_begins() -> None:
    good = Label(root_hash=LOG, annotator="anna", label="R2", seq=341, rationale="one\ntwo\nthree")
    text = write_records([good], form="csv") + ",label," + "\n"
    with pytest.raises(AnnotationError, match="line 5: it has 3 cells, and there are 12 columns") as caught:
        _read(text.encode(), "csv")
    assert caught.value.line == 5


_LINE = {"annotator": "anna", "root_hash": LOG, "label": "R6", "seq": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": "R7"}, "Invalid enum value 'R7'"),
        ({"label": None}, "Expected `str`"),
        ({"seq": "1"}, "Expected `int`, got `str`"),
        ({"seq": True}, "Expected `int`, got `bool`"),
        ({"seq": 1.5}, "Expected `int`"),
        ({"seq": -1}, "onset -1 is no number of an event"),
        ({"kind": "opinion"}, "Invalid value 'opinion'"),
        ({"colour": "red"}, "unknown field `colour`"),
        ({"root_hash": "V06"}, "root hash 'V06' is none"),
        ({"annotator": "  "}, "can't name an annotator"),
        ({"supersedes": "x"}, "Expected `array`"),
        ({"confidence": "sure"}, "Invalid enum value 'sure'"),
        ({"id": "c" * 64}, "is not that of what it says"),
        ({"episode": "V06-silent"}, "both root_hash and episode"),
        ({"turn": 2}, "both seq and turn"),
    ],
)
def test_a_foreign_line_is_refused_by_its_number(change: dict[str, object], said: str) -> None:
    lines = json.dumps(_LINE) + "\n" + json.dumps({**_LINE, **change}) + "\n"
    with pytest.raises(AnnotationError, match=f"^line 2: .*{said}"):
        _read(lines.encode(), "jsonl")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("anna,V06,2,R6,", "unknown episode 'V06'"),
        ("anna,V06-silent,3,R6,", "the log has no turn 3"),
        ("anna,V06-silent,two,R6,", "turn 'two' is no whole number"),
        (f"anna,V06-silent,{'1' * 5000},R6,", "is no whole number"),
        ("anna,V06-silent,,R6,", "missing required field `seq`"),
        ("anna,,2,R6,", "the log has no turn 2"),
        ("anna,V06-silent,2,R6,maybe", "valid 'maybe' is neither true nor false"),
        ("anna,V06-silent,2,R6,true", "unknown field `valid`"),
        ('anna,"V06-silent,2,R6,', "no row of a table"),
        ("anna,V06-silent", "2 cells, and there are 5 columns"),
    ],
)
def test_a_foreign_row_is_refused_by_its_number(row: str, said: str) -> None:
    table = f"annotator,episode,turn,label,valid\nben,V06-silent,2,R1,\n{row}\n"
    with pytest.raises(AnnotationError, match=f"^line 3: .*{said}"):
        _read(table.encode(), "csv")


@pytest.mark.parametrize(
    ("data", "form", "said"),
    [
        (b"annotator;label\n", "csv", "line 1: there is no column 'annotator;label'"),
        (b"label,label\n", "csv", "line 1: a column is there twice"),
        (b'{"a":1}\n\xff\n', "jsonl", "line 2: it is not UTF-8"),
        (b"[1]\n", "jsonl", "line 1: it is no JSON object"),
        (b"\n{\n", "jsonl", "line 2: it is no JSON object"),
    ],
)
def test_what_is_no_file_of_annotations(data: bytes, form: TextFormat, said: str) -> None:
    with pytest.raises(AnnotationError, match=said):
        _read(data, form)


def test_a_changed_record_is_told_from_a_new_one() -> None:
    made = Label(root_hash=LOG, annotator="anna", label="R2", seq=341)
    text = write_records([made], form="jsonl").replace('"R2"', '"R1"')
    with pytest.raises(AnnotationError, match=r"it was changed\. A correction is a record of its own"):
        _read(text.encode(), "jsonl")
    fields = {k: v for k, v in json.loads(text).items() if k != "id"}
    (read,) = _read(json.dumps(fields).encode(), "jsonl")
    assert read == (1, msgspec.structs.replace(made, label="R1"))
