"""Open-to-score of many episodes against inspect_ai's read and score, side by side in one run.

    python -m benchmarks.rescore_bench --peer-python PEER/bin/python --json rescore.json

`PEER` is a virtual environment of its own with inspect-ai in it (`python -m venv PEER; PEER/bin/pip install
inspect-ai`). Both sides get the same 100 made-up episodes of about 1,000 events. The peer reads its log, scores it
with a scorer that looks at nothing, and writes the scored log. Ours opens each sealed log, verifies checksums and hash
chain, and

- trivial: decodes every event to its type and scores with a scorer that looks at nothing; writes the scores;
- checks:  evaluates the task's objectives, gates, keeps and points over the folded world, gives pass, MCR and
           capability with evidence, and keeps them in the store (what `iwreplay score --again` does);
- columns: a metric of one typed column (refused commands), read from the logs without decoding events;
- sql:     the same metric asked of the catalogue, opening and checking it for changes included;
- kept:    `iwreplay score` when nothing changed: every kept score is found valid again;
- jobs:    as checks, in two processes, their start and imports included (what `iwreplay score --again --jobs 2` does).

With ``--recorded STORE`` both sides get the episodes of that store, recorded from real tasks, again and again until
there are so many: scenes of 100 things, and checks that ask for relations.

Times are wall and processor seconds inside a process of its own (of its workers too), imports excluded where not said
otherwise, best of the rounds on each side. Only `jobs` uses more than one processor.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.synthetic import episode
from iwreplay.log import LogWriter, read_log
from iwreplay.store import Store

PEER_SCRIPT = Path(__file__).parent / "peers" / "inspect_rescore.py"
#: ratio that the project aims at
TARGET = 100.0


def prepare_recorded(folder: Path, recorded: Path, *, episodes: int) -> tuple[Path, Path]:
    """As `prepare`, from the episodes of a store."""
    store = Store.open_or_make(folder / "store", made_by="bench")
    sources = list(Store.open(recorded).episodes())
    plain: list[list[Any]] = []
    for source in sources:
        with read_log(source.log) as log:
            plain.append([msgspec.to_builtins(e) for e in log.events()])
    for n in range(episodes):
        entry = store.new_episode(task=sources[n % len(sources)].id, assistant="any", human="literal", seed=n)
        shutil.copyfile(sources[n % len(sources)].log, entry.log)
    target = folder / "events.json"
    target.write_bytes(msgspec.json.encode([plain[n % len(plain)] for n in range(episodes)]))
    return store.root, target


def prepare(folder: Path, *, episodes: int, events: int) -> tuple[Path, Path]:
    """The store, and the same events as JSON for the peer."""
    store = Store.open_or_make(folder / "store", made_by="bench")
    plain: list[list[Any]] = []
    for seed in range(episodes):
        made = episode(events, seed=seed)
        plain.append([msgspec.to_builtins(e) for e in made])
        entry = store.new_episode(task="G99", assistant="oracle", human="literal", seed=seed)
        with LogWriter.create(entry.log) as log:
            for event in made:
                log.append(event, wall_ns=0)
            log.seal()
    source = folder / "events.json"
    source.write_bytes(msgspec.json.encode(plain))
    return store.root, source


def trivial(root: Path) -> int:
    """Every event decoded, a scorer that looks at nothing, one score file an episode."""
    from iwreplay.store import BookedScore, ScoreBook, ScoreKey

    seen = 0
    for entry in Store.open(root).episodes():
        with read_log(entry.log) as log:
            for _ in log.events():
                seen += 1
            key = ScoreKey(root_hash=log.root_hash or "", scorer="trivial", scorer_hash="1")
        ScoreBook.load(entry).put(BookedScore(key=key, metric="trivial", value=1.0, status="scored"))
    return seen


def checks(root: Path) -> int:
    """All scorers, computed again."""
    from iwreplay.app.scoring import score_episodes

    return len(score_episodes(root, again=True, jobs=1))


def jobs(root: Path) -> int:
    """The same in two processes."""
    from iwreplay.app.scoring import score_episodes

    return len(score_episodes(root, again=True, jobs=2))


def columns(root: Path) -> int:
    """Refused commands of every episode from one column, chain verified."""
    import pyarrow.compute as pc

    refused = 0
    for entry in Store.open(root).episodes():
        with read_log(entry.log) as log:
            for batch in log.record_batches():
                outcomes = batch.filter(pc.equal(batch.column("kind"), "primitive_outcome"))
                refused += pc.sum(pc.not_equal(outcomes.column("code"), "OK")).as_py() or 0
    return refused


def sql(root: Path) -> int:
    """The same from the catalogue."""
    from iwreplay.app.catalogue import open_catalogue

    with open_catalogue(root) as catalogue:
        catalogue.refresh()
        answer = catalogue.ask(
            "SELECT episode, count(*) FILTER (NOT ok) FROM actions GROUP BY episode ORDER BY episode"
        )
    return sum(int(row[1]) for row in answer.rows)


def kept(root: Path) -> int:
    """Scores that are all valid as kept."""
    from iwreplay.app.scoring import score_episodes

    return sum(line.kept for line in score_episodes(root, jobs=1))


OURS: dict[str, Callable[[Path], int]] = {
    "trivial": trivial,
    "checks": checks,
    "columns": columns,
    "sql": sql,
    "kept": kept,
    "jobs": jobs,
}


def ours_here(name: str, root: Path) -> None:
    """Runs one way in this process and prints its seconds. Imports are paid before the clock starts."""
    import pyarrow.compute  # noqa: F401  what `columns` asks with

    import iwreplay.app.catalogue
    import iwreplay.app.scoring

    iwreplay.app.scoring.scorer_hashes()
    began, cpu = time.perf_counter(), _cpu_s()
    count = OURS[name](root)
    print(json.dumps({"seconds": time.perf_counter() - began, "cpu": _cpu_s() - cpu, "count": count}))


def _cpu_s() -> float:
    """Processor seconds of this process and of those that it started and waited for."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def _ask(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def run(
    *, peer_python: str | None, episodes: int, events: int, rounds: int, recorded: Path | None = None
) -> dict[str, Any]:
    """Both sides, alternating, best of the rounds."""
    with tempfile.TemporaryDirectory(prefix="rescore-") as name:
        folder = Path(name)
        if recorded is None:
            root, source = prepare(folder, episodes=episodes, events=events)
        else:
            root, source = prepare_recorded(folder, recorded, episodes=episodes)
        target = folder / "peer.eval"
        if peer_python is not None:
            subprocess.run([peer_python, str(PEER_SCRIPT), "make", str(target), str(source)], check=True)
        here = [sys.executable, "-m", "benchmarks.rescore_bench", "--ours"]
        _ask([*here, "sql", str(root)])  # the catalogue is made once; asking is what is measured
        peer: dict[str, Any] | None = None
        best: dict[str, float] = {}
        cpu: dict[str, float] = {}
        count = 0
        for _ in range(rounds):
            if peer_python is not None:
                answer = _ask([peer_python, str(PEER_SCRIPT), "score", str(target)])
                answer["total_s"] = answer["read_s"] + answer["score_s"] + answer["write_s"]
                answer["total_cpu_s"] = sum(answer[f"{part}_cpu_s"] for part in ("read", "score", "write"))
                peer = (
                    answer
                    if peer is None
                    else {k: v if isinstance(v, str) else min(v, peer[k]) for k, v in answer.items()}
                )
            for way in OURS:
                if way == "sql":
                    _ask([*here, way, str(root)])  # takes in the scores that were made just before
                answer = _ask([*here, way, str(root)])
                best[way] = min(answer["seconds"], best.get(way, answer["seconds"]))
                cpu[way] = min(answer["cpu"], cpu.get(way, answer["cpu"]))
                count = answer["count"] if way == "trivial" else count
        result: dict[str, Any] = {
            "episodes": episodes,
            "events": count,
            "rounds": rounds,
            "ours_s": best,
            "ours_cpu_s": cpu,
        }
        result["bytes"] = sum(p.stat().st_size for p in root.rglob("log.arrows"))
        if peer is not None:
            result["peer"] = peer
            result["ratio"] = {way: peer["total_s"] / seconds for way, seconds in best.items()}
            result["ratio_cpu"] = {way: peer["total_cpu_s"] / seconds for way, seconds in cpu.items()}
            result["ratio_cpu_without_write"] = {
                way: (peer["read_cpu_s"] + peer["score_cpu_s"]) / seconds for way, seconds in cpu.items()
            }
        return result


