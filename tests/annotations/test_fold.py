"""What stands of a set of records does not depend on their order, and the rule says what they come to."""

from __future__ import annotations

import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwreplay.annotations import (
    LABELS,
    Adjudication,
    ErrorLabel,
    Label,
    Ledger,
    Record,
    Validity,
    Withdrawal,
    check_record,
    check_together,
    distribution,
    record_id,
    result_of,
    torn,
)
from iwreplay.errors import AnnotationError

LOG, OTHER = "a" * 64, "b" * 64


def label(
    annotator: str, code: ErrorLabel = "R1", seq: int = 10, *, instead: tuple[Record, ...] = (), root: str = LOG
) -> Label:
    return Label(root_hash=root, annotator=annotator, label=code, seq=seq, supersedes=ids(*instead))


def invalid(annotator: str, *, instead: tuple[Record, ...] = ()) -> Validity:
    return Validity(root_hash=LOG, annotator=annotator, valid=False, reason="task_defect", supersedes=ids(*instead))


def withdrawn(annotator: str, *instead: Record) -> Withdrawal:
    return Withdrawal(root_hash=LOG, annotator=annotator, supersedes=ids(*instead))


def decided(
    annotator: str, code: ErrorLabel, seq: int, *considered: Record, instead: tuple[Record, ...] = ()
) -> Adjudication:
    return Adjudication(
        root_hash=LOG,
        annotator=annotator,
        label=code,
        seq=seq,
        rationale="seen",
        considered=ids(*considered),
        supersedes=ids(*instead),
    )


def ids(*records: Record) -> tuple[str, ...]:
    return tuple(sorted(set(map(record_id, records))))


def outcome(*records: Record, needed: int = 2) -> tuple[str, str | None, int | None]:
    found = result_of(Ledger(records), LOG, needed=needed)
    return found.status, found.outcome, found.seq


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((), ("unlabelled", None, None)),
        ((label("a"),), ("open", None, None)),
        ((label("a"), label("b")), ("unanimous", "R1", 10)),
        ((label("a"), label("b", "R2")), ("open", None, None)),
        ((label("a"), label("b", "R2"), label("c", "R2", 30)), ("majority", "R2", 10)),
        ((label("a", "R2", 50), label("b", "R2", 40), label("c", "R2", 30)), ("unanimous", "R2", 40)),
        ((label("a", "R2", 50), label("b", "R2", 40)), ("unanimous", "R2", 40)),
        ((label("a"), label("b"), label("c", "R2"), label("d", "R2")), ("open", None, None)),
        ((label("a"), label("b"), label("c", "R2"), label("d", "R3")), ("open", None, None)),
        ((label("a"), invalid("b")), ("open", None, None)),
        ((invalid("a"), invalid("b"), label("c")), ("majority", "invalid", None)),
        ((label("a"), Validity(root_hash=LOG, annotator="b", valid=True)), ("open", None, None)),
        (
            tuple(Validity(root_hash=LOG, annotator=n, valid=True) for n in "ab"),
            ("open", None, None),
        ),
        ((label("a"), label("b", root=OTHER)), ("open", None, None)),
    ],
)
def test_the_rule(records: tuple[Record, ...], expected: tuple[str, str | None, int | None]) -> None:
    assert outcome(*records) == expected
    assert outcome(*reversed(records)) == expected


def test_one_annotator_is_enough_where_that_is_said() -> None:
    assert outcome(label("a"), needed=1) == ("unanimous", "R1", 10)


def test_a_correction_of_a_correction_is_what_stands() -> None:
    first = label("a", "R1")
    second = label("a", "R2", instead=(first,))
    back = label("a", "R1", instead=(second,))
    ledger = Ledger((back, first, second))
    assert ledger.standing(LOG) == {"a": {record_id(back): back}}
    assert ledger.superseded == {record_id(first), record_id(second)}
    assert ledger.about(LOG) == (record_id(first), record_id(second), record_id(back))
    assert outcome(first, second, back, label("b", "R1")) == ("unanimous", "R1", 10)


def test_what_is_withdrawn_counts_for_nothing_and_can_be_said_again() -> None:
    first = label("a")
    gone = withdrawn("a", first)
    assert outcome(first, gone) == ("unlabelled", None, None)
    assert outcome(first, gone, label("b"), needed=1) == ("unanimous", "R1", 10)
    again = label("a", instead=(gone,))
    assert record_id(again) != record_id(first)
    assert outcome(first, gone, again, label("b")) == ("unanimous", "R1", 10)


def test_records_that_do_not_know_of_each_other_leave_it_open_until_one_settles_them() -> None:
    first = label("a", "R1")
    here, there = label("a", "R2", instead=(first,)), label("a", "R3", instead=(first,))
    found = result_of(Ledger((first, here, there, label("b", "R2"))), LOG)
    assert (found.status, found.why) == ("open", "records that were merged differ: a")
    assert torn(Ledger((first, here, there)).standing(LOG)) == ("a",)
    settled = label("a", "R2", instead=(here, there))
    assert outcome(first, here, there, settled, label("b", "R2")) == ("unanimous", "R2", 10)


