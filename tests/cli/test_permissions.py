"""A store that can't be written, and files that may not be read: one line that names them, and nothing half-written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iwreplay.store import Store
from tests.scorers.own import written

ROOT = Path(__file__).parents[2]
#: root may read and write everything; without its capabilities it is an owner like any other
_AS_ANYBODY = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.name == "posix" and os.geteuid() == 0 else ()

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (bool(_AS_ANYBODY) and shutil.which("setpriv") is None),
    reason="needs POSIX permissions, as a user that they apply to",
)


def _iwreplay(*args: object, store: Store) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*_AS_ANYBODY, sys.executable, "-m", "iwreplay", *map(str, args), "--store", str(store.root)],
        cwd=store.root.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(autouse=True)
def opened_again(store: Store) -> Iterator[None]:
    """So that pytest can take the folder away."""
    yield
    for path in (store.root, *store.root.rglob("*")):
        path.chmod(0o755)
    for path in store.root.rglob("*"):
        path.chmod(0o755)


def _read_only(store: Store) -> list[Path]:
    paths = sorted(store.root.rglob("*"))
    for path in (*paths, store.root):
        path.chmod(0o555)
    return paths


def _refused(done: subprocess.CompletedProcess[str], *said: str) -> None:
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    for words in said:
        assert words in done.stderr


@pytest.mark.parametrize("what", ["log", "folder"])
def test_an_episode_that_may_not_be_read_hides_no_other(store: Store, what: str) -> None:
    first, *others = store.episodes()
    assert first.folder is not None
    (first.log if what == "log" else first.folder).chmod(0)

    done = _iwreplay("show", first.id, store=store)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"error: cannot open log {first.log}: Permission denied\n"

    listed = {e["episode"]: e for e in json.loads(_iwreplay("show", "--json", store=store).stdout)}
    assert (listed[first.id]["status"], listed[first.id]["events"]) == ("unreadable", 0)
    assert "Permission denied" in listed[first.id]["problem"]
    assert all(listed[o.id]["events"] for o in others)

    done = _iwreplay("score", "--json", store=store)
    lines = json.loads(done.stdout)
    assert done.returncode == 3
    assert {e["status"] for e in lines if e["episode"] == first.id} == {"unscorable"}
    assert all("Permission denied" in e["reason"] for e in lines if e["episode"] == first.id)
    assert {e["episode"] for e in lines} == set(listed)

    asked = "SELECT episode, events, problem FROM episodes ORDER BY episode"
    rows = json.loads(_iwreplay("query", asked, "--json", store=store).stdout)
    assert {r["episode"]: r["events"] for r in rows} == {e: listed[e]["events"] for e in listed}

    # and once it may be read, it is
    (first.log if what == "log" else first.folder).chmod(0o755)
    rows = json.loads(_iwreplay("query", asked, "--json", store=store).stdout)
    assert all(r["events"] for r in rows)
    assert all(r["problem"] is None for r in rows if r["episode"] == first.id)


def test_kept_scores_that_may_not_be_read_are_named(store: Store) -> None:
    assert _iwreplay("score", store=store).returncode == 0
    kept = next(store.episodes()).scores
    assert kept is not None
    kept.chmod(0)
    for command in (("score",), ("query", "SELECT 1")):
        _refused(_iwreplay(*command, store=store), "the kept scores of", "Permission denied", str(kept), "or delete it")


def test_a_store_that_may_not_be_written_is_read_all_the_same(store: Store) -> None:
    before = _read_only(store)
    episode = next(store.episodes())
    assert _iwreplay("show", store=store).returncode == 0
    assert _iwreplay("show", episode.id, store=store).returncode == 0
    _refused(_iwreplay("run", "A04", "--no-frames", store=store), "can't be made", "Permission denied")
    _refused(_iwreplay("score", store=store), "can't be kept in", "Permission denied", "a copy of the store")
    _refused(_iwreplay("query", "SELECT 1", store=store), "can't be brought up to date", "Permission denied")
    assert sorted(store.root.rglob("*")) == before, "nothing was left behind"


def test_an_up_to_date_catalogue_of_a_store_that_may_not_be_written_is_asked(store: Store) -> None:
    asked = ("query", "SELECT count(*) AS n FROM episodes", "--json")
    assert json.loads(_iwreplay(*asked, store=store).stdout) == [{"n": 3}]
    before = _read_only(store)
    assert json.loads(_iwreplay(*asked, store=store).stdout) == [{"n": 3}]
    assert sorted(store.root.rglob("*")) == before, "nothing was left behind"
    _refused(_iwreplay(*asked, "--rebuild", store=store), "can't be brought up to date", "Permission denied")

    copied = Store(store.root.with_name("copied"))
    shutil.copytree(store.root, copied.root)
    paths = _read_only(copied)
    assert json.loads(_iwreplay(*asked, store=copied).stdout) == [{"n": 3}], "another inode, the same log"

    for path in (copied.root, *paths):
        path.chmod(0o755)
    log = next(copied.episodes()).log
    log.write_bytes(log.read_bytes()[:-1])
    _read_only(copied)
    _refused(_iwreplay(*asked, store=copied), "can't be brought up to date", "Permission denied")


def test_a_scorer_of_ones_own_needs_a_store_that_takes_its_scores(store: Store, tmp_path: Path) -> None:
    mine = written(tmp_path, "def score(events, task):\n    return 1\n")
    _read_only(store)
    note = f"the scorer mine can't be noted in {store.root / 'scorers' / 'mine.json'}: Permission denied"
    _refused(_iwreplay("score", "--scorer", mine, store=store), note)
    assert not (store.root / "scorers").exists()
    for path in (store.root, *store.root.rglob("*")):
        path.chmod(0o755)
    assert _iwreplay("score", "--scorer", mine, store=store).returncode == 0
    _read_only(store)
    again = _iwreplay("score", "--scorer", mine, store=store)
    assert (again.returncode, "3 scores, all kept from before" in again.stderr) == (0, True)


def test_a_store_can_not_be_made_where_nothing_may_be_written(tmp_path: Path, store: Store) -> None:
    _read_only(store)
    done = _iwreplay("run", "A04", "--no-frames", store=Store(store.root / "inner"))
    _refused(done, f"a store can't be made at {store.root / 'inner'}", "Permission denied")


def test_a_folder_for_pictures_that_can_not_be_written_is_refused_at_once(store: Store) -> None:
    """It is there, and takes no files."""
    folder = store.root.parent / "pictures"
    folder.mkdir(mode=0o555)
    _refused(_iwreplay("tasks", "check", "V06", "--write-report", folder, store=store), f"{folder} can't be written: ")
    assert list(folder.iterdir()) == []
