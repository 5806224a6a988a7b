"""Every benchmark can be imported and goes through a small round, so that none breaks unseen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import benchmarks.peers.inspect_dataframes
import benchmarks.peers.inspect_rescore
import benchmarks.peers.mujoco_render
from benchmarks import (
    catalogue_bench,
    frames_bench,
    log_bench,
    log_events,
    record_bench,
    reexec_bench,
    render_bench,
    rescore_bench,
    synthetic,
    synthetic_store,
)
from iwreplay.app.scoring import score_episodes
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import check

FOLDER = Path(__file__).parents[2] / "benchmarks"


def test_every_module_is_imported_here() -> None:
    assert benchmarks.peers.mujoco_render
    assert benchmarks.peers.inspect_rescore
    assert benchmarks.peers.inspect_dataframes
    for path in sorted(FOLDER.rglob("*.py")):
        name = ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
        assert name.removesuffix(".__init__") in sys.modules, f"import {name} in this test"


def test_logs_beside_mcap(tmp_path: Path) -> None:
    found = log_bench.compare(log_events.text_events(60), tmp_path / "logs", rounds=1)
    assert found["events"] == 60
    sought = log_bench.seek(tmp_path, events=60)
    assert sought


def test_scoring_again(tmp_path: Path) -> None:
    """All ways but two processes. Columns and SQL ask the same question, and kept scores are those of the checks."""
    root, source = rescore_bench.prepare(tmp_path, episodes=2, events=200)
    assert source.exists()
    found = {way: work(root) for way, work in rescore_bench.OURS.items() if way != "jobs"}
    assert found["trivial"] == sum(1 for e in (*synthetic.episode(200, seed=0), *synthetic.episode(200, seed=1)) if e)
    assert found["columns"] == found["sql"] > 0
    assert found["kept"] == found["checks"] > 0


def test_a_made_up_store_is_the_same_each_time_and_holds_together(tmp_path: Path) -> None:
    """Also when its making was broken off. Every log passes the full check, says that it is made up, and is scored."""
    first = synthetic_store.write_store(tmp_path / "a", episodes=12, events=150)
    synthetic_store.write_store(tmp_path / "b", episodes=5, events=150)
    (tmp_path / "b" / "episodes" / synthetic_store.plan(6)[5].id).mkdir()
    second = synthetic_store.write_store(tmp_path / "b", episodes=12, events=150)
    logs = {e.id: e.log for e in first.episodes()}
    assert set(logs) == {made.id for made in synthetic_store.plan(12)}
    assert {e.id: e.log.read_bytes() for e in second.episodes()} == {i: log.read_bytes() for i, log in logs.items()}
    assert all(check(log).complete for log in logs.values())
    assert all("synthetic" in i for i in logs)
    lines = score_episodes(first.root, scorers=("pass",), jobs=1)
    passes = {made.id: float(made.passes) for made in synthetic_store.plan(12)}
    assert {s.episode: s.value for s in lines} == passes
    assert set(passes.values()) == {0.0, 1.0}
    assert synthetic_store.verify_all(first, every=4) == 3


def test_the_catalogue_beside_the_logs(tmp_path: Path) -> None:
    """Every part once, in processes of their own; the logs and the catalogue give the same answers."""
    found = catalogue_bench.run(
        tmp_path / "store", episodes=12, events=150, rounds=1, peer_python=None, peer_episodes=0
    )
    assert found["score"]["1"]["scores"] == found["score"]["2"]["scores"] == 24
    assert (found["rebuild"]["added"], found["more"]["added"]) == (12, catalogue_bench.MORE)
    assert (found["again"]["unchanged"], found["rescored"]["rescored"]) == (12, 12)
    assert {"pass", "refusals", "changed"} < set(found["asked"]["questions"])
    assert "12 episodes" in catalogue_bench.told(found)


def test_drawing() -> None:
    told = render_bench.measure_all(render_bench.bench_scene(), threads=1, frames=1)
    assert [line.split()[0] for line in told.splitlines()[1:]] == ["still", "moving", "working", "evening", "survey"]


def test_frames_beside_drawing(tmp_path: Path) -> None:
    shots = frames_bench.shots_of(frames_bench.SAMPLE)
    assert len(shots.frames) > 10
    few = shots._replace(frames=shots.frames[:2])
    maker = FrameMaker(shots.scene, config=shots.config, threads=1)
    assert frames_bench.cpu_s(lambda: frames_bench.bare(maker, few)) > 0.0
    frames_bench.verified(maker, frames_bench.SAMPLE, tmp_path, only=frozenset(e.frame_id for e, _ in few.frames))
    assert len(list(tmp_path.glob("*.png"))) == 2


def test_recording_taken_apart() -> None:
    """Every second is counted for one part, and every part has some."""
    head, line = record_bench.measure(("V06",), rounds=1).splitlines()
    assert head.split()[3:8] == list(record_bench.PARTS)
    total, *parts = [float(word) for word, unit in zip(line.split(), line.split()[1:], strict=False) if unit == "ms"]
    assert all(part > 0.0 for part in parts[:5])
    assert sum(parts[:5]) == pytest.approx(total, abs=1.0)


@pytest.mark.slow
def test_re_execution() -> None:
    found = reexec_bench.run(task="V06", rounds=1)
    assert found["events"] > 100
    assert set(found["wall_s"]) == set(found["cpu_s"])
    assert found["reexecute_over_record"] > 0.0
