"""Annotations as rows: brought up to date step by step, the same as from nothing, with nothing left out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from iwreplay.annotations import result_of
from iwreplay.app.annotating import adjudicate, say_invalid, say_label, withdraw
from iwreplay.app.annotation_files import import_annotations
from iwreplay.app.catalogue import open_catalogue
from iwreplay.catalogue import Catalogue, question
from iwreplay.catalogue.schema import ANNOTATED
from iwreplay.errors import StoreDamagedError
from iwreplay.store import Store
from iwreplay.store.annotations import annotations_file, kept_annotations
from tests.annotations.conftest import FAILED, root_of

SILENT = "V06-silent"


@pytest.fixture
def catalogue(store: Path) -> Catalogue:
    made = open_catalogue(store)
    made.refresh()
    return made


def _ask(catalogue: Catalogue, sql: str) -> list[dict[str, Any]]:
    catalogue.refresh()
    answer = catalogue.ask(sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def _all(catalogue: Catalogue) -> dict[str, tuple[tuple[Any, ...], ...]]:
    return {name: catalogue.ask(f"SELECT * FROM {name} ORDER BY ALL").rows for name in ANNOTATED}


def _label(store: Path, who: str, label: str = "R6", onset: str = "turn:2", episode: str = SILENT, **more: Any) -> None:
    say_label(store, episode, annotator=who, label=label, onset=onset, **more)


def test_every_failure_has_a_row_from_the_start(catalogue: Catalogue) -> None:
    rows = _ask(catalogue, "SELECT * FROM first_errors ORDER BY episode")
    assert [(r["episode"], r["failed"], r["status"], r["label"]) for r in rows] == [
        (name, True, "unlabelled", None) for name in FAILED
    ]
    assert _ask(catalogue, "SELECT * FROM annotations") == []


def test_what_is_said_is_a_row_at_the_next_question(store: Path, catalogue: Catalogue) -> None:
    _label(store, "anna", confidence="low", rationale="x")
    assert catalogue.refresh().rescored == (), "no log and no score was read again"
    (row,) = _ask(catalogue, "SELECT * FROM annotations")
    assert (row["episode"], row["kind"], row["annotator"], row["label"]) == (SILENT, "label", "anna", "R6")
    assert (row["seq"], row["turn"], row["confidence"], row["rationale"]) == (565, 2, "low", "x")
    assert (row["about"], row["superseded"], row["valid"], row["problem"]) == ("this log", False, True, None)
    _label(store, "ben", "R1", "turn:3")
    by_episode = "SELECT * FROM first_errors WHERE status != 'unlabelled'"
    (row,) = _ask(catalogue, by_episode)
    assert (row["status"], row["why"], row["annotators"]) == ("open", "no majority: R6 anna, R1 ben", 2)
    _label(store, "ben", "R6", "turn:3", correct=True)
    (row,) = _ask(catalogue, by_episode)
    assert (row["status"], row["label"], row["seq"], row["turn"]) == ("unanimous", "R6", 565, 2)
    assert [r["superseded"] for r in _ask(catalogue, "SELECT superseded FROM annotations ORDER BY 1")] == [
        False,
        False,
        True,
    ]
    adjudicate(store, SILENT, annotator="carla", reason="world_defect", rationale="it fell through")
    withdraw(store, SILENT, annotator="anna")
    (row,) = _ask(catalogue, by_episode)
    assert (row["status"], row["invalid"], row["reasons"], row["label"]) == ("adjudicated", True, "world_defect", None)
    assert (row["outdated"], row["annotators"]) == (True, 1)
    (decided,) = _ask(catalogue, "SELECT valid, reason, considered FROM annotations WHERE kind = 'adjudication'")
    assert (decided["valid"], decided["reason"], len(json.loads(decided["considered"]))) == (False, "world_defect", 2)


def test_step_by_step_is_the_same_as_from_nothing(store: Path, catalogue: Catalogue, tmp_path: Path) -> None:
    _label(store, "anna")
    catalogue.refresh()
    _label(store, "ben")
    _label(store, "anna", "R2", "turn:1", "F10-silent")
    catalogue.refresh()
    withdraw(store, "F10-silent", annotator="anna")
    catalogue.refresh()
    say_invalid(store, "G05-oracle", annotator="anna", reason="human_restriction")
    catalogue.refresh()
    folder = store / "episodes"
    # another log under the same name, a log that goes, and a score that goes
    shutil.copy(folder / "P04-no-help" / "log.arrows", folder / SILENT / "log.arrows")
    (folder / SILENT / "scores.json").unlink()
    catalogue.refresh()
    shutil.rmtree(folder / "F10-silent")
    (folder / "A18-wet-chair-first" / "scores.json").unlink()
    catalogue.refresh()
    grown = _all(catalogue)
    assert catalogue.refresh(rebuild=True).rebuilt
    assert _all(catalogue) == grown
    rows = _ask(catalogue, "SELECT episode, root_hash, about, turn FROM annotations ORDER BY ALL")
    assert len(rows) == len(kept_annotations(Store.open(store)).records) == 5
    assert [r["episode"] for r in rows] == ["G05-oracle", None, None, None, None]
    assert {r["about"] for r in rows if r["episode"] is None} == {"another log"}
    assert {r["turn"] for r in rows} == {None}
    assert [(r["episode"], r["failed"]) for r in _ask(catalogue, "SELECT * FROM first_errors ORDER BY episode")] == [
        ("D03-one-too-many", True),
        ("G05-oracle", False),
        ("P04-no-help", True),
    ]


def test_a_log_that_comes_back_has_its_rows_again(store: Path, catalogue: Catalogue, tmp_path: Path) -> None:
    _label(store, "anna")
    catalogue.refresh()
    before = _all(catalogue)
    shutil.move(store / "episodes" / SILENT, tmp_path / "away")
    assert _ask(catalogue, "SELECT episode FROM annotations") == [{"episode": None}]
    shutil.move(tmp_path / "away", store / "episodes" / SILENT)
    catalogue.refresh()
    assert _all(catalogue) == before


def test_the_rows_are_what_the_rule_gives(store: Path, catalogue: Catalogue) -> None:
    for who, label in (("anna", "R1"), ("ben", "R2"), ("carla", "R2")):
        _label(store, who, label, "turn:3")
    ledger = kept_annotations(Store.open(store))
    found = result_of(ledger, root_of(store, SILENT))
    (row,) = _ask(catalogue, f"SELECT * FROM first_errors WHERE episode = '{SILENT}'")
    assert (
        (row["status"], row["label"], row["seq"]) == (found.status, found.outcome, found.seq) == ("majority", "R2", 649)
    )


def test_nothing_holds_on_an_onset_that_is_none_of_the_log(store: Path, catalogue: Catalogue, tmp_path: Path) -> None:
    lines = [
        {"annotator": who, "root_hash": root_of(store, SILENT), "label": "R1", "seq": seq}
        for who, seq in (("anna", 565), ("ben", 99999))
    ]
    shutil.move(store / "episodes" / SILENT, tmp_path / "away")
    (tmp_path / "early.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    import_annotations(store, tmp_path / "early.jsonl")
    shutil.move(tmp_path / "away", store / "episodes" / SILENT)
    (row,) = _ask(catalogue, f"SELECT * FROM first_errors WHERE episode = '{SILENT}'")
    assert (row["status"], row["why"]) == ("open", "onsets that are none of the log: ben")
    (stray,) = _ask(catalogue, "SELECT * FROM annotations WHERE problem IS NOT NULL")
    assert (stray["annotator"], stray["turn"]) == ("ben", None)


def test_the_question_counts_valid_failures_and_says_what_it_leaves_out(store: Path, catalogue: Catalogue) -> None:
    for who in ("anna", "ben"):
        _label(store, who)
        say_invalid(store, "D03-one-too-many", annotator=who, reason="task_defect")
    _label(store, "anna", "R1", "turn:1", "F10-silent")
    (store / "episodes" / "V06-oracle" / "scores.json").unlink()
    rows = {r["assistant"]: r for r in _ask(catalogue, question("first-errors").sql)}
    silent = rows["silent"]
    assert (silent["failures"], silent["labelled"], silent["R6"], silent["open"]) == (2, 1, 1, 1)
    assert sum(silent[f"R{n}"] for n in range(1, 7)) == silent["labelled"]
    wrong = rows["near-miss:one_too_many"]
    assert (wrong["failures"], wrong["invalid"], wrong["unlabelled"]) == (0, 1, 0)
    assert (rows["no-help"]["failures"], rows["no-help"]["unlabelled"]) == (1, 1)
    assert (rows["oracle"]["failures"], rows["oracle"]["spoilt"], rows["oracle"]["unscored"]) == (0, 2, 1)


def test_damaged_annotations_are_told_at_every_question(store: Path, catalogue: Catalogue) -> None:
    _label(store, "anna")
    catalogue.refresh()
    path = annotations_file(Store.open(store))
    path.write_bytes(path.read_bytes().replace(b'"R6"', b'"R5"'))
    for _ in range(2):
        with pytest.raises(StoreDamagedError, match="line 1 is not what was written there"):
            catalogue.refresh()
    with pytest.raises(StoreDamagedError):
        catalogue.refresh(rebuild=True)
