"""`iwreplay tasks check` and `run` with task files that are malformed, and with a disk that is full."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest

from iwreplay.log.files import AppendFile
from tests.cli.conftest import Run

PACKS = Path(__file__).parents[2] / "taskpacks"


@pytest.fixture
def spoilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of three tasks: one is no TOML, one has an unknown field, one plays in no scene."""
    for family, name in (("guidance", "g05*"), ("planning", "p04*"), ("prevention", "v06*")):
        (file,) = (PACKS / family).glob(f"{name}.toml")
        (tmp_path / family).mkdir()
        shutil.copy(file, tmp_path / family)
    _edit(tmp_path / "guidance", "title =", "title")
    _edit(tmp_path / "planning", "[[objectives]]\nid =", "[[objectives]]\nidd =")
    _edit(tmp_path / "prevention", 'scene = "', 'scene = "no_')
    monkeypatch.setattr("iwreplay.app.tasks.data_root", lambda: tmp_path)
    return tmp_path


def _edit(folder: Path, old: str, new: str) -> None:
    (file,) = folder.glob("*.toml")
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def _line(folder: Path, start: str) -> tuple[Path, int]:
    (file,) = folder.glob("*.toml")
    return file, next(n for n, v in enumerate(file.read_text().splitlines(), start=1) if v.startswith(start))


def test_every_malformed_file_is_a_failed_check(run: Run, spoilt: Path) -> None:
    done = run("tasks", "check", "--json")
    assert done.code == 1
    reports = {r["task"]: r for r in done.json()}
    torn, torn_line = _line(spoilt / "guidance", "title")
    field, field_line = _line(spoilt / "planning", "idd")
    _, scene_line = _line(spoilt / "prevention", "scene")
    assert set(reports) == {str(torn), str(field), "V06"}
    for report in reports.values():
        assert (report["ok"], [(c["name"], c["ok"]) for c in report["checks"]]) == (False, [("loads", False)])
    said = {name: r["checks"][0]["detail"] for name, r in reports.items()}
    assert said[str(torn)].startswith(f"{torn}, line {torn_line}: not TOML: ")
    assert said[str(field)].startswith(
        f"{field}, line {field_line}: objectives[0]: Object contains unknown field `idd`"
    )
    assert f"v06_used_sponge.toml, line {scene_line}: task V06: scene: no scene 'no_" in said["V06"]


def test_a_malformed_file_that_is_named_is_a_failed_check_too(run: Run, spoilt: Path) -> None:
    (torn,) = (spoilt / "guidance").glob("*.toml")
    done = run("tasks", "check", torn, "V06", "--json")
    assert (done.code, [r["task"] for r in done.json()]) == (1, [str(torn), "V06"])
    assert run("tasks", "check", "none.toml").code == 2


@pytest.mark.parametrize("wanted", ["all", "both"])
def test_nothing_is_recorded_while_a_task_is_malformed(run: Run, spoilt: Path, tmp_path: Path, wanted: str) -> None:
    files = [next((spoilt / f).glob("*.toml")) for f in ("guidance", "planning")]
    done = run("run", *(["all"] if wanted == "all" else files), "--store", tmp_path / "s")
    assert (done.code, done.out) == (2, "")
    assert "2 tasks can't be used: " in done.err
    for file in files:
        assert f"{file}, line " in done.err
    assert not (tmp_path / "s").exists()


def test_every_task_that_does_not_compile_is_named_before_anything_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for family, name in (("planning", "p04*"), ("prevention", "v06*")):
        (file,) = (PACKS / family).glob(f"{name}.toml")
        (tmp_path / family).mkdir()
        shutil.copy(file, tmp_path / family)
        _edit(tmp_path / family, 'scene = "', 'scene = "no_')
    monkeypatch.setattr("iwreplay.app.tasks.data_root", lambda: tmp_path)
    done = run("run", "all", "--store", tmp_path / "s")
    assert (done.code, done.out) == (2, "")
    assert "task P04: scene: no scene" in done.err
    assert "task V06: scene: no scene" in done.err
    assert not (tmp_path / "s").exists()


def test_what_was_recorded_before_the_disk_was_full_is_printed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, really = AppendFile.__init__, AppendFile.write
    full: set[AppendFile] = set()

    def init(self: AppendFile, path: Path) -> None:
        begin(self, path)
        if "D03" in str(path):
            full.add(self)

    def write(self: AppendFile, data: bytes | memoryview) -> None:
        if self in full:
            raise OSError(errno.ENOSPC, "No space left on device")
        really(self, data)

    monkeypatch.setattr(AppendFile, "__init__", init)
    monkeypatch.setattr(AppendFile, "write", write)
    args = ("--assistant", "silent", "--no-frames", "--store", tmp_path / "s", "--json")
    done = run("run", "V06", "D03", *args)
    assert done.code == 3
    assert [(e["task"], e["valid"]) for e in json.loads(done.out)] == [("V06", True)]
    assert "No space left on device" in done.err
    # with nothing recorded there is nothing to print
    done = run("run", "D03", "V06", *args)
    assert (done.code, done.out) == (3, "")


def test_a_report_that_can_not_be_written_is_refused_before_anything_is_played(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setattr("iwreplay.app.validation.check_task", lambda *args, **kwargs: pytest.fail("played"))
    for folder in ("taken", "taken/pages"):
        done = run("tasks", "check", "V06", "--write-report", tmp_path / folder)
        assert (done.code, done.out) == (2, "")
        assert f"{tmp_path / folder} can't be written: " in done.err
