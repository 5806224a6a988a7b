"""Stores and episodes for Python: what they give, what they leave alone, and what they say when they can't."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import iwreplay
from iwreplay.errors import LogCorruptError, MissingLibraryError, QueryError, StoreError, UnknownNameError
from iwreplay.events import CommandIssued, EpisodeEnded, StateDelta
from iwreplay.log import read_log, state_at
from iwreplay.store import Store

ROOT = Path(__file__).resolve().parents[2]
#: root may write everything; without its capabilities it is an owner like any other
_AS_ANYBODY = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.name == "posix" and os.geteuid() == 0 else ()


def _bytes(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_events_of_some_kinds_are_those_of_all(samples: Path) -> None:
    episode = iwreplay.open_store(samples)["V06-oracle"]
    everything = list(episode.events())
    assert [seq for seq, _ in everything] == list(range(len(episode)))
    some = list(episode.events(CommandIssued, EpisodeEnded))
    assert some == [(s, e) for s, e in everything if isinstance(e, CommandIssued | EpisodeEnded)]
    assert episode.event(some[0][0]) == some[0][1]
    with pytest.raises(UnknownNameError, match="V06-oracle has events 0 to 925"):
        episode.event(926)


def test_states_are_the_fold_and_stay_as_they_were(samples: Path) -> None:
    episode = iwreplay.open_store(samples)["V06-oracle"]
    kept = list(episode.states(StateDelta))
    assert len({id(world) for _, _, world in kept}) == len(kept) > 5
    with read_log(episode.path) as log:
        for seq, event, world in kept:
            there = state_at(log, seq)
            assert (world.attrs, world.poses, world.body) == (there.attrs, there.poses, there.body)
            assert world.attr(event.thing, event.attr) == event.new
    assert episode.state_at(kept[-1][0]).attrs == kept[-1][2].attrs
    with pytest.raises(UnknownNameError, match="events 0 to 925"):
        episode.state_at(-1)


def test_looking_writes_nothing_but_the_catalogue_and_scores(samples: Path) -> None:
    for kept in samples.rglob("scores.json"):
        kept.unlink()
    before = _bytes(samples)
    store = iwreplay.open_store(str(samples))
    for episode in store:
        list(episode.events())
        list(episode.states(EpisodeEnded))
        episode.table()
        assert episode.status
    assert _bytes(samples) == before
    store.query("SELECT 1")
    store["V06-oracle"].score("pass")
    after = _bytes(samples)
    assert {k: after[k] for k in before} == before
    new = set(after) - set(before)
    assert {Path(n).name for n in new} <= {"catalogue.duckdb", ".catalogue.duckdb.lock", "scores.json"}
    assert "episodes/V06-oracle/scores.json" in new


def test_the_catalogue_follows_the_store(samples: Path) -> None:
    store = iwreplay.open_store(samples)
    assert store.table("episodes").num_rows == len(store) == 9
    shutil.rmtree(samples / "episodes" / "F10-silent")
    assert store.table("episodes").num_rows == len(store) == 8
    assert store.table("scores").column("episode").to_pylist() == sorted(store.table("scores")["episode"].to_pylist())
    with pytest.raises(UnknownNameError, match=r"unknown table 'episode'\. Nearest: episodes"):
        store.table("episode")
    with pytest.raises(QueryError, match="Conversion Error"):
        store.query("SELECT CAST('a' AS INTEGER)")


def test_a_damaged_log_is_read_as_far_as_it_is_intact(samples: Path) -> None:
    episode = iwreplay.open_store(samples)["V06-silent"]
    data = bytearray(episode.path.read_bytes())
    data[len(data) // 2] ^= 1
    episode.path.write_bytes(data)
    read = []
    with pytest.raises(LogCorruptError):
        read.extend(episode.events())
    assert episode.status == "damaged"
    with pytest.raises(LogCorruptError):
        episode.table()
    score = episode.score("pass")
    assert (score.value, score.status) == (None, "unscorable")
    assert "corrupt" in score.reason


def test_an_empty_store_has_tables_and_no_scores(tmp_path: Path) -> None:
    Store.open_or_make(tmp_path / "s", made_by="test")
    store = iwreplay.open_store(tmp_path / "s")
    assert (list(store), store.score(), store.table("episodes").num_rows) == ([], (), 0)
    with pytest.raises(StoreError, match="no such folder"):
        iwreplay.open_store(tmp_path / "x")


def test_without_pandas_a_data_frame_says_what_to_do(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    store = iwreplay.open_store(samples)
    with pytest.raises(MissingLibraryError, match="pandas is not installed, and a DataFrame needs it: pip install"):
        store.df("SELECT 1")
    assert store.query("SELECT 1 AS one").to_pylist() == [{"one": 1}]


def test_nothing_that_records_is_loaded_to_look(samples: Path) -> None:
    """The extra `record` is not needed."""
    code = (
        f"import sys, iwreplay\nstore = iwreplay.open_store({str(samples)!r})\n"
        "print([e.score('pass').value for e in store], store.query('SELECT 1').num_rows)\n"
        "print(sorted({'mujoco', 'numba', 'litellm', 'PIL'} & set(sys.modules)))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(
    os.name != "posix" or (bool(_AS_ANYBODY) and shutil.which("setpriv") is None),
    reason="needs POSIX permissions, as a user that they apply to",
)
def test_a_store_that_may_not_be_written_is_looked_at_all_the_same(samples: Path, tmp_path: Path) -> None:
    for kept in samples.rglob("scores.json"):
        kept.unlink()
    before = _bytes(samples)
    paths = [samples, *samples.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    code = (
        f"import iwreplay\nstore = iwreplay.open_store({str(samples)!r})\n"
        "print(store.read_only, store['V06-oracle'].score('pass').value, len(store.score('pass')))\n"
        "print(store.query('SELECT count(*) AS n FROM episodes').to_pylist(), store.table('scores').num_rows)\n"
    )
    (tmp_path / "temporary").mkdir()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "temporary"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*_AS_ANYBODY, sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False, timeout=60
        )
    finally:
        for path in paths:
            path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True 1.0 9", "[{'n': 9}] 0"]
    assert _bytes(samples) == before
    assert list((tmp_path / "temporary").iterdir()) == [], "what was temporary is gone"
