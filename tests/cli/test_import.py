"""`log import`: logs from elsewhere become episodes of a store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from iwreplay.log import LogWriter
from iwreplay.store import Store
from tests.cli.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "episodes" / "samples").glob("*.arrows"))
V06 = ROOT / "episodes" / "samples" / "V06-silent.arrows"


def test_samples_can_be_queried_once_they_are_imported(run: Run, tmp_path: Path) -> None:
    done = run("log", "import", *SAMPLES, "--json", "--store", tmp_path / "s")
    assert done.code == 0, done.err
    assert [(e["episode"], e["outcome"]) for e in done.json()] == [(p.stem, "added") for p in SAMPLES]
    assert {"episode", "outcome", "source", "log", "root_hash", "events", "passed", "mcr"} == set(done.json()[0])
    rows = run("query", "--named", "pass", "--json", "--store", tmp_path / "s").json()
    assert {(r["family"], r["assistant"], r["passed"]) for r in rows} >= {
        ("guidance", "oracle", 1),
        ("prevention", "oracle", 1),
        ("prevention", "silent", 0),
    }
    failing = run("query", "--named", "failing", "--json", "--store", tmp_path / "s").json()
    assert {r["check_id"] for r in failing if r["assistant"] == "silent"} >= {"clean_cabinet_stays_clean"}
    for path in SAMPLES:
        assert Store.open(tmp_path / "s").find(path.stem).log.read_bytes() == path.read_bytes()
    again = run("log", "import", *SAMPLES, "--json", "--store", tmp_path / "s")
    assert [e["outcome"] for e in again.json()] == ["present"] * len(SAMPLES)
    scored = run("score", "--store", tmp_path / "s")
    assert "scores, all kept from before (run and log import score at once)" in scored.err


def _damaged(tmp_path: Path) -> Path:
    path = tmp_path / "bad.arrows"
    data = bytearray(V06.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return path


def _unsealed(tmp_path: Path) -> Path:
    from benchmarks.synthetic import episode

    path = tmp_path / "open.arrows"
    with LogWriter.create(path) as log:
        for event in episode(60):
            log.append(event, wall_ns=0)
        log.commit()
    return path


def _missing(tmp_path: Path) -> Path:
    return tmp_path / "none.arrows"


def _text(tmp_path: Path) -> Path:
    path = tmp_path / "text.arrows"
    path.write_text("no log\n")
    return path


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (_damaged, 3, "a corrupt log is not imported"),
        (_unsealed, 2, "iwreplay log seal"),
        (_missing, 2, "is not a file"),
        (_text, 3, "not one event in it can be read: is it a log at all?"),
    ],
)
def test_one_that_is_refused_keeps_all_out(run: Run, tmp_path: Path, make: object, code: int, said: str) -> None:
    assert callable(make)
    done = run("log", "import", V06, make(tmp_path), "--store", tmp_path / "s")
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "s").exists()


def test_the_same_log_under_another_name_is_refused(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.arrows"
    shutil.copyfile(V06, other)
    both = run("log", "import", V06, other, "--store", tmp_path / "s")
    assert (both.code, "the same log as V06-silent" in both.err) == (2, True)
    assert not (tmp_path / "s").exists()
    assert run("log", "import", V06, V06, "--store", tmp_path / "s").code == 0
    done = run("log", "import", other, "--store", tmp_path / "s")
    assert (done.code, "the same log as V06-silent" in done.err) == (2, True)
    assert [e.id for e in Store.open(tmp_path / "s").episodes()] == ["V06-silent"]


def test_another_log_of_the_same_name_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("log", "import", V06, "--store", tmp_path / "s").code == 0
    other = tmp_path / "V06-silent.arrows"
    shutil.copyfile(V06.with_name("V06-oracle.arrows"), other)
    done = run("log", "import", other, "--store", tmp_path / "s")
    assert (done.code, "another log is called V06-silent" in done.err) == (2, True)
    assert Store.open(tmp_path / "s").find("V06-silent").log.read_bytes() == V06.read_bytes()


def test_it_never_moves_in_with_other_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    done = run("log", "import", V06, "--store", tmp_path)
    assert (done.code, "not empty; nothing was written" in done.err) == (2, True)
