"""The log against MCAP, side by side in one run: ``python -m benchmarks.log_bench``.

Both sides begin and end at typed events: MCAP stores the canonical JSON of each (``mcap.Writer``, zstd, and its reader
with ``validate_crcs=True``), ours checks types and hashes the chain. Both are synced to disk once, at the end. Prints
JSON. The rounds of both sides take turns, so that load hits both alike. Speeds are those of the best round, ratios the
median over the rounds; the ``cpu`` figures are processor time, for machines that are never quiet.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

import msgspec
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from benchmarks.log_events import SCENE, array_events, text_events
from iwreplay.canonical import canonical_bytes
from iwreplay.events import AnyEvent, Event
from iwreplay.log import LogWriter, read_log, state_at
from iwreplay.world.state import WorldState

_DECODER = msgspec.json.Decoder(AnyEvent)
NS = 1_000_000_000


def write_mcap(path: Path, events: Sequence[Event]) -> None:
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start()
        schema = writer.register_schema("event", "jsonschema", b"{}")
        channel = writer.register_channel("events", "json", schema)
        for seq, event in enumerate(events):
            at = int(event.sim_time_s * NS)
            writer.add_message(channel, at, canonical_bytes(event), at, seq)
        writer.finish()  # type: ignore[no-untyped-call]
        # as durable at the end as ours
        file.flush()
        os.fsync(file.fileno())


def read_mcap(path: Path) -> WorldState:
    state = WorldState(SCENE)
    with path.open("rb") as file:
        for _schema, _channel, message in make_reader(file, validate_crcs=True).iter_messages():
            state.apply(_DECODER.decode(message.data))
    return state


def write_ours(path: Path, events: Sequence[Event]) -> None:
    with LogWriter.create(path) as log:
        for event in events:
            log.append(event)


def seal_ours(path: Path, events: Sequence[Event]) -> None:
    with LogWriter.create(path) as log:
        for event in events:
            log.append(event)
        log.seal()


def read_ours(path: Path) -> WorldState:
    state = WorldState(SCENE)
    with read_log(path) as log:
        for event in log.events():
            state.apply(event)
    return state


@dataclass
class Cost:
    """Seconds of each round, by the clock on the wall and by the processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def costs_of(work: dict[str, Callable[[], object]], *, rounds: int) -> dict[str, Cost]:
    """Cost of each piece of work; they take turns."""
    costs = {name: Cost() for name in work}
    for _ in range(rounds):
        for name, run in work.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            costs[name].wall.append(time.perf_counter() - wall)
            costs[name].cpu.append(time.process_time() - cpu)
    return costs


def ratios(peer: Cost, ours: Cost) -> dict[str, float]:
    """How many times the peer's cost is ours, in the median of the rounds; ``best_cpu`` compares the best of each."""

    def middle(a: list[float], b: list[float]) -> float:
        return round(median(x / y for x, y in zip(a, b, strict=True)), 2)

    best = round(min(peer.cpu) / min(ours.cpu), 2)
    return {"wall": middle(peer.wall, ours.wall), "cpu": middle(peer.cpu, ours.cpu), "best_cpu": best}


def compare(events: Sequence[Event], directory: Path, *, rounds: int) -> dict[str, object]:
    """Writes and reads the same events both ways."""
    fresh = iter(range(1_000_000))

    def new() -> Path:
        return directory / f"{next(fresh)}.log"

    directory.mkdir()
    writes = costs_of(
        {
            "mcap": lambda: write_mcap(new(), events),
            "ours": lambda: write_ours(new(), events),
            "ours_sealed": lambda: seal_ours(new(), events),
        },
        rounds=rounds,
    )
    mcap, ours = new(), new()
    write_mcap(mcap, events)
    seal_ours(ours, events)
    assert read_mcap(mcap).poses == read_ours(ours).poses
    reads = costs_of({"mcap": lambda: read_mcap(mcap), "ours": lambda: read_ours(ours)}, rounds=rounds)
    n = len(events)
    return {
        "events": n,
        "bytes_per_event": round(sum(len(canonical_bytes(e)) for e in events) / n),
        "append_events_per_s": {k: round(n / min(c.wall)) for k, c in writes.items()},
        "append_ratio": ratios(writes["mcap"], writes["ours"]),
        "append_and_seal_ratio": ratios(writes["mcap"], writes["ours_sealed"]),
        "read_and_fold_events_per_s": {k: round(n / min(c.wall)) for k, c in reads.items()},
        "read_ratio": ratios(reads["mcap"], reads["ours"]),
        "file_bytes": {"mcap": mcap.stat().st_size, "ours": ours.stat().st_size},
    }


def seek(directory: Path, *, events: int) -> dict[str, object]:
    """State at every 7th event of a sealed log in random order, snapshots every 512 events."""
    path = directory / "seek.log"
    seal_ours(path, array_events(events))
    seqs = list(range(0, events, 7))
    Random(7).shuffle(seqs)
    start = time.perf_counter()
    log = read_log(path)
    log.opened()
    opening = time.perf_counter() - start
    times, cpu = [], []
    for seq in seqs:
        start, began = time.perf_counter(), time.process_time()
        state_at(log, seq)
        times.append(time.perf_counter() - start)
        cpu.append(time.process_time() - began)
    log.close()
    times.sort()
    cpu.sort()
    return {
        "events": events,
        "opening_ms": round(opening * 1e3, 2),
        "median_ms": round(times[len(times) // 2] * 1e3, 2),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 2),
        "worst_ms": round(times[-1] * 1e3, 2),
        "cpu_median_ms": round(cpu[len(cpu) // 2] * 1e3, 2),
        "cpu_p99_ms": round(cpu[int(len(cpu) * 0.99)] * 1e3, 2),
        "cpu_worst_ms": round(cpu[-1] * 1e3, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        result = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "text": compare(text_events(given.events), directory / "text", rounds=given.rounds),
            "with_arrays": compare(array_events(given.events // 4), directory / "arrays", rounds=given.rounds),
            "state_at": seek(directory, events=10_000),
        }
    json.dump(result, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
