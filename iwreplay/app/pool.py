"""Episodes are independent: one after the other in this process, or a few at a time in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

__all__ = ["each", "threads_for"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    work: Callable[[Item], Result], items: Sequence[Item], *, jobs: int, progress: Callable[[int, int], None]
) -> Iterator[Result]:
    """`work` of every item, in the order of the items. `work` and what goes through it must pickle when `jobs` > 1.

    After Ctrl-C in the middle, what is under way is waited for (each worker gets the signal too and ends in good
    order), the rest is left out, and the results so far are given.
    """
    progress(0, len(items))
    if jobs <= 1 or len(items) <= 1:
        for n, item in enumerate(items, start=1):
            result = work(item)
            progress(n, len(items))
            yield result
        return
    with ProcessPoolExecutor(min(jobs, len(items)), mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for n, _ in enumerate(as_completed(futures), start=1):
                progress(n, len(items))
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
        for future in futures:
            if not future.cancelled():
                yield future.result()


def threads_for(jobs: int) -> int:
    """Threads that one of `jobs` workers may use for drawing; the pixels are the same for any number."""
    return max(1, (os.cpu_count() or 1) // max(1, jobs))