def test_two_records_that_say_the_same_do_not_differ() -> None:
    here, there = label("a"), msgspec.structs.replace(label("a"), rationale="the sponge")
    assert outcome(here, there, label("b")) == ("unanimous", "R1", 10)


def test_an_adjudication_goes_before_any_count_and_is_outdated_by_what_it_did_not_know() -> None:
    a, b = label("a", "R1"), label("b", "R2", 20)
    case = decided("c", "R3", 15, a, b)
    found = result_of(Ledger((a, b, case)), LOG)
    assert (found.status, found.outcome, found.seq, found.outdated) == ("adjudicated", "R3", 15, False)
    assert [(v.annotator, v.outcome) for v in found.votes] == [("a", "R1"), ("b", "R2")]
    later = result_of(Ledger((a, b, case, label("a", "R2", instead=(a,)))), LOG)
    assert (later.status, later.outcome, later.outdated) == ("adjudicated", "R3", True)


def test_adjudications_that_differ_leave_it_open_until_one_takes_their_place() -> None:
    a, b = label("a", "R1"), label("b", "R2", 20)
    one, two = decided("c", "R1", 10, a, b), decided("d", "R2", 20, a, b)
    found = result_of(Ledger((a, b, one, two)), LOG)
    assert (found.status, found.why) == ("open", "adjudications differ: c, d")
    last = decided("d", "R1", 10, a, b, instead=(one, two))
    assert outcome(a, b, one, two, last) == ("adjudicated", "R1", 10)


def test_nothing_holds_while_an_onset_that_is_none_of_the_log_counts() -> None:
    a, b, c = label("a"), label("b"), label("c", "R2", 99)
    ledger = Ledger((a, b, c))
    found = result_of(ledger, LOG, misplaced={record_id(c)})
    assert (found.status, found.outcome, found.why) == ("open", None, "onsets that are none of the log: c")
    decision = decided("d", "R1", 10, a, b, c)
    with_decision = Ledger((a, b, c, decision))
    assert result_of(with_decision, LOG, misplaced={record_id(c)}).outcome == "R1", "the decision does not rest on it"
    assert result_of(with_decision, LOG, misplaced={record_id(decision)}).status == "open"


_NAMES = st.sampled_from("abc")


@st.composite
def histories(draw: st.DrawFn) -> list[Record]:
    """Records as people might give them, on machines that know some of the records of others."""
    made: list[Record] = []
    for _ in range(draw(st.integers(0, 9))):
        name = draw(_NAMES)
        own = [r for r in made if r.annotator == name and not isinstance(r, Adjudication)]
        instead = tuple(draw(st.sets(st.sampled_from(own), max_size=2))) if own else ()
        kind = draw(st.sampled_from(["label", "invalid", "withdrawn", "decided"]))
        if kind == "label":
            made.append(label(name, draw(st.sampled_from(list(LABELS))), draw(st.integers(0, 40)), instead=instead))
        elif kind == "invalid":
            made.append(invalid(name, instead=instead))
        elif kind == "withdrawn" and instead:
            made.append(withdrawn(name, *instead))
        elif kind == "decided" and made:
            before = [r for r in made if isinstance(r, Adjudication)]
            old = tuple(draw(st.sets(st.sampled_from(before), max_size=2))) if before else ()
            considered = [r for r in made if not isinstance(r, Adjudication)]
            made.append(decided(name, "R4", draw(st.integers(0, 40)), *considered, instead=old))
    return made


@given(
    histories().flatmap(
        lambda made: st.tuples(st.just(made), st.permutations(made), st.lists(st.sampled_from(made or [label("a")])))
    )
)
def test_the_order_of_records_and_their_repetition_say_nothing(
    case: tuple[list[Record], list[Record], list[Record]],
) -> None:
    made, shuffled, repeated = case
    one, two = Ledger(made), Ledger([*shuffled, *(r for r in repeated if r in made)])
    assert result_of(one, LOG) == result_of(two, LOG)
    assert one.about(LOG) == two.about(LOG)
    assert one.standing(LOG) == two.standing(LOG)
    assert one.adjudications(LOG) == two.adjudications(LOG)
    assert list(one.standing(LOG)) == sorted(one.standing(LOG))
    for record in made:
        check_record(record)
    check_together(((None, r) for r in made), Ledger())


@given(histories())
def test_every_record_is_kept_and_a_superseded_one_never_stands(made: list[Record]) -> None:
    ledger = Ledger(made)
    assert set(ledger.about(LOG)) == set(map(record_id, made))
    standing = {n for said in ledger.standing(LOG).values() for n in said} | set(ledger.adjudications(LOG))
    assert standing == set(ledger.records) - {s for r in made for s in r.supersedes}
    assert bool(standing) == bool(made), "what supersedes stands in the place of what it supersedes"


