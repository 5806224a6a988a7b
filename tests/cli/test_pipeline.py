"""A real task from the command line: recorded, replayed, drawn, scored, queried."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from iwreplay.events import EpisodeEnded, StateDelta
from iwreplay.log import LogWriter, read_log
from iwreplay.loop import environment_fingerprint
from iwreplay.store import Store, kept_verdicts
from iwreplay.taskpack.loader import load_tasks
from scorers import Scorer
from tests.cli.conftest import Run

TASK = "V06"
TASKS = load_tasks()


def _cli(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[2]
    env = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, "-m", "iwreplay", *map(str, args)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """A store with the oracle's and the silent episode of one task."""
    folder = tmp_path_factory.mktemp("recorded")
    answers: list[dict[str, Any]] = []
    for assistant in ("oracle", "silent"):
        done = _cli("run", TASK, "--assistant", assistant, "--human", "literal", "--json", "--store", "s", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr == "", "no progress bar where there is no terminal"
        answers += json.loads(done.stdout)
    return folder / "s", answers


def test_run_answers_with_the_promised_keys(recorded: tuple[Path, list[dict[str, Any]]]) -> None:
    store, (oracle, silent) = recorded
    assert {"episode", "task", "passed", "mcr", "log", "root_hash", "end_reason"} <= set(oracle)
    assert (oracle["episode"], oracle["task"]) == (f"{TASK}-oracle-literal-s0", TASK)
    assert (oracle["passed"], oracle["mcr"], oracle["end_reason"], oracle["status"]) == (True, 1.0, "done", "ended")
    assert (silent["passed"], silent["end_reason"]) == (False, "turn_limit")
    assert (store.parent / oracle["log"]).is_file()
    with read_log(store.parent / oracle["log"]) as log:
        assert (log.state, log.root_hash) == ("sealed", oracle["root_hash"])


def test_replay_is_exact(run: Run, recorded: tuple[Path, list[dict[str, Any]]]) -> None:
    store, (oracle, _) = recorded
    done = run("replay", oracle["episode"], "--json", "--store", store)
    answer = done.json()
    assert done.code == 0
    assert (answer["episode"], answer["grade"], answer["first_divergence"]) == (oracle["episode"], "exact", None)
    assert answer["steps"] == sum(answer["grades"].values()) > 10
    assert answer["root_hash"] == oracle["root_hash"]


def test_every_verdict_is_kept_and_points_at_its_log(
    run: Run, recorded: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    store = tmp_path / "copy"
    shutil.copytree(recorded[0], store)
    for episode in Store.open(store).episodes():
        shutil.rmtree(episode.log.parent / "replays", ignore_errors=True)
    oracle, silent = (a["episode"] for a in recorded[1])
    shown = run("replay", oracle, "--no-keep", "--json", "--store", store).json()
    assert (shown["grade"], shown["replay"]) == ("exact", None)
    assert run("query", "SELECT * FROM replays", "--json", "--store", store).json() == []

    both = run("replay", "--json", "--store", store).json()
    assert [(v["episode"], v["grade"], v["replay"]) for v in both] == [(oracle, "exact", 1), (silent, "exact", 1)]
    (kept,) = kept_verdicts(Store.open(store).find(oracle))
    assert kept.verdict is not None
    assert (kept.verdict.root_hash, kept.verdict.replayed_root_hash) == (recorded[1][0]["root_hash"],) * 2
    assert len(kept.verdict.steps) == both[0]["steps"]
    assert kept.verdict.parameters["seed"] == "0"
    assert kept.verdict.fingerprint == environment_fingerprint()

    path, seq, _ = _tampered(store, oracle, tmp_path)
    path.replace(Store.open(store).find(oracle).log)
    again = run("replay", oracle, "--store", store)
    assert again.code == 1
    rows = run(
        "query",
        f"SELECT replay, about, grade, first_seq FROM replays WHERE episode = '{oracle}' ORDER BY replay",
        "--json",
        "--store",
        store,
    ).json()
    assert [(r["replay"], r["about"], r["first_seq"]) for r in rows] == [(1, "another log", None), (2, "this log", seq)]
    assert (rows[0]["grade"], rows[1]["grade"] != "exact") == ("exact", True)
    (fidelity,) = run("query", "--named", "fidelity", "--json", "--store", store).json()
    assert (fidelity["task"], fidelity["episodes"], fidelity["exact"]) == (TASK, 2, 1)


def _tampered(store: Path, episode: str, folder: Path) -> tuple[Path, int, StateDelta]:
    """A copy of a log in which one attribute became something else."""
    path = folder / "tampered.arrows"
    with read_log(Store.open(store).find(episode).log) as log, LogWriter.create(path) as out:
        events = list(log)
        seq, delta = next((n, e) for n, e in events if isinstance(e, StateDelta) and e.attr == "used")
        for n, event in events:
            out.append(msgspec.structs.replace(event, new=False) if n == seq else event, wall_ns=0)  # type: ignore[call-arg]
        out.seal()
    return path, seq, delta


def test_a_changed_fact_is_found_where_it_is(
    run: Run, recorded: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    store, (oracle, _) = recorded
    path, seq, delta = _tampered(store, oracle["episode"], tmp_path)
    done = run("replay", path, "--json", "--store", store)
    first = done.json()["first_divergence"]
    assert done.code == 1
    assert (first["seq"], first["object"], first["field"]) == (seq, delta.thing, "used")
    assert (first["expected"], first["got"]) == ("false", "true")
    text = run("replay", path, "--fail-fast", "--store", store)
    assert text.code == 1
    assert f"event {seq} at" in text.out


def test_frames_are_those_that_were_seen(run: Run, recorded: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    store, (oracle, _) = recorded
    args = ("frames", oracle["episode"], "--frame", "0", "--frame", "f000005", "--out", tmp_path / "png")
    done = run(*args, "--json", "--store", store)
    assert done.code == 0, done.err
    drawn = done.json()["frames"]
    assert [(f["frame"], f["verdict"]) for f in drawn] == [("f000000", "same"), ("f000005", "same")]
    for frame in drawn:
        assert Path(frame["file"]).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert sorted(p.name for p in (tmp_path / "png").iterdir()) == ["f000000.png", "f000005.png"]


def test_a_frame_that_is_not_there(run: Run, recorded: tuple[Path, list[dict[str, Any]]]) -> None:
    store, (oracle, _) = recorded
    done = run("frames", oracle["episode"], "--frame", "99999", "--store", store)
    assert (done.code, "unknown frame 'f99999'" in done.err.replace("f099999", "f99999")) == (2, True)


def test_scores_are_kept_and_say_why_they_are_stale(
    run: Run, recorded: tuple[Path, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "copy"
    shutil.copytree(recorded[0], store)
    kept = run("score", "--json", "--store", store).json()
    assert {"episode", "metric", "value", "status", "stale_because"} <= set(kept[0])
    assert {(s["episode"].split("-")[1], s["metric"], s["value"]) for s in kept} >= {
        ("oracle", "pass", 1.0),
        ("oracle", "mcr", 1.0),
        ("silent", "pass", 0.0),
    }
    assert all(s["kept"] and s["stale_because"] is None for s in kept), "run scored them already"
    assert run("score", "--check", "--store", store).code == 0

    from iwreplay.app import scoring

    newer = tuple(
        Scorer(name=s.name, version=s.version + (s.name == "pass"), module=s.module, judge=s.judge)
        for s in scoring.SCORERS
    )
    monkeypatch.setattr(scoring, "SCORERS", newer)
    monkeypatch.setattr(scoring, "scorer_named", {s.name: s for s in newer}.__getitem__)
    scoring._HASHES.clear()
    try:
        asked = run("score", "--check", "--json", "--store", store)
        assert asked.code == 1
        stale = {s["metric"]: s["stale_because"] for s in asked.json() if "-oracle-" in s["episode"]}
        assert stale["pass"].startswith("the scorer changed: ")
        assert (stale["mcr"], stale["capability"]) == (None, None)
        again = run("score", "--json", "--store", store).json()
        assert {s["metric"] for s in again if not s["kept"]} == {"pass"}
        assert all(s["kept"] for s in run("score", "--json", "--store", store).json())
    finally:
        scoring._HASHES.clear()


def test_a_changed_log_makes_its_scores_stale(
    run: Run, recorded: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    store = tmp_path / "copy"
    shutil.copytree(recorded[0], store)
    name = recorded[1][0]["episode"]
    path, _, _ = _tampered(store, name, tmp_path)
    path.replace(Store.open(store).find(name).log)
    lines = run("score", name, "--json", "--store", store).json()
    assert all(s["stale_because"].startswith("the log changed: root hash ") for s in lines)
    assert not any(s["kept"] for s in lines)


def test_a_damaged_log_is_unscorable(run: Run, recorded: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    store = tmp_path / "copy"
    shutil.copytree(recorded[0], store)
    name = recorded[1][0]["episode"]
    log = Store.open(store).find(name).log
    log.write_bytes(log.read_bytes()[:-500])
    lines = run("score", name, "--json", "--store", store).json()
    assert {(s["value"], s["status"]) for s in lines} == {(None, "unscorable")}
    assert all("the log is" in s["reason"] for s in lines)


def test_questions_over_real_episodes(run: Run, recorded: tuple[Path, list[dict[str, Any]]]) -> None:
    store, _ = recorded
    rows = run("query", "--named", "pass", "--json", "--store", store).json()
    assert [(r["family"], r["assistant"], r["passed"], r["pass_percent"]) for r in rows] == [
        ("prevention", "oracle", 1, 100.0),
        ("prevention", "silent", 0, 0.0),
    ]
    (row,) = run(
        "query", "SELECT count(*) AS n FROM points WHERE status = 'clean_pass'", "--json", "--store", store
    ).json()
    assert row["n"] > 0
    effort = run("query", "--named", "effort", "--json", "--store", store).json()
    assert {r["episode"]: r["passed"] for r in effort} == {r["episode"]: bool(r["passed"]) for r in recorded[1]}


def test_the_same_seed_gives_the_same_log(recorded: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    done = _cli("run", TASK, "--json", "--store", "again", cwd=tmp_path)
    assert json.loads(done.stdout)[0]["root_hash"] == recorded[1][0]["root_hash"]


def test_scripted_assistant_from_a_file(run: Run, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("silent\ndone: That is all.\n")
    done = run("run", TASK, "--assistant", f"scripted:{lines}", "--no-frames", "--json", "--store", tmp_path / "s")
    (answer,) = done.json()
    assert (answer["passed"], answer["end_reason"], answer["turns"]) == (False, "done", 2)
    assert answer["episode"].startswith(f"{TASK}-scripted-literal-s0")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_script_is_read_once_so_that_it_may_be_a_pipe(tmp_path: Path, jobs: int) -> None:
    pipe = tmp_path / "lines"
    os.mkfifo(pipe)
    args = ("run", TASK, "G05", "--jobs", jobs, "--no-frames", "--json", "--store", "s")
    with ThreadPoolExecutor() as pool:
        running = pool.submit(_cli, *args, "--assistant", f"scripted:{pipe}", cwd=tmp_path)
        pipe.write_text("silent\nsilent\ndone: That is all.\n")
        done = running.result()
    assert [(e["task"], e["turns"], e["end_reason"]) for e in json.loads(done.stdout)] == [
        (TASK, 3, "done"),
        ("G05", 3, "done"),
    ]


def test_frames_of_a_log_outside_a_store_go_to_the_current_folder(run: Run, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    sample = Path(__file__).parents[2] / "episodes" / "samples" / "V06-silent.arrows"
    shutil.copy(sample, there)
    done = _cli("frames", there / sample.name, "--frame", "0", cwd=here)
    assert done.stdout.splitlines()[-1] == "1 frame in V06-silent-frames"
    assert [p.name for p in (here / "V06-silent-frames").iterdir()] == ["f000000.png"]
    assert [p.name for p in there.iterdir()] == [sample.name], "nothing is written beside a log"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("nope",), f"unknown task 'nope'. Known: {len(TASKS)}, from {TASKS[0].id} to {TASKS[-1].id}."),
        ((TASK, "--assistant", "gpt"), "unknown assistant 'gpt'. Known: oracle, silent, no-help, near-miss:ID, random"),
        ((TASK, "--assistant", "orakle"), "unknown assistant 'orakle'. Nearest: oracle. Known: oracle, silent"),
        ((TASK, "--assistant", "scripted:"), "unknown assistant 'scripted:'. Name the file of its lines"),
        ((TASK, "--human", "bob"), "unknown human 'bob'. Known: literal, model:NAME, person"),
        ((TASK, "--assistant", "scripted:none.txt"), "none.txt"),
        (("none.toml",), "unknown task 'none.toml'. There is no such file."),
        (("bad.toml",), "bad.toml"),
    ],
)
def test_wrong_wishes_record_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text("format = 1\nid = 'G05'\n")
    done = run("run", *args, "--store", tmp_path / "s")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (tmp_path / "s").exists()


def test_recording_into_a_folder_of_other_things(run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    done = run("run", TASK, "--store", tmp_path)
    assert (done.code, "not empty; nothing was written" in done.err) == (2, True)


def _interrupted(store: Path, *, times: int) -> tuple[int, str]:
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "iwreplay", "run", TASK, "--store", str(store)],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = store / "episodes" / f"{TASK}-oracle-literal-s0" / "log.arrows"
    give_up = time.monotonic() + 300
    while not (log.exists() and log.stat().st_size > 60_000):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.05)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    return process.returncode, err


def test_ctrl_c_leaves_a_readable_log_and_the_run_can_be_repeated(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "s"
    code, err = _interrupted(store, times=1)
    assert code == 130
    assert "interrupted" in err
    (listed,) = run("show", "--json", "--store", store).json()
    assert (listed["status"], listed["end_reason"], listed["log_state"]) == ("interrupted", "interrupted", "sealed")
    with read_log(Store.open(store).find(TASK).log) as log:
        assert isinstance(log.at_seq(len(log) - 1), EpisodeEnded)
    assert run("log", "check", TASK, "--store", store).code == 0
    assert run("run", TASK, "--no-frames", "--store", store).code == 0
    assert [e.id for e in Store.open(store).episodes()] == [
        f"{TASK}-oracle-literal-s0",
        f"{TASK}-oracle-literal-s0-r2",
    ]


def test_a_killed_run_is_listed_as_unfinished(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "s"
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "iwreplay", "run", TASK, "--store", str(store)],
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    log = store / "episodes" / f"{TASK}-oracle-literal-s0" / "log.arrows"
    give_up = time.monotonic() + 300
    while not (log.exists() and log.stat().st_size > 60_000):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    process.kill()
    process.wait()
    (listed,) = run("show", "--json", "--store", store).json()
    # killed in the middle of a write, its last batch may be cut
    status = {"open": "unfinished", "truncated": "damaged"}[listed["log_state"]]
    assert listed["status"] == status
    assert listed["events"] > 0
    scored = run("score", "--json", "--store", store).json()
    assert {s["status"] for s in scored} == {"unscorable"}
    rows = run("query", "--named", "unfinished", "--json", "--store", store).json()
    assert [r["status"] for r in rows] == [status]
