"""Runs of a benchmark: however they are stopped, every episode is there in the end, once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from iwreplay.app import benching
from iwreplay.app.auditing import audit_episodes
from iwreplay.app.benching import BenchOptions, Limits, RunStopped, list_runs, plan_run, play_run, run_state
from iwreplay.app.engines import Done, Job, LostError, StoppedError
from iwreplay.app.recording import Budget, check_participants
from iwreplay.app.replaying import replay_episodes
from iwreplay.app.tasks import find_task, find_tasks
from iwreplay.errors import LogLockedError, ModelError, ParticipantError, StoreError, UnknownNameError
from iwreplay.events import ModelCall
from iwreplay.log import read_log
from iwreplay.store import Store
from iwreplay.store.journal import read_journal
from recorder.benchmark import Begun, Ended, Lost, Plan, RunRecord
from tests.bench.speaking import acts, speaks, text_of
from tests.models.provider import KEY, Said

ROOT = Path(__file__).resolve().parents[2]
#: short ones, of two families
TASKS = ("F19", "V06")


def planned(*assistants: str, tasks: tuple[str, ...] = TASKS, **more: Any) -> Plan:
    return plan_run(assistants=assistants, humans=("literal",), tasks=tasks, frames=False, **more)


def records(store: Path, run: str = "r") -> tuple[Any, ...]:
    return read_journal(store / "runs" / run / "journal.jsonl", RunRecord)


def roots(store: Path, run: str = "r") -> dict[str, str]:
    return {r.cell: r.root_hash for r in records(store, run) if isinstance(r, Ended)}


def is_whole(store: Path, run: str, planned: int) -> None:
    """Every place of the plan has one episode, whose log is there and whole."""
    ended = [r for r in records(store, run) if isinstance(r, Ended)]
    assert len(ended) == len({r.cell for r in ended}) == len({r.episode for r in ended}) == planned
    logs = {e.id: e.log for e in Store.open(store).episodes()}
    for record in ended:
        with read_log(logs[record.episode]) as log:
            assert (log.state, log.root_hash) == ("sealed", record.root_hash)
    begun = [r.episode for r in records(store, run) if isinstance(r, Begun)]
    lost = [r.episode for r in records(store, run) if isinstance(r, Lost)]
    assert sorted(begun) == sorted([*lost, *(r.episode for r in ended)])


def test_a_run_in_one_process_and_in_several_is_the_same(tmp_path: Path) -> None:
    seen: list[int] = []
    one = play_run(
        tmp_path / "one", "r", plan=planned("oracle", "silent"), options=BenchOptions(),
        progress=lambda s: seen.append(s.ended),
    )  # fmt: skip
    two = play_run(tmp_path / "two", "r", plan=planned("oracle", "silent"), options=BenchOptions(parallel=2))
    assert roots(tmp_path / "one") == roots(tmp_path / "two")
    assert one == two
    assert (one.planned, one.ended, one.valid, one.passed) == (4, 4, 4, 2)
    oracle, silent = one.pairs
    assert (oracle.by_family["finding"], oracle.by_family["prevention"], oracle.by_family["guidance"]) == (
        1.0,
        1.0,
        None,
    )
    assert (silent.passed, silent.average) == (0, None)
    assert seen[0] == 0
    assert seen[-1] == 4
    is_whole(tmp_path / "two", "r", 4)
    assert run_state(tmp_path / "one", "r") == one
    assert list_runs(tmp_path / "one") == (one,)
    # again: nothing is left to do
    before = records(tmp_path / "one")
    assert play_run(tmp_path / "one", "r", plan=None, options=BenchOptions()) == one
    assert records(tmp_path / "one") == before


def test_another_plan_is_another_run(tmp_path: Path) -> None:
    play_run(tmp_path, "r", plan=planned("silent", tasks=("F19",)), options=BenchOptions())
    before = (tmp_path / "runs" / "r" / "plan.json").read_bytes()
    with pytest.raises(StoreError, match=r'assistants: .*"silent".*now .*"oracle".*bench resume r'):
        play_run(tmp_path, "r", plan=planned("oracle", tasks=("F19",)), options=BenchOptions())
    assert (tmp_path / "runs" / "r" / "plan.json").read_bytes() == before
    with pytest.raises(UnknownNameError, match=r"unknown run 'q'\. Known: r"):
        play_run(tmp_path, "q", plan=None, options=BenchOptions())
    with pytest.raises(StoreError, match=re.escape("'../r' is no name for a run")):
        play_run(tmp_path, "../r", plan=planned("silent", tasks=("F19",)), options=BenchOptions())


def test_a_changed_script_is_another_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Deadly()
    monkeypatch.setattr(engine, "wait", lambda seconds: engine.stop())
    monkeypatch.setattr(benching, "SequentialEngine", lambda meter: engine)
    lines = tmp_path / "lines.txt"
    lines.write_text("Hello.\n", encoding="utf-8")
    plan = planned(f"scripted:{lines}", tasks=("F19",))
    with pytest.raises(RunStopped):
        play_run(tmp_path / "s", "r", plan=plan, options=BenchOptions())
    lines.write_text("Goodbye.\n", encoding="utf-8")
    with pytest.raises(StoreError, match="can't go on as it was planned: scripts"):
        play_run(tmp_path / "s", "r", plan=None, options=BenchOptions())


@pytest.mark.parametrize(
    ("more", "error", "why"),
    [
        ({"assistants": ("oracle", "oracle")}, UnknownNameError, "named twice"),
        ({"assistants": ("orakel",)}, UnknownNameError, "unknown assistant 'orakel'"),
        ({"assistants": ("model:openai/m", "memory=on")}, UnknownNameError, "stand after a semicolon in a list"),
        ({"humans": ("literate",)}, UnknownNameError, "unknown human 'literate'"),
        ({"tasks": ("Z99",)}, UnknownNameError, "Z99"),
        ({"humans": ("model:lab/m,memory=on",)}, ParticipantError, "memory=on is for an Assistant"),
        ({"assistants": ("model:openai/m",)}, ParticipantError, "leave --no-frames out"),
        ({"assistants": ("model:openai/m,temprature=1",)}, UnknownNameError, "setting of a model 'temprature=1'"),
        ({"assistants": ("model:openai/m,temperature=9",)}, ParticipantError, "from 0 to 2, or default"),
        ({"assistants": ("model:",)}, UnknownNameError, "Name it with its provider first"),
        ({"assistants": ("model:gpt-5",)}, UnknownNameError, "Name it with its provider first"),
        ({"assistants": ("model:openai/m,seed=1,seed=2",)}, ParticipantError, "seed is said twice"),
        ({"assistants": ()}, UnknownNameError, "Name at least one"),
        ({"seeds": ()}, UnknownNameError, "Name at least one"),
    ],
)
def test_a_plan_names_what_there_is(more: dict[str, Any], error: type[Exception], why: str) -> None:
    asked = {"assistants": ("oracle",), "humans": ("literal",), "tasks": ("F19",), "frames": False, **more}
    with pytest.raises(error, match=re.escape(why)):
        plan_run(**asked)


def test_only_who_sees_needs_frames() -> None:
    look = partial(check_participants, frames=False, secrets=(), budget=Budget())
    blind, sighted = (find_tasks((name,)) for name in ("A01", "F19"))
    assert {t.human.restriction for t in blind} == {"accessibility"}
    with pytest.raises(ParticipantError, match="leave --no-frames out"):
        look("oracle", "model:lab/m", tasks=sighted)
    with pytest.raises(ParticipantError, match="leave --no-frames out"):
        look("model:lab/m", "literal", tasks=blind)
    # looked up at its provider, which there is not
    with pytest.raises(ModelError, match="lab/m"):
        look("oracle", "model:lab/m", tasks=blind)


def test_a_rate_is_of_a_provider_of_the_run(tmp_path: Path) -> None:
    plan = planned("silent", tasks=("F19",))
    with pytest.raises(UnknownNameError, match=r"unknown provider of this run 'openai'\. No hosted model plays in it"):
        play_run(tmp_path, "r", plan=plan, options=BenchOptions(limits=Limits(per_minute={"openai": 60.0})))
    with pytest.raises(StoreError, match="is no name for a run"):
        play_run(tmp_path / "s", "../r", plan=plan, options=BenchOptions())
    with pytest.raises(StoreError, match="there is no such folder"):
        play_run(tmp_path / "s", "r", plan=None, options=BenchOptions())
    assert list(tmp_path.iterdir()) == []


class Deadly:
    """An engine whose workers die of every episode, each alone, as on a cluster."""

    capacity = 2

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.played = 0

    def __enter__(self) -> Deadly:
        return self

    def __exit__(self, *args: object) -> None:
        self.jobs.clear()

    def submit(self, job: Job) -> None:
        self.played += 1
        assert self.played < 20, "it goes on for ever"
        self.jobs.append(job)

    def wait(self, seconds: float) -> list[Done]:
        jobs, self.jobs = self.jobs, []
        return [Done(job=job, error=LostError(alone=True)) for job in jobs]

    def stop(self) -> list[Done]:
        jobs, self.jobs = self.jobs, []
        return [Done(job=job, error=StoppedError()) for job in jobs]


def test_an_episode_that_kills_its_worker_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Deadly()
    monkeypatch.setattr(benching, "SequentialEngine", lambda meter: engine)
    state = play_run(tmp_path, "r", plan=planned("silent", "oracle", tasks=("F19",)), options=BenchOptions())
    assert (state.ended, state.valid, engine.played) == (2, 0, 4)
    assert all("its worker was killed, or ran out of memory" in fault for fault in state.faults)


def test_a_run_whose_episodes_are_not_begun_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Deadly()
    monkeypatch.setattr(engine, "wait", lambda seconds: engine.stop())
    monkeypatch.setattr(benching, "SequentialEngine", lambda meter: engine)
    with pytest.raises(RunStopped, match="0 of 1 episodes are done"):
        play_run(tmp_path, "r", plan=planned("silent", tasks=("F19",)), options=BenchOptions())


# -- runs in processes of their own ---------------------------------------------------------------------------------


def _root(folder: Path) -> str | None:
    with read_log(folder / "log.arrows") as log:
        return log.root_hash


def started(
    store: Path, *more: str, env: dict[str, str] | None = None, group: str = "bench", before: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*before, sys.executable, "-m", "iwreplay", *filter(None, [group]), *more, "--store", str(store)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finished(
    store: Path, *more: str, env: dict[str, str] | None = None, group: str = "bench", before: tuple[str, ...] = ()
) -> tuple[int, str, str]:
    done = started(store, *more, env=env, group=group, before=before)
    out, err = done.communicate(timeout=240)
    return done.returncode, out, quiet(err)


def quiet(err: str) -> str:
    """stderr without the lines that tell how far a run is."""
    told = re.compile(r"\w+: (looking at \d+ tasks?|\d+ of \d+ done, \d+ of \d+ passed.*)\n")
    return "".join(line for line in err.splitlines(keepends=True) if not told.fullmatch(line))


def wait_for(what: Callable[[], bool], *, within: float = 120.0) -> None:
    end = time.monotonic() + within
    while not what():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def so_far(store: Path, kind: type, run: str = "r") -> int:
    path = store / "runs" / run / "journal.jsonl"
    return sum(isinstance(r, kind) for r in read_journal(path, RunRecord)) if path.exists() else 0


RUN = (
    "run",
    "--run",
    "r",
    "--no-frames",
    "--tasks",
    ",".join(TASKS),
    "--assistants",
    "oracle,silent",
    "--parallel",
    "2",
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Cell -> root hash of a run that nobody stopped."""
    store = tmp_path_factory.mktemp("undisturbed")
    play_run(store, "r", plan=planned("oracle", "silent"), options=BenchOptions())
    return roots(store)


