"""`iwreplay tasks new`: a commented file that loads, and never over another."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.taskpack.loader import load_task, validate_task
from tests.cli.conftest import Run


def test_it_writes_a_file_that_loads(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("tasks", "new", "d77", "--family", "decision", "--scene", "family_k", "--json")
    assert (done.code, done.json()) == (0, {"file": "d77.toml"})
    text = (tmp_path / "d77.toml").read_text(encoding="utf-8")
    assert "docs/tasks.md" in text
    assert "$" not in text
    task = load_task(tmp_path / "d77.toml")
    assert (task.id, task.family, task.scene, len(task.near_misses)) == ("D77", "decision", "family_kitchen", 2)
    validate_task(task)
    again = run("tasks", "new", "D77", "--family", "decision", "--scene", "family_kitchen")
    assert again.code == 2
    assert "d77.toml is there already; nothing was written" in again.err
    assert (tmp_path / "d77.toml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("G21", "--family", "planning", "--scene", "family_kitchen"), "'G21' is no task of family planning"),
        (("G05", "--family", "guidance", "--scene", "family_kitchen"), "there is a task G05 already"),
        (("G21", "--family", "guidance", "--scene", "nowhere"), "unknown scene 'nowhere'"),
        (("G21", "--family", "guide", "--scene", "family_kitchen"), "unknown family 'guide'"),
    ],
)
def test_what_makes_no_task_is_said(run: Run, tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    done = run("tasks", "new", *args, "--out", tmp_path / "x.toml")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "x.toml").exists()