def main() -> None:
    """Command line of the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="Python of an environment with inspect-ai; without it only ours is timed")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--recorded", type=Path, metavar="STORE", help="use the episodes of this store")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--ours", nargs=2, metavar=("WAY", "STORE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ours:
        ours_here(args.ours[0], Path(args.ours[1]))
        return
    result = run(
        peer_python=args.peer_python,
        episodes=args.episodes,
        events=args.events,
        rounds=args.rounds,
        recorded=args.recorded,
    )
    peer = result.get("peer")
    if peer is not None:
        print(
            f"{peer['peer']}: read {peer['read_s']:.2f} s, score {peer['score_s']:.2f} s, "
            f"write {peer['write_s']:.2f} s, together {peer['total_s']:.2f} s "
            f"({peer['total_cpu_s']:.2f} s of processor), {peer['bytes'] / 1e6:.1f} MB"
        )
    print(
        f"{'way':10}{'wall s':>9}{'ratio':>8}{'cpu s':>9}{'ratio':>8}{'without write':>15}"
        f"   (target {TARGET:.0f}; {result['events']} events, {result['bytes'] / 1e6:.1f} MB)"
    )
    for way, seconds in result["ours_s"].items():
        wall, cpu, bare = (
            f"{result[name][way]:.0f}x" if peer is not None else "-"
            for name in ("ratio", "ratio_cpu", "ratio_cpu_without_write")
        )
        print(f"{way:10}{seconds:9.3f}{wall:>8}{result['ours_cpu_s'][way]:9.3f}{cpu:>8}{bare:>15}")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