def test_a_run_that_is_killed_goes_on(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    """kill -9 of the process that leads, in the middle of episodes; its workers die with it."""
    process = started(tmp_path, *RUN)
    wait_for(lambda: so_far(tmp_path, Ended) >= 1 and so_far(tmp_path, Begun) > so_far(tmp_path, Ended))
    process.kill()
    _, err = process.communicate()
    assert quiet(err) == ""
    before = [r for r in records(tmp_path) if isinstance(r, Ended)]
    code, out, err = finished(tmp_path, "resume", "r", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["ended"] == 4
    is_whole(tmp_path, "r", 4)
    assert roots(tmp_path) == undisturbed
    after = [r for r in records(tmp_path) if isinstance(r, Ended)]
    assert after[: len(before)] == before


def test_ctrl_c_ends_a_run_in_good_order(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    process = started(tmp_path, *RUN)
    wait_for(lambda: so_far(tmp_path, Ended) >= 1 and so_far(tmp_path, Begun) > so_far(tmp_path, Ended))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert quiet(err) == f"interrupted; go on with: iwreplay bench resume r --store {tmp_path}\n"
    # no folder of an episode that was never begun
    assert all(e.begun for e in Store.open(tmp_path).episodes())
    at_rest = records(tmp_path)
    assert so_far(tmp_path, Begun) == so_far(tmp_path, Ended) + so_far(tmp_path, Lost)
    code, _, _ = finished(tmp_path, *RUN)
    assert code == 0
    assert records(tmp_path)[: len(at_rest)] == at_rest
    is_whole(tmp_path, "r", 4)
    assert roots(tmp_path) == undisturbed


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return [int(p) for p in found if "spawn_main" in Path(f"/proc/{p}/cmdline").read_text(encoding="utf-8")]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the worker processes")
def test_a_worker_that_is_killed_costs_no_episode(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    process = started(tmp_path, *RUN)
    wait_for(lambda: so_far(tmp_path, Begun) >= 3)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=240)
    assert (process.returncode, quiet(err)) == (0, "")
    assert so_far(tmp_path, Lost) >= 1
    is_whole(tmp_path, "r", 4)
    assert roots(tmp_path) == undisturbed


def test_a_run_is_played_by_one_at_a_time(tmp_path: Path) -> None:
    process = started(tmp_path, *RUN)
    wait_for(lambda: so_far(tmp_path, Begun) >= 1)
    try:
        with pytest.raises(LogLockedError):
            play_run(tmp_path, "r", plan=planned("oracle", "silent"), options=BenchOptions())
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=120)


# -- with hosted models ---------------------------------------------------------------------------------------------


MODELS = (
    "run", "--run", "r", "--assistants", "model:openai/speaks;memory=on", "--humans", "model:openai/acts", "--json",
)  # fmt: skip


def test_models_play_and_everything_that_they_said_is_in_the_logs(tmp_path: Path, hosted: Any) -> None:
    there, env = hosted(speaks=speaks("F19", "V06"), acts=acts)
    code, out, err = finished(tmp_path, *MODELS, "--tasks", "F19,V06", "--parallel", "2", env=env)
    assert (code, err) == (0, ""), out
    state = json.loads(out)
    assert (state["ended"], state["passed"]) == (2, 2)
    assert state["spent"]["calls"] == len(there.requests) > 8
    assert state["spent"]["unpriced"] == len(there.requests)
    # no key anywhere, whole requests everywhere
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path
    kept = list(tmp_path.glob("episodes/*/requests/*.json"))
    assert len(kept) == len(there.requests)
    assert {v.grade for v in replay_episodes(tmp_path, keep=False)} == {"exact"}
    for found in audit_episodes(tmp_path):
        assert [s for s in found.statements if s.finding == "broken"] == []
        assert found.statements[13].finding == "holds"
    # the catalogue tells how models were asked, and what became of it
    code, out, err = finished(tmp_path, "query", "--named", "prompts", "--json", group="")
    assert (code, err) == (0, "")
    told = {(r["role"], r["model"], r["prompt"].partition(" ")[0], r["memory"]) for r in json.loads(out)}
    assert told == {
        ("assistant", "openai/speaks+memory", "assistant/1", "on"),
        ("human", "openai/acts", "human/1", ""),
    }
    code, out, err = finished(tmp_path, "query", "--named", "models", "--json", group="")
    assert sum(r["calls"] for r in json.loads(out)) == len(there.requests)
    # a log is a cassette: its models answer again without their provider, and the episode is the same to the bit
    there.answers.clear()
    asked = len(there.requests)
    again = (
        "run", "F19", "--assistant", "model:openai/speaks,memory=on", "--human", "model:openai/acts", "--json",
        "--cassette", "F19-openai_speaks",
    )  # fmt: skip
    nowhere = {"OPENAI_API_BASE": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": ""}
    code, out, err = finished(tmp_path, *again, env=nowhere, group="")
    assert (code, err) == (0, "")
    first, second = sorted(tmp_path.glob("episodes/F19-*"), key=lambda p: len(p.name))
    assert _root(first) == _root(second) == json.loads(out)[0]["root_hash"]
    assert len(there.requests) == asked
    # nobody was asked for it, and so it is counted nowhere
    _, out, _ = finished(tmp_path, "query", "--named", "models", "--json", group="")
    assert sum(r["calls"] for r in json.loads(out)) == asked
    _, out, _ = finished(tmp_path, "query", "--named", "model_costs", "--json", group="")
    took = json.loads(out)
    assert [(r["episode"], r["from_cassette"]) for r in took if r["episode"].startswith("F19")] == [
        (first.name, False), (second.name, True),
    ]  # fmt: skip
    assert sum(r["calls"] for r in took if not r["from_cassette"]) == asked


def test_a_run_stops_when_its_budget_is_spent_and_goes_on_with_more(tmp_path: Path, hosted: Any) -> None:
    there, env = hosted(speaks=speaks("F19", "V06"), acts=acts)
    run = (*MODELS, "--tasks", "F19,V06")
    # each call takes 42 tokens: F19 is through, V06 is not
    code, out, err = finished(tmp_path, *run, "--run-tokens", "300", env=env)
    assert code == 1
    spent = "the budget of the run is spent ({} of 300 tokens); go on with: iwreplay bench resume r --store {} {}\n"
    state = json.loads(out)
    tokens = state["spent"]["tokens"]
    assert err == spent.format(tokens, tmp_path, "--run-tokens N")
    assert (state["ended"], state["passed"]) == (1, 1)
    assert 300 <= tokens < 400
    assert (state["spent"]["cost_usd"], state["pairs"][0]["spent"]["cost_usd"]) == (None, None)
    # the limit holds until another is given, and nothing is asked meanwhile
    asked = len(there.requests)
    for again in (("resume", "r", "--json"), run):
        code, out, err = finished(tmp_path, *again, env=env)
        assert (code, json.loads(out)["ended"], len(there.requests)) == (1, 1, asked)
        assert "the budget of the run is spent" in err
    code, out, _ = finished(tmp_path, "show", "r", env=env)
    assert "Limits: 300 tokens for the run." in out
    assert f"{asked} calls to models, {tokens} tokens, at a price that is not known" in out
    code, out, err = finished(
        tmp_path, "resume", "r", "--json", "--run-tokens", "5000", "--rate", "openai=60000", env=env
    )
    assert (code, err) == (0, "")
    state = json.loads(out)
    assert (state["ended"], state["passed"]) == (2, 2)
    assert state["limits"]["run"] == {"cost_usd": None, "tokens": 5000}
    assert state["limits"]["per_minute"] == {"openai": 60000.0}
    # what the episode that was broken off had taken, is spent
    assert state["spent"]["tokens"] == 42 * len(there.requests)
    is_whole(tmp_path, "r", 2)


@pytest.mark.parametrize("status", [401, 404])
def test_what_every_call_would_meet_stops_a_run_and_costs_no_episode(tmp_path: Path, hosted: Any, status: int) -> None:
    right = speaks("F19", "V06")
    shut = {"on": True}
    there, env = hosted(speaks=lambda body: status if shut["on"] else right(body), acts=acts)
    code, out, err = finished(tmp_path, *MODELS, "--tasks", "F19,V06", env=env)
    assert (code, json.loads(out)["ended"], len(there.requests)) == (1, 0, 1)
    assert err.startswith("model 'openai/speaks' can't be used: ")
    assert err.endswith(f"; go on with: iwreplay bench resume r --store {tmp_path}\n")
    assert ("Models are named as litellm" if status == 404 else "Set OPENAI_API_KEY to one that may") in err
    assert [type(r) for r in records(tmp_path)] == [Begun, Lost]
    shut["on"] = False
    code, out, err = finished(tmp_path, "resume", "r", "--json", env=env)
    assert (code, err, json.loads(out)["passed"]) == (0, "", 2)
    is_whole(tmp_path, "r", 2)


@pytest.mark.parametrize("parallel", ["1", "2"])
def test_the_others_are_played_when_one_model_can_not_be_asked(tmp_path: Path, hosted: Any, parallel: str) -> None:
    there, env = hosted(speaks=lambda body: 404)
    run = ("run", "--assistants", "model:openai/speaks,oracle", "--run", "r", "--json", "--parallel", parallel)
    code, out, err = finished(tmp_path, *run, "--tasks", "F19,V06", env=env)
    state = json.loads(out)
    assert (code, state["ended"], state["passed"]) == (1, 2, 2)
    # those that were under way at once; none is begun after the first answer
    assert 1 <= len(there.requests) <= int(parallel)
    assert "model 'openai/speaks' can't be used: " in err
    assert "go on with: iwreplay bench resume r" in err
    assert {r.cell.split(" | ")[1] for r in records(tmp_path) if isinstance(r, Ended)} == {"oracle"}


def test_what_every_call_would_meet_ends_a_recording_of_several_tasks(tmp_path: Path, hosted: Any) -> None:
    there, env = hosted(speaks=lambda body: 404)
    run = ("run", "F19", "V06", "--assistant", "model:openai/speaks", "--json")
    code, out, err = finished(tmp_path, *run, env=env, group="")
    assert (code, len(there.requests)) == (1, 1)
    assert [r["task"] for r in json.loads(out)] == ["F19"]
    assert "MODEL_SHUT" in err
    assert "V06 not begun: every call would meet that" in err


def test_a_key_that_is_not_set_is_found_before_anything_is_played(tmp_path: Path, hosted: Any) -> None:
    there, env = hosted(speaks=speaks("F19"), acts=acts)
    del env["OPENAI_API_KEY"]
    without = ("env", "-u", "OPENAI_API_KEY")
    code, _, err = finished(tmp_path / "s", *MODELS, "--tasks", "F19", env=env, before=without)
    assert (code, there.requests) == (2, [])
    assert "Set OPENAI_API_KEY in the environment, to any text for a server of your own" in err
    other = ("run", "--assistants", "model:anthropic/m", "--tasks", "F19")
    code, _, err = finished(
        tmp_path / "s", *other, env={"ANTHROPIC_API_KEY": ""}, before=("env", "-u", "ANTHROPIC_API_KEY")
    )
    assert code == 2
    assert "Set ANTHROPIC_API_KEY in the environment" in err
    assert not (tmp_path / "s").exists()


def test_answers_that_nobody_understands_are_told(tmp_path: Path, hosted: Any) -> None:
    _, env = hosted(speaks=lambda body: "Well, let me think.")
    run = ("run", "--run", "r", "--assistants", "model:openai/speaks", "--tasks", "F19")
    code, out, err = finished(tmp_path, *run, env=env)
    assert (code, err) == (0, "")
    pair = run_state(tmp_path, "r").pairs[0]
    assert pair.unheard.silenced_turns > 0
    assert pair.unheard.malformed_calls == 3 * pair.unheard.silenced_turns == pair.spent.calls
    assert f"silenced in {pair.unheard.silenced_turns} turns (calls: {pair.unheard.malformed_calls} malformed" in out
    _, out, _ = finished(tmp_path, "show", "F19", "--brief", group="")
    assert out.count("Assistant silent (its model's answer was malformed)") == pair.unheard.silenced_turns
    # and by `run` too, in words
    code, out, err = finished(tmp_path, "run", "F19", "--assistant", "model:openai/speaks", env=env, group="")
    assert f"its Assistant was silenced in {pair.unheard.silenced_turns} turns" in err


def test_a_fault_ends_its_episode_and_the_run_goes_on(tmp_path: Path, hosted: Any) -> None:
    right, request = speaks("F19", "V06"), find_task("F19").request
    failing = {"on": True}

    def sometimes(body: dict[str, Any]) -> Said:
        return 400 if failing["on"] and request in text_of(body) else right(body)

    _, env = hosted(speaks=sometimes, acts=acts)
    code, out, err = finished(tmp_path, *MODELS, "--tasks", "F19,V06", env=env)
    state = json.loads(out)
    assert (code, state["ended"], state["valid"], state["passed"]) == (1, 2, 1, 1)
    assert "not valid: F19 | model:openai/speaks;memory=on | model:openai/acts | 0: participant:assistant: MODEL" in err
    assert KEY not in out + err
    # it is not played again, unless that is asked for
    code, out, _ = finished(tmp_path, "resume", "r", "--json", env=env)
    assert (code, json.loads(out)["valid"]) == (1, 1)
    failing["on"] = False
    code, out, err = finished(tmp_path, "resume", "r", "--json", "--retry-faults", env=env)
    state = json.loads(out)
    assert (code, err, state["ended"], state["valid"], state["passed"]) == (0, "", 2, 2, 2)


def test_a_spent_budget_of_an_episode_is_its_fault_alone(tmp_path: Path, hosted: Any) -> None:
    _, env = hosted(speaks=speaks("F19", "V06"), acts=acts)
    code, out, err = finished(tmp_path, *MODELS, "--tasks", "F19,V06", "--max-tokens", "84", env=env)
    assert (code, json.loads(out)["ended"], json.loads(out)["valid"]) == (1, 2, 0)
    assert err.count("EPISODE_BUDGET") == 2
    more = ("resume", "r", "--json", "--retry-faults", "--max-tokens", "5000")
    code, out, err = finished(tmp_path, *more, env=env)
    assert (code, err, json.loads(out)["passed"]) == (0, "", 2)


def test_ctrl_c_reaches_a_run_that_waits_for_a_provider(tmp_path: Path, hosted: Any) -> None:
    there, env = hosted(speaks=lambda body: "stuck", acts=acts)
    process = started(tmp_path, *MODELS, "--tasks", "F19", env=env)
    wait_for(lambda: len(there.requests) >= 1)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert [type(r) for r in records(tmp_path)] == [Begun, Lost]
    # the question that nobody answered is in the log, and the log plays again as it is
    (episode,) = Store.open(tmp_path).episodes()
    with read_log(episode.log) as log:
        assert [e.outcome for _, e in log if isinstance(e, ModelCall)] == ["failed"]
    assert [v.grade for v in replay_episodes(tmp_path, keep=False)] == ["exact"]


def test_money_is_limited_only_where_prices_are_known(tmp_path: Path, hosted: Any) -> None:
    _, env = hosted(speaks=speaks("F19"), acts=acts)
    code, _, err = finished(tmp_path, *MODELS, "--tasks", "F19", "--max-cost", "1", env=env)
    assert code == 2
    assert "what it costs is not known, so that money can't be limited. Limit its tokens." in err
    code, _, err = finished(tmp_path, *MODELS, "--tasks", "F19", "--run-cost", "1", env=env)
    assert code == 2
    assert "Limit its tokens" in err
    # a run that is refused leaves nothing
    assert list(tmp_path.iterdir()) == []
    state = play_run(tmp_path, "r", plan=planned("silent", tasks=("F19",)), options=BenchOptions())
    assert state.ended == 1
    assert [e.id for e in Store.open(tmp_path).episodes()] == ["F19-silent-literal-s0"]
