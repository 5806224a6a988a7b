"""How far annotators agree: which ratings go into a figure, and what `iwreplay annotate agree` says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from iwreplay.annotations import Label, Ledger, Rating, Validity, Withdrawal, agreement_figures, record_id, votes_of
from iwreplay.app.annotating import adjudicate, say_invalid, say_label, say_valid, withdraw
from iwreplay.app.annotation_files import import_annotations
from iwreplay.app.first_errors import first_errors
from iwreplay.statistics.agreement import NO_PAIRS, NO_VARIATION
from iwreplay.store import Store
from iwreplay.store.annotations import annotations_file
from tests.annotations.conftest import FAILED, root_of
from tests.cli.conftest import Run

#: (label, turn) of each failed episode but the last
ANNA = (("R1", 1), ("R1", 2), ("R2", 3), ("R6", 4))
BEN = (("R1", 2), ("R2", 2), ("R2", 5), ("R6", 4))


def _rating(annotator: str, outcome: str, turn: int | None = None) -> Rating:
    return Rating(annotator=annotator, outcome=outcome, turn=turn)


def test_two_annotators_by_hand() -> None:
    found = agreement_figures([[_rating("anna", *a), _rating("ben", *b)] for a, b in zip(ANNA, BEN, strict=True)])
    assert found.annotators == ("anna", "ben")
    assert found.label_percent.value == 3 / 4
    # by chance: R1 2 of 4 and 1 of 4, R2 1 and 2, R6 1 and 1
    chance = (2 * 1 + 1 * 2 + 1 * 1) / 16
    assert found.label_kappa.value == pytest.approx((3 / 4 - chance) / (1 - chance))
    # 8 labels: three of R1, three of R2, two of R6; two ordered pairs of 8 differ
    expected = (8 * 8 - 3 * 3 - 3 * 3 - 2 * 2) / (8 * 7)
    assert found.label_alpha.value == pytest.approx(1 - (2 / 8) / expected)
    assert found.onset_within_1.value == 3 / 4
    turns = [t for pair in zip(ANNA, BEN, strict=True) for _, t in pair]
    apart = sum((a - b) ** 2 for a in turns for b in turns) / (8 * 7)
    assert found.onset_alpha.value == pytest.approx(1 - (2 * (1 + 0 + 4 + 0) / 8) / apart)
    assert found.validity_percent.value == 1.0
    (pair,) = found.pairs
    assert (pair.annotators, pair.label_kappa) == (("anna", "ben"), found.label_kappa)


def test_what_is_no_label_is_missing_among_labels_and_counts_for_validity() -> None:
    found = agreement_figures(
        [
            [_rating("a", "R1", 3), _rating("b", "invalid")],
            [_rating("a", "R1", 3), _rating("b", "R2", 3), _rating("c", "valid")],
            [_rating("b", "R5", 1)],
            [],
        ]
    )
    assert (found.label_percent.units, found.label_percent.ratings, found.label_percent.value) == (1, 2, 0.0)
    assert (found.onset_within_1.units, found.onset_within_1.value) == (1, 1.0)
    assert (found.validity_percent.units, found.validity_percent.value) == (2, 3 / 4)
    assert found.label_kappa.units == 1, "Fleiss', over the one episode with two labels"


def test_fleiss_needs_as_many_labels_of_each_and_alpha_does_not() -> None:
    two = [_rating("a", "R1", 3), _rating("b", "R2", 3)]
    three = [*two, _rating("c", "R2", 9)]
    found = agreement_figures([two, three])
    assert (found.label_kappa.value, found.label_kappa.reason) == (None, "episodes have different numbers of labels")
    assert found.label_alpha.value is not None
    assert agreement_figures([three, three]).label_kappa.value is not None
    assert [p.annotators for p in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [p.label_percent.value for p in found.pairs] == [0.0, 0.0, 1.0]


def test_what_is_undefined_says_why() -> None:
    nobody = agreement_figures([])
    assert {f.reason for f in (nobody.label_percent, nobody.label_kappa, nobody.label_alpha)} == {NO_PAIRS}
    same = agreement_figures([[_rating("a", "R1", 3), _rating("b", "R1", 3)]] * 2)
    assert same.label_percent.value == 1.0
    assert {same.label_kappa.reason, same.label_alpha.reason, same.onset_alpha.reason} == {NO_VARIATION}


def test_what_was_said_first_is_before_any_correction() -> None:
    log = "a" * 64
    looked = Validity(root_hash=log, annotator="a", valid=True)
    first = Label(root_hash=log, annotator="a", label="R1", seq=1, supersedes=(record_id(looked),))
    gone = Withdrawal(root_hash=log, annotator="a", supersedes=(record_id(first),))
    last = Label(root_hash=log, annotator="a", label="R2", seq=2, supersedes=(record_id(gone),))
    ledger = Ledger((last, gone, first, looked))
    assert ledger.first(log) == {"a": {record_id(first): first}}
    assert ledger.standing(log) == {"a": {record_id(last): last}}
    assert [v.outcome for v in votes_of(ledger.first(log))] == ["R1"]


@pytest.fixture
def labelled(store: Path) -> Path:
    for who, said in (("anna", ANNA), ("ben", BEN)):
        for episode, (label, turn) in zip(FAILED, said, strict=False):
            # not every sample has five turns
            onset = f"turn:{min(turn, 2) if episode.startswith('A18') else turn}"
            say_label(store, episode, annotator=who, label=label, onset=onset)
    return store


def test_agree_shows_what_holds_and_what_is_left_out(run: Run, labelled: Path) -> None:
    found = run("annotate", "agree", "--json", "--store", labelled).json()
    assert [(e["episode"], e["result"]["status"], e["result"]["outcome"], e["turn"]) for e in found["episodes"]] == [
        ("A18-wet-chair-first", "unanimous", "R1", 1),
        ("D03-one-too-many", "open", None, None),
        ("F10-silent", "unanimous", "R2", 3),
        ("P04-no-help", "unanimous", "R6", 4),
        ("V06-silent", "unlabelled", None, None),
    ]
    total = found["total"]
    assert (total["failures"], total["labelled"], total["open"], total["unlabelled"]) == (5, 3, 1, 1)
    assert total["shares"]["R6"] == 1 / 3
    assert {n: d["failures"] for n, d in found["by_assistant"].items()}["silent"] == 2
    assert sum(d["failures"] for d in found["by_assistant"].values()) == 5
    assert found["left_out"] == {
        "passed": 2,
        "spoilt": 2,
        "unfinished": 0,
        "damaged": 0,
        "unscorable": 0,
        "records_about_other_logs": 0,
    }
    assert found["agreement"]["label_percent"]["value"] == 0.75
    told = run("annotate", "agree", "--store", labelled)
    assert told.code == 0
    assert "no majority: R1 anna, R2 ben" in told.out
    assert "Left out: 2 passed, 2 spoilt, 0 unfinished, 0 damaged" in told.out
    assert "the same label, share of pairs" in told.out


def test_a_correction_raises_agreement_at_present_and_not_that_of_what_came_first(labelled: Path) -> None:
    say_label(labelled, "D03", annotator="ben", label="R1", onset="turn:2", correct=True)
    found = first_errors(labelled)
    assert (found.agreement.label_percent.value, found.agreement_first.label_percent.value) == (1.0, 0.75)
    withdraw(labelled, "D03", annotator="ben")
    found = first_errors(labelled)
    assert found.agreement.label_percent.units == found.agreement_first.label_percent.units == 3


def test_check_tells_whether_every_valid_failure_has_a_label(run: Run, labelled: Path) -> None:
    check = ("annotate", "agree", "--check", "--store", labelled)
    assert run(*check).code == 1
    for who in ("anna", "ben"):
        say_invalid(labelled, "V06-silent", annotator=who, reason="task_defect")
    assert run(*check).code == 1
    adjudicate(labelled, "D03", annotator="carla", label="R3", onset="turn:2", rationale="the offer was read wrongly")
    told = run(*check)
    assert told.code == 0, told.out
    assert "invalid, task_defect: 1" in told.out
    say_label(labelled, "V06-silent", annotator="zoe", label="R1", onset="turn:2")
    assert run(*check).code == 0, "a majority still says that it is invalid"


def test_one_annotator_is_enough_where_that_is_said(store: Path) -> None:
    say_label(store, "F10-silent", annotator="anna", label="R1", onset="turn:1")
    say_valid(store, "V06-silent", annotator="anna")
    assert first_errors(store).total.labelled == 0
    found = first_errors(store, needed=1)
    assert (found.total.labelled, found.total.open, found.total.unlabelled) == (1, 1, 3)


def test_records_about_other_logs_and_stray_onsets_are_counted(labelled: Path, tmp_path: Path) -> None:
    root = root_of(labelled, "V06-silent")
    shutil.move(labelled / "episodes" / "V06-silent", tmp_path / "away")
    line = f'{{"annotator":"%s","root_hash":"{root}","label":"R1","seq":%d}}\n'
    (tmp_path / "x.jsonl").write_text(line % ("anna", 565) + line % ("ben", 4), encoding="utf-8")
    import_annotations(labelled, tmp_path / "x.jsonl")
    found = first_errors(labelled)
    assert (found.left_out.records_about_other_logs, found.total.failures) == (2, 4)
    shutil.move(tmp_path / "away", labelled / "episodes" / "V06-silent")
    found = first_errors(labelled)
    (silent,) = (e for e in found.episodes if e.episode == "V06-silent")
    assert (silent.result.status, silent.result.why) == ("open", "onsets that are none of the log: ben")
    assert found.left_out.records_about_other_logs == 0


def test_damage_is_exit_code_3(run: Run, labelled: Path) -> None:
    path = annotations_file(Store.open(labelled))
    path.write_bytes(path.read_bytes()[1:])
    done = run("annotate", "agree", "--store", labelled)
    assert (done.code, done.out) == (3, "")
    assert "line 1" in done.err
