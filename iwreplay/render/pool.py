"""Drawing threads: one shared pool a process, safe across fork."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

__all__ = ["default_threads", "for_each_band"]

_MOST_THREADS = 16
_pools: list[ThreadPoolExecutor] = []


def default_threads() -> int:
    """As many threads as this process may use processors, at most 16."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MOST_THREADS, usable))


def _pool() -> ThreadPoolExecutor:
    if not _pools:
        _pools.append(ThreadPoolExecutor(max_workers=_MOST_THREADS, thread_name_prefix="iwreplay-render"))
    return _pools[0]


# a forked child has the pool object but none of its threads: it makes a pool of its own
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def for_each_band(work: Callable[[int, int], None], *, bands: int, threads: int) -> None:
    """Calls `work(band, worker)` once for every band in 0..bands-1, worker in 0..threads-1, and waits.

    Bands are handed out as workers become free. Raises what a worker raised.
    """
    tickets = count()

    def run(worker: int) -> None:
        for band in tickets:
            if band >= bands:
                return
            work(band, worker)

    helpers = [_pool().submit(run, k) for k in range(1, min(threads, bands))]
    try:
        run(0)
    finally:
        # also when this thread's share failed: nobody may still write into the caller's buffers
        problems = [h.exception() for h in helpers]
    for p in problems:
        if p is not None:
            raise p
