"""The catalogue and re-scoring with many episodes, beside a plain scan of the logs and inspect_ai's data frames.

    python -m benchmarks.catalogue_bench                             # a quick look: 200 episodes
    python -m benchmarks.catalogue_bench --episodes 10000 --store FOLDER --peer-python PEER/bin/python

The store is made up (`benchmarks.synthetic_store`) and kept in FOLDER, where it is used again; 10,000 episodes of about
1,000 events take 600 MB. `PEER` is a virtual environment with inspect-ai and pandas in it. Each part runs in a process
of its own, imports excluded, and tells wall seconds, processor seconds (of its workers too) and the peak of its memory:

- score:    Pass and MCR of every episode computed anew, with evidence, from verified logs, and kept; in one and two
            processes
- columns:  refused commands of every episode from one verified column, without decoding events
- rebuild:  the catalogue from nothing
- more:     the catalogue after ten episodes were added
- again:    the catalogue when nothing changed, opening included
- rescored: the catalogue when every score was made anew
- asked:    each named question and group-bys over the largest tables, warm, best and middle of the rounds
- scan:     two of the questions from the logs, without the catalogue; the answers must be the same
- peer:     `samples_df`, `messages_df` and `events_df` on the same content (`--peer-episodes` of it, because it is held
            in memory), and one question from the last; beside it the catalogue of the same episodes
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.rescore_bench import columns
from benchmarks.synthetic_store import plan, verify_all, write_store
from iwreplay.events import AssistantDecision, Event, HumanTurn, PrimitiveOutcome, StateDelta
from iwreplay.log import read_log
from iwreplay.store import Store

PEER_SCRIPT = Path(__file__).parent / "peers" / "inspect_dataframes.py"
#: milliseconds that a named question may take, and events a second that are to be scored on two cores
TARGET_MS, TARGET_EVENTS_S = 50.0, 1_000_000.0
MORE = 10

REFUSALS = """
SELECT code, primitive, count(*) AS refused FROM actions
WHERE refused AND phase = 'closed_loop'
GROUP BY ALL ORDER BY ALL
"""
CHANGES = "SELECT thing, attr, count(*) AS changes FROM deltas GROUP BY ALL ORDER BY ALL"
#: group-bys over the largest tables, beside the named questions
LARGE = {
    "(sightings by thing)": "SELECT thing, count(*), sum(pixels) FROM sightings GROUP BY ALL ORDER BY 2 DESC",
    "(frames by cause)": "SELECT cause, count(*), avg(sim_time_s) FROM frames GROUP BY ALL ORDER BY ALL",
    "(actions by code)": "SELECT primitive, code, count(*), avg(duration_s) FROM actions GROUP BY ALL ORDER BY ALL",
}
Counts = list[list[Any]]


def scan_refusals(root: Path) -> Counts:
    """The question `REFUSALS` from the logs."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in _each(root, PrimitiveOutcome):
        if isinstance(event, PrimitiveOutcome) and event.refused and event.phase == "closed_loop":
            counts[event.code, event.primitive] += 1
    return [[*key, n] for key, n in sorted(counts.items())]


def scan_changes(root: Path) -> Counts:
    """The question `CHANGES` from the logs."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in _each(root, StateDelta):
        if isinstance(event, StateDelta):
            counts[event.thing, event.attr] += 1
    return [[*key, n] for key, n in sorted(counts.items())]


def _each(root: Path, kind: type[Event]) -> Any:
    """Events of a kind, of every log of a store; only they are decoded, everything is verified."""
    for entry in Store.open(root).episodes():
        with read_log(entry.log) as log:
            for chunk in log.chunks():
                yield from (event for _, event in chunk.select((kind,)))


def score(root: Path, jobs: int) -> dict[str, Any]:
    from iwreplay.app.scoring import score_episodes

    return {"scores": len(score_episodes(root, scorers=("pass", "mcr"), again=True, jobs=jobs))}


def refresh(root: Path, *, rebuild: bool = False) -> dict[str, Any]:
    from iwreplay.app.catalogue import open_catalogue

    with open_catalogue(root) as catalogue:
        done = catalogue.refresh(rebuild=rebuild)
        ((events,),) = catalogue.ask("SELECT sum(events) FROM episodes").rows
    counts = {"added": len(done.added), "rescored": len(done.rescored), "unchanged": done.unchanged}
    return {**counts, "events": int(events)}


def asked(root: Path, rounds: int) -> dict[str, Any]:
    """Milliseconds of each question, its rows fetched."""
    from iwreplay.app.catalogue import open_catalogue
    from iwreplay.catalogue import questions

    found: dict[str, Any] = {}
    with open_catalogue(root) as catalogue:
        catalogue.refresh()
        for name, sql in ({q.name: q.sql for q in questions()} | LARGE).items():
            rows = len(catalogue.ask(sql).rows)
            took = sorted(_seconds(lambda sql=sql: catalogue.ask(sql)) for _ in range(rounds))  # type: ignore[misc]
            found[name] = {"best_ms": 1000 * took[0], "middle_ms": 1000 * took[len(took) // 2], "rows": rows}
    return {"questions": found}


def scan(root: Path) -> dict[str, Any]:
    """Both ways to each answer, which must be one."""
    from iwreplay.app.catalogue import open_catalogue

    found: dict[str, Any] = {}
    with open_catalogue(root) as catalogue:
        catalogue.refresh()
        for name, sql, scanned in (("refusals", REFUSALS, scan_refusals), ("changes", CHANGES, scan_changes)):
            catalogue.ask(sql)
            asking = min(_seconds(lambda sql=sql: catalogue.ask(sql)) for _ in range(5))  # type: ignore[misc]
            began = time.perf_counter()
            answer = scanned(root)
            scanning = time.perf_counter() - began
            same = [list(row) for row in catalogue.ask(sql).rows]
            assert answer == same, f"{name}: the logs and the catalogue say different things"
            found[name] = {"scan_s": scanning, "catalogue_s": asking, "ratio": scanning / asking}
    return {"questions": found}


def one_question(root: Path) -> dict[str, Any]:
    """The peer's question from a catalogue that is found up to date."""
    from iwreplay.app.catalogue import open_catalogue

    with open_catalogue(root) as catalogue:
        catalogue.refresh()
        return {"answer": [list(row) for row in catalogue.ask(REFUSALS).rows]}


