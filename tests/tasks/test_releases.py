"""A released task pack never changes in place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iwreplay.app.importing import import_logs
from iwreplay.app.releases import changelog, pack_state, read_releases, release_pack
from iwreplay.app.scoring import score_episodes
from iwreplay.cli.tasks import _print_state
from iwreplay.errors import StoreDamagedError, TaskError
from iwreplay.scene.loader import data_root
from iwreplay.scene.toml import Source

ROOT = Path(str(data_root()))
SAMPLES = Path(__file__).resolve().parents[2] / "episodes" / "samples"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack of two tasks."""
    root = tmp_path / "pack"
    for name in ("objects", "scenes"):
        shutil.copytree(ROOT / name, root / name)
    for task in ("guidance/g05_tomato_recipe.toml", "finding/f03_vodka_glass.toml"):
        (root / task).parent.mkdir()
        shutil.copy(ROOT / task, root / task)
    return root


def _edit(root: Path, name: str, *changes: tuple[str, str]) -> None:
    path = root / name
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")


def _changes(root: Source) -> list[tuple[str, str]]:
    return [(c.task, c.what) for c in pack_state(root).changes]


def _cli(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "iwreplay", "tasks", *args],
        env={**os.environ, "PYTHONPATH": str(ROOT.parent)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_pack_is_as_it_was_released() -> None:
    """Fails after any change of a task, or of a scene that one plays in: raise the task's version and say
    `iwreplay tasks release --why ...`."""
    done = _cli("pack", "--json")
    assert (done.returncode, json.loads(done.stdout)["changes"]) == (0, []), done.stdout
    told = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = [(int(n), digest) for n, digest in re.findall(r"^## Release (\d+)$.*?`([0-9a-f]{64})`", told, re.M | re.S)]
    assert found == [(r.number, r.sha256) for r in reversed(read_releases(data_root()))]
    assert told == changelog(read_releases(data_root()))


def test_what_is_not_released_is_added(pack: Path) -> None:
    assert _changes(pack) == [("F03", "added"), ("G05", "added")]
    state = release_pack(pack, why="The first two.")
    assert (state.release, state.tasks, state.changes) == (1, 2, ())
    assert state.release_sha256 == state.sha256
    assert "## Release 1\n\nThe first two.\n\nContent hash `" in (pack / "CHANGELOG.md").read_text(encoding="utf-8")
    with pytest.raises(TaskError, match="nothing changed since release 1"):
        release_pack(pack, why="Again.")


def test_a_task_that_changes_needs_a_version_of_its_own(pack: Path) -> None:
    release_pack(pack, why="First.")
    _edit(pack, "guidance/g05_tomato_recipe.toml", ('title = "', 'title = "The '))
    assert _changes(pack) == [("G05", "version")]
    before = sorted((p, p.read_bytes()) for p in pack.rglob("*") if p.is_file())
    with pytest.raises(TaskError, match="G05: it is not what release 1 says and still version 1; raise its `version`"):
        release_pack(pack, why="Better title.")
    assert before == sorted((p, p.read_bytes()) for p in pack.rglob("*") if p.is_file())
    _edit(pack, "guidance/g05_tomato_recipe.toml", ('id = "G05"\n', 'id = "G05"\nversion = 2\n'))
    assert _changes(pack) == [("G05", "task")]
    assert release_pack(pack, why="Better title.").release == 2
    text = (pack / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("## Release 2\n\nBetter title.") < text.index("## Release 1")
    assert "- Changed: G05\n" in text
    first, second = read_releases(pack)
    assert first.tasks["F03"] == second.tasks["F03"]
    assert (first.tasks["G05"].version, second.tasks["G05"].version) == (1, 2)


def test_a_scene_that_changes_changes_its_tasks(pack: Path) -> None:
    release_pack(pack, why="First.")
    scene = re.search(r'^scene = "(\w+)"', (pack / "guidance/g05_tomato_recipe.toml").read_text(encoding="utf-8"), re.M)
    assert scene is not None
    _edit(pack, f"scenes/{scene[1]}.toml", ('\nname = "', '\nname = "old '))
    assert _changes(pack) == [("G05", "scene")]
    assert release_pack(pack, why="A name.").release == 2


def test_what_differs_is_said_in_full_sentences(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said() -> list[str]:
        _print_state(pack_state(pack), json=False)
        return capsys.readouterr().out.splitlines()

    assert said()[-2:-1] == ["Nothing has been released yet: 2 tasks."]
    first = release_pack(pack, why="First.").sha256
    assert said() == [
        "This is release 1: all 2 tasks are as they were released.",
        f"Content hash of the tasks here: {first}",
    ]
    _edit(pack, "guidance/g05_tomato_recipe.toml", ('title = "', 'title = "The '))
    assert said()[-4:-1] == [
        "Since release 1, 1 task has changed (see the table).",
        "The other 1 of the 2 here are as they were released.",
        f"Content hash of release 1: {first}",
    ]
    (pack / "finding/f03_vodka_glass.toml").unlink()
    assert said()[-4:-2] == [
        "Since release 1, 2 tasks have changed (see the table).",
        "The other 0 of the 1 here are as they were released.",
    ]


def test_removed_tasks_are_named(pack: Path) -> None:
    release_pack(pack, why="First.")
    (pack / "finding/f03_vodka_glass.toml").unlink()
    assert _changes(pack) == [("F03", "removed")]
    assert "- Removed: F03\n" in _log_after(pack)


def _log_after(pack: Path) -> str:
    release_pack(pack, why="Less.")
    return (pack / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_release_that_was_touched_is_found(pack: Path) -> None:
    release_pack(pack, why="First.")
    (pack / "finding/f03_vodka_glass.toml").unlink()
    release_pack(pack, why="Second.")
    first = pack / "releases" / "1.toml"
    kept = first.read_text(encoding="utf-8")
    first.write_text(kept.replace("First.", "Frist."), encoding="utf-8")
    with pytest.raises(StoreDamagedError, match=r"releases/2\.toml follows a release other than release 1"):
        pack_state(pack)
    first.unlink()
    with pytest.raises(StoreDamagedError, match="release 1 is missing"):
        pack_state(pack)
    first.write_text(kept + "more = 1\n", encoding="utf-8")
    with pytest.raises(TaskError, match=r"releases/1\.toml"):
        pack_state(pack)


def test_the_command_asks_for_a_reason_before_it_works() -> None:
    done = _cli("release", "--why", " ")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a release needs a reason: say with --why what changed and why" in done.stderr


def test_a_reason_is_written_as_it_is_said(pack: Path) -> None:
    release_pack(pack, why='The "left" bay\n is   links \U0001f60a now: C:\\x.')
    (release,) = read_releases(pack)
    assert release.why == 'The "left" bay is links \U0001f60a now: C:\\x.'
    with pytest.raises(TaskError, match="can't be printed"):
        release_pack(pack, why="a\x7fb")


def test_a_changelog_that_a_killed_release_did_not_write_is_written_by_the_next(pack: Path) -> None:
    release_pack(pack, why="First.")
    (pack / "CHANGELOG.md").unlink()
    (pack / "finding/f03_vodka_glass.toml").unlink()
    assert "## Release 1\n\nFirst." in _log_after(pack)


@pytest.mark.parametrize("why", ["", "  \n"])
def test_a_release_needs_a_reason(pack: Path, why: str) -> None:
    with pytest.raises(TaskError, match="a release needs a reason"):
        release_pack(pack, why=why)
    assert not (pack / "releases").exists()


def test_a_log_is_scored_by_the_task_that_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever became of the task in the pack."""
    store = tmp_path / "s"
    import_logs(store, (str(SAMPLES / "V06-silent.arrows"),))
    before = score_episodes(store)

    def gone(*_: object, **__: object) -> None:
        raise AssertionError("scoring asks for the pack")

    for name in ("iwreplay.taskpack.loader.survey_tasks", "iwreplay.taskpack.loader.load_task"):
        monkeypatch.setattr(name, gone)
    after = score_episodes(store, again=True)
    assert [(s.metric, s.value, s.status) for s in after] == [(s.metric, s.value, s.status) for s in before]
    assert {s.status for s in after} <= {"scored", "unscorable", "undefined"}
