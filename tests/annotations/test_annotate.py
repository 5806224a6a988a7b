"""`iwreplay annotate` on real episodes: who may say what of which, blind, corrected, exchanged."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from iwreplay.log import read_log
from iwreplay.store import Store
from iwreplay.store.annotations import annotations_file
from tests.annotations.conftest import FAILED, root_of
from tests.cli.conftest import Ran, Run

SILENT = "V06-silent"


def _add(run: Run, store: Path, annotator: str, label: str = "R6", onset: str = "turn:2", *more: str) -> Ran:
    episode = SILENT
    if more and not more[0].startswith("-"):
        episode, more = more[0], more[1:]
    options = ("--annotator", annotator, "--label", label, "--onset", onset, *more)
    return run("annotate", "add", episode, *options, "--store", store)


def _good(done: Ran) -> Ran:
    assert done.code == 0, done.err
    return done


def _list(run: Run, store: Path, *more: str) -> list[dict[str, object]]:
    found = _good(run("annotate", "list", *more, "--store", store, "--json")).json()
    assert isinstance(found, list)
    return found


def test_a_label_is_anchored_to_the_log_and_the_event(run: Run, store: Path) -> None:
    done = _good(_add(run, store, "anna", "R6", "turn:2", "--confidence", "high", "--rationale", "too late", "--json"))
    said = done.json()
    assert (said["episode"], said["root_hash"]) == (SILENT, root_of(store, SILENT))
    assert (said["label"], said["turn"], said["added"], said["kind"]) == ("R6", 2, True, "label")
    with read_log(Store.open(store).find(SILENT).log) as log:
        event = log.at_seq(said["seq"])
    assert (type(event).__name__, event.turn, event.phase) == ("AssistantDecision", 2, "closed_loop")
    (listed,) = _list(run, store)
    assert listed["record"] == said["record"]
    assert (listed["confidence"], listed["rationale"], listed["superseded"]) == ("high", "too late", False)
    assert listed["problem"] is None
    by_event = _good(_add(run, store, "ben", "R6", str(said["seq"] - 1), "--json")).json()
    assert (by_event["seq"], by_event["turn"]) == (said["seq"] - 1, 2), "what the Assistant was shown, in the same turn"


@pytest.mark.parametrize(
    ("episode", "code", "said"),
    [
        ("V06-oracle", 2, "V06-oracle passes, so it has no first error"),
        ("A04-interrupted", 2, "it is not valid, as its log says (user: INTERRUPTED"),
        ("D09-fault", 2, "it is not valid, as its log says (participant:assistant"),
        ("open", 2, "it has no end yet"),
        ("damaged", 3, "can't be annotated: the log is corrupt"),
        ("never", 2, "it has no end yet"),
        ("nothing", 2, "unknown episode 'nothing'"),
    ],
)
def test_what_can_not_be_labelled_says_why(run: Run, store: Path, episode: str, code: int, said: str) -> None:
    _broken(store)
    done = _add(run, store, "anna", "R1", "turn:1", episode)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert not annotations_file(Store.open(store)).exists()


def _broken(store: Path) -> None:
    """Adds an open, a damaged and a never begun episode."""
    from benchmarks.synthetic import episode
    from iwreplay.log import LogWriter

    folder = store / "episodes"
    (folder / "open").mkdir()
    with LogWriter.create(folder / "open" / "log.arrows") as log:
        for event in episode(60, end=None):
            log.append(event, wall_ns=0)
        log.commit()
    (folder / "damaged").mkdir()
    data = bytearray((folder / SILENT / "log.arrows").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "damaged" / "log.arrows").write_bytes(data)
    (folder / "never").mkdir()


@pytest.mark.parametrize(
    ("onset", "said"),
    [
        ("turn:0", "has no turn 0, it has turns 1 to 20"),
        ("turn:21", "has no turn 21, it has turns 1 to 20"),
        ("0", "onset 0 is not in live interaction: it is in scene_init, turn 0"),
        ("854", "onset 854 is not in live interaction: it is in end, turn 20"),
        ("856", "onset 856 is no event of the log, which has events 0 to 855"),
        ("-1", "onset '-1' is neither the number of an event nor turn:N"),
        ("turn:two", "onset 'turn:two' is neither"),
        ("9" * 30, "is neither the number of an event"),
    ],
)
def test_an_onset_is_an_event_of_live_interaction(run: Run, store: Path, onset: str, said: str) -> None:
    done = run("annotate", "add", SILENT, "--annotator", "anna", "--label", "R1", f"--onset={onset}", "--store", store)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--label", "R1"), "a label has an onset"),
        (("--valid", "--onset", "turn:1"), "a label has an onset"),
        (("--label", "R1", "--onset", "turn:1", "--valid"), "give one of --label, --invalid and --valid"),
        ((), "give one of --label, --invalid and --valid"),
        (("--valid", "--confidence", "low"), "is of a label"),
        (("--invalid", "other"), "the reason 'other' needs a rationale"),
        (("--invalid", "bored"), "'bored' is not one of"),
    ],
)
def test_wrong_use_is_told(run: Run, store: Path, options: tuple[str, ...], said: str) -> None:
    done = run("annotate", "add", SILENT, "--annotator", "anna", *options, "--store", store)
    assert done.code == 2
    assert said in done.err


def test_nothing_is_changed_but_by_a_correction(run: Run, store: Path) -> None:
    first = _good(_add(run, store, "anna", "R6", "turn:2", "--json")).json()
    assert _good(_add(run, store, "anna", "R6", "turn:2", "--json")).json()["added"] is False
    again = _add(run, store, "anna", "R1", "turn:2")
    assert (again.code, "anna has annotated V06-silent already" in again.err) == (2, True)
    second = _good(_add(run, store, "anna", "R1", "turn:3", "--correct", "--json")).json()
    assert second["supersedes"] == [first["record"]]
    back = _good(_add(run, store, "anna", "R6", "turn:2", "--correct", "--json")).json()
    assert back["added"] is True
    assert [(a["label"], a["superseded"]) for a in _list(run, store, "--history")] == [
        ("R6", True),
        ("R1", True),
        ("R6", False),
    ]
    assert [a["record"] for a in _list(run, store)] == [back["record"]]
    invalid = run(
        "annotate", "add", SILENT, "--annotator", "anna", "--invalid", "task_defect", "--correct", "--store", store
    )
    assert _good(invalid).out.startswith("V06-silent: validity task_defect by anna")
    _good(run("annotate", "withdraw", SILENT, "--annotator", "anna", "--store", store))
    nothing = run("annotate", "withdraw", SILENT, "--annotator", "anna", "--store", store)
    assert (nothing.code, "there is nothing to withdraw" in nothing.err) == (2, True)
    anew = _good(_add(run, store, "anna", "R2", "turn:2", "--json"))
    assert anew.json()["added"], "what is withdrawn can be said anew"
    assert len(_list(run, store, "--history")) == 6


def test_one_person_has_one_name(run: Run, store: Path) -> None:
    _good(_add(run, store, "anna"))
    done = _add(run, store, "Anna")
    assert (done.code, "there is an annotator 'anna'" in done.err) == (2, True)


def test_nobody_is_shown_another_label_before_giving_one(run: Run, store: Path) -> None:
    _good(_add(run, store, "anna", "R6", "turn:2", "--rationale", "SECRET"))
    _good(run("annotate", "add", "P04-no-help", "--annotator", "anna", "--invalid", "task_defect", "--store", store))
    listed = _good(run("annotate", "list", "--for", "ben", "--store", store, "--json"))
    assert [a["episode"] for a in listed.json()] == sorted(FAILED)
    assert all((a["mine"], a["others"]) == ([], []) for a in listed.json())
    for text in (listed.out, _good(run("annotate", "list", "--for", "ben", "--store", store)).out):
        assert not [word for word in ("SECRET", "anna", "R6", "task_defect") if word in text]
    said = _good(_add(run, store, "ben", "R1", "turn:4"))
    assert "anna" not in said.out + said.err
    after = {a["episode"]: a for a in _list(run, store, "--for", "ben")}
    assert [m["label"] for m in after[SILENT]["mine"]] == ["R1"]  # type: ignore[attr-defined]
    assert [(o["annotator"], o["rationale"]) for o in after[SILENT]["others"]] == [  # type: ignore[attr-defined]
        ("anna", "SECRET")
    ]
    assert after["P04-no-help"]["others"] == []
    _good(run("annotate", "withdraw", SILENT, "--annotator", "ben", "--store", store))
    assert {a["episode"]: a["others"] for a in _list(run, store, "--for", "ben")}[SILENT] == []
    refused = run("annotate", "list", "--for", "ben", "--history", "--store", store)
    assert (refused.code, "does not go with --for" in refused.err) == (2, True)


def test_an_adjudication_decides_and_is_itself_corrected(run: Run, store: Path) -> None:
    decide = (
        "annotate", "adjudicate", SILENT, "--annotator", "carla", "--rationale", "seen", "--store", store, "--json"
    )  # fmt: skip
    early = run(*decide, "--label", "R1", "--onset", "turn:1")
    assert (early.code, "nobody has said anything of V06-silent" in early.err) == (2, True)
    labels = (_add(run, store, who, code, "turn:2", "--json") for who, code in (("anna", "R1"), ("ben", "R6")))
    ids = {_good(done).json()["record"] for done in labels}
    first = _good(run(*decide, "--label", "R6", "--onset", "turn:2")).json()
    assert (first["kind"], first["supersedes"]) == ("adjudication", [])
    by_kind = {a["kind"]: a for a in _list(run, store)}
    assert set(by_kind["adjudication"]["considered"]) == ids  # type: ignore[call-overload]
    again = run(*decide, "--label", "R1", "--onset", "turn:2")
    assert (again.code, "is adjudicated already" in again.err) == (2, True)
    second = _good(run(*decide, "--invalid", "world_defect", "--correct")).json()
    assert (second["reason"], second["supersedes"]) == ("world_defect", [first["record"]])
    for wrong in ((), ("--label", "R1"), ("--label", "R1", "--onset", "turn:1", "--invalid", "other")):
        done = run(*decide, *wrong)
        assert (done.code, "a label and its onset, or a reason" in done.err) == (2, True)


def _filled(run: Run, store: Path) -> None:
    _good(_add(run, store, "anna", "R6", "turn:2", "--rationale", 'said "no",\nthen went on'))
    _good(_add(run, store, "anna", "R1", "turn:3", "--correct", "--confidence", "low"))
    _good(_add(run, store, "ben", "R2", "turn:3"))
    _good(run("annotate", "add", "P04-no-help", "--annotator", "ben", "--valid", "--store", store))
    _good(run("annotate", "withdraw", "P04-no-help", "--annotator", "ben", "--store", store))
    decide = ("--label", "R2", "--onset", "turn:3", "--rationale", "it forgot")
    _good(run("annotate", "adjudicate", SILENT, "--annotator", "carla", *decide, "--store", store))


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_what_is_exported_is_imported_and_exported_as_the_same(
    run: Run, store: Path, scored: Path, tmp_path: Path, form: str
) -> None:
    _filled(run, store)
    file = tmp_path / f"out.{form}"
    assert _good(run("annotate", "export", file, "--store", store, "--json")).json()["records"] == 6
    same = _good(run("annotate", "import", file, "--store", store, "--json")).json()
    assert (same["added"], same["present"], same["torn"]) == (0, 6, [])
    other = Path(shutil.copytree(scored, tmp_path / "other"))
    done = _good(run("annotate", "import", file, "--store", other, "--json")).json()
    assert (done["added"], done["present"], done["elsewhere"]) == (6, 0, 0)
    assert done["annotators"] == ["anna", "ben", "carla"]
    _good(run("annotate", "export", tmp_path / f"again.{form}", "--store", other))
    assert (tmp_path / f"again.{form}").read_bytes() == file.read_bytes()
    assert _list(run, other, "--history") == _list(run, store, "--history")
    there = run("annotate", "export", file, "--store", other)
    assert (there.code, "nothing is overwritten" in there.err) == (2, True)


def test_two_teams_merge_what_they_said(run: Run, store: Path, scored: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(scored, tmp_path / "other"))
    _good(_add(run, store, "anna", "R6", "turn:2"))
    _good(_add(run, other, "ben", "R6", "turn:2"))
    _good(_add(run, other, "anna", "R1", "turn:2"))
    _good(run("annotate", "export", tmp_path / "theirs.jsonl", "--store", other))
    done = _good(run("annotate", "import", tmp_path / "theirs.jsonl", "--store", store))
    assert "2 records added, 0 there already" in done.out
    assert "anna now says two things of the log" in done.err
    assert len(_list(run, store)) == 3
    _good(_add(run, store, "anna", "R1", "turn:2", "--correct"))
    assert [(a["annotator"], a["label"]) for a in _list(run, store)] == [("anna", "R1"), ("ben", "R6")]
    only = run("annotate", "export", tmp_path / "ben.csv", "--annotator", "ben", "--store", store, "--json")
    assert _good(only).json()["records"] == 1
    nobody = run("annotate", "export", tmp_path / "no.csv", "--annotator", "zoe", "--store", store)
    assert (nobody.code, "unknown annotator 'zoe'" in nobody.err) == (2, True)


def test_a_table_of_ones_own_is_taken(run: Run, store: Path, tmp_path: Path) -> None:
    out = io.StringIO(newline="")
    rows = [["annotator", "episode", "turn", "label", "rationale"], ["anna", SILENT, "2", "R6", "a; b"]]
    rows += [["anna", "A18", "1", "R2", ""]]
    csv.writer(out).writerows(rows)
    (tmp_path / "mine.csv").write_bytes(out.getvalue().encode("utf-8-sig"))
    _good(run("annotate", "import", tmp_path / "mine.csv", "--store", store))
    assert [(a["episode"], a["label"], a["turn"]) for a in _list(run, store)] == [
        ("A18-wet-chair-first", "R2", 1),
        (SILENT, "R6", 2),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("ben,G05-oracle,1,R1", "line 3: G05-oracle passes"),
        ("ben,D09-fault,1,R1", "line 3: D09-fault can't be annotated: it is not valid"),
        ("ben,F10-silent,77,R1", "line 3: onset: the log has no turn 77"),
        ("ben,F11,1,R1", "line 3: unknown episode 'F11'"),
        ("ben,F10-silent,1,R0", "line 3: Invalid enum value 'R0'"),
        ("ben,damaged,1,R1", "line 3: damaged can't be annotated: the log is corrupt"),
    ],
)
def test_one_line_that_is_refused_keeps_all_out(run: Run, store: Path, tmp_path: Path, row: str, said: str) -> None:
    _broken(store)
    file = tmp_path / "bad.csv"
    file.write_text(f"annotator,episode,turn,label\nanna,{SILENT},2,R6\n{row}\n", encoding="utf-8")
    done = run("annotate", "import", file, "--store", store)
    assert done.code == 2
    assert f"{file}, {said}" in done.err
    assert "nothing was imported" in done.err
    assert not annotations_file(Store.open(store)).exists()


def test_what_is_about_another_log_is_shown_as_that(run: Run, store: Path, tmp_path: Path) -> None:
    _filled(run, store)
    _good(run("annotate", "export", tmp_path / "all.jsonl", "--store", store))
    shutil.rmtree(store / "episodes" / SILENT)
    after = _list(run, store, "--history")
    assert len(after) == 6
    gone = [a for a in after if a["episode"] is None]
    assert len(gone) == 4
    assert {a["problem"] for a in gone} == {"it is about another log: no intact log of the store has its root hash"}
    told = _good(run("annotate", "list", "--store", store))
    assert f"log {gone[0]['root_hash']}"[:16] in told.out
    assert "it is about another log: no intact log of the store has its root hash" in told.err
    empty = Path(shutil.copytree(store, tmp_path / "empty"))
    shutil.rmtree(empty / "annotations")
    done = _good(run("annotate", "import", tmp_path / "all.jsonl", "--store", empty))
    assert "4 of the new ones are about logs that are not in" in done.err
    assert _list(run, empty, "--history") == after


def test_what_is_about_a_log_that_was_damaged_stays(run: Run, store: Path) -> None:
    _filled(run, store)
    path = store / "episodes" / SILENT / "log.arrows"
    whole = path.read_bytes()
    path.write_bytes(whole[:-2000])
    gone = [a for a in _list(run, store) if a["episode"] is None]
    assert sorted(str(a["kind"]) for a in gone) == ["adjudication", "label", "label"]
    assert all("no intact log of the store has its root hash" in str(a["problem"]) for a in gone)
    path.write_bytes(whole)
    assert not [a for a in _list(run, store) if a["problem"] is not None]


def test_an_onset_that_came_before_its_log_and_does_not_fit_is_said(run: Run, store: Path, tmp_path: Path) -> None:
    root = root_of(store, SILENT)
    hidden = shutil.move(store / "episodes" / SILENT, tmp_path / "hidden")
    lines = [{"annotator": "anna", "root_hash": root, "label": "R1", "seq": seq} for seq in (5, 99999)]
    lines[1]["annotator"] = "ben"
    (tmp_path / "early.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    _good(run("annotate", "import", tmp_path / "early.jsonl", "--store", store))
    shutil.move(hidden, store / "episodes" / SILENT)
    assert [a["problem"] for a in _list(run, store)] == [
        "onset 5 is not in live interaction: it is in scene_init, turn 0",
        "onset 99999 is no event of the log, which has events 0 to 855",
    ]


def test_damage_of_the_journal_is_exit_code_3_everywhere(run: Run, store: Path, tmp_path: Path) -> None:
    _filled(run, store)
    _good(run("annotate", "export", tmp_path / "all.csv", "--store", store))
    path = annotations_file(Store.open(store))
    path.write_bytes(path.read_bytes().replace(b'"R2"', b'"R3"', 1))
    for command in (
        ("list",),
        ("list", "--for", "anna"),
        ("export", tmp_path / "new.csv"),
        ("import", tmp_path / "all.csv"),
        ("add", SILENT, "--annotator", "zoe", "--valid"),
    ):
        done = run("annotate", *command, "--store", store)
        assert (done.code, done.out) == (3, ""), command
        assert "line 3 is not what was written there" in done.err
    assert not (tmp_path / "new.csv").exists()


def test_a_log_outside_the_store_is_to_be_imported_first(run: Run, store: Path, tmp_path: Path) -> None:
    path = shutil.copy(store / "episodes" / SILENT / "log.arrows", tmp_path / "mine.arrows")
    done = _add(run, store, "anna", "R1", "turn:1", str(path))
    assert (done.code, "iwreplay log import" in done.err) == (2, True)
    nowhere = _add(run, tmp_path / "none", "anna")
    assert (nowhere.code, "is not an episode store" in nowhere.err) == (2, True)
    unnamed = run("annotate", "export", tmp_path / "labels.txt", "--store", store)
    assert (unnamed.code, "--format" in unnamed.err) == (2, True)
