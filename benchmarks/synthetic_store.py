"""A store of made-up episodes of any size, deterministic in its arguments.

    python -m benchmarks.synthetic_store STORE --episodes 10000 --events 1000

Twelve made-up tasks (id 98 and 99 of each family), four Assistants `synthetic-a` to `synthetic-d` (the last two with
a made-up model call for each decision), two Humans `synthetic-human-1` and `-2`, and seeds. Nobody played them and no
simulator ran: the bowls move by a formula. The logs are valid logs: sealed, they pass `iwreplay log check`, can be
scored, and about two in five pass. They do not re-execute, and an audit finds that words of the protocol are missing.

What is there already is left as it is, so one that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

from benchmarks.synthetic import episode
from iwreplay.log import LogWriter, read_log
from iwreplay.store import Episode, ReplayVerdict, StepVerdict, Store, VerdictClaim

__all__ = ["SyntheticEpisode", "plan", "verify_all", "write_store"]

TASKS = tuple(f"{letter}{n}" for letter in "GPADVF" for n in (98, 99))
#: how many of ten episodes pass
ASSISTANTS = {"synthetic-a": 2, "synthetic-b": 4, "synthetic-c": 5, "synthetic-d": 6}
HOSTED = ("synthetic-c", "synthetic-d")
_THREADS = 8
HUMANS = ("synthetic-human-1", "synthetic-human-2")


class SyntheticEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """What one episode of a made-up store is made from."""

    task: str
    assistant: str
    human: str
    seed: int
    passes: bool

    @property
    def id(self) -> str:
        """Its name in the store, as that of a recorded one is made."""
        return f"{self.task}-{self.assistant}-{self.human}-s{self.seed}"


def plan(episodes: int) -> tuple[SyntheticEpisode, ...]:
    """The first `episodes` of all that can be made: seed by seed, every pair of participants at every task."""
    cells = [(t, a, h) for t in TASKS for a in ASSISTANTS for h in HUMANS]
    found = []
    for n in range(episodes):
        seed, cell = divmod(n, len(cells))
        task, assistant, human = cells[cell]
        draw = (7 * TASKS.index(task) + 3 * HUMANS.index(human) + 11 * seed + n // 3) % 10
        found.append(
            SyntheticEpisode(
                task=task, assistant=assistant, human=human, seed=seed, passes=draw < ASSISTANTS[assistant]
            )
        )
    return tuple(found)


def write_store(
    root: Path, *, episodes: int, events: int, progress: Callable[[int, int], None] = lambda done, of: None
) -> Store:
    """The store, with all of the plan in it that was not there before."""
    store = Store.open_or_make(root, made_by="benchmarks.synthetic_store")
    there = set()
    for entry in store.episodes():
        if entry.begun:
            there.add(entry.id)
        elif entry.folder is not None:
            shutil.rmtree(entry.folder)  # of a run that was killed
    todo = [made for made in plan(episodes) if made.id not in there]
    # a log is safe on disk before it counts, and most of the time of writing one is waiting for that
    with ThreadPoolExecutor(_THREADS) as threads:
        for n, _ in enumerate(threads.map(partial(_take_in, store, events), todo), start=1):
            progress(n, len(todo))
    return store


def _take_in(store: Store, events: int, made: SyntheticEpisode) -> None:
    store.take_in(made.id, partial(_write, made=made, events=events))


def _write(path: Path, *, made: SyntheticEpisode, events: int) -> None:
    with LogWriter.create(path) as log:
        for event in episode(
            events,
            seed=made.seed,
            task_id=made.task,
            assistant=made.assistant,
            human=made.human,
            passes=made.passes,
            hosted=made.assistant in HOSTED,
        ):
            log.append(event, wall_ns=0)
        log.seal()


def verify_all(store: Store, *, every: int) -> int:
    """Keeps a made-up verdict with every so manieth episode that has none (nothing was replayed); gives how many."""
    kept = 0
    for n, entry in enumerate(store.episodes()):
        if n % every == 0 and entry.replays is not None and not entry.replays.exists():
            with VerdictClaim.of(entry) as claim:
                claim.keep(_verdict(entry, grade="state-equal" if n % (7 * every) == 0 else "exact"), wall_ns=0)
            kept += 1
    return kept


def _verdict(entry: Episode, *, grade: str) -> ReplayVerdict:
    with read_log(entry.log) as log:
        root, events = log.root_hash, len(log)
    assert root is not None, "it is sealed"
    steps = tuple(
        StepVerdict(20 * n, "command_issued", n, n, "[Wash], bowl", grade if n == 0 else "exact")
        for n in range(events // 20)
    )
    return ReplayVerdict(
        root_hash=root,
        grade=grade,
        steps=steps,
        first_divergence=None,
        differences=0,
        events=events,
        replayed_root_hash=root,
        log_ended=True,
        stopped=False,
        environment=(),
        iwreplay="synthetic",
        simulator="none 1",
        renderer="none 1",
        fingerprint={},
        parameters={},
    )


def main() -> None:
    """Command line of the generator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, metavar="STORE")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--events", type=int, default=1000, help="of each episode, about")
    args = parser.parse_args()
    store = write_store(args.store, episodes=args.episodes, events=args.events)
    print(f"{sum(1 for _ in store.episodes())} episodes in {store.root}")


if __name__ == "__main__":
    main()