def test_shares_are_of_what_has_a_label_that_holds_and_the_rest_is_beside_them() -> None:
    found = distribution(
        result_of(Ledger(records), LOG)
        for records in (
            (label("a"), label("b")),
            (label("a"), label("b")),
            (label("a", "R2"), label("b", "R2"), label("c")),
            (label("a"), label("b", "R2")),
            (label("a"),),
            (),
            (invalid("a"), invalid("b")),
        )
    )
    assert (found.failures, found.labelled, found.open, found.unlabelled, found.invalid) == (6, 3, 2, 1, 1)
    assert found.failures == found.labelled + found.open + found.unlabelled
    assert found.counts == {"R1": 2, "R2": 1, "R3": 0, "R4": 0, "R5": 0, "R6": 0}
    assert found.shares["R1"] == 2 / 3
    assert found.reasons == {"task_defect": 1}
    nothing = distribution([])
    assert set(nothing.shares.values()) == {None}


def test_an_id_is_that_of_the_content_and_outlives_fields_that_are_left_out() -> None:
    """As in the first version: a change would make strangers of all records that there are."""
    made = Label(root_hash=LOG, annotator="anna", label="R2", seq=341)
    text = '{"kind":"label","root_hash":"' + LOG + '","annotator":"anna","label":"R2","seq":341}'
    assert record_id(made) == hashlib.sha256(text.encode()).hexdigest()
    assert record_id(msgspec.structs.replace(made, confidence="low")) != record_id(made)


_OK = label("a")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (msgspec.structs.replace(_OK, root_hash="A" * 64), "is none: it has 64"),
        (msgspec.structs.replace(_OK, annotator=""), "'' can't name an annotator"),
        (msgspec.structs.replace(_OK, annotator=" a"), "' a' can't name an annotator"),
        (msgspec.structs.replace(_OK, annotator="a\nb"), "can't name an annotator"),
        (msgspec.structs.replace(_OK, annotator="a" * 65), "1 to 64 printable characters"),
        (msgspec.structs.replace(_OK, annotator="Zoe\u0308"), "not NFC"),
        (msgspec.structs.replace(_OK, seq=-1), "onset -1 is no number of an event"),
        (msgspec.structs.replace(_OK, rationale="a\rb"), r"can't hold the character '\\r'"),
        (msgspec.structs.replace(_OK, rationale="\ud800"), "can't hold the character"),
        (msgspec.structs.replace(_OK, rationale="x" * 4001), "4000 characters at most, this one 4001"),
        (msgspec.structs.replace(_OK, supersedes=("x",)), "'x' is no id of a record"),
        (msgspec.structs.replace(_OK, supersedes=("b" * 64, "a" * 64)), "ids are sorted"),
        (msgspec.structs.replace(_OK, supersedes=("a" * 64, "a" * 64)), "each is there once"),
        (Validity(root_hash=LOG, annotator="a", valid=True, reason="other"), "one of the two"),
        (Validity(root_hash=LOG, annotator="a", valid=False), "one of the two"),
        (Validity(root_hash=LOG, annotator="a", valid=False, reason="other"), "needs a rationale"),
        (Withdrawal(root_hash=LOG, annotator="a"), "names the records that it takes back"),
        (Adjudication(root_hash=LOG, annotator="a", rationale="x"), "a label and its onset, or a reason"),
        (Adjudication(root_hash=LOG, annotator="a", rationale="x", label="R1"), "a label and its onset, or a reason"),
        (
            Adjudication(root_hash=LOG, annotator="a", rationale="x", label="R1", seq=3, reason="other"),
            "a label and its onset, or a reason",
        ),
        (Adjudication(root_hash=LOG, annotator="a", label="R1", seq=3), "needs a rationale"),
        (
            Adjudication(root_hash=LOG, annotator="a", label="R1", seq=3, rationale="x", considered=("y",)),
            "considered: 'y' is no id",
        ),
    ],
)
def test_what_is_no_record(record: Record, said: str) -> None:
    with pytest.raises(AnnotationError, match=said):
        check_record(record)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (label("a", instead=(label("z"),)), "which is neither here nor in the store"),
        (label("b", instead=(_OK,)), "which a said: nobody corrects another's record"),
        (label("a", root=OTHER, instead=(_OK,)), "which is about another log"),
        (decided("c", "R1", 3, instead=(_OK,)), "takes the place of adjudications only"),
        (label("c", instead=(decided("c", "R1", 3),)), "takes the place of adjudications only"),
    ],
)
def test_what_may_not_be_superseded(record: Record, said: str) -> None:
    there = Ledger((_OK, decided("c", "R1", 3)))
    with pytest.raises(AnnotationError, match=f"line 7: .*{said}"):
        check_together([(7, record)], there)