PARTS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "score": score,
    "columns": lambda root, _: {"refused": columns(root)},
    "rebuild": lambda root, _: refresh(root, rebuild=True),
    "more": lambda root, _: refresh(root),
    "again": lambda root, _: refresh(root),
    "rescored": lambda root, _: refresh(root),
    "asked": asked,
    "scan": lambda root, _: scan(root),
    "question": lambda root, _: one_question(root),
}


def part_here(name: str, root: Path, n: int) -> None:
    """Runs one part in this process and prints what it took. Imports are paid before the clock starts."""
    import pyarrow.compute  # noqa: F401  what `columns` asks with

    import iwreplay.app.catalogue
    import iwreplay.app.scoring

    iwreplay.app.scoring.scorer_hashes()
    began, cpu = time.perf_counter(), _cpu_s()
    found = PARTS[name](root, n)
    took = {"wall_s": time.perf_counter() - began, "cpu_s": _cpu_s() - cpu, "peak_mb": _peak_mb()}
    print(json.dumps(took | found))


def _part(name: str, root: Path, n: int = 1) -> dict[str, Any]:
    return _ask([sys.executable, "-m", "benchmarks.catalogue_bench", "--part", name, str(root), str(n)])


def _ask(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _cpu_s() -> float:
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def _peak_mb() -> float:
    """Of this process, and of the largest that it waited for."""
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def run(
    root: Path, *, episodes: int, events: int, rounds: int, peer_python: str | None, peer_episodes: int
) -> dict[str, Any]:
    """All parts, one after the other."""
    made: dict[str, float] = {}
    made["wall_s"] = _seconds(lambda: write_store(root, episodes=episodes, events=events))
    store = Store.open(root)
    verify_all(store, every=10)
    logs = [e.log for e in store.episodes()]
    found: dict[str, Any] = {"episodes": len(logs), "made": made, "bytes": sum(p.stat().st_size for p in logs)}
    found["score"] = {}
    for jobs in (1, 2):
        for entry in store.episodes():
            if entry.scores is not None:
                entry.scores.unlink(missing_ok=True)
        found["score"][str(jobs)] = _part("score", root, jobs)
    found["columns"] = _part("columns", root)
    found["rebuild"] = _part("rebuild", root)
    write_store(root, episodes=episodes + MORE, events=events)
    found["more"] = _part("more", root)
    for added in plan(episodes + MORE)[episodes:]:
        shutil.rmtree(store.episodes_dir / added.id)
    _part("again", root)
    found["again"] = _part("again", root)
    for entry in store.episodes():
        if entry.scores is not None:
            entry.scores.touch()
    found["rescored"] = _part("rescored", root)
    found["asked"] = _part("asked", root, rounds)
    found["scan"] = _part("scan", root)
    found["catalogue_bytes"] = (root / "catalogue.duckdb").stat().st_size
    if peer_python is not None:
        with tempfile.TemporaryDirectory(prefix="catalogue-peer-") as name:
            found["peer"] = beside_peer(Path(name), peer_python, episodes=peer_episodes, events=events)
    return found


def beside_peer(folder: Path, peer_python: str, *, episodes: int, events: int) -> dict[str, Any]:
    """The same episodes for both sides: the peer's log with every event as data, and a store with its catalogue."""
    store = write_store(folder / "store", episodes=episodes, events=events)
    source, target = folder / "samples.json", folder / "peer.eval"
    source.write_bytes(msgspec.json.encode([_sample(e.log) for e in store.episodes()]))
    subprocess.run([peer_python, str(PEER_SCRIPT), "make", str(target), str(source)], check=True)
    peer = _ask([peer_python, str(PEER_SCRIPT), "read", str(target)])
    found = {"peer": peer, "rebuild": _part("rebuild", store.root), "question": _part("question", store.root)}
    ours, theirs = found["question"]["answer"], peer["answer"]
    assert sorted(ours) == sorted(theirs), f"the catalogue says {ours}, the peer {theirs}"
    spent = sum(peer["cpu"][name] for name in ("events", "question"))
    found["ratio_cpu"] = {name: spent / found[name]["cpu_s"] for name in ("rebuild", "question")}
    return found


def _sample(path: Path) -> dict[str, Any]:
    messages, events = [], []
    with read_log(path) as log:
        for event in log.events():
            events.append(msgspec.to_builtins(event))
            if isinstance(event, AssistantDecision):
                messages.append(("assistant", event.text or ""))
            elif isinstance(event, HumanTurn):
                messages.append(("user", event.reply or ", ".join(event.commands)))
    return {"messages": messages, "events": events}


def told(found: dict[str, Any]) -> str:
    """The figures as text."""
    events, episodes = found["rebuild"]["events"], found["episodes"]
    lines = [
        f"{episodes} episodes, {events} events, logs {found['bytes'] / 1e6:.0f} MB, made in "
        f"{found['made']['wall_s']:.0f} s; catalogue {found['catalogue_bytes'] / 1e6:.0f} MB; "
        f"load {os.getloadavg()[0]:.1f}",
        f"{'work':34}{'wall s':>9}{'cpu s':>9}{'MB':>7}{'events/s of wall':>18}{'and of cpu':>12}",
    ]
    parts = [
        *((f"score, {n} process{'es' if n != '1' else ''}", p) for n, p in found["score"].items()),
        ("one metric from a column", found["columns"]),
        ("catalogue from nothing", found["rebuild"]),
        (f"catalogue, {MORE} episodes more", found["more"]),
        ("catalogue, nothing changed", found["again"]),
        ("catalogue, every score anew", found["rescored"]),
    ]
    for name, part in parts:
        rates = f"{events / part['wall_s']:18,.0f}{events / part['cpu_s']:12,.0f}"
        lines.append(f"{name:34}{part['wall_s']:9.2f}{part['cpu_s']:9.2f}{part['peak_mb']:7.0f}{rates}")
    cores = 2 * events / found["score"]["2"]["cpu_s"]
    lines.append(f"scoring on two cores that do nothing else, by processor time: {cores:,.0f} events/s "
                 f"(target {TARGET_EVENTS_S:,.0f})")  # fmt: skip
    lines.append(f"{'question':34}{'best ms':>9}{'middle':>9}{'rows':>7}   (target {TARGET_MS:.0f} ms)")
    for name, q in found["asked"]["questions"].items():
        over = "" if q["middle_ms"] <= TARGET_MS else "   over"
        lines.append(f"{name:34}{q['best_ms']:9.1f}{q['middle_ms']:9.1f}{q['rows']:7}{over}")
    for name, q in found["scan"]["questions"].items():
        lines.append(
            f"{name}: {q['scan_s']:.2f} s from the logs, {1000 * q['catalogue_s']:.1f} ms asked, {q['ratio']:.0f} times"
        )
    if "peer" in found:
        lines += _told_peer(found["peer"])
    return "\n".join(lines)


def _told_peer(found: dict[str, Any]) -> list[str]:
    peer = found["peer"]
    frames = ", ".join(
        f"{name} {took:.2f} s ({peer['cpu'][name]:.2f} of cpu)" for name, took in peer["seconds"].items()
    )
    ours = ", ".join(
        f"{name} {found[name]['wall_s']:.2f} s ({found[name]['cpu_s']:.2f} of cpu), {ratio:.0f} times"
        for name, ratio in found["ratio_cpu"].items()
    )
    return [
        f"{peer['peer']}, {peer['events']} events: {frames}; {peer['peak_mb']:.0f} MB",
        f"the same question here: {ours}; {found['rebuild']['peak_mb']:.0f} MB",
    ]


def main() -> None:
    """Command line of the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--events", type=int, default=1000, help="of each episode, about")
    parser.add_argument("--store", type=Path, help="where the made-up store is kept; a folder that goes away without")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer-python", help="Python of an environment with inspect-ai; without it only ours is timed")
    parser.add_argument("--peer-episodes", type=int, default=100)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--part", nargs=3, metavar=("PART", "STORE", "N"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        part_here(args.part[0], Path(args.part[1]), int(args.part[2]))
        return
    with tempfile.TemporaryDirectory(prefix="catalogue-") as name:
        found = run(
            args.store or Path(name) / "store",
            episodes=args.episodes,
            events=args.events,
            rounds=args.rounds,
            peer_python=args.peer_python,
            peer_episodes=args.peer_episodes,
        )
    print(told(found))
    if args.json:
        args.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
