"""`iwreplay report` over the sample episodes: files, words, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from iwreplay.app.catalogue import open_catalogue
from iwreplay.app.importing import import_logs
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "episodes" / "samples").glob("*.arrows"))


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples as a store, with their scores and a catalogue."""
    store = tmp_path_factory.mktemp("imported") / "samples"
    import_logs(store, tuple(map(str, SAMPLES)))
    with open_catalogue(store) as catalogue:
        catalogue.refresh()
    return store


@pytest.fixture
def samples(imported: Path, tmp_path: Path) -> Path:
    """A copy of them."""
    return Path(shutil.copytree(imported, tmp_path / "samples"))


def test_the_files_of_a_report(run: Run, samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("report", "--store", samples, "--out", out, "--resamples", 200)
    assert done.code == 0, done.err
    assert done.out == f"7 episodes: {out}/report.html, {out}/report.md, {out}/tables/*.csv\n"
    assert "2 episodes left out: the end of the report says why" in done.err
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "| oracle with literal | 1.7 " in text
    assert "| A04-interrupted | it is interrupted" in text
    assert "| D09-fault | it is fault" in text
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (out / "tables" / "pass.csv").exists()
    # once more, into the same folder
    before = (out / "report.html").read_bytes()
    assert run("report", "--store", samples, "--out", out, "--resamples", 200).code == 0
    assert (out / "report.html").read_bytes() == before


def test_a_number_is_traced_to_its_episodes(run: Run, samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("report", "--store", samples, "--out", out, "--resamples", 200)
    done = run("report", "--out", out, "--trace", "pass/guidance/oracle with literal")
    assert done.code == 0, done.err
    assert done.out.startswith("pass/guidance/oracle with literal: 5.0 (1/20) [0.9, 23.6] (19 missing)\n")
    assert "G05-oracle" in done.out
    found = run("report", "--out", out, "--trace", "pass/guidance/oracle with literal", "--json").json()
    [(episode, root)] = found["episodes"]
    assert (episode, len(root)) == ("G05-oracle", 64)
    unknown = run("report", "--out", out, "--trace", "guidance/oracle")
    assert unknown.code == 2
    assert "has no number 'guidance/oracle'. There are: pass/guidance/oracle with literal" in unknown.err
    nowhere = run("report", "--out", tmp_path / "nothing", "--trace", "x")
    assert (nowhere.code, "there is no report in" in nowhere.err) == (2, True)


def test_some_episodes_only(run: Run, samples: Path, tmp_path: Path) -> None:
    done = run("report", "V06-o", "G05", "--store", samples, "--out", tmp_path / "o", "--resamples", 200, "--json")
    assert (done.code, done.json()["counted"], done.json()["left_out"]) == (0, 2, 0)


def test_answers_to_static_questions(run: Run, samples: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("assistant,task,correct\noracle,V06,true\noracle,G05,no\n", encoding="utf-8")
    out = tmp_path / "o"
    done = run("report", "--store", samples, "--out", out, "--static", answers, "--resamples", 200)
    assert done.code == 0, done.err
    numbers = {n["id"]: n for n in json.loads((out / "numbers.json").read_text())["numbers"]}
    assert numbers["static/both/oracle with literal"]["k"] == 1
    assert numbers["static/dynamic_only/oracle with literal"]["k"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("who,task\n", "its first line must name the columns assistant, task and correct"),
        ("assistant,task,correct\na,X99,true\n", "line 2: 'X99' is no task of the benchmark"),
        ("assistant,task,correct\na,V06,maybe\n", "line 2: correct is true or false, not 'maybe'"),
        ("assistant,task,correct\na,V06,true\na,V06,true\n", "line 3: a has answered V06 before"),
        ("assistant,task,correct\n ,V06,true\n", "line 2: whose answer is it? assistant is empty"),
        ("assistant,task,correct\n", "has no answer"),
    ],
)
def test_answers_that_can_not_be_read(run: Run, samples: Path, tmp_path: Path, text: str, said: str) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text(text, encoding="utf-8")
    out = tmp_path / "o"
    done = run("report", "--store", samples, "--out", out, "--static", answers)
    assert done.code == 2
    assert said in done.err
    assert not out.exists()


def test_a_folder_of_something_else_is_left_alone(run: Run, samples: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    done = run("report", "--store", samples, "--out", tmp_path)
    assert (done.code, "holds something else than a report" in done.err) == (2, True)
    a_file = run("report", "--store", samples, "--out", tmp_path / "thesis.tex")
    assert (a_file.code, "is a file" in a_file.err) == (2, True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_wrong_names_and_no_store(run: Run, samples: Path, tmp_path: Path) -> None:
    assert "nosuch" in run("report", "nosuch", "--store", samples, "--out", tmp_path / "o").err
    none = run("report", "--store", tmp_path / "none", "--out", tmp_path / "o")
    assert none.code != 0
    assert not (tmp_path / "o").exists()


def test_a_damaged_log_is_named_and_left_out(run: Run, samples: Path, tmp_path: Path) -> None:
    log = samples / "episodes" / "G05-oracle" / "log.arrows"
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 2] ^= 1
    log.write_bytes(bytes(raw))
    out = tmp_path / "o"
    done = run("report", "--store", samples, "--out", out, "--resamples", 200)
    assert done.code == 0, done.err
    assert "3 episodes left out" in done.err
    assert "| G05-oracle | it is damaged" in (out / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ['{"a": 1}', '{"report_format": 99, "numbers": []}', "not json"])
def test_numbers_of_something_else_keep_their_folder(run: Run, samples: Path, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "mine"
    (folder / "tables").mkdir(parents=True)
    (folder / "numbers.json").write_text(text)
    (folder / "tables" / "mine.csv").write_text("1,2")
    done = run("report", "--store", samples, "--out", folder)
    assert (done.code, "Nothing was written" in done.err) == (2, True)
    assert sorted(p.name for p in folder.rglob("*")) == ["mine.csv", "numbers.json", "tables"]
    assert run("report", "--out", folder, "--trace", "x").code == 2


def test_a_file_beside_the_tables_stays(run: Run, samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    run("report", "--store", samples, "--out", out, "--resamples", 200)
    assert (out / "tables" / "pairs.csv").exists()
    (out / "tables" / "mine.csv").write_text("1,2")
    run("report", "V06-oracle", "--store", samples, "--out", out, "--resamples", 200)
    assert (out / "tables" / "mine.csv").read_text() == "1,2"
    # one Assistant is compared with nobody
    assert not (out / "tables" / "pairs.csv").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_disk_that_refuses_leaves_the_old_report(
    run: Run, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "o"
    run("report", "V06-oracle", "--store", samples, "--out", out, "--resamples", 200)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    done = run("report", "--store", samples, "--out", out, "--resamples", 200)
    assert (done.code, "No space left on device" in done.err) == (3, True)
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before
    assert run("report", "--store", samples, "--out", tmp_path / "new", "--resamples", 200).code == 3
    assert not (tmp_path / "new").exists()


def test_answers_as_a_spreadsheet_saves_them(run: Run, samples: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("assistant,task,correct\noracle,V06,TRUE\n", encoding="utf-8-sig")
    done = run("report", "--store", samples, "--out", tmp_path / "o", "--static", answers, "--resamples", 200)
    assert done.code == 0, done.err
