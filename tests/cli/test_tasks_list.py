"""`iwreplay tasks list`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from iwreplay.taskpack.loader import load_tasks
from iwreplay.vocabulary import FAMILIES
from tests.cli.conftest import Run

PACKS = Path(__file__).parents[2] / "taskpacks"


def test_the_list_is_what_a_script_may_rely_on(run: Run) -> None:
    done = run("tasks", "list", "--json", "--store", "nowhere")
    assert done.code == 0
    assert [{"id": t["id"], "family": t["family"], "title": t["title"]} for t in done.json()] == [
        {"id": t.id, "family": t.family, "title": t.title} for t in load_tasks()
    ]
    assert {t["family"] for t in done.json()} == set(FAMILIES)


def test_a_task_that_is_broken_hides_no_other(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for family in FAMILIES:
        shutil.copytree(PACKS / family, tmp_path / family)
    (broken,) = (tmp_path / "guidance").glob("g05*.toml")
    text = broken.read_text()
    broken.write_text(text.replace("title =", "titel ="))
    (tmp_path / "planning" / "zz_stray.toml").write_text(text)
    monkeypatch.setattr("iwreplay.app.tasks.data_root", lambda: tmp_path)
    done = run("tasks", "list", "--json")
    assert (done.code, [t["id"] for t in done.json()]) == (1, [t.id for t in load_tasks() if t.id != "G05"])
    assert f"{broken.name}: top level: Object contains unknown field `titel`" in done.err.splitlines()[0]
    assert "planning/zz_stray.toml: family: 'guidance' is not the folder's" in done.err.splitlines()[1]
    assert "V06" in run("tasks", "list").out
    assert run("tasks", "show", "V06").code == 0
